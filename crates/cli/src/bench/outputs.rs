//! Where results and plots go. It is seen before anything is measured that it can be written: nobody wants to hear after hours
//! that it cannot.

use super::args::Bench;
use super::results::Results;
use super::svg;
use crate::term::say;
use anyhow::{Context, Result};
use std::fs::{OpenOptions, create_dir_all, remove_file};
use std::path::Path;

/// Makes the directories, and fails if something cannot be written. What is there stays until there is something better.
pub fn check(args: &Bench) -> Result<()> {
    if let Some(path) = &args.json {
        can_write(path).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(directory) = &args.svg {
        let made = create_dir_all(directory).and_then(|()| tempfile::tempfile_in(directory));
        made.with_context(|| format!("cannot write to {}", directory.display()))?;
    }
    Ok(())
}

fn can_write(path: &Path) -> std::io::Result<()> {
    if let Some(parent) = path.parent() {
        create_dir_all(parent)?;
    }
    let was_there = path.exists();
    OpenOptions::new().append(true).create(true).open(path)?;
    // An empty file would look like a result.
    if !was_there {
        remove_file(path)?;
    }
    Ok(())
}

/// Writes what was asked for. That one fails does not keep the other from being written.
pub fn write(args: &Bench, results: &Results) -> Result<()> {
    let json = args.json.as_ref().map_or(Ok(()), |path| results.write(path));
    let plots = args.svg.as_ref().map_or(Ok(()), |directory| {
        for path in svg::write(results, directory)? {
            say(&format!("deadheat: wrote {}", path.display()));
        }
        Ok(())
    });
    json.and(plots)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_and_what_is_not_does_not_come() {
        let directory = tempfile::tempdir().unwrap();
        let (old, new) = (directory.path().join("old"), directory.path().join("a/new"));
        std::fs::write(&old, "x").unwrap();
        can_write(&old).unwrap();
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "x");
        can_write(&new).unwrap();
        assert!(!new.exists() && new.parent().is_some_and(Path::is_dir));
        assert!(can_write(&old.join("below")).is_err() && can_write(directory.path()).is_err());
    }
}
