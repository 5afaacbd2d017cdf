//! One event of a run: which thread did what, where in the program.

use crate::{Addr, ArrayId, NameId, ObjectSetId, SiteId, SyncId, ThreadId};

/// The most bytes one access, allocation or free may span. Larger ones are split by whoever makes the trace.
pub const MAX_ACCESS: u64 = 1 << 30;

/// The most elements one array range may name.
pub const MAX_RANGE: u64 = 1 << 24;

/// One event of a run. Plain and `Copy`: names and sets live in the trace's [`Tables`](crate::Tables).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Event {
    /// The thread that did it.
    pub thread: ThreadId,
    /// Where in the program.
    pub site: SiteId,
    /// What it did.
    pub op: Op,
}

/// What a thread did.
///
/// The order of events in a trace is the order in which they took effect; an atomic load reads the last store before
/// it in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// A plain read of `size` bytes.
    Read {
        /// First byte.
        addr: Addr,
        /// Bytes read.
        size: u32,
        /// What was read, where recorded.
        value: Option<u64>,
    },
    /// A plain write of `size` bytes.
    Write {
        /// First byte.
        addr: Addr,
        /// Bytes written.
        size: u32,
        /// What was written, where recorded.
        value: Option<u64>,
    },
    /// A plain read of one array element or a range of them.
    ArrayRead {
        /// The array.
        array: ArrayId,
        /// Its elements.
        indices: Indices,
    },
    /// A plain write of one array element or a range of them.
    ArrayWrite {
        /// The array.
        array: ArrayId,
        /// Its elements.
        indices: Indices,
    },
    /// A lock was taken. Re-entrant: only the outermost acquire and release synchronise.
    Acquire {
        /// The lock.
        lock: SyncId,
        /// Exclusive, or shared as a reader.
        mode: Mode,
    },
    /// A lock was given back, in the mode in which it was last taken.
    Release {
        /// The lock.
        lock: SyncId,
    },
    /// An atomic or volatile access. A failed compare-exchange is a load.
    Atomic {
        /// First byte; also names the synchronisation object.
        addr: Addr,
        /// Bytes accessed.
        size: u32,
        /// Load, store or read-modify-write.
        op: AtomicOp,
        /// Its memory ordering.
        order: Order,
        /// The value read (load) or written (store, read-modify-write), where recorded.
        value: Option<u64>,
    },
    /// A memory fence.
    Fence {
        /// Its memory ordering.
        order: Order,
    },
    /// `child` was created. All the thread did so far happens before all that `child` does.
    Fork {
        /// The new thread.
        child: ThreadId,
    },
    /// `child` was waited for. All that `child` did happens before what the thread does next.
    Join {
        /// The ended thread.
        child: ThreadId,
    },
    /// The thread's first event (optional).
    Begin,
    /// The thread's last event (optional).
    End,
    /// The thread reached a barrier.
    BarrierEnter {
        /// The barrier.
        barrier: SyncId,
    },
    /// The thread goes on from a barrier that it had entered.
    BarrierLeave {
        /// The barrier.
        barrier: SyncId,
    },
    /// A message, notification or semaphore post: happens before every later [`Op::Receive`] of the same channel.
    Send {
        /// The channel, condition or semaphore.
        channel: SyncId,
    },
    /// A message received, a wait that returned, a semaphore taken.
    Receive {
        /// The channel, condition or semaphore.
        channel: SyncId,
    },
    /// Memory came into being: what was known of these bytes is forgotten.
    Alloc {
        /// First byte.
        addr: Addr,
        /// Bytes.
        size: u32,
    },
    /// Memory was given back: counts as a write to every byte of it.
    Free {
        /// First byte.
        addr: Addr,
        /// Bytes.
        size: u32,
    },
    /// An array came into being: what was known of its elements is forgotten.
    NewArray {
        /// The array.
        array: ArrayId,
        /// Number of elements.
        len: u64,
    },
    /// A call into code that is not traced (RDIT's BarrierPair) begins.
    CallBegin {
        /// The function called.
        function: NameId,
        /// Objects that the call can reach.
        objects: ObjectSetId,
    },
    /// The innermost open call into code that is not traced ends.
    CallEnd,
}

/// How a lock is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// By one thread at a time.
    #[default]
    Exclusive,
    /// By any number of readers. Readers do not order readers.
    Shared,
}

/// What an atomic access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomicOp {
    /// Reads only.
    Load,
    /// Writes only: ends the release sequence of the store before it.
    Store,
    /// Reads and writes in one step: continues a release sequence.
    Rmw,
}

impl AtomicOp {
    /// Whether memory is changed.
    #[inline]
    pub fn writes(self) -> bool {
        self != AtomicOp::Load
    }
}

/// A memory ordering. `consume` counts as `Acquire`; for happens-before `SeqCst` is `AcqRel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Atomic, but orders nothing.
    Relaxed,
    /// Loads and the load part of a read-modify-write.
    Acquire,
    /// Stores and the store part of a read-modify-write.
    Release,
    /// Both.
    AcqRel,
    /// Both, and one total order of all such operations.
    SeqCst,
    /// Java's volatile: a write happens before *every* later read, not only those that read from its release sequence.
    Volatile,
}

impl Order {
    /// Whether a load or fence of this ordering acquires.
    #[inline]
    pub fn acquires(self) -> bool {
        matches!(
            self,
            Order::Acquire | Order::AcqRel | Order::SeqCst | Order::Volatile
        )
    }

    /// Whether a store or fence of this ordering releases.
    #[inline]
    pub fn releases(self) -> bool {
        matches!(
            self,
            Order::Release | Order::AcqRel | Order::SeqCst | Order::Volatile
        )
    }
}

/// Read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// Leaves memory as it is.
    Read,
    /// Changes memory (a free counts too).
    Write,
}

impl AccessKind {
    /// `"read"` or `"write"`.
    pub fn as_str(self) -> &'static str {
        match self {
            AccessKind::Read => "read",
            AccessKind::Write => "write",
        }
    }
}

/// The indices `first, first + stride, …, last` of an array.
///
/// Invariant (kept by [`Indices::new`]): `first <= last`, `stride >= 1`, `stride` divides `last - first`, a single
/// index has stride 1, and there are at most [`MAX_RANGE`] indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Indices {
    first: u64,
    last: u64,
    stride: u32,
}

impl Indices {
    /// One index.
    #[inline]
    pub fn one(index: u64) -> Indices {
        Indices {
            first: index,
            last: index,
            stride: 1,
        }
    }

    /// The range from `first` to at most `last` in steps of `stride`; `None` if empty or longer than [`MAX_RANGE`].
    pub fn new(first: u64, last: u64, stride: u32) -> Option<Indices> {
        if first > last || stride == 0 {
            return None;
        }
        let steps = (last - first) / u64::from(stride);
        match steps {
            0 => Some(Indices::one(first)),
            _ if steps >= MAX_RANGE => None,
            _ => Some(Indices {
                first,
                last: first + steps * u64::from(stride),
                stride,
            }),
        }
    }

    /// The smallest index.
    #[inline]
    pub fn first(self) -> u64 {
        self.first
    }

    /// The largest index.
    #[inline]
    pub fn last(self) -> u64 {
        self.last
    }

    /// The distance between neighbours (1 for a single index).
    #[inline]
    pub fn stride(self) -> u32 {
        self.stride
    }

    /// How many indices there are (never 0).
    #[inline]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(self) -> u64 {
        (self.last - self.first) / u64::from(self.stride) + 1
    }

    /// Whether this is a single index.
    #[inline]
    pub fn is_one(self) -> bool {
        self.first == self.last
    }

    /// Whether `index` is one of them.
    #[inline]
    pub fn contains(self, index: u64) -> bool {
        self.first <= index
            && index <= self.last
            && (index - self.first).is_multiple_of(u64::from(self.stride))
    }

    /// All indices in ascending order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = u64> {
        (self.first..=self.last).step_by(self.stride as usize)
    }
}

/// What an access touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Bytes of memory.
    Memory {
        /// First byte.
        addr: Addr,
        /// Number of bytes.
        size: u32,
    },
    /// Elements of an array.
    Array {
        /// The array.
        array: ArrayId,
        /// Its elements.
        indices: Indices,
    },
}
