//! The progress bar: only on a terminal, and only for what takes longer than the eye.

use deadheat_trace::Position;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// Shows how far a trace has been read.
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// A bar for a trace, invisible if `quiet` or if stderr is no terminal.
    pub fn new(quiet: bool) -> Progress {
        let visible = !quiet && std::io::stderr().is_terminal();
        Progress {
            bar: visible.then(|| {
                let bar = ProgressBar::no_length();
                // Ten times a second is enough for people and costs nothing beside a block of events.
                bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
                bar
            }),
        }
    }

    /// `events` events are done, and the reader has come to `position`.
    pub fn update(&self, position: Position, events: u64) {
        let Some(bar) = &self.bar else { return };
        if bar.length() != position.total
            && let Some(total) = position.total
        {
            bar.set_length(total);
            bar.set_style(
                ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}  {eta} left")
                    .unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
        }
        bar.set_position(position.done);
        let seconds = bar.elapsed().as_secs_f64().max(1e-3);
        bar.set_message(format!(
            "{:.1} M events, {:.1} M/s",
            events as f64 / 1e6,
            events as f64 / 1e6 / seconds
        ));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
