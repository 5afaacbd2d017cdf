//! Options of a run: `DEADHEAT_OPTIONS`, `name=value` joined by colons.

use std::fmt;

/// All options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Where the wire lines go, if the reporter runs already.
    pub report_fd: Option<i32>,
    /// The command to start as the reporter.
    pub reporter: Option<String>,
    /// End the program at the first race that counts.
    pub halt_on_race: bool,
    /// Tell counters at the end.
    pub stats: bool,
    /// Exit status of a run with races, for the reporter.
    pub exit_code: Option<u8>,
    /// Further options for the reporter alone, in its own syntax: name and value.
    pub passed: Vec<(&'static str, String)>,
}

type Set = fn(&mut Options, &'static str, &str) -> Option<()>;

/// The options, what they take, what they do, and how they are set.
const TABLE: &[(&str, &str, &str, Set)] = &[
    (
        "report_fd",
        "NUMBER",
        "file descriptor to which races are written for a reporter that runs already",
        |options, _, value| {
            options.report_fd = Some(value.parse().ok().filter(|fd| *fd >= 0)?);
            Some(())
        },
    ),
    (
        "reporter",
        "PATH",
        "command that prints races",
        |options, _, value| {
            options.reporter = Some(value.to_owned());
            Some(())
        },
    ),
    (
        "log_dir",
        "PATH",
        "directory for one report file for each process",
        pass,
    ),
    (
        "halt_on_race",
        "0|1",
        "end the program at the first race",
        |options, _, value| {
            options.halt_on_race = flag(value)?;
            Some(())
        },
    ),
    (
        "exit_code",
        "NUMBER",
        "exit status of a run with races (66)",
        |options, _, value| {
            options.exit_code = Some(value.parse().ok()?);
            Some(())
        },
    ),
    ("suppressions", "PATH", "file of races that do not count", pass),
    (
        "format",
        "text|json|sarif",
        "how races are printed",
        |options, name, value| {
            matches!(value, "text" | "json" | "sarif").then(|| options.passed.push((name, value.to_owned())))
        },
    ),
    ("output", "PATH", "file for the report instead of stderr", pass),
    (
        "color",
        "auto|always|never",
        "whether the report is coloured",
        |options, name, value| {
            matches!(value, "auto" | "always" | "never")
                .then(|| options.passed.push((name, value.to_owned())))
        },
    ),
    ("stats", "0|1", "tell counters at the end", |options, _, value| {
        options.stats = flag(value)?;
        Some(())
    }),
];

fn flag(value: &str) -> Option<bool> {
    match value {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    }
}

fn pass(options: &mut Options, name: &'static str, value: &str) -> Option<()> {
    options.passed.push((name, value.to_owned()));
    Some(())
}

/// What is wrong with an option.
#[derive(Debug, PartialEq, Eq)]
pub struct Wrong(String);

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "DEADHEAT_OPTIONS: {}", self.0)?;
        write!(f, "options are name=value, separated by colons:")?;
        for (name, takes, does, _) in TABLE {
            write!(f, "\n  {:<28}{does}", format_args!("{name}={takes}").to_string())?;
        }
        Ok(())
    }
}

impl Options {
    /// From the value of the environment variable.
    pub fn parse(text: &str) -> Result<Options, Wrong> {
        let mut options = Options::default();
        for part in text.split(':').filter(|part| !part.is_empty()) {
            let (name, value) = part
                .split_once('=')
                .ok_or_else(|| Wrong(format!("`{part}` is not name=value")))?;
            let (name, takes, _, set) = TABLE
                .iter()
                .find(|(known, ..)| *known == name)
                .ok_or_else(|| Wrong(format!("there is no option `{name}`")))?;
            set(&mut options, name, value)
                .ok_or_else(|| Wrong(format!("`{name}` takes {takes}, not `{value}`")))?;
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_and_wrong_ones_named() {
        let options = Options::parse("report_fd=5:halt_on_race=1::color=never").expect("all known");
        assert_eq!(options.report_fd, Some(5));
        assert!(options.halt_on_race && !options.stats);
        assert_eq!(options.passed, [("color", "never".to_owned())]);
        for (text, said) in [
            ("colour=never", "there is no option `colour`"),
            ("stats", "`stats` is not name=value"),
            ("format=xml", "`format` takes text|json|sarif, not `xml`"),
            ("report_fd=-1", "`report_fd` takes NUMBER"),
        ] {
            let wrong = Options::parse(text).expect_err(text).to_string();
            assert!(wrong.contains(said), "{wrong}");
            assert!(
                wrong.contains("halt_on_race=0|1"),
                "lists the right ones: {wrong}"
            );
        }
    }
}
