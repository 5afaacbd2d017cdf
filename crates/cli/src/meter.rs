//! `--stats`: what was counted and how long it took, as a table on stderr.

use std::time::{Duration, Instant};

/// Measures a command from its start.
pub struct Meter {
    started: Instant,
}

impl Meter {
    /// Starts the clock.
    pub fn start() -> Meter {
        Meter {
            started: Instant::now(),
        }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

/// Rows of a table: names left, values right.
#[derive(Default)]
pub struct Table {
    rows: Vec<(String, String)>,
}

impl Table {
    /// Adds a count, unless it is zero.
    pub fn count(&mut self, name: &str, value: u64) {
        if value != 0 {
            self.text(&name.replace('_', " "), &thousands(value));
        }
    }

    /// Adds a row.
    pub fn text(&mut self, name: &str, value: &str) {
        self.rows.push((name.to_owned(), value.to_owned()));
    }

    /// Adds how long `events` events took.
    pub fn time(&mut self, elapsed: Duration, events: u64) {
        let seconds = elapsed.as_secs_f64();
        self.text("seconds", &format!("{seconds:.3}"));
        if seconds > 0.0 {
            self.text("events per second", &thousands((events as f64 / seconds) as u64));
        }
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let left = self
            .rows
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0);
        let right = self
            .rows
            .iter()
            .map(|(_, value)| value.chars().count())
            .max()
            .unwrap_or(0);
        for (name, value) in &self.rows {
            writeln!(f, "  {name:left$}  {value:>right$}")?;
        }
        Ok(())
    }
}

/// `1234567` as `1,234,567`.
pub fn thousands(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        for (value, expect) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(thousands(value), expect);
        }
    }
}
