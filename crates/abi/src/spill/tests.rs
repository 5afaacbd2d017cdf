//! What is written is read, whatever it is, and whatever becomes of it.

extern crate std;

use super::*;
use std::vec::Vec;

fn records() -> Vec<(u64, Record)> {
    let mut random = 7u64;
    let mut next = move || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        random ^ random >> 29
    };
    (0..20_000)
        .map(|_| {
            let width = next() % 65;
            let cut = |number: u64| if width == 0 { 0 } else { number >> (64 - width) };
            let growth = [0, 0, 1, 255, 256, 0xff_ffff, 0x100_0000][(next() % 7) as usize];
            let record = Record {
                kind: 2 + (if next() % 2 == 0 { next() % 2 } else { next() % 60 }) as u8,
                size: (next() % 4) as u8,
                pc: next() % 9000,
                addr: cut(next()),
                value: (next() % 4 != 0).then(|| if next() % 2 == 0 { next() % 2 } else { cut(next()) }),
            };
            (growth, record)
        })
        .collect()
}

#[test]
fn what_is_written_is_read() {
    let all = records();
    let mut out = vec![0; 1 << 20];
    let mut memo = Memo::default();
    let mut at = 0;
    for (growth, record) in &all {
        at = write(&mut memo, &mut out[..], at, *growth, *record);
    }
    let (mut reader, mut from) = (Reader::default(), 0);
    for (growth, record) in &all {
        let (found, grown, next) = reader.read(&out, from).expect("a record");
        assert_eq!((found, grown), (*record, *growth));
        from = next;
    }
    assert_eq!((reader.read(&out, from), from), (None, at));
}

#[test]
fn what_is_cut_off_anywhere_is_read_as_far_as_it_goes() {
    let all = &records()[..50];
    let mut out = vec![0; 1 << 14];
    let mut memo = Memo::default();
    let mut at = 0;
    for (growth, record) in all {
        at = write(&mut memo, &mut out[..], at, *growth, *record);
    }
    for end in 0..at {
        let (mut reader, mut from, mut count) = (Reader::default(), 0, 0);
        while let Some((found, _, next)) = reader.read(&out[..end], from) {
            assert_eq!(found, all[count].1);
            (from, count) = (next, count + 1);
        }
        assert!(from <= end);
    }
}

#[test]
fn a_sweep_takes_few_bytes() {
    let mut out = vec![0; 1 << 16];
    let mut memo = Memo::default();
    let mut at = 0;
    for i in 0..1000 {
        let record = Record {
            kind: Kind::Load as u8,
            size: 2,
            pc: 0x5555_0000,
            addr: 0x7fff_0000_0000 + 4 * i,
            value: Some(i % 256),
        };
        at = write(&mut memo, &mut out[..], at, 0, record);
    }
    assert!(at < 2050, "{at}");
}

/// Loops over arrays with numbers of all sizes, calls of other kinds in between, words side by side.
fn loops(seed: u64) -> Vec<(u64, Record, Vec<u64>)> {
    let mut random = seed.wrapping_mul(2) + 1;
    let mut below = move |end: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % end
    };
    let mut all = Vec::new();
    for _ in 0..40 {
        let places: Vec<(Record, u64, u64)> = (0..1 + below(4))
            .map(|_| {
                let record = Record {
                    kind: 2 + below(2) as u8,
                    size: below(4) as u8,
                    pc: 0x5555_0000 + below(40),
                    addr: 0x7f00_0000_0000 + 8 * below(3000),
                    value: None,
                };
                (record, 8 * below(3), 1 + below(3))
            })
            .collect();
        for turn in 0..below(60) {
            for (place, step, words) in &places {
                let mut record = *place;
                record.addr += turn * step;
                let words = if record.size == 3 { *words } else { 1 };
                let number = |bits: u64| (!0 >> (64 - (8 << record.size))) & (bits.wrapping_mul(bits));
                let values: Vec<u64> = (0..words).map(|_| number(below(5) << below(30))).collect();
                record.value = Some(values[0]);
                let growth = if below(50) == 0 { below(70_000) } else { 0 };
                all.push((growth, record, values));
            }
            if below(20) == 0 {
                let record = Record {
                    kind: Kind::Release as u8,
                    pc: below(3),
                    addr: below(1000),
                    ..Record::default()
                };
                all.push((below(3), record, Vec::new()));
            }
        }
    }
    all
}

/// What is in a log of these, and its bytes.
fn written(all: &[(u64, Record, Vec<u64>)]) -> (Vec<(u64, Record)>, Vec<u8>) {
    let mut out = vec![0xaa; 1 << 20];
    out[0] = 0;
    let (mut memo, mut at, mut expected) = (Memo::default(), 0, Vec::new());
    for (growth, record, values) in all {
        let mut record = *record;
        at = write(&mut memo, &mut out[..], at, *growth, record);
        expected.push((*growth, record));
        for value in values.iter().skip(1) {
            record.addr += 8;
            record.value = Some(*value);
            at = write_behind(&mut memo, &mut out[..], at, record);
            expected.push((0, record));
        }
        assert_eq!(out[at], 0, "a log ends wherever the program does");
    }
    out.truncate(at + 1);
    (expected, out)
}

#[test]
fn loops_are_read_as_they_were_written() {
    for seed in 0..60 {
        let (expected, out) = written(&loops(seed));
        let (mut reader, mut from) = (Reader::default(), 0);
        for (n, (growth, record)) in expected.iter().enumerate() {
            let (found, grown, next) = reader.read(&out, from).expect("a record");
            assert_eq!((found, grown), (*record, *growth), "{seed}: {n}");
            from = next;
        }
        assert_eq!((reader.read(&out, from), from), (None, out.len() - 1));
    }
}

fn is_read_as_written(all: &[(u64, Record, Vec<u64>)]) {
    let (expected, out) = written(all);
    let (mut reader, mut from) = (Reader::default(), 0);
    for (growth, record) in expected {
        let (found, grown, next) = reader.read(&out, from).expect("a record");
        assert_eq!((found, grown), (record, growth));
        from = next;
    }
}

#[test]
fn places_that_follow_each_other_in_one_slot_are_read_as_they_were_written() {
    let place = |pc: u64| Record {
        kind: Kind::Load as u8,
        size: 3,
        pc,
        addr: 0x1000 + 64 * pc,
        value: Some(pc),
    };
    let slot = |pc: u64| slot_of(place(pc).key());
    // Slot 0 is the one that is expected where nothing is known.
    let first = (1..).find(|pc| slot(*pc) == 0).unwrap();
    for pc in 1..50 {
        let other = (pc + 1..).find(|other| slot(*other) == slot(pc)).unwrap();
        let all = [first, pc, other, first, pc, other, first].map(|pc| (0, place(pc), vec![pc]));
        is_read_as_written(&all);
    }
}

#[test]
fn steps_that_a_slot_has_no_room_for_are_read_as_they_were_written() {
    let all: Vec<_> = (0..200u64)
        .map(|i| {
            let record = Record {
                kind: Kind::Store as u8,
                size: 3,
                pc: 0x5555_0000 + i % 2,
                addr: (0x1000_0000_0000 + i / 2 * ((5 << 32) + 24)) >> (i / 100),
                value: Some(i),
            };
            (0, record, vec![i])
        })
        .collect();
    is_read_as_written(&all);
}

#[test]
fn a_damaged_log_is_read_to_some_end() {
    for seed in 0..60 {
        let (_, mut out) = written(&loops(seed));
        let mut random = seed;
        for _ in 0..20 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(99);
            let at = (random >> 33) as usize % out.len();
            out[at] = (random >> 24) as u8;
        }
        let (mut reader, mut from) = (Reader::default(), 0);
        while let Some((record, _, next)) = reader.read(&out, from) {
            assert!(next > from && next <= out.len() && record.size < 4 && record.kind != 0);
            from = next;
        }
    }
}

#[test]
fn an_array_of_rows_takes_a_byte_and_the_value_for_each_access() {
    let place = |pc: u64, addr: u64, value: u64| Record {
        kind: if pc == 3 { Kind::Store } else { Kind::Load } as u8,
        size: 3,
        pc: 0x5555_0000 + pc,
        addr,
        value: Some(value),
    };
    let (mut out, mut memo, mut at) = (vec![0; 1 << 20], Memo::default(), 0);
    let mut value = 1u64 << 63;
    for row in 0..10 {
        for column in 0..500 {
            let addr = 0x7f00_0000_0000 + 8192 * row + 8 * column;
            value |= value.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 1;
            // The last row's, then a new one.
            at = write(&mut memo, &mut out[..], at, 0, place(1, addr - 8192, 7));
            at = write(&mut memo, &mut out[..], at, 0, place(3, addr, value));
        }
    }
    assert!(at < 5000 * (2 + 8 + 1) + 200, "{at}");
}

#[test]
fn a_value_that_was_seen_is_not_written_again() {
    let mut out = vec![0; 1 << 16];
    let mut memo = Memo::default();
    let record = |i: u64| Record {
        kind: Kind::Load as u8,
        size: 3,
        pc: 0x5555_0000,
        addr: 0x7fff_0000_0000 + 8 * (i % 500),
        value: Some(!0 / (i % 500 + 1)),
    };
    let mut at = 0;
    for i in 0..500 {
        at = write(&mut memo, &mut out[..], at, 0, record(i));
    }
    let first = at;
    for i in 500..1000 {
        at = write(&mut memo, &mut out[..], at, 0, record(i));
    }
    assert!(at - first < 2600, "{first}, {at}");
    let (mut reader, mut from) = (Reader::default(), 0);
    for i in 0..1000 {
        let (found, _, next) = reader.read(&out, from).expect("a record");
        assert_eq!(found, record(i));
        from = next;
    }
}

#[test]
fn block_headers_are_known() {
    let header = BlockHeader {
        thread: 3,
        number: 2,
        time: u64::MAX / 3,
    };
    assert_eq!(BlockHeader::from_bytes(&header.to_bytes()), Some(header));
    assert_eq!(BlockHeader::from_bytes(&[0; BLOCK_HEADER]), None);
}
