//! STD, the format of the RAPID tools: import, export, errors, round trips.

use deadheat_event::{Event, Op, SiteId, Tables, ThreadId};
use deadheat_trace::recipe::{Config, traces};
use deadheat_trace::{Sink, Source, dht, parse, rapid, read_all};
use proptest::prelude::*;
use std::io::Cursor;

fn import(text: &[u8]) -> Result<(Vec<Event>, Tables), String> {
    read_all(&mut rapid::read(text, None)).map_err(|error| error.to_string())
}

fn export(events: &[Event], tables: &Tables) -> Result<String, String> {
    let mut printer = rapid::Printer::new(Vec::new());
    printer.write(events, tables).map_err(|error| error.to_string())?;
    Ok(String::from_utf8(printer.into_inner()).unwrap())
}

fn check_error(text: &str, expect: &str) {
    assert_eq!(
        import(text.as_bytes()).unwrap_err(),
        format!("{expect} (STD trace)"),
        "{text:?}"
    );
}

const SAMPLE: &str = "T0|begin|0\nT0|fork(T1)|1\nmain|w(V234.23[0])|-2147483648\nT1|r(f(x)(y))|2147483647\n\
                      T1|acq(L[3])|-1\nT1|rel(L[3])|12\nT70000|end(T70000)|5\nT0|join(T1)|6\nT1|begin(x)|0\n";

#[test]
fn every_operation_is_read() {
    let (events, tables) = import(SAMPLE.as_bytes()).unwrap();
    let same = |a: usize, b: usize| assert_eq!(events[a].thread, events[b].thread);
    assert_eq!(events.len(), 9);
    assert_eq!((events[0].thread, events[0].op), (ThreadId(0), Op::Begin));
    assert_eq!(events[1].op, Op::Fork { child: ThreadId(1) });
    let Op::Write {
        addr,
        size: 8,
        value: None,
    } = events[2].op
    else {
        panic!("{:?}", events[2])
    };
    assert_eq!(tables.name(tables.variables[&addr]), "V234.23[0]");
    assert_eq!(tables.site(events[2].site).line as i32, i32::MIN);
    let Op::Read { addr, .. } = events[3].op else {
        panic!("{:?}", events[3])
    };
    assert_eq!(tables.name(tables.variables[&addr]), "f(x)(y)");
    let Op::Acquire { lock, .. } = events[4].op else {
        panic!("{:?}", events[4])
    };
    assert_eq!(events[5].op, Op::Release { lock });
    assert_eq!(tables.name(tables.syncs[&lock]), "L[3]");
    assert_eq!(tables.site(events[4].site).line as i32, -1);
    assert_eq!((events[6].op, events[0].site), (Op::End, SiteId(0)));
    assert_eq!(events[7].op, Op::Join { child: ThreadId(1) });
    same(3, 4);
    assert_eq!(tables.name(tables.threads[&events[6].thread]), "T70000");
}

#[test]
fn a_trace_goes_through_dht_and_comes_out_byte_for_byte() {
    let (events, tables) = import(SAMPLE.as_bytes()).unwrap();
    let mut sink = dht::WriterSink::new(Vec::new()).unwrap();
    sink.write(&events, &tables).unwrap();
    sink.finish(&tables).unwrap();
    let mut reader = dht::Reader::new(Cursor::new(sink.into_inner())).unwrap();
    let (events, tables) = read_all(&mut reader).unwrap();
    assert_eq!(export(&events, &tables).unwrap(), SAMPLE);
}

#[test]
fn carriage_returns_are_fine_and_the_last_line_end_may_be_missing() {
    let with_cr = SAMPLE.replace('\n', "\r\n");
    let (events, tables) = import(with_cr.trim_end().as_bytes()).unwrap();
    assert_eq!(export(&events, &tables).unwrap(), SAMPLE);
}

#[test]
fn lines_that_do_not_fit_are_errors_with_their_number() {
    let outline = "expected `thread|operation|location` with exactly two bars, but";
    check_error(
        "T0|r(x)|1\n\nT0|r(x)|1\n",
        &format!("line 2: {outline} this line is empty"),
    );
    check_error("T0|r(x)\n", &format!("line 1: {outline} there are 1 bars"));
    check_error("T0|r(x)|1|\n", &format!("line 1: {outline} there are 3 bars"));
    check_error("|r(x)|1\n", &format!("line 1: {outline} the thread is missing"));
    check_error(
        "T 0|r(x)|1\n",
        &format!("line 1: {outline} there is a blank in the thread"),
    );
    check_error(
        "T0|r(x y)|1\n",
        &format!("line 1: {outline} there is a blank in the operation"),
    );
    check_error(
        "T0|r(x)|\n",
        &format!("line 1: {outline} `` is not a signed 32-bit location number"),
    );
    check_error(
        "T0|r(x)|2147483648\n",
        &format!("line 1: {outline} `2147483648` is not a signed 32-bit location number"),
    );
    check_error(
        "T0|r(x)|1 \n",
        &format!("line 1: {outline} `1 ` is not a signed 32-bit location number"),
    );
    let ops = "expected r(…), w(…), acq(…), rel(…), fork(…), join(…), begin or end, but found";
    check_error("T0|w(x)|1\nT0|read(x)|1\n", &format!("line 2: {ops} `read(x)`"));
    check_error("T0|r()|1\n", &format!("line 1: {ops} `r()`"));
    check_error("T0|r(x|1\n", &format!("line 1: {ops} `r(x`"));
    check_error("T0|acq|1\n", &format!("line 1: {ops} `acq`"));
}

#[test]
fn an_error_far_into_a_large_file_has_the_right_line() {
    let mut text = "T0|w(x)|1\n".repeat(100_000);
    text += "T0|w(x)\n";
    assert!(import(text.as_bytes()).unwrap_err().starts_with("line 100001: "));
    let mut reader = rapid::read(text.as_bytes(), None);
    let mut block = Vec::new();
    let mut events = 0;
    while let Ok(true) = reader.next_block(&mut block) {
        assert_eq!(reader.locate(3).to_string(), format!("line {}", events + 4));
        events += block.len();
    }
    assert!(events > 50_000, "the chunks before it are read");
    assert!(!reader.next_block(&mut block).unwrap(), "an error is the end");
}

#[test]
fn what_std_cannot_say_is_an_error_with_a_way_out() {
    let check = |text: &str, expect: &str| {
        let (events, tables) = parse(text).unwrap();
        let error = export(&events, &tables).unwrap_err();
        assert_eq!(
            error,
            format!("event {expect}; write .dht or .txt, which can say everything"),
            "{text}"
        );
    };
    check(
        "T1 r x; T1 load x acq",
        "1 cannot be written as STD: `T1 load x acq`: STD has no atomics and fences",
    );
    check(
        "T1 acqr L",
        "0 cannot be written as STD: `T1 acqr L`: STD has no read locks",
    );
    check(
        "T1 w a[0..3]",
        "0 cannot be written as STD: `T1 w a[0..3]`: STD has no array ranges",
    );
    check(
        "T1 alloc x",
        "0 cannot be written as STD: `T1 alloc x`: STD has no allocations",
    );
    check(
        "T1 call f",
        "0 cannot be written as STD: `T1 call f`: STD has no calls into untraced code",
    );
    check(
        "T1 enter B",
        "0 cannot be written as STD: `T1 enter B`: STD has no barriers",
    );
    check(
        "T1 send C",
        "0 cannot be written as STD: `T1 send C`: STD has no messages",
    );
    check(
        "T1 w 0x1000; T2 w 0x1004:4",
        "1 cannot be written as STD: `T2 w 0x1004:4`: it overlaps 8 bytes at 0x1000 but is not the same, and STD has no \
         parts",
    );
}

#[test]
fn array_elements_become_variables() {
    let (events, tables) = parse("T1 w a[3]; T1 r A7[0]").unwrap();
    assert_eq!(export(&events, &tables).unwrap(), "T1|w(a[3])|0\nT1|r(A7[0])|0\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// What was exported once is in STD's terms; from then on nothing changes.
    #[test]
    fn import_and_export_are_inverse(trace in traces(Config { begin_end: true, ..Config::classic() })) {
        let first = export(&trace.events, &trace.tables).unwrap();
        let (events, tables) = import(first.as_bytes()).unwrap();
        prop_assert_eq!(events.len(), trace.events.len());
        for (a, b) in events.iter().zip(&trace.events) {
            prop_assert_eq!(a.thread, b.thread);
            prop_assert_eq!(std::mem::discriminant(&a.op), std::mem::discriminant(&b.op));
        }
        prop_assert_eq!(export(&events, &tables).unwrap(), first);
    }

    #[test]
    fn any_bytes_are_read_or_rejected_without_a_panic(text in proptest::collection::vec(
        prop_oneof![any::<u8>(), proptest::sample::select(b"T0|r(w)acq\n\r-1 ".to_vec())], 0..80)) {
        let _ = import(&text);
    }
}
