//! The shadow of memory, as far as the inline test looks at it.
//!
//! Each 8 aligned bytes of memory (a *granule*) have a *cell* of two words: the last write, then the last read. A word is
//!
//! ```text
//!  63      50 49        30 29         8 7          0
//! ┌──────────┬────────────┬────────────┬────────────┐
//! │ term  14 │  time   20 │ place   22 │ not bytes 8│
//! └──────────┴────────────┴────────────┴────────────┘
//! ```
//!
//! the epoch of the access (the runtime's `terms.rs` says whose the term is), an id of where it was, and which of the granule's bytes it did **not** touch (bit 0 for the
//! lowest address). The zero word is "never": times start at 1. A cell whose state does not fit has [`SIDE`] as the term
//! of its first word, and the rest is for the runtime alone.
//!
//! The inline test for an access to `bytes` (as a mask) of the granule of `addr`, with `tls` the thread's
//! [`crate::tls::Tls`]:
//!
//! ```text
//! word = load(tls.base + ((addr & tls.mask) << 1) + (0 for a write, 8 for a read))
//! if (word ^ tls.epoch) & (EPOCH | bytes) != 0 { call the hook }
//! ```
//!
//! A read word may stand for several readers. It is then that of the greatest epoch, and the test fails for all other readers. So an
//! aligned read looks, before it calls, whether the thread has met this very word in this epoch and found itself behind it:
//!
//! ```text
//! if tls.shared[place of word % SHARED_WORDS] == word and word & bytes == 0 { no call }
//! ```
//!
//! The same goes for the read word of a cell whose readers keep their reads to themselves (the runtime's `side/kept.rs`): its term is [`SIDE`],
//! so it is like no thread's epoch.
//!
//! An access to several whole granules looks at the words of all their cells, which lie side by side, in one test. A read
//! of a few is behind the last reader if all have the same word.
//!
//! The thread's own access to these bytes in this epoch is on record: nothing to do. While there is only one thread,
//! `mask` and `epoch` are 0 and `base` points to [`TESTED`] zero cells, so the test succeeds and no shadow is touched.

/// Bytes of memory that share a cell.
pub const GRANULE: u64 = 8;
/// Bytes of a cell.
pub const CELL: u64 = 16;
/// So many granules one inline test covers at most.
pub const TESTED: u64 = 8;
/// Where in a cell the word of the last write is.
pub const WRITE_WORD: u64 = 0;
/// Where in a cell the word of the last read is.
pub const READ_WORD: u64 = 8;

/// Bits of a term.
pub const TERM_BITS: u32 = 14;
/// Bits of a time.
pub const TIME_BITS: u32 = 20;
/// Bits of a place.
pub const PLACE_BITS: u32 = 22;

/// Where the place begins.
pub const PLACE_SHIFT: u32 = 8;
/// Where the time begins.
pub const TIME_SHIFT: u32 = PLACE_SHIFT + PLACE_BITS;
/// Where the term begins.
pub const TERM_SHIFT: u32 = TIME_SHIFT + TIME_BITS;

/// The bits of term and time.
pub const EPOCH: u64 = !0 << TIME_SHIFT;
/// The term that marks a cell whose state is elsewhere. No thread has it.
pub const SIDE: u32 = (1 << TERM_BITS) - 1;

/// The bits of an address that choose its cell. Memory of a program lies low, at 0x55… and at 0x7e…–0x7f…; its shadow is
/// found by the low 44 bits. The runtime sees to it that no two mappings share a shadow.
pub const ADDRESS_MASK: u64 = 0x0fff_ffff_fff8;
/// Where the shadow begins.
pub const BASE: u64 = 0x1000_0000_0000;
/// How long it is.
pub const LEN: u64 = (ADDRESS_MASK + GRANULE) / GRANULE * CELL;

const _: () = assert!(TERM_SHIFT + TERM_BITS == 64);
const _: () = assert!(CELL == 2 * GRANULE, "the test shifts by one");
const _: () = assert!(BASE + LEN <= 0x5500_0000_0000, "below where programs are mapped");
