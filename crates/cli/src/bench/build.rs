//! Builds workloads, each once for each way of building, into a directory of their own.
//!
//! Beside each program stands what it was made from, so that it is built again only if that changes.

use super::tools::{Build, Compiler};
use super::workload::Workload;
use crate::native::compilers::{self, Language};
use crate::native::home::Home;
use anyhow::{Context, Result, bail};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which of a workload's two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// The one without races.
    Clean,
    /// The one with the known race.
    Racing,
}

/// Builds and keeps programs.
pub struct Builder {
    directory: PathBuf,
    home: Home,
    /// This command's own file, which says which deadheat built a program.
    this: u64,
}

impl Builder {
    /// Keeps programs in `directory`.
    pub fn new(directory: &Path) -> Result<Builder> {
        std::fs::create_dir_all(directory)
            .with_context(|| format!("cannot make {}; --dir names another", directory.display()))?;
        let this = std::env::current_exe().and_then(std::fs::metadata);
        let mut hasher = DefaultHasher::new();
        if let Ok(metadata) = this {
            (metadata.len(), metadata.modified().ok()).hash(&mut hasher);
        }
        Ok(Builder {
            directory: std::path::absolute(directory)?,
            home: Home::open()?,
            this: hasher.finish(),
        })
    }

    /// Where programs are.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The program of a workload, built if it is not there.
    pub fn program(&self, workload: &Workload, build: &Build, version: Version) -> Result<PathBuf> {
        let directory = self.directory.join(build.name);
        std::fs::create_dir_all(&directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        let suffix = match version {
            Version::Clean => "",
            Version::Racing => "-race",
        };
        let program = directory.join(format!("{}{suffix}", workload.name));
        let mut command = self.command(workload, build, version, &program)?;
        let stamp = directory.join(format!("{}{suffix}.made-from", workload.name));
        let made_from = self.made_from(workload, build, &command);
        if program.exists() && std::fs::read_to_string(&stamp).is_ok_and(|text| text == made_from) {
            return Ok(program);
        }
        let _ = std::fs::remove_file(&stamp);
        let output = command
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot run `{}`", command.get_program().display()))?;
        if !output.status.success() {
            bail!("{}", why(&String::from_utf8_lossy(&output.stderr)));
        }
        std::fs::write(&stamp, made_from).with_context(|| format!("cannot write {}", stamp.display()))?;
        Ok(program)
    }

    fn command(
        &self,
        workload: &Workload,
        build: &Build,
        version: Version,
        output: &Path,
    ) -> Result<Command> {
        let racing = version == Version::Racing;
        let source = &workload.path;
        let (mut cflags, mut rustflags) = (Vec::new(), Vec::new());
        match workload.language {
            Language::Rust => {
                rustflags.extend(["-O", "-g"].map(str::to_owned));
                // In a workload that has none, it would only be a word that nobody knows.
                if racing {
                    rustflags.extend(["--cfg", "race"].map(str::to_owned));
                }
                rustflags.extend(build.rustflags.iter().map(|&flag| flag.to_owned()));
                rustflags.extend(workload.flags.iter().cloned());
            }
            Language::C | Language::Cpp => {
                let include = source.parent().unwrap_or(Path::new(".")).join("include");
                cflags.extend(["-O2", "-g"].map(str::to_owned));
                cflags.push(format!("-I{}", include.display()));
                if racing {
                    cflags.push("-DRACE".to_owned());
                }
                cflags.extend(build.cflags.iter().map(|&flag| flag.to_owned()));
                cflags.extend(workload.flags.iter().cloned());
            }
        }
        let mut command = match (build.compiler, workload.language) {
            (Compiler::Ours, language) => {
                compilers::command(language, source, output, &cflags, &rustflags, &self.home, false)?
            }
            (_, Language::Rust) => {
                let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
                command.args(["--edition", "2024"]).args(&rustflags);
                command.arg(source).arg("-o").arg(output);
                command
            }
            (_, language) => {
                let mut command = build.compiler_command(language)?;
                // Libraries stand behind what needs them.
                command
                    .arg("-pthread")
                    .arg(source)
                    .args(&cflags)
                    .arg("-o")
                    .arg(output);
                command
            }
        };
        command.envs(build.environment.iter().copied());
        Ok(command)
    }

    /// All that the program depends on.
    fn made_from(&self, workload: &Workload, build: &Build, command: &Command) -> String {
        let mut hasher = DefaultHasher::new();
        std::fs::read(&workload.path)
            .unwrap_or_default()
            .hash(&mut hasher);
        let include = workload.path.parent().unwrap_or(Path::new(".")).join("include");
        let entries = std::fs::read_dir(include).into_iter().flatten().flatten();
        let mut headers: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        headers.sort();
        for header in headers {
            (&header, std::fs::read(&header).unwrap_or_default()).hash(&mut hasher);
        }
        if build.compiler == Compiler::Ours {
            self.this.hash(&mut hasher);
        }
        format!("{command:?} {:?}\n{:016x}\n", build.environment, hasher.finish())
    }
}

/// The line of a compiler's output that says what is wrong.
fn why(output: &str) -> String {
    // That the linker failed is said last, and says nothing.
    let says = |line: &&str| {
        (line.contains("error") || line.contains("undefined ")) && !line.contains("linker command failed")
    };
    let line = output.lines().find(says).or(output.lines().next());
    line.unwrap_or("the compiler failed").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_with_the_error_is_found() {
        let output = "In file included from a.c:1:\na.h:3:5: error: unknown type\n";
        assert_eq!(why(output), "a.h:3:5: error: unknown type");
        assert_eq!(why("ld: no\n"), "ld: no");
        let output =
            "clang: error: linker command failed with exit code 1\na.c:3: undefined reference to `f'\n";
        assert_eq!(why(output), "a.c:3: undefined reference to `f'");
        assert_eq!(why(""), "the compiler failed");
    }
}
