//! Suppressions, in ThreadSanitizer's syntax, so that a project's file can be used as it is.
//!
//! One `type:pattern` a line; `#` starts a comment line. `race` matches a function, a file or the variable of any
//! frame, `race_top` those of the innermost frame of either access. A pattern matches anywhere in a name; `*` stands
//! for any text, a leading `^` and a trailing `$` tie it to the ends. TSan's other types (`thread`, `mutex`, `signal`,
//! `deadlock`, `called_from_lib`) are about things that are not reported here, and match nothing.
//!
//! Deviation: TSan takes the first place where a piece of a pattern fits and gives up if the rest then does not; here
//! all places are tried. A `$` that is not at the end stands for itself, because Java's and LLVM's names contain it.

use crate::{Error, Finding, Frame};

const OTHER_TYPES: [&str; 5] = ["thread", "mutex", "signal", "deadlock", "called_from_lib"];

/// Rules that say which findings not to report.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    /// Only the innermost frame counts.
    top: bool,
    pattern: Pattern,
}

impl Suppressions {
    /// Reads the text of a suppressions file.
    pub fn parse(text: &str) -> Result<Suppressions, Error> {
        let mut rules = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let bad = |message: String| Error {
                line: Some(number + 1),
                message,
            };
            let (kind, pattern) = line
                .split_once(':')
                .ok_or_else(|| bad(format!("expected `type:pattern`, as in `race:{line}`")))?;
            if pattern.is_empty() {
                return Err(bad(
                    "the pattern is empty and would match everything; write `*` for that".into(),
                ));
            }
            match kind {
                "race" | "race_top" => rules.push(Rule {
                    top: kind == "race_top",
                    pattern: Pattern::new(pattern),
                }),
                other if OTHER_TYPES.contains(&other) => {}
                other => {
                    return Err(bad(format!(
                        "unknown suppression type `{other}`; known are race, race_top, {}",
                        OTHER_TYPES.join(", ")
                    )));
                }
            }
        }
        Ok(Suppressions { rules })
    }

    /// Whether a finding is not to be reported.
    pub fn matches(&self, finding: &Finding) -> bool {
        self.rules.iter().any(|rule| {
            let variable = finding.location.name.as_deref();
            let frames = finding.accesses.iter().flat_map(|access| {
                let count = if rule.top { 1 } else { access.frames.len() };
                access.frames.iter().take(count)
            });
            variable.is_some_and(|name| rule.pattern.matches(name)) || { frames }
                .any(|frame| rule.matches(frame))
        })
    }
}

impl Rule {
    fn matches(&self, frame: &Frame) -> bool {
        [&frame.function, &frame.file]
            .into_iter()
            .flatten()
            .any(|name| self.pattern.matches(name))
    }
}

/// Literal pieces with any text between them.
#[derive(Clone, Debug)]
struct Pattern {
    at_start: bool,
    at_end: bool,
    pieces: Vec<String>,
}

impl Pattern {
    fn new(text: &str) -> Pattern {
        let (at_start, text) = match text.strip_prefix('^') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (at_end, text) = match text.strip_suffix('$') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        Pattern {
            at_start,
            at_end,
            pieces: text.split('*').map(str::to_owned).collect(),
        }
    }

    fn matches(&self, name: &str) -> bool {
        // `split` gives at least one piece.
        let (mut rest, mut pieces) = (name, self.pieces.as_slice());
        if self.at_start {
            match rest.strip_prefix(pieces[0].as_str()) {
                Some(after) => rest = after,
                None => return false,
            }
            pieces = &pieces[1..];
            if pieces.is_empty() {
                return !self.at_end || rest.is_empty();
            }
        }
        if self.at_end
            && let Some((last, before)) = pieces.split_last()
        {
            match rest.strip_suffix(last.as_str()) {
                Some(front) => rest = front,
                None => return false,
            }
            pieces = before;
        }
        // The leftmost place for each piece leaves the most room for those after it.
        pieces.iter().all(|piece| match rest.find(piece.as_str()) {
            Some(at) => {
                rest = &rest[at + piece.len()..];
                true
            }
            None => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The obvious, exponential matcher. `^` and `$` are undone by stars.
    fn slow(pattern: &str, name: &str) -> bool {
        fn glob(p: &[u8], n: &[u8]) -> bool {
            match p.split_first() {
                None => n.is_empty(),
                Some((b'*', rest)) => (0..=n.len()).any(|skip| glob(rest, &n[skip..])),
                Some((c, rest)) => n.first() == Some(c) && glob(rest, &n[1..]),
            }
        }
        let (start, pattern) = pattern
            .strip_prefix('^')
            .map_or(("*", pattern), |rest| ("", rest));
        let (end, pattern) = pattern
            .strip_suffix('$')
            .map_or(("*", pattern), |rest| ("", rest));
        glob(format!("{start}{pattern}{end}").as_bytes(), name.as_bytes())
    }

    #[test]
    fn patterns_match_as_in_tsan() {
        for (pattern, name, expect) in [
            ("foo", "a_foo_b", true),
            ("foo", "fo", false),
            ("^foo", "foobar", true),
            ("^foo", "a_foo", false),
            ("foo$", "a_foo", true),
            ("foo$", "foo_", false),
            ("^foo$", "foo", true),
            ("^foo$", "foofoo", false),
            ("a*c", "xaxxcx", true),
            ("^a*c$", "abc", true),
            ("^a*c$", "abcd", false),
            ("*", "anything", true),
            ("a$b", "xa$by", true),
            ("b*b$", "b", false),
        ] {
            assert_eq!(Pattern::new(pattern).matches(name), expect, "{pattern} on {name}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn matching_equals_the_exhaustive_matcher(pattern in "\\^?[ab*]{0,6}\\$?", name in "[ab]{0,8}") {
            prop_assert_eq!(Pattern::new(&pattern).matches(&name), slow(&pattern, &name));
        }

        #[test]
        fn no_file_makes_the_parser_panic(text in "\\PC*(\n(race|race_top|x|#|:)?:?\\PC*)*") {
            let _ = Suppressions::parse(&text);
        }
    }

    #[test]
    fn comments_and_types_for_other_reports_are_accepted() {
        let text = "# ours\n\n  race:foo  \nrace_top:bar\nmutex:m\ncalled_from_lib:libz.so\n";
        assert_eq!(Suppressions::parse(text).map(|s| s.rules.len()), Ok(2));
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, line, part) in [
            ("race:a\nfoo", 2, "race:foo"),
            ("rce:a", 1, "race_top"),
            ("race:", 1, "empty"),
        ] {
            let error = Suppressions::parse(text).unwrap_err();
            assert_eq!(error.line, Some(line), "{text}");
            assert!(error.message.contains(part), "{error}");
        }
    }
}
