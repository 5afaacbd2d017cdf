//! Response files: `@FILE` on a command line stands for the words in FILE.
//!
//! The quoting is that of GCC, binutils and LLVM on this system: words are separated by white space; within single or
//! double quotes white space counts as itself; a backslash takes away the meaning of the next character, also within
//! quotes.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Files that name each other without end are left standing after this many.
const MOST_FILES: usize = 2000;

/// Puts the words of response files in their place. What names no file stays as it is, as in GCC.
pub fn expand(arguments: Vec<OsString>) -> io::Result<Vec<OsString>> {
    let mut expanded = Vec::new();
    let mut left: Vec<OsString> = arguments;
    left.reverse();
    let mut files = 0;
    while let Some(argument) = left.pop() {
        let file = argument.as_bytes().strip_prefix(b"@").map(OsStr::from_bytes);
        match file.map(|file| (file, std::fs::read(file))) {
            Some((_, Ok(text))) if files < MOST_FILES => {
                files += 1;
                left.extend(words(&text).into_iter().rev());
            }
            Some((file, Ok(_))) => {
                return Err(io::Error::other(format!(
                    "{}: response files name each other without end",
                    Path::new(file).display()
                )));
            }
            Some((_, Err(error))) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => expanded.push(argument),
        }
    }
    Ok(expanded)
}

/// The words of a response file.
pub fn words(text: &[u8]) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        match (byte, quote) {
            (b'\\', _) => {
                if let Some(next) = bytes.next() {
                    word.get_or_insert_default().push(next);
                }
            }
            (byte, Some(open)) if byte == open => quote = None,
            (byte, Some(_)) => word.get_or_insert_default().push(byte),
            (b'\'' | b'"', None) => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (byte, None) if byte.is_ascii_whitespace() => words.extend(word.take()),
            (byte, None) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from_vec).collect()
}

/// The text of a response file with these words.
pub fn text(arguments: &[OsString]) -> Vec<u8> {
    let mut text = Vec::new();
    for argument in arguments {
        text.push(b'"');
        for &byte in argument.as_bytes() {
            if matches!(byte, b'"' | b'\\') {
                text.push(b'\\');
            }
            text.push(byte);
        }
        text.extend(b"\"\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn os(words: &[&str]) -> Vec<OsString> {
        words.iter().map(OsString::from).collect()
    }

    #[test]
    fn quoting_is_that_of_gcc() {
        for (text, expect) in [
            ("a b\n c\t\n", &["a", "b", "c"][..]),
            (r"a\ b c\\d", &["a b", r"c\d"]),
            (r#""a b" 'c "d"' e"f g"h"#, &["a b", r#"c "d""#, "ef gh"]),
            (r#""a\"b" '' "#, &["a\"b", ""]),
            ("", &[]),
        ] {
            assert_eq!(words(text.as_bytes()), os(expect), "{text}");
        }
    }

    #[test]
    fn words_come_back_from_their_text() {
        let all = os(&["a", "", "b c", "d\"e", "f\\g", "h'i", "line\nbreak", "\u{e4}"]);
        assert_eq!(words(&text(&all)), all);
    }

    /// GCC itself reads what we write: `-###` makes it print the words.
    #[test]
    fn gcc_reads_what_is_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let define = r#"-DX="a b" \ 'c'"#;
        std::fs::write(file.path(), text(&os(&["-E", define, "-"]))).unwrap();
        let output = Command::new("cc")
            .arg("-###")
            .arg(format!("@{}", file.path().display()))
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        let escaped = define
            .trim_start_matches("-D")
            .replace('\\', r"\\")
            .replace('"', "\\\"");
        assert!(printed.contains(&escaped), "{escaped} not in {printed}");
    }

    #[test]
    fn files_are_expanded_in_place_and_may_name_others() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name).to_str().unwrap().to_owned();
        std::fs::write(path("one"), format!("b @{} e", path("two"))).unwrap();
        std::fs::write(path("two"), "c d").unwrap();
        let line = os(&["a", &format!("@{}", path("one")), "f", "@nothing"]);
        assert_eq!(
            expand(line).unwrap(),
            os(&["a", "b", "c", "d", "e", "f", "@nothing"])
        );
        std::fs::write(path("loop"), format!("@{}", path("loop"))).unwrap();
        assert!(expand(os(&[&format!("@{}", path("loop"))])).is_err());
    }
}
