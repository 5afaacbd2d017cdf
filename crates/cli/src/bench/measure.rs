//! Runs a program and says what it took: time and memory by `measure.c`, its result by its last line.

use super::results::{Outcome, Sample};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The program that measures.
const SOURCE: &str = include_str!("measure.c");

/// Exit status of tools that have found something.
const FOUND: i64 = 66;

/// Measures runs.
pub struct Meter {
    helper: PathBuf,
    scratch: tempfile::TempDir,
    /// Seconds that a run may take.
    timeout: u64,
}

/// What to run.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// What it has in the environment.
    pub environment: Vec<(String, String)>,
}

/// A run that is over.
#[derive(Debug)]
pub struct Ran {
    /// What it took.
    pub sample: Sample,
    /// What it said on stderr.
    pub stderr: String,
}

impl Meter {
    /// Makes what is needed in `directory`.
    pub fn new(directory: &Path, timeout: u64) -> Result<Meter> {
        let source = directory.join("measure.c");
        let helper = directory.join("measure");
        let is_there = std::fs::read_to_string(&source).is_ok_and(|text| text == SOURCE) && helper.exists();
        if !is_there {
            std::fs::write(&source, SOURCE).with_context(|| format!("cannot write {}", source.display()))?;
            let compiler = std::env::var_os("CC")
                .filter(|cc| !cc.is_empty())
                .unwrap_or_else(|| "cc".into());
            let output = Command::new(&compiler)
                .args(["-O2", "-o"])
                .args([&helper, &source])
                .output()
                .with_context(|| format!("cannot run `{}`; a C compiler is needed", compiler.display()))?;
            if !output.status.success() {
                let _ = std::fs::remove_file(&source);
                bail!(
                    "{} cannot be built: {}",
                    source.display(),
                    String::from_utf8_lossy(&output.stderr)
                );
            }
        }
        Ok(Meter {
            helper,
            scratch: tempfile::tempdir().context("cannot make a temporary directory")?,
            timeout,
        })
    }

    /// A file for a run to write to, empty.
    pub fn file(&self, name: &str) -> Result<PathBuf> {
        let path = self.scratch.path().join(name);
        File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// Runs a workload.
    pub fn run(&self, run: &Run) -> Result<Ran> {
        let (answer, stdout, stderr) = self.call("run", run)?;
        let status = answer.get("status").map(|status| *status as i64);
        let signal = answer.get("signal").map(|signal| *signal as i64);
        let late = answer.get("late").is_some_and(|late| *late != 0.0);
        let value = |name: &str| answer.get(name).copied().unwrap_or_default();
        Ok(Ran {
            sample: Sample {
                seconds: value("seconds"),
                user: value("user"),
                system: value("system"),
                kilobytes: value("kilobytes") as u64,
                races: 0,
                outcome: outcome(late, signal, status, &stdout, &stderr),
            },
            stderr,
        })
    }

    /// The instructions between two marks of a program.
    pub fn instructions(&self, run: &Run) -> Result<u64> {
        let (answer, _, stderr) = self.call("step", run)?;
        let value = |name: &str| answer.get(name).copied().unwrap_or_default();
        if value("marks") < 2.0 || answer.get("status") != Some(&0.0) {
            let said = stderr.lines().last().unwrap_or("nothing was said");
            let late = if value("late") == 0.0 { "" } else { " in time" };
            bail!("it did not come to its second mark and end{late}: {said}");
        }
        Ok(value("steps") as u64)
    }

    fn call(&self, what: &str, run: &Run) -> Result<(BTreeMap<String, f64>, String, String)> {
        let answer = self.file("answer")?;
        let (stdout, stderr) = (self.file("stdout")?, self.file("stderr")?);
        let open = |path: &Path| File::options().write(true).open(path);
        let status = Command::new(&self.helper)
            .args([what, &self.timeout.to_string()])
            .arg(&answer)
            .args(&run.command)
            .env_remove(deadheat_abi::options::VARIABLE)
            .env_remove("TSAN_OPTIONS")
            .envs(run.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(open(&stdout)?)
            .stderr(open(&stderr)?)
            .status()
            .with_context(|| format!("cannot run {}", self.helper.display()))?;
        let read = |path: &Path| -> Result<String> {
            let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let said = read(&stderr)?;
        if !status.success() {
            bail!("{} failed: {said}", self.helper.display());
        }
        let text = read(&answer)?;
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        let values = pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?)));
        Ok((values.collect(), read(&stdout)?, said))
    }
}

/// How a run ended: only one that says `ok` counts.
fn outcome(late: bool, signal: Option<i64>, status: Option<i64>, stdout: &str, stderr: &str) -> Outcome {
    let last = stdout
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let is_ok = last == "ok" || last.starts_with("ok ");
    if late {
        return Outcome::Late;
    }
    match (signal, status) {
        (Some(signal), _) => Outcome::Crashed(format!("signal {signal}")),
        (None, Some(0 | FOUND)) if is_ok => Outcome::Ok,
        (None, _) if last.starts_with("wrong") => Outcome::Wrong(last.to_owned()),
        (None, status) => {
            let said = stderr
                .lines()
                .find(|line| !line.trim().is_empty())
                .unwrap_or("no word");
            Outcome::Crashed(format!("status {}: {said}", status.unwrap_or(-1)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ok_is_ok() {
        let of = |signal, status, stdout| outcome(false, signal, status, stdout, "why\n");
        assert_eq!(of(None, Some(0), "start\nok 17\n"), Outcome::Ok);
        assert_eq!(of(None, Some(66), "ok 17\n\n"), Outcome::Ok);
        assert_eq!(
            of(None, Some(1), "wrong 16\n"),
            Outcome::Wrong("wrong 16".to_owned())
        );
        assert_eq!(
            of(None, Some(0), "ok 17\nmore\n"),
            Outcome::Crashed("status 0: why".to_owned())
        );
        assert_eq!(
            of(None, Some(1), "ok 17\n"),
            Outcome::Crashed("status 1: why".to_owned())
        );
        assert_eq!(
            of(Some(11), None, "ok 17\n"),
            Outcome::Crashed("signal 11".to_owned())
        );
        assert_eq!(outcome(true, Some(9), None, "ok 17\n", ""), Outcome::Late);
    }
}
