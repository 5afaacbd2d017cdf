//! The lockset detectors against slow, obvious ones, and what they promise about happens-before races.

mod common;

use common::{run, spots};
use deadheat_detect::eraser::Eraser;
use deadheat_detect::lockset::LockSet;
use deadheat_detect::reference::{Reference, Spot};
use deadheat_event::{AccessKind, Detector, Event, Mode, Op, SyncId, ThreadId};
use deadheat_trace::recipe::{Config, Trace, traces};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The spots that a detector reports, each with the event.
fn warnings(detector: impl Detector, trace: &Trace) -> BTreeSet<(Spot, usize)> {
    run(detector, trace)
        .iter()
        .flat_map(|race| spots(race).into_iter().map(|spot| (spot, race.event as usize)))
        .collect()
}

/// What may protect an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lock {
    Real(SyncId),
    Readers,
    Atomics,
}

/// An access to one spot, with all that a lockset algorithm could want to know.
struct Seen {
    event: usize,
    spot: Spot,
    /// A thread's number and how often it had been forked.
    thread: (ThreadId, usize),
    kind: AccessKind,
    protecting: BTreeSet<Lock>,
}

/// A lock, how it was first taken, and how often.
type Held = (SyncId, Mode, u32);

enum Step {
    Access(Seen),
    /// The spot is new.
    Forget(Spot),
    /// All threads have reached a barrier. Only for traces whose threads all run from the start.
    Barrier,
}

fn accessed(event: &Event) -> Option<(AccessKind, bool, Vec<Spot>)> {
    let bytes = |addr: u64, size: u32| (addr..addr + u64::from(size)).map(Spot::Byte).collect();
    Some(match event.op {
        Op::Read { addr, size, .. } => (AccessKind::Read, false, bytes(addr.0, size)),
        Op::Write { addr, size, .. } | Op::Free { addr, size } => {
            (AccessKind::Write, false, bytes(addr.0, size))
        }
        Op::Atomic { addr, size, op, .. } => {
            let kind = if op.writes() {
                AccessKind::Write
            } else {
                AccessKind::Read
            };
            (kind, true, bytes(addr.0, size))
        }
        Op::ArrayRead { array, indices } => {
            let spots = indices.iter().map(|i| Spot::Element(array, i)).collect();
            (AccessKind::Read, false, spots)
        }
        Op::ArrayWrite { array, indices } => {
            let spots = indices.iter().map(|i| Spot::Element(array, i)).collect();
            (AccessKind::Write, false, spots)
        }
        _ => return None,
    })
}

/// The spots that come into being.
fn born(event: &Event) -> Vec<Spot> {
    match event.op {
        Op::Alloc { addr, size } => (addr.0..addr.0 + u64::from(size)).map(Spot::Byte).collect(),
        Op::NewArray { array, len } => (0..len).map(|i| Spot::Element(array, i)).collect(),
        _ => Vec::new(),
    }
}

/// A trace as lockset algorithms see it.
fn steps(trace: &Trace) -> Vec<Step> {
    let threads: HashSet<ThreadId> = trace.events.iter().map(|event| event.thread).collect();
    let mut forks: HashMap<ThreadId, usize> = HashMap::new();
    let mut held: HashMap<(ThreadId, usize), Vec<Held>> = HashMap::new();
    // Those who have entered the present round of a barrier; the first one to leave ends it.
    let mut gathered: HashMap<SyncId, HashSet<ThreadId>> = HashMap::new();
    let mut steps = Vec::new();
    for (number, event) in trace.events.iter().enumerate() {
        let thread = (event.thread, forks.get(&event.thread).copied().unwrap_or(0));
        let locks = held.entry(thread).or_default();
        if let Some((kind, atomic, spots)) = accessed(event) {
            let mut protecting: BTreeSet<Lock> = locks
                .iter()
                .filter(|(_, mode, _)| kind == AccessKind::Read || *mode == Mode::Exclusive)
                .map(|(lock, ..)| Lock::Real(*lock))
                .collect();
            protecting.extend((kind == AccessKind::Read).then_some(Lock::Readers));
            protecting.extend(atomic.then_some(Lock::Atomics));
            steps.extend(spots.into_iter().map(|spot| {
                Step::Access(Seen {
                    event: number,
                    spot,
                    thread,
                    kind,
                    protecting: protecting.clone(),
                })
            }));
        }
        match event.op {
            Op::Acquire { lock, mode } => match locks.iter_mut().find(|held| held.0 == lock) {
                Some(held) => held.2 += 1,
                None => locks.push((lock, mode, 1)),
            },
            Op::Release { lock } => {
                for held in locks.iter_mut().filter(|held| held.0 == lock) {
                    held.2 -= 1;
                }
                locks.retain(|held| held.2 > 0);
            }
            Op::Fork { child } => *forks.entry(child).or_default() += 1,
            Op::BarrierEnter { barrier } => {
                gathered.entry(barrier).or_default().insert(event.thread);
            }
            Op::BarrierLeave { barrier } => {
                let gathered = gathered.entry(barrier).or_default();
                if gathered.contains(&event.thread) {
                    if *gathered == threads {
                        steps.push(Step::Barrier);
                    }
                    gathered.clear();
                }
            }
            _ => {}
        }
        steps.extend(born(event).into_iter().map(Step::Forget));
    }
    steps
}

/// C(v), with `None` for all locks.
type Candidates = Option<BTreeSet<Lock>>;

fn refine(candidates: &mut Candidates, protecting: &BTreeSet<Lock>) -> bool {
    let refined = match candidates {
        None => protecting.clone(),
        Some(candidates) => candidates.intersection(protecting).copied().collect(),
    };
    let empty = refined.is_empty();
    *candidates = Some(refined);
    empty
}

/// Eraser, from its paper: who was first, whether others came, whether it was written since.
fn slow_eraser(trace: &Trace) -> BTreeSet<(Spot, usize)> {
    struct State {
        first: (ThreadId, usize),
        shared: bool,
        modified: bool,
        candidates: Candidates,
        warned: bool,
    }
    let mut states: BTreeMap<Spot, State> = BTreeMap::new();
    let mut warnings = BTreeSet::new();
    for step in steps(trace) {
        match step {
            Step::Barrier => {}
            Step::Forget(spot) => {
                states.remove(&spot);
            }
            Step::Access(mut seen) => {
                seen.protecting.remove(&Lock::Readers);
                let state = states.entry(seen.spot).or_insert(State {
                    first: seen.thread,
                    shared: false,
                    modified: false,
                    candidates: None,
                    warned: false,
                });
                state.shared |= seen.thread != state.first;
                if state.shared {
                    state.modified |= seen.kind == AccessKind::Write;
                    let empty = refine(&mut state.candidates, &seen.protecting);
                    if empty && state.modified && !state.warned {
                        state.warned = true;
                        warnings.insert((seen.spot, seen.event));
                    }
                }
            }
        }
    }
    warnings
}

/// LockSet, from MultiRace's Figure 4 and §4.3: counts every access, and visits every location at a barrier.
fn slow_lockset(trace: &Trace) -> BTreeSet<(Spot, usize)> {
    #[derive(Default)]
    struct State {
        /// Who accessed it, first one first; since the last barrier.
        threads: Vec<(ThreadId, usize)>,
        /// A barrier was reached since it was first accessed.
        initialised: bool,
        candidates: Candidates,
        warned: bool,
    }
    let mut states: BTreeMap<Spot, State> = BTreeMap::new();
    let mut warnings = BTreeSet::new();
    for step in steps(trace) {
        match step {
            Step::Barrier => {
                for state in states.values_mut() {
                    *state = State {
                        initialised: true,
                        warned: state.warned,
                        ..State::default()
                    };
                }
            }
            Step::Forget(spot) => {
                states.remove(&spot);
            }
            Step::Access(seen) => {
                let state = states.entry(seen.spot).or_default();
                if !state.threads.contains(&seen.thread) {
                    state.threads.push(seen.thread);
                }
                let shared = state.threads.len() > 1;
                if shared || state.initialised {
                    let empty = refine(&mut state.candidates, &seen.protecting);
                    if empty && shared && !state.warned {
                        state.warned = true;
                        warnings.insert((seen.spot, seen.event));
                    }
                }
            }
        }
    }
    warnings
}

/// The same trace with all threads there from the start, so that none comes to a barrier late.
fn assembled(mut trace: Trace) -> Trace {
    let threads: BTreeSet<ThreadId> = trace.events.iter().map(|event| event.thread).collect();
    let begins = threads.into_iter().map(|thread| Event {
        thread,
        site: Default::default(),
        op: Op::Begin,
    });
    trace.events.splice(0..0, begins);
    trace
}

/// All that has no forks, for two threads: more would rarely meet at a barrier.
fn no_forks() -> Config {
    Config {
        threads: 2,
        roots: 2,
        forks: false,
        id_reuse: false,
        ..Config::all()
    }
}

fn locks_and_barriers(threads: u32) -> Config {
    Config {
        threads,
        mutexes: true,
        rwlocks: true,
        reentrant: true,
        barriers: true,
        barrier_overlap: true,
        locks: 2,
        variables: 2,
        max_choices: 120,
        ..Config::accesses()
    }
}

/// Accesses by the first thread at a spot before another one came, or all threads (if they are all there from the
/// start) reached a barrier: by spot and event.
fn initialising(trace: &Trace, assembled: bool) -> BTreeSet<(Spot, usize)> {
    let mut first: HashMap<Spot, Option<ThreadId>> = HashMap::new();
    let mut initialising = BTreeSet::new();
    for step in steps(trace) {
        match step {
            Step::Barrier if assembled => first.values_mut().for_each(|owner| *owner = None),
            Step::Barrier => {}
            Step::Forget(spot) => {
                first.remove(&spot);
            }
            Step::Access(seen) => {
                let owner = first.entry(seen.spot).or_insert(Some(seen.thread.0));
                owner.take_if(|owner| *owner != seen.thread.0);
                if owner.is_some() {
                    initialising.insert((seen.spot, seen.event));
                }
            }
        }
    }
    initialising
}

/// Where two accesses race and the earlier one was not an initialising one, there was a warning by the later one.
fn superset(trace: &Trace, assembled: bool) -> Result<(), TestCaseError> {
    let warnings = warnings(LockSet::default(), trace);
    let initialising = initialising(trace, assembled);
    let births: BTreeSet<(Spot, usize)> = trace
        .events
        .iter()
        .enumerate()
        .flat_map(|(number, event)| born(event).into_iter().map(move |spot| (spot, number)))
        .collect();
    for (spot, events) in Reference::new(&trace.events, &trace.tables).races {
        for (late, partners) in events {
            for early in partners {
                let birth = births
                    .range((spot, 0)..(spot, late))
                    .next_back()
                    .map_or(0, |b| b.1);
                prop_assert!(
                    initialising.contains(&(spot, early))
                        || warnings.range((spot, birth)..=(spot, late)).next().is_some(),
                    "{spot:?}: events {early} and {late} race without a warning"
                );
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(common::cases(2000))]

    #[test]
    fn eraser_is_the_papers_algorithm(trace in traces(Config::all())) {
        prop_assert_eq!(warnings(Eraser::default(), &trace), slow_eraser(&trace));
    }

    #[test]
    fn lockset_is_the_papers_algorithm_with_every_access_counted(trace in traces(locks_and_barriers(2))) {
        let trace = assembled(trace);
        prop_assert_eq!(warnings(LockSet::default(), &trace), slow_lockset(&trace));
    }

    #[test]
    fn lockset_is_the_papers_algorithm_on_three_threads(trace in traces(locks_and_barriers(3))) {
        let trace = assembled(trace);
        prop_assert_eq!(warnings(LockSet::default(), &trace), slow_lockset(&trace));
    }

    #[test]
    fn lockset_is_the_papers_algorithm_on_all_but_forks(trace in traces(no_forks())) {
        let trace = assembled(trace);
        prop_assert_eq!(warnings(LockSet::default(), &trace), slow_lockset(&trace));
    }

    #[test]
    fn lockset_warns_of_every_race_that_is_not_with_an_initialising_access(
        trace in traces(locks_and_barriers(2))
    ) {
        superset(&assembled(trace), true)?;
    }

    #[test]
    fn lockset_warns_of_every_such_race_on_three_threads(trace in traces(locks_and_barriers(3))) {
        superset(&assembled(trace), true)?;
    }

    #[test]
    fn lockset_warns_of_every_such_race_on_the_whole_vocabulary(trace in traces(Config::all())) {
        superset(&trace, false)?;
    }

    #[test]
    fn lockset_warns_of_every_such_race_where_workers_meet_at_barriers(trace in traces(Config {
        threads: 3, roots: 1, forks: true, begin_end: true, ..locks_and_barriers(3)
    })) {
        superset(&trace, false)?;
    }
}
