//! What a recording program leaves in its spill file: one log for each thread, in blocks, to be merged by the recorder.
//!
//! **Times.** Every record has a Lamport time: greater than that of the thread's record before it, and greater than those of all
//! records of other threads that it must come after (accesses to the same bytes of which one is a write, synchronisation
//! on the same object). So all records in the order of time, then thread, are a run that agrees with each value read.
//!
//! **File.** A header in the first page, then blocks at multiples of [`UNIT`], each of one thread: [`BlockHeader`], then records.
//! A thread writes to a block of its own that is mapped; when that is full, its contents are written to a new place in the file, and it
//! is used again. If there are two of one number, the full one may not have been written to its end: the one that comes first in the file
//! counts. Behind each record is a zero byte, and its first bytes are written last, so a block ends where a record would begin with 0,
//! whatever has become of the program.
//!
//! **Long record.** A head of four bytes, then the parts whose lengths it tells, each little-endian without its leading zeros:
//!
//! ```text
//!  31 30        20 19     16 15    12 11   10 9      8 7   6 5        0
//! ┌──┬────────────┬─────────┬────────┬────────┬────────┬─────┬──────────┐
//! │  │ slot    11 │ value 4 │ addr 4 │ time 2 │ size 2 │ 0 0 │ kind   6 │
//! └──┴────────────┴─────────┴────────┴────────┴────────┴─────┴──────────┘
//! ```
//!
//! `time` is how much more than one the time grew by. A *slot* stands for a place in the program and what is done there:
//! [`Kind::Define`] says which, and replaces what the slot stood for before. For each slot both writer and reader expect
//! an address, a step behind the last one there; `addr` is the zigzag distance from it. They also expect the slot that came
//! after the last one the time before.
//!
//! **Short record.** Of the expected slot, at the next time: one byte, then the distance if there is one, then the value.
//!
//! ```text
//!  7 6       4 3       0
//! ┌─┬─────────┬─────────┐   where: 0 at the address that is expected, 1 eight bytes behind the last record, of the same slot,
//! │1│ where 3 │ value 4 │          2 … 7 at a distance from the expected address of `NEAR` bytes
//! └─┴─────────┴─────────┘
//! ```
//!
//! **Values.** Both keep what the thread last loaded or stored, as far as a table goes that has one place for all addresses so far apart
//! as it is long: a value that is there already is not said again.

use alloc::boxed::Box;
use alloc::vec;

/// Blocks begin at multiples of it, and are as long, but for the last one, which the file may not have all of.
pub const UNIT: u64 = 256 << 10;
/// First bytes of the file.
pub const MAGIC: [u8; 8] = *b"dhspill3";
/// First bytes of a block.
pub const BLOCK_MAGIC: u32 = 0x6b6c_6264;
/// Bytes of a block's header.
pub const BLOCK_HEADER: usize = 32;
/// Where in the file's header a byte is not 0 if recording ended before the program did.
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

/// Bytes of a thread whose values are remembered. There are some more behind them, so that whatever begins in there ends in there.
const VALUES: usize = 4 << 20;

/// The first byte of a short record.
const SHORT: u8 = 0x80;
/// In the place of its distance.
const EXPECTED: u8 = 0;
const BEHIND: u8 = 1;
/// Bytes of the distance otherwise.
const NEAR: [usize; 8] = [0, 0, 1, 2, 3, 4, 6, 8];

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

impl Record {
    /// What a slot stands for.
    #[inline(always)]
    fn key(&self) -> u64 {
        self.pc | u64::from(self.kind) << KIND_SHIFT | u64::from(self.size & 3) << SIZE_SHIFT
    }
}

/// Programs are at addresses of so many bits.
const PC: u64 = (1 << SIZE_SHIFT) - 1;
const SIZE_SHIFT: u32 = 56;
const KIND_SHIFT: u32 = 58;

/// A place where something is done, and the addresses that it is done to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slot {
    key: u64,
    /// The address that is expected.
    addr: u64,
    /// How far that is from the last one, as far as that can be said in here.
    step: i32,
    /// How far the last one that was not expected was from the one before, likewise.
    odd: i32,
    /// The slot that came next.
    next: u32,
}

// One instruction makes an offset of a number.
const _: () = assert!(size_of::<Slot>() == 32);

impl Slot {
    fn new(key: u64) -> Slot {
        Slot {
            key,
            ..Slot::default()
        }
    }

    /// The address was `addr`, as expected.
    #[inline(always)]
    fn go_on(&mut self, addr: u64) {
        self.addr = addr.wrapping_add_signed(self.step.into());
    }

    /// There was another address than was expected. Twice the same distance makes a step: at the end of a row it is kept.
    #[inline(always)]
    fn meet(&mut self, addr: u64) {
        let before = self.addr.wrapping_sub_signed(self.step.into());
        let far = addr.wrapping_sub(before) as i32;
        if far == self.odd {
            self.step = far;
        }
        self.odd = far;
        self.go_on(addr);
    }
}

/// What a thread and the reader of its log both remember. On the heap from the beginning: a stack may be smaller.
#[derive(Debug)]
pub struct Memo {
    slots: Box<[Slot; SLOTS]>,
    /// The slot of the last record.
    last: u32,
    /// The one that came after it the time before.
    expected: u32,
    /// The bytes of loads and stores, by [`value_of`].
    values: Box<[u8; VALUES + 8]>,
}

impl Default for Memo {
    fn default() -> Self {
        let (Ok(slots), Ok(values)) = (
            vec![Slot::default(); SLOTS].into_boxed_slice().try_into(),
            vec![0; VALUES + 8].into_boxed_slice().try_into(),
        ) else {
            unreachable!("they are as long")
        };
        Memo {
            slots,
            last: 0,
            expected: 0,
            values,
        }
    }
}

impl Memo {
    /// The slot of a number.
    #[inline(always)]
    fn slot(&mut self, number: u32) -> &mut Slot {
        &mut self.slots[number as usize % SLOTS]
    }

    /// There was a record of a slot that was not expected: it is, from now on.
    fn learn(&mut self, number: u32) {
        self.slot(self.last).next = number;
    }

    /// The last record is of this slot.
    #[inline(always)]
    fn follow(&mut self, number: u32) {
        self.last = number;
        self.expected = self.slot(number).next;
    }

    /// Remembers a value of `8 << size` bits. Whether it was there already.
    #[inline(always)]
    fn remember(&mut self, addr: u64, size: u8, value: u64) -> bool {
        match size {
            0 => self.replace([value as u8], addr, value, |[byte]| byte.into()),
            1 => self.replace((value as u16).to_le_bytes(), addr, value, |bytes| {
                u16::from_le_bytes(bytes).into()
            }),
            2 => self.replace((value as u32).to_le_bytes(), addr, value, |bytes| {
                u32::from_le_bytes(bytes).into()
            }),
            _ => self.replace(value.to_le_bytes(), addr, value, u64::from_le_bytes),
        }
    }

    #[inline(always)]
    fn replace<const LEN: usize>(
        &mut self,
        bytes: [u8; LEN],
        addr: u64,
        value: u64,
        number: impl Fn([u8; LEN]) -> u64,
    ) -> bool {
        let at = value_of(addr);
        let mut before = [0; LEN];
        before.copy_from_slice(&self.values[at..at + LEN]);
        self.values[at..at + LEN].copy_from_slice(&bytes);
        // Not what does not fit in there.
        number(before) == value
    }

    /// The value that is remembered.
    fn remembered(&self, addr: u64, size: u8) -> u64 {
        number(&self.values[..], value_of(addr), 1 << (size & 3)).unwrap_or(0)
    }
}

/// Where the value of an address is remembered: neighbours stay so, for the caches' sake.
#[inline(always)]
fn value_of(addr: u64) -> usize {
    addr as usize % VALUES
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
fn slot_of(key: u64) -> u32 {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOT_BITS)) as u32
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
    /// Writes one byte.
    fn byte(&mut self, at: usize, number: u8);
    /// Writes four bytes, and not before what was written earlier.
    fn head(&mut self, at: usize, number: u32);
    /// Writes one byte, likewise.
    fn tag(&mut self, at: usize, number: u8);
}

impl Out for [u8] {
    fn put(&mut self, at: usize, number: u64) {
        self[at..at + 8].copy_from_slice(&number.to_le_bytes());
    }

    fn byte(&mut self, at: usize, number: u8) {
        self[at] = number;
    }

    fn head(&mut self, at: usize, number: u32) {
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
        self[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }

    fn tag(&mut self, at: usize, number: u8) {
        core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
        self[at] = number;
    }
}

/// Writes a record whose time is `growth` more than one above the last. There is room for [`MOST`] bytes behind `at`, twice where
/// the place is new to its slot. Answers with where the next one begins.
#[inline(always)]
pub fn write<O: Out + ?Sized>(memo: &mut Memo, out: &mut O, at: usize, growth: u64, record: Record) -> usize {
    let short = if growth == 0 {
        write_next(memo, out, at, record)
    } else {
        None
    };
    short.unwrap_or_else(|| write_long(memo, out, at, growth, record.key(), record.addr, record.value))
}

/// Writes a record at the next time, if its slot is the expected one: otherwise nothing is written, and nothing remembered.
#[inline(always)]
pub fn write_next<O: Out + ?Sized>(memo: &mut Memo, out: &mut O, at: usize, record: Record) -> Option<usize> {
    let number = memo.expected;
    let slot = memo.slot(number);
    if slot.key != record.key() {
        return None;
    }
    let expected = slot.addr;
    if expected == record.addr {
        slot.go_on(record.addr);
        memo.follow(number);
        return Some(write_short(memo, out, at, at + 1, EXPECTED, record));
    }
    slot.meet(record.addr);
    memo.follow(number);
    let distance = zigzag(record.addr.wrapping_sub(expected));
    let near = match bytes(distance) {
        len @ 0..=4 => len.max(1) as u8 + 1,
        len => 6 + u8::from(len > 6),
    };
    out.put(at + 1, distance);
    Some(write_short(
        memo,
        out,
        at,
        at + 1 + NEAR[near as usize],
        near,
        record,
    ))
}

/// Writes a record eight bytes behind the last one, that has all else in common with it, at the next time.
#[inline(always)]
pub fn write_behind<O: Out + ?Sized>(memo: &mut Memo, out: &mut O, at: usize, record: Record) -> usize {
    write_short(memo, out, at, at + 1, BEHIND, record)
}

/// Writes the value and the first byte of a short record.
#[inline(always)]
fn write_short<O: Out + ?Sized>(
    memo: &mut Memo,
    out: &mut O,
    at: usize,
    mut to: usize,
    near: u8,
    record: Record,
) -> usize {
    let value = match record.value {
        Some(number) => {
            let same = is_remembered(record.kind) && memo.remember(record.addr, record.size, number);
            let len = bytes(number | 1);
            out.put(to, number);
            // No branch: whether it is the same is often hard to foresee.
            to += if same { 0 } else { len as usize };
            if same { SAME_VALUE } else { len }
        }
        None => NO_VALUE,
    };
    out.byte(to, 0);
    out.tag(at, SHORT | near << 4 | value as u8);
    to
}

#[inline(never)]
fn write_long<O: Out + ?Sized>(
    memo: &mut Memo,
    out: &mut O,
    mut at: usize,
    growth: u64,
    key: u64,
    addr: u64,
    value: Option<u64>,
) -> usize {
    let (kind, size) = ((key >> KIND_SHIFT) as u8, (key >> SIZE_SHIFT) as u8 & 3);
    let number = slot_of(key);
    if memo.slot(number).key != key {
        at = define(memo.slot(number), out, at, key);
    }
    // Behind the definition, as the reader does: the last record may have been of another place with the same slot.
    memo.learn(number);
    let slot = memo.slot(number);
    let distance = addr.wrapping_sub(slot.addr);
    if distance == 0 {
        slot.go_on(addr);
    } else {
        slot.meet(addr);
    }
    memo.follow(number);
    let distance = zigzag(distance);
    let (mut to, time) = (at + 4, time_code(growth));
    out.put(to, growth);
    to += TIME[time as usize];
    let len = bytes(distance);
    out.put(to, distance);
    to += len as usize;
    let value = match value {
        Some(number) if is_remembered(kind) && memo.remember(addr, size, number) => SAME_VALUE,
        Some(number) => {
            let len = bytes(number);
            out.put(to, number);
            to += len as usize;
            len
        }
        None => NO_VALUE,
    };
    out.byte(to, 0);
    let head = u32::from(kind) | u32::from(size) << 8 | time << 10 | len << 12 | value << 16 | number << 20;
    out.head(at, head);
    to
}

fn define<O: Out + ?Sized>(slot: &mut Slot, out: &mut O, at: usize, key: u64) -> usize {
    *slot = Slot::new(key);
    out.put(at + 4, key);
    out.byte(at + 12, 0);
    out.head(at, Kind::Define as u32 | 8 << 16 | slot_of(key) << 20);
    at + 12
}

#[inline(always)]
fn zigzag(distance: u64) -> u64 {
    distance << 1 ^ (distance as i64 >> 63) as u64
}

fn unzigzag(number: u64) -> u64 {
    number >> 1 ^ (number & 1).wrapping_neg()
}

/// Reads records of one thread, block by block.
#[derive(Debug, Default)]
pub struct Reader {
    memo: Memo,
    /// The address of the last record.
    last: u64,
}

impl Reader {
    /// The record at `at`, how much more than one its time is above the last, and where the next one begins. `None` at the end.
    pub fn read(&mut self, block: &[u8], mut at: usize) -> Option<(Record, u64, usize)> {
        loop {
            let first = *block.get(at)?;
            if first & SHORT != 0 {
                return self.read_short(block, at, first);
            }
            let head = number(block, at, 4)? as u32;
            let field = |shift: u32, bits: u32| head >> shift & ((1 << bits) - 1);
            let kind = field(0, 6) as u8;
            if kind == 0 {
                return None;
            }
            let mut from = at + 4;
            let mut take = |len: usize| take(block, &mut from, len);
            let growth = take(TIME[field(10, 2) as usize])?;
            let distance = unzigzag(take(field(12, 4).min(8) as usize)?);
            let value = match field(16, 4) {
                NO_VALUE | SAME_VALUE => None,
                len => Some(take(len.min(8) as usize)?),
            };
            let number = field(20, SLOT_BITS);
            let slot = self.memo.slot(number);
            if kind == Kind::Define as u8 {
                *slot = Slot::new(value.unwrap_or(0));
                at = from;
                continue;
            }
            let addr = slot.addr.wrapping_add(distance);
            if distance == 0 {
                slot.go_on(addr);
            } else {
                slot.meet(addr);
            }
            let pc = slot.key & PC;
            self.memo.learn(number);
            self.memo.follow(number);
            let record = Record {
                kind,
                size: field(8, 2) as u8,
                pc,
                addr,
                value,
            };
            return Some((self.with_value(record, field(16, 4)), growth, from));
        }
    }

    fn read_short(&mut self, block: &[u8], at: usize, first: u8) -> Option<(Record, u64, usize)> {
        let mut from = at + 1;
        let near = first >> 4 & 7;
        let distance = unzigzag(take(block, &mut from, NEAR[near as usize])?);
        let code = u32::from(first & 15);
        let value = match code {
            NO_VALUE | SAME_VALUE => None,
            len => Some(take(block, &mut from, len.min(8) as usize)?),
        };
        let (key, addr) = if near == BEHIND {
            (self.memo.slot(self.memo.last).key, self.last.wrapping_add(8))
        } else {
            let number = self.memo.expected;
            let slot = self.memo.slot(number);
            let addr = slot.addr.wrapping_add(distance);
            if near == EXPECTED {
                slot.go_on(addr);
            } else {
                slot.meet(addr);
            }
            let key = slot.key;
            self.memo.follow(number);
            (key, addr)
        };
        let record = Record {
            kind: (key >> KIND_SHIFT) as u8,
            size: (key >> SIZE_SHIFT & 3) as u8,
            pc: key & PC,
            addr,
            value,
        };
        // No writer has such a slot.
        let is_one = record.kind > Kind::Define as u8;
        is_one.then(|| (self.with_value(record, code), 0, from))
    }

    /// With the value that is remembered, or remembers it.
    fn with_value(&mut self, mut record: Record, code: u32) -> Record {
        self.last = record.addr;
        match record.value {
            None if code == SAME_VALUE => {
                record.value = Some(self.memo.remembered(record.addr, record.size));
            }
            Some(value) if is_remembered(record.kind) => {
                self.memo.remember(record.addr, record.size, value);
            }
            _ => {}
        }
        record
    }
}

fn take(block: &[u8], from: &mut usize, len: usize) -> Option<u64> {
    let number = number(block, *from, len)?;
    *from += len;
    Some(number)
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
mod tests;
