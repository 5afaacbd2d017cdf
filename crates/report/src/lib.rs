//! From races to what people and tools read.
//!
//! ```text
//! Race ──Collector──▶ Finding ──Suppressions, Baseline──▶ Report ──▶ text, JSON, SARIF, HTML
//! ```
//!
//! A [`Collector`] takes races as they are found and keeps one of each pair of program locations. Its [`Finding`]s are
//! plain data with all names resolved; [`text`], [`json`], [`sarif`] and [`html`] only print them. This crate knows nothing of
//! trace formats, detectors or command lines: whoever finds races, off-line or in a running program, reports them here.
//!
//! What it can miss: two races whose accesses stand at the same pair of program locations are one finding, even if they
//! are on different variables. The finding says how often it was seen.

mod baseline;
mod collect;
mod error;
pub mod html;
pub mod json;
mod judge;
mod model;
mod names;
pub mod native;
pub mod sarif;
mod source;
mod suppress;
mod symbols;
pub mod text;
mod words;

pub use baseline::Baseline;
pub use collect::{Collector, Labels, Schedule};
pub use error::Error;
pub use judge::{Judge, Verdict};
pub use model::{
    Access, Block, Confirmation, Elements, Finding, Frame, Location, Lock, Operation, Report, Role, Step,
    Summary, Thread, What, Witness,
};
pub use source::Sources;
pub use suppress::Suppressions;

/// Quotes a word for a shell where it needs it.
pub fn quote(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell() {
        for (word, expect) in [
            ("a.txt", "a.txt"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("", "''"),
            ("$x", "'$x'"),
        ] {
            assert_eq!(quote(word), expect);
        }
    }
}
