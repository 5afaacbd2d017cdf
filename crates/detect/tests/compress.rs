//! `compress ▷ D` names the racing elements of D, with pairs that really race, whatever modes an array goes through.

mod common;

use common::{analyse, cases, same_spots, spots};
use deadheat_detect::compress::{Compress, Mode};
use deadheat_detect::reference::{Reference, Spot};
use deadheat_detect::{Analysis, Driver, djit::Djit, fasttrack::FastTrack, vc::Vc};
use deadheat_event::{
    AccessKind, ArrayId, Detector, Event, Indices, Mode as LockMode, Op, Race, SiteId, Stats, SyncId, Tables,
    ThreadId,
};
use deadheat_trace::recipe::{Config, Trace, traces};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use std::collections::BTreeSet;

use AccessKind::{Read, Write};

/// What a thread does next.
#[derive(Clone, Debug)]
enum Act {
    Sweep(Sweep),
    /// Takes and gives back a lock.
    Lock(u64),
    Send(u64),
    Receive(u64),
    /// All threads meet.
    Barrier,
    NewArray(u32, u64),
    /// So many elements in no order.
    Scatter(u32, u64, u16),
}

#[derive(Clone, Debug)]
struct Sweep {
    array: u32,
    first: u64,
    count: u64,
    stride: u64,
    kind: AccessKind,
    /// Statements that take turns.
    sites: Vec<u32>,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Up,
    Down,
    Range,
    /// Two ranges in two halves.
    Halves,
}

const THREADS: u32 = 3;

fn events(known: Option<u64>, acts: &[(u32, Act)]) -> Vec<Event> {
    let mut events = Vec::new();
    let mut push = |thread: u32, site: u32, op| {
        events.push(Event {
            thread: ThreadId(thread),
            site: SiteId(site),
            op,
        });
    };
    if let Some(len) = known {
        for array in 0..2 {
            push(
                0,
                0,
                Op::NewArray {
                    array: ArrayId(array),
                    len,
                },
            );
        }
    }
    for (thread, act) in acts {
        let thread = *thread;
        match act {
            Act::Sweep(sweep) => {
                for (site, indices) in accesses(sweep) {
                    push(thread, site, access(sweep.array, sweep.kind, indices));
                }
            }
            Act::Lock(lock) => {
                let lock = SyncId(*lock);
                push(
                    thread,
                    0,
                    Op::Acquire {
                        lock,
                        mode: LockMode::Exclusive,
                    },
                );
                push(thread, 0, Op::Release { lock });
            }
            Act::Send(channel) => push(
                thread,
                0,
                Op::Send {
                    channel: SyncId(100 + channel),
                },
            ),
            Act::Receive(channel) => push(
                thread,
                0,
                Op::Receive {
                    channel: SyncId(100 + channel),
                },
            ),
            Act::Barrier => {
                let barrier = SyncId(200);
                (0..THREADS).for_each(|t| push(t, 0, Op::BarrierEnter { barrier }));
                (0..THREADS).for_each(|t| push(t, 0, Op::BarrierLeave { barrier }));
            }
            Act::NewArray(array, len) => push(
                thread,
                0,
                Op::NewArray {
                    array: ArrayId(*array),
                    len: *len,
                },
            ),
            Act::Scatter(array, len, count) => {
                for i in 0..u64::from(*count) {
                    let index = i.wrapping_mul(0x9e37_79b9).rotate_right(7) % (*len).max(1);
                    push(thread, 50, access(*array, AccessKind::Write, Indices::one(index)));
                }
            }
        }
    }
    events
}

fn access(array: u32, kind: AccessKind, indices: Indices) -> Op {
    let array = ArrayId(array);
    match kind {
        AccessKind::Read => Op::ArrayRead { array, indices },
        AccessKind::Write => Op::ArrayWrite { array, indices },
    }
}

fn accesses(sweep: &Sweep) -> Vec<(u32, Indices)> {
    let Sweep {
        first,
        count,
        stride,
        sites,
        form,
        ..
    } = sweep;
    let index = |i: u64| first + i * stride;
    let site = |i: u64| sites[i as usize % sites.len()];
    let range = |from: u64, to: u64| {
        Indices::new(index(from), index(to), *stride as u32).map(|indices| (site(from), indices))
    };
    match form {
        Form::Up => (0..*count).map(|i| (site(i), Indices::one(index(i)))).collect(),
        Form::Down => (0..*count)
            .rev()
            .map(|i| (site(i), Indices::one(index(i))))
            .collect(),
        Form::Range => range(0, count - 1).into_iter().collect(),
        Form::Halves => {
            let half = count / 2;
            let low = (half > 0).then(|| range(0, half - 1)).flatten();
            low.into_iter().chain(range(half, count - 1)).collect()
        }
    }
}

/// Sweeps over arrays of `n` elements: whole ones, blocks, strides, stencils, and parts of no shape.
fn sweep(n: u64) -> impl Strategy<Value = Act> {
    let shape = prop_oneof![
        3 => Just((0, n, 1)),
        2 => Just((1, n - 2, 1)),
        3 => (0..4u64).prop_map(move |q| (q * (n / 4), n / 4, 1)),
        2 => (0..3u64).prop_map(move |q| (q * (n / 3), n / 3, 1)),
        3 => (2..5u64).prop_flat_map(move |k| (0..k).prop_map(move |b| (b, (n - b).div_ceil(k), k))),
        2 => (0..n, 1..n).prop_map(move |(b, len)| (b, len.min(n - b), 1)),
        1 => (0..n, 1..5u64, 1..5u64).prop_map(move |(b, len, k)| (b, len, k)),
        2 => (0..n).prop_map(|b| (b, 1, 1)),
        1 => (0..4u64).prop_map(move |far| (far << 38, 2, 1 << 36)),
    ];
    let sites = prop_oneof![
        4 => (0u32..4).prop_map(|site| vec![1 + site]),
        1 => Just(vec![10, 11]),
        1 => Just(vec![20, 21, 22]),
        1 => Just(vec![u32::MAX, 1]),
    ];
    let form = prop_oneof![
        Just(Form::Up),
        Just(Form::Down),
        Just(Form::Range),
        Just(Form::Halves)
    ];
    let kind = prop_oneof![Just(AccessKind::Read), Just(AccessKind::Write)];
    (0u32..2, shape, kind, sites, form).prop_map(|(array, (first, count, stride), kind, sites, form)| {
        let form = if u32::try_from(stride).is_err() {
            Form::Up
        } else {
            form
        };
        Act::Sweep(Sweep {
            array,
            first,
            count,
            stride,
            kind,
            sites,
            form,
        })
    })
}

fn act(n: u64) -> impl Strategy<Value = Act> {
    prop_oneof![
        12 => sweep(n),
        4 => (0u64..3).prop_map(Act::Lock),
        1 => (0u64..2).prop_map(Act::Send),
        1 => (0u64..2).prop_map(Act::Receive),
        3 => Just(Act::Barrier),
        1 => (0u32..2, 0..2 * n).prop_map(|(array, len)| Act::NewArray(array, len)),
    ]
}

fn arrays() -> impl Strategy<Value = Trace> {
    (4u64..48, any::<bool>()).prop_flat_map(|(n, known)| {
        prop::collection::vec((0..THREADS, act(n)), 1..40).prop_map(move |acts| Trace {
            events: events(known.then_some(n), &acts),
            tables: Tables::default(),
        })
    })
}

/// The elements are the reference's, and for each that is reported there are two racing events with the threads, kinds
/// and statements of the report.
fn precise<D: Detector>(
    detector: D,
    trace: &Trace,
    reference: &Reference,
) -> Result<Driver<D>, TestCaseError> {
    let mut driver = Driver::new(detector);
    let mut races: Vec<Race> = Vec::new();
    driver.process(&trace.events, &trace.tables, &mut |race| races.push(race));
    driver.finish(&mut |race| races.push(race));
    let found: BTreeSet<Spot> = races.iter().flat_map(spots).collect();
    let expected: BTreeSet<Spot> = reference.races.keys().copied().collect();
    prop_assert_eq!(found, expected);
    for race in &races {
        let first = race.first.as_ref().expect("both sides are known");
        let sides = [first, &race.second].map(|side| (side.thread, side.site, side.access));
        let is = |event: usize| {
            let event = &trace.events[event];
            let kind = match event.op {
                Op::ArrayRead { .. } => AccessKind::Read,
                _ => AccessKind::Write,
            };
            (event.thread, event.site, kind)
        };
        for spot in spots(race) {
            let real = reference.races.get(&spot).is_some_and(|pairs| {
                pairs.iter().any(|(late, earlier)| {
                    earlier.iter().any(|early| {
                        let pair = [is(*early), is(*late)];
                        pair == sides || pair == [sides[1], sides[0]]
                    })
                })
            });
            prop_assert!(real, "{spot:?} has no such pair: {race:?}");
        }
    }
    Ok(driver)
}

fn all_precise(trace: &Trace, transitions: &mut [[u64; 5]; 5]) -> Result<(), TestCaseError> {
    let reference = Reference::new(&trace.events, &trace.tables);
    let fasttrack = precise(Compress::with_min_len(FastTrack::default(), 0), trace, &reference)?;
    for (sum, row) in transitions.iter_mut().zip(fasttrack.detector().transitions()) {
        sum.iter_mut().zip(row).for_each(|(sum, n)| *sum += n);
    }
    let stats = fasttrack.stats();
    prop_assert!(stats.shadow_states_peak >= stats.shadow_states);
    precise(Compress::with_min_len(Djit::default(), 0), trace, &reference)?;
    precise(Compress::with_min_len(Vc::default(), 0), trace, &reference)?;
    precise(Compress::<FastTrack>::default(), trace, &reference)?;
    Ok(())
}

/// Runs the property and returns how often each transition was made.
fn transitions_of(count: u32, strategy: impl Strategy<Value = Trace>) -> [[u64; 5]; 5] {
    let mut config = cases(count);
    config.source_file = Some(file!());
    let mut runner = TestRunner::new(config);
    let transitions = std::cell::RefCell::new([[0; 5]; 5]);
    let result = runner.run(&strategy, |trace| {
        all_precise(&trace, &mut transitions.borrow_mut())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    transitions.into_inner()
}

#[test]
fn random_array_traces_are_answered_precisely_through_every_mode_and_transition() {
    let transitions = transitions_of(4000, arrays());
    let made = |from: &str, to: &str| {
        let kind = |name| Mode::NAMES.iter().position(|n| *n == name).expect("a mode");
        transitions[kind(from)][kind(to)]
    };
    for (from, to) in [
        ("coarse", "block"),
        ("coarse", "stride"),
        ("coarse", "split"),
        ("coarse", "fine"),
        ("block", "block"),
        ("block", "split"),
        ("block", "fine"),
        ("stride", "stride"),
        ("stride", "fine"),
        ("split", "split"),
        ("split", "fine"),
        // Back again.
        ("block", "coarse"),
        ("stride", "coarse"),
        ("split", "coarse"),
        ("split", "block"),
        ("fine", "coarse"),
        ("fine", "split"),
        ("fine", "block"),
        ("fine", "stride"),
    ] {
        assert!(made(from, to) > 0, "no {from} to {to} in {transitions:?}");
    }
}

#[test]
fn arrays_with_more_rows_than_a_split_has_parts_are_answered_precisely() {
    let n = 640;
    let row = (0..n / 8).prop_map(|row| (row * 8, 8));
    let part = prop_oneof![40 => row, 1 => Just((0, n)), 1 => (0..n - 5, 1..5u64)];
    let range = (part, prop_oneof![2 => Just(Write), 1 => Just(Read)], 1u32..4)
        .prop_map(|((first, count), kind, site)| by(kind, &[site], first, count, Form::Range));
    let step = prop_oneof![8 => range, 6 => (0u64..2).prop_map(Act::Lock), 1 => Just(Act::Barrier)];
    let strategy = (any::<bool>(), prop::collection::vec((0..THREADS, step), 150..400)).prop_map(
        move |(known, acts)| Trace {
            events: events(known.then_some(n), &acts),
            tables: Tables::default(),
        },
    );
    let transitions = transitions_of(100, strategy);
    let (block, split, fine) = (1, 3, 4);
    for (from, to) in [(split, block), (split, fine), (block, fine)] {
        assert!(transitions[from][to] > 0, "no {from} to {to} in {transitions:?}");
    }
}

#[test]
fn arrays_that_turn_random_and_back_are_answered_precisely() {
    let n = 32;
    let phase = prop_oneof![
        6 => sweep(n),
        2 => (0u64..3).prop_map(Act::Lock),
        2 => Just(Act::Barrier),
        1 => (0u32..2, 100..2500u16).prop_map(move |(array, count)| Act::Scatter(array, n, count)),
    ];
    let strategy = prop::collection::vec((0..THREADS, phase), 1..30).prop_map(move |acts| Trace {
        events: events(Some(n), &acts),
        tables: Tables::default(),
    });
    let transitions = transitions_of(150, strategy);
    assert!(
        transitions[4].iter().sum::<u64>() > 0,
        "never back from FINE: {transitions:?}"
    );
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn recipes_with_arrays_are_answered_precisely(trace in traces(Config { arrays: true, ..Config::classic() })) {
        same_spots(Compress::with_min_len(FastTrack::default(), 0), &trace)?;
        same_spots(Compress::<Vc>::default(), &trace)?;
    }

    #[test]
    fn recipes_of_the_whole_vocabulary_are_answered_precisely(trace in traces(Config::all())) {
        same_spots(Compress::with_min_len(FastTrack::default(), 0), &trace)?;
        same_spots(Compress::with_min_len(Djit::default(), 0), &trace)?;
    }
}

/// A sweep of `sites.len()` statements that take turns.
fn by(kind: AccessKind, sites: &[u32], first: u64, count: u64, form: Form) -> Act {
    Act::Sweep(Sweep {
        array: 0,
        first,
        count,
        stride: 1,
        kind,
        sites: sites.to_vec(),
        form,
    })
}

/// What `compress ▷ fasttrack` and `fasttrack` find and count.
fn both(known: Option<u64>, acts: &[(u32, Act)]) -> [(Vec<Race>, Stats); 2] {
    let trace = Trace {
        events: events(known, acts),
        tables: Tables::default(),
    };
    [
        analyse(&mut Driver::new(Compress::<FastTrack>::default()), &trace),
        analyse(&mut Driver::new(FastTrack::default()), &trace),
    ]
}

fn checks(stats: &Stats) -> u64 {
    stats.race_checks + stats.same_epoch_reads + stats.same_epoch_writes
}

#[test]
fn swept_arrays_cost_less_than_one_in_ten_thousand_checks_and_states() {
    let n = 150_000;
    let third = n / u64::from(THREADS);
    // Each thread's part, by the way that its loop is written.
    let part = |t: u32, style: usize| -> Vec<(u32, Act)> {
        let first = u64::from(t) * third;
        match style {
            0 => vec![(t, by(Write, &[1], first, third, Form::Up))],
            1 => vec![(t, by(Write, &[1], first, third, Form::Range))],
            2 => vec![(t, by(Write, &[1, 2, 3, 4], first, third, Form::Up))],
            3 => vec![
                (t, by(Read, &[1], first, third, Form::Up)),
                (t, by(Write, &[2], first, third, Form::Up)),
            ],
            // A stencil that reads one element beyond both ends of what it writes.
            _ => vec![
                (t, by(Read, &[1], first, third - 2, Form::Up)),
                (t, by(Read, &[2], first + 1, third - 2, Form::Up)),
                (t, by(Read, &[3], first + 2, third - 2, Form::Up)),
                (t, by(Write, &[4], first + 1, third - 2, Form::Up)),
            ],
        }
    };
    for style in 0..5 {
        for known in [Some(n), None] {
            let mut acts = Vec::new();
            for _ in 0..3 {
                (0..THREADS).for_each(|t| acts.extend(part(t, style)));
                acts.push((0, Act::Barrier));
            }
            let [(races, compressed), (_, plain)] = both(known, &acts);
            assert!(races.is_empty());
            let what = format!("style {style}, length {known:?}: {compressed:?}");
            assert!(checks(&compressed) * 10_000 < checks(&plain), "{what}");
            assert!(compressed.shadow_states * 10_000 < plain.shadow_states, "{what}");
            assert!(
                compressed.shadow_states_peak * 10_000 < plain.shadow_states,
                "{what}"
            );
        }
    }
}

#[test]
fn an_array_that_is_swept_again_after_random_accesses_is_compressed_again() {
    let n = 5_000;
    let mut acts = vec![(0, Act::Scatter(0, n, 60_000)), (0, Act::Barrier)];
    for _ in 0..40 {
        acts.push((1, by(Write, &[1], 0, n, Form::Up)));
        acts.push((0, Act::Barrier));
    }
    let [(races, compressed), (_, plain)] = both(Some(n), &acts);
    assert!(races.is_empty());
    assert!(compressed.shadow_states < 10, "{compressed:?}");
    assert!(
        compressed.shadow_states_peak > n / 2,
        "it was FINE: {compressed:?}"
    );
    let swept = |stats: &Stats| checks(stats) - 60_000;
    assert!(swept(&compressed) * 2 < swept(&plain), "{compressed:?} {plain:?}");
}

#[test]
fn a_pattern_that_comes_and_goes_is_not_followed_back_and_forth() {
    let n = 1_000;
    let mut acts = Vec::new();
    for _ in 0..200 {
        acts.push((0, by(Write, &[1], 0, n, Form::Range)));
        acts.push((0, Act::Barrier));
        // Five elements that no mode but FINE holds together.
        let stride = 7;
        let Act::Sweep(odd) = by(Write, &[2], 3, 5, Form::Up) else {
            unreachable!()
        };
        acts.push((1, Act::Sweep(Sweep { stride, ..odd })));
        acts.push((0, Act::Barrier));
    }
    let [(races, compressed), _] = both(Some(n), &acts);
    assert!(races.is_empty());
    assert!(compressed.mode_changes < 20, "{compressed:?}");
}

#[test]
fn sparse_elements_of_an_array_of_unknown_length_cost_little() {
    let acts: Vec<(u32, Act)> = (0..500u64)
        .flat_map(|i| {
            [
                (0, by(Write, &[1], (i * i) << 24, 1, Form::Up)),
                (0, Act::Lock(0)),
            ]
        })
        .collect();
    let [(races, compressed), (_, plain)] = both(None, &acts);
    assert!(races.is_empty());
    assert!(
        compressed.bytes < 2 * plain.bytes,
        "{} {}",
        compressed.bytes,
        plain.bytes
    );
}

#[test]
fn indices_at_the_end_of_the_number_range_are_checked() {
    let last = |t| (t, by(Write, &[1], u64::MAX, 1, Form::Up));
    let [(races, _), _] = both(None, &[last(0), last(1)]);
    assert_eq!(
        races.iter().flat_map(spots).collect::<Vec<_>>(),
        [Spot::Element(ArrayId(0), u64::MAX)]
    );
}

#[test]
fn a_race_on_a_class_names_all_its_elements_with_their_statements() {
    // Thread 0's loop has two statements, thread 1's one that sweeps the upper half.
    let acts = [
        (0, by(Write, &[10, 11], 0, 100, Form::Up)),
        (0, Act::Lock(0)),
        (1, by(Write, &[20], 50, 50, Form::Up)),
        (1, Act::Lock(1)),
    ];
    let [(races, stats), _] = both(Some(100), &acts);
    assert_eq!(checks(&stats), 2);
    let found: BTreeSet<_> = races
        .iter()
        .flat_map(|race| {
            let first = race.first.as_ref().map(|side| side.site.0);
            spots(race)
                .into_iter()
                .map(move |spot| (spot, first, race.second.site.0))
        })
        .collect();
    let expected: BTreeSet<_> = (50..100)
        .map(|i| (Spot::Element(ArrayId(0), i), Some(10 + (i % 2) as u32), 20))
        .collect();
    assert_eq!(found, expected);
    assert!(races.len() <= 4, "as ranges: {races:?}");
}
