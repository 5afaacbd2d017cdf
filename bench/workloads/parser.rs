//! A parser of bytes: lines `NAME VALUE UNIT;` in one buffer that all threads borrow from, each parses a range of lines into its
//! part of the records. Checked by parsing with the standard library's means.
// suite: rust
// size: 7000000 quick: 20000 sweep: 900000 1800000 3500000 7000000
#![allow(unexpected_cfgs)]

#[path = "include/workload.rs"]
mod workload;

use std::io::Write;
use std::process::ExitCode;
use workload::{arguments, scramble, team, verdict, Numbers};

#[derive(Clone, Copy, Default, PartialEq)]
struct Record<'text> {
    name: &'text [u8],
    value: i64,
    unit: u8,
}

/// What is left of the text.
struct Parser<'text>(&'text [u8]);

impl<'text> Parser<'text> {
    fn until(&mut self, end: u8) -> Option<&'text [u8]> {
        let length = self.0.iter().position(|&byte| byte == end)?;
        let part = &self.0[..length];
        self.0 = &self.0[length + 1..];
        Some(part)
    }

    fn number(&mut self) -> Option<i64> {
        let digits = self.until(b' ')?;
        let (negative, digits) = match digits {
            [b'-', rest @ ..] => (true, rest),
            _ => (false, digits),
        };
        let mut value = 0_i64;
        for &digit in digits {
            value = value
                .checked_mul(10)?
                .checked_add(i64::from(digit.checked_sub(b'0').filter(|&digit| digit < 10)?))?;
        }
        Some(if negative { -value } else { value })
    }

    fn record(&mut self) -> Option<Record<'text>> {
        let name = self.until(b' ')?;
        let value = self.number()?;
        let unit = *self.until(b';')?.first()?;
        self.until(b'\n')?;
        Some(Record { name, value, unit })
    }
}

/// The records, to be written in parts that are said not to overlap.
struct Output<'text>(*mut Record<'text>);

// SAFETY: threads write to different records, but with the race, and nobody reads before they have ended.
unsafe impl Sync for Output<'_> {}

impl<'text> Output<'text> {
    /// SAFETY: `place` must be in the vector, and no other thread may use it.
    unsafe fn put(&self, place: usize, record: Record<'text>) {
        unsafe { *self.0.add(place) = record }; //~ RACE record
    }
}

fn text(lines: usize) -> Vec<u8> {
    let mut numbers = Numbers(1);
    let mut text = Vec::new();
    for _ in 0..lines {
        let bits = numbers.next();
        let unit = ['m', 's', 'g', 'K'][bits as usize >> 5 & 3];
        writeln!(
            text,
            "sensor{} {} {unit};",
            bits % 1000,
            (bits >> 40) as i64 - (1 << 23)
        )
        .expect("a vector takes all");
    }
    text
}

fn plain(line: &str) -> Option<(&[u8], i64, u8)> {
    let mut words = line.strip_suffix(';')?.split(' ');
    Some((
        words.next()?.as_bytes(),
        words.next()?.parse().ok()?,
        *words.next()?.as_bytes().first()?,
    ))
}

fn main() -> ExitCode {
    let arguments = arguments(7_000_000, 2, 1 << 32);
    let (threads, lines) = (arguments.threads, arguments.size);
    let text = text(lines);
    let starts: Vec<usize> = std::iter::once(0)
        .chain(
            text.iter()
                .enumerate()
                .filter(|&(_, &byte)| byte == b'\n')
                .map(|(place, _)| place + 1),
        )
        .collect();
    let mut records = vec![Record::default(); lines];
    let output = Output(records.as_mut_ptr());
    let failures = team(threads, |me| {
        let (first, last) = (lines * me / threads, lines * (me + 1) / threads);
        // With the race, the line at the end of a range is taken for the last of the range.
        let last = if cfg!(race) { (last + 1).min(lines) } else { last };
        let mut parser = Parser(&text[starts[first]..starts[last]]);
        let mut failures = 0;
        for line in first..last {
            match parser.record() {
                // SAFETY: the ranges do not overlap, but with the race, and end at `lines`.
                Some(record) => unsafe { output.put(line, record) },
                None => failures += 1,
            }
        }
        failures
    });
    let plain_text = std::str::from_utf8(&text).expect("letters and digits only");
    let right = failures.iter().sum::<usize>() == 0
        && plain_text.lines().count() == lines
        && plain_text
            .lines()
            .zip(&records)
            .all(|(line, record)| plain(line) == Some((record.name, record.value, record.unit)));
    let checksum = records.iter().fold(0, |sum, record| {
        scramble(sum ^ record.value as u64 ^ u64::from(record.unit))
    });
    verdict(right, checksum)
}
