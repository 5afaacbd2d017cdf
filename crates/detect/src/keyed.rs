//! Maps from ids to states that remember the last look-up, because neighbouring events use the same object.

use deadheat_event::Addr;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::hash::Hash;

/// States by id.
pub struct Keyed<K, V> {
    index: FxHashMap<K, u32>,
    states: Vec<V>,
    last: Option<(K, u32)>,
}

impl<K, V> Default for Keyed<K, V> {
    fn default() -> Self {
        Keyed {
            index: FxHashMap::default(),
            states: Vec::new(),
            last: None,
        }
    }
}

impl<K: Copy + Eq + Hash, V: Default> Keyed<K, V> {
    /// The state of an id, made if there is none.
    #[inline]
    pub fn get(&mut self, key: K) -> &mut V {
        self.get_or(key, |_| ())
    }

    /// The state of an id; a new one is first passed to `init`.
    #[inline]
    pub fn get_or(&mut self, key: K, init: impl FnOnce(&mut V)) -> &mut V {
        let place = match self.last {
            Some((last, place)) if last == key => place,
            _ => {
                let next = self.states.len() as u32;
                let place = *self.index.entry(key).or_insert(next);
                if place == next {
                    let mut state = V::default();
                    init(&mut state);
                    self.states.push(state);
                }
                self.last = Some((key, place));
                place
            }
        };
        &mut self.states[place as usize]
    }

    /// All states.
    pub fn iter(&self) -> impl Iterator<Item = &V> {
        self.states.iter()
    }
}

/// States of atomics by address; those in a range can be forgotten.
pub struct Atomics<S> {
    states: Keyed<Addr, S>,
    known: BTreeSet<Addr>,
}

impl<S> Default for Atomics<S> {
    fn default() -> Self {
        Atomics {
            states: Keyed::default(),
            known: BTreeSet::new(),
        }
    }
}

impl<S: Default> Atomics<S> {
    /// The state of the atomic at `addr`, made if there is none.
    #[inline]
    pub fn get(&mut self, addr: Addr) -> &mut S {
        let known = &mut self.known;
        self.states.get_or(addr, |_| {
            known.insert(addr);
        })
    }

    /// Memory that comes into being holds no old atomic: what was released there is nobody's to acquire.
    pub fn reset(&mut self, addr: Addr, size: u32) {
        let end = Addr(addr.0.saturating_add(u64::from(size)));
        for addr in self.known.range(addr..end) {
            *self.states.get(*addr) = S::default();
        }
    }

    /// All states.
    pub fn iter(&self) -> impl Iterator<Item = &S> {
        self.states.iter()
    }
}
