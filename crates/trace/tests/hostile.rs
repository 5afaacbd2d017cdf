//! The smoke test that stands in for the fuzzers of `fuzz/`, which need nightly: a deterministic mutator over good files
//! of every format. Whatever comes out, readers answer with events or an error.

use deadheat_event::{Addr, AtomicOp, Event, MAX_ACCESS, Object, Op, Order, SiteId, Tables, ThreadId};
use deadheat_trace::dht::{Reader, WriterSink};
use deadheat_trace::generate::{Config, Generator, Shares};
use deadheat_trace::{Sink, Source, rapid, read_all, roadrunner, text, validate};
use std::io::Cursor;

/// Numbers that never change from run to run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// Flips, overwrites, removes, repeats and moves pieces of a file.
fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    const INTERESTING: [u8; 10] = [0, 1, 0x7f, 0x80, 0xff, b'\n', b'|', b'(', b';', b'"'];
    for _ in 0..1 + rng.below(4) {
        if bytes.is_empty() {
            return;
        }
        let (at, len) = (rng.below(bytes.len()), 1 + rng.below(8));
        let end = (at + len).min(bytes.len());
        match rng.below(6) {
            0 => bytes[at] ^= 1 << rng.below(8),
            1 => bytes[at..end].fill(INTERESTING[rng.below(INTERESTING.len())]),
            2 => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 => {
                let piece = bytes[at..end].to_vec();
                let to = rng.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            _ => bytes[at] = rng.below(256) as u8,
        }
    }
}

/// Reads thousands of damaged versions of a file.
fn torture(good: &[u8], mut read: impl FnMut(&[u8]) -> bool) {
    let mut rng = Rng(0x5eed);
    assert!(read(good), "the file is good before it is damaged");
    let mut refused = 0;
    for _ in 0..4000 {
        let mut bytes = good.to_vec();
        mutate(&mut bytes, &mut rng);
        refused += usize::from(!read(&bytes));
    }
    assert!(
        refused > 0,
        "nothing was ever refused: the damage does not reach the reader"
    );
}

fn events_of(source: &mut dyn Source) -> bool {
    validate(source).is_ok()
}

fn trace(shares: Shares, subword: u32) -> (Vec<Event>, Tables) {
    read_all(&mut Generator::new(&Config {
        events: 400,
        shares,
        subword,
        variables: 40,
        ..Config::default()
    }))
    .unwrap()
}

#[test]
fn damaged_dht_files() {
    let (events, tables) = trace(Shares::default(), 50);
    let mut sink = WriterSink::new(Vec::new()).unwrap();
    sink.set_block_size(300);
    sink.write(&events, &tables).unwrap();
    sink.finish(&tables).unwrap();
    torture(&sink.into_inner(), |bytes| {
        Reader::new(Cursor::new(bytes)).is_ok_and(|mut reader| events_of(&mut reader))
    });
}

#[test]
fn damaged_text_files() {
    let (events, tables) = trace(Shares::default(), 50);
    let good = text::print(&events, &tables);
    torture(good.as_bytes(), |bytes| events_of(&mut text::read(bytes, None)));
}

#[test]
fn damaged_std_files() {
    let only = Shares {
        rwlocks: 0,
        atomics: 0,
        fences: 0,
        messages: 0,
        barriers: 0,
        heap: 0,
        calls: 0,
        ..Shares::default()
    };
    let (events, tables) = trace(only, 0);
    let mut printer = rapid::Printer::new(Vec::new());
    printer.write(&events, &tables).unwrap();
    torture(&printer.into_inner(), |bytes| {
        events_of(&mut rapid::read(bytes, None))
    });
}

#[test]
fn damaged_roadrunner_output() {
    let good = b"@ Start(0,1)\n@ Start(0,1)\n@   Acquire(1,@02)\n@ ARd(1,@04[3])  S  D.java:52:1\n@ Wr(1,@05.x_I)[3 -> 4]  S  \
                 D.java:5:1\n@ VRd(1,@05.v_I)  V\n@ Wait(1,@02)\n@ Wait(1,@02)\n@ Release(1,@02)\n@ Join(0,1)\n@ Join(0,1)\n";
    torture(good, |bytes| events_of(&mut roadrunner::read(bytes, None)));
}

/// A small file must not make a reader take much memory: sizes are refused before anything is allocated for them.
#[test]
fn huge_claims_are_refused() {
    let mut sink = WriterSink::new(Vec::new()).unwrap();
    sink.finish(&Default::default()).unwrap();
    let mut bytes = sink.into_inner();
    bytes.truncate(16);
    bytes.extend_from_slice(b"DHB\x01\x01\x01\0\0");
    bytes.extend_from_slice(&[0xff; 16]);
    bytes.extend_from_slice(&[0; 20]);
    let mut reader = Reader::new(Cursor::new(&bytes)).unwrap();
    assert!(!reader.next_block(&mut Vec::new()).unwrap());
    let truncation = reader.truncation().unwrap();
    assert_eq!((truncation.offset, truncation.events), (16, 0));
    assert!(
        truncation
            .reason
            .contains("more than the 8388608 that are allowed"),
        "{truncation}"
    );
}

#[test]
fn a_line_without_end_is_refused() {
    let endless = std::io::repeat(b'x');
    let error = text::read(endless, None)
        .next_block(&mut Vec::new())
        .unwrap_err()
        .to_string();
    assert!(error.contains("longer than"), "{error}");
    let error = rapid::read(std::io::repeat(b'x'), None)
        .next_block(&mut Vec::new())
        .unwrap_err()
        .to_string();
    assert!(error.contains("longer than"), "{error}");
}

/// The writer takes what it is given; no reader hands it on.
#[test]
fn a_dht_file_with_an_event_that_spans_too_much_is_refused_behind_the_good_events() {
    let (addr, size) = (Addr(16), MAX_ACCESS as u32 + 1);
    let event = |op| Event {
        thread: ThreadId(1),
        site: SiteId(0),
        op,
    };
    for op in [
        Op::Read {
            addr,
            size,
            value: None,
        },
        Op::Write {
            addr,
            size,
            value: Some(1),
        },
        Op::Atomic {
            addr,
            size,
            op: AtomicOp::Load,
            order: Order::Acquire,
            value: None,
        },
        Op::Alloc { addr, size },
        Op::Free { addr, size },
    ] {
        let mut sink = WriterSink::new(Vec::new()).unwrap();
        sink.set_block_size(1);
        let tables = Tables::default();
        sink.write(&[event(Op::Begin), event(op)], &tables).unwrap();
        sink.finish(&tables).unwrap();
        let mut reader = Reader::new(Cursor::new(sink.into_inner())).unwrap();
        let mut block = Vec::new();
        assert!(reader.next_block(&mut block).unwrap());
        assert_eq!(block, [event(Op::Begin)]);
        let error = reader.next_block(&mut block).unwrap_err().to_string();
        assert!(
            error.contains("spans more bytes") && error.contains("byte"),
            "{error}"
        );
        assert!(block.is_empty() && !reader.next_block(&mut block).unwrap());
    }
}

#[test]
fn a_dht_file_with_an_object_that_spans_too_much_is_refused() {
    let object = |size| Object { addr: Addr(16), size };
    let file = |size| {
        let mut sink = WriterSink::new(Vec::new()).unwrap();
        let tables = Tables {
            object_sets: vec![Box::default(), Box::new([object(size)])],
            ..Tables::default()
        };
        sink.finish(&tables).unwrap();
        Reader::new(Cursor::new(sink.into_inner())).map(drop)
    };
    assert!(file(MAX_ACCESS as u32).is_ok());
    let error = file(MAX_ACCESS as u32 + 1).unwrap_err().to_string();
    assert!(error.contains("ObjectSets"), "{error}");
}

/// Events in front of a wrong line come first, whatever the size of the chunk they were read in.
#[test]
fn lines_in_front_of_a_wrong_one_are_read() {
    let check = |source: &mut dyn Source, good: usize, wrong_line: &str| {
        let (mut block, mut events) = (Vec::new(), 0);
        let error = loop {
            match source.next_block(&mut block) {
                Ok(true) => {
                    assert_eq!(source.locate(block.len() - 1).to_string(), format!("line {good}"));
                    events += block.len();
                }
                Ok(false) => panic!("the wrong line was not seen"),
                Err(error) => break error.to_string(),
            }
        };
        assert_eq!(events, good);
        assert!(error.contains(wrong_line), "{error}");
        assert!(block.is_empty() && !source.next_block(&mut block).unwrap());
    };
    let text = "T1 w x\nT2 w x\nT1 wobble\nT1 w x\n";
    check(&mut text::read(text.as_bytes(), None), 2, "line 3");
    let std = "T1|w(x)|1\nT2|w(x)|2\nT1|w(x)\nT1|w(x)|3\n";
    check(&mut rapid::read(std.as_bytes(), None), 2, "line 3");
    let rr = "@ Wr(1,@05.x_I)  S  D.java:5:1\n@ Wr(2,@05.x_I)  S  D.java:5:1\n@ Flip(1,@05)\n";
    check(&mut roadrunner::read(rr.as_bytes(), None), 2, "line 3");
}
