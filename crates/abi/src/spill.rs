//! What a recording program leaves in its spill file: one log for each thread, in blocks, to be merged by the recorder.
//!
//! **Times.** Every record has a Lamport time: greater than that of the thread's record before it, and greater than those of all
//! records of other threads that it must come after (accesses to the same bytes of which one is a write, synchronisation
//! on the same object). So all records in the order of time, then thread, are a run that agrees with each value read.
//!
//! **File.** A header in the first page, then blocks at multiples of [`UNIT`], each of one thread: [`BlockHeader`], then records.
//! A thread writes to a block of its own that is mapped; when that is full, its contents are written to a new place in the file, and it
//! is used again. If there are two of one number, the full one may not have been written to its end: the one that comes first in the file
//! counts. Behind each record are four zero bytes, and its head is written last, so a block ends where a head is 0,
//! whatever has become of the program.
//!
//! **Record.** A head of four bytes, then the parts whose lengths it tells, each little-endian without its leading zeros:
//!
//! ```text
//!  28        18 17     14 13    10 9      8 7      6 5        0
//! ┌────────────┬─────────┬────────┬────────┬────────┬──────────┐
//! │ slot    11 │ value 4 │ addr 4 │ time 2 │ size 2 │ kind   6 │
//! └────────────┴─────────┴────────┴────────┴────────┴──────────┘
//! ```
//!
//! `time` is how much more than one the time grew by. `addr` is a zigzag distance from the last address of the same slot.
//! A *slot* stands for a place in the program: [`Kind::Define`] says which, and replaces what the slot stood for before. The
//! reader keeps the same table, so nothing else need be said of it. Likewise both keep what was last loaded or stored at an
//! address, as far as a small table goes: a value that is there already is not said again.

/// Blocks begin at multiples of it, and are as long, but for the last one, which the file may not have all of.
pub const UNIT: u64 = 64 << 10;
/// First bytes of the file.
pub const MAGIC: [u8; 8] = *b"dhspill1";
/// First bytes of a block.
pub const BLOCK_MAGIC: u32 = 0x6b6c_6264;
/// Bytes of a block's header.
pub const BLOCK_HEADER: usize = 32;
/// Where in the file's header a byte is not 0 if some call reached too much to be told.
pub const WIDE: usize = 8;
/// Where a byte is not 0 if recording ended before the program did.
pub const STOPPED: usize = 9;
/// Where a number of eight bytes says when that was, inverted: records of later times are not to be trusted.
pub const STOP_TIME: usize = 16;
/// Blocks of this thread have no records but text: the lines on modules as in [`crate::wire`].
pub const MODULES: u32 = u32::MAX;
/// No record is longer (text aside), the zeros behind it among it.
pub const MOST: usize = 40;
/// Slots of a thread.
pub const SLOTS: usize = 1 << SLOT_BITS;
/// The most bytes of text in a record.
pub const TEXT: usize = 1024;

const SLOT_BITS: u32 = 11;
/// In the place of a value's length: there is none, or it is the one in the table.
const NO_VALUE: u32 = 15;
const SAME_VALUE: u32 = 14;

/// Values of a thread that are remembered.
const VALUES: usize = 1 << 12;

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The slot stands for another place from here on: `value` is the return address of the hook. Takes no time.
    Define = 1,
    /// A plain read of 1, 2, 4 or 8 bytes.
    Load,
    /// A plain write.
    Store,
    /// A plain read of `value` bytes.
    RangeRead,
    /// A plain write of `value` bytes.
    RangeWrite,
    /// `value` bytes are given back.
    Free,
    /// `value` bytes come into being.
    Alloc,
    /// A lock is taken.
    Acquire,
    /// A lock is taken as a reader.
    AcquireShared,
    /// A lock is given back.
    Release,
    /// See `event`.
    Send,
    /// See `event`.
    Receive,
    /// See `event`.
    Enter,
    /// See `event`.
    Leave,
    /// What was known of the object at `addr` is of no use any more: another begins there.
    Forget,
    /// Thread `value` is created.
    Fork,
    /// Thread `value` was waited for.
    Join,
    /// The thread begins.
    Begin,
    /// It ends.
    End,
    /// The call that begins next reaches the object at `addr` of `value` bytes.
    Object,
    /// A call of the function that `addr` stands for begins. `value` is how many objects were told; none if it reaches too much.
    CallBegin,
    /// The innermost call ends.
    CallEnd,
    /// A fence of ordering `value`.
    Fence,
    /// A call of the function that `addr` stands for begins, which reaches the objects of the thread's list number `value`, counted
    /// in the order of [`Kind::CallBegin`] from 0.
    CallAgain,
    /// `value` bytes of text follow: the name of what `addr` stands for in [`Kind::CallBegin`].
    Text,
    /// An atomic load; the five orderings one after another.
    AtomicLoad = 32,
    /// An atomic store, likewise.
    AtomicStore = 37,
    /// A read-modify-write, likewise.
    AtomicUpdate = 42,
}

/// Whether bytes of an atomic are 16: added to its kind.
pub const WIDE_ATOMIC: u8 = 16;

/// One record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// A [`Kind`], or for an atomic the sum of its kind, its ordering and perhaps [`WIDE_ATOMIC`].
    pub kind: u8,
    /// Bytes, as a power of two.
    pub size: u8,
    /// Where in the program: the return address of a hook, or 0.
    pub pc: u64,
    /// Where in memory.
    pub addr: u64,
    /// What.
    pub value: Option<u64>,
}

/// A slot: a place, and the last address there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Slot {
    pc: u64,
    addr: u64,
}

/// What a thread and the reader of its log both remember. Zeros are one.
#[derive(Debug)]
pub struct Memo {
    slots: [Slot; SLOTS],
    /// Of loads and stores, by [`value_of`].
    values: [u64; VALUES],
}

impl Default for Memo {
    fn default() -> Self {
        Memo {
            slots: [Slot::default(); SLOTS],
            values: [0; VALUES],
        }
    }
}

/// Where the value of an address is remembered. Neighbours within eight bytes are apart.
#[inline(always)]
fn value_of(addr: u64) -> usize {
    (addr >> 3 ^ addr << 7) as usize % VALUES
}

/// Whether the values of records of a kind are remembered.
#[inline(always)]
fn is_remembered(kind: u8) -> bool {
    kind == Kind::Load as u8 || kind == Kind::Store as u8
}

/// The head of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHeader {
    /// Whose it is.
    pub thread: u32,
    /// Which one of the thread's it is.
    pub number: u32,
    /// The time before its first record.
    pub time: u64,
}

impl BlockHeader {
    /// As bytes.
    pub fn to_bytes(self) -> [u8; BLOCK_HEADER] {
        let mut bytes = [0; BLOCK_HEADER];
        bytes[..4].copy_from_slice(&BLOCK_MAGIC.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.thread.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.number.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.time.to_le_bytes());
        bytes
    }

    /// From bytes, if they are one.
    pub fn from_bytes(bytes: &[u8; BLOCK_HEADER]) -> Option<BlockHeader> {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let header = BlockHeader {
            thread: word(4),
            number: word(8),
            time: u64::from(word(16)) | u64::from(word(20)) << 32,
        };
        (word(0) == BLOCK_MAGIC).then_some(header)
    }
}

#[inline(always)]
fn slot_of(pc: u64) -> usize {
    (pc.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOT_BITS)) as usize
}

/// How many bytes a number takes.
#[inline(always)]
fn bytes(number: u64) -> u32 {
    (64 - number.leading_zeros()).div_ceil(8)
}

/// Bytes of the growth of time, by its code.
const TIME: [usize; 4] = [0, 1, 3, 8];

#[inline(always)]
fn time_code(growth: u64) -> u32 {
    match growth {
        0 => 0,
        1..0x100 => 1,
        0x100..0x100_0000 => 2,
        _ => 3,
    }
}

/// Where records are written to.
pub trait Out {
    /// Writes eight bytes.
    fn put(&mut self, at: usize, number: u64);
    /// Writes four bytes, and not before what was written earlier.
    fn head(&mut self, at: usize, number: u32);
}

impl Out for [u8] {
    fn put(&mut self, at: usize, number: u64) {
        self[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }

    fn head(&mut self, at: usize, number: u32) {
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
        self[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
}

/// Writes a record whose time is `growth` more than one above the last. There is room for [`MOST`] bytes behind `at`, twice where
/// the place is new to its slot. Answers with where the next one begins.
#[inline(always)]
pub fn write<O: Out + ?Sized>(
    memo: &mut Memo,
    out: &mut O,
    mut at: usize,
    growth: u64,
    record: Record,
) -> usize {
    let index = slot_of(record.pc);
    let slot = &mut memo.slots[index];
    if slot.pc != record.pc {
        at = define(slot, out, at, record.pc);
    }
    let distance = record.addr.wrapping_sub(slot.addr) as i64;
    slot.addr = record.addr;
    let distance = (distance << 1 ^ distance >> 63) as u64;
    let (mut to, mut time) = (at + 4, 0);
    if growth != 0 {
        time = time_code(growth);
        out.put(to, growth);
        to += TIME[time as usize];
    }
    let addr = bytes(distance);
    out.put(to, distance);
    to += addr as usize;
    let value = match record.value {
        Some(number) if is_remembered(record.kind) && memo.values[value_of(record.addr)] == number => {
            SAME_VALUE
        }
        Some(number) => {
            if is_remembered(record.kind) {
                memo.values[value_of(record.addr)] = number;
            }
            let len = bytes(number);
            out.put(to, number);
            to += len as usize;
            len
        }
        None => NO_VALUE,
    };
    out.put(to, 0);
    let head = u32::from(record.kind)
        | u32::from(record.size) << 6
        | time << 8
        | addr << 10
        | value << 14
        | (index as u32) << 18;
    out.head(at, head);
    to
}

#[cold]
#[inline(never)]
fn define<O: Out + ?Sized>(slot: &mut Slot, out: &mut O, at: usize, pc: u64) -> usize {
    *slot = Slot { pc, addr: 0 };
    out.put(at + 4, pc);
    out.put(at + 12, 0);
    out.head(at, Kind::Define as u32 | 8 << 14 | (slot_of(pc) as u32) << 18);
    at + 12
}

/// Reads records of one thread, block by block.
#[derive(Debug, Default)]
pub struct Reader {
    memo: Memo,
}

impl Reader {
    /// The record at `at`, how much more than one its time is above the last, and where the next one begins. `None` at the end.
    pub fn read(&mut self, block: &[u8], mut at: usize) -> Option<(Record, u64, usize)> {
        loop {
            let head = number(block, at, 4)? as u32;
            let field = |shift: u32, bits: u32| head >> shift & ((1 << bits) - 1);
            let kind = field(0, 6) as u8;
            if kind == 0 {
                return None;
            }
            let mut from = at + 4;
            let mut take = |len: usize| {
                let number = number(block, from, len)?;
                from += len;
                Some(number)
            };
            let growth = take(TIME[field(8, 2) as usize])?;
            let distance = take(field(10, 4).min(8) as usize)?;
            let value = match field(14, 4) {
                NO_VALUE | SAME_VALUE => None,
                len => Some(take(len.min(8) as usize)?),
            };
            let slot = &mut self.memo.slots[field(18, SLOT_BITS) as usize];
            if kind == Kind::Define as u8 {
                *slot = Slot {
                    pc: value.unwrap_or(0),
                    addr: 0,
                };
                at = from;
                continue;
            }
            let distance = (distance >> 1) as i64 ^ -((distance & 1) as i64);
            slot.addr = slot.addr.wrapping_add(distance as u64);
            let remembered = &mut self.memo.values[value_of(slot.addr)];
            let value = match value {
                None if field(14, 4) == SAME_VALUE => Some(*remembered),
                Some(value) if is_remembered(kind) => {
                    *remembered = value;
                    Some(value)
                }
                value => value,
            };
            let record = Record {
                kind,
                size: field(6, 2) as u8,
                pc: slot.pc,
                addr: slot.addr,
                value,
            };
            return Some((record, growth, from));
        }
    }
}

fn number(block: &[u8], at: usize, len: usize) -> Option<u64> {
    let bytes = block.get(at..at.checked_add(len)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)),
    )
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec;
    use std::vec::Vec;

    fn records() -> Vec<(u64, Record)> {
        let mut random = 7u64;
        let mut next = move || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            random ^ random >> 29
        };
        (0..20_000)
            .map(|_| {
                let width = next() % 65;
                let cut = |number: u64| if width == 0 { 0 } else { number >> (64 - width) };
                let growth = [0, 0, 1, 255, 256, 0xff_ffff, 0x100_0000][(next() % 7) as usize];
                let record = Record {
                    kind: 2 + (if next() % 2 == 0 { next() % 2 } else { next() % 60 }) as u8,
                    size: (next() % 4) as u8,
                    pc: next() % 9000,
                    addr: cut(next()),
                    value: (next() % 4 != 0).then(|| if next() % 2 == 0 { next() % 2 } else { cut(next()) }),
                };
                (growth, record)
            })
            .collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let all = records();
        let mut out = vec![0; 1 << 20];
        let mut memo = Memo::default();
        let mut at = 0;
        for (growth, record) in &all {
            at = write(&mut memo, &mut out[..], at, *growth, *record);
        }
        let (mut reader, mut from) = (Reader::default(), 0);
        for (growth, record) in &all {
            let (found, grown, next) = reader.read(&out, from).expect("a record");
            assert_eq!((found, grown), (*record, *growth));
            from = next;
        }
        assert_eq!((reader.read(&out, from), from), (None, at));
    }

    #[test]
    fn what_is_cut_off_anywhere_is_read_as_far_as_it_goes() {
        let all = &records()[..50];
        let mut out = vec![0; 1 << 14];
        let mut memo = Memo::default();
        let mut at = 0;
        for (growth, record) in all {
            at = write(&mut memo, &mut out[..], at, *growth, *record);
        }
        for end in 0..at {
            let (mut reader, mut from, mut count) = (Reader::default(), 0, 0);
            while let Some((found, _, next)) = reader.read(&out[..end], from) {
                assert_eq!(found, all[count].1);
                (from, count) = (next, count + 1);
            }
            assert!(from <= end);
        }
    }

    #[test]
    fn a_sweep_takes_few_bytes() {
        let mut out = vec![0; 1 << 16];
        let mut memo = Memo::default();
        let mut at = 0;
        for i in 0..1000 {
            let record = Record {
                kind: Kind::Load as u8,
                size: 2,
                pc: 0x5555_0000,
                addr: 0x7fff_0000_0000 + 4 * i,
                value: Some(i % 256),
            };
            at = write(&mut memo, &mut out[..], at, 0, record);
        }
        assert!(at < 6100, "{at}");
    }

    #[test]
    fn a_value_that_was_seen_is_not_written_again() {
        let mut out = vec![0; 1 << 16];
        let mut memo = Memo::default();
        let record = |i: u64| Record {
            kind: Kind::Load as u8,
            size: 3,
            pc: 0x5555_0000,
            addr: 0x7fff_0000_0000 + 8 * (i % 500),
            value: Some(!0 / (i % 500 + 1)),
        };
        let mut at = 0;
        for i in 0..500 {
            at = write(&mut memo, &mut out[..], at, 0, record(i));
        }
        let first = at;
        for i in 500..1000 {
            at = write(&mut memo, &mut out[..], at, 0, record(i));
        }
        assert!(at - first < 2600, "{first}, {at}");
        let (mut reader, mut from) = (Reader::default(), 0);
        for i in 0..1000 {
            let (found, _, next) = reader.read(&out, from).expect("a record");
            assert_eq!(found, record(i));
            from = next;
        }
    }

    #[test]
    fn block_headers_are_known() {
        let header = BlockHeader {
            thread: 3,
            number: 2,
            time: u64::MAX / 3,
        };
        assert_eq!(BlockHeader::from_bytes(&header.to_bytes()), Some(header));
        assert_eq!(BlockHeader::from_bytes(&[0; BLOCK_HEADER]), None);
    }
}
