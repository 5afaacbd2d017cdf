//! This command under another name: compilers call it as their linker.

use super::compilers::Language;
use super::home::{self, Home};
use crate::term::{Color, Term, say};
use anyhow::{Context, Result};
use deadheat_instrument::cache::Key;
use deadheat_instrument::driver::{self, Config, Face};
use deadheat_instrument::module::Placement;
use deadheat_instrument::select::Selection;
use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Set to 1, programs are instrumented to count their accesses, for `deadheat bench`.
pub const COUNT: &str = "DEADHEAT_COUNT";
/// Set to 1, programs log accesses and checks, for the tests of the placement (`tests/placement`).
const LOG: &str = "DEADHEAT_LOG";
/// The environment variable that asks for programs to be recorded, not checked.
pub const RECORD: &str = "DEADHEAT_RECORD";
/// What of them: globs, one a line or between semicolons.
pub const INCLUDE: &str = "DEADHEAT_INCLUDE";
/// What not.
pub const EXCLUDE: &str = "DEADHEAT_EXCLUDE";

/// The environment variable that says which checks are left out, and which are moved.
pub const PLACEMENT: &str = "DEADHEAT_PLACEMENT";
/// Set to 1, programs say what became of each access, for `deadheat explain-checks`.
pub const EXPLAIN: &str = "DEADHEAT_EXPLAIN";

/// Whom the caller wants, going by the name it called.
pub fn face(name: Option<&OsString>) -> Option<Face> {
    let name = Path::new(name?).file_name()?;
    match name.to_str()? {
        home::COMPILER_FACE => Some(Face::Compiler),
        home::LINKER_FACE => Some(Face::Linker),
        _ => None,
    }
}

/// The compiler that the caller wants, and the arguments for it: `deadheat cc …`, or a link to this command with a name
/// like a compiler's.
pub fn compiler(arguments: impl IntoIterator<Item = OsString>) -> Option<(Language, Vec<OsString>)> {
    let mut arguments = arguments.into_iter().peekable();
    let name = arguments.next()?;
    let name = Path::new(&name).file_name()?.to_str()?;
    let language = match name {
        home::CC => Language::C,
        home::CXX => Language::Cpp,
        _ => match arguments.next()?.to_str()? {
            "cc" => Language::C,
            "c++" => Language::Cpp,
            _ => return None,
        },
    };
    Some((language, arguments.collect()))
}

/// The tool of binutils that the caller wants: objects are ordinary ones.
pub fn tool(name: Option<&OsString>) -> Option<&'static str> {
    match Path::new(name?).file_name()?.to_str()? {
        home::AR => Some("ar"),
        home::RANLIB => Some("ranlib"),
        _ => None,
    }
}

/// Becomes a tool.
pub fn become_tool(tool: &str, arguments: impl Iterator<Item = OsString>) -> anyhow::Error {
    let error = Command::new(tool).args(arguments).exec();
    anyhow::Error::new(error).context(format!("cannot run `{tool}`"))
}

/// Links.
pub fn run(face: Face, arguments: Vec<OsString>) -> ExitCode {
    let term = Term::new(Color::Auto);
    match link(face, arguments, term) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            let style = term.error();
            say(&format!("deadheat: {style}error{style:#}: {error:#}"));
            ExitCode::from(crate::USAGE)
        }
    }
}

fn link(face: Face, arguments: Vec<OsString>, term: Term) -> Result<u8> {
    let (variable, usual) = match face {
        Face::Compiler => ("DEADHEAT_CC", "cc"),
        Face::Linker => ("DEADHEAT_LD", "ld"),
    };
    let config = Config {
        program: std::env::var_os(variable)
            .filter(|value| !value.is_empty())
            .unwrap_or_else(|| usual.into()),
        runtime: Home::open()?.runtime(),
        cache: home::cache(),
        cache_limit: driver::CACHE_LIMIT,
        identity: identity()?,
        count: std::env::var_os(COUNT).is_some_and(|value| value == "1"),
        log: std::env::var_os(LOG).is_some_and(|value| value == "1"),
        record: std::env::var_os(RECORD).is_some_and(|value| !value.is_empty() && value != "0"),
        selection: Selection::parse(&globs(INCLUDE)?, &globs(EXCLUDE)?),
        placement: placement()?,
        explain: std::env::var_os(EXPLAIN).is_some_and(|value| value == "1"),
    };
    let status = driver::link(face, arguments, &config, &|message| term.warn(message))?;
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => u8::try_from(code).unwrap_or(1),
        (None, signal) => 128 + signal.and_then(|signal| u8::try_from(signal).ok()).unwrap_or(0),
    })
}

fn globs(name: &str) -> Result<String> {
    match std::env::var(name) {
        Ok(value) => Ok(value),
        Err(std::env::VarError::NotPresent) => Ok(String::new()),
        Err(error) => Err(error).context(format!("{name} cannot be read")),
    }
}

/// What the environment says of checks.
fn placement() -> Result<Placement> {
    match std::env::var(PLACEMENT) {
        Ok(name) if !name.is_empty() => Placement::parse(&name)
            .with_context(|| format!("{PLACEMENT} is `{name}`; there are off, redundant and full")),
        _ => Ok(Placement::default()),
    }
}

/// Stands for the code that instruments. Whatever is changed in it, the file is another; it names its LLVM, too.
fn identity() -> Result<Vec<u8>> {
    let key = Key::of_file(Path::new("/proc/self/exe")).context("cannot read this command's own file")?;
    Ok(key.to_hex().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides() {
        let face = |name: &str| face(Some(&OsString::from(name)));
        assert_eq!(face("/cache/runtime/x/deadheat-link"), Some(Face::Compiler));
        assert_eq!(face("deadheat-ld"), Some(Face::Linker));
        assert_eq!(face("/usr/bin/deadheat"), None);
        assert_eq!(super::face(None), None);
        let tool = |name: &str| tool(Some(&OsString::from(name)));
        assert_eq!(tool("bin/deadheat-llvm-ranlib"), Some("ranlib"));
        assert_eq!(tool("deadheat-ar"), None);
        let compiler = |words: &str| compiler(words.split(' ').map(OsString::from));
        let ls = vec![OsString::from("-c"), OsString::from("cc")];
        assert_eq!(
            compiler("/bin/deadheat-cc -c cc"),
            Some((Language::C, ls.clone()))
        );
        assert_eq!(compiler("deadheat-c++ -c cc"), Some((Language::Cpp, ls.clone())));
        assert_eq!(compiler("deadheat c++ -c cc"), Some((Language::Cpp, ls)));
        assert_eq!(compiler("deadheat check cc"), None);
    }
}
