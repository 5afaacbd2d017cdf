//! Ids as newtypes, so that a thread is never taken for a lock.

macro_rules! id {
    ($(#[$doc:meta])* $name:ident($inner:ty), $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(transparent)]
        pub struct $name(pub $inner);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl $name {
            /// The id as an index into a dense table.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A thread as the trace names it. A number may be used again after its thread has ended.
    ThreadId(u32), "T"
);
id!(
    /// A thread as a detector sees it: an index into clocks. A slot passes from an ended thread to a new one only
    /// where [`Detector::can_follow`](crate::Detector::can_follow) allows it.
    Slot(u32), "slot"
);
id!(
    /// A lock, read-write lock, barrier, semaphore or channel. Atomics are named by their address instead.
    SyncId(u64), "S"
);
id!(
    /// An array whose elements are named by index rather than by address.
    ArrayId(u32), "A"
);
id!(
    /// A program location: an index into [`Tables::sites`](crate::Tables). 0 is "unknown".
    SiteId(u32), "@"
);
id!(
    /// An interned string: an index into [`Tables::strings`](crate::Tables). 0 is the empty string.
    NameId(u32), "N"
);
id!(
    /// An interned set of objects: an index into [`Tables::object_sets`](crate::Tables). 0 is the empty set.
    ObjectSetId(u32), "D"
);

/// An address in the traced program's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Addr(pub u64);

impl std::fmt::Display for Addr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}
