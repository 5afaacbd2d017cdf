//! The tools that are measured, in one table: how a workload is built for each, and how it is run.
//!
//! A variant of deadheat is one more row: what its builds have in the environment (`build.environment`), and what its
//! runs have in `DEADHEAT_OPTIONS`. Rows with the same `build.name` share their programs.

use crate::native::compilers::{self, Language};
use crate::native::shim::{COUNT, PLACEMENT};
use anyhow::{Context, Result, bail};
use deadheat_abi::options;
use std::path::Path;
use std::process::{Command, Stdio};

/// What every other tool is compared with.
pub const NATIVE: &str = "native";

/// The one that this is about.
pub const DEADHEAT: &str = "deadheat";

/// A tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name on the command line and in tables.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// How programs are built for it.
    pub build: Build,
    /// How they are built to count, if it can.
    pub counting: Option<Build>,
    /// What stands in front of the program.
    pub command: &'static [&'static str],
    /// What its runs have in the environment.
    pub environment: &'static [(&'static str, &'static str)],
    /// Whether it takes programs in Rust, or why not.
    pub rust: Result<(), &'static str>,
    /// In which form it reports.
    pub reports: Reports,
    /// Debian's packages that have it.
    pub package: &'static str,
    /// Whether it is deadheat with parts of it off, which only who asks for it wants to see.
    pub variant: bool,
}

/// How programs are built.
#[derive(Debug)]
pub struct Build {
    /// Stands for the rest.
    pub name: &'static str,
    /// By whom.
    pub compiler: Compiler,
    /// More flags for C and C++.
    pub cflags: &'static [&'static str],
    /// More flags for Rust.
    pub rustflags: &'static [&'static str],
    /// What the compiler has in the environment.
    pub environment: &'static [(&'static str, &'static str)],
}

/// Who builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// clang, or rustc.
    Plain,
    /// gcc.
    Gcc,
    /// What `deadheat check` calls.
    Ours,
}

/// Forms of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reports {
    /// There are none.
    None,
    /// JSON in a file.
    Deadheat,
    /// ThreadSanitizer's text.
    Tsan,
    /// Valgrind's text.
    Valgrind,
}

/// As `deadheat check` builds.
pub const OURS: Build = Build {
    name: "deadheat",
    compiler: Compiler::Ours,
    cflags: &[],
    rustflags: &[],
    environment: &[],
};

/// Without the checks that others make superfluous (`--placement redundant`).
const REDUNDANT: Build = Build {
    name: "redundant",
    environment: &[(PLACEMENT, "redundant")],
    ..OURS
};

/// With a check for each access: to see what a check takes (`instructions.rs`), and what placement saves.
pub const EACH: Build = Build {
    name: "each",
    environment: &[(PLACEMENT, "off")],
    ..OURS
};

/// To be counted, not timed (`counters.rs`): the three above.
const COUNTING: Build = Build {
    name: "count",
    environment: &[(COUNT, "1")],
    ..OURS
};
const COUNTING_REDUNDANT: Build = Build {
    name: "count-redundant",
    environment: &[(COUNT, "1"), (PLACEMENT, "redundant")],
    ..OURS
};
const COUNTING_EACH: Build = Build {
    name: "count-each",
    environment: &[(COUNT, "1"), (PLACEMENT, "off")],
    ..OURS
};

const PLAIN: Build = Build {
    name: NATIVE,
    compiler: Compiler::Plain,
    cflags: &[],
    rustflags: &[],
    environment: &[],
};

/// valgrind 3.19 does not read DWARF 5.
const FOR_VALGRIND: Build = Build {
    name: "valgrind",
    cflags: &["-gdwarf-4"],
    rustflags: &["-Cdwarf-version=4"],
    ..PLAIN
};

const BASE: Tool = Tool {
    name: NATIVE,
    about: "clang -O2, rustc -O: nothing is looked for",
    build: PLAIN,
    counting: None,
    command: &[],
    environment: &[],
    rust: Ok(()),
    reports: Reports::None,
    package: "clang-22",
    variant: false,
};

/// Without compressed shadow.
const UNCOMPRESSED: &[(&str, &str)] = &[(options::VARIABLE, "compress=0")];

const VARIANT: Tool = Tool {
    reports: Reports::Deadheat,
    variant: true,
    ..BASE
};

const TSAN_ENVIRONMENT: &[(&str, &str)] = &[("TSAN_OPTIONS", "detect_deadlocks=0")];
const NIGHTLY: Result<(), &str> = Err("ThreadSanitizer needs a nightly rustc");

/// The table.
pub const TOOLS: &[Tool] = &[
    BASE,
    Tool {
        name: "empty",
        about: "instrumented as for deadheat; the inline tests pass, synchronisation is followed, nothing is checked",
        build: OURS,
        environment: &[(options::VARIABLE, "detect=0")],
        ..BASE
    },
    Tool {
        name: DEADHEAT,
        about: "as `deadheat check` builds it",
        build: OURS,
        counting: Some(COUNTING),
        reports: Reports::Deadheat,
        ..BASE
    },
    Tool {
        name: "ft",
        about: "deadheat with a check for each access and no compressed shadow, as FastTrack",
        build: EACH,
        counting: Some(COUNTING_EACH),
        environment: UNCOMPRESSED,
        ..VARIANT
    },
    Tool {
        name: "rc",
        about: "deadheat with redundant checks left out and no compressed shadow, as RedCard",
        build: REDUNDANT,
        counting: Some(COUNTING_REDUNDANT),
        environment: UNCOMPRESSED,
        ..VARIANT
    },
    Tool {
        name: "ss",
        about: "deadheat with a check for each access and compressed shadow, as SlimState and SHRINKWRAP",
        build: EACH,
        counting: Some(COUNTING_EACH),
        ..VARIANT
    },
    Tool {
        name: "sc",
        about: "deadheat with redundant checks left out and compressed shadow, as SlimCard",
        build: REDUNDANT,
        counting: Some(COUNTING_REDUNDANT),
        ..VARIANT
    },
    Tool {
        name: "pl",
        about: "deadheat with its placement and no compressed shadow",
        build: OURS,
        counting: Some(COUNTING),
        environment: UNCOMPRESSED,
        ..VARIANT
    },
    Tool {
        name: "tsan",
        about: "clang's ThreadSanitizer, its search for deadlocks off",
        build: Build {
            name: "tsan",
            cflags: &["-fsanitize=thread"],
            ..PLAIN
        },
        environment: TSAN_ENVIRONMENT,
        rust: NIGHTLY,
        reports: Reports::Tsan,
        package: "libclang-rt-22-dev",
        ..BASE
    },
    Tool {
        name: "gcc-tsan",
        about: "gcc's ThreadSanitizer, its search for deadlocks off",
        build: Build {
            name: "gcc-tsan",
            compiler: Compiler::Gcc,
            cflags: &["-fsanitize=thread"],
            ..PLAIN
        },
        environment: TSAN_ENVIRONMENT,
        rust: NIGHTLY,
        reports: Reports::Tsan,
        package: "gcc g++ libtsan2",
        ..BASE
    },
    Tool {
        name: "helgrind",
        about: "valgrind's Helgrind on the native program",
        build: FOR_VALGRIND,
        command: &["valgrind", "--tool=helgrind"],
        reports: Reports::Valgrind,
        package: "valgrind",
        ..BASE
    },
    Tool {
        name: "drd",
        about: "valgrind's DRD on the native program",
        build: FOR_VALGRIND,
        command: &["valgrind", "--tool=drd"],
        reports: Reports::Valgrind,
        package: "valgrind",
        ..BASE
    },
];

/// The tools that were asked for, in the order of the table; all but the variants of deadheat if none was.
pub fn choose(names: &[String]) -> Result<Vec<&'static Tool>> {
    for name in names {
        if !TOOLS
            .iter()
            .any(|tool| super::workload::matches(std::slice::from_ref(name), tool.name))
        {
            let known: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            bail!("there is no tool `{name}`; there are {}", known.join(", "));
        }
    }
    let wanted = |tool: &&Tool| match names {
        [] => !tool.variant,
        _ => super::workload::matches(names, tool.name),
    };
    Ok(TOOLS.iter().filter(wanted).collect())
}

/// The tool of that name.
pub fn named(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

impl Tool {
    /// What it says its version is. Fails if it is not here, and says what to install.
    pub fn version(&self) -> Result<String> {
        self.look().with_context(|| {
            format!(
                "{} cannot be used; on Debian it is in {} (apt-get install {})",
                self.name, self.package, self.package
            )
        })
    }

    fn look(&self) -> Result<String> {
        if let [program, ..] = self.command {
            return first_line(Command::new(program).arg("--version"));
        }
        match self.build.compiler {
            Compiler::Ours => Ok(format!("deadheat {}", env!("CARGO_PKG_VERSION"))),
            Compiler::Plain | Compiler::Gcc => {
                let mut command = self.build.compiler_command(Language::C)?;
                links(&mut self.build.compiler_command(Language::C)?, self.build.cflags)?;
                first_line(command.arg("--version"))
            }
        }
    }

    /// Whether it takes programs in that language, or why not.
    pub fn takes(&self, language: Language) -> Result<(), &'static str> {
        match language {
            Language::Rust => self.rust,
            Language::C | Language::Cpp => Ok(()),
        }
    }

    /// The command that runs a program.
    pub fn run(&self, program: &Path) -> Vec<std::ffi::OsString> {
        let mut words: Vec<std::ffi::OsString> = self.command.iter().map(Into::into).collect();
        words.push(program.into());
        words
    }
}

impl Build {
    /// The compiler, for builds that are not ours.
    pub fn compiler_command(&self, language: Language) -> Result<Command> {
        let cpp = language == Language::Cpp;
        Ok(match self.compiler {
            Compiler::Gcc => Command::new(if cpp { "g++" } else { "gcc" }),
            Compiler::Plain | Compiler::Ours => {
                let mut command = Command::new(compilers::find_clang()?);
                if cpp {
                    command.arg("--driver-mode=g++");
                }
                command
            }
        })
    }
}

/// Whether a program can be linked with these flags: the compiler may be here and its libraries not.
fn links(command: &mut Command, flags: &[&str]) -> Result<()> {
    let directory = tempfile::tempdir().context("cannot make a temporary directory")?;
    let source = directory.path().join("empty.c");
    std::fs::write(&source, "int main(void) { return 0; }\n")?;
    let output = command
        .args(flags)
        .arg(source)
        .arg("-o")
        .arg(directory.path().join("empty"))
        .output()
        .with_context(|| format!("cannot run `{}`", command.get_program().display()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        bail!("{}", text.lines().next().unwrap_or("the compiler failed"));
    }
    Ok(())
}

/// The first line of what a command prints.
pub fn first_line(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot run `{}`", command.get_program().display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().next().unwrap_or_default().trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_chosen_by_pattern() {
        for (n, tool) in TOOLS.iter().enumerate() {
            assert!(TOOLS[..n].iter().all(|other| other.name != tool.name));
        }
        let names = |patterns: &[&str]| -> Vec<&str> {
            let patterns: Vec<String> = patterns.iter().map(|&name| name.to_owned()).collect();
            choose(&patterns).unwrap().iter().map(|tool| tool.name).collect()
        };
        assert_eq!(names(&["drd", "native"]), ["native", "drd"]);
        assert_eq!(names(&["*tsan"]), ["tsan", "gcc-tsan"]);
        assert_eq!(names(&["f*", "s?"]), ["ft", "ss", "sc"]);
        assert!(!names(&[]).contains(&"ft") && names(&[]).contains(&"drd"));
        let error = choose(&["hellgrind".to_owned()]).unwrap_err().to_string();
        assert!(
            error.contains("hellgrind") && error.contains("helgrind, drd"),
            "{error}"
        );
    }

    #[test]
    fn rows_that_share_programs_build_them_alike() {
        for a in TOOLS {
            for b in TOOLS.iter().filter(|b| a.build.name == b.build.name) {
                let key = |build: &Build| (build.compiler, build.cflags, build.rustflags, build.environment);
                assert_eq!(key(&a.build), key(&b.build), "{} {}", a.name, b.name);
            }
        }
    }

    #[test]
    fn variants_with_the_same_placement_differ_by_compression() {
        for (without, with) in [("ft", "ss"), ("rc", "sc"), ("pl", DEADHEAT)] {
            let (without, with) = (named(without).unwrap(), named(with).unwrap());
            assert_eq!(without.build.name, with.build.name);
            let counting = |tool: &Tool| tool.counting.as_ref().map(|build| build.name);
            assert_eq!(counting(without), counting(with));
            assert_eq!(
                (without.environment, with.environment),
                (UNCOMPRESSED, &[][..]),
                "{}",
                without.name
            );
            assert!(without.variant);
        }
    }

    #[test]
    fn a_tool_that_is_not_here_names_its_package() {
        let absent = Tool {
            command: &["no-such-valgrind"],
            package: "valgrind",
            ..BASE
        };
        let error = format!("{:#}", absent.version().unwrap_err());
        assert!(
            error.contains("apt-get install valgrind") && error.contains("no-such-valgrind"),
            "{error}"
        );
    }
}
