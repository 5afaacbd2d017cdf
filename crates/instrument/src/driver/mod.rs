//! Stands in for the linker: `rustc -C linker=` calls it as a compiler driver, clang's `--ld-path=` as a linker.
//!
//! Every input that holds bitcode is replaced by an instrumented object or archive of the same name, the runtime is put
//! in front of all libraries, and the real linker does the rest. Everything else stays as it is, in its place: groups,
//! `--whole-archive`, version scripts, objects that hold no bitcode.
//!
//! With `-r` the output is an instrumented object. It has no runtime: the link that makes a program of it adds one.

mod inputs;
mod line;
mod own;
mod relocatable;
mod response;
mod whole;
mod words;

use crate::cache::{self, Cache};
use crate::module::Placement;
use crate::program;
use crate::select::Selection;
use inputs::Workshop;
use line::{Line, Output, Part};
use own::Own;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use whole::Exported;
use words::Word;

/// Whom the caller takes us for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    /// A compiler driver such as `cc`.
    Compiler,
    /// A linker such as `ld`.
    Linker,
}

/// What the driver needs to know besides the command line.
#[derive(Debug)]
pub struct Config {
    /// The real compiler driver or linker.
    pub program: OsString,
    /// The runtime's shared library, with its whole path: programs look for it there.
    pub runtime: PathBuf,
    /// Where results are kept.
    pub cache: Option<PathBuf>,
    /// Bytes kept there.
    pub cache_limit: u64,
    /// Stands for this version of the tool: results of another are not used.
    pub identity: Vec<u8>,
    /// Whether programs are to count their accesses.
    pub count: bool,
    /// Whether they are to log accesses and checks, for tests.
    pub log: bool,
    /// Make programs that are to be recorded, not checked.
    pub record: bool,
    /// What of them.
    pub selection: Selection,
    /// Which checks are left out, and which are moved.
    pub placement: Placement,
    /// Whether programs are to say what became of each access.
    pub explain: bool,
}

/// Why a link failed before the real linker was called.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// A command line longer than this goes through a file.
const LONG: usize = 64 << 10;

/// Links as `arguments` say. Answers with the real linker's status.
pub fn link(
    face: Face,
    arguments: Vec<OsString>,
    config: &Config,
    warn: &(dyn Fn(&str) + Sync),
) -> Result<ExitStatus, Error> {
    let expanded = response::expand(arguments.clone()).map_err(|error| failed("a response file", &error))?;
    let line = line::read(words::split(expanded, face), face)?;
    if line.output == Output::Nothing {
        return run(&config.program, &arguments);
    }
    let mut exported = Exported::of(&line);
    loop {
        let (status, relied_on) = link_knowing(face, &line, config, &exported, warn)?;
        // Names that were taken for the program's own, and that libraries find there after all: few programs have any.
        let more = exported.with_those_of(&line.file);
        match more.filter(|more| status.success() && relied_on.iter().any(|name| more.has(name))) {
            Some(more) => exported = more,
            None => return Ok(status),
        }
    }
}

/// Links a program of which libraries find what is `exported`. Answers with the real linker's status, and the names that
/// no library must find.
fn link_knowing(
    face: Face,
    line: &Line,
    config: &Config,
    exported: &Exported,
    warn: &(dyn Fn(&str) + Sync),
) -> Result<(ExitStatus, HashSet<String>), Error> {
    let cache = config.cache.as_deref().and_then(|root| {
        let opened = Cache::open(root, config.cache_limit);
        opened
            .map_err(|error| {
                warn(&format!(
                    "results cannot be kept in {}: {error}; DEADHEAT_CACHE names another directory",
                    root.display()
                ));
            })
            .ok()
    });
    let work = match &cache {
        Some(cache) => tempfile::tempdir_in(cache.work()),
        None => tempfile::tempdir(),
    };
    let work = work.map_err(|error| failed("a temporary directory", &error))?;
    let mut workshop = Workshop::new(cache, line, exported, (config, face), work.path(), warn)?;
    let (mut words, own) = replaced(line, &mut workshop)?;
    if line.output != Output::Object {
        words.splice(0..0, runtime(&config.runtime, face));
        let mut lines = own.lines();
        if config.record {
            lines.extend(program::note());
        }
        if !lines.is_empty() {
            let file = work.path().join("own.o");
            let object = own::object(lines).map_err(|error| Error(error.0))?;
            std::fs::write(&file, object).map_err(|error| failed("a temporary file", &error))?;
            words.insert(0, Word::own(&file));
        }
    }
    let arguments = words::join(words);
    let status = if arguments.iter().map(|word| word.len() + 1).sum::<usize>() > LONG {
        let file = work.path().join("arguments");
        std::fs::write(&file, response::text(&arguments))
            .map_err(|error| failed("a response file", &error))?;
        let mut word = OsString::from("@");
        word.push(&file);
        run(&config.program, &[word])
    } else {
        run(&config.program, &arguments)
    };
    Ok((status?, workshop.close()))
}

/// The words for the real linker, and what they say of functions of the program's own.
fn replaced(line: &Line, workshop: &mut Workshop<'_>) -> Result<(Vec<Word>, Own), Error> {
    let paths: Vec<&Path> = line
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Input { path, .. } => Some(path.as_path()),
            Part::Words(_) => None,
        })
        .collect();
    let mut made = workshop.convert(&paths)?.into_iter();
    let mut result = Vec::new();
    let mut own = Own::default();
    for part in &line.parts {
        match part {
            Part::Words(words) => result.extend(words.iter().cloned()),
            Part::Input { words, path } => {
                let made = made.next().flatten();
                let used = made.as_ref().unwrap_or(path);
                if let Some(data) = inputs::contents(used).filter(|_| !line::is_left_alone(path)) {
                    own.look_at(&data, used);
                }
                match made {
                    Some(path) => result.push(Word {
                        text: path.into(),
                        passed: words.first().is_some_and(|word| word.passed),
                    }),
                    None => result.extend(words.iter().cloned()),
                }
            }
        }
    }
    Ok((result, own))
}

/// The runtime comes before every other library, so that its functions are found first, and stays even though nothing
/// may seem to need it.
fn runtime(path: &Path, face: Face) -> [Word; 4] {
    [
        Word::linker("--push-state", face),
        Word::linker("--no-as-needed", face),
        Word::own(path),
        Word::linker("--pop-state", face),
    ]
}

fn run(program: &OsString, arguments: &[OsString]) -> Result<ExitStatus, Error> {
    let status = Command::new(program).args(arguments).status();
    status.map_err(|error| failed(&format!("cannot run `{}`", Path::new(program).display()), &error))
}

fn failed(what: &str, error: &io::Error) -> Error {
    Error(format!("{what}: {error}"))
}

/// Takes text apart into words, as in a response file. That is how a shell does it, too, as far as quotes go.
pub fn split_words(text: &str) -> Vec<OsString> {
    response::words(text.as_bytes())
}

/// Puts the words of response files (`@FILE`) in their place.
pub fn expand(arguments: Vec<OsString>) -> io::Result<Vec<OsString>> {
    response::expand(arguments)
}

/// The text of a response file with these words.
pub fn response_text(arguments: &[OsString]) -> Vec<u8> {
    response::text(arguments)
}

/// Bytes kept if nobody says how much.
pub const CACHE_LIMIT: u64 = cache::DEFAULT_LIMIT;
