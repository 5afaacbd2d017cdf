//! The cells of a region as run-length code: what a compressed region has in the place of cells ([`crate::summary`]).
//!
//! A *run* is a stretch of granules whose cells repeat with a period: 1 where all are alike, 2 where every other one is. This is
//! what SlimState calls coarse (one run), block (several) and strided (a period), in one form; it stands for the cells that it
//! expands to and nothing else, so it is as precise as they are. An access to many granules is one [`cell::step`] for each run
//! and phase. What this cannot say (a state that does not fit into two words) is for the cells themselves.
//!
//! A stretch of which each granule has a history of its own is a run *of cells*: the shadow cells say it, and the rest of the
//! region stays compressed. So a column whose elements are done with one after the other is still one run as far as it is not.

use crate::cell::{self, FIRST_SIDE, Found, Step};
use crate::heard;
use crate::places::Place;
use crate::thread::Thread;
use deadheat_abi::shadow::EPOCH;

/// Granules of a region.
pub const GRANULES: usize = (crate::owners::REGION_MASK + 1) / 8;
/// The most runs.
pub const MOST_RUNS: usize = 8;
/// The most cells, those of all runs together.
pub const MOST_CELLS: usize = 14;
/// The longest period.
pub const LONGEST: usize = 8;
/// Where there are too many runs, neighbours shorter than this become runs of cells.
const SHORT: usize = 32;
/// So much room, of runs and of cells, there must be then.
const ROOM: usize = 3;

/// The two words of a cell.
pub type Words = (u64, u64);
type Phases = [Words; LONGEST];

/// What an access touches in a region: granules from `from` to `to`, of each the bytes that the mask of its phase says
/// (neighbours; 0 if none). The phase is the granule's number modulo the period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The first granule.
    pub from: usize,
    /// The last one, plus one.
    pub to: usize,
    /// At most [`LONGEST`].
    pub period: usize,
    /// One for each phase.
    pub masks: [u8; LONGEST],
}

/// Small numbers, because this is copied about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Run {
    start: u16,
    end: u16,
    period: u8,
    /// Where its cells begin among all: one for each phase.
    first: u8,
}

impl Run {
    fn new(start: usize, end: usize, period: usize, first: usize) -> Run {
        Run {
            start: start as u16,
            end: end as u16,
            period: period as u8,
            first: first as u8,
        }
    }

    /// Its first granule.
    #[inline(always)]
    pub fn start(&self) -> usize {
        self.start.into()
    }

    /// Its last one, plus one.
    #[inline(always)]
    pub fn end(&self) -> usize {
        self.end.into()
    }

    /// After so many granules it repeats. It is at least as long. 0 if it is a run of cells.
    #[inline(always)]
    pub fn period(&self) -> usize {
        self.period.into()
    }

    /// Where its cells begin among all.
    #[inline(always)]
    pub fn first(&self) -> usize {
        self.first.into()
    }

    /// The cell of a granule among all.
    #[inline(always)]
    pub fn cell(&self, granule: usize) -> usize {
        self.first() + phase(granule, self.period())
    }

    /// Whether the shadow cells say what it is.
    #[inline(always)]
    pub fn is_cells(&self) -> bool {
        self.period == 0
    }

    /// What is left of it from one granule on, if that is a run.
    pub fn from(&self, granule: usize) -> Option<Run> {
        let rest = Run {
            start: granule as u16,
            ..*self
        };
        (granule + self.period() <= self.end()).then_some(rest)
    }

    /// Whether it repeats nothing: each granule has a cell of its own.
    #[inline(always)]
    pub fn is_once(&self) -> bool {
        self.end - self.start == u16::from(self.period)
    }

    /// Whether some of the cells that a piece touches in it are in it beyond the piece, too, so that it does not stay one run. It
    /// has some of the piece.
    #[inline(always)]
    pub fn is_split_by(&self, piece: &Piece) -> bool {
        if self.is_once() {
            return false;
        }
        let phases = phase(self.period(), piece.period) != 0;
        let beyond = |mut granules: std::ops::Range<usize>| {
            granules.len() >= self.period() || granules.any(|granule| piece.mask(granule) != 0)
        };
        phases
            || self.start() < piece.from && beyond(self.start()..piece.from)
            || piece.to < self.end() && beyond(piece.to..self.end())
    }
}

/// A number modulo a period, of which most are 1 or 2: divisions are slow.
#[inline(always)]
pub fn phase(granule: usize, period: usize) -> usize {
    if period.is_power_of_two() {
        granule & (period - 1)
    } else {
        granule % period
    }
}

impl Piece {
    /// The bytes of a granule that are touched, if it is in the piece.
    #[inline(always)]
    pub fn mask(&self, granule: usize) -> u8 {
        self.masks[phase(granule, self.period)]
    }
}

/// Runs in their packed form, one after the other. It ends early where that makes no sense, because somebody changes it.
pub struct Walk {
    packed: Packed,
    number: usize,
    start: usize,
    first: usize,
}

impl Walk {
    /// Of all runs.
    #[inline(always)]
    pub fn new(packed: Packed) -> Walk {
        Walk {
            packed,
            number: 0,
            start: 0,
            first: 0,
        }
    }
}

impl Iterator for Walk {
    type Item = Run;

    #[inline(always)]
    fn next(&mut self) -> Option<Run> {
        if self.start >= GRANULES {
            return None;
        }
        let bits = self.packed.get(self.number / 4)? >> (16 * (self.number % 4));
        let end = GRANULES.checked_sub(bits as usize & 0x3ff)?;
        let period = ((bits as usize >> 10) + 1) & 0xf;
        let run = Run::new(self.start, end, period, self.first);
        if end <= self.start || period > LONGEST || self.first + period > MOST_CELLS {
            return None;
        }
        self.number += 1;
        self.start = end;
        self.first += period;
        Some(run)
    }
}

/// The cells of a region.
#[derive(Clone, Debug)]
pub struct Runs {
    count: usize,
    runs: [Run; MOST_RUNS],
    used: usize,
    cells: [Words; MOST_CELLS],
}

/// What becomes of an access.
#[expect(
    clippy::large_enum_variant,
    reason = "made and taken apart at once, and never kept"
)]
pub enum Outcome {
    /// It is on record.
    Known,
    /// This.
    Changed(Runs),
    /// Something that only cells can say.
    Misfit,
}

/// There is no room.
struct Full;

/// A word for each four runs: of each, how many granules follow it, and its period less one, modulo 16. So zeros are one run of
/// all.
pub type Packed = [u64; MOST_RUNS / 4];

const _: () = assert!(GRANULES <= 1 << 10 && LONGEST <= 1 << 4);

/// The same, where one of the runs ends elsewhere, and the next begins there.
pub fn ends_at(mut packed: Packed, number: usize, end: usize) -> Packed {
    let (word, shift) = (&mut packed[number / 4], 16 * (number % 4));
    *word = *word & !(0x3ff << shift) | ((GRANULES - end) as u64) << shift;
    packed
}

impl Default for Runs {
    /// Nothing was ever accessed.
    fn default() -> Runs {
        Runs::of((0, 0))
    }
}

impl Runs {
    /// Of no granules yet: to be pushed to.
    fn none() -> Runs {
        Runs {
            count: 0,
            runs: [Run::default(); MOST_RUNS],
            used: 0,
            cells: [(0, 0); MOST_CELLS],
        }
    }

    /// One run of granules whose cells all say this.
    pub fn of(words: Words) -> Runs {
        let mut runs = Runs::none();
        (runs.count, runs.used) = (1, 1);
        (runs.runs[0], runs.cells[0]) = (Run::new(0, GRANULES, 1, 0), words);
        runs
    }

    /// From its packed form. `None` if that makes no sense, because somebody changed it meanwhile.
    #[inline]
    pub fn unpack(packed: Packed, mut cell: impl FnMut(usize) -> Words) -> Option<Runs> {
        let mut runs = Runs::none();
        for run in Walk::new(packed) {
            runs.runs[runs.count] = run;
            runs.count += 1;
            runs.used = run.first() + run.period();
        }
        (0..runs.used).for_each(|at| runs.cells[at] = cell(at));
        let last = runs.all().last()?;
        (last.end() == GRANULES).then_some(runs)
    }

    /// Its packed form, but for the cells.
    pub fn pack(&self) -> Packed {
        let mut packed = [0; MOST_RUNS / 4];
        for (n, run) in self.all().iter().enumerate() {
            let bits = (GRANULES - run.end()) as u64 | ((run.period() as u64 + 0xf) & 0xf) << 10;
            packed[n / 4] |= bits << (16 * (n % 4));
        }
        packed
    }

    /// The cells of all runs, one after the other.
    pub fn cells(&self) -> &[Words] {
        &self.cells[..self.used]
    }

    fn all(&self) -> &[Run] {
        &self.runs[..self.count]
    }

    #[inline(always)]
    fn cell(&self, run: &Run, granule: usize) -> Words {
        self.cells[run.cell(granule)]
    }

    /// Calls `f` with each granule and its cell, but for those that say nothing, and those that have one.
    pub fn expand(&self, mut f: impl FnMut(usize, Words)) {
        for run in self.all().iter().filter(|run| !run.is_cells()) {
            for granule in run.start()..run.end() {
                let words = self.cell(run, granule);
                if words != (0, 0) {
                    f(granule, words);
                }
            }
        }
    }

    /// Of these cells, if they are regular enough. Each place is tried with short periods first, and the search ends when there is
    /// no more room, so it takes no more than a few looks at each cell.
    pub fn encode(cells: impl Fn(usize) -> Words) -> Option<Runs> {
        let mut runs = Runs::none();
        let mut start = 0;
        while start < GRANULES {
            let (mut end, mut period) = (start, 1);
            for tried in 1..=LONGEST {
                let repeats = (start + tried..GRANULES).take_while(|at| cells(*at) == cells(at - tried));
                let reached = (start + tried + repeats.count()).min(GRANULES);
                if reached > end && (tried == 1 || reached - start >= 2 * tried) {
                    (end, period) = (reached, tried);
                }
                if end - start > 2 * LONGEST {
                    break;
                }
            }
            let mut phases = [(0, 0); LONGEST];
            for granule in start..end.min(start + period) {
                phases[granule % period] = cells(granule);
            }
            if phases.iter().any(|words| words.0 >= FIRST_SIDE) {
                return None;
            }
            runs.push(start, end, period, &phases).ok()?;
            start = end;
        }
        Some(runs)
    }

    /// Adds a run, of as short a period as will do, and unites it with the one before if that says the same.
    #[inline]
    fn push(&mut self, start: usize, end: usize, period: usize, phases: &Phases) -> Result<(), Full> {
        if period == 0 {
            return self.push_cells(start, end);
        }
        let said = |at: usize| phases[phase(at, period)];
        let short = (1..period)
            .find(|by| (start..(end - by.min(&end)).min(start + period)).all(|at| said(at) == said(at + by)))
            .unwrap_or(period);
        // No longer than the run, so each of its phases occurs.
        let mut cells = [(0, 0); LONGEST];
        (start..start + short).for_each(|at| cells[phase(at, short)] = said(at));
        let is = |at: usize| cells[phase(at, short)];
        if let Some(last) = self.count.checked_sub(1)
            && !self.runs[last].is_cells()
        {
            let before = self.runs[last];
            let both = before.period() * short;
            let alike = |at| self.cell(&before, at) == is(at);
            if (start..end.min(start + both)).all(alike) {
                self.runs[last].end = end as u16;
                return Ok(());
            }
            if (before.start()..start.min(before.start() + both)).all(alike) {
                (self.count, self.used) = (last, before.first());
                return self.append(before.start(), end, &cells[..short]);
            }
        }
        self.append(start, end, &cells[..short])
    }

    /// Adds a run of cells.
    fn push_cells(&mut self, start: usize, end: usize) -> Result<(), Full> {
        match self.runs[..self.count].last_mut() {
            Some(last) if last.is_cells() => last.end = end as u16,
            _ => self.append(start, end, &[])?,
        }
        Ok(())
    }

    #[inline]
    fn append(&mut self, start: usize, end: usize, cells: &[Words]) -> Result<(), Full> {
        let (first, period) = (self.used, cells.len());
        if self.count == MOST_RUNS || first + period > MOST_CELLS {
            return Err(Full);
        }
        self.cells[first..first + period].copy_from_slice(cells);
        self.runs[self.count] = Run::new(start, end, period, first);
        self.count += 1;
        self.used += period;
        Ok(())
    }

    /// The same, but for what `change` makes of the cells that `piece` touches in runs that are not of cells: of each kind of cell once, with the first granule
    /// that has it, the end of the granules that do, and how far they are apart.
    fn changed(
        &self,
        piece: &Piece,
        mut change: impl FnMut(Words, u8, (usize, usize, usize)) -> Option<Words>,
    ) -> Option<Runs> {
        let mut new = Runs::none();
        for run in self.all() {
            let phases = self.phases(run);
            let (from, to) = (piece.from.max(run.start()), piece.to.min(run.end()));
            if from >= to || run.is_cells() {
                new.push(run.start(), run.end(), run.period(), &phases).ok()?;
                continue;
            }
            if run.start() < from {
                new.push(run.start(), from, run.period(), &phases).ok()?;
            }
            let period = common(run.period(), piece.period);
            if period > LONGEST {
                return None;
            }
            let mut touched = [(0, 0); LONGEST];
            for (phase, words) in touched[..period].iter_mut().enumerate() {
                *words = phases[phase % run.period()];
                let mask = piece.masks[phase % piece.period];
                let first = from + (phase + period - from % period) % period;
                if mask != 0 && first < to {
                    *words = change(*words, mask, (first, to, period))?;
                }
            }
            new.push(from, to, period, &touched).ok()?;
            if to < run.end() {
                new.push(to, run.end(), run.period(), &phases).ok()?;
            }
        }
        Some(new)
    }

    /// A plain access by `t`: what [`cell::access`] does on each cell. Races go to `found`, with their granules.
    pub fn access<const WRITE: bool>(
        &self,
        t: &mut Thread,
        piece: &Piece,
        at: Place,
        found: &mut Vec<(usize, Found)>,
    ) -> Outcome {
        let mut known = true;
        let new = self.changed(piece, |old, mask, (first, to, period)| {
            match cell::step::<WRITE>(t, old, mask, at) {
                Step::Known => {
                    let new = cell::renamed::<WRITE>(t, old, mask, at);
                    known &= new == old;
                    Some(new)
                }
                Step::Misfit => None,
                Step::Words(new, with_write, with_read) => {
                    known = false;
                    if with_write | with_read != 0 {
                        let mut races = Vec::new();
                        cell::tell_both(t, old, with_write, with_read, &mut races);
                        for granule in (first..to).step_by(period) {
                            found.extend(races.iter().map(|race| (granule, *race)));
                        }
                    }
                    Some(new)
                }
            }
        });
        match new {
            None => Outcome::Misfit,
            Some(_) if known => Outcome::Known,
            Some(new) => Outcome::Changed(new),
        }
    }

    /// The same without what all threads have heard of.
    pub fn left(&self, t: &mut Thread) -> Runs {
        let mut left = self.clone();
        left.cells[..self.used]
            .iter_mut()
            .for_each(|words| *words = heard::left_now(t, *words));
        left.united()
    }

    /// The same with neighbouring short runs as runs of cells, if that makes room. What these cells are goes to `set`.
    pub fn condensed(&self, set: impl FnMut(usize, Words)) -> Option<Runs> {
        let short =
            |run: Option<&Run>| run.is_some_and(|run| run.is_cells() || run.end() - run.start() < SHORT);
        let (mut new, mut loose) = (
            Runs::none(),
            Runs {
                count: 0,
                ..self.clone()
            },
        );
        for (n, run) in self.all().iter().enumerate() {
            let before = n.checked_sub(1).and_then(|n| self.all().get(n));
            let goes = short(Some(run)) && (short(before) || short(self.all().get(n + 1)));
            let phases = self.phases(run);
            let period = if goes { 0 } else { run.period() };
            new.push(run.start(), run.end(), period, &phases).ok()?;
            if goes {
                loose.runs[loose.count] = *run;
                loose.count += 1;
            }
        }
        if new.has_little_room() {
            return None;
        }
        loose.expand(set);
        Some(new)
    }

    /// Whether one more access may be too much.
    pub fn has_little_room(&self) -> bool {
        self.count + ROOM > MOST_RUNS || self.used + ROOM > MOST_CELLS
    }

    /// The same with a run of cells that are all alike as what it says. `None` if there is no room.
    pub fn with(&self, start: usize, words: Words) -> Option<Runs> {
        let mut new = Runs::none();
        for run in self.all() {
            if run.start() == start {
                new.push(start, run.end(), 1, &[words; LONGEST]).ok()?;
            } else {
                new.push(run.start(), run.end(), run.period(), &self.phases(run))
                    .ok()?;
            }
        }
        Some(new)
    }

    fn phases(&self, run: &Run) -> Phases {
        let mut phases = [(0, 0); LONGEST];
        phases[..run.period()].copy_from_slice(&self.cells[run.first()..run.first() + run.period()]);
        phases
    }

    /// The same in as few runs as will do.
    pub fn united(&self) -> Runs {
        let mut new = Runs::none();
        for run in self.all() {
            let phases = self.phases(run);
            if new.push(run.start(), run.end(), run.period(), &phases).is_err() {
                return self.clone();
            }
        }
        new
    }

    /// The same, but for some granules of which nothing is known any more. `None` if that is not regular enough.
    pub fn without(&self, from: usize, to: usize) -> Option<Runs> {
        let piece = Piece {
            from,
            to,
            period: 1,
            masks: [0xff; LONGEST],
        };
        self.changed(&piece, |_, _, _| Some((0, 0)))
    }
}

/// Whether a cell says that `t` has accessed these bytes in this epoch.
#[inline(always)]
pub fn has(t: &Thread, (write, read): Words, writes: bool, mask: u8) -> bool {
    let is = |word: u64| (word ^ t.epoch) & (EPOCH | u64::from(mask)) == 0;
    is(write) || !writes && crate::readers::each(read).any(is)
}

/// The least common multiple of two periods.
fn common(one: usize, other: usize) -> usize {
    let mut both = one;
    while !both.is_multiple_of(other) {
        both += one;
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::Random;

    fn expanded(runs: &Runs) -> Vec<Words> {
        let mut cells = vec![(0, 0); GRANULES];
        runs.expand(|granule, words| cells[granule] = words);
        cells
    }

    /// Stretches that repeat a few states, as arrays have them.
    fn regular(random: &mut Random) -> Vec<Words> {
        let mut cells = Vec::new();
        while cells.len() < GRANULES {
            let period = random.below(4) as usize + 1;
            let states: Vec<Words> = (0..period).map(|_| (random.below(3), random.below(3))).collect();
            let len = 1 + random.below(400) as usize;
            cells.extend(states.iter().cycle().take(len));
        }
        cells.truncate(GRANULES);
        cells
    }

    #[test]
    fn runs_stand_for_the_cells_that_they_were_made_of() {
        let mut random = Random(7);
        let mut made = 0;
        for _ in 0..2000 {
            let cells = regular(&mut random);
            let Some(runs) = Runs::encode(|granule| cells[granule]) else {
                continue;
            };
            made += 1;
            assert_eq!(expanded(&runs), cells);
            let again = Runs::unpack(runs.pack(), |at| runs.cells()[at]).expect("made by pack");
            assert_eq!(expanded(&again), cells);
            let (from, to) = (random.below(512) as usize, random.below(512) as usize);
            if let Some(without) = runs.without(from.min(to), from.max(to) + 1) {
                let mut cells = cells;
                cells[from.min(to)..=from.max(to)].fill((0, 0));
                assert_eq!(expanded(&without), cells);
            }
        }
        assert!(made > 1000, "{made}");
    }

    #[test]
    fn zeros_are_a_region_that_nobody_has_accessed() {
        let runs = Runs::unpack([0; 2], |_| (0, 0)).expect("one run");
        assert_eq!((runs.count, runs.used), (1, 1));
        assert_eq!(Runs::default().pack(), [0; 2]);
    }

    #[test]
    fn what_makes_no_sense_is_no_runs() {
        let mut random = Random(3);
        for _ in 0..10_000 {
            let packed = [0; 2].map(|_: u64| random.below(1 << 31) << 33 | random.below(1 << 31));
            if let Some(runs) = Runs::unpack(packed, |_| (1, 1)) {
                let mut cells = expanded(&runs);
                for run in runs.all().iter().filter(|run| run.is_cells()) {
                    cells[run.start()..run.end()].fill((1, 1));
                }
                assert_eq!(cells, vec![(1, 1); GRANULES]);
            }
        }
    }

    #[test]
    fn the_border_of_two_runs_can_be_moved() {
        let words = |granule: usize| match granule {
            0..100 => (7, 7),
            _ => (1 + granule as u64 % 2, 9),
        };
        let runs = Runs::encode(words).unwrap();
        let packed = ends_at(runs.pack(), 0, 103);
        let walked: Vec<Run> = Walk::new(packed).collect();
        assert_eq!(
            (walked[0].end(), walked[1].start(), walked[1].end()),
            (103, 103, GRANULES)
        );
        assert_eq!(walked[1].from(GRANULES - 2).unwrap().start(), GRANULES - 2);
        assert!(walked[1].from(GRANULES - 1).is_none(), "shorter than its period");
    }

    #[test]
    fn short_neighbours_become_cells_and_the_rest_stays() {
        // Single ones, a long run, and a single one between two long ones.
        let cell = |granule: usize| match granule {
            0..5 => (granule as u64 + 1, 0),
            300 => (8, 0),
            _ => (7, 7),
        };
        let runs = Runs::encode(cell).expect("there is room");
        let mut set = Vec::new();
        let condensed = runs
            .condensed(|granule, words| set.push((granule, words)))
            .expect("so there is more");
        assert_eq!(
            set,
            (0..5).map(|granule| (granule, cell(granule))).collect::<Vec<_>>()
        );
        assert_eq!((condensed.count, condensed.used), (4, 3));
        let again = Runs::unpack(condensed.pack(), |at| condensed.cells()[at]).expect("made by pack");
        assert!(again.all()[0].is_cells() && again.all()[0].end() == 5);
        assert_eq!(expanded(&again)[5..], (5..GRANULES).map(cell).collect::<Vec<_>>());
        let whole = again.with(0, (7, 7)).expect("there is room");
        assert_eq!((whole.count, whole.used), (3, 3));
    }

    #[test]
    fn every_other_cell_makes_one_run_whatever_the_order() {
        let mut runs = Runs::default();
        for (from, to) in [(0, 200), (200, 512)] {
            for phase in 0..2 {
                let mut masks = [0; LONGEST];
                masks[phase] = 0xff;
                let piece = Piece {
                    from,
                    to,
                    period: 2,
                    masks,
                };
                runs = runs
                    .changed(&piece, |_, _, _| Some((phase as u64 + 1, 0)))
                    .expect("it fits");
            }
        }
        assert_eq!((runs.count, runs.used), (1, 2));
    }
}
