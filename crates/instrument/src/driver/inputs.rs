//! Inputs of a link that hold bitcode, made into objects and archives that do not.

use super::line::{self, Line};
use super::{Config, Error, failed};
use crate::archive::{self, Data, Member};
use crate::bitcode::{self, Bitcode, Origin};
use crate::cache::{Cache, Key};
use crate::module::{self, Options};
use memmap2::Mmap;
use rayon::prelude::*;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// LLVM recurses deeply on large functions.
const STACK: usize = 64 << 20;

/// Makes objects of bitcode, on all cores, or finds those made before.
pub struct Workshop<'a> {
    cache: Option<Cache>,
    /// What every key begins with.
    identity: &'a [u8],
    /// For what the compiler left to us to compile.
    options: Options,
    /// Where files for this link go.
    directory: &'a Path,
    pool: rayon::ThreadPool,
}

impl<'a> Workshop<'a> {
    pub fn new(
        cache: Option<Cache>,
        line: &Line,
        config: &'a Config,
        directory: &'a Path,
    ) -> Result<Workshop<'a>, Error> {
        Ok(Workshop {
            cache,
            identity: &config.identity,
            options: Options {
                opt_level: line.level,
                cpu: line.cpu.clone(),
                pic: line.pic,
            },
            directory,
            pool: rayon::ThreadPoolBuilder::new()
                .stack_size(STACK)
                .build()
                .map_err(|error| Error(format!("cannot start threads: {error}")))?,
        })
    }

    /// For each of `paths` the file to use instead, if there is one.
    pub fn convert(&self, paths: &[&Path]) -> Result<Vec<Option<PathBuf>>, Error> {
        self.pool.install(|| {
            paths
                .par_iter()
                .enumerate()
                .map(|(number, path)| self.input(number, path))
                .collect()
        })
    }

    /// Looks after the cache when the link is done.
    pub fn close(self) {
        if let Some(cache) = &self.cache {
            cache.sweep();
        }
    }

    fn input(&self, number: usize, path: &Path) -> Result<Option<PathBuf>, Error> {
        let Some(data) = contents(path).filter(|_| !line::is_left_alone(path)) else {
            return Ok(None);
        };
        // The file keeps its name, for options that go by it and for messages.
        let place = || -> io::Result<PathBuf> {
            let directory = self.directory.join(number.to_string());
            fs::create_dir(&directory)?;
            Ok(directory.join(path.file_name().unwrap_or_default()))
        };
        let done = if archive::is_archive(&data) {
            self.archive(&data, path, place)
        } else if let Some(bitcode) = bitcode::find(&data) {
            self.object(bitcode, &path.to_string_lossy()).and_then(|object| {
                let place = place()?;
                fs::write(&place, object)?;
                Ok(Some(place))
            })
        } else {
            Ok(None)
        };
        done.map_err(|error| failed(&path.display().to_string(), &error))
    }

    fn archive(
        &self,
        data: &[u8],
        path: &Path,
        place: impl FnOnce() -> io::Result<PathBuf>,
    ) -> io::Result<Option<PathBuf>> {
        let members = archive::members(data, path)?;
        let origins = members
            .iter()
            .filter_map(|member| bitcode::find(member.data.as_ref()))
            .map(|bitcode| bitcode.origin);
        // Of std there is one archive, whatever the options of the link.
        let options = match origins.min() {
            None => return Ok(None),
            Some(origin) => self.options_for(origin),
        };
        let key = if archive::is_thin(data) {
            let mut parts = vec![data];
            parts.extend(members.iter().map(|member| member.data.as_ref()));
            self.key("archive", &options, &parts)
        } else {
            self.key("archive", &options, &[data])
        };
        let place = place()?;
        if self.cache.as_ref().is_some_and(|cache| cache.link(key, &place)) {
            return Ok(Some(place));
        }
        let members: io::Result<Vec<Member<'_>>> = members
            .into_par_iter()
            .map(|member| self.member(member, path))
            .collect();
        let made = archive::write(members?)?;
        self.keep(key, &made);
        fs::write(&place, made)?;
        Ok(Some(place))
    }

    fn member<'m>(&self, member: Member<'m>, path: &Path) -> io::Result<Member<'m>> {
        let Some(bitcode) = bitcode::find(member.data.as_ref()) else {
            return Ok(member);
        };
        let name = format!("{}({})", path.display(), member.name);
        Ok(Member {
            data: Data::Owned(self.object(bitcode, &name)?),
            name: member.name,
        })
    }

    /// The object made of a module.
    fn object(&self, bitcode: Bitcode<'_>, name: &str) -> io::Result<Vec<u8>> {
        let options = self.options_for(bitcode.origin);
        let key = self.key("object", &options, &[bitcode.bytes]);
        if let Some(object) = self.cache.as_ref().and_then(|cache| cache.get(key)) {
            return Ok(object);
        }
        let object = module::compile(bitcode.bytes, name, &options)
            .map_err(|error| io::Error::other(format!("cannot instrument {name}: {}", error.0)))?;
        self.keep(key, &object);
        Ok(object)
    }

    fn options_for(&self, origin: Origin) -> Options {
        match origin {
            Origin::File => self.options.clone(),
            // Functions name their processor themselves where it matters.
            Origin::Section(level) => Options {
                opt_level: level.unwrap_or(2),
                cpu: "x86-64".to_owned(),
                pic: true,
            },
        }
    }

    fn key(&self, what: &str, options: &Options, contents: &[&[u8]]) -> Key {
        let options = format!(
            "{what} abi {} level {} cpu {} pic {}",
            deadheat_abi::VERSION,
            options.opt_level,
            options.cpu,
            options.pic
        );
        let mut parts = vec![self.identity, options.as_bytes()];
        parts.extend(contents);
        Key::of(&parts)
    }

    fn keep(&self, key: Key, contents: &[u8]) {
        // A full disk costs time, not the result.
        if let Some(cache) = &self.cache {
            let _ = cache.put(key, contents);
        }
    }
}

/// The file at `path`, unless it is empty, no file, or not there: that is for the real linker to say.
fn contents(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() == 0 {
        return None;
    }
    // SAFETY: The map is private and only read. Compilers write a new file rather than change one that is being linked;
    // one that is truncated meanwhile would break any linker.
    unsafe { Mmap::map(&file) }.ok()
}
