//! Regions whose cells are written down as run-length code ([`crate::runs`]): *compressed* ones.
//!
//! A region that is entered by an access to many of its granules at once is compressed from the beginning: its shadow is a
//! *summary* of 256 bytes, its cells are zeros that nobody touches, and what an access costs does not depend on how much of it is
//! touched. It belongs to nobody; whoever changes the summary holds its lock. Who only wants to know whether an access is on
//! record does not even take that: the lock is a version, too.
//!
//! Of a compressed region, cells are in use in the stretches that the runs leave to them; the holder changes them, too. Where a few states are all
//! over a region, so that there would be many runs, its summary has a palette instead ([`crate::palette`]).
//!
//! A region is *expanded* to cells when runs cannot say what they have to, and when single accesses keep coming, because the
//! inline test, which looks at the cells, fails for all of them. Who expands it owns it ([`crate::owners`]). It is compressed again
//! when its owner goes through it in a few large steps and its cells are regular; a try that fails makes the next one rarer.
//!
//! Locks are taken outside of sections, and before the one that changes owners.

use crate::cell::{self, Cell, FIRST_SIDE, Found, Step};
use crate::owners;
use crate::palette::{Drawn, Numbers, Palette};
use crate::places::Place;
use crate::runs::{self, GRANULES, MOST_CELLS, MOST_RUNS, Outcome, Packed, Piece, Run, Runs, Walk};
use crate::spin::Wait;
use crate::thread::Thread;
use crate::vm::{self, Table};
use crate::{checks, heard, readers, shadow, side};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

/// So many single accesses a compressed region takes between two large ones.
const SINGLES: u64 = 32;
/// The same if it has a palette: its cells take fifteen times the room.
const SINGLES_OF_PALETTE: u64 = 256;

/// Two runs of no more than so many granules together are not united for the sake of it.
const BRIEF: usize = 4;

/// An inline test is of no more granules.
const INLINE: usize = 2;

/// An extent of no more granules is not worth remembering.
const LEAST: usize = 8;

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
    /// The cells of the runs, or the states of the palette.
    cells: [[AtomicU64; 2]; MOST_CELLS],
}

/// What the runs of a region are that has a palette: to who takes it for runs, nonsense, as what somebody changes is.
const PALETTE: Packed = [u64::MAX; MOST_RUNS / 4];

const TRIES: u32 = 32;
const _: () = assert!(size_of::<Summary>() == 8 * WORDS);

static SUMMARIES: Table<Summary> = Table::new();
/// Of the regions that have palettes.
static NUMBERS: Table<Numbers> = Table::new();

static ON: AtomicBool = AtomicBool::new(false);

/// Maps the table ahead of its first use, or says why not.
pub fn reserve() -> Result<(), i32> {
    SUMMARIES.reserve(owners::REGIONS)?;
    NUMBERS.reserve(owners::REGIONS)?;
    for (start, len) in tables() {
        // Of a huge page little would be used.
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

/// Where summaries are, and palettes, if there are any, and how long that is.
pub fn tables() -> impl Iterator<Item = (usize, usize)> {
    let summaries = (SUMMARIES.start(), size_of::<Summary>());
    [summaries, (NUMBERS.start(), size_of::<Numbers>())]
        .into_iter()
        .filter_map(|(start, size)| Some((start?, owners::REGIONS * size)))
}

/// Forgets everything.
pub fn forget_all() {
    for (start, len) in tables() {
        // SAFETY: the table. Zeros are summaries of memory that was never accessed, and no palettes.
        unsafe { vm::zero(start, len) };
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
    #[inline(always)]
    fn packed(&self) -> Packed {
        self.runs.each_ref().map(|word| word.load(Ordering::Relaxed))
    }

    /// The palette, if it has one.
    #[inline(always)]
    fn palette(&self) -> Option<Palette<'_>> {
        (self.runs[0].load(Ordering::Relaxed) == PALETTE[0]).then(|| self.any_palette())
    }

    /// What would be the palette.
    #[inline(always)]
    fn any_palette(&self) -> Palette<'_> {
        Palette {
            // SAFETY: within the table; zero bytes are atomics.
            numbers: unsafe { &*NUMBERS.at(self.region(), owners::REGIONS) },
            states: &self.cells,
        }
    }

    #[inline(always)]
    fn words(&self, at: usize) -> (u64, u64) {
        let [write, read] = &self.cells[at];
        (write.load(Ordering::Relaxed), read.load(Ordering::Relaxed))
    }

    /// The runs; of no meaning if somebody changes them meanwhile.
    fn load(&self) -> Option<Runs> {
        Runs::unpack(self.packed(), |at| self.words(at))
    }

    /// Whether an access is on record: one like it by `t` in this epoch.
    #[inline]
    fn knows(&self, t: &Thread, write: bool, piece: &Piece) -> bool {
        let version = self.version.load(Ordering::Acquire);
        let known = version.is_multiple_of(2) && !t.far && self.says(t, write, piece);
        fence(Ordering::Acquire);
        known && self.version.load(Ordering::Relaxed) == version
    }

    /// The same; of no meaning if somebody changes it meanwhile.
    #[inline(always)]
    fn says(&self, t: &Thread, write: bool, piece: &Piece) -> bool {
        if let Some(palette) = self.palette() {
            return palette.says(t, write, piece);
        }
        for run in Walk::new(self.packed()) {
            let (from, to) = (piece.from.max(run.start()), piece.to.min(run.end()));
            if run.is_cells() && !self.cells_say(t, write, piece, from..to) {
                return false;
            }
            let kinds = run.period() * piece.period;
            for granule in from..to.min(from + kinds) {
                let mask = piece.mask(granule);
                if mask != 0 && !runs::has(t, self.words(run.cell(granule)), write, mask) {
                    return false;
                }
            }
            if piece.to <= run.end() {
                return true;
            }
        }
        false
    }

    /// The granules around one of which all bytes are on record like this, if that is more than a few.
    fn extent(&self, t: &Thread, write: bool, granule: usize) -> Option<Range<usize>> {
        let version = self.version.load(Ordering::Acquire);
        let mut extent = 0..0;
        if let Some(palette) = self.palette() {
            extent = palette.extent(t, write, granule);
        }
        for run in Walk::new(self.packed()) {
            let mut cells = run.first()..run.first() + run.period();
            if !run.is_cells() && cells.all(|cell| runs::has(t, self.words(cell), write, 0xff)) {
                extent.end = run.end();
            } else if extent.contains(&granule) {
                break;
            } else {
                extent = run.end()..run.end();
            }
        }
        fence(Ordering::Acquire);
        let stands = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        (stands && extent.contains(&granule) && extent.len() > LEAST).then_some(extent)
    }

    /// What the cells of a run of cells say.
    fn cells_say(&self, t: &Thread, write: bool, piece: &Piece, mut granules: Range<usize>) -> bool {
        let cells = cells(self.region());
        granules.all(|granule| {
            let (mask, words) = (piece.mask(granule), cells[granule].load());
            mask == 0 || words.0 < FIRST_SIDE && runs::has(t, words, write, mask)
        })
    }

    /// Of which region it is.
    fn region(&self) -> usize {
        (std::ptr::from_ref(self).addr() - SUMMARIES.start().unwrap_or_default()) / size_of::<Summary>()
    }

    /// Counts a single access. Whether there have been too many.
    fn one_more(&self) -> bool {
        let counts = self.counts.load(Ordering::Relaxed);
        self.counts.store(counts + 1, Ordering::Relaxed);
        let most = match self.palette() {
            Some(_) => SINGLES_OF_PALETTE,
            None => SINGLES,
        };
        counts % (1 << TRIES) >= most
    }

    fn no_singles(&self) {
        let counts = self.counts.load(Ordering::Relaxed);
        if !counts.is_multiple_of(1 << TRIES) {
            self.counts.store(counts >> TRIES << TRIES, Ordering::Relaxed);
        }
    }
}

impl Held {
    /// The runs of a region without a palette.
    fn load(&self) -> Runs {
        // What the holder reads makes sense.
        self.summary.load().unwrap_or_default()
    }

    fn store(&self, runs: &Runs) {
        self.set_packed(runs.pack());
        for ([write, read], words) in self.summary.cells.iter().zip(runs.cells()) {
            write.store(words.0, Ordering::Relaxed);
            read.store(words.1, Ordering::Relaxed);
        }
    }

    /// An access to what is not in runs of cells, if it splits no run and races with nothing: one step for each kind of cell.
    /// Whether it was done, and if so, whether there are runs of cells that it touches; if not, the part that was done is on record.
    #[inline(always)]
    fn in_place<const WRITE: bool>(&self, t: &mut Thread, piece: &Piece, at: Place) -> Option<bool> {
        let mut before: Option<Run> = None;
        let (mut again, mut has_cells) = (false, false);
        let mut last: Option<Run> = None;
        for (number, mut run) in Walk::new(self.summary.packed()).enumerate() {
            let left = last.replace(run);
            if run.end() <= piece.from {
                continue;
            }
            if piece.to <= run.start() {
                break;
            }
            if run.is_cells() {
                (before, has_cells) = (None, true);
                continue;
            }
            if let Some(left) = left
                && run.start() < piece.from
                && run.start() + BRIEF >= piece.from
            {
                if left.is_cells() {
                    self.leave_to_cells(number, &mut run, piece.from);
                } else if self.is_nothing(&left) {
                    self.leave_to_nothing(t, number, &mut run, piece.from);
                }
            }
            if run.is_split_by(piece) {
                let goes_on = left.is_some_and(|left| self.goes_on::<WRITE>(t, piece, at, &left, &run));
                return goes_on.then(|| {
                    self.set_packed(runs::ends_at(self.summary.packed(), number - 1, piece.to));
                    false
                });
            }
            for granule in run.start()..run.start() + run.period() {
                let mask = piece.mask(granule);
                if mask == 0 || run.is_once() && !(piece.from..piece.to).contains(&granule) {
                    continue;
                }
                let cell = run.cell(granule);
                let [write, read] = &self.summary.cells[cell];
                let old = self.summary.words(cell);
                let new = match cell::step::<WRITE>(t, old, mask, at) {
                    Step::Known => cell::renamed::<WRITE>(t, old, mask, at),
                    Step::Words(new, 0, 0) => new,
                    _ => return None,
                };
                write.store(new.0, Ordering::Relaxed);
                read.store(new.1, Ordering::Relaxed);
            }
            again |= before.is_some_and(|before| self.is_one(&before, &run));
            before = Some(run);
        }
        if again {
            self.unite();
        }
        Some(has_cells)
    }

    /// Whether an access begins where a run does, ends within it, and leaves what the run to the left of it says: then all that changes
    /// is where the one ends and the other begins. So is each part of a sweep but the first and the last of a region.
    #[inline(always)]
    fn goes_on<const WRITE: bool>(
        &self,
        t: &mut Thread,
        piece: &Piece,
        at: Place,
        left: &Run,
        run: &Run,
    ) -> bool {
        let period = run.period();
        let fits = piece.from == run.start()
            && left.period() == period
            && piece.to - piece.from >= period
            && run.from(piece.to).is_some()
            && runs::phase(period, piece.period) == 0;
        fits && (piece.from..piece.from + period).all(|granule| {
            let (old, mask) = (self.summary.words(run.cell(granule)), piece.mask(granule));
            let new = match mask {
                0 => old,
                _ => match cell::step::<WRITE>(t, old, mask, at) {
                    Step::Words(new, 0, 0) => new,
                    _ => return false,
                },
            };
            new == self.summary.words(left.cell(granule))
        })
    }

    fn set_packed(&self, packed: Packed) {
        for (word, packed) in self.summary.runs.iter().zip(packed) {
            word.store(packed, Ordering::Relaxed);
        }
    }

    /// Leaves the first granules of a run, up to one, to the run of cells before it, if that leaves a run: those of a column that was
    /// done with, where each round of a nest begins one farther.
    fn leave_to_cells(&self, number: usize, run: &mut Run, to: usize) {
        let Some(rest) = run.from(to) else { return };
        let cells = cells(self.region);
        (run.start()..to).for_each(|granule| cells[granule].set(self.summary.words(run.cell(granule))));
        self.set_packed(runs::ends_at(self.summary.packed(), number - 1, to));
        *run = rest;
    }

    /// Whether a run says nothing.
    #[inline(always)]
    fn is_nothing(&self, run: &Run) -> bool {
        run.period() == 1 && self.summary.words(run.first()) == (0, 0)
    }

    /// The same where the run before it says nothing, if all threads have heard of what they say.
    #[inline(never)]
    fn leave_to_nothing(&self, t: &mut Thread, number: usize, run: &mut Run, to: usize) {
        let Some(rest) = run.from(to) else { return };
        let mut words = (run.start()..to).map(|granule| self.summary.words(run.cell(granule)));
        if words.all(|words| heard::left_now(t, words) == (0, 0)) {
            self.set_packed(runs::ends_at(self.summary.packed(), number - 1, to));
            *run = rest;
        }
    }

    /// The same for any access. Not done if it needs cells: then nothing is found.
    #[inline(never)]
    fn rebuilt<const WRITE: bool>(
        &self,
        t: &mut Thread,
        piece: &Piece,
        at: Place,
        found: &mut Vec<(usize, Found)>,
    ) -> bool {
        let mut now = self.load().left(t);
        loop {
            match now.access::<WRITE>(t, piece, at, found) {
                Outcome::Known => return true,
                Outcome::Changed(runs) => {
                    self.store(&runs);
                    return true;
                }
                Outcome::Misfit => found.clear(),
            }
            self.store(&now);
            if now.has_little_room() && self.paint() {
                return self.in_palette::<WRITE>(t, piece, at, found) == Some(true);
            }
            if !self.condense() {
                return false;
            }
            now = self.load();
        }
    }

    /// An access to a region with a palette: whether it was done; `None` if it has none.
    #[inline(always)]
    fn in_palette<const WRITE: bool>(
        &self,
        t: &mut Thread,
        piece: &Piece,
        at: Place,
        found: &mut Vec<(usize, Found)>,
    ) -> Option<bool> {
        let palette = self.summary.palette()?;
        let done = palette.access::<WRITE>(t, piece, at, found);
        if piece.to - piece.from == GRANULES
            && let Some(words) = palette.only()
        {
            self.store(&Runs::of(words));
        }
        Some(done)
    }

    /// Takes a palette in the place of runs, if few states are all over the region. Whether it has one then.
    #[inline(never)]
    fn paint(&self) -> bool {
        let cells = cells(self.region);
        let drawn = Drawn::of(|granule| {
            let run = Walk::new(self.summary.packed()).find(|run| granule < run.end());
            match run {
                Some(run) if !run.is_cells() => self.summary.words(run.cell(granule)),
                _ => cells[granule].load(),
            }
        });
        let Some(drawn) = drawn else { return false };
        for run in Walk::new(self.summary.packed()).filter(Run::is_cells) {
            cells[run.start()..run.end()]
                .iter()
                .for_each(|cell| cell.set((0, 0)));
        }
        self.store_palette(&drawn);
        true
    }

    fn store_palette(&self, drawn: &Drawn) {
        self.set_packed(PALETTE);
        self.summary.any_palette().set(drawn);
    }

    /// Makes room, if there is little. Whether there is more then.
    fn condense(&self) -> bool {
        let cells = cells(self.region);
        let now = self.load();
        let Some(runs) = now.condensed(|granule, words| cells[granule].set(words)) else {
            return false;
        };
        self.store(&runs);
        runs.pack() != now.pack()
    }

    /// An access to what is in runs of cells.
    #[inline(always)]
    fn in_cells<const WRITE: bool>(
        &self,
        t: &mut Thread,
        piece: &Piece,
        at: Place,
        found: &mut Vec<(usize, Found)>,
    ) {
        for run in Walk::new(self.summary.packed()) {
            if run.is_cells() && run.start() < piece.to && piece.from < run.end() {
                self.in_cells_of::<WRITE>(t, &run, piece, at, found);
            }
        }
    }

    #[inline(never)]
    fn in_cells_of<const WRITE: bool>(
        &self,
        t: &mut Thread,
        run: &Run,
        piece: &Piece,
        at: Place,
        found: &mut Vec<(usize, Found)>,
    ) {
        let cells = cells(self.region);
        let (mut granule, to) = (piece.from.max(run.start()), piece.to.min(run.end()));
        let mut races = Vec::new();
        while granule < to {
            if piece.period == 1 {
                let cells = &cells[granule..to];
                granule += cell::sweep::<WRITE>(t, cells, true, piece.masks[0], at, readers::LONGEST);
                if granule == to {
                    break;
                }
            }
            let mask = piece.mask(granule);
            if mask != 0 {
                cell::access::<WRITE>(t, &cells[granule], true, mask, at, &mut races);
                found.extend(races.drain(..).map(|race| (granule, race)));
            }
            granule += 1;
        }
        let all = piece.from <= run.start() && run.end() <= piece.to;
        let words = cells[run.start()].load();
        let alike = |granules: Range<usize>| {
            words.0 < FIRST_SIDE && granules.into_iter().all(|at| cells[at].load() == words)
        };
        if all
            && alike(run.end() - 1..run.end())
            && alike(run.start()..run.end())
            && let Some(runs) = self.load().with(run.start(), words)
        {
            self.store(&runs);
            cells[run.start()..run.end()]
                .iter()
                .for_each(|cell| cell.set((0, 0)));
        }
    }

    /// Forgets what the cells of runs of cells say of some granules.
    fn reset_cells(&self, from: usize, to: usize) {
        let cells = cells(self.region);
        for run in Walk::new(self.summary.packed()).filter(Run::is_cells) {
            (from.max(run.start())..to.min(run.end())).for_each(|granule| side::reset(&cells[granule]));
        }
    }

    /// Whether two neighbours say the same, and are to be one. Two that are short are let alone until something else changes the runs:
    /// the end of a matrix's row and the beginning of the next are alike once in each round.
    #[inline(always)]
    fn is_one(&self, before: &Run, run: &Run) -> bool {
        run.end() - before.start() > BRIEF && self.alike(before, run)
    }

    /// Whether two neighbours may say the same.
    #[inline(always)]
    fn alike(&self, before: &Run, run: &Run) -> bool {
        let words = |run: &Run, granule| self.summary.words(run.cell(granule));
        let both = before.period() * run.period();
        let alike = |mut granules: Range<usize>| {
            granules.all(|granule| words(before, granule) == words(run, granule))
        };
        alike(run.start()..run.end().min(run.start() + both))
            || alike(before.start()..run.start().min(before.start() + both))
    }

    #[cold]
    fn unite(&self) {
        self.store(&self.load().united());
    }

    /// Writes down what the cells are.
    fn write_out(&self) {
        let cells = cells(self.region);
        let set = |granule: usize, words| cells[granule].set(words);
        match self.summary.palette() {
            Some(palette) => palette.expand(set),
            None => self.load().expand(set),
        }
        self.store(&Runs::default());
    }

    /// An access was done.
    #[inline(always)]
    fn done(self, t: &Thread, long: bool) -> bool {
        if long {
            self.summary.no_singles();
        } else if self.summary.one_more() {
            self.expand(t);
        }
        true
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
    // A palette does as well as cells do, but for what the inline test answers.
    let long = long || piece.to - piece.from > INLINE && summary.palette().is_some();
    let known = summary.knows(t, WRITE, piece);
    if known && (long || remember(t, WRITE, region, piece) || !summary.one_more()) {
        return true;
    }
    let Some(held) = hold(region) else { return false };
    if known {
        held.expand(t);
        return true;
    }
    match held.in_palette::<WRITE>(t, piece, at, found) {
        None => {}
        Some(true) => return held.done(t, long),
        Some(false) => {
            held.expand(t);
            return false;
        }
    }
    let has_cells = match held.in_place::<WRITE>(t, piece, at) {
        None if !held.rebuilt::<WRITE>(t, piece, at, found) => {
            held.expand(t);
            return false;
        }
        done => done.unwrap_or(true),
    };
    if has_cells {
        held.in_cells::<WRITE>(t, piece, at, found);
    }
    held.done(t, long)
}

/// Has the processor fetch what an access to a region of an array needs, if it is compressed.
#[inline(always)]
pub fn fetch(addr: usize) {
    const LINE: usize = 64;
    let region = owners::region(addr);
    if !on() || !owners::is_compressed(region) {
        return;
    }
    let first = std::ptr::from_ref(summary(region)).addr();
    (0..size_of::<Summary>())
        .step_by(LINE)
        .take(2)
        .for_each(|at| checks::fetch(first + at));
    let numbers = summary(region).any_palette().numbers;
    let granule = (addr & owners::REGION_MASK) / 8;
    numbers.places(granule).into_iter().for_each(checks::fetch);
}

/// Remembers what is around an access that is on record, so that the next ones are answered without a look here. Whether that is much.
#[inline(never)]
fn remember(t: &mut Thread, write: bool, region: usize, piece: &Piece) -> bool {
    if t.sweeps.is_worn(t.epoch, region) {
        return false;
    }
    let Some(extent) = summary(region).extent(t, write, piece.from) else {
        return false;
    };
    t.sweeps.add_extent(t.epoch, region, extent, write);
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
        compress(t, region, tries > 1);
    }
}

/// Compresses a region, if it is the thread's and regular enough. If it was compressed before, it may need its cells again.
#[cold]
pub fn compress(t: &Thread, region: usize, again: bool) {
    let cells = cells(region);
    let left = |granule: usize| heard::left(t, cells[granule].load());
    // Before anything is locked: mostly this settles it.
    if Runs::encode(left).is_none() && Drawn::of(left).is_none() {
        return;
    }
    let held = hold_any(region);
    t.owner.compress(region, || {
        if let Some(runs) = Runs::encode(left) {
            held.store(&runs);
        } else if let Some(drawn) = Drawn::of(left) {
            held.store_palette(&drawn);
        } else {
            return false;
        }
        clear(cells, again);
        true
    });
}

/// Makes cells zeros, and gives their memory back, or keeps it.
fn clear(cells: &[Cell], keep: bool) {
    if keep || !vm::advise(cells.as_ptr().addr(), size_of_val(cells), libc::MADV_DONTNEED) {
        cells.iter().for_each(|cell| cell.set((0, 0)));
    }
}

/// Forgets what is known of some granules. Whether the region is compressed: if not, its cells are to be cleared.
pub fn reset(region: usize, from: usize, to: usize) -> bool {
    if !owners::is_compressed(region) {
        return false;
    }
    let Some(held) = hold(region) else { return false };
    held.reset_cells(from, to);
    if from == 0 && to == GRANULES {
        held.store(&Runs::default());
        held.summary.counts.store(0, Ordering::Relaxed);
        owners::untouched(region);
        return true;
    }
    let forgotten = match held.summary.palette() {
        Some(palette) => palette.forget(from, to),
        None => held.load().without(from, to).is_some_and(|runs| {
            held.store(&runs);
            true
        }),
    };
    if !forgotten {
        held.write_out();
        owners::expanded_for_anybody(region);
    }
    forgotten
}

/// How many states a summary has, if the region is compressed.
pub fn states(region: usize) -> Option<usize> {
    let held = hold(region)?;
    if let Some(palette) = held.summary.palette() {
        return Some(palette.states());
    }
    let runs = held.load();
    Some(runs.cells().iter().filter(|words| **words != (0, 0)).count())
}
