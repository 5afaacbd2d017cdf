//! What became of the check of each access: written into objects by the pass, read again by `deadheat explain-checks`.
//!
//! A section that is never loaded holds a line of text for each access, and the linker puts those of all objects one behind
//! the other. So a program says it of all its sources, and results from the cache say it, too.

use object::read::{Object, ObjectSection};
use std::fmt;
use std::io;
use std::path::Path;

/// The section.
pub const SECTION: &str = ".deadheat.checks";

/// Why an access has a check where it is, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// It has a check of its own.
    Checked,
    /// No other thread can see the memory.
    Private,
    /// The memory never changes, or nobody wants to know.
    Constant,
    /// It was written before there was a second thread, and is only read since.
    Published,
    /// An earlier check stands for it.
    Covered,
    /// A later check stands for it.
    Followed,
    /// It is part of a check of several neighbours.
    Merged,
    /// A check of a range, outside of the loop, stands for it.
    Moved,
    /// Checks of ranges, each time that the loop has gone round so often and where it is left, stand for it.
    Batched,
    /// What it writes becomes part of a stretch, which is checked as a range.
    Stretched,
}

impl Rule {
    /// All, in the order in which they are shown.
    pub const ALL: [Rule; 10] = [
        Rule::Checked,
        Rule::Covered,
        Rule::Followed,
        Rule::Merged,
        Rule::Moved,
        Rule::Batched,
        Rule::Stretched,
        Rule::Private,
        Rule::Constant,
        Rule::Published,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Rule::Checked => "checked",
            Rule::Private => "private",
            Rule::Constant => "constant",
            Rule::Published => "published",
            Rule::Covered => "covered",
            Rule::Followed => "followed",
            Rule::Merged => "merged",
            Rule::Moved => "moved",
            Rule::Batched => "batched",
            Rule::Stretched => "stretched",
        }
    }

    /// What it means, for people.
    pub fn about(self) -> &'static str {
        match self {
            Rule::Checked => "checked where it is",
            Rule::Private => "no other thread can see the memory",
            Rule::Constant => "the memory never changes",
            Rule::Published => "only written before there was a second thread",
            Rule::Covered => "a check before it stands for it",
            Rule::Followed => "a check behind it stands for it",
            Rule::Merged => "part of a check of its neighbours",
            Rule::Moved => "part of a range that is checked outside of the loop",
            Rule::Batched => "part of ranges that are checked while the loop runs and behind it",
            Rule::Stretched => "gathered while the loop fills memory, and checked as a range",
        }
    }

    fn parse(name: &str) -> Option<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.as_str() == name)
    }
}

/// What became of one access.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Decision {
    /// The source, with its path.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 if not known.
    pub column: u32,
    /// The function that the access is in now, as the linker knows it. Others may have been inlined into it.
    pub function: String,
    /// A write or a read.
    pub write: bool,
    /// How many, if that is known.
    pub bytes: Option<u64>,
    /// What became of it.
    pub rule: Rule,
    /// The line of the check that stands for it, if another does and it is known.
    pub by: Option<u32>,
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = |text: &str| text.replace(['\t', '\n'], " ");
        write!(
            f,
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}",
            plain(&self.file),
            self.line,
            self.column,
            plain(&self.function),
            if self.write { "write" } else { "read" },
            self.bytes.unwrap_or(0),
            self.rule.as_str(),
            self.by.unwrap_or(0)
        )
    }
}

impl Decision {
    /// From a line of the section; none if it is not one.
    pub fn parse(line: &str) -> Option<Decision> {
        let mut words = line.split('\t');
        let mut next = || words.next();
        Some(Decision {
            file: next()?.to_owned(),
            line: next()?.parse().ok()?,
            column: next()?.parse().ok()?,
            function: next()?.to_owned(),
            write: next()? == "write",
            bytes: next()?.parse().ok().filter(|&bytes| bytes != 0),
            rule: Rule::parse(next()?)?,
            by: next()?.parse().ok().filter(|&line| line != 0),
        })
    }
}

/// What the object or program at `path` says; none if it was not built to say it.
pub fn read(path: &Path) -> io::Result<Option<Vec<Decision>>> {
    let data = std::fs::read(path)?;
    let file = object::read::elf::ElfFile64::<object::Endianness>::parse(&*data)
        .map_err(|error| io::Error::other(format!("not an ELF file of 64 bits: {error}")))?;
    let Some(section) = file.section_by_name(SECTION) else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(section.data().map_err(io::Error::other)?);
    let mut decisions: Vec<Decision> = text.lines().filter_map(Decision::parse).collect();
    decisions.sort();
    // A function that several modules define was instrumented in each.
    decisions.dedup();
    Ok(Some(decisions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for (bytes, by) in [(Some(4), Some(7)), (None, None)] {
            let decision = Decision {
                file: "/a b/c.c".into(),
                line: 3,
                column: 0,
                function: "_ZN1a1bEv".into(),
                write: true,
                bytes,
                rule: Rule::Followed,
                by,
            };
            assert_eq!(Decision::parse(&decision.to_string()), Some(decision));
        }
        assert_eq!(Decision::parse("something else"), None);
    }
}
