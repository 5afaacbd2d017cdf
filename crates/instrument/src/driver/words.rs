//! The words of a linker's command line, as far as they matter here.
//!
//! A compiler driver takes `-Wl,a,b` and `-Xlinker a` and hands `a` and `b` to the linker. [`split`] makes single words of
//! these and [`join`] puts them back, so that the rest sees one kind of list.

use super::Face;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A word, and whether a compiler driver is to hand it on to the linker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word.
    pub text: OsString,
    /// It stood behind `-Wl` or `-Xlinker`.
    pub passed: bool,
}

impl Word {
    /// A word of the command line itself.
    pub fn own(text: impl Into<OsString>) -> Word {
        Word {
            text: text.into(),
            passed: false,
        }
    }

    /// A word for the linker, whoever is called.
    pub fn linker(text: impl Into<OsString>, face: Face) -> Word {
        Word {
            text: text.into(),
            passed: face == Face::Compiler,
        }
    }

    /// As bytes.
    pub fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// Takes a command line apart.
pub fn split(arguments: Vec<OsString>, face: Face) -> Vec<Word> {
    let mut words = Vec::new();
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        if face == Face::Linker {
            words.push(Word::own(argument));
        } else if let Some(list) = argument.as_bytes().strip_prefix(b"-Wl,") {
            let pieces = list.split(|byte| *byte == b',');
            words.extend(pieces.map(|piece| Word::linker(OsStr::from_bytes(piece), face)));
        } else if argument == "-Xlinker" {
            words.extend(arguments.next().map(|next| Word::linker(next, face)));
        } else {
            words.push(Word::own(argument));
        }
    }
    words
}

/// Puts a command line together.
pub fn join(words: Vec<Word>) -> Vec<OsString> {
    let mut arguments = Vec::new();
    for word in words {
        if !word.passed {
            arguments.push(word.text);
        } else if word.bytes().contains(&b',') || word.bytes().is_empty() {
            arguments.extend(["-Xlinker".into(), word.text]);
        } else {
            arguments.push(OsString::from_vec([b"-Wl,", word.bytes()].concat()));
        }
    }
    arguments
}

/// The value of option `name` in `word` or, if it stands alone, in the next one. `long` options also take `name=value`,
/// short ones `namevalue`.
pub fn value<'a>(
    word: &'a Word,
    next: Option<&'a Word>,
    name: &str,
    long: bool,
) -> Option<(&'a [u8], usize)> {
    let rest = word.bytes().strip_prefix(name.as_bytes())?;
    match rest {
        [] => next.map(|next| (next.bytes(), 2)),
        [b'=', rest @ ..] if long => Some((rest, 1)),
        _ if long => None,
        rest => Some((rest, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn os(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn words_for_the_linker_are_taken_apart_and_put_back() {
        let line = os(&["-Wl,-z,now", "a.o", "-Xlinker", "b,c.a", "-Wl,--start-group"]);
        let words = split(line, Face::Compiler);
        let texts: Vec<(&str, bool)> = words
            .iter()
            .map(|word| (word.text.to_str().unwrap(), word.passed))
            .collect();
        assert_eq!(
            texts,
            [
                ("-z", true),
                ("now", true),
                ("a.o", false),
                ("b,c.a", true),
                ("--start-group", true)
            ]
        );
        assert_eq!(
            join(words),
            os(&[
                "-Wl,-z",
                "-Wl,now",
                "a.o",
                "-Xlinker",
                "b,c.a",
                "-Wl,--start-group"
            ])
        );
    }

    #[test]
    fn a_linker_has_no_words_to_pass_on() {
        let line = os(&["-z", "now", "-Wl,x"]);
        assert_eq!(join(split(line.clone(), Face::Linker)), line);
    }

    #[test]
    fn values_stand_in_the_word_or_behind_it() {
        let word = |text: &str| Word::own(text);
        let next = word("next");
        for (text, name, long, expect) in [
            ("-lfoo", "-l", false, Some(("foo", 1))),
            ("-l", "-l", false, Some(("next", 2))),
            ("--library=foo", "--library", true, Some(("foo", 1))),
            ("--library", "--library", true, Some(("next", 2))),
            ("--library-path", "--library", true, None),
            ("-x", "-l", false, None),
        ] {
            let expect = expect.map(|(value, words): (&str, usize)| (value.as_bytes(), words));
            assert_eq!(value(&word(text), Some(&next), name, long), expect, "{text}");
        }
        assert_eq!(value(&word("-l"), None, "-l", false), None);
    }
}
