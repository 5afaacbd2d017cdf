//! Runs of bytes with one history, each a FastTrack location of `detect`: what nothing shorter can say.

use crate::cell::{self, Found, bytes, word};
use crate::places::Place;
use crate::readers;
use crate::terms::{self, LAST_TIME};
use crate::thread::Thread;
use deadheat_abi::shadow::{TERM_SHIFT, TIME_SHIFT};
use deadheat_detect::clock::Epoch;
use deadheat_detect::fasttrack::Location;
use deadheat_event::{Access, AccessKind, Addr, Detector, Place as Bytes, SiteId};

/// Runs of bytes with one history.
#[derive(Default)]
pub struct Runs {
    /// At which bytes a run begins; bit 0 is set.
    starts: u8,
    /// One for each run.
    states: Vec<Location>,
}

/// The epoch of a word, as `detect` has it.
pub fn detect_epoch(word: u64) -> Epoch {
    let (slot, time) = cell::epoch(word);
    if time == 0 {
        Epoch::NEVER
    } else {
        Epoch::new(slot, time)
    }
}

/// Whether a word is about a byte.
pub fn touches(word: u64, byte: u32) -> bool {
    bytes(word) >> byte & 1 == 1
}

/// When and where the access of a word was made to a byte, as `detect` has it.
pub fn part(word: u64, byte: u32) -> (Epoch, SiteId) {
    (detect_epoch(word), SiteId(cell::place(word).at_byte(byte).0))
}

impl Runs {
    /// What words say of which for each byte there are two.
    pub fn of(words: impl Fn(u32) -> (u64, u64)) -> Runs {
        Runs::new(|byte| {
            let (write, read) = words(byte);
            let touches = |word: &u64| touches(*word, byte);
            let write = Some(write).filter(touches).map(|write| part(write, byte));
            let mut reads: Vec<(Epoch, SiteId)> = Vec::new();
            for read in readers::each(read).filter(touches) {
                let read = part(read, byte);
                // Of a thread that was read in two terms the later counts.
                match reads.iter_mut().find(|(epoch, _)| epoch.slot() == read.0.slot()) {
                    Some(same) if same.0.time() < read.0.time() => *same = read,
                    Some(_) => {}
                    None => reads.push(read),
                }
            }
            Location::with_reads(write.unwrap_or_default(), &reads)
        })
    }

    /// Of a state for each byte.
    pub fn new(state: impl Fn(u32) -> Location) -> Runs {
        let mut runs = Runs::default();
        for byte in 0..8 {
            let state = state(byte);
            if runs.states.last() != Some(&state) {
                runs.starts |= 1 << byte;
                runs.states.push(state);
            }
        }
        runs
    }

    /// Makes a run begin at `byte`.
    fn split(&mut self, byte: u32) {
        if byte < 8 && self.starts >> byte & 1 == 0 {
            let run = self.run_of(byte);
            let copy = self.states[run].clone();
            self.states.insert(run + 1, copy);
            self.starts |= 1 << byte;
        }
    }

    /// The run that `byte` is in.
    fn run_of(&self, byte: u32) -> usize {
        (self.starts & (2u8 << byte).wrapping_sub(1)).count_ones() as usize - 1
    }

    /// Unites neighbouring runs that are equal.
    fn unite(&mut self) {
        let mut run = self.states.len();
        for byte in (1..8).rev() {
            if self.starts >> byte & 1 == 1 {
                run -= 1;
                if self.states[run] == self.states[run - 1] {
                    self.states.remove(run);
                    self.starts &= !(1 << byte);
                }
            }
        }
    }

    /// Checks an access and remembers it.
    pub fn access(
        &mut self,
        t: &mut Thread,
        mask: u8,
        kind: AccessKind,
        atomic: bool,
        at: Place,
        found: &mut Vec<Found>,
    ) {
        let (first, end) = (mask.trailing_zeros(), 8 - mask.leading_zeros());
        self.split(first);
        self.split(end);
        let access = Access {
            place: Bytes::Memory {
                addr: Addr(0),
                size: 0,
            },
            kind,
            atomic,
            site: SiteId(at.0),
        };
        let mut run = self.run_of(first);
        let mut byte = first;
        while byte < end {
            let next = (byte + 1..8)
                .find(|next| self.starts >> next & 1 == 1)
                .unwrap_or(8);
            let Thread { detector, hb, .. } = t;
            if let Some((_, Some(prior))) = detector.access(hb, &mut self.states[run], &access) {
                let mask = ((1u16 << next) - (1u16 << byte)) as u8;
                found.push(Found { mask, prior });
            }
            (run, byte) = (run + 1, next);
        }
        if self.states.len() > 1 {
            self.unite();
        }
    }

    /// An atomic access to all bytes of one run, if it repeats one of the thread's and finds nothing: most do.
    #[inline]
    pub fn repeat_atomic(&mut self, t: &Thread, mask: u8, kind: AccessKind, at: Place) -> bool {
        let (first, end) = (mask.trailing_zeros(), 8 - mask.leading_zeros());
        let bounds = u32::from(self.starts) | 1 << 8;
        let inside = (1u32 << end) - (2 << first);
        if bounds >> first & bounds >> end & 1 == 0 || bounds & inside != 0 {
            return false;
        }
        let run = if first == 0 { 0 } else { self.run_of(first) };
        self.states[run].repeat_atomic(&t.hb, kind, SiteId(at.0))
    }

    /// The words of two halves, if they can say all this.
    pub fn pack(&self) -> Option<[(u64, u64); 2]> {
        let mut halves = [(0, 0); 2];
        let mut run = usize::MAX;
        for (n, half) in halves.iter_mut().enumerate() {
            let (mut write, mut read) = (Half::default(), Half::default());
            for byte in 4 * n..4 * n + 4 {
                run = run.wrapping_add(usize::from(self.starts >> byte & 1));
                let (w, r) = self.states.get(run)?.simple()?;
                write.add(byte, w)?;
                read.add(byte, r)?;
            }
            *half = (write.word()?, read.word()?);
        }
        Some(halves)
    }
}

/// One word of a packed cell being put together.
#[derive(Default)]
struct Half {
    epoch: Epoch,
    bytes: u8,
    places: [Place; 8],
}

impl Half {
    fn add(&mut self, byte: usize, (epoch, site): (Epoch, SiteId)) -> Option<()> {
        if epoch == Epoch::NEVER {
            return Some(());
        }
        if self.bytes != 0 && self.epoch != epoch {
            return None;
        }
        self.epoch = epoch;
        self.bytes |= 1 << byte;
        self.places[byte] = Place(site.0);
        Some(())
    }

    fn word(mut self) -> Option<u64> {
        if self.bytes == 0 {
            return Some(0);
        }
        let term = terms::latest(self.epoch.slot())?;
        let time = self.epoch.time().checked_sub(term.base)?;
        if !(1..=LAST_TIME).contains(&time) {
            return None;
        }
        // Bytes that were not touched may name any place: the one that makes the fewest.
        let some = self.places[self.bytes.trailing_zeros() as usize];
        for (byte, place) in self.places.iter_mut().enumerate() {
            if self.bytes >> byte & 1 == 0 {
                *place = some;
            }
        }
        let epoch = u64::from(term.number) << TERM_SHIFT | time << TIME_SHIFT;
        Some(word(epoch, Place::each(self.places), self.bytes))
    }
}
