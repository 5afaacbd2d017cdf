//! `DEADHEAT_OPTIONS`: the names there are, and how the text is taken apart.
//!
//! `name=value` separated by colons, as ThreadSanitizer's. A value with a colon in it stands in single or double quotes.
//! The runtime and the reporter read the same text; each takes the options it knows what to do with, and the runtime
//! refuses names that are not listed here.

/// The environment variable.
pub const VARIABLE: &str = "DEADHEAT_OPTIONS";

/// Every option with what it is for, in the order in which they are listed to the user.
pub const OPTIONS: &[(&str, &str)] = &[
    ("exit_code", "exit status if a race was reported (66)"),
    (
        "halt_on_race",
        "1: end the program at the first race that is reported",
    ),
    ("format", "text, json or sarif"),
    ("output", "write the report to this file"),
    ("color", "auto, always or never"),
    ("suppressions", "file of rules in ThreadSanitizer's syntax"),
    (
        "baseline",
        "earlier JSON report whose findings are not reported again",
    ),
    ("log_dir", "leave a JSON report in a new file of this directory"),
    (
        "external",
        "order or ignore: what calls of code that is not instrumented do",
    ),
    ("external_rules", "file of rules for single functions"),
    ("stats", "1: print counters at the end"),
    (
        "count",
        "1: count every check, which takes long; printed by stats",
    ),
    (
        "detect",
        "0: look for nothing, to see what being instrumented costs",
    ),
    (
        "compress",
        "0: a shadow cell for each eight bytes, even of arrays (1)",
    ),
    (
        "record",
        "record the run to this empty file instead (`deadheat record` does)",
    ),
    (
        "calls",
        "once, each or none: whether what missing calls reach is recorded once, each time, or not at all",
    ),
    (
        "steer",
        "hold threads as the plan in this file says (`deadheat predict --confirm` does)",
    ),
    ("reporter", "the command that prints reports"),
    (
        "report_fd",
        "file descriptor that takes the lines for the reporter",
    ),
];

/// Whether there is such an option.
pub fn is_known(name: &str) -> bool {
    OPTIONS.iter().any(|(known, _)| *known == name)
}

/// Takes the text apart. What has no `=`, and a quote that is not closed, comes back as an error.
pub fn split(text: &str) -> Split<'_> {
    Split { rest: text }
}

/// See [`split`].
#[derive(Clone, Debug)]
pub struct Split<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Split<'a> {
    type Item = Result<(&'a str, &'a str), &'a str>;

    fn next(&mut self) -> Option<Self::Item> {
        self.rest = self.rest.trim_start_matches([':', ' ', '\n']);
        if self.rest.is_empty() {
            return None;
        }
        let all = self.rest;
        let end = all.find(':').unwrap_or(all.len());
        let Some(equals) = all[..end].find('=') else {
            self.rest = &all[end..];
            return Some(Err(&all[..end]));
        };
        let (name, value) = (&all[..equals], &all[equals + 1..]);
        for quote in ['"', '\''] {
            if let Some(inside) = value.strip_prefix(quote) {
                let Some(close) = inside.find(quote) else {
                    self.rest = "";
                    return Some(Err(all));
                };
                self.rest = &inside[close + 1..];
                return Some(Ok((name, &inside[..close])));
            }
        }
        self.rest = &all[end..];
        Some(Ok((name, &all[equals + 1..end])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_taken_apart() {
        let mut all = split("exit_code=3::output='a:b' :log_dir=\"x\":flag:format=json=2:color=");
        assert_eq!(all.next(), Some(Ok(("exit_code", "3"))));
        assert_eq!(all.next(), Some(Ok(("output", "a:b"))));
        assert_eq!(all.next(), Some(Ok(("log_dir", "x"))));
        assert_eq!(all.next(), Some(Err("flag")));
        assert_eq!(all.next(), Some(Ok(("format", "json=2"))));
        assert_eq!(all.next(), Some(Ok(("color", ""))));
        assert_eq!(all.next(), None);
        let mut open = split("output='a:b");
        assert_eq!(open.next(), Some(Err("output='a:b")));
        assert_eq!(open.next(), None);
    }

    #[test]
    fn names_are_known_or_not() {
        assert!(is_known("suppressions"));
        assert!(!is_known("supressions"));
    }
}
