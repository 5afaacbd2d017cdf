//! Regions whose cells are written down as run-length code ([`crate::runs`]): *compressed* ones.
//!
//! A region that is entered by an access to many of its granules at once is compressed from the beginning: its shadow is a
//! *summary* of 256 bytes, its cells are zeros that nobody touches, and what an access costs does not depend on how much of it is
//! touched. It belongs to nobody; whoever changes the summary holds its lock. Who only wants to know whether an access is on
//! record does not even take that: the lock is a version, too.
//!
//! A region is *expanded* to cells when runs cannot say what they have to, and when single accesses keep coming, because the
//! inline test, which looks at the cells, fails for all of them. Who expands it owns it ([`crate::owners`]). It is compressed again
//! when its owner goes through it in a few large steps and its cells are regular; a try that fails makes the next one rarer.
//!
//! Locks are taken outside of sections, and before the one that changes owners.

use crate::cell::{Cell, Found};
use crate::owners;
use crate::places::Place;
use crate::runs::{GRANULES, MOST_CELLS, MOST_RUNS, Outcome, Piece, Runs};
use crate::shadow;
use crate::spin::Wait;
use crate::thread::Thread;
use crate::vm::{self, Table};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

/// So many single accesses a compressed region takes between two large ones.
const SINGLES: u64 = 32;

const CELLS: usize = 4;
const WORDS: usize = CELLS + 2 * MOST_CELLS;

/// The summary of a region. Zeros say that nothing was ever accessed.
#[repr(C, align(64))]
struct Summary {
    /// Odd while somebody changes it, and another number afterwards.
    version: AtomicU64,
    /// The runs, packed. This and what follows is changed by the holder.
    runs: [AtomicU64; MOST_RUNS / 4],
    /// Single accesses since the last large one, and, above [`TRIES`], how often it might have been compressed again.
    /// Counted without locks: a few more or less do not matter.
    counts: AtomicU64,
    cells: [[AtomicU64; 2]; MOST_CELLS],
}

const TRIES: u32 = 32;
const _: () = assert!(size_of::<Summary>() == 8 * WORDS);

static SUMMARIES: Table<Summary> = Table::new();

static ON: AtomicBool = AtomicBool::new(false);

/// Maps the table ahead of its first use, or says why not.
pub fn reserve() -> Result<(), i32> {
    SUMMARIES.reserve(owners::REGIONS)?;
    if let Some(start) = SUMMARIES.start() {
        // Of a huge page little would be used.
        let len = owners::REGIONS * size_of::<Summary>();
        vm::advise(start, len, libc::MADV_NOHUGEPAGE);
    }
    Ok(())
}

/// Compresses, from here on.
pub fn begin() {
    ON.store(true, Ordering::Relaxed);
}

/// Whether regions are compressed.
#[inline(always)]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Where the summaries are, if there are any.
pub fn start() -> Option<usize> {
    SUMMARIES.start()
}

/// Forgets everything.
pub fn forget_all() {
    if let Some(start) = SUMMARIES.start() {
        // SAFETY: the table, whose zeros are summaries of memory that was never accessed.
        unsafe { vm::zero(start, owners::REGIONS * size_of::<Summary>()) };
    }
}

fn summary(region: usize) -> &'static Summary {
    // SAFETY: within the table; zero bytes are atomics.
    unsafe { &*SUMMARIES.at(region, owners::REGIONS) }
}

/// The right to change a summary.
struct Held {
    summary: &'static Summary,
    region: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        let version = self.summary.version.load(Ordering::Relaxed);
        self.summary.version.store(version + 1, Ordering::Release);
    }
}

/// Holds the summary of a region, if it is compressed.
fn hold(region: usize) -> Option<Held> {
    let held = hold_any(region);
    owners::is_compressed(region).then_some(held)
}

fn hold_any(region: usize) -> Held {
    let summary = summary(region);
    let mut wait = Wait::default();
    loop {
        let version = summary.version.load(Ordering::Relaxed);
        let taken = version.is_multiple_of(2)
            && summary
                .version
                .compare_exchange_weak(version, version + 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok();
        if taken {
            // Who reads meanwhile sees the odd version, if it sees any change.
            fence(Ordering::Release);
            return Held { summary, region };
        }
        wait.once();
    }
}

impl Summary {
    /// The runs; of no meaning if somebody changes them meanwhile.
    #[inline]
    fn load(&self) -> Option<Runs> {
        let packed = self.runs.each_ref().map(|word| word.load(Ordering::Relaxed));
        Runs::unpack(packed, |at| {
            let [write, read] = &self.cells[at];
            (write.load(Ordering::Relaxed), read.load(Ordering::Relaxed))
        })
    }

    /// Whether an access is on record.
    #[inline]
    fn knows(&self, t: &Thread, write: bool, piece: &Piece) -> bool {
        let version = self.version.load(Ordering::Acquire);
        let known = version.is_multiple_of(2) && self.load().is_some_and(|runs| runs.knows(t, write, piece));
        fence(Ordering::Acquire);
        known && self.version.load(Ordering::Relaxed) == version
    }

    /// Counts a single access. Whether there have been too many.
    fn one_more(&self) -> bool {
        let counts = self.counts.load(Ordering::Relaxed);
        self.counts.store(counts + 1, Ordering::Relaxed);
        counts % (1 << TRIES) >= SINGLES
    }

    fn no_singles(&self) {
        let counts = self.counts.load(Ordering::Relaxed);
        if counts % (1 << TRIES) != 0 {
            self.counts.store(counts >> TRIES << TRIES, Ordering::Relaxed);
        }
    }
}

impl Held {
    fn load(&self) -> Runs {
        // What the holder reads makes sense.
        self.summary.load().unwrap_or_default()
    }

    fn store(&self, runs: &Runs) {
        for (word, packed) in self.summary.runs.iter().zip(runs.pack()) {
            word.store(packed, Ordering::Relaxed);
        }
        for ([write, read], words) in self.summary.cells.iter().zip(runs.cells()) {
            write.store(words.0, Ordering::Relaxed);
            read.store(words.1, Ordering::Relaxed);
        }
    }

    /// Writes down what the cells are.
    fn write_out(&self) {
        let cells = cells(self.region);
        self.load().expand(|granule, words| cells[granule].set(words));
        self.store(&Runs::default());
    }

    /// The region has cells from here on, which `t` owns if somebody can.
    fn expand(self, t: &Thread) {
        self.write_out();
        t.owner.expanded(self.region);
    }
}

fn cells(region: usize) -> &'static [Cell] {
    let first = shadow::cell(region << owners::REGION_SHIFT);
    // SAFETY: a region has so many cells, and they lie side by side.
    unsafe { std::slice::from_raw_parts(first, GRANULES) }
}

/// An access to many granules of a compressed region. Whether it was done: if not, the region is not compressed any more. `long`
/// if it is what compression is for.
pub fn access<const WRITE: bool>(
    t: &mut Thread,
    region: usize,
    piece: &Piece,
    long: bool,
    at: Place,
    found: &mut Vec<(usize, Found)>,
) -> bool {
    let summary = summary(region);
    let known = summary.knows(t, WRITE, piece);
    if known && (long || !summary.one_more()) {
        return true;
    }
    let Some(held) = hold(region) else { return false };
    if known {
        held.expand(t);
        return true;
    }
    match held.load().access::<WRITE>(t, piece, at, found) {
        Outcome::Known => {}
        Outcome::Changed(runs) => held.store(&runs),
        Outcome::Misfit => {
            found.clear();
            held.expand(t);
            return false;
        }
    }
    if long {
        summary.no_singles();
    } else if summary.one_more() {
        held.expand(t);
    }
    true
}

/// Whether an access is on record in a region that is compressed; `None` if it is not.
pub fn knows(t: &Thread, write: bool, region: usize, piece: &Piece) -> Option<bool> {
    owners::is_compressed(region).then(|| summary(region).knows(t, write, piece))
}

/// Gives a region cells.
#[cold]
pub fn expand(t: &Thread, region: usize) {
    if let Some(held) = hold(region) {
        held.expand(t);
    }
}

/// The owner of a region has gone through much of it: now it may be regular.
#[inline]
pub fn may_compress(t: &Thread, region: usize) {
    let counts = &summary(region).counts;
    let tries = (counts.load(Ordering::Relaxed) >> TRIES) + 1;
    counts.store(tries << TRIES, Ordering::Relaxed);
    if tries.is_power_of_two() {
        compress(t, region);
    }
}

/// Compresses a region, if it is the thread's and regular enough.
#[cold]
pub fn compress(t: &Thread, region: usize) {
    let cells = cells(region);
    let encode = || Runs::encode(|granule| cells[granule].load());
    // Before anything is locked: mostly this settles it.
    if encode().is_none() {
        return;
    }
    let held = hold_any(region);
    t.owner.compress(region, || {
        let Some(runs) = encode() else { return false };
        held.store(&runs);
        clear(cells);
        true
    });
}

/// Makes cells zeros, and gives their memory back.
fn clear(cells: &[Cell]) {
    if !vm::advise(cells.as_ptr().addr(), size_of_val(cells), libc::MADV_DONTNEED) {
        cells.iter().for_each(|cell| cell.set((0, 0)));
    }
}

/// Forgets what is known of some granules. Whether the region is compressed: if not, its cells are to be cleared.
pub fn reset(region: usize, from: usize, to: usize) -> bool {
    if !owners::is_compressed(region) {
        return false;
    }
    let Some(held) = hold(region) else { return false };
    if from == 0 && to == GRANULES {
        held.store(&Runs::default());
        held.summary.counts.store(0, Ordering::Relaxed);
        owners::untouched(region);
        return true;
    }
    match held.load().without(from, to) {
        Some(runs) => held.store(&runs),
        None => {
            held.write_out();
            owners::expanded_for_anybody(region);
            return false;
        }
    }
    true
}

/// How many states a summary has, if the region is compressed.
pub fn states(region: usize) -> Option<usize> {
    let held = hold(region)?;
    Some(
        held.load()
            .cells()
            .iter()
            .filter(|words| **words != (0, 0))
            .count(),
    )
}
