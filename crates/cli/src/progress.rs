//! The progress bar: only on a terminal, and only for what takes longer than the eye.

use deadheat_trace::Position;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// What is over before is not worth a bar that flashes up.
const PATIENCE: Duration = Duration::from_millis(300);

/// Often enough for people, and costs nothing beside the events.
const INTERVAL: Duration = Duration::from_millis(100);

/// Shows how far a trace has been read.
pub struct Progress {
    visible: bool,
    started: Instant,
    /// When to draw next.
    due: Duration,
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar for a trace, invisible if `quiet` or if stderr is no terminal.
    pub fn new(quiet: bool) -> Progress {
        Progress {
            visible: !quiet && std::io::stderr().is_terminal(),
            started: Instant::now(),
            due: PATIENCE,
            bar: None,
        }
    }

    /// `events` events are done, and the reader has come to `position`.
    pub fn update(&mut self, position: Position, events: u64) {
        if !self.visible {
            return;
        }
        let elapsed = self.started.elapsed();
        if elapsed < self.due {
            return;
        }
        self.due = elapsed + INTERVAL;
        let bar = self.bar.get_or_insert_with(|| bar(position));
        bar.set_position(position.done);
        bar.set_message(message(position, events, elapsed));
    }
}

fn bar(position: Position) -> ProgressBar {
    let template = match position.total {
        Some(_) => "{bar:30} {percent:>3}%  {msg}",
        None => "{msg}",
    };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    // Hidden until it is complete: every change would be drawn.
    let bar = ProgressBar::with_draw_target(position.total, ProgressDrawTarget::hidden());
    bar.set_style(style);
    bar.set_position(position.done);
    // How often is up to `update`. The bar's own limit would drop the second of two changes that belong together.
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(u8::MAX));
    bar
}

fn message(position: Position, events: u64, elapsed: Duration) -> String {
    let (millions, seconds) = (events as f64 / 1e6, elapsed.as_secs_f64());
    let mut text = format!("{millions:.1} M events, {:.1} M/s", millions / seconds);
    if let Some(total) = position.total
        && position.done > 0
    {
        let left = total.saturating_sub(position.done) as f64 / position.done as f64 * seconds;
        text += &format!(", {} left", rounded(left));
    }
    text
}

/// A time as exactly as it can be known ahead.
fn rounded(seconds: f64) -> String {
    let seconds = seconds.ceil() as u64;
    match seconds {
        0..=99 => format!("{seconds} s"),
        100..=5999 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h", seconds.div_ceil(3600)),
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_has_speed_and_time_left() {
        let shown = |done, total, events, seconds| {
            message(Position { done, total }, events, Duration::from_secs(seconds))
        };
        for (text, expect) in [
            (
                shown(50, Some(100), 3_000_000, 2),
                "3.0 M events, 1.5 M/s, 2 s left",
            ),
            (
                shown(1, Some(301), 1_000_000, 1),
                "1.0 M events, 1.0 M/s, 5 min left",
            ),
            (
                shown(1, Some(7202), 100_000, 1),
                "0.1 M events, 0.1 M/s, 3 h left",
            ),
            (
                shown(100, Some(100), 1_000_000, 1),
                "1.0 M events, 1.0 M/s, 0 s left",
            ),
            (shown(0, Some(100), 0, 1), "0.0 M events, 0.0 M/s"),
            (shown(9, None, 2_000_000, 4), "2.0 M events, 0.5 M/s"),
        ] {
            assert_eq!(text, expect);
        }
    }
}
