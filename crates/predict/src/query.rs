//! One question: can these two accesses be about to happen at the same time?

use crate::graph::{Cut, Graph, Id, Read, raise};
use deadheat_event::Mode;
use rustc_hash::FxHashMap;

/// Two accesses, and what must have happened before both.
#[derive(Clone, Debug)]
pub struct Query {
    /// The access that came first in the trace.
    pub first: Id,
    /// The other.
    pub second: Id,
    /// What must have happened for both to be about to happen.
    pub needed: Vec<u32>,
}

/// What became of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes, behind this schedule.
    Race(Vec<Id>),
    /// No.
    Ordered,
    /// There was not enough time to tell.
    Unknown,
}

impl Query {
    /// The question, unless the answer is plain: one of them needs the other, or both hold the same lock.
    ///
    /// This is the sieve in front of the solver that drops pairs, in time linear in the number of threads. It is sound as
    /// such: edges hold in every schedule, and a thread at an access holds the locks that it held.
    pub fn new(graph: &Graph<'_>, first: Id, second: Id) -> Option<Query> {
        let held = |event: Id| &graph.locksets[graph.lockset[event as usize] as usize];
        if exclude(held(first), held(second)) {
            return None;
        }
        let mut needed = vec![0; graph.slots()];
        graph.enable(first, &mut needed);
        graph.enable(second, &mut needed);
        let query = Query {
            first,
            second,
            needed,
        };
        query.fits(graph, &query.needed).then_some(query)
    }

    /// Adds what every schedule that answers yes must have besides. False if there can be none.
    ///
    /// A read that must happen and has one write left to see needs that write. A critical section that must begin and cannot end
    /// before the two accesses is the last of its lock: the others that must begin must end, too.
    ///
    /// This decides many pairs that the solver would have to refute, and leaves it less to choose for the others.
    pub fn close(&mut self, graph: &Graph<'_>) -> bool {
        let mut done = vec![0; self.needed.len()];
        let mut begun: Vec<u32> = Vec::new();
        while done != self.needed {
            #[expect(clippy::needless_range_loop, reason = "what is needed changes on the way")]
            for slot in 0..done.len() {
                while done[slot] < self.needed[slot] {
                    let event = graph.threads[slot][done[slot] as usize];
                    done[slot] += 1;
                    for read in graph.reads.get(event) {
                        if !graph.allows(read, None) && !self.add_source(graph, event, read) {
                            return false;
                        }
                    }
                    begun.extend(graph.begins.get(&event));
                }
            }
            if !self.add_releases(graph, &begun) || !self.fits(graph, &self.needed) {
                return false;
            }
        }
        true
    }

    fn add_source(&mut self, graph: &Graph<'_>, event: Id, read: &Read) -> bool {
        let possible =
            |&writer: &Id| !graph.precedes(event, writer) && self.fits(graph, graph.included(writer));
        let mut sources = graph.candidates(event, read).filter(possible);
        match (sources.next(), sources.next()) {
            (None, _) => return false,
            (Some(only), None) => {
                drop(sources);
                raise(&mut self.needed, graph.included(only));
            }
            _ => {}
        }
        true
    }

    fn add_releases(&mut self, graph: &Graph<'_>, begun: &[u32]) -> bool {
        // The section of each lock that does not end.
        let mut last: FxHashMap<u32, u32> = FxHashMap::default();
        for &number in begun {
            let section = &graph.sections[number as usize];
            let ends = { section.release }.is_some_and(|release| self.fits(graph, graph.included(release)));
            if !ends && section.mode == Mode::Exclusive {
                let other = last.insert(section.lock, number);
                if other.is_some_and(|other| graph.sections[other as usize].excludes(section)) {
                    return false;
                }
            }
        }
        for &number in begun {
            let section = &graph.sections[number as usize];
            let Some(&last) = last.get(&section.lock) else {
                continue;
            };
            if graph.sections[last as usize].excludes(section) {
                match section.release {
                    Some(release) if self.fits(graph, graph.included(release)) => {
                        raise(&mut self.needed, graph.included(release));
                    }
                    _ => return false,
                }
            }
        }
        true
    }

    /// Whether neither of the two is in the cut.
    pub fn fits(&self, graph: &Graph<'_>, cut: &Cut) -> bool {
        !graph.has(cut, self.first) && !graph.has(cut, self.second)
    }
}

/// Whether two threads cannot hold these at the same time.
pub fn exclude<T: Ord>(a: &[(T, Mode)], b: &[(T, Mode)]) -> bool {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    while let (Some((x, mine)), Some((y, theirs))) = (a.peek(), b.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => drop(a.next()),
            std::cmp::Ordering::Greater => drop(b.next()),
            std::cmp::Ordering::Equal => {
                if *mine == Mode::Exclusive || *theirs == Mode::Exclusive {
                    return true;
                }
                a.next();
            }
        }
    }
    false
}

/// A schedule that keeps the observed order: the smallest set of events that has all that the two accesses need, the write
/// that each of its reads saw, and the release of every critical section but the last of each lock. If neither access
/// is in it, it is a witness in the order of the trace.
///
/// This is a sync-preserving race (Mathur, Pavlogiannis and Viswanathan, "Optimal prediction of synchronization-preserving
/// races", POPL 2021), found in time linear in the size of the window. It only ever says yes: pairs for which it
/// fails go on to the solver.
pub fn keep_order(graph: &Graph<'_>, query: &Query) -> Option<Vec<Id>> {
    let mut cut = query.needed.clone();
    let mut done = vec![0; cut.len()];
    // The sections of each lock in the cut, and those of them that are not known to be closed in it.
    let mut begun: Vec<Vec<u32>> = vec![Vec::new(); graph.locks.len()];
    let mut open: Vec<u32> = Vec::new();
    while done != cut {
        for slot in 0..cut.len() {
            while done[slot] < cut[slot] {
                let event = graph.threads[slot][done[slot] as usize];
                done[slot] += 1;
                for read in graph.reads.get(event) {
                    if let Some(writer) = read.writer {
                        raise(&mut cut, graph.included(writer));
                    }
                }
                if let Some(&section) = graph.begins.get(&event) {
                    begun[graph.sections[section as usize].lock as usize].push(section);
                    open.push(section);
                }
            }
        }
        if !query.fits(graph, &cut) {
            return None;
        }
        begun.iter_mut().for_each(|sections| sections.sort_unstable());
        open.retain(|&number| {
            let section = &graph.sections[number as usize];
            if section.release.is_some_and(|release| graph.has(&cut, release)) {
                return false;
            }
            let later = begun[section.lock as usize]
                .iter()
                .rev()
                .take_while(|&&other| other > number);
            if !{ later }.any(|&other| section.excludes(&graph.sections[other as usize])) {
                return true;
            }
            match section.release {
                Some(release) => raise(&mut cut, graph.included(release)),
                // Cannot be in a well-formed trace; the schedule would not be one either.
                None => cut[graph.slot[query.first as usize] as usize] = u32::MAX,
            }
            false
        });
        if !query.fits(graph, &cut) {
            return None;
        }
    }
    Some(in_order(graph, &cut))
}

/// The events of a cut in the order of the trace.
pub fn in_order(graph: &Graph<'_>, cut: &Cut) -> Vec<Id> {
    let threads = graph.threads.iter().zip(cut);
    let mut events: Vec<Id> = threads
        .flat_map(|(thread, &count)| thread[..count as usize].iter().copied())
        .collect();
    events.sort_unstable();
    events
}
