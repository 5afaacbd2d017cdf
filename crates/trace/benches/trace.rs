//! How fast traces are read, written and made: `cargo bench -p deadheat-trace`.
//!
//! Figures are events (or bytes of text) a second on one core, zstd included, with files in memory.

use deadheat_event::{Event, Tables};
use deadheat_trace::dht::{Numbering, Reader, Writer, WriterSink};
use deadheat_trace::generate::{ArrayAccess, Config, Generator, Pattern, Shares};
use deadheat_trace::{Sink, Source, copy, rapid, read_all, text, validate};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use std::io::Cursor;
use std::sync::LazyLock;

const EVENTS: u64 = 2_000_000;

fn main() {
    divan::main();
}

fn config(pattern: Pattern) -> Config {
    let array_access = ArrayAccess::Elements;
    Config {
        events: EVENTS,
        pattern,
        array_access,
        ..Config::default()
    }
}

fn generated(config: &Config) -> (Vec<Event>, Tables) {
    read_all(&mut Generator::new(config)).expect("generators do not fail")
}

static MIXED: LazyLock<(Vec<Event>, Tables)> = LazyLock::new(|| generated(&config(Pattern::Mixed)));

fn dht(events: &[Event], tables: &Tables) -> Vec<u8> {
    let mut sink = WriterSink::new(Vec::new()).expect("memory takes everything");
    sink.write(events, tables).expect("memory takes everything");
    sink.finish(tables).expect("memory takes everything");
    sink.into_inner()
}

fn drain(source: &mut dyn Source) -> u64 {
    let (mut count, mut block) = (0, Vec::new());
    while source.next_block(&mut block).expect("the trace is good") {
        count += block.len() as u64;
    }
    assert_eq!(count, EVENTS);
    count
}

#[divan::bench(args = Pattern::ALL)]
fn dht_decode(bencher: Bencher<'_, '_>, pattern: Pattern) {
    let (events, tables) = generated(&config(pattern));
    let bytes = dht(&events, &tables);
    eprintln!(
        "{pattern}: {:.2} bytes for an event",
        bytes.len() as f64 / EVENTS as f64
    );
    bencher
        .counter(ItemsCount::new(EVENTS))
        .bench(|| drain(&mut Reader::new(Cursor::new(&bytes)).expect("the trace is good")));
}

/// Blocks of eight threads that overlap throughout, as an instrumented program writes them.
#[divan::bench]
fn dht_decode_merged(bencher: Bencher<'_, '_>) {
    let (events, _) = &*MIXED;
    let writer = Writer::new(Vec::new(), Numbering::Dense).expect("memory takes everything");
    let mut threads: Vec<_> = (0..8)
        .map(|_| writer.thread().expect("memory takes everything"))
        .collect();
    for event in events {
        let at = event.thread.index() % threads.len();
        threads[at].push(event).expect("memory takes everything");
    }
    drop(threads);
    writer.finish().expect("memory takes everything");
    let bytes = writer.with_output(std::mem::take);
    bencher
        .counter(ItemsCount::new(EVENTS))
        .bench(|| drain(&mut Reader::new(Cursor::new(&bytes)).expect("the trace is good")));
}

#[divan::bench]
fn dht_encode(bencher: Bencher<'_, '_>) {
    let (events, tables) = &*MIXED;
    bencher
        .counter(ItemsCount::new(EVENTS))
        .bench(|| dht(events, tables).len());
}

/// What STD can say: accesses, locks, forks.
fn std_text() -> String {
    let shares = Shares {
        rwlocks: 0,
        atomics: 0,
        fences: 0,
        messages: 0,
        barriers: 0,
        heap: 0,
        calls: 0,
        ..Shares::default()
    };
    let (events, tables) = generated(&Config {
        shares,
        subword: 0,
        ..config(Pattern::Mixed)
    });
    let mut printer = rapid::Printer::new(Vec::new());
    printer.write(&events, &tables).expect("STD can say it");
    String::from_utf8(printer.into_inner()).expect("STD is text")
}

#[divan::bench]
fn std_import(bencher: Bencher<'_, '_>) {
    let text = std_text();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| drain(&mut rapid::read(text.as_bytes(), None)));
}

#[divan::bench]
fn std_export(bencher: Bencher<'_, '_>) {
    let text = std_text();
    bencher.counter(BytesCount::of_str(&text)).bench(|| {
        let mut source = rapid::read(text.as_bytes(), None);
        copy(&mut source, &mut rapid::Printer::new(std::io::sink())).expect("STD can say it")
    });
}

#[divan::bench]
fn text_import(bencher: Bencher<'_, '_>) {
    let text = text::print(&MIXED.0, &MIXED.1);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| drain(&mut text::read(text.as_bytes(), None)));
}

#[divan::bench]
fn generate_mixed(bencher: Bencher<'_, '_>) {
    bencher
        .counter(ItemsCount::new(EVENTS))
        .bench(|| drain(&mut Generator::new(&config(Pattern::Mixed))));
}

#[divan::bench]
fn validate_mixed(bencher: Bencher<'_, '_>) {
    let bytes = dht(&MIXED.0, &MIXED.1);
    bencher.counter(ItemsCount::new(EVENTS)).bench(|| {
        validate(&mut Reader::new(Cursor::new(&bytes)).expect("the trace is good")).expect("it is read")
    });
}
