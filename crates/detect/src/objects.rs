//! Objects that untraced code can reach (RDIT's set D), by address.

use deadheat_event::{Addr, Object};
use std::collections::BTreeMap;

/// Synchronisation states of the objects that calls have reached so far.
pub struct Objects<S> {
    by_addr: BTreeMap<u64, (u64, S)>,
    /// A bit for each line of memory, by its number modulo [`LINES`]: 0 if no object has a byte there or in the next one.
    /// Asked often.
    lines: Box<[u64; LINES as usize / 64]>,
    /// Whether a call has reached [`Object::EVERYTHING`]: from then on each access touches that.
    everything: bool,
}

const LINE: u64 = 64;
const LINES: u64 = 1 << 16;

impl<S> Default for Objects<S> {
    fn default() -> Self {
        Objects {
            by_addr: BTreeMap::new(),
            lines: Box::new([0; LINES as usize / 64]),
            everything: false,
        }
    }
}

impl<S: Default> Objects<S> {
    /// Whether the access may touch an object. Quick, so it may err on the side of yes.
    #[inline(always)]
    pub fn may_contain(&self, addr: Addr, size: u32) -> bool {
        let line = addr.0 / LINE;
        self.lines[(line % LINES / 64) as usize] >> (line % 64) & 1 == 1 || u64::from(size) > LINE
    }

    /// Whether an access to one of the 512 bytes from `addr` on, which is a multiple of 512, may touch an object.
    pub fn may_touch(&self, addr: Addr) -> bool {
        let line = addr.0 / LINE;
        self.lines[(line % LINES / 64) as usize] >> (line % 64) & 0xff != 0
    }

    /// Whether a call has reached all bytes of the object before. Nobody kept track of those that are new.
    pub fn is_reached(&self, object: Object) -> bool {
        let reached = self.by_addr.get(&object.addr.0);
        reached.is_some_and(|(size, _)| *size >= u64::from(object.size))
    }

    /// The state of an object that a call reaches. If it is seen with several sizes, the largest counts.
    pub fn reach(&mut self, object: Object) -> &mut S {
        if object == Object::EVERYTHING && !self.everything {
            self.everything = true;
            self.lines.fill(!0);
        }
        let (size, state) = self.by_addr.entry(object.addr.0).or_default();
        if *size < u64::from(object.size) {
            *size = u64::from(object.size);
            let first = (object.addr.0 / LINE).saturating_sub(1);
            let last = last_byte(object.addr, object.size) / LINE;
            for line in first..=last.min(first + LINES) {
                self.lines[(line % LINES / 64) as usize] |= 1 << (line % 64);
            }
        }
        state
    }

    /// Whether the bytes at `addr` belong to an object.
    pub fn contain(&self, addr: Addr, size: u32) -> bool {
        let before = self.by_addr.range(..=last_byte(addr, size)).next_back();
        self.everything || before.is_some_and(|(base, (len, _))| base.saturating_add(*len) > addr.0)
    }

    /// Calls `visit` for each object that the bytes at `addr` belong to.
    pub fn touched(&mut self, addr: Addr, size: u32, mut visit: impl FnMut(&mut S)) {
        for (base, (len, state)) in self.by_addr.range_mut(..=last_byte(addr, size)).rev() {
            if base.saturating_add(*len) <= addr.0 {
                break;
            }
            visit(state);
        }
        let everything = Object::EVERYTHING.addr.0;
        if self.everything
            && last_byte(addr, size) < everything
            && let Some((_, state)) = self.by_addr.get_mut(&everything)
        {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn object(addr: u64, size: u32) -> Object {
        let addr = Addr(addr);
        Object { addr, size }
    }

    #[test]
    fn an_object_that_has_grown_counts_as_not_reached() {
        let mut objects: Objects<()> = Objects::default();
        assert!(!objects.is_reached(object(64, 8)));
        objects.reach(object(64, 8));
        assert!(objects.is_reached(object(64, 8)));
        assert!(!objects.is_reached(object(64, 16)));
        objects.reach(object(64, 16));
        assert!(objects.is_reached(object(64, 8)));
        assert!(objects.contain(Addr(79), 1) && !objects.contain(Addr(80), 1));
    }

    #[test]
    fn every_access_touches_everything_once_a_call_has_reached_that() {
        let mut objects: Objects<()> = Objects::default();
        objects.reach(object(64, 8));
        let touched = |objects: &mut Objects<()>, addr| {
            let mut count = 0;
            objects.touched(Addr(addr), 4, |()| count += 1);
            (
                count,
                objects.contain(Addr(addr), 4),
                objects.may_contain(Addr(addr), 4),
            )
        };
        assert_eq!(touched(&mut objects, 64), (1, true, true));
        assert_eq!(touched(&mut objects, 4096), (0, false, false));
        objects.reach(Object::EVERYTHING);
        assert_eq!(touched(&mut objects, 64), (2, true, true));
        assert_eq!(touched(&mut objects, 4096), (1, true, true));
    }

    #[test]
    fn every_access_that_an_object_contains_may_be_contained() {
        let mut objects: Objects<()> = Objects::default();
        for (addr, size) in [(60, 8), (1 << 40, 4096), (u64::MAX - 3, 8)] {
            objects.reach(object(addr, size));
        }
        for addr in [
            52,
            59,
            60,
            67,
            68,
            (1 << 40) - 1,
            1 << 40,
            (1 << 40) + 4095,
            u64::MAX - 7,
            u64::MAX,
        ] {
            for size in [1, 8, 64] {
                let contained = objects.contain(Addr(addr), size);
                assert!(
                    !contained || objects.may_contain(Addr(addr), size),
                    "{addr:#x}:{size}"
                );
            }
        }
    }
}
