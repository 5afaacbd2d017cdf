//! What memory is: heap blocks and who allocated them, stacks, mappings.
//!
//! A small block is one word in a table as large as the address space (an eighth of it, paid for where touched), at the
//! place of the block's first byte; a large one an entry in an ordered map. A block that was given back stays until its
//! memory is handed out again, so that a late access can be told what it was.

use crate::channel::Lines;
use crate::modules::Modules;
use crate::places::Place;
use crate::races::stack_id;
use crate::registry;
use crate::spin::Spin;
use crate::stacks::Stack;
use crate::thread::Thread;
use crate::vm::Table;
use crate::{outside, record, shadow, sync};
use deadheat_abi::shadow::ADDRESS_MASK;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Blocks from this size on are in the map.
const LARGE: usize = 4096;
/// Blocks are aligned to this.
const ALIGN: usize = 16;
const WORDS: usize = (ADDRESS_MASK as usize + 8) / ALIGN;

/// A small block: where it was allocated (22 bits), by whom (28), how large it is (12), and whether it is there (2).
#[derive(Clone, Copy)]
struct Word(u64);

const THERE: u64 = 1;
const FREED: u64 = 2;

static SMALL: Table<AtomicU64> = Table::new();
static LARGE_BLOCKS: Spin<BTreeMap<usize, Block>> = Spin::new(BTreeMap::new());

/// All blocks are in between.
static LOWEST: AtomicUsize = AtomicUsize::new(usize::MAX);
static HIGHEST: AtomicUsize = AtomicUsize::new(0);

/// Whether a block may be at an address: a quick look.
pub fn may_be_heap(addr: usize) -> bool {
    (LOWEST.load(Ordering::Relaxed)..HIGHEST.load(Ordering::Relaxed)).contains(&addr)
}

/// A heap block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Its size.
    pub size: usize,
    /// Where it was allocated.
    pub place: Place,
    /// By whom.
    pub thread: u32,
    /// Whether it has been given back.
    pub freed: bool,
}

impl Word {
    fn pack(block: Block) -> Word {
        let state = if block.freed { FREED } else { THERE };
        Word(
            u64::from(block.place.0)
                | u64::from(block.thread & 0xfff_ffff) << 22
                | (block.size as u64) << 50
                | state << 62,
        )
    }

    fn unpack(self) -> Option<Block> {
        (self.0 != 0).then_some(Block {
            size: (self.0 >> 50 & 0xfff) as usize,
            place: Place(self.0 as u32 & 0x3f_ffff),
            thread: (self.0 >> 22) as u32 & 0xfff_ffff,
            freed: self.0 >> 62 == FREED,
        })
    }
}

fn word(addr: usize) -> &'static AtomicU64 {
    let at = (addr & ADDRESS_MASK as usize) / ALIGN;
    // SAFETY: masked addresses lie within the table; zero bytes are an atomic.
    unsafe { &*SMALL.at(at, WORDS) }
}

/// Maps the table ahead of its first use, or says why not.
pub fn reserve() -> Result<(), i32> {
    SMALL.reserve(WORDS)
}

/// Takes the lock, before a `fork`.
pub fn hold() {
    LARGE_BLOCKS.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    LARGE_BLOCKS.let_go();
}

/// A block was allocated at `pc`.
pub fn allocated(t: &mut Thread, addr: usize, size: usize, pc: usize) {
    let block = Block {
        size,
        place: t.place_here(pc),
        thread: t.id,
        freed: false,
    };
    // Almost never: a heap grows now and then.
    if addr < LOWEST.load(Ordering::Relaxed) {
        LOWEST.fetch_min(addr, Ordering::Relaxed);
    }
    if addr + size > HIGHEST.load(Ordering::Relaxed) {
        HIGHEST.fetch_max(addr + size, Ordering::Relaxed);
    }
    if size < LARGE {
        word(addr).store(Word::pack(block).0, Ordering::Relaxed);
    } else {
        // Blocks that were where this one is now are no longer worth telling.
        let mut blocks = LARGE_BLOCKS.lock();
        let before = blocks
            .range(..addr)
            .next_back()
            .map(|(at, block)| (*at, block.size));
        if let Some((at, _)) = before.filter(|(at, size)| at + size > addr) {
            blocks.remove(&at);
        }
        while let Some((&at, _)) = blocks.range(addr..addr + size).next() {
            blocks.remove(&at);
        }
        blocks.insert(addr, block);
    }
    // What happened in a serial phase lies behind everybody, and so does what is left of older ones.
    if !t.serial {
        t.sweeps.birth();
        shadow::reset(addr, size);
        sync::forget_range(t, addr, size);
        outside::forget(t, addr);
        record::alloc(t, addr, size, pc);
    }
}

/// A block is given back: its size, if it is known and was there.
pub fn freed(addr: usize) -> Option<usize> {
    let word = word(addr);
    let now = word.load(Ordering::Relaxed);
    if now >> 62 == THERE {
        word.store(now ^ (THERE ^ FREED) << 62, Ordering::Relaxed);
        outside::may_disappear();
        return Word(now).unpack().map(|block| block.size);
    }
    let mut blocks = LARGE_BLOCKS.lock();
    let block = blocks.get_mut(&addr).filter(|block| !block.freed)?;
    block.freed = true;
    let size = block.size;
    drop(blocks);
    outside::may_disappear();
    Some(size)
}

/// The size of a block that is there.
pub fn size(addr: usize) -> Option<usize> {
    match Word(word(addr).load(Ordering::Relaxed)).unpack() {
        Some(block) if !block.freed => Some(block.size),
        _ => {
            let blocks = LARGE_BLOCKS.lock();
            blocks
                .get(&addr)
                .filter(|block| !block.freed)
                .map(|block| block.size)
        }
    }
}

/// The block that an address is in, and where it begins.
pub fn block_of(addr: usize) -> Option<(usize, Block)> {
    // What is there goes before what was there once, also before what began in the middle of it.
    let mut smalls = (0..LARGE / ALIGN).filter_map(|back| {
        let at = (addr / ALIGN).checked_sub(back)? * ALIGN;
        let block = Word(word(at).load(Ordering::Relaxed)).unpack()?;
        (addr < at + block.size.max(1)).then_some((at, block))
    });
    let small = smalls.next();
    let there = { small.into_iter() }
        .chain(smalls)
        .find(|(_, block)| !block.freed);
    if there.is_some() {
        return there;
    }
    let blocks = LARGE_BLOCKS.lock();
    let large = blocks
        .range(..=addr)
        .next_back()
        .filter(|(at, block)| addr < **at + block.size)
        .map(|(at, block)| (*at, *block));
    match large {
        Some((_, block)) if !block.freed || small.is_none() => large,
        _ => small,
    }
}

/// Memory was mapped.
pub fn mapped(t: &mut Thread, addr: usize, len: usize) {
    t.sweeps.birth();
    shadow::reset(addr, len);
    sync::forget_range(t, addr, len);
    record::alloc(t, addr, len, 0);
}

/// Memory is no longer mapped.
pub fn unmapped(t: &mut Thread, addr: usize, len: usize) {
    mapped(t, addr, len);
}

/// What a piece of memory is.
pub enum Memory {
    /// A heap block, and where it begins.
    Heap(usize, Block),
    /// The stack of a thread.
    Stack(u32),
    /// The thread-local variables of a thread.
    Tls(u32),
    /// A mapping.
    Map(usize, usize),
    /// A variable of a module.
    Global,
    /// Not known.
    Unknown,
}

/// What the memory at an address is.
pub fn describe(addr: usize, modules: &Modules) -> Memory {
    if let Some((at, block)) = block_of(addr) {
        return Memory::Heap(at, block);
    }
    if modules.have(addr) {
        return Memory::Global;
    }
    {
        let registry = registry::lock();
        for (id, entry) in registry.entries.iter().enumerate() {
            if entry.tls != 0 && (entry.tls.saturating_sub(modules.tls)..entry.tls).contains(&addr) {
                return Memory::Tls(id as u32);
            }
            if (entry.stack.0..entry.stack.1).contains(&addr) {
                return Memory::Stack(id as u32);
            }
        }
    }
    match mapping_of(addr) {
        Some((start, end)) => Memory::Map(start, end - start),
        None => Memory::Unknown,
    }
}

/// The mapping that an address is in, unless it is the heap that grows.
fn mapping_of(addr: usize) -> Option<(usize, usize)> {
    let maps = std::fs::read_to_string("/proc/thread-self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (start, end) = span(line)?;
        ((start..end).contains(&addr) && !line.ends_with("[heap]")).then_some((start, end))
    })
}

/// First and last+1 address of a line of `maps`.
pub fn span(line: &str) -> Option<(usize, usize)> {
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    let number = |text| usize::from_str_radix(text, 16).ok();
    Some((number(start)?, number(end)?))
}

impl Memory {
    /// The stack that its line names.
    pub fn stack(&self) -> Stack {
        match self {
            Memory::Heap(_, block) => block
                .place
                .known()
                .map_or_else(Stack::default, |known| known.stack),
            _ => Stack::default(),
        }
    }

    /// The thread that its line names.
    pub fn thread(&self) -> Option<u32> {
        match self {
            Memory::Heap(_, block) => Some(block.thread),
            Memory::Stack(thread) | Memory::Tls(thread) => Some(*thread),
            _ => None,
        }
    }

    /// Adds its line.
    pub fn tell(&self, lines: &mut Lines) {
        lines.text("memory");
        let _ = match self {
            Memory::Heap(at, block) => {
                let state = if block.freed { "freed" } else { "heap" };
                let _ = write!(lines, "\t{state}\t{at:x}\t{:x}\t{}\t", block.size, block.thread);
                stack_id(lines, self.stack());
                Ok(())
            }
            Memory::Stack(thread) => write!(lines, "\tstack\t{thread}"),
            Memory::Tls(thread) => write!(lines, "\ttls\t{thread}"),
            Memory::Map(at, len) => write!(lines, "\tmap\t{at:x}\t{len:x}"),
            Memory::Global => write!(lines, "\tglobal"),
            Memory::Unknown => write!(lines, "\tunknown"),
        };
        lines.0.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_detect::hb::HbThread;
    use deadheat_event::Slot;

    #[test]
    fn blocks_are_found_by_any_of_their_bytes_until_their_memory_is_used_again() {
        shadow::reserve_once();
        let mut t = Thread::new(3, HbThread::after(Slot(1), 0), true);
        let base = 0x7d10_0000_0000;
        allocated(&mut t, base, 100, 1);
        allocated(&mut t, base + 0x10000, 10_000, 2);
        for (at, start, size) in [
            (base, base, 100),
            (base + 99, base, 100),
            (base + 0x10000 + 9999, base + 0x10000, 10_000),
        ] {
            let (found, block) = block_of(at).expect("a block");
            assert_eq!(
                (found, block.size, block.thread, block.freed),
                (start, size, 3, false)
            );
        }
        assert!(block_of(base + 100).is_none());
        assert!(block_of(base + 0x10000 + 10_000).is_none());
        assert_eq!(freed(base), Some(100));
        assert_eq!(freed(base), None, "once");
        assert!(block_of(base + 50).expect("remembered").1.freed);
        assert_eq!(freed(base + 0x10000), Some(10_000));
        allocated(&mut t, base + 0x11000, 5000, 3);
        assert!(
            block_of(base + 0x10000).is_none(),
            "its memory is another block's now"
        );
        assert_eq!(size(base + 0x11000), Some(5000));
        assert_eq!(size(base), None);
        // The free block at 64 is part of a new one, whose beginning is elsewhere.
        allocated(&mut t, base + 64, 200, 4);
        freed(base + 64);
        allocated(&mut t, base + 32, 100, 5);
        assert_eq!(block_of(base + 80).map(|found| found.0), Some(base + 32));
        assert!(block_of(base + 140).is_some_and(|found| found.1.freed));
    }
}
