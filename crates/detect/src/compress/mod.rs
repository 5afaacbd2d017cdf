//! Array compression: SHRINKWRAP (§3–5), with BigFoot's ranges (§4), as a layer around any detector.
//!
//! Accesses to an array are not checked at once but collected as footprints for each thread and array, and *committed*
//! when the thread next synchronises. An array starts with one state for all its elements (COARSE) and is refined to
//! BLOCK d, STRIDE d, SPLIT or FINE when a footprint is committed that is not a union of its classes. A sweep over a
//! million elements costs one check and one state.
//!
//! - [`footprint`]: ⟨b:e:k⟩ and ⊕; `pending`: those in flight.
//! - [`mode`]: partitions, compatibility, transitions; [`array`](mod@array): states under a mode; `fine`: one state for each element.
//! - `together`: what is committed as one; `weave`: program locations of elements that share a state.
//! - `tuning`: when to compress again, when not to try.
//!
//! Deviations:
//! - A commit comes before *every* synchronisation, not only before releases. Rule [OPT ACQ] lets a footprint live across
//!   an acquire, which can teach the thread the very clock that would have exposed the race.
//! - Compatibility is the semantic one (see [`mode`]), SPLIT has up to 64 parts, arrays may grow.
//! - Footprints are told apart by statement, so that a report names one that touched the element.
//! - A read of an element that the same span also writes is not checked: whatever races with it races with the write.
//! - Beyond the thesis (§6.2): an array whose states have become equal again is compressed again, from FINE too.
//! - An array of a few elements is not worth the trouble and stays FINE (see [`Compress::with_min_len`]).
//!
//! Guarantee: names the same racing elements as the wrapped detector, if that names the elements that race by
//! happens-before. A check is made later than the access, so the pair reported for an element, and the event at which it
//! is reported, may be another one; the access that is reported as the second may come before the first in the trace.
//! Both did touch the element, and nothing orders them.
//!
//! The wrapped detector's own array state is not used; its location states must be comparable to be merged again. How
//! soon states become equal again depends on the detector: FastTrack forgets old accesses at a write, while the others
//! remember each thread's last one. The table of woven locations is shared by all threads; all else that is not in an
//! array's state belongs to one thread.

pub mod array;
mod fine;
pub mod footprint;
pub mod mode;
mod pending;
mod together;
mod tuning;
mod weave;

pub use array::Array;
pub use footprint::Footprint;
pub use mode::Mode;

use deadheat_event::{
    Access, ArrayId, Detector, Indices, Order, Place, Prior, RaceKind, Races, SiteId, Slot, Stats, SyncOp,
};
use footprint::MAX_INDEX;
use pending::{InFlight, Pending, Statement};
use together::together;
use tuning::PATTERN;
use weave::Weaves;

/// Arrays of fewer elements than this are not compressed.
const MIN_LEN: u64 = 16;
/// A footprint of fewer elements than this that has to make room for another one shows that there is no pattern.
const SCATTERED: u64 = 4;

/// The compression layer around a detector.
#[derive(Debug)]
pub struct Compress<D> {
    inner: D,
    min_len: u64,
    weaves: Weaves,
    commits: u64,
    transitions: [[u64; 5]; 5],
    /// Array states alive, and the most so far. Arrays that were replaced by a new one of the same id still count.
    states: u64,
    peak: u64,
}

/// The wrapped detector's thread, and its accesses that are not yet checked.
#[derive(Clone, Debug)]
pub struct Thread<T> {
    inner: T,
    pending: Pending,
}

impl<T> Thread<T> {
    /// The wrapped detector's state.
    pub fn inner(&self) -> &T {
        &self.inner
    }
}

impl<D: Default> Default for Compress<D> {
    fn default() -> Self {
        Compress::new(D::default())
    }
}

impl<D> Compress<D> {
    /// Compresses the arrays of a detector.
    pub fn new(inner: D) -> Compress<D> {
        Compress::with_min_len(inner, MIN_LEN)
    }

    /// Compresses arrays of `min_len` elements or more; those of unknown length always.
    pub fn with_min_len(inner: D, min_len: u64) -> Compress<D> {
        Compress {
            inner,
            min_len,
            weaves: Weaves::default(),
            commits: 0,
            transitions: [[0; 5]; 5],
            states: 0,
            peak: 0,
        }
    }

    /// How often an array went from one mode to another, by [`Mode::kind`]; `[i][i]` counts changes of parameters.
    pub fn transitions(&self) -> &[[u64; 5]; 5] {
        &self.transitions
    }

    fn states_changed(&mut self, before: usize, after: usize) {
        self.states = self.states.saturating_sub(before as u64) + after as u64;
        self.peak = self.peak.max(self.states);
    }
}

impl<D> Compress<D>
where
    D: Detector,
    D::Location: PartialEq,
{
    /// Collects an access, or checks it at once where collecting does not pay.
    #[inline(never)]
    fn collect(
        &mut self,
        thread: &mut Thread<D::Thread>,
        id: ArrayId,
        array: &mut Array<D::Location>,
        indices: Indices,
        access: &Access,
        races: &mut dyn Races,
    ) {
        let Some(fp) = Footprint::of(indices) else {
            self.change(array, Array::make_fine);
            array.tuning.pin();
            return self.check_each(&mut thread.inner, array, indices, access, races);
        };
        let fine = *array.mode() == Mode::Fine;
        if fine && array.tuning.pinned {
            array.tuning.pin();
            return self.check_each(&mut thread.inner, array, indices, access, races);
        }
        if fine && array.tuning.bypass > 0 && fp.len() < PATTERN {
            array.tuning.bypass = array.tuning.bypass.saturating_sub(fp.len() as u32);
            return self.check_each(&mut thread.inner, array, indices, access, races);
        }
        let new = InFlight::new(fp, Statement::of(access));
        if let Some(evicted) = thread.pending.add(id, new) {
            if evicted.fp.len() < SCATTERED {
                self.change(array, Array::make_fine);
            }
            let mut one = vec![evicted];
            together(&mut one, &mut self.weaves);
            self.commit_one(&mut thread.inner, id, array, &one[0], races);
            if evicted.fp.len() < PATTERN {
                array.tuning.no_pattern(*array.mode() == Mode::Fine);
            }
        }
    }

    /// Checks elements at once. The array is FINE.
    fn check_each(
        &mut self,
        thread: &mut D::Thread,
        array: &mut Array<D::Location>,
        indices: Indices,
        access: &Access,
        races: &mut dyn Races,
    ) {
        let access = Access {
            site: self.weaves.plain(access.site),
            ..*access
        };
        for index in indices.iter() {
            self.check_element(thread, array, index, &access, races);
        }
    }

    #[inline]
    fn check_element(
        &mut self,
        thread: &mut D::Thread,
        array: &mut Array<D::Location>,
        index: u64,
        access: &Access,
        races: &mut dyn Races,
    ) {
        let found = match array.element(index) {
            Some(state) => self.inner.access(thread, state, access),
            None => {
                let before = array.states();
                let found = self.inner.access(thread, array.new_element(index), access);
                self.states_changed(before, array.states());
                found
            }
        };
        if let Some((kind, prior)) = found {
            self.report_element(kind, index, access, prior, races);
        }
    }

    #[cold]
    fn report_element(
        &self,
        kind: RaceKind,
        index: u64,
        access: &Access,
        prior: Option<Prior>,
        races: &mut dyn Races,
    ) {
        let (access, prior) = resolved(&self.weaves, access, prior, index);
        races.race(kind, Indices::one(index), &access, prior);
    }

    /// Makes the checks of a footprint.
    fn commit_one(
        &mut self,
        thread: &mut D::Thread,
        id: ArrayId,
        array: &mut Array<D::Location>,
        entry: &InFlight,
        races: &mut dyn Races,
    ) {
        let fp = entry.fp;
        self.commits += 1;
        self.change(array, |array| array.make_fit(fp));

        let Compress { inner, weaves, .. } = self;
        let before = array.states();
        let Some(indices) = fp.ranges().next() else {
            return;
        };
        let access = Access {
            place: Place::Array { array: id, indices },
            kind: entry.by.kind,
            atomic: entry.by.atomic,
            site: entry.by.site,
        };
        let checks = array.visit(fp, |class, state| {
            if let Some((kind, prior)) = inner.access(thread, state, &access) {
                report(weaves, kind, class, &access, prior, races);
            }
        });
        self.states_changed(before, array.states());

        if !array.tuning.pinned && array.tuning.committed(fp.len(), checks, array.classes()) {
            let (from, before) = (array.mode().kind(), array.states());
            let coarsened = array.coarsen(fp);
            array.tuning.scanned(coarsened);
            if coarsened {
                self.transitions[from][array.mode().kind()] += 1;
                self.states_changed(before, array.states());
            }
        }
    }

    /// Refines an array, and counts it if that is a change.
    fn change(
        &mut self,
        array: &mut Array<D::Location>,
        refine: impl FnOnce(&mut Array<D::Location>) -> bool,
    ) {
        let (from, before) = (array.mode().kind(), array.states());
        if refine(array) {
            let to = array.mode().kind();
            self.transitions[from][to] += 1;
            array.tuning.refined(*array.mode() == Mode::Fine, array.len());
        }
        self.states_changed(before, array.states());
    }
}

/// Reports all elements of a class, which share one history. Only their program locations can differ.
#[cold]
fn report(
    weaves: &Weaves,
    kind: RaceKind,
    class: Footprint,
    access: &Access,
    prior: Option<Prior>,
    races: &mut dyn Races,
) {
    let woven = Weaves::is_woven(access.site) || prior.is_some_and(|prior| Weaves::is_woven(prior.site));
    if !woven {
        return class
            .ranges()
            .for_each(|range| races.race(kind, range, access, prior));
    }
    let mut runs: Vec<(Footprint, SiteId, Option<SiteId>)> = Vec::new();
    let mut tell = |run: Footprint| {
        let (access, prior) = resolved(weaves, access, prior, run.first());
        run.ranges()
            .for_each(|range| races.race(kind, range, &access, prior));
    };
    for index in class.iter() {
        let sites = (
            weaves.resolve(access.site, index),
            prior.map(|prior| weaves.resolve(prior.site, index)),
        );
        let same = runs.iter_mut().find(|(_, site, prior)| (*site, *prior) == sites);
        match same {
            None => runs.push((Footprint::one(index), sites.0, sites.1)),
            Some((run, ..)) => match run.extend(index) {
                Some(longer) => *run = longer,
                None => tell(std::mem::replace(run, Footprint::one(index))),
            },
        }
    }
    runs.into_iter().for_each(|(run, ..)| tell(run));
}

fn resolved(weaves: &Weaves, access: &Access, prior: Option<Prior>, index: u64) -> (Access, Option<Prior>) {
    let access = Access {
        site: weaves.resolve(access.site, index),
        ..*access
    };
    let prior = prior.map(|prior| Prior {
        site: weaves.resolve(prior.site, index),
        ..prior
    });
    (access, prior)
}

impl<D> Detector for Compress<D>
where
    D: Detector,
    D::Location: PartialEq,
{
    type Thread = Thread<D::Thread>;
    type Sync = D::Sync;
    type Location = D::Location;
    type Array = Array<D::Location>;

    fn start(&mut self, slot: Slot, predecessor: Option<&Self::Thread>) -> Self::Thread {
        Thread {
            inner: self.inner.start(slot, predecessor.map(|thread| &thread.inner)),
            pending: Pending::default(),
        }
    }

    fn can_follow(&self, ended: &Self::Thread, parent: &Self::Thread) -> bool {
        self.inner.can_follow(&ended.inner, &parent.inner)
    }

    fn timestamp(&self, thread: &Self::Thread) -> u64 {
        self.inner.timestamp(&thread.inner)
    }

    fn sync(&mut self, thread: &mut Self::Thread, op: SyncOp, object: &mut Self::Sync) {
        self.inner.sync(&mut thread.inner, op, object);
    }

    fn fence(&mut self, thread: &mut Self::Thread, order: Order) {
        self.inner.fence(&mut thread.inner, order);
    }

    fn fork(&mut self, parent: &mut Self::Thread, child: &mut Self::Thread) {
        self.inner.fork(&mut parent.inner, &mut child.inner);
    }

    fn join(&mut self, thread: &mut Self::Thread, child: &mut Self::Thread) {
        self.inner.join(&mut thread.inner, &mut child.inner);
    }

    #[inline]
    fn admit(&mut self, thread: &mut Self::Thread, access: &Access) -> bool {
        self.inner.admit(&mut thread.inner, access)
    }

    #[inline]
    fn access(
        &mut self,
        thread: &mut Self::Thread,
        location: &mut Self::Location,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)> {
        self.inner.access(&mut thread.inner, location, access)
    }

    fn new_array(&mut self, array: &mut Self::Array, len: Option<u64>) {
        if let Some(len) = len {
            array.set_len(len);
            if len < self.min_len {
                array.make_fine();
                array.tuning.pin();
            }
        }
        self.states_changed(0, array.states());
    }

    #[inline]
    fn array(
        &mut self,
        thread: &mut Self::Thread,
        id: ArrayId,
        array: &mut Self::Array,
        indices: Indices,
        access: &Access,
        races: &mut dyn Races,
    ) {
        if indices.is_one() {
            let index = indices.first();
            if array.tuning.bypass > 0 && !Weaves::is_woven(access.site) {
                array.tuning.bypass -= 1;
                return self.check_element(&mut thread.inner, array, index, access, races);
            }
            if index <= MAX_INDEX && thread.pending.continues(id, index, Statement::of(access)) {
                return;
            }
        }
        self.collect(thread, id, array, indices, access, races);
    }

    #[inline]
    fn pending(&mut self, thread: &mut Self::Thread) -> Option<ArrayId> {
        thread.pending.first()
    }

    fn commit(
        &mut self,
        thread: &mut Self::Thread,
        id: ArrayId,
        array: &mut Self::Array,
        races: &mut dyn Races,
    ) {
        let Some(mut entries) = thread.pending.take(id) else {
            return;
        };
        together(&mut entries, &mut self.weaves);
        for entry in &entries {
            self.commit_one(&mut thread.inner, id, array, entry, races);
        }
        if entries.iter().all(|entry| entry.fp.len() < PATTERN) {
            array.tuning.no_pattern(*array.mode() == Mode::Fine);
        }
        thread.pending.give_back(entries);
    }

    fn location_bytes(&self, location: &Self::Location) -> usize {
        self.inner.location_bytes(location)
    }

    fn array_size(&self, array: &Self::Array) -> (usize, usize) {
        let bytes = array.bytes(|location| self.inner.location_bytes(location));
        (array.states(), bytes)
    }

    fn thread_stats(&self, thread: &Self::Thread) -> Stats {
        let mut stats = self.inner.thread_stats(&thread.inner);
        stats.bytes += thread.pending.bytes() as u64;
        stats
    }

    fn sync_bytes(&self, object: &Self::Sync) -> usize {
        self.inner.sync_bytes(object)
    }

    fn stats(&self) -> Stats {
        let mut stats = self.inner.stats();
        stats.commits += self.commits;
        stats.mode_changes += self.transitions.iter().flatten().sum::<u64>();
        stats.shadow_states_peak += self.peak;
        stats.bytes += self.weaves.bytes() as u64;
        stats
    }
}
