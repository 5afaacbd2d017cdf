//! The cells of a region as run-length code: what a compressed region has in the place of cells ([`crate::summary`]).
//!
//! A *run* is a stretch of granules whose cells repeat with a period: 1 where all are alike, 2 where every other one is. This is
//! what SlimState calls coarse (one run), block (several) and strided (a period), in one form; it stands for the cells that it
//! expands to and nothing else, so it is as precise as they are. An access to many granules is one [`cell::step`] for each run
//! and phase. What this cannot say (too many runs, a state that does not fit into two words) is for the cells themselves.

use crate::cell::{self, FIRST_SIDE, Found, Step};
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

type Words = (u64, u64);
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
struct Run {
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

    fn start(&self) -> usize {
        self.start.into()
    }

    fn end(&self) -> usize {
        self.end.into()
    }

    fn period(&self) -> usize {
        self.period.into()
    }

    fn first(&self) -> usize {
        self.first.into()
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

/// A word for each four runs: of each, how many granules follow it, and its period less one. So zeros are one run of all.
pub type Packed = [u64; MOST_RUNS / 4];

const _: () = assert!(GRANULES <= 1 << 10 && LONGEST <= 1 << 4);

impl Default for Runs {
    /// Nothing was ever accessed.
    fn default() -> Runs {
        let mut runs = Runs::none();
        runs.count = 1;
        runs.used = 1;
        runs.runs[0] = Run::new(0, GRANULES, 1, 0);
        runs
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

    /// From its packed form. `None` if that makes no sense, because somebody changed it meanwhile.
    #[inline]
    pub fn unpack(packed: Packed, mut cell: impl FnMut(usize) -> Words) -> Option<Runs> {
        let mut runs = Runs::none();
        let mut start = 0;
        while start < GRANULES {
            let n = runs.count;
            let bits = packed.get(n / 4)? >> (16 * (n % 4));
            let end = GRANULES.checked_sub(bits as usize & 0x3ff)?;
            let period = (bits >> 10 & 0xf) as usize + 1;
            if end <= start || period > LONGEST || runs.used + period > MOST_CELLS {
                return None;
            }
            runs.runs[n] = Run::new(start, end, period, runs.used);
            for _ in 0..period {
                runs.cells[runs.used] = cell(runs.used);
                runs.used += 1;
            }
            runs.count += 1;
            start = end;
        }
        Some(runs)
    }

    /// Its packed form, but for the cells.
    pub fn pack(&self) -> Packed {
        let mut packed = [0; MOST_RUNS / 4];
        for (n, run) in self.all().iter().enumerate() {
            let bits = (GRANULES - run.end()) as u64 | (run.period() as u64 - 1) << 10;
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
        self.cells[run.first() + granule % run.period()]
    }

    /// Calls `f` with each granule and its cell, but for those that say nothing.
    pub fn expand(&self, mut f: impl FnMut(usize, Words)) {
        for run in self.all() {
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
        let said = |at: usize| phases[at % period];
        let short = (1..period)
            .find(|by| (start..(end - by.min(&end)).min(start + period)).all(|at| said(at) == said(at + by)))
            .unwrap_or(period);
        // No longer than the run, so each of its phases occurs.
        let mut cells = [(0, 0); LONGEST];
        (start..start + short).for_each(|at| cells[at % short] = said(at));
        let is = |at: usize| cells[at % short];
        if let Some(last) = self.count.checked_sub(1) {
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

    /// The same, but for what `change` makes of the cells that `piece` touches: of each kind of cell once, with the first granule
    /// that has it, the end of the granules that do, and how far they are apart.
    fn changed(
        &self,
        piece: &Piece,
        mut change: impl FnMut(Words, u8, (usize, usize, usize)) -> Option<Words>,
    ) -> Option<Runs> {
        let mut new = Runs::none();
        for run in self.all() {
            let mut phases = [(0, 0); LONGEST];
            phases[..run.period()].copy_from_slice(&self.cells[run.first()..run.first() + run.period()]);
            let (from, to) = (piece.from.max(run.start()), piece.to.min(run.end()));
            if from >= to {
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
                Step::Known => Some(old),
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

    /// Whether an access is on record: one like it by `t` in this epoch.
    #[inline]
    pub fn knows(&self, t: &Thread, write: bool, piece: &Piece) -> bool {
        if t.far {
            return false;
        }
        self.all()
            .iter()
            .filter(|run| run.start() < piece.to && piece.from < run.end())
            .all(|run| {
                let (from, to) = (piece.from.max(run.start()), piece.to.min(run.end()));
                let period = run.period() * piece.period;
                (from..to.min(from + period)).all(|granule| {
                    let mask = piece.masks[granule % piece.period];
                    mask == 0 || has(t, self.cell(run, granule), write, mask)
                })
            })
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
fn has(t: &Thread, (write, read): Words, writes: bool, mask: u8) -> bool {
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
                assert_eq!(expanded(&runs), vec![(1, 1); GRANULES]);
            }
        }
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
