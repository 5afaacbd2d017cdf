//! `cargo deadheat`: cargo's own commands, with flags that have everything instrumented when it is linked.
//!
//! The host's triple is given as `--target`, so that build scripts and procedural macros, which run on the host, stay as
//! they are: cargo keeps flags for the target from them. A directory of its own keeps these builds apart from others.
//!
//! Programs report by themselves when they find a race, each through a reporter of its own (see `reporter.rs`), and each
//! reporter leaves a file in a directory that is made here. When cargo is done they are counted: cargo knows only that a
//! test failed.

use super::home::Home;
use super::listen::{conclude, render, write};
use super::rustflags::Flags;
use super::settings::Settings;
use super::{collect, compilers, reporter, run, shim};
use crate::args::{CargoArgs, ReportFormat};
use crate::files::Output;
use crate::term::{Color, Term};
use anyhow::{Context, Result, bail};
use deadheat_abi::options;
use deadheat_instrument::module::Placement;
use deadheat_report::text::Colors;
use deadheat_report::{Sources, quote};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// The commands of cargo that can be given, and whether they run programs.
const VERBS: &[(&str, bool)] = &[
    ("build", false),
    ("b", false),
    ("rustc", false),
    ("run", true),
    ("r", true),
    ("test", true),
    ("t", true),
    ("bench", true),
    ("nextest", true),
];

/// Runs the command.
pub fn run(args: &CargoArgs, color: Color) -> Result<ExitCode> {
    let settings = args.report.settings(color).or(Settings::from_environment()?);
    let term = Term::new(settings.color.unwrap_or_default());
    let (verb, rest) = args.cargo.split_first().context("which command of cargo?")?;
    let runs = VERBS
        .iter()
        .find(|(name, _)| verb == *name)
        .map(|(_, runs)| *runs);
    let Some(runs) = runs else {
        bail!(
            "`cargo deadheat {}` is not supported; there are {}",
            verb.display(),
            names()
        );
    };
    // Wrong files are named before anything is built.
    settings.judge()?;
    let output = settings.output.as_deref().map(Output::create).transpose()?;
    let given = Given::read(rest);
    let host = host()?;
    if let Some(target) = given
        .target
        .as_deref()
        .filter(|target| *target != OsStr::new(&host))
    {
        bail!(
            "programs for {} cannot be checked here; only for {host}",
            target.display()
        );
    }
    let logs = tempfile::tempdir().context("cannot make a temporary directory")?;
    let mut command = Command::new(cargo());
    command.arg(verb);
    // Nextest has commands of its own, which come first.
    let (own, rest) = match rest.split_first() {
        Some((own, rest)) if verb == "nextest" => (Some(own), rest),
        _ => (None, rest),
    };
    command.args(own);
    if given.target.is_none() {
        command.arg("--target").arg(&host);
    }
    if given.target_directory.is_none() {
        command
            .arg("--target-dir")
            .arg(target_directory(&given, args.build.placement)?);
    }
    let home = Home::open()?;
    Flags::of_user(&host)?.apply(&mut command, &host, &home);
    command.args(rest);
    command.envs(compilers_for_build_scripts(&host, &home));
    if let Some(placement) = args.build.placement {
        command.env(shim::PLACEMENT, placement.as_str());
    }
    command.env(options::VARIABLE, for_programs(&settings, logs.path())?);
    if runs {
        command.env(reporter::COUNTED, "1");
    }
    let end = run::attended(&mut command)?;
    if !runs {
        return Ok(ExitCode::from(end.status()));
    }
    let report = collect::reports(logs.path(), &again(args))?;
    let format = settings.format.unwrap_or_default();
    if format != ReportFormat::Text || output.is_some() {
        let mut sources = Sources::new(vec![PathBuf::from(".")]);
        let contents = render(&report, format, Colors::none(), &mut sources)?;
        write(output, &contents)?;
    }
    let outcome = conclude(&report, &settings, term);
    Ok(ExitCode::from(outcome.status.unwrap_or(end.status())))
}

fn names() -> String {
    let long = VERBS.iter().map(|(name, _)| *name).filter(|name| name.len() > 1);
    long.collect::<Vec<_>>().join(", ")
}

fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// What concerns us among the arguments for cargo.
#[derive(Debug, Default, PartialEq, Eq)]
struct Given {
    target: Option<OsString>,
    target_directory: Option<OsString>,
    manifest: Option<OsString>,
}

impl Given {
    fn read(arguments: &[OsString]) -> Given {
        let mut given = Given::default();
        let mut arguments = arguments.iter().take_while(|argument| *argument != "--");
        while let Some(argument) = arguments.next() {
            let mut value = |name: &str| {
                let rest = argument.to_str()?.strip_prefix(name)?;
                match rest.strip_prefix('=') {
                    Some(value) => Some(OsString::from(value)),
                    None if rest.is_empty() => arguments.next().cloned(),
                    None => None,
                }
            };
            if let Some(target) = value("--target") {
                given.target = Some(target);
            } else if let Some(directory) = value("--target-dir") {
                given.target_directory = Some(directory);
            } else if let Some(manifest) = value("--manifest-path") {
                given.manifest = Some(manifest);
            }
        }
        given
    }
}

/// The triple of this machine.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(&rustc)
        .arg("-vV")
        .output()
        .with_context(|| format!("cannot run `{}`", rustc.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned)
        .with_context(|| format!("`{} -vV` does not say what host it is for", rustc.display()))
}

/// A directory of our own within the one that cargo would use. Cargo does not know of placements, so each has its own.
fn target_directory(given: &Given, placement: Option<Placement>) -> Result<PathBuf> {
    let mut command = Command::new(cargo());
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    if let Some(manifest) = &given.manifest {
        command.arg("--manifest-path").arg(manifest);
    }
    let output = command.output().context("cannot run cargo")?;
    if !output.status.success() {
        bail!(
            "{}",
            String::from_utf8_lossy(&output.stderr)
                .trim()
                .trim_start_matches("error: ")
        );
    }
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("cannot read what cargo says")?;
    let directory = metadata["target_directory"].as_str();
    let directory = directory.context("cargo does not say where it builds")?;
    let name = match placement {
        None | Some(Placement::Full) => "deadheat".to_owned(),
        Some(other) => format!("deadheat-{}", other.as_str()),
    };
    Ok(Path::new(directory).join(name))
}

/// Compilers of C and C++ for build scripts, by the variables that the crate `cc` and its like ask for: unless the user has
/// said which to use, or there is no clang. Their objects are of use to build scripts that are not instrumented, too.
fn compilers_for_build_scripts(target: &str, home: &Home) -> Vec<(String, PathBuf)> {
    let underscored = target.replace('-', "_");
    let given = |kind: &str| {
        let names = [
            format!("{kind}_{target}"),
            format!("{kind}_{underscored}"),
            format!("HOST_{kind}"),
            kind.to_owned(),
        ];
        names.iter().any(|name| std::env::var_os(name).is_some())
    };
    if compilers::find_clang().is_err() {
        return Vec::new();
    }
    ["CC", "CXX"]
        .into_iter()
        .zip(home.compilers())
        .filter(|(kind, _)| !given(kind))
        .map(|(kind, path)| (format!("{kind}_{underscored}"), path))
        .collect()
}

/// `DEADHEAT_OPTIONS` for the programs that cargo runs. They show what they find as text; what else is asked for is made
/// here of all of them.
fn for_programs(settings: &Settings, logs: &Path) -> Result<String> {
    let for_programs = Settings {
        format: None,
        output: None,
        log_dir: Some(logs.to_owned()),
        ..settings.clone()
    };
    for_programs.options()
}

/// The command that shows the findings again.
fn again(args: &CargoArgs) -> String {
    let words = args.cargo.iter().map(|word| quote(&word.to_string_lossy()));
    let options = args.build.as_words().into_iter().chain(args.report.found_with());
    let command = std::iter::once("cargo deadheat".to_owned()).chain(options);
    command.chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(arguments: &str) -> Given {
        let arguments: Vec<OsString> = arguments.split_whitespace().map(OsString::from).collect();
        Given::read(&arguments)
    }

    #[test]
    fn options_that_concern_us_are_found_in_both_spellings() {
        for text in [
            "--release --target x --target-dir d --manifest-path m",
            "--target-dir=d --target=x --manifest-path=m -- --target y",
        ] {
            let expect = Given {
                target: Some("x".into()),
                target_directory: Some("d".into()),
                manifest: Some("m".into()),
            };
            assert_eq!(given(text), expect, "{text}");
        }
        assert_eq!(given("-- --target y"), Given::default());
        assert_eq!(given("--targets y"), Given::default());
    }

    #[test]
    fn programs_leave_reports_and_write_nothing_else() {
        let settings = Settings {
            format: Some(ReportFormat::Json),
            output: Some("/out".into()),
            suppressions: Some("/rules".into()),
            ..Settings::default()
        };
        assert_eq!(
            for_programs(&settings, Path::new("/logs")).unwrap(),
            "suppressions='/rules':log_dir='/logs'"
        );
    }
}
