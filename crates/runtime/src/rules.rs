//! The user's rules for functions that are not instrumented.
//!
//! A line is an action, a function and, if it matters, a library; `*` stands for any text:
//!
//! ```text
//! # orders nothing: it neither locks nor publishes anything
//! ignore   parse_*
//! # uses nothing but its arguments
//! objects  encode_*   in libmedia.so*
//! order    *          in libmedia.so*
//! # and these variables
//! objects  enqueue    with queue_lock,count
//! ```
//!
//! The first rule that fits counts. Functions of C++ are known by the names that the linker sees.

use std::fmt;

/// What a call orders.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Action {
    /// Whatever uses the objects that it can reach, or the library's own state.
    #[default]
    Order,
    /// Whatever uses the objects that it can reach from its arguments.
    Objects,
    /// Nothing.
    Ignore,
}

impl Action {
    /// By its name.
    pub fn parse(text: &str) -> Option<Action> {
        match text {
            "order" => Some(Action::Order),
            "objects" => Some(Action::Objects),
            "ignore" => Some(Action::Ignore),
            _ => None,
        }
    }
}

/// Rules in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    action: Action,
    function: String,
    library: String,
    /// Static variables that it uses besides.
    variables: Vec<String>,
}

/// A line that is no rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    line: usize,
    text: String,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Wrong { line, text } = self;
        write!(
            f,
            "line {line}: `{text}` is not `order|objects|ignore FUNCTION [in LIBRARY] [with VARIABLE,...]`"
        )
    }
}

impl Rules {
    /// From the text of a file.
    pub fn parse(text: &str) -> Result<Rules, Wrong> {
        let mut rules = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let words: Vec<&str> = line
                .split('#')
                .next()
                .unwrap_or_default()
                .split_whitespace()
                .collect();
            let (action, function, library, variables) = match words[..] {
                [] => continue,
                [action, function] => (action, function, "*", ""),
                [action, function, "in", library] => (action, function, library, ""),
                [action, function, "with", variables] => (action, function, "*", variables),
                [action, function, "in", library, "with", variables] => {
                    (action, function, library, variables)
                }
                _ => ("", "", "", ""),
            };
            let Some(action) = Action::parse(action) else {
                return Err(Wrong {
                    line: number + 1,
                    text: line.trim().to_owned(),
                });
            };
            rules.push(Rule {
                action,
                function: function.to_owned(),
                library: library.to_owned(),
                variables: variables
                    .split(',')
                    .filter(|name| !name.is_empty())
                    .map(str::to_owned)
                    .collect(),
            });
        }
        Ok(Rules(rules))
    }

    /// What the rules say of a function in a library.
    pub fn action(&self, function: &str, library: &str) -> Option<Action> {
        self.rule(function, library).map(|rule| rule.action)
    }

    /// Patterns of the static variables that they say it uses.
    pub fn variables(&self, function: &str, library: &str) -> Option<&[String]> {
        let rule = self.rule(function, library)?;
        (!rule.variables.is_empty()).then_some(&rule.variables[..])
    }

    fn rule(&self, function: &str, library: &str) -> Option<&Rule> {
        let fits = |rule: &&Rule| fits(&rule.function, function) && fits(&rule.library, library);
        self.0.iter().find(fits)
    }
}

/// Whether a text fits a pattern, in which `*` stands for any text.
pub fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => text.strip_prefix(head).is_some_and(|rest| {
            (0..=rest.len())
                .filter(|at| rest.is_char_boundary(*at))
                .any(|at| fits(tail, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_rule_that_fits_counts() {
        let rules = Rules::parse(
            "# of ours\nignore parse_*\nobjects begin in libstore.so*  # lock\n\norder *end in libstore.so.1\n",
        )
        .expect("all of them are rules");
        for (function, library, action) in [
            ("parse_this", "a", Some(Action::Ignore)),
            ("begin", "libstore.so.1", Some(Action::Objects)),
            ("begin", "libother.so", None),
            ("the_end", "libstore.so.1", Some(Action::Order)),
            ("the_end_", "libstore.so.1", None),
        ] {
            assert_eq!(rules.action(function, library), action, "{function} {library}");
        }
    }

    #[test]
    fn a_line_that_is_no_rule_is_named() {
        for (text, said) in [
            ("ignore f\nforget g", "line 2: `forget g`"),
            ("ignore", "line 1: `ignore`"),
            ("order f in", "line 1"),
            ("order f with", "line 1"),
            ("order f of lib.so", "line 1"),
        ] {
            let wrong = Rules::parse(text).expect_err(text).to_string();
            assert!(wrong.contains(said), "{wrong}");
        }
    }
}
