//! `docs/trace-format.md` is true: its worked example is the file that the writer makes, and its text examples parse.

use deadheat_trace::dht::{Reader, WriterSink};
use deadheat_trace::{Sink, parse, read_all, text};
use std::io::Cursor;

const DOCUMENT: &str = include_str!("../../../docs/trace-format.md");

/// The fenced blocks with this tag.
fn blocks(tag: &str) -> Vec<String> {
    let fence = format!("```{tag}\n");
    DOCUMENT
        .split(&fence)
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

/// The bytes of a dump whose lines are hexadecimal bytes and a comment behind two blanks.
fn bytes(dump: &str) -> Vec<u8> {
    let line = |line: &str| line.split("  ").next().unwrap().to_owned();
    let hex: Vec<_> = dump.lines().map(line).collect();
    hex.join(" ")
        .split_whitespace()
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}

#[test]
fn the_worked_example_is_what_the_writer_makes() {
    let (events, _) = parse(blocks("trace").last().unwrap()).unwrap();
    let tables = Default::default();
    let mut sink = WriterSink::new(Vec::new()).unwrap();
    sink.write(&events, &tables).unwrap();
    sink.finish(&tables).unwrap();
    let made = sink.into_inner();
    let documented = bytes(&blocks("hex")[0]);
    assert_eq!(documented, made, "the writer makes:\n{made:02x?}");
    let (read, _) = read_all(&mut Reader::new(Cursor::new(documented)).unwrap()).unwrap();
    assert_eq!(read, events);
}

#[test]
fn the_text_examples_parse_and_print_as_they_stand() {
    let examples = blocks("trace");
    assert!(examples.len() >= 2);
    for example in examples {
        let (events, tables) = parse(&example).unwrap_or_else(|error| panic!("{error}\n{example}"));
        let printed = text::print(&events, &tables);
        let (again, _) = parse(&printed).unwrap();
        assert_eq!(again.len(), events.len());
    }
}
