//! Files named on the command line.

use anyhow::{Context, Result, bail};
use deadheat_report::{Baseline, Judge, Suppressions};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Whether a path stands for stdin or stdout.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a small text file: suppressions, a baseline.
pub fn read_text(path: &Path, what: &str) -> Result<String> {
    let mut text = String::new();
    File::open(path)
        .and_then(|mut file| file.read_to_string(&mut text))
        .with_context(|| format!("cannot read the {what} {}", path.display()))?;
    Ok(text)
}

/// Reads the files that say what not to report.
pub fn judge(suppressions: Option<&Path>, baseline: Option<&Path>) -> Result<Judge> {
    let mut judge = Judge::default();
    if let Some(path) = suppressions {
        judge.suppressions = Suppressions::parse(&read_text(path, "suppressions")?)
            .with_context(|| path.display().to_string())?;
    }
    if let Some(path) = baseline {
        judge.baseline =
            Baseline::parse(&read_text(path, "baseline")?).with_context(|| path.display().to_string())?;
    }
    Ok(judge)
}

/// A file that will be written at the end, opened at the start: nobody wants to hear after an hour's analysis that the
/// directory does not exist. What is in it stays until there is something to replace it with.
pub struct Output {
    file: Option<File>,
    path: PathBuf,
}

impl Output {
    /// Opens `path`, which must not be the file `input`.
    pub fn open(path: &Path, input: &Path) -> Result<Output> {
        refuse_same(path, input)?;
        Output::create(path)
    }

    /// Opens `path`.
    pub fn create(path: &Path) -> Result<Output> {
        if is_standard(path) {
            return Ok(Output {
                file: None,
                path: path.to_owned(),
            });
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Output {
            file: Some(file),
            path: path.to_owned(),
        })
    }

    /// Whether it is a file, not stdout.
    pub fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Writes the contents.
    pub fn write(self, contents: &[u8]) -> Result<()> {
        let written = match self.file {
            None => io::stdout().lock().write_all(contents),
            Some(mut file) => {
                let regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
                let emptied = if regular { file.set_len(0) } else { Ok(()) };
                emptied.and_then(|()| file.write_all(contents))
            }
        };
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Refuses to write the file that is being read.
pub fn refuse_same(output: &Path, input: &Path) -> Result<()> {
    if let (Ok(output), Ok(input)) = (fs::canonicalize(output), fs::canonicalize(input))
        && output == input
        && output.is_file()
    {
        bail!("{} is the input; name another file to write", output.display());
    }
    Ok(())
}
