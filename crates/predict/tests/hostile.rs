//! Input that nobody means well with: nothing panics, nothing hangs.

use deadheat_event::{
    Addr, ArrayId, AtomicOp, Event, Indices, Mode, NameId, Object, ObjectSetId, Op, Order, SiteId, SyncId,
    Tables, ThreadId,
};
use deadheat_predict::{Model, Options, Windows, look, predict};
use deadheat_trace::text;
use proptest::prelude::*;
use std::time::Duration;

fn op() -> impl Strategy<Value = Op> {
    let addr = prop_oneof![0_u64..64, Just(u64::MAX), Just(u64::MAX - 7)].prop_map(Addr);
    let size = prop_oneof![Just(0_u32), 1_u32..16, Just(u32::MAX)];
    let id = 0_u64..3;
    let value = proptest::option::of(0_u64..3);
    prop_oneof![
        (addr.clone(), size.clone(), value.clone()).prop_map(|(addr, size, value)| Op::Read {
            addr,
            size,
            value
        }),
        (addr.clone(), size.clone(), value.clone()).prop_map(|(addr, size, value)| Op::Write {
            addr,
            size,
            value
        }),
        (addr.clone(), size.clone(), value).prop_map(|(addr, size, value)| Op::Atomic {
            addr,
            size,
            op: AtomicOp::Rmw,
            order: Order::AcqRel,
            value,
        }),
        (addr.clone(), size.clone()).prop_map(|(addr, size)| Op::Alloc { addr, size }),
        (addr, size).prop_map(|(addr, size)| Op::Free { addr, size }),
        (0_u32..2, 0_u64..9, 1_u32..4, 0_u64..40).prop_map(|(array, first, stride, len)| Op::ArrayWrite {
            array: ArrayId(array),
            indices: Indices::new(first, first + len, stride).unwrap_or(Indices::one(first)),
        }),
        (0_u32..2, any::<u64>()).prop_map(|(array, len)| Op::NewArray {
            array: ArrayId(array),
            len
        }),
        (id.clone(), any::<bool>()).prop_map(|(lock, shared)| Op::Acquire {
            lock: SyncId(lock),
            mode: if shared { Mode::Shared } else { Mode::Exclusive },
        }),
        id.clone().prop_map(|lock| Op::Release { lock: SyncId(lock) }),
        id.clone().prop_map(|barrier| Op::BarrierEnter {
            barrier: SyncId(barrier)
        }),
        id.clone().prop_map(|barrier| Op::BarrierLeave {
            barrier: SyncId(barrier)
        }),
        id.clone().prop_map(|channel| Op::Send {
            channel: SyncId(channel)
        }),
        id.prop_map(|channel| Op::Receive {
            channel: SyncId(channel)
        }),
        (0_u32..5).prop_map(|child| Op::Fork {
            child: ThreadId(child)
        }),
        (0_u32..5).prop_map(|child| Op::Join {
            child: ThreadId(child)
        }),
        (0_u32..5).prop_map(|set| Op::CallBegin {
            function: NameId(9),
            objects: ObjectSetId(set)
        }),
        Just(Op::CallEnd),
        Just(Op::Begin),
        Just(Op::End),
    ]
}

fn tables() -> Tables {
    let object = |addr, size| Object {
        addr: Addr(addr),
        size,
    };
    Tables {
        object_sets: vec![
            Box::default(),
            Box::new([object(0, 8)]),
            Box::new([object(4, 60), object(0, 0)]),
            Box::new([object(u64::MAX, u32::MAX), object(1, 2)]),
        ],
        ..Tables::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    /// Traces are checked before windows are looked at; but looking at one must not depend on that.
    #[test]
    fn any_events_at_all(
        events in proptest::collection::vec((0_u32..5, op()), 0..60),
        window in 2_usize..70,
    ) {
        let events: Vec<Event> = { events.into_iter() }
            .map(|(thread, op)| Event { thread: ThreadId(thread), site: SiteId(0), op })
            .collect();
        for model in Model::ALL {
            let options = Options { model, timeout: Duration::from_secs(5), ..Options::default() };
            let mut windows = Windows::new(window);
            windows.push(&events);
            while let Some(window) = windows.next(true, &tables()) {
                look(&window, &options, &|_| true);
            }
        }
    }
}

#[test]
fn an_ill_formed_trace_is_analysed_up_to_there() {
    let trace = "T1 w x; T2 w x; T1 rel L; T3 w x";
    let mut source = text::read(trace.as_bytes(), None);
    let (predictions, stopped) = predict(&mut source, &Options::default(), &mut |_| {});
    assert_eq!((predictions.races.len(), predictions.events), (1, 2));
    let stopped = stopped.expect("it says so").to_string();
    assert!(
        stopped.contains("event 2") && stopped.contains("validate"),
        "{stopped}"
    );
}

#[test]
fn a_window_of_many_threads_ends_early() {
    let mut trace = String::new();
    for n in 0..3000 {
        trace += &format!("T{n} w x\n");
    }
    let mut source = text::read(trace.as_bytes(), None);
    let (predictions, stopped) = predict(&mut source, &Options::default(), &mut |_| {});
    assert!(stopped.is_none() && predictions.outcome.windows > 3);
    assert_eq!(predictions.races.len(), 1);
}

#[test]
fn memory_in_too_many_pieces_is_said_to_be_left_out() {
    let mut trace = String::from("T1 w a[0]; T2 w a[1]\n");
    for n in 0..4 {
        trace += &format!("T1 w a[{n}..16000000:2]; T2 r a[{n}..16000000:3]\n");
    }
    let mut source = text::read(trace.as_bytes(), None);
    let (predictions, _) = predict(&mut source, &Options::default(), &mut |_| {});
    assert_eq!(predictions.outcome.undecided.tangled, 1);
}
