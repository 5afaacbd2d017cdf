//! `.dht` files: round trips, many writers, and every kind of damage.

use deadheat_event::{Addr, Code, Event, NameId, Op, SiteId, Tables, ThreadId};
use deadheat_trace::dht::{Numbering, Reader, Recovery, Writer, WriterSink};
use deadheat_trace::recipe::{Choice, Config, Trace, cook, traces};
use deadheat_trace::{Error, Sink, Source};
use proptest::prelude::*;
use std::io::Cursor;

fn write(trace: &Trace, block_size: usize) -> Vec<u8> {
    let mut sink = WriterSink::new(Vec::new()).unwrap();
    sink.set_block_size(block_size);
    for chunk in trace.events.chunks(7) {
        sink.write(chunk, &trace.tables).unwrap();
    }
    sink.finish(&trace.tables).unwrap();
    sink.into_inner()
}

/// All events up to the end or the first error.
fn drain(reader: &mut impl Source) -> (Vec<Event>, Option<Error>) {
    let (mut all, mut block) = (Vec::new(), Vec::new());
    loop {
        match reader.next_block(&mut block) {
            Ok(true) => all.extend_from_slice(&block),
            Ok(false) => return (all, None),
            Err(error) => return (all, Some(error)),
        }
    }
}

fn read(bytes: &[u8]) -> (Vec<Event>, Tables) {
    let mut reader = Reader::new(Cursor::new(bytes)).unwrap();
    let (events, error) = drain(&mut reader);
    assert!(
        error.is_none() && reader.truncation().is_none(),
        "{error:?} {:?}",
        reader.truncation()
    );
    (events, reader.tables().clone())
}

/// A trace with everything in it, long enough for many blocks.
fn sample(length: usize) -> Trace {
    let mut state = 1_u32;
    let mut byte = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let choices: Vec<_> = (0..length)
        .map(|_| Choice {
            thread: byte(),
            action: byte(),
            object: byte(),
            detail: byte(),
        })
        .collect();
    cook(&Config::all(), 2, &choices)
}

fn access(thread: u32, addr: u64) -> Event {
    let op = Op::Write {
        addr: Addr(addr),
        size: 8,
        value: None,
    };
    Event {
        thread: ThreadId(thread),
        site: SiteId(0),
        op,
    }
}

fn written_addr(event: &Event) -> u64 {
    match event.op {
        Op::Write { addr, .. } => addr.0,
        op => panic!("{op:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn events_and_tables_come_back(trace in traces(Config::all()), block_size in 1..400_usize) {
        let (events, tables) = read(&write(&trace, block_size));
        prop_assert_eq!(events, trace.events);
        prop_assert_eq!(tables, trace.tables);
    }

    #[test]
    fn seeking_gives_the_rest(trace in traces(Config::all()), block_size in 1..400_usize, at: prop::sample::Index) {
        let bytes = write(&trace, block_size);
        let mut reader = Reader::new(Cursor::new(&bytes)).unwrap();
        let at = at.index(trace.events.len() + 1);
        for _ in 0..2 {
            reader.seek(at as u64);
            let (events, error) = drain(&mut reader);
            prop_assert!(error.is_none());
            prop_assert_eq!(&events, &trace.events[at..]);
        }
    }

    /// Several bytes at once, anywhere in the file: what is read is a prefix of what was written.
    #[test]
    fn damage_never_changes_what_is_read(
        trace in traces(Config::all()),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), 1..=255_u8), 1..5),
    ) {
        let mut bytes = write(&trace, 100);
        for (at, flip) in damage {
            let at = at.index(bytes.len());
            bytes[at] ^= flip;
        }
        check_damaged(&bytes, &trace.events);
    }

    #[test]
    fn noise_behind_a_good_header_is_an_error_or_empty(noise in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut bytes = write(&Trace { events: Vec::new(), tables: Tables::default() }, 100);
        bytes.truncate(16);
        bytes.extend(noise);
        check_damaged(&bytes, &[]);
    }
}

/// Whatever is read from a damaged file is a prefix of the original.
fn check_damaged(bytes: &[u8], events: &[Event]) {
    if let Ok(mut reader) = Reader::new(Cursor::new(bytes)) {
        let (read, _) = drain(&mut reader);
        assert!(
            events.starts_with(&read),
            "{} events read of {}",
            read.len(),
            events.len()
        );
        if let Some(truncation) = reader.truncation() {
            assert_eq!(truncation.events, read.len() as u64);
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_gives_a_prefix_and_says_so() {
    let trace = sample(300);
    let bytes = write(&trace, 200);
    let mut most = 0;
    for cut in 0..bytes.len() {
        check_damaged(&bytes[..cut], &trace.events);
        if let Ok(mut reader) = Reader::new(Cursor::new(&bytes[..cut])) {
            let (events, error) = drain(&mut reader);
            assert!(error.is_none(), "cut at {cut}: {error:?}");
            assert!(reader.truncation().is_some(), "cut at {cut}");
            assert!(
                events.len() >= most,
                "cut at {cut}: fewer events than from a shorter file"
            );
            most = events.len();
        } else {
            assert!(cut < 16, "cut at {cut}: refused");
        }
    }
    assert_eq!(most, trace.events.len(), "only the index is missing");
}

#[test]
fn a_bit_flipped_anywhere_is_noticed() {
    let trace = sample(120);
    let bytes = write(&trace, 200);
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            check_damaged(&damaged, &trace.events);
            if let Ok(mut reader) = Reader::new(Cursor::new(&damaged)) {
                let (read, error) = drain(&mut reader);
                let noticed = error.is_some() || reader.truncation().is_some();
                // The flags of the file header only matter for truncated files.
                assert!(
                    noticed || ((12..16).contains(&at) && read == trace.events),
                    "byte {at}, bit {bit}"
                );
            }
        }
    }
}

#[test]
fn threads_that_write_at_once_are_merged_in_the_order_of_their_numbers() {
    const EVENTS: u64 = 50_000;
    for (threads, flush_every) in [(1, u64::MAX), (4, u64::MAX), (4, 37), (9, 5)] {
        let writer = Writer::new(Vec::new(), Numbering::Dense).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let writer = &writer;
                scope.spawn(move || {
                    let mut mine = writer.thread().unwrap();
                    for n in 0..EVENTS / threads {
                        let number = writer.next_number();
                        mine.push_at(number, &access(thread as u32, number)).unwrap();
                        if n % flush_every == flush_every - 1 {
                            mine.flush().unwrap();
                        }
                    }
                });
            }
        });
        writer.finish().unwrap();
        let bytes = writer.with_output(std::mem::take);
        let (events, _) = read(&bytes);
        let numbers: Vec<_> = events.iter().map(written_addr).collect();
        assert_eq!(
            numbers,
            Vec::from_iter(0..EVENTS / threads * threads),
            "{threads} threads"
        );
    }
}

#[test]
fn after_a_crash_nothing_behind_a_lost_event_is_read() {
    let writer = Writer::new(Vec::new(), Numbering::Dense).unwrap();
    let (mut a, mut b) = (writer.thread().unwrap(), writer.thread().unwrap());
    for number in 0..100 {
        let mine = if number % 3 == 0 { &mut b } else { &mut a };
        mine.push(&access(number % 3, u64::from(number))).unwrap();
        if number == 49 {
            b.flush().unwrap();
        }
    }
    a.flush().unwrap();
    let bytes = writer.with_output(|bytes| bytes.clone());

    let mut reader = Reader::new(Cursor::new(&bytes)).unwrap();
    let (events, error) = drain(&mut reader);
    assert!(error.is_none());
    assert_eq!(
        events.iter().map(written_addr).collect::<Vec<_>>(),
        Vec::from_iter(0..51)
    );
    let truncation = reader.truncation().unwrap();
    assert_eq!((truncation.events, truncation.offset), (51, bytes.len() as u64));
    assert!(
        truncation.to_string().contains("recovered 51 events"),
        "{truncation}"
    );

    let mut all = Reader::with_recovery(Cursor::new(&bytes), Recovery::All).unwrap();
    assert_eq!(drain(&mut all).0.len(), 17 + 66);
}

#[test]
fn names_that_are_interned_while_threads_write_are_in_the_file() {
    let writer = Writer::new(Vec::new(), Numbering::Dense).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_u32 {
            let writer = &writer;
            scope.spawn(move || {
                let mut mine = writer.thread().unwrap();
                for n in 0..200 {
                    let site = writer.intern(|interner| {
                        let file = interner.name(&format!("f{n}"));
                        interner.site(deadheat_event::Site {
                            file,
                            line: thread,
                            ..Default::default()
                        })
                    });
                    mine.push(&Event {
                        site,
                        ..access(thread, n)
                    })
                    .unwrap();
                    mine.flush().unwrap();
                }
            });
        }
    });
    writer.finish().unwrap();
    let (events, tables) = read(&writer.with_output(std::mem::take));
    assert_eq!(events.len(), 800);
    for event in events {
        let site = tables.site(event.site);
        assert_eq!(
            (site.line, tables.name(site.file)),
            (event.thread.0, &*format!("f{}", written_addr(&event)))
        );
    }
}

#[test]
fn how_the_program_was_run_and_where_its_places_are_is_kept() {
    let mut trace = sample(20);
    let tables = &mut trace.tables;
    tables.strings.push("/lib/a.so".to_owned());
    let name = NameId(tables.strings.len() as u32 - 1);
    tables.command.extend([(0, NameId(0)), (1, name)]);
    tables.modules.insert(3, name);
    for (module, offset) in [(0, 0x1234), (3, 0), (3, (1 << 48) - 1), (0xffff, 7)] {
        let code = Code::new(module, offset).expect("within bounds");
        assert_eq!((code.module(), code.offset()), (module, offset));
        tables.code.insert(code, SiteId(0));
    }
    assert_eq!((Code::new(1 << 16, 0), Code::new(0, 1 << 48)), (None, None));
    let (events, tables) = read(&write(&trace, 1 << 16));
    assert_eq!((events, tables), (trace.events, trace.tables));
}

#[test]
fn more_threads_than_a_block_can_name_are_split_over_blocks() {
    let events: Vec<_> = (0..3000_u32)
        .map(|n| access(n * 7 % 1000, u64::from(n)))
        .collect();
    let trace = Trace {
        events,
        tables: Tables::default(),
    };
    assert_eq!(read(&write(&trace, 1 << 20)).0, trace.events);
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let check = |bytes: &[u8], expect: &str| {
        let error = Reader::new(Cursor::new(bytes))
            .err()
            .map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some(expect));
    };
    check(
        b"hello",
        "byte 5: this is no .dht trace: it is too short for a header",
    );
    check(
        b"hello, this is some text",
        "byte 0: this is no .dht trace: it does not start like one",
    );
    let mut later = write(&sample(10), 100);
    later[8] = 9;
    check(
        &later,
        "byte 8: this trace has version 9 of the format; this deadheat reads version 2",
    );
}

#[test]
fn a_typical_access_takes_a_few_bytes() {
    let events: Vec<_> = (0..100_000_u64)
        .map(|n| {
            let op = Op::Read {
                addr: Addr(0x7f00_0000_0000 + n * 8 % 4096),
                size: 8,
                value: None,
            };
            Event {
                thread: ThreadId(0),
                site: SiteId((n % 11) as u32),
                op,
            }
        })
        .collect();
    let bytes = write(
        &Trace {
            events,
            tables: Tables::default(),
        },
        1 << 20,
    );
    assert!(bytes.len() < 100_000, "{} bytes for 100000 accesses", bytes.len());
}
