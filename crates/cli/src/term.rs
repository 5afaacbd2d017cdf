//! What goes to stderr, and whether in colour.

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use std::io::{IsTerminal, Write};

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless the environment variable NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// The user's terminal.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    color: bool,
}

impl Term {
    /// Decides about colour on stderr.
    pub fn new(color: Color) -> Term {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Term {
            color: match color {
                Color::Auto => std::io::stderr().is_terminal() && !no_color,
                Color::Always => true,
                Color::Never => false,
            },
        }
    }

    /// Whether stderr gets colour.
    pub fn color(self) -> bool {
        self.color
    }

    /// For the word `error`.
    pub fn error(self) -> Style {
        self.style(AnsiColor::Red)
    }

    /// For the word `warning`.
    pub fn warning(self) -> Style {
        self.style(AnsiColor::Yellow)
    }

    /// For good news.
    pub fn good(self) -> Style {
        self.style(AnsiColor::Green)
    }

    fn style(self, color: AnsiColor) -> Style {
        if self.color {
            color.on_default().bold()
        } else {
            Style::new()
        }
    }

    /// Prints a warning.
    pub fn warn(self, message: &str) {
        let style = self.warning();
        say(&format!("deadheat: {style}warning{style:#}: {message}"));
    }
}

/// Prints a line on stderr. Unlike `eprintln!` it does not panic when nobody listens.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
