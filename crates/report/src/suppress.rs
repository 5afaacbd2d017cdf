//! Suppressions, in ThreadSanitizer's syntax, so that a project's file can be used as it is.
//!
//! One `type:pattern` a line; `#` starts a comment line. A pattern matches anywhere in a name; `*` stands for any text, a
//! leading `^` and a trailing `$` tie it to the ends.
//!
//! - `race` matches a function, a file or a module of any frame of the accesses, or the variable; as in TSan, for a
//!   running program also those of where the accessing threads were made.
//! - `race_top` matches those of the innermost frame of either access.
//! - `called_from_lib` matches the module of the innermost frame of either access.
//! - `thread`, `mutex`, `signal` and `deadlock` are about things that are not reported here, and match nothing;
//!   [`Suppressions::ignored`] counts them.
//!
//! Frames of our own runtime are no frames here.
//!
//! Deviation: TSan takes the first place where a piece of a pattern fits and gives up if the rest then does not; here
//! all places are tried. A `$` that is not at the end stands for itself, because Java's and LLVM's names contain it.

use crate::{Access, Error, Finding, Frame, Role};

const TYPES: [(&str, Scope); 3] = [
    ("race", Scope::Anywhere),
    ("race_top", Scope::Top),
    ("called_from_lib", Scope::Library),
];
const OTHER_TYPES: [&str; 4] = ["thread", "mutex", "signal", "deadlock"];

/// Rules that say which findings not to report.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    rules: Vec<Rule>,
    ignored: usize,
}

#[derive(Clone, Debug)]
struct Rule {
    scope: Scope,
    pattern: Pattern,
}

/// What a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// All names of a finding.
    Anywhere,
    /// The innermost frames.
    Top,
    /// The modules of the innermost frames.
    Library,
}

impl Suppressions {
    /// Reads the text of a suppressions file.
    pub fn parse(text: &str) -> Result<Suppressions, Error> {
        let (mut rules, mut ignored) = (Vec::new(), 0);
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
            if let Some((_, scope)) = TYPES.iter().find(|(name, _)| *name == kind) {
                rules.push(Rule {
                    scope: *scope,
                    pattern: Pattern::new(pattern),
                });
            } else if OTHER_TYPES.contains(&kind) {
                ignored += 1;
            } else {
                let known = TYPES.iter().map(|(name, _)| *name).chain(OTHER_TYPES);
                return Err(bad(format!(
                    "unknown suppression type `{kind}`; known are {}",
                    known.collect::<Vec<_>>().join(", ")
                )));
            }
        }
        Ok(Suppressions { rules, ignored })
    }

    /// How many rules are about things that are not reported here.
    pub fn ignored(&self) -> usize {
        self.ignored
    }

    /// Whether a finding is not to be reported.
    pub fn matches(&self, finding: &Finding) -> bool {
        self.rules.iter().any(|rule| rule.matches(finding))
    }
}

impl Rule {
    fn matches(&self, finding: &Finding) -> bool {
        let mut top = finding.accesses.iter().filter_map(innermost);
        match self.scope {
            Scope::Library => top.any(|frame| self.has(frame.module.as_deref())),
            Scope::Top => {
                self.has(finding.location.name.as_deref()) || top.any(|frame| self.has_frame(frame))
            }
            Scope::Anywhere => {
                let accesses = finding.accesses.iter();
                let accessing = |id| accesses.clone().any(|access| access.thread == Some(id));
                let mut threads = finding
                    .threads
                    .iter()
                    .filter(|thread| finding.event.is_none() && accessing(thread.id));
                self.has(finding.location.name.as_deref())
                    || { accesses.clone() }.any(|access| self.has_any(&access.frames))
                    || threads.any(|thread| self.has_any(&thread.created_at))
            }
        }
    }

    fn has_any(&self, frames: &[Frame]) -> bool {
        frames.iter().any(|frame| self.has_frame(frame))
    }

    fn has_frame(&self, frame: &Frame) -> bool {
        frame.role != Role::Runtime
            && [&frame.function, &frame.file, &frame.module]
                .into_iter()
                .any(|name| self.has(name.as_deref()))
    }

    fn has(&self, name: Option<&str>) -> bool {
        name.is_some_and(|name| self.pattern.matches(name))
    }
}

fn innermost(access: &Access) -> Option<&Frame> {
    { access.frames.iter() }.find(|frame| frame.role != Role::Runtime)
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
        let parsed = Suppressions::parse(text).unwrap();
        assert_eq!((parsed.rules.len(), parsed.ignored()), (3, 1));
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
