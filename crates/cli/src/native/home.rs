//! Where deadheat keeps its things: the cache directory, and in it the runtime that programs are linked with.
//!
//! The runtime is carried inside this command and unpacked under a name that its contents and the command's path
//! determine. Beside it are symbolic links to the command: `deadheat`, which the runtime starts to report, and the names
//! under which compilers call it as their linker.

use anyhow::{Context, Result};
use deadheat_instrument::cache::Key;
use deadheat_instrument::program;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, symlink};
use std::path::{Path, PathBuf};

/// The runtime, as the build script made it.
static RUNTIME: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libdeadheat_rt.so"));

/// Names under which this command is also called: as the reporter, as a compiler that links, as a linker.
const REPORTER: &str = "deadheat";
/// See [`REPORTER`].
pub const COMPILER_FACE: &str = "deadheat-link";
/// See [`REPORTER`].
pub const LINKER_FACE: &str = "deadheat-ld";

/// As a compiler of C, of C++.
pub const CC: &str = "deadheat-cc";
/// See [`CC`].
pub const CXX: &str = "deadheat-c++";

/// CMake takes what comes before `cc` for the prefix of a whole toolchain, and builds with link-time optimisation only if
/// there are these two.
pub const AR: &str = "deadheat-llvm-ar";
/// See [`AR`].
pub const RANLIB: &str = "deadheat-llvm-ranlib";

const NAMES: [&str; 7] = [REPORTER, COMPILER_FACE, LINKER_FACE, CC, CXX, AR, RANLIB];

/// The directory for what can be made again: `DEADHEAT_CACHE`, or `deadheat` in the user's cache directory.
pub fn cache() -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let directory = variable("DEADHEAT_CACHE")
        .map(PathBuf::from)
        .or_else(|| variable("XDG_CACHE_HOME").map(|path| Path::new(&path).join("deadheat")))
        .or_else(|| std::env::home_dir().map(|path| path.join(".cache/deadheat")))?;
    // Programs look for their runtime there, wherever they run.
    std::path::absolute(directory).ok()
}

/// The unpacked runtime.
pub struct Home {
    directory: PathBuf,
}

impl Home {
    /// Unpacks the runtime if it is not there yet.
    pub fn open() -> Result<Home> {
        let command = std::env::current_exe().context("cannot find out what this command is called")?;
        let mut problem = None;
        for root in [cache(), Some(temporary())].into_iter().flatten() {
            match unpack(&root, &command) {
                Ok(directory) => return Ok(Home { directory }),
                Err(error) => problem = Some((root, error)),
            }
        }
        let (root, error) = problem.context("there is no directory for the runtime; set DEADHEAT_CACHE")?;
        Err(error).with_context(|| format!("cannot unpack the runtime into {}", root.display()))
    }

    /// The shared library to link with.
    pub fn runtime(&self) -> PathBuf {
        self.directory.join(library())
    }

    /// For `rustc -C linker=`.
    pub fn compiler_face(&self) -> PathBuf {
        self.directory.join(COMPILER_FACE)
    }

    /// For `CC=` and `CXX=`.
    pub fn compilers(&self) -> [PathBuf; 2] {
        [CC, CXX].map(|name| self.directory.join(name))
    }

    /// For `clang --ld-path=`.
    pub fn linker_face(&self) -> PathBuf {
        self.directory.join(LINKER_FACE)
    }
}

fn library() -> String {
    format!("{}-{}.so", program::RUNTIME, deadheat_abi::VERSION)
}

/// Used if there is no cache directory that can be written.
fn temporary() -> PathBuf {
    std::env::temp_dir().join(format!("deadheat-{}", rustix::process::getuid().as_raw()))
}

fn unpack(root: &Path, command: &Path) -> io::Result<PathBuf> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(root)?;
    // What somebody else can change is not loaded into the user's programs.
    if fs::metadata(root)?.uid() != rustix::process::getuid().as_raw() {
        return Err(io::Error::other("the directory belongs to another user"));
    }
    let key = Key::of(&[RUNTIME, command.as_os_str().as_encoded_bytes()]);
    let directory = root.join("runtime").join(&key.to_hex()[..16]);
    fs::create_dir_all(&directory)?;
    let file = directory.join(library());
    if !fs::read(&file).is_ok_and(|there| there == RUNTIME) {
        let mut new = tempfile::NamedTempFile::new_in(&directory)?;
        new.write_all(RUNTIME)?;
        new.persist(&file)?;
    }
    for name in NAMES {
        point(&directory.join(name), command)?;
    }
    Ok(directory)
}

/// Makes `link` a symbolic link to `target`, in one step: others may be using it.
fn point(link: &Path, target: &Path) -> io::Result<()> {
    if fs::read_link(link).is_ok_and(|there| there == target) {
        return Ok(());
    }
    let place = link.parent().unwrap_or(Path::new(""));
    let new = tempfile::Builder::new().make_in(place, |path| symlink(target, path))?;
    new.persist(link)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_unpacked_once_and_healed() {
        let root = tempfile::tempdir().unwrap();
        let command = Path::new("/usr/bin/true");
        let directory = unpack(root.path(), command).unwrap();
        let file = directory.join(library());
        let made = fs::metadata(&file).unwrap().ino();
        assert_eq!(fs::read(&file).unwrap(), RUNTIME);
        assert_eq!(unpack(root.path(), command).unwrap(), directory);
        assert_eq!(fs::metadata(&file).unwrap().ino(), made);
        fs::write(&file, "damaged").unwrap();
        unpack(root.path(), command).unwrap();
        assert_eq!(fs::read(&file).unwrap(), RUNTIME);
    }

    #[test]
    fn each_command_has_links_to_itself() {
        let root = tempfile::tempdir().unwrap();
        let paths = ["/usr/bin/true", "/usr/bin/false"].map(Path::new);
        let directories = paths.map(|path| unpack(root.path(), path).unwrap());
        for (directory, path) in directories.iter().zip(paths) {
            for name in NAMES {
                assert_eq!(fs::read_link(directory.join(name)).unwrap(), path);
            }
        }
        fs::remove_file(directories[0].join(REPORTER)).unwrap();
        fs::write(directories[0].join(REPORTER), "in the way").unwrap();
        unpack(root.path(), paths[0]).unwrap();
        assert_eq!(fs::read_link(directories[0].join(REPORTER)).unwrap(), paths[0]);
    }
}
