//! A map from ids to states that remembers the last look-up, because neighbouring events use the same object.

use rustc_hash::FxHashMap;
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
