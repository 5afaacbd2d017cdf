//! The text format: what it says, what it rejects, and that printing and reading are inverse.

use deadheat_event::{
    Addr, ArrayId, AtomicOp, Event, Indices, Mode, Object, Op, Order, Site, SyncId, Tables, ThreadId,
};
use deadheat_trace::recipe::{Config, traces};
use deadheat_trace::{Interner, parse, text};
use proptest::prelude::*;

fn ops(text: &str) -> Vec<Op> {
    parse(text).unwrap().0.into_iter().map(|event| event.op).collect()
}

fn check_op(text: &str, op: Op) {
    assert_eq!(ops(&format!("T1 {text}")), [op], "{text}");
}

fn check_error(text: &str, expect: &str) {
    let error = parse(text).unwrap_err().to_string();
    assert_eq!(error, format!("{expect} (text trace)"), "{text}");
}

#[test]
fn every_kind_of_event_can_be_written() {
    let (addr, size) = (Addr(0x1000), 8);
    check_op(
        "r 0x1000",
        Op::Read {
            addr,
            size,
            value: None,
        },
    );
    check_op(
        "w 0x1000:4+2 =7",
        Op::Write {
            addr: Addr(0x1002),
            size: 4,
            value: Some(7),
        },
    );
    check_op(
        "r A3[5]",
        Op::ArrayRead {
            array: ArrayId(3),
            indices: Indices::one(5),
        },
    );
    check_op(
        "w A3[1..9:4]",
        Op::ArrayWrite {
            array: ArrayId(3),
            indices: Indices::new(1, 9, 4).unwrap(),
        },
    );
    check_op(
        "acq S7",
        Op::Acquire {
            lock: SyncId(7),
            mode: Mode::Exclusive,
        },
    );
    check_op(
        "acqr S7",
        Op::Acquire {
            lock: SyncId(7),
            mode: Mode::Shared,
        },
    );
    check_op("rel S7", Op::Release { lock: SyncId(7) });
    let (op, order) = (AtomicOp::Load, Order::Acquire);
    check_op(
        "load 0x1000 acq = 0x10",
        Op::Atomic {
            addr,
            size,
            op,
            order,
            value: Some(16),
        },
    );
    let (op, order) = (AtomicOp::Store, Order::Release);
    check_op(
        "store 0x1000:4 rel",
        Op::Atomic {
            addr,
            size: 4,
            op,
            order,
            value: None,
        },
    );
    let (op, order) = (AtomicOp::Rmw, Order::Volatile);
    check_op(
        "rmw 0x1000 vol",
        Op::Atomic {
            addr,
            size,
            op,
            order,
            value: None,
        },
    );
    check_op("fence sc", Op::Fence { order: Order::SeqCst });
    check_op("fork T2", Op::Fork { child: ThreadId(2) });
    check_op("join T2", Op::Join { child: ThreadId(2) });
    check_op("begin", Op::Begin);
    check_op("end", Op::End);
    check_op("enter S1", Op::BarrierEnter { barrier: SyncId(1) });
    check_op("leave S1", Op::BarrierLeave { barrier: SyncId(1) });
    check_op("send S1", Op::Send { channel: SyncId(1) });
    check_op("recv S1", Op::Receive { channel: SyncId(1) });
    check_op("alloc 0x1000:64", Op::Alloc { addr, size: 64 });
    check_op("free 0x1000:64", Op::Free { addr, size: 64 });
    check_op(
        "new A2 100",
        Op::NewArray {
            array: ArrayId(2),
            len: 100,
        },
    );
    check_op("ret", Op::CallEnd);
}

#[test]
fn calls_name_the_objects_that_they_reach() {
    let (events, tables) = parse("T1 call memcpy {0x2000:16, 0x1000} @a.c:3").unwrap();
    let Op::CallBegin { function, objects } = events[0].op else {
        panic!("{events:?}")
    };
    assert_eq!(tables.name(function), "memcpy");
    let expect = [
        Object {
            addr: Addr(0x1000),
            size: 8,
        },
        Object {
            addr: Addr(0x2000),
            size: 16,
        },
    ];
    assert_eq!(tables.objects(objects), expect);
}

#[test]
fn sites_have_optional_parts() {
    let (events, tables) = parse("T1 r x @a.c:12:3(main); T1 r x @:7; T1 r x; T1 r x @\"a b.c\"").unwrap();
    let sites: Vec<_> = events.iter().map(|event| tables.site(event.site)).collect();
    let parts = |site: &Site| (tables.name(site.file).to_owned(), site.line, site.column);
    assert_eq!(parts(&sites[0]), ("a.c".to_owned(), 12, 3));
    assert_eq!(tables.name(sites[0].function), "main");
    assert_eq!(parts(&sites[1]), (String::new(), 7, 0));
    assert_eq!(sites[2], Site::default());
    assert_eq!(parts(&sites[3]), ("a b.c".to_owned(), 0, 0));
}

#[test]
fn names_are_the_same_thing_everywhere_and_different_names_different_things() {
    let (events, tables) = parse("main acq L; T1 w x; main w y; T1 r x:1+7; main rel L").unwrap();
    assert_eq!(events[0].thread, events[2].thread);
    assert_ne!(events[0].thread, ThreadId(1));
    assert_eq!(tables.name(tables.threads[&events[0].thread]), "main");
    let [x, y, tail] = [1, 2, 3].map(|n| match events[n].op {
        Op::Read { addr, .. } | Op::Write { addr, .. } => addr.0,
        op => panic!("{op:?}"),
    });
    assert!(
        x.abs_diff(y) >= 4096,
        "{x:#x} and {y:#x} leave no room for sub-accesses"
    );
    assert_eq!(tail, x + 7);
}

#[test]
fn errors_say_where_and_what_was_expected() {
    check_error(
        "T1 w x\nT1 q x",
        "line 2, column 4: expected an operation (r, w, load, store, rmw, fence, acq, acqr, \
        rel, fork, join, begin, end, enter, leave, send, recv, alloc, free, new, call or ret), but found `q`",
    );
    check_error(
        "T1 fork",
        "line 1, column 8: expected a thread, but the line ends",
    );
    check_error(
        "T1 r x:",
        "line 1, column 8: expected a size in bytes, but the line ends",
    );
    check_error(
        "T1 r x y",
        "line 1, column 8: expected the end of the event (`;`, `#` or a new line), but found `y`",
    );
    check_error(
        "T1 load x foo",
        "line 1, column 11: expected a memory ordering (rlx, acq, rel, acqrel, sc or vol), \
        but found `foo`",
    );
    check_error(
        "T1 r a[5..3]",
        "line 1, column 8: a range needs first <= last, a stride of at least 1 and at most \
        16777216 indices",
    );
    check_error(
        "T1 r 0xffffffffffffffff1",
        "line 1, column 6: an address is too large: it does not fit 64 bits",
    );
    check_error(
        "T1 r x:4+4093",
        "line 1, column 6: offset and size go beyond the 4096 bytes that a named variable \
        has; write a numeric address",
    );
    check_error(
        "T1 r \"x",
        "line 1, column 6: this quoted name has no closing quote",
    );
    check_error(
        "T1 acq L; sync L = 3",
        "line 1, column 16: `L` already has another number; declare it before its \
        first use",
    );
    check_error(
        "T1 call f {x y}",
        "line 1, column 14: expected `,` or `}` in the set of objects, but found `y}`",
    );
}

#[test]
fn what_was_written_by_hand_is_printed_as_it_was() {
    let trace = "main fork T1\nT1 w x @a.c:12\nT1 r x:4+2 =5\nmain acq L\nT1 w a[3]\nT1 r a[0..63:3]\nT1 call f {x, y:16}\n\
                 main rmw flag acqrel @(f)\n";
    let (events, tables) = parse(trace).unwrap();
    assert_eq!(text::print(&events, &tables), trace);
}

#[test]
fn names_that_need_quotes_or_declarations_survive() {
    let mut names = Interner::new();
    let [odd, digit, raw, twice] = ["a b\"\\;\n", "0x12", "T5", "twice"].map(|name| names.name(name));
    let tables = names.tables_mut();
    tables.threads.extend([
        (ThreadId(3), raw),
        (ThreadId(4), odd),
        (ThreadId(5), twice),
        (ThreadId(6), twice),
    ]);
    tables.variables.extend([(Addr(0x10), odd), (Addr(0x18), digit)]);
    tables.syncs.insert(SyncId(9), odd);
    tables.arrays.insert(ArrayId(1), digit);
    let tables = names.into_tables();
    let op = |n: u64| match n % 4 {
        0 => Op::Write {
            addr: Addr(0x10 + 8 * (n % 3)),
            size: 8,
            value: None,
        },
        1 => Op::Send {
            channel: SyncId(8 + n % 2),
        },
        2 => Op::ArrayRead {
            array: ArrayId(1),
            indices: Indices::one(n),
        },
        _ => Op::Fork {
            child: ThreadId(n as u32 % 7),
        },
    };
    let events: Vec<_> = (0..40)
        .map(|n| Event {
            thread: ThreadId(n as u32 % 8),
            site: Default::default(),
            op: op(n),
        })
        .collect();
    let printed = text::print(&events, &tables);
    let (again, read) = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(again, events, "{printed}");
    assert_eq!(read.name(read.threads[&ThreadId(4)]), "a b\"\\;\n");
}

/// Events with what their interned ids stand for, since the reader numbers those anew.
fn resolved(events: &[Event], tables: &Tables) -> Vec<String> {
    let show = |event: &Event| {
        let site = tables.site(event.site);
        let op = match event.op {
            Op::CallBegin { function, objects } => {
                format!("call {:?} {:?}", tables.name(function), tables.objects(objects))
            }
            op => format!("{op:?}"),
        };
        let (file, function) = (tables.name(site.file), tables.name(site.function));
        format!(
            "{:?} {op} {file:?} {function:?} {} {}",
            event.thread, site.line, site.column
        )
    };
    events.iter().map(show).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn printing_and_parsing_give_the_same_events(trace in traces(Config::all())) {
        let printed = text::print(&trace.events, &trace.tables);
        let (events, tables) = parse(&printed).unwrap();
        prop_assert_eq!(resolved(&events, &tables), resolved(&trace.events, &trace.tables));
        prop_assert_eq!(text::print(&events, &tables), printed);
    }

    #[test]
    fn any_text_is_parsed_or_rejected_without_a_panic(text in "([TSA0-9 a-z:+@;#\"={}\\[\\],.]|\\PC){0,60}") {
        let _ = parse(&text);
    }

    #[test]
    fn damaged_traces_are_parsed_or_rejected_without_a_panic(
        trace in traces(Config::all()),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), any::<char>()), 1..4),
    ) {
        let mut chars: Vec<char> = text::print(&trace.events, &trace.tables).chars().collect();
        for (at, c) in cuts {
            if !chars.is_empty() {
                let at = at.index(chars.len());
                chars[at] = c;
            }
        }
        let _ = parse(&chars.into_iter().collect::<String>());
    }
}
