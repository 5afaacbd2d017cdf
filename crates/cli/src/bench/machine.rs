//! Where a measurement is made.

use super::results::Machine;
use std::time::{SystemTime, UNIX_EPOCH};

/// This machine, as far as the kernel tells.
pub fn this() -> Machine {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    Machine {
        cpu: field(&read("/proc/cpuinfo"), "model name").unwrap_or_default(),
        cores: std::thread::available_parallelism().map_or(0, |cores| cores.get() as u64),
        memory: field(&read("/proc/meminfo"), "MemTotal")
            .and_then(|text| text.strip_suffix(" kB")?.trim().parse::<u64>().ok())
            .unwrap_or_default()
            << 10,
        kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
    }
}

fn field(text: &str, name: &str) -> Option<String> {
    let (_, value) = text
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(found, _)| found.trim() == name)?;
    Some(value.trim().to_owned())
}

/// Now, as `2026-01-31 23:59` in UTC.
pub fn date() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    written(since.map_or(0, |since| since.as_secs()))
}

fn written(seconds: u64) -> String {
    let (year, month, day) = civil(seconds / 86_400);
    let (hour, minute) = (seconds / 3600 % 24, seconds / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
}

/// Year, month and day of a day since 1970 in the Gregorian calendar.
fn civil(days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let (mut year, mut left) = (1970, days);
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    (year, month, left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_as_date_prints_them() {
        for (seconds, expect) in [
            (0, "1970-01-01 00:00"),
            (951_782_399, "2000-02-28 23:59"),
            (951_868_800, "2000-03-01 00:00"),
            (1_735_689_540, "2024-12-31 23:59"),
            (4_107_542_400, "2100-03-01 00:00"),
        ] {
            assert_eq!(written(seconds), expect);
        }
    }

    #[test]
    fn this_machine_is_known() {
        let machine = this();
        assert!(machine.cores > 0 && machine.memory > 1 << 20, "{machine:?}");
        assert!(!machine.kernel.is_empty());
    }

    #[test]
    fn fields_are_found_by_name() {
        let text = "processor\t: 0\nmodel name\t: A B\nMemTotal:   123 kB\n";
        assert_eq!(field(text, "model name").as_deref(), Some("A B"));
        assert_eq!(field(text, "MemTotal").as_deref(), Some("123 kB"));
        assert_eq!(field(text, "flags"), None);
    }
}
