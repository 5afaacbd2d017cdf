//! Lines of source files, for reports that people read.
//!
//! The names of the files come out of a trace and may be anything, so only regular files of moderate size are read.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// No source file is larger; what is named like one and is larger is left alone.
const LARGEST: u64 = 16 << 20;

/// The directories in which source files are looked up, and the files read so far.
#[derive(Debug, Default)]
pub struct Sources {
    roots: Vec<PathBuf>,
    files: HashMap<String, Option<String>>,
}

impl Sources {
    /// Looks relative names up in each of `roots`, the first hit counts. Without roots nothing is ever read.
    pub fn new(roots: Vec<PathBuf>) -> Sources {
        Sources {
            roots,
            files: HashMap::new(),
        }
    }

    /// A line of a file, counted from 1, without the blanks around it.
    pub fn line(&mut self, file: &str, line: u32) -> Option<&str> {
        self.excerpt(file, line).map(|(text, _)| text)
    }

    /// The same, and how many characters were left out in front of it.
    pub fn excerpt(&mut self, file: &str, line: u32) -> Option<(&str, usize)> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let line = self.text(file)?.lines().nth(index)?.trim_end();
        let text = line.trim_start();
        let before = line[..line.len() - text.len()].chars().count();
        (!text.is_empty()).then_some((text, before))
    }

    /// A line and as many as `more` before and behind it, with their numbers. None of them if there is no such line.
    pub fn around(&mut self, file: &str, line: u32, more: u32) -> Vec<(u32, &str)> {
        let first = line.saturating_sub(more).max(1);
        let Some(text) = self.text(file).filter(|_| line > 0) else {
            return Vec::new();
        };
        let (skipped, most) = (first as usize - 1, (line - first + more) as usize + 1);
        let lines: Vec<_> = (first..).zip(text.lines().skip(skipped).take(most)).collect();
        let is_there = lines.iter().any(|(number, _)| *number == line);
        if is_there { lines } else { Vec::new() }
    }

    fn text(&mut self, file: &str) -> Option<&str> {
        if !self.files.contains_key(file) {
            let text = self.roots.iter().find_map(|root| read(&root.join(file)));
            self.files.insert(file.to_owned(), text);
        }
        self.files.get(file)?.as_deref()
    }
}

fn read(path: &Path) -> Option<String> {
    let metadata = fs::metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > LARGEST {
        return None;
    }
    Some(String::from_utf8_lossy(&fs::read(path).ok()?).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_from_the_first_root_that_has_the_file() {
        let (a, b) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(b.path().join("x.c"), "one\n  two  \n\n").unwrap();
        let mut sources = Sources::new(vec![a.path().into(), b.path().into()]);
        assert_eq!(sources.line("x.c", 2), Some("two"));
        for nothing in [0, 3, 4, u32::MAX] {
            assert_eq!(sources.line("x.c", nothing), None);
        }
        assert_eq!(sources.line("y.c", 1), None);
        assert_eq!(sources.around("x.c", 2, 1), [(1, "one"), (2, "  two  "), (3, "")]);
        assert_eq!(sources.around("x.c", 1, 9).len(), 3);
        for nothing in [0, 4, u32::MAX] {
            assert!(sources.around("x.c", nothing, 9).is_empty());
        }
    }

    #[test]
    fn what_is_not_a_regular_file_is_left_alone() {
        let mut sources = Sources::new(vec!["/".into()]);
        for name in ["dev/zero", "dev", "/dev/stdin", ""] {
            assert_eq!(sources.line(name, 1), None, "{name}");
        }
    }
}
