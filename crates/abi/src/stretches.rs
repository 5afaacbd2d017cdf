//! Stretches of memory that a loop fills, many of them at once and in no order: how a sort by digits fills its buckets.
//!
//! Nobody can say behind such a loop what it has written. So each write of it looks whether it goes on where the last one to the
//! same page ended, in a table that the loop is given, and then only moves that end. All of a stretch is checked at once, when it
//! goes on into the next page, when the loop writes to other pages with the same slots, or where the loop is left: before the thread acquires or releases anything, so it is as if each had
//! been checked by itself. Other writes are tested as ever; the runtime, when it is asked, begins a stretch with one.
//!
//! The loop has a word in the function's frame that says where its table is. Before the loop that is [`NOTHING`], in which no
//! write goes on.

/// An address shifted by this is the number of its page.
pub const PAGE_SHIFT: u32 = 12;

/// How many slots a table has. More than there are stretches, so that few of them meet; the memory between the slots in use is not
/// looked at. A page has two, or a sort with 256 buckets would have some that are in each other's way.
pub const SLOTS: u64 = 4096;

/// Bytes of what instrumented code looks at: for each slot, the end of its stretch; 0 if there is none.
pub const BYTES: u64 = SLOTS * 8;

/// A table without stretches, which each program has. Never changed.
pub const NOTHING: &str = "__deadheat_inline.nothing";

/// The slots of an address.
#[inline(always)]
pub const fn slots(addr: u64) -> [usize; 2] {
    let slot = (addr >> PAGE_SHIFT & (SLOTS - 1)) as usize;
    [slot, slot ^ 1]
}
