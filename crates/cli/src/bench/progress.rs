//! What is being done, as a line that changes, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// The line.
pub struct Progress(ProgressBar);

impl Progress {
    /// For so many steps.
    pub fn new(steps: u64) -> Progress {
        let target = if std::io::stderr().is_terminal() {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}  (eta {eta})")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        bar.set_style(style);
        Progress(bar)
    }

    /// What comes next.
    pub fn say(&self, what: &str) {
        self.0.set_message(what.to_owned());
        self.0.tick();
    }

    /// A step is done.
    pub fn step(&self) {
        self.0.inc(1);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
