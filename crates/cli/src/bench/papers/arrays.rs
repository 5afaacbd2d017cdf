//! Arrays in recorded traces, which know of memory only: SHRINKWRAP is about arrays, and a program in C has blocks of memory.
//!
//! A block is what was allocated, or, of memory that was there before there were several threads and whose allocation is
//! not recorded, a run of bytes without a gap that nobody accesses. It is an array if its accesses part it into at least
//! [`FEWEST`] elements of one size, the largest that divides all their sizes and distances from its start. Its events
//! become those of an array, one for one, its release a write of all elements. A block is left as it is if an access
//! reaches beyond it, or is atomic, or if a call into code that is not traced reaches it, because these are about memory;
//! and if most of it lies beyond all accesses, as in a stack. What is taken for an array changes how much can be
//! compressed, and not what races.

use deadheat_event::{Addr, ArrayId, Event, Indices, MAX_RANGE, Op, Tables};
use std::collections::BTreeMap;

/// Elements of the smallest array. The compression leaves smaller ones alone.
const FEWEST: u64 = 16;

/// A block of memory.
#[derive(Clone, Copy)]
struct Block {
    /// Its number: how many came before it.
    number: usize,
    start: u64,
    len: u64,
}

/// The blocks that are there, by address.
#[derive(Default)]
struct Blocks {
    there: BTreeMap<u64, Block>,
    count: usize,
}

impl Blocks {
    /// Those that are there before the first event.
    fn new(steady: &[(Addr, u32)]) -> Blocks {
        let mut blocks = Blocks::default();
        for &(addr, size) in steady {
            blocks.begin(addr, size);
        }
        blocks
    }

    fn begin(&mut self, addr: Addr, size: u32) -> Block {
        self.end(addr, size);
        let block = Block {
            number: self.count,
            start: addr.0,
            len: size.into(),
        };
        self.there.insert(addr.0, block);
        self.count += 1;
        block
    }

    /// Ends those that have bytes among these.
    fn end(&mut self, Addr(start): Addr, size: u32) -> Vec<Block> {
        let ended = self.touched(start, size.into());
        for block in &ended {
            self.there.remove(&block.start);
        }
        ended
    }

    /// Those that have bytes among these.
    fn touched(&self, start: u64, len: u64) -> Vec<Block> {
        let blocks = self.there.range(..start.saturating_add(len)).rev();
        let touched = blocks.take_while(|(_, block)| block.start.saturating_add(block.len) > start);
        touched.map(|(_, block)| *block).collect()
    }

    /// The one that has all of these bytes.
    fn around(&self, start: u64, len: u64) -> Option<Block> {
        let (_, block) = self.there.range(..=start).next_back()?;
        let inside = start.saturating_add(len) <= block.start.saturating_add(block.len);
        (inside && len > 0).then_some(*block)
    }
}

/// Makes the events of blocks that are arrays events of arrays.
pub fn make(events: &mut Vec<Event>, tables: &Tables) {
    let steady = steady(events);
    let elements = elements(events, tables, &steady);
    let own = events.iter().filter_map(|event| match event.op {
        Op::ArrayRead { array, .. } | Op::ArrayWrite { array, .. } | Op::NewArray { array, .. } => {
            Some(array.0)
        }
        _ => None,
    });
    let first = own.max().map_or(0, |last| last.saturating_add(1));
    // What was known of an array is forgotten when another one begins at its address, as it is of memory.
    let mut names = BTreeMap::new();
    let mut blocks = Blocks::default();
    let Some(&start) = events.first() else { return };
    let allocated = steady.iter().map(|&(addr, size)| Event {
        op: Op::Alloc { addr, size },
        ..start
    });
    let mut all: Vec<Event> = allocated.collect();
    let before = all.len();
    all.append(events);
    for event in &mut all {
        let array = |block: Block| {
            let name = *names.get(&block.start)?;
            (elements[block.number] > 0).then_some((name, elements[block.number]))
        };
        match event.op {
            Op::Alloc { addr, size } => {
                let block = blocks.begin(addr, size);
                if let Some(len) = block.len.checked_div(elements[block.number]) {
                    let next = ArrayId(first.saturating_add(names.len() as u32));
                    let array = *names.entry(block.start).or_insert(next);
                    event.op = Op::NewArray { array, len };
                }
            }
            Op::Free { addr, size } => {
                // An array ends as a whole: what is released in parts is none.
                if let [block] = blocks.end(addr, size)[..]
                    && let Some((array, element)) = array(block)
                    && let Some(indices) = Indices::new(0, block.len / element - 1, 1)
                {
                    event.op = Op::ArrayWrite { array, indices };
                }
            }
            Op::Read { addr, size, .. } | Op::Write { addr, size, .. } => {
                let write = matches!(event.op, Op::Write { .. });
                let (addr, len) = (addr.0, u64::from(size));
                if let Some(block) = blocks.around(addr, len)
                    && let Some((array, element)) = array(block)
                    && let first = (addr - block.start) / element
                    && let Some(indices) = Indices::new(first, first + len / element - 1, 1)
                {
                    event.op = match write {
                        true => Op::ArrayWrite { array, indices },
                        false => Op::ArrayRead { array, indices },
                    };
                }
            }
            _ => {}
        }
    }
    // Of what is no array the trace says what it said before.
    let mut place = 0;
    all.retain(|event| {
        place += 1;
        place > before || matches!(event.op, Op::NewArray { .. })
    });
    *events = all;
}

/// Memory that the trace has no allocation of: runs of bytes that are all accessed.
fn steady(events: &[Event]) -> Vec<(Addr, u32)> {
    let mut runs: BTreeMap<u64, u64> = BTreeMap::new();
    let mut allocated = Blocks::default();
    for event in events {
        match event.op {
            Op::Read { addr, size, .. } | Op::Write { addr, size, .. } => {
                let (mut start, mut end) = (addr.0, addr.0.saturating_add(size.into()));
                // Those that it overlaps or continues become one with it.
                while let Some((&from, &to)) = runs.range(..=end).next_back()
                    && to >= start
                {
                    if from <= start && to >= end {
                        break;
                    }
                    runs.remove(&from);
                    (start, end) = (start.min(from), end.max(to));
                }
                if !matches!(runs.range(..=start).next_back(), Some((_, &to)) if to >= end) {
                    runs.insert(start, end);
                }
            }
            // Of memory that was ever allocated or given back, allocations say what it is.
            Op::Alloc { addr, size } | Op::Free { addr, size } => {
                let (mut start, mut end) = (addr.0, addr.0.saturating_add(size.into()));
                for old in allocated.touched(start, end - start) {
                    (start, end) = (start.min(old.start), end.max(old.start + old.len));
                    allocated.there.remove(&old.start);
                }
                let block = Block {
                    number: 0,
                    start,
                    len: end - start,
                };
                allocated.there.insert(start, block);
            }
            _ => {}
        }
    }
    let runs = runs.into_iter().map(|(start, end)| (start, end - start));
    runs.filter(|&(start, len)| allocated.touched(start, len).is_empty())
        .filter_map(|(start, len)| Some((Addr(start), u32::try_from(len).ok()?)))
        .collect()
}

/// The bytes of an element, for each block; 0 for those that are no arrays.
fn elements(events: &[Event], tables: &Tables, steady: &[(Addr, u32)]) -> Vec<u64> {
    let mut blocks = Blocks::new(steady);
    let mut all: Vec<Seen> = blocks.there.values().map(|block| Seen::new(*block)).collect();
    let mut plain = Vec::new();
    for event in events {
        match event.op {
            Op::Alloc { addr, size } => all.push(Seen::new(blocks.begin(addr, size))),
            Op::Free { addr, size } => {
                let ended = blocks.end(addr, size).into_iter();
                let parts = ended.filter(|block| (block.start, block.len) != (addr.0, size.into()));
                plain.extend(parts.map(|block| block.number));
            }
            Op::Read { addr, size, .. } | Op::Write { addr, size, .. } => {
                let len = u64::from(size);
                match blocks.around(addr.0, len) {
                    Some(block) => all[block.number].add(addr.0 - block.start, len),
                    None => plain.extend(blocks.touched(addr.0, len).iter().map(|block| block.number)),
                }
            }
            Op::Atomic { addr, size, .. } => {
                let touched = blocks.touched(addr.0, u64::from(size));
                plain.extend(touched.iter().map(|block| block.number));
            }
            Op::CallBegin { objects, .. } => {
                for object in tables.objects(objects) {
                    let touched = blocks.touched(object.addr.0, object.size.into());
                    plain.extend(touched.iter().map(|block| block.number));
                }
            }
            _ => {}
        }
    }
    let mut elements: Vec<u64> = all.iter().map(Seen::element).collect();
    for number in plain {
        elements[number] = 0;
    }
    elements
}

/// What accesses show of a block.
struct Seen {
    block: Block,
    /// What divides all sizes and distances from the start.
    element: u64,
    /// From the first byte that is accessed to the last.
    extent: (u64, u64),
}

impl Seen {
    fn new(block: Block) -> Seen {
        Seen {
            block,
            element: 0,
            extent: (block.len, 0),
        }
    }

    fn add(&mut self, offset: u64, len: u64) {
        self.element = divisor(divisor(self.element, len), offset);
        self.extent = (self.extent.0.min(offset), self.extent.1.max(offset + len));
    }

    /// The bytes of an element, or 0.
    fn element(&self) -> u64 {
        let (from, to) = self.extent;
        match self.block.len.checked_div(self.element) {
            Some(FEWEST..=MAX_RANGE) if (to - from) * 2 > self.block.len => self.element,
            _ => 0,
        }
    }
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_event::{AtomicOp, Order, SiteId, ThreadId};

    const ALLOC: Op = Op::Alloc {
        addr: Addr(0x1000),
        size: 128,
    };
    const FREE: Op = Op::Free {
        addr: Addr(0x1000),
        size: 128,
    };

    fn write(addr: u64, size: u32) -> Op {
        Op::Write {
            addr: Addr(addr),
            size,
            value: None,
        }
    }

    fn array(array: u32, first: u64, last: u64) -> Op {
        Op::ArrayWrite {
            array: ArrayId(array),
            indices: Indices::new(first, last, 1).unwrap(),
        }
    }

    fn made(ops: &[Op]) -> Vec<Op> {
        let event = |op: &Op| Event {
            thread: ThreadId(0),
            site: SiteId(0),
            op: *op,
        };
        let mut events: Vec<Event> = ops.iter().map(event).collect();
        make(&mut events, &Tables::default());
        events.iter().map(|event| event.op).collect()
    }

    #[test]
    fn a_block_of_equal_elements_is_an_array() {
        let new = |len| Op::NewArray {
            array: ArrayId(0),
            len,
        };
        // Two elements at once do not make them larger; what is beside the block is no part of it.
        assert_eq!(
            made(&[ALLOC, write(0x1000, 8), write(0x1070, 16), write(0x1080, 8), FREE]),
            [
                new(16),
                array(0, 0, 0),
                array(0, 14, 15),
                write(0x1080, 8),
                array(0, 0, 15)
            ]
        );
        // The trace's own arrays keep their names.
        assert_eq!(
            made(&[array(4, 0, 0), ALLOC, write(0x1000, 8), write(0x1078, 8)])[2],
            array(5, 0, 0)
        );
        // The next block at the address is the same array, begun again, and may have other elements.
        let ops = [
            ALLOC,
            write(0x1000, 8),
            write(0x1078, 8),
            FREE,
            ALLOC,
            write(0x1000, 4),
            write(0x107c, 4),
        ];
        assert_eq!(
            made(&ops),
            [
                new(16),
                array(0, 0, 0),
                array(0, 15, 15),
                array(0, 0, 15),
                new(32),
                array(0, 0, 0),
                array(0, 31, 31)
            ]
        );
    }

    #[test]
    fn a_run_of_bytes_that_is_nowhere_allocated_is_an_array() {
        // From both ends, one access twice, and one that closes the gap.
        let mut ops: Vec<Op> = [0, 1, 2, 3, 4, 5, 6, 15, 14, 13, 12, 11, 10, 9, 8, 15, 7]
            .map(|n| write(0x2000 + 8 * n, 8))
            .to_vec();
        // Behind a gap.
        ops.push(write(0x2088, 8));
        let made = self::made(&ops);
        let new = Op::NewArray {
            array: ArrayId(0),
            len: 16,
        };
        assert_eq!(made.len(), ops.len() + 1);
        assert_eq!(
            (made[0], made[1], made[8]),
            (new, array(0, 0, 0), array(0, 15, 15))
        );
        assert_eq!(made[18], write(0x2088, 8));
        // With a gap there are two runs, each too short.
        ops.retain(|op| *op != write(0x2038, 8));
        assert_eq!(self::made(&ops), ops);
    }

    #[test]
    fn what_is_about_memory_stays_so() {
        let atomic = Op::Atomic {
            addr: Addr(0x1010),
            size: 8,
            op: AtomicOp::Load,
            order: Order::Acquire,
            value: None,
        };
        let (first, last) = (write(0x1000, 8), write(0x1078, 8));
        assert_ne!(made(&[ALLOC, first, last]), [ALLOC, first, last]);
        for ops in [
            // Large elements, so few.
            &[ALLOC, write(0x1000, 16), write(0x1070, 16), FREE][..],
            &[ALLOC, first, last, atomic, FREE],
            // Beyond its end, and from before its start.
            &[ALLOC, first, last, write(0x107c, 8), FREE],
            &[ALLOC, first, last, write(0xffc, 8), FREE],
            // Released in part.
            &[
                ALLOC,
                first,
                last,
                Op::Free {
                    addr: Addr(0x1000),
                    size: 64,
                },
            ],
            // Most of it is not used.
            &[ALLOC, last, write(0x1070, 8), FREE],
            &[first],
            &[ALLOC, FREE],
            &[],
        ] {
            assert_eq!(made(ops), ops);
        }
    }
}
