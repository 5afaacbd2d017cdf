//! Traces that no program could have made: whatever the events, no analysis panics, overflows or names a thread or a
//! site that the trace does not have.

mod common;

use common::analyse;
use deadheat_detect::MAX_WEIGHT;
use deadheat_detect::select::{self, Choice, DetectorName, FilterName};
use deadheat_event::{
    Addr, ArrayId, AtomicOp, Event, Indices, Mode, NameId, Object, ObjectSetId, Op, Order, SiteId, SyncId,
    Tables, ThreadId,
};
use deadheat_trace::recipe::Trace;
use proptest::prelude::*;

/// Few distinct ids, so that events meet, and the ends of the number range.
fn id32() -> impl Strategy<Value = u32> {
    prop_oneof![6 => 0u32..4, 1 => Just(u32::MAX), 1 => Just(u32::MAX - 1), 1 => any::<u32>()]
}

fn id64() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0u64..4, 1 => u64::MAX - 1..=u64::MAX, 1 => any::<u64>()]
}

fn addr() -> impl Strategy<Value = Addr> {
    prop_oneof![4 => 0u64..40, 3 => u64::MAX - 40..=u64::MAX, 2 => 500u64..530, 1 => any::<u64>()]
        .prop_map(Addr)
}

/// Large ones only up to a few pages: what an access costs grows with its size.
fn size() -> impl Strategy<Value = u32> {
    prop_oneof![
        1 => Just(0u32), 6 => prop::sample::select(vec![1u32, 2, 4, 8]), 3 => 1u32..70, 1 => 1u32..4000
    ]
}

fn indices() -> impl Strategy<Value = Indices> {
    let first = prop_oneof![4 => 0u64..20, 3 => u64::MAX - 20..=u64::MAX, 1 => any::<u64>()];
    let stride = prop_oneof![4 => 1u32..4, 1 => Just(u32::MAX), 1 => 1u32..=u32::MAX];
    (first, 0u64..20, stride).prop_map(|(first, steps, stride)| {
        let last = first.saturating_add(steps.saturating_mul(u64::from(stride)));
        Indices::new(first, last, stride).expect("short and not empty")
    })
}

fn order() -> impl Strategy<Value = Order> {
    prop::sample::select(vec![
        Order::Relaxed,
        Order::Acquire,
        Order::Release,
        Order::AcqRel,
        Order::SeqCst,
        Order::Volatile,
    ])
}

fn mode() -> impl Strategy<Value = Mode> {
    prop::sample::select(vec![Mode::Exclusive, Mode::Shared])
}

fn accesses() -> impl Strategy<Value = Op> {
    let value = any::<Option<u64>>;
    let atomic = prop::sample::select(vec![AtomicOp::Load, AtomicOp::Store, AtomicOp::Rmw]);
    prop_oneof![
        (addr(), size(), value()).prop_map(|(addr, size, value)| Op::Read { addr, size, value }),
        (addr(), size(), value()).prop_map(|(addr, size, value)| Op::Write { addr, size, value }),
        (id32(), indices()).prop_map(|(array, indices)| Op::ArrayRead {
            array: ArrayId(array),
            indices
        }),
        (id32(), indices()).prop_map(|(array, indices)| Op::ArrayWrite {
            array: ArrayId(array),
            indices
        }),
        (addr(), size(), atomic, order(), value()).prop_map(|(addr, size, op, order, value)| Op::Atomic {
            addr,
            size,
            op,
            order,
            value
        }),
    ]
}

/// Locks, barriers and channels share their ids here: one object may be used as all of them.
fn synchronisation() -> impl Strategy<Value = Op> {
    prop_oneof![
        (id64(), mode()).prop_map(|(lock, mode)| Op::Acquire {
            lock: SyncId(lock),
            mode
        }),
        id64().prop_map(|lock| Op::Release { lock: SyncId(lock) }),
        order().prop_map(|order| Op::Fence { order }),
        id32().prop_map(|child| Op::Fork {
            child: ThreadId(child)
        }),
        id32().prop_map(|child| Op::Join {
            child: ThreadId(child)
        }),
        Just(Op::Begin),
        Just(Op::End),
        id64().prop_map(|barrier| Op::BarrierEnter {
            barrier: SyncId(barrier)
        }),
        id64().prop_map(|barrier| Op::BarrierLeave {
            barrier: SyncId(barrier)
        }),
        id64().prop_map(|channel| Op::Send {
            channel: SyncId(channel)
        }),
        id64().prop_map(|channel| Op::Receive {
            channel: SyncId(channel)
        }),
    ]
}

fn memory() -> impl Strategy<Value = Op> {
    let len = prop_oneof![3 => 0u64..30, 1 => Just(u64::MAX), 1 => any::<u64>()];
    prop_oneof![
        (addr(), size()).prop_map(|(addr, size)| Op::Alloc { addr, size }),
        (addr(), size()).prop_map(|(addr, size)| Op::Free { addr, size }),
        (id32(), len).prop_map(|(array, len)| Op::NewArray {
            array: ArrayId(array),
            len
        }),
        (id32(), id32()).prop_map(|(function, objects)| Op::CallBegin {
            function: NameId(function),
            objects: ObjectSetId(objects),
        }),
        Just(Op::CallEnd),
    ]
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let op = prop_oneof![5 => accesses(), 4 => synchronisation(), 1 => memory()];
    let event = (id32(), id32(), op).prop_map(|(thread, site, op)| Event {
        thread: ThreadId(thread),
        site: SiteId(site),
        op,
    });
    prop::collection::vec(event, 1..80)
}

/// Sets that overlap, repeat themselves and reach beyond the end of memory.
fn tables() -> impl Strategy<Value = Tables> {
    let size = prop_oneof![4 => size(), 1 => Just(u32::MAX)];
    let object = (addr(), size).prop_map(|(addr, size)| Object { addr, size });
    let set = prop::collection::vec(object, 0..3).prop_map(Vec::into_boxed_slice);
    prop::collection::vec(set, 0..4).prop_map(|object_sets| Tables {
        object_sets,
        ..Tables::default()
    })
}

fn choices() -> Vec<Choice> {
    let mut choices = Vec::new();
    for &detector in DetectorName::ALL {
        for &filter in FilterName::ALL {
            for compress in [false, true] {
                for disable_after_race in [false, true] {
                    choices.push(Choice {
                        detector,
                        filter,
                        compress,
                        disable_after_race,
                    });
                }
            }
        }
    }
    choices.retain(|choice| select::analysis(choice).is_ok());
    choices
}

proptest! {
    #![proptest_config(common::cases(400))]

    #[test]
    fn no_analysis_panics_on_events_that_make_no_sense(events in events(), tables in tables()) {
        let trace = Trace { events, tables };
        for choice in choices() {
            let (races, stats) = analyse(&mut *select::analysis(&choice).expect("was possible before"), &trace);
            prop_assert_eq!(stats.events, trace.events.len() as u64, "{}", choice);
            for race in races {
                for side in race.first.iter().chain([&race.second]) {
                    prop_assert!(
                        trace.events.iter().any(|e| (e.thread, e.site) == (side.thread, side.site)),
                        "{}: {:?}", choice, race
                    );
                }
            }
        }
    }
}

#[test]
fn heavy_events_are_taken_one_by_one_and_light_ones_together() {
    let write = |size: u64| {
        let (addr, size) = (Addr(0), size as u32);
        let value = None;
        Op::Write { addr, size, value }
    };
    let range = |len: u64| Op::ArrayRead {
        array: ArrayId(0),
        indices: Indices::new(0, len - 1, 1).expect("a range"),
    };
    let check = |ops: &[Op], expect: &[usize]| {
        let event = |op: &Op| Event {
            thread: ThreadId(0),
            site: SiteId(0),
            op: *op,
        };
        let events: Vec<Event> = ops.iter().map(event).collect();
        let choice = Choice {
            detector: DetectorName::Empty,
            ..Choice::default()
        };
        let mut analysis = select::analysis(&choice).unwrap();
        let (mut rest, mut taken) = (events.as_slice(), Vec::new());
        while !rest.is_empty() {
            let count = analysis.advance(rest, &Tables::default(), &mut |_| {});
            rest = &rest[count..];
            taken.push(count);
            assert_eq!(analysis.stats().events, (events.len() - rest.len()) as u64);
        }
        assert_eq!(taken, expect);
    };
    check(&[write(8); 10], &[10]);
    check(&[write(MAX_WEIGHT); 3], &[1, 1, 1]);
    check(&[write(MAX_WEIGHT / 2); 5], &[2, 2, 1]);
    // The states of small writes to bytes that were written before are there: they add nothing.
    check(
        &[write(8), write(MAX_WEIGHT), write(8), write(8), range(1 << 22)],
        &[1, 3, 1],
    );
}
