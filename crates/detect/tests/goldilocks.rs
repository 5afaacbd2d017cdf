//! Goldilocks, eager and lazy, names the racing locations of the reference and the first race of each.

mod common;

use common::{analyse, exact, first_reports, run};
use deadheat_detect::goldilocks::{Goldilocks, GoldilocksEager};
use deadheat_detect::once::OnceRaced;
use deadheat_detect::reference::Reference;
use deadheat_detect::vc::Vc;
use deadheat_detect::{Analysis, Driver};
use deadheat_event::{Addr, Event, Mode, Op, SiteId, SyncId, Tables, ThreadId};
use deadheat_trace::recipe::{Config, Trace, traces};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A bound of a few cells makes the list be collected all the time.
fn all_exact(trace: &Trace) -> Result<(), TestCaseError> {
    exact(GoldilocksEager::default(), trace)?;
    exact(Goldilocks::default(), trace)?;
    exact(Goldilocks::with_list_bound(0), trace)?;
    exact(Goldilocks::with_list_bound(8), trace)
}

proptest! {
    #![proptest_config(common::cases(2000))]

    #[test]
    fn on_locks_forks_and_joins(trace in traces(Config::classic())) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_the_whole_vocabulary(trace in traces(Config::all())) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_long_traces_of_the_whole_vocabulary(trace in traces(Config { max_choices: 400, ..Config::all() })) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_atomics_and_fences(trace in traces(Config {
        atomics: true, volatiles: true, fences: true, mixed: true, subword: true, variables: 2, ..Config::accesses()
    })) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_read_write_locks_and_barriers(trace in traces(Config {
        mutexes: true, rwlocks: true, reentrant: true, barriers: true, barrier_overlap: true, locks: 2, ..Config::accesses()
    })) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_threads_whose_ids_are_used_again(trace in traces(Config {
        id_reuse: true, begin_end: true, messages: true, max_choices: 160, ..Config::classic()
    })) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_memory_that_comes_and_goes(trace in traces(Config {
        heap: true, subword: true, arrays: true, ..Config::classic()
    })) {
        all_exact(&trace)?;
    }

    #[test]
    fn on_calls_into_untraced_code(trace in traces(Config {
        calls: true, subword: true, ..Config::classic()
    })) {
        all_exact(&trace)?;
    }
}

/// Both detectors find a race in the trace, or neither does; so says the reference too.
#[track_caller]
fn check(text: &str, races: bool) {
    let trace = common::trace(text);
    let reference = Reference::new(&trace.events, &trace.tables);
    assert_eq!(!reference.races.is_empty(), races, "reference\n{text}");
    assert_eq!(
        !run(GoldilocksEager::default(), &trace).is_empty(),
        races,
        "eager\n{text}"
    );
    for bound in [0, 1000] {
        let found = run(Goldilocks::with_list_bound(bound), &trace);
        assert_eq!(!found.is_empty(), races, "lazy, bound {bound}\n{text}");
    }
}

#[test]
fn swapping_boxes_moves_them_to_another_lock() {
    // The paper's §2.3: `a.x` and `b.x` belong to boxes o1 and o2, which T2 swaps.
    let t1 = "T1 acq L1; T1 r a; T1 r o1x; T1 w o1x; T1 rel L1\n";
    let t2 = "T2 acq L1; T2 acq L2; T2 r a; T2 r b; T2 w a; T2 w b; T2 rel L1; T2 rel L2\n";
    let t3 = "T3 acq L2; T3 r b; T3 r o1x; T3 w o1x; T3 rel L2\n";
    check(&format!("{t1}{t2}{t3}"), false);
    check(&format!("{t1}{t3}"), true);
    check(
        &format!(
            "{t1}{}{t3}",
            t2.replace("acq L1", "acq M").replace("rel L1", "rel M")
        ),
        true,
    );
}

#[test]
fn concurrent_reads_are_no_race() {
    // Goldilocks as printed reports this.
    check("T1 r x; T2 r x; T1 r x", false);
    check("T1 w x; T1 fork T2; T1 fork T3; T2 r x; T3 r x; T2 r x", false);
    // But each of the readers is remembered.
    check(
        "T1 r x; T2 r x; T2 acq L; T2 rel L; T3 acq L; T3 rel L; T3 w x",
        true,
    );
    check(
        "T1 r x; T2 r x; T1 acq L; T1 rel L; T3 acq L; T3 rel L; T3 w x",
        true,
    );
    check(
        "T1 r x; T2 r x; T1 acq L; T1 rel L; T2 acq L; T2 rel L; T3 acq L; T3 rel L; T3 w x",
        false,
    );
}

#[test]
fn every_kind_of_synchronisation_moves_knowledge_on() {
    let between =
        |first: &str, second: &str, races: bool| check(&format!("T1 w x; {first}; {second}; T2 w x"), races);
    between("T1 acq L; T1 rel L", "T2 acq L", false);
    between("T1 acq L; T1 rel L", "T2 acq M", true);
    between("T1 fork T2", "T2 begin", false);
    between("T2 begin; T1 end", "T2 join T1", false);
    between("T1 send C", "T2 recv C", false);
    between("T2 recv C", "T1 send C", true);
    between("T1 enter B; T2 enter B; T1 leave B", "T2 leave B", false);
    between("T2 enter B; T2 leave B", "T1 enter B; T1 leave B", true);
    between("T1 store v vol; T1 store v vol", "T2 load v vol", false);
    between("T1 call f {o}; T1 ret", "T2 call f {o}; T2 ret", false);
    between("T1 call f {o}; T1 ret", "T2 r o", false);
    between(
        "T1 call f {o}; T1 ret; T1 r o",
        "T2 call g {p}; T2 ret; T2 r o",
        false,
    );
}

#[test]
fn readers_of_a_lock_do_not_order_readers() {
    check("T1 acqr L; T1 w x; T1 rel L; T2 acqr L; T2 w x; T2 rel L", true);
    check(
        "T1 acqr L; T1 r x; T1 rel L; T2 acq L; T2 w x; T2 rel L; T3 acqr L; T3 r x; T3 rel L",
        false,
    );
    check(
        "T1 acq L; T1 w x; T1 rel L; T2 acqr L; T2 r x; T3 acqr L; T3 r x; T2 rel L; T3 rel L",
        false,
    );
    check(
        "T1 acqr L; T1 w x; T1 rel L; T2 acqr L; T2 rel L; T3 acqr L; T3 w x",
        true,
    );
    check(
        "T1 acqr L; T1 w x; T1 rel L; T2 acq L; T2 rel L; T3 acqr L; T3 w x",
        false,
    );
}

#[test]
fn a_lock_held_twice_at_once_orders_nothing() {
    // No real lock does this, but a trace can: the lock short-circuit must not take it at its word.
    for text in [
        "T1 acq L; T1 w x; T2 acq L; T2 w x",
        "T1 acq L; T1 w x; T2 rel L; T2 acq L; T2 w x",
        "T1 acqr L; T1 w x; T2 acq L; T2 w x",
        "T1 acq L; T1 w x; T2 acqr L; T2 w x",
        "T1 acq L; T1 w x; T1 rel L; T3 rel L; T2 acq L; T2 w x",
    ] {
        let trace = common::trace(text);
        assert_eq!(run(GoldilocksEager::default(), &trace).len(), 1, "{text}");
        assert_eq!(run(Goldilocks::default(), &trace).len(), 1, "{text}");
    }
}

#[test]
fn release_sequences_end_with_a_store_and_go_on_with_an_update() {
    check("T1 w x; T1 store v rel; T2 load v acq; T2 w x", false);
    check(
        "T1 w x; T1 store v rel; T3 rmw v rlx; T2 load v acq; T2 w x",
        false,
    );
    check(
        "T1 w x; T1 store v rel; T3 store v rlx; T2 load v acq; T2 w x",
        true,
    );
    check(
        "T1 w x; T1 store v rel; T3 store v rel; T2 load v acq; T2 w x",
        true,
    );
    check("T1 w x; T1 store v rel; T2 load v rlx; T2 w x", true);
    check("T1 w x; T1 store v rlx; T2 load v acq; T2 w x", true);
}

#[test]
fn fences_work_through_relaxed_accesses() {
    check(
        "T1 w x; T1 fence rel; T1 store v rlx; T2 load v rlx; T2 fence acq; T2 w x",
        false,
    );
    check(
        "T1 fence rel; T1 w x; T1 store v rlx; T2 load v rlx; T2 fence acq; T2 w x",
        true,
    );
    check(
        "T1 w x; T1 fence rel; T1 store v rlx; T2 fence acq; T2 load v rlx; T2 w x",
        true,
    );
    check("T1 w x; T1 fence rel; T1 rmw v rlx; T2 load v acq; T2 w x", false);
    check(
        "T1 w x; T1 store v rel; T2 load v rlx; T2 load u rlx; T2 fence acq; T2 w x",
        false,
    );
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    check("T1 store v rlx; T2 store v rlx; T3 load v rlx", false);
    check("T1 store v rlx; T2 w v", true);
    check("T1 load v rlx; T2 w v", true);
    check("T1 load v rlx; T2 r v", false);
    check("T1 r v; T2 store v rlx", true);
}

/// `threads` threads that take turns; each turn locks, increments and unlocks, or only increments what is its own.
fn spots(threads: u32, rounds: u64, shared: bool) -> Trace {
    let mut events = Vec::new();
    let mut push = |thread, op| events.push(event(thread, op));
    for thread in 1..=threads {
        push(
            0,
            Op::Fork {
                child: ThreadId(thread),
            },
        );
    }
    for round in 0..rounds {
        for thread in 1..=threads {
            let spot = if shared { round % 16 } else { u64::from(thread) };
            let (addr, size, value) = (Addr(spot * 8), 8, None);
            let lock = SyncId(spot);
            push(
                thread,
                Op::Acquire {
                    lock,
                    mode: Mode::Exclusive,
                },
            );
            push(thread, Op::Read { addr, size, value });
            push(thread, Op::Write { addr, size, value });
            push(thread, Op::Release { lock });
        }
    }
    Trace {
        events,
        tables: Tables::default(),
    }
}

#[test]
fn where_a_lock_or_a_thread_owns_each_spot_no_lockset_is_evaluated_whatever_the_number_of_threads() {
    for shared in [true, false] {
        for threads in [2, 16, 256] {
            let rounds = 512 * 256 / u64::from(threads);
            let trace = spots(threads, rounds, shared);
            let (races, stats) = analyse(&mut Driver::new(Goldilocks::default()), &trace);
            assert_eq!(races, []);
            let accesses = stats.reads + stats.writes;
            assert_eq!(
                stats.race_checks + stats.same_epoch_reads + stats.same_epoch_writes,
                accesses
            );
            assert_eq!(
                (stats.clock_ops, stats.clock_allocs),
                (0, 0),
                "rules applied and locksets made, shared {shared}, {threads} threads"
            );
        }
    }
}

fn event(thread: u32, op: Op) -> Event {
    Event {
        thread: ThreadId(thread),
        site: SiteId(0),
        op,
    }
}

fn write(thread: u32, addr: u64) -> Event {
    let (addr, size, value) = (Addr(addr), 8, None);
    event(thread, Op::Write { addr, size, value })
}

fn section(thread: u32, lock: u64) -> [Event; 2] {
    let (lock, mode) = (SyncId(lock), Mode::Exclusive);
    [
        event(thread, Op::Acquire { lock, mode }),
        event(thread, Op::Release { lock }),
    ]
}

#[test]
fn endless_traces_with_idle_locations_need_bounded_memory() {
    // Thousands of locations, each last written in a frame of its own, and then nothing but synchronisation.
    let writes = (0..4000).flat_map(|i| {
        let thread = (i % 5) as u32;
        std::iter::once(write(thread, i * 8)).chain(section(thread, i % 7))
    });
    let syncs = (0..2_000_000).flat_map(|i| section((i % 3) as u32, i % 11));
    let mut driver = Driver::new(Goldilocks::default());
    let step = |driver: &mut Driver<Goldilocks>, event: Event| {
        let mut races = 0;
        driver.process(&[event], &Tables::default(), &mut |_| races += 1);
        races
    };
    for (n, event) in writes.chain(syncs).enumerate() {
        assert_eq!(step(&mut driver, event), 0);
        if n % 100_000 == 0 {
            let size = driver.detector().size();
            // Four cells for each location, and what one event adds.
            assert!(size.cells <= 4 * 4096 + 8 && size.frames <= 4 * 4096, "{size:?}");
            assert!(size.bytes < 4 << 20, "{size:?}");
        }
    }
    let size = driver.detector().size();
    assert!(
        size.locksets < 100,
        "idle locations share their locksets: {size:?}"
    );

    // And what was evaluated meanwhile is right: thread 0 knows all that was written, a newcomer nothing.
    assert_eq!(step(&mut driver, write(0, 8)), 0);
    assert_eq!(step(&mut driver, write(9, 16)), 1);
}

#[test]
fn tokens_of_objects_that_are_gone_leave_the_locksets() {
    // One location stays idle while atomics come, get to know it, and go.
    let mut text = String::from("T0 w x; T0 fork T1\n");
    text.push_str(&"T0 alloc v:8; T0 store v rel; T1 load v acq\n".repeat(40_000));
    let mut driver = Driver::new(Goldilocks::default());
    let (races, _) = analyse(&mut driver, &common::trace(&text));
    assert_eq!(races, []);
    let size = driver.detector().size();
    assert!(size.locksets > 0 && size.tokens < 10, "{size:?}");
}

#[test]
fn atomics_that_come_and_go_leave_nothing_behind() {
    let text = "T0 alloc v:8; T0 load v acq\n".repeat(40_000);
    let (_, stats) = analyse(&mut Driver::new(Goldilocks::default()), &common::trace(&text));
    assert!(stats.bytes < 200_000, "{} bytes", stats.bytes);
}

#[test]
fn thousands_of_threads_come_and_go() {
    let mut text = String::from("T0 w config\n");
    for batch in 0..500 {
        for id in 1..=10 {
            writeln!(
                text,
                "T0 fork T{id}; T{id} r config; T{id} w own{id}; T{id} acq L; T{id} w sum; T{id} rel L"
            )
            .expect("strings take everything");
        }
        for id in 1..=10 {
            writeln!(text, "T{id} end; T0 join T{id}").expect("strings take everything");
        }
        if batch % 100 == 99 {
            text.push_str("T0 w config\n");
        }
    }
    let trace = common::trace(&text);
    assert_eq!(run(GoldilocksEager::default(), &trace), []);
    let (races, stats) = analyse(&mut Driver::new(Goldilocks::default()), &trace);
    assert_eq!(races, []);
    assert!(stats.bytes < 1 << 20, "{} bytes", stats.bytes);
}

/// Once each spot, and where the detector reports it first.
fn once(trace: &Trace) -> Result<(), TestCaseError> {
    let all = run(Goldilocks::default(), trace);
    let once = run(OnceRaced(Goldilocks::default()), trace);
    prop_assert_eq!(first_reports(&all), first_reports(&once));
    // A spot comes to a new life where memory is allocated.
    let births = trace.events.iter().enumerate().filter_map(|(n, event)| {
        let born = matches!(event.op, Op::Alloc { .. } | Op::NewArray { .. });
        born.then_some(n as u64)
    });
    let births: Vec<u64> = births.collect();
    let mut seen = BTreeSet::new();
    for race in &once {
        let life = births.partition_point(|birth| *birth < race.event);
        for spot in common::spots(race) {
            prop_assert!(seen.insert((spot, life)), "{spot:?} twice in {once:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(common::cases(1000))]

    #[test]
    fn disabled_after_a_race_each_spot_is_reported_once_and_at_its_first_race(trace in traces(Config::all())) {
        once(&trace)?;
    }

    /// Events swapped and dropped at will: locks held by two, threads that run before their fork, ….
    #[test]
    fn eager_and_lazy_agree_on_ill_formed_traces_too(
        trace in traces(Config { max_choices: 120, ..Config::all() }),
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..12),
        drops in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
    ) {
        let mut trace = trace;
        if trace.events.is_empty() {
            return Ok(());
        }
        for (a, b) in swaps {
            let (a, b) = (a.index(trace.events.len()), b.index(trace.events.len()));
            trace.events.swap(a, b);
        }
        for index in drops {
            if trace.events.len() > 1 {
                trace.events.remove(index.index(trace.events.len()));
            }
        }
        let eager = first_reports(&run(GoldilocksEager::default(), &trace));
        for bound in [0, 8, 1000] {
            prop_assert_eq!(&first_reports(&run(Goldilocks::with_list_bound(bound), &trace)), &eager);
        }
    }
}

#[test]
fn disabling_after_a_race_saves_checks() {
    let text = "T1 w x; T2 w x\n".repeat(100);
    let trace = common::trace(&text);
    let (races, stats) = analyse(&mut Driver::new(OnceRaced(Vc::default())), &trace);
    assert_eq!((races.len(), stats.race_checks), (1, 2));
    let text = "T1 w a[0..7]; T2 w a[3]; T2 w a[0..7]\n".repeat(10);
    let (races, _) = analyse(&mut Driver::new(OnceRaced(Vc::default())), &common::trace(&text));
    let places: Vec<usize> = races.iter().map(|race| common::spots(race).len()).collect();
    assert_eq!(places, [1, 3, 4], "element 3, then those on either side of it");
}
