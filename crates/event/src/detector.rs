//! What a race detector is.
//!
//! A detector owns no storage: the driver keeps its thread, sync-object and location states and hands them in. The
//! off-line driver (`detect::Driver`) is sequential; the on-line one keeps location states in shadow memory. `self`
//! holds options, counters, and what an algorithm shares by nature between all threads (Goldilocks's update list,
//! TREE's history). A detector with nothing of that kind can run on-line with one copy for each thread.
//!
//! A layer (filter, compression, statistics) wraps a detector and is one, so `Tree<Compress<FastTrack>>` is a type.

use crate::{
    AccessKind, Addr, ArrayId, Event, Indices, Mode, Object, Order, Place, RaceKind, SiteId, Slot, Stats,
    SyncId,
};

/// One access as a detector sees it. [`Detector::admit`] gets it whole, [`Detector::access`] for each location.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The bytes or elements of the whole access.
    pub place: Place,
    /// Read or write. A read-modify-write is a write.
    pub kind: AccessKind,
    /// Two atomic accesses never race with each other.
    pub atomic: bool,
    /// Where in the program.
    pub site: SiteId,
}

/// The earlier access of a race, as the detector remembers it. The driver turns it into a [`Side`](crate::Side).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prior {
    /// Who. With the timestamp this names a thread even where slots are used again.
    pub slot: Slot,
    /// [`Detector::timestamp`] of that thread at that access.
    pub timestamp: u64,
    /// Read or write.
    pub kind: AccessKind,
    /// Whether it was atomic.
    pub atomic: bool,
    /// Where in the program.
    pub site: SiteId,
}

/// A synchronisation of one thread on one object.
///
/// The driver has done what is the same for all algorithms: re-entrant locks are reduced to their outermost acquire and
/// release, a release carries the mode of its acquire, and objects of different kinds never share a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncOp {
    /// Takes a lock.
    Acquire(SyncId, Mode),
    /// Gives it back.
    Release(SyncId, Mode),
    /// An atomic load, issued before its access is checked.
    Load(Order),
    /// An atomic store, issued after its access is checked.
    Store(Order),
    /// The store half of an atomic read-modify-write, which continues the release sequence it read from. The load half
    /// came before it as [`SyncOp::Load`], and the access itself stands between the two: what the load acquires is
    /// ordered before the access, and the access before what the store releases.
    Update(Order),
    /// Reaches a barrier.
    Enter(SyncId),
    /// Goes on from it.
    Leave(SyncId),
    /// Sends a message (notifies, posts).
    Send(SyncId),
    /// Receives one (has waited).
    Receive(SyncId),
    /// A call into untraced code that can reach this object begins (`true`) or ends (`false`). Calls on one object are
    /// ordered with each other and with [`SyncOp::Touch`] as observed.
    Call(Object, bool),
    /// An ordinary access to an object that untraced code can reach, issued before the access (`true`) and after it
    /// (`false`). Two such accesses are not ordered by this.
    Touch(bool),
}

/// Memory that comes into being: what was known of it is forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// Bytes of memory.
    Memory {
        /// First byte.
        addr: Addr,
        /// Number of bytes.
        size: u32,
    },
    /// A whole array.
    Array(ArrayId),
}

/// Where a detector puts the races that [`Detector::array`] and [`Detector::commit`] find.
pub trait Races {
    /// The current access, on `indices` of the array at hand, races with `prior`.
    fn race(&mut self, kind: RaceKind, indices: Indices, access: &Access, prior: Option<Prior>);
}

/// A race detection algorithm, or a layer around one.
pub trait Detector {
    /// What is kept for each thread.
    type Thread;
    /// What is kept for each lock, barrier, channel, atomic or object.
    type Sync: Default;
    /// What is kept for a piece of memory whose bytes have one history. Cloned when the bytes part ways, compared to see
    /// whether they have come together again: equal states must answer alike from then on.
    type Location: Default + Clone + PartialEq;
    /// What is kept for each array.
    type Array: Default;

    /// Makes the state of a new thread. `predecessor` is the ended thread whose slot it takes over, if any.
    fn start(&mut self, slot: Slot, predecessor: Option<&Self::Thread>) -> Self::Thread;

    /// Whether a thread that `parent` forks now may take over the slot of `ended`: only if everything that `ended` did
    /// happens before everything that the new thread will do.
    fn can_follow(&self, ended: &Self::Thread, parent: &Self::Thread) -> bool {
        let _ = (ended, parent);
        false
    }

    /// A number that never falls along one slot, and rises between two threads that share it.
    fn timestamp(&self, thread: &Self::Thread) -> u64 {
        let _ = thread;
        0
    }

    /// `thread` synchronises on `object`.
    fn sync(&mut self, thread: &mut Self::Thread, op: SyncOp, object: &mut Self::Sync);

    /// `thread` issues a fence.
    fn fence(&mut self, thread: &mut Self::Thread, order: Order);

    /// `parent` creates `child`, which has just been started.
    fn fork(&mut self, parent: &mut Self::Thread, child: &mut Self::Thread);

    /// `thread` has waited for `child` to end.
    fn join(&mut self, thread: &mut Self::Thread, child: &mut Self::Thread);

    /// Asked once for each access before any state is looked up: whether to check it at all. Filters answer here.
    #[inline]
    fn admit(&mut self, thread: &mut Self::Thread, access: &Access) -> bool {
        let _ = (thread, access);
        true
    }

    /// Checks an access to a location and remembers it.
    fn access(
        &mut self,
        thread: &mut Self::Thread,
        location: &mut Self::Location,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)>;

    /// The states of this memory are about to be replaced by new ones. Who keeps something by place forgets it here.
    fn reset(&mut self, fresh: Fresh) {
        let _ = fresh;
    }

    /// An array was made, with `len` elements if known. `array` is its new state.
    fn new_array(&mut self, array: &mut Self::Array, len: Option<u64>) {
        let _ = (array, len);
    }

    /// Checks an access to `indices` of an array, or puts it off until [`Detector::commit`].
    fn array(
        &mut self,
        thread: &mut Self::Thread,
        id: ArrayId,
        array: &mut Self::Array,
        indices: Indices,
        access: &Access,
        races: &mut dyn Races,
    );

    /// An array with accesses of `thread` that were put off. The driver commits them all before the thread
    /// synchronises in any way, acquires included (see SHRINKWRAP's rule [OPT ACQ] for why that matters).
    #[inline]
    fn pending(&mut self, thread: &mut Self::Thread) -> Option<ArrayId> {
        let _ = thread;
        None
    }

    /// Makes the checks that were put off for `id`. After it, [`Detector::pending`] does not name `id` again.
    fn commit(
        &mut self,
        thread: &mut Self::Thread,
        id: ArrayId,
        array: &mut Self::Array,
        races: &mut dyn Races,
    ) {
        let _ = (thread, id, array, races);
    }

    /// Heap bytes behind a location state, beyond its own size.
    fn location_bytes(&self, location: &Self::Location) -> usize {
        let _ = location;
        0
    }

    /// Shadow states in an array and all its bytes, beyond its own size.
    fn array_size(&self, array: &Self::Array) -> (usize, usize);

    /// Counters kept with a thread (its predecessors in the slot included), and the heap bytes of its state.
    fn thread_stats(&self, thread: &Self::Thread) -> Stats {
        let _ = thread;
        Stats::default()
    }

    /// Heap bytes behind a sync object's state.
    fn sync_bytes(&self, object: &Self::Sync) -> usize {
        let _ = object;
        0
    }

    /// Counters of this detector and what it wraps, and the bytes that it owns itself.
    fn stats(&self) -> Stats;
}

const _: () = assert!(
    size_of::<Event>() == 40,
    "events are moved by the hundred million"
);
