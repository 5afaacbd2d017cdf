//! Options of a run, as far as the runtime looks at them. Names and syntax in `abi::options`.
//!
//! The reporter reads the same variable; a value that only it understands is refused there.

use crate::outside::objects::Calls;
use crate::rules::{Action, Rules};
use deadheat_abi::options::{self as names, OPTIONS, VARIABLE};
use std::fmt;

/// All options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where the wire lines go, if the reporter runs already.
    pub report_fd: Option<i32>,
    /// The number of the file that is behind it, 0 if that was not said.
    pub report_file: u64,
    /// The command to start as the reporter.
    pub reporter: Option<String>,
    /// End the program at the first race that counts.
    pub halt_on_race: bool,
    /// What calls of code that is not instrumented do, where no rule says anything else.
    pub external: Action,
    /// Rules for them.
    pub rules: Rules,
    /// Tell counters at the end.
    pub stats: bool,
    /// Count checks.
    pub count: bool,
    /// Look for nothing.
    pub blind: bool,
    /// Never compress the shadow.
    pub uncompressed: bool,
    /// Exit status of a run with races.
    pub exit_code: Option<u8>,
    /// Record the run to this file, which is there and empty, instead of checking it.
    pub record: Option<String>,
    /// Which missing calls are recorded, and how.
    pub calls: Calls,
    /// Hold threads as the plan in this file says instead.
    pub steer: Option<String>,
}

/// What is wrong with an option.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrong(String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{VARIABLE}: {}", self.0)?;
        write!(f, "options are name=value, separated by colons:")?;
        for (name, does) in OPTIONS {
            write!(f, "\n  {name:<14}{does}")?;
        }
        Ok(())
    }
}

impl Options {
    /// From the value of the environment variable.
    pub fn parse(text: &str) -> Result<Options, Wrong> {
        let mut options = Options::default();
        for part in names::split(text) {
            let (name, value) = part.map_err(|part| Wrong(format!("`{part}` is not name=value")))?;
            if !names::is_known(name) {
                return Err(Wrong(format!("there is no option `{name}`")));
            }
            if name == "external_rules" {
                options.rules = read_rules(value).map_err(|why| Wrong(format!("{value}: {why}")))?;
                continue;
            }
            options
                .set(name, value)
                .ok_or_else(|| Wrong(format!("`{name}` cannot be `{value}`")))?;
        }
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "report_fd" => {
                let (fd, file) = value.split_once('/').unwrap_or((value, "0"));
                self.report_fd = Some(fd.parse().ok().filter(|fd| *fd >= 0)?);
                self.report_file = file.parse().ok()?;
            }
            "reporter" => self.reporter = Some(value.to_owned()),
            "halt_on_race" => self.halt_on_race = flag(value)?,
            "external" => self.external = Action::parse(value).filter(|action| *action != Action::Objects)?,
            "stats" => self.stats = flag(value)?,
            "count" => self.count = flag(value)?,
            "detect" => self.blind = !flag(value)?,
            "compress" => self.uncompressed = !flag(value)?,
            "record" => self.record = Some(value.to_owned()),
            "calls" => self.calls = Calls::parse(value)?,
            "steer" => self.steer = Some(value.to_owned()),
            "exit_code" => self.exit_code = Some(value.parse().ok()?),
            _ => {}
        }
        Some(())
    }
}

fn read_rules(path: &str) -> Result<Rules, String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    Rules::parse(&text).map_err(|wrong| wrong.to_string())
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_wrong_ones_named() {
        let options =
            Options::parse("report_fd=5:halt_on_race=1::color=never:reporter='a:b'").expect("all known");
        assert_eq!(options.report_fd, Some(5));
        assert!(options.halt_on_race && !options.stats && !options.blind);
        assert_eq!(options.reporter.as_deref(), Some("a:b"));
        let options = Options::parse("report_fd=7/4711").expect("known");
        assert_eq!((options.report_fd, options.report_file), (Some(7), 4711));
        assert!(Options::parse("detect=0:count=1").is_ok_and(|options| options.blind && options.count));
        assert!(Options::parse("detect=1").is_ok_and(|options| !options.blind));
        assert!(Options::parse("compress=0").is_ok_and(|options| options.uncompressed));
        assert!(Options::parse("compress=1").is_ok_and(|options| !options.uncompressed));
        for (text, said) in [
            ("colour=never", "there is no option `colour`"),
            ("stats", "`stats` is not name=value"),
            ("stats=yes", "`stats` cannot be `yes`"),
            ("report_fd=-1", "`report_fd` cannot be `-1`"),
        ] {
            let wrong = Options::parse(text).expect_err(text).to_string();
            assert!(wrong.contains(said), "{wrong}");
            assert!(wrong.contains("halt_on_race"), "lists the right ones: {wrong}");
        }
    }
}
