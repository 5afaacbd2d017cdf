//! How to report, from flags and from `DEADHEAT_OPTIONS`. A flag beats the variable.

use crate::args::{External, ReportFormat};
use crate::files;
use crate::term::Color;
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use deadheat_abi::options;
use deadheat_report::Judge;
use std::path::PathBuf;

/// Exit status if a race was reported.
pub const EXIT_CODE: u8 = 66;

/// How to report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Text, JSON or SARIF.
    pub format: Option<ReportFormat>,
    /// Where to.
    pub output: Option<PathBuf>,
    /// When to use colour.
    pub color: Option<Color>,
    /// Rules for what not to report.
    pub suppressions: Option<PathBuf>,
    /// An earlier report.
    pub baseline: Option<PathBuf>,
    /// Exit status if a race was reported.
    pub exit_code: Option<u8>,
    /// End the program at the first race.
    pub halt_on_race: bool,
    /// What calls of code that is not instrumented do.
    pub external: Option<External>,
    /// Rules for single functions of it.
    pub external_rules: Option<PathBuf>,
    /// How missing calls are recorded, in the runtime's own word.
    pub calls: Option<String>,
    /// Share shadow states between elements of arrays.
    pub compress: Option<bool>,
    /// Print counters.
    pub stats: bool,
    /// Leave a JSON report there.
    pub log_dir: Option<PathBuf>,
    /// Record the run to this file instead of checking it.
    pub record: Option<PathBuf>,
    /// Hold its threads as the plan in this file says instead.
    pub steer: Option<PathBuf>,
}

impl Settings {
    /// What `DEADHEAT_OPTIONS` says.
    pub fn from_environment() -> Result<Settings> {
        let text = match std::env::var(options::VARIABLE) {
            Ok(text) => text,
            Err(std::env::VarError::NotPresent) => String::new(),
            Err(std::env::VarError::NotUnicode(_)) => bail!("{} is not UTF-8", options::VARIABLE),
        };
        Settings::parse(&text)
    }

    fn parse(text: &str) -> Result<Settings> {
        let mut settings = Settings::default();
        for option in options::split(text) {
            let Ok((name, value)) = option else {
                bail!(
                    "{}: `{}` is not `name=value`",
                    options::VARIABLE,
                    option.unwrap_err()
                );
            };
            settings
                .set(name, value)
                .with_context(|| format!("{}: {name}={value}", options::VARIABLE))?;
        }
        Ok(settings)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let path = || Some(PathBuf::from(value)).filter(|path| !path.as_os_str().is_empty());
        match name {
            "format" => self.format = Some(named(value)?),
            "color" => self.color = Some(named(value)?),
            "output" => self.output = path(),
            "suppressions" => self.suppressions = path(),
            "baseline" => self.baseline = path(),
            "log_dir" => self.log_dir = path(),
            "record" => self.record = path(),
            "steer" => self.steer = path(),
            "external" => self.external = Some(named(value)?),
            "external_rules" => self.external_rules = path(),
            "calls" => self.calls = Some(value.to_owned()),
            "exit_code" => self.exit_code = Some(value.parse().context("it must be 0 to 255")?),
            "halt_on_race" => self.halt_on_race = switch(value)?,
            "compress" => self.compress = Some(switch(value)?),
            "stats" => self.stats = switch(value)?,
            _ if options::is_known(name) => {}
            _ => {
                let known: Vec<&str> = options::OPTIONS.iter().map(|(name, _)| *name).collect();
                bail!("there is no such option; there are {}", known.join(", "));
            }
        }
        Ok(())
    }

    /// These settings, where `other` has none.
    pub fn or(self, other: Settings) -> Settings {
        Settings {
            format: self.format.or(other.format),
            output: self.output.or(other.output),
            color: self.color.or(other.color),
            suppressions: self.suppressions.or(other.suppressions),
            baseline: self.baseline.or(other.baseline),
            exit_code: self.exit_code.or(other.exit_code),
            halt_on_race: self.halt_on_race || other.halt_on_race,
            external: self.external.or(other.external),
            external_rules: self.external_rules.or(other.external_rules),
            calls: self.calls.or(other.calls),
            compress: self.compress.or(other.compress),
            stats: self.stats || other.stats,
            log_dir: self.log_dir.or(other.log_dir),
            record: self.record.or(other.record),
            steer: self.steer.or(other.steer),
        }
    }

    /// As text for the variable, for programs that report by themselves, and for the runtime.
    pub fn options(&self) -> Result<String> {
        let mut all = Vec::new();
        let paths = [
            ("output", &self.output),
            ("suppressions", &self.suppressions),
            ("baseline", &self.baseline),
            ("log_dir", &self.log_dir),
            ("external_rules", &self.external_rules),
            ("record", &self.record),
            ("steer", &self.steer),
        ];
        for (name, path) in paths {
            let Some(path) = path else { continue };
            // Programs may run in another directory.
            let path = std::path::absolute(path)?;
            let text = path.to_str().filter(|text| !text.contains(['\'', '"']));
            let text = text.with_context(|| {
                format!(
                    "{}: a path with quotes or that is not UTF-8 cannot be passed on",
                    path.display()
                )
            })?;
            all.push(format!("{name}='{text}'"));
        }
        if let Some(format) = self.format {
            all.push(format!("format={}", word(&format)));
        }
        if let Some(color) = self.color {
            all.push(format!("color={}", word(&color)));
        }
        if let Some(external) = self.external {
            all.push(format!("external={}", word(&external)));
        }
        if let Some(calls) = &self.calls {
            all.push(format!("calls={calls}"));
        }
        if let Some(code) = self.exit_code {
            all.push(format!("exit_code={code}"));
        }
        if let Some(compress) = self.compress {
            all.push(format!("compress={}", u8::from(compress)));
        }
        for (name, on) in [("halt_on_race", self.halt_on_race), ("stats", self.stats)] {
            if on {
                all.push(format!("{name}=1"));
            }
        }
        Ok(all.join(":"))
    }

    /// Reads the files that say what not to report.
    pub fn judge(&self) -> Result<Judge> {
        files::judge(self.suppressions.as_deref(), self.baseline.as_deref())
    }
}

fn named<T: ValueEnum>(value: &str) -> Result<T> {
    T::from_str(value, false).map_err(|_| {
        let names: Vec<String> = T::value_variants().iter().map(word::<T>).collect();
        anyhow::anyhow!("it must be one of {}", names.join(", "))
    })
}

fn word<T: ValueEnum>(value: &T) -> String {
    let value = value.to_possible_value();
    value.map(|value| value.get_name().to_owned()).unwrap_or_default()
}

fn switch(value: &str) -> Result<bool> {
    match value {
        "1" | "true" | "on" | "yes" => Ok(true),
        "0" | "false" | "off" | "no" => Ok(false),
        _ => bail!("it must be 0 or 1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let settings = Settings {
            format: Some(ReportFormat::Sarif),
            output: Some("/a b/c:d".into()),
            color: Some(Color::Never),
            suppressions: Some("/s".into()),
            baseline: Some("/b".into()),
            exit_code: Some(3),
            halt_on_race: true,
            external: Some(External::Ignore),
            external_rules: Some("/e".into()),
            calls: Some("each".into()),
            compress: Some(false),
            stats: true,
            log_dir: Some("/l".into()),
            record: Some("/r".into()),
            steer: Some("/p".into()),
        };
        assert_eq!(Settings::parse(&settings.options().unwrap()).unwrap(), settings);
        assert_eq!(Settings::parse("").unwrap(), Settings::default());
        assert_eq!(Settings::default().options().unwrap(), "");
    }

    #[test]
    fn a_flag_beats_the_variable() {
        let flag = Settings::parse("exit_code=1").unwrap();
        let variable = Settings::parse("exit_code=2:format=json").unwrap();
        let both = flag.or(variable);
        assert_eq!((both.exit_code, both.format), (Some(1), Some(ReportFormat::Json)));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("supressions=x", "suppressions"),
            ("exit_code=300", "0 to 255"),
            ("format=xml", "sarif"),
            ("halt_on_race", "name=value"),
            ("stats=maybe", "0 or 1"),
        ] {
            let error = format!("{:#}", Settings::parse(text).unwrap_err());
            assert!(error.contains(part), "{error}");
            assert!(error.contains("DEADHEAT_OPTIONS"), "{error}");
        }
    }

    #[test]
    fn options_of_the_runtime_are_let_through() {
        assert_eq!(
            Settings::parse("report_fd=3:reporter=/x").unwrap(),
            Settings::default()
        );
    }
}
