//! Objects that untraced code can reach (RDIT's set D), by address.

use deadheat_event::{Addr, Object};
use std::collections::BTreeMap;

/// Synchronisation states of the objects that calls have reached so far.
pub struct Objects<S> {
    by_addr: BTreeMap<u64, (u64, S)>,
}

impl<S> Default for Objects<S> {
    fn default() -> Self {
        Objects {
            by_addr: BTreeMap::new(),
        }
    }
}

impl<S: Default> Objects<S> {
    /// Whether no call has reached anything: the common case, asked at every access.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.by_addr.is_empty()
    }

    /// Whether a call has reached the object before.
    pub fn is_reached(&self, object: Object) -> bool {
        self.by_addr.contains_key(&object.addr.0)
    }

    /// The state of an object that a call reaches. If it is seen with several sizes, the largest counts.
    pub fn reach(&mut self, object: Object) -> &mut S {
        let (size, state) = self.by_addr.entry(object.addr.0).or_default();
        *size = (*size).max(u64::from(object.size));
        state
    }

    /// Whether the bytes at `addr` belong to an object.
    pub fn contain(&self, addr: Addr, size: u32) -> bool {
        self.by_addr
            .range(..=last_byte(addr, size))
            .next_back()
            .is_some_and(|(base, (len, _))| base.saturating_add(*len) > addr.0)
    }

    /// Calls `visit` for each object that the bytes at `addr` belong to.
    pub fn touched(&mut self, addr: Addr, size: u32, mut visit: impl FnMut(&mut S)) {
        for (base, (len, state)) in self.by_addr.range_mut(..=last_byte(addr, size)).rev() {
            if base.saturating_add(*len) <= addr.0 {
                break;
            }
            visit(state);
        }
    }

    /// All states.
    pub fn iter(&self) -> impl Iterator<Item = &S> {
        self.by_addr.values().map(|(_, state)| state)
    }
}

fn last_byte(addr: Addr, size: u32) -> u64 {
    addr.0.saturating_add(u64::from(size)).saturating_sub(1)
}
