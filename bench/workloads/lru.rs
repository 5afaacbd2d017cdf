//! A cache under a mutex that throws out what was used least recently: entries in a vector, linked by their indices, found by a
//! hash map. Threads ask for keys of which some are asked for more often. Checked by the values and by the links at the end.
// suite: rust
// size: 15000000 quick: 20000 sweep: 1500000 4000000 8000000 15000000
#![allow(unexpected_cfgs)]

#[path = "include/workload.rs"]
mod workload;

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Mutex;
use workload::{arguments, scramble, team, verdict};

const CAPACITY: usize = 4096;
const NONE: usize = usize::MAX;

struct Entry {
    key: u64,
    value: u64,
    newer: usize,
    older: usize,
}

struct Cache {
    entries: Vec<Entry>,
    places: HashMap<u64, usize>,
    newest: usize,
    oldest: usize,
    requests: u64,
}

impl Cache {
    fn new() -> Self {
        Self {
            entries: Vec::with_capacity(CAPACITY),
            places: HashMap::new(),
            newest: NONE,
            oldest: NONE,
            requests: 0,
        }
    }

    fn unlink(&mut self, place: usize) {
        let Entry { newer, older, .. } = self.entries[place];
        match newer {
            NONE => self.newest = older,
            _ => self.entries[newer].older = older,
        }
        match older {
            NONE => self.oldest = newer,
            _ => self.entries[older].newer = newer,
        }
    }

    fn link(&mut self, place: usize) {
        self.entries[place].newer = NONE;
        self.entries[place].older = self.newest;
        match self.newest {
            NONE => self.oldest = place,
            newest => self.entries[newest].newer = place,
        }
        self.newest = place;
    }

    fn get_or_insert(&mut self, key: u64, make: impl FnOnce() -> u64) -> u64 {
        self.requests += 1; //~ RACE requests
        if let Some(&place) = self.places.get(&key) {
            self.unlink(place);
            self.link(place);
            return self.entries[place].value;
        }
        let value = make();
        let entry = Entry {
            key,
            value,
            newer: NONE,
            older: NONE,
        };
        let place = if self.entries.len() < CAPACITY {
            self.entries.push(entry);
            self.entries.len() - 1
        } else {
            let place = self.oldest;
            self.unlink(place);
            self.places.remove(&self.entries[place].key);
            self.entries[place] = entry;
            place
        };
        self.places.insert(key, place);
        self.link(place);
        value
    }

    /// Whether the links go through all entries from new to old, and the map finds them.
    fn is_sound(&self) -> bool {
        let (mut place, mut newer, mut seen) = (self.newest, NONE, 0);
        while place != NONE && seen <= CAPACITY {
            let entry = &self.entries[place];
            if entry.newer != newer || self.places.get(&entry.key) != Some(&place) {
                return false;
            }
            (newer, place, seen) = (place, entry.older, seen + 1);
        }
        newer == self.oldest && seen == self.entries.len() && seen == self.places.len()
    }
}

/// The cache and, for those who do not want to wait for the lock, where it is.
struct Shared {
    cache: Mutex<Cache>,
    #[cfg(race)]
    requests: *const u64,
}

// SAFETY: without the race there is nothing but the mutex.
#[cfg(race)]
unsafe impl Sync for Shared {}

impl Shared {
    fn requests(&self) -> u64 {
        #[cfg(race)]
        // SAFETY: none. The number changes under the lock, which is not taken here.
        return unsafe { *self.requests }; //~ RACE requests
        #[cfg(not(race))]
        self.cache.lock().unwrap().requests
    }
}

fn key(request: usize) -> u64 {
    let bits = scramble(request as u64);
    // Half of the requests are for a few keys.
    if bits & 1 == 0 {
        bits >> 1 & 1023
    } else {
        bits >> 1 & 16383
    }
}

fn main() -> ExitCode {
    let arguments = arguments(15_000_000, 1, 1 << 40);
    let shared = Box::new(Shared {
        cache: Mutex::new(Cache::new()),
        #[cfg(race)]
        requests: std::ptr::null(),
    });
    #[cfg(race)]
    let shared = {
        let mut shared = shared;
        shared.requests = &raw const shared.cache.get_mut().unwrap().requests;
        shared
    };
    let (shared, threads, size) = (&*shared, arguments.threads, arguments.size);
    let sums = team(threads, |me| {
        let plausible = shared.requests() <= size as u64;
        let sum = (size * me / threads..size * (me + 1) / threads)
            .map(|request| {
                let mut cache = shared.cache.lock().unwrap();
                cache.get_or_insert(key(request), || scramble(key(request)))
            })
            .fold(0, u64::wrapping_add);
        (sum, plausible)
    });
    let sum = sums.iter().fold(0_u64, |sum, part| sum.wrapping_add(part.0));
    let expected = (0..size).fold(0_u64, |sum, request| sum.wrapping_add(scramble(key(request))));
    let cache = shared.cache.lock().unwrap();
    let right = sum == expected
        && sums.iter().all(|part| part.1)
        && cache.is_sound()
        && cache.requests == size as u64;
    verdict(right, sum)
}
