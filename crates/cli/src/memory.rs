//! `--memory-limit`: an analysis that grows beyond it stops with what it has found, instead of taking the machine down.
//!
//! A few lines of a hostile trace can ask for any amount of memory, so events are fed in slices that can only add so
//! much, and after each slice the kernel is asked how much the process has. Where it cannot be asked (no `/proc`),
//! nothing is limited.

use deadheat_detect::{MAX_WEIGHT, weight};
use deadheat_event::Event;
use std::fmt;
use std::fs;

/// The most events in a slice. A small access takes a few kilobytes at worst: its page's states, all apart.
pub const SLICE: usize = 8192;

/// A number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size(u64);

const UNITS: [(char, u32); 4] = [('T', 40), ('G', 30), ('M', 20), ('K', 10)];

impl Size {
    /// Reads `8G`, `512M`, `64K` or a number of bytes; `iB` or `B` may follow.
    pub fn parse(text: &str) -> Result<Size, String> {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let (number, unit) = text.split_at(digits);
        let shift = match unit.strip_suffix("iB").or(unit.strip_suffix('B')).unwrap_or(unit) {
            "" => Some(0),
            unit => UNITS
                .iter()
                .find(|(name, _)| unit.chars().eq([*name]))
                .map(|(_, shift)| *shift),
        };
        let size = number.parse::<u64>().ok().zip(shift);
        match size.and_then(|(number, shift)| number.checked_mul(1 << shift)) {
            Some(bytes) if bytes > 0 => Ok(Size(bytes)),
            _ => Err("expected a number of bytes such as 8G, 512M or 64K".to_owned()),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match UNITS.iter().find(|(_, shift)| self.0 >> shift > 0) {
            Some((name, shift)) => {
                let tenths = (u128::from(self.0) * 10) >> shift;
                match tenths % 10 {
                    0 => write!(f, "{} {name}iB", tenths / 10),
                    tenth => write!(f, "{}.{tenth} {name}iB", tenths / 10),
                }
            }
            None => write!(f, "{} bytes", self.0),
        }
    }
}

/// How much memory the process may have.
pub struct Limit {
    /// In the kernel's pages; `None` without a limit.
    pages: Option<u64>,
    size: Size,
}

impl Limit {
    /// The limit asked for, or three quarters of the machine's memory.
    pub fn new(asked: Option<Size>) -> Limit {
        let size = asked.or_else(|| {
            let total = total_memory(&fs::read_to_string("/proc/meminfo").ok()?)?;
            Some(Size(total / 4 * 3))
        });
        Limit {
            pages: size.map(|size| size.0 / page_size()),
            size: size.unwrap_or(Size(u64::MAX)),
        }
    }

    /// The limit, if the process has more than that.
    pub fn exceeded(&self) -> Option<Size> {
        let limit = self.pages?;
        let statm = fs::read_to_string("/proc/self/statm").ok()?;
        let resident: u64 = statm.split_ascii_whitespace().nth(1)?.parse().ok()?;
        (resident > limit).then_some(self.size)
    }
}

/// The machine's memory according to `/proc/meminfo`.
fn total_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The kernel tells every process its page size in the auxiliary vector.
fn page_size() -> u64 {
    const PAGE_SIZE: usize = 6;
    const WORD: usize = size_of::<usize>();
    let vector = fs::read("/proc/self/auxv").unwrap_or_default();
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, usize::from_ne_bytes);
    vector
        .chunks_exact(2 * WORD)
        .find(|entry| word(&entry[..WORD]) == PAGE_SIZE)
        .map(|entry| word(&entry[WORD..]) as u64)
        .filter(|size| size.is_power_of_two())
        .unwrap_or(4096)
}

/// Cuts events into slices after each of which memory should be looked at.
pub fn slices(mut events: &[Event]) -> impl Iterator<Item = &[Event]> {
    std::iter::from_fn(move || {
        if events.is_empty() {
            return None;
        }
        let mut total: u64 = 0;
        let fits = |event: &&Event| {
            total += weight(event);
            total <= MAX_WEIGHT
        };
        let len = events.iter().take(SLICE).take_while(fits).count().max(1);
        events.split_off(..len)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_event::{Addr, ArrayId, Indices, MAX_ACCESS, MAX_RANGE, Op, SiteId, ThreadId};

    #[test]
    fn sizes_are_read_and_shown_with_units() {
        for (text, expect) in [
            ("1", Some("1 bytes")),
            ("1023", Some("1023 bytes")),
            ("64K", Some("64 KiB")),
            ("1536M", Some("1.5 GiB")),
            ("8G", Some("8 GiB")),
            ("8GB", Some("8 GiB")),
            ("8GiB", Some("8 GiB")),
            ("2T", Some("2 TiB")),
            ("18446744073709551615", Some("16777215.9 TiB")),
            ("16777216T", None),
            ("18446744073709551616", None),
            ("0", None),
            ("", None),
            ("G", None),
            ("8g", None),
            ("-1", None),
            ("8 G", None),
            ("1.5G", None),
        ] {
            let shown = Size::parse(text).ok().map(|size| size.to_string());
            assert_eq!(shown.as_deref(), expect, "{text}");
        }
    }

    #[test]
    fn the_memory_of_the_machine_is_read() {
        let meminfo = "MemTotal:       16316412 kB\nMemFree:         1000 kB\n";
        assert_eq!(total_memory(meminfo), Some(16_316_412 * 1024));
        for other in ["", "MemFree: 1 kB", "MemTotal: x kB", "MemTotal: 12"] {
            assert_eq!(total_memory(other), None, "{other}");
        }
    }

    fn event(op: Op) -> Event {
        Event {
            thread: ThreadId(0),
            site: SiteId(0),
            op,
        }
    }

    fn write(size: u64) -> Event {
        event(Op::Write {
            addr: Addr(0),
            size: size as u32,
            value: None,
        })
    }

    fn range(len: u64) -> Event {
        event(Op::ArrayRead {
            array: ArrayId(0),
            indices: Indices::new(0, len - 1, 1).expect("a range"),
        })
    }

    #[test]
    fn slices_are_light_or_single_and_leave_nothing_out() {
        let check = |events: &[Event], expect: &[usize]| {
            let cut: Vec<&[Event]> = slices(events).collect();
            assert_eq!(cut.concat(), events);
            assert_eq!(cut.iter().map(|slice| slice.len()).collect::<Vec<_>>(), expect);
        };
        check(&[], &[]);
        check(&vec![write(8); 3 * SLICE + 1], &[SLICE, SLICE, SLICE, 1]);
        check(&[write(MAX_ACCESS); 3], &[1, 1, 1]);
        check(&[range(MAX_RANGE); 2], &[1, 1]);
        check(&[write(MAX_WEIGHT / 2); 5], &[2, 2, 1]);
        check(
            &[write(8), write(MAX_ACCESS), write(8), write(8), range(MAX_RANGE)],
            &[1, 1, 2, 1],
        );
        check(&[range(MAX_WEIGHT / weight(&range(1))), write(1)], &[1, 1]);
    }
}
