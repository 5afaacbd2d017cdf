//! Inputs of a link that hold bitcode, made into objects and archives that do not.

use super::line::{self, Line};
use super::relocatable;
use super::whole::{self, Exported, Whole};
use super::{Config, Error, Face, failed};
use crate::archive::{self, Data, Member};
use crate::bitcode::{self, Bitcode, Origin};
use crate::cache::{Cache, Key};
use crate::effects::resolve::Trust;
use crate::module::{self, Options, Placement};
use crate::select::Selection;
use memmap2::Mmap;
use rayon::prelude::*;
use std::borrow::Borrow;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// LLVM recurses deeply on large functions.
const STACK: usize = 64 << 20;

/// Makes objects of bitcode, on all cores, or finds those made before.
pub struct Workshop<'a> {
    cache: Option<Cache>,
    /// What every key begins with.
    config: &'a Config,
    face: Face,
    /// For what the compiler left to us to compile.
    options: Options,
    trust: Trust,
    /// What libraries may find in the program.
    exported: &'a Exported,
    /// Shared libraries of the link.
    libraries: &'a [PathBuf],
    /// What modules know of each other.
    whole: Whole,
    /// Where files for this link go.
    directory: &'a Path,
    pool: rayon::ThreadPool,
    warn: &'a (dyn Fn(&str) + Sync),
}

/// An input of a link, after a first look.
enum Input {
    /// Stays as it is.
    Other,
    /// What is to be made of it is at this place.
    Made(PathBuf),
    /// An object, and where its replacement goes.
    Object(Mmap, PathBuf),
    /// An archive, what its replacement is kept under, and where it goes.
    Archive(Mmap, Key, PathBuf),
}

impl Input {
    /// The key of an archive that is yet to be made.
    fn missing(&self) -> Option<Key> {
        match self {
            Input::Archive(_, key, _) => Some(*key),
            _ => None,
        }
    }
}

impl<'a> Workshop<'a> {
    pub fn new(
        cache: Option<Cache>,
        line: &'a Line,
        exported: &'a Exported,
        (config, face): (&'a Config, Face),
        directory: &'a Path,
        warn: &'a (dyn Fn(&str) + Sync),
    ) -> Result<Workshop<'a>, Error> {
        Ok(Workshop {
            cache,
            config,
            face,
            options: Options {
                opt_level: line.level,
                cpu: line.cpu.clone(),
                pic: line.pic,
                profile: None,
                notes: true,
                count: config.count,
                log: config.log,
                record: config.record,
                selection: config.selection.clone(),
                placement: config.placement,
                explain: config.explain,
            },
            trust: whole::trust(line),
            exported,
            libraries: &line.libraries,
            whole: Whole::default(),
            directory,
            pool: rayon::ThreadPoolBuilder::new()
                .stack_size(STACK)
                .build()
                .map_err(|error| Error(format!("cannot start threads: {error}")))?,
            warn,
        })
    }

    /// For each of `paths` the file to use instead, if there is one.
    pub fn convert(&mut self, paths: &[&Path]) -> Result<Vec<Option<PathBuf>>, Error> {
        let mut unique = paths.to_vec();
        unique.sort();
        unique.dedup();
        if self.config.placement != Placement::Off {
            let (identity, cache) = (&self.config.identity, self.cache.as_ref());
            let mut all = unique.clone();
            all.extend(self.libraries.iter().map(PathBuf::as_path));
            self.whole = self
                .pool
                .install(|| Whole::look_at(&all, self.trust, self.exported, identity, cache));
        }
        let made = self.pool.install(|| self.convert_unique(&unique))?;
        let made_of = |path| unique.binary_search(path).ok().and_then(|at| made[at].clone());
        Ok(paths.iter().map(made_of).collect())
    }

    fn convert_unique(&self, paths: &[&Path]) -> Result<Vec<Option<PathBuf>>, Error> {
        let looked_at: Result<Vec<Input>, Error> = paths
            .par_iter()
            .enumerate()
            .map(|(number, path)| {
                self.look_at(number, path)
                    .map_err(|error| failed(&path.display().to_string(), &error))
            })
            .collect();
        let looked_at = looked_at?;
        let missing = looked_at.iter().filter_map(Input::missing);
        // Links often run side by side, and all of them need std.
        let _reservation = self.cache.as_ref().map(|cache| cache.reserve(missing));
        looked_at
            .into_par_iter()
            .zip(paths)
            .map(|(input, path)| self.make(input, path))
            .collect()
    }

    /// Looks after the cache when the link is done. Answers with the names that no library must find in the program.
    pub fn close(self) -> HashSet<String> {
        if let Some(cache) = &self.cache {
            cache.sweep();
        }
        self.whole.relied_on
    }

    /// What the file at `path` is, and whether what is to be made of it is there already.
    fn look_at(&self, number: usize, path: &Path) -> io::Result<Input> {
        let Some(data) = contents(path).filter(|_| !line::is_left_alone(path)) else {
            return Ok(Input::Other);
        };
        // The file keeps its name, for options that go by it and for messages.
        let place = || -> io::Result<PathBuf> {
            let directory = self.directory.join(number.to_string());
            fs::create_dir(&directory)?;
            Ok(directory.join(path.file_name().unwrap_or_default()))
        };
        if !archive::is_archive(&data) {
            return Ok(match bitcode::find(&data) {
                Some(_) => Input::Object(data, place()?),
                None => Input::Other,
            });
        }
        let members = archive::members(&data, path)?;
        let origins = members
            .iter()
            .filter_map(bitcode_of)
            .map(|bitcode| bitcode.origin);
        // Of std there is one archive, whatever the options of the link.
        let options = match origins.min() {
            None => return Ok(Input::Other),
            Some(Origin::File) => self.options.clone(),
            Some(_) => Options {
                record: self.config.record,
                selection: self.selection_for(members.iter().filter_map(bitcode_of)),
                placement: self.config.placement,
                ..Options::default()
            },
        };
        let mut parts = vec![&data[..]];
        if archive::is_thin(&data) {
            parts.extend(members.iter().map(|member| member.data.as_ref()));
        }
        let modules = members
            .iter()
            .filter_map(bitcode_of)
            .flat_map(|bitcode| bitcode.modules());
        let facts: Vec<u8> = modules
            .flat_map(|module| self.whole.facts(module).digest())
            .collect();
        parts.push(&facts);
        let key = self.key("archive", &options, &parts);
        let place = place()?;
        Ok(if self.is_there(key, &place) {
            Input::Made(place)
        } else {
            drop(members);
            Input::Archive(data, key, place)
        })
    }

    /// Makes what is to be used instead of the file at `path`.
    fn make(&self, input: Input, path: &Path) -> Result<Option<PathBuf>, Error> {
        let name = path.display().to_string();
        let place = match input {
            Input::Other => return Ok(None),
            Input::Made(place) => place,
            // Somebody else may have made it while we waited for the reservation.
            Input::Archive(_, key, place) if self.is_there(key, &place) => place,
            Input::Object(data, place) => {
                let object = match bitcode::find(&data) {
                    Some(bitcode) => self
                        .object(bitcode, &data, &name)
                        .map_err(|error| Error(error.0))?,
                    None => None,
                };
                let Some(object) = object else { return Ok(None) };
                fs::write(&place, object).map_err(|error| failed(&name, &error))?;
                place
            }
            Input::Archive(data, key, place) => {
                self.make_archive(&data, key, path, &place)
                    .map_err(|error| failed(&name, &error))?;
                place
            }
        };
        Ok(Some(place))
    }

    fn make_archive(&self, data: &[u8], key: Key, path: &Path, place: &Path) -> io::Result<()> {
        let members: io::Result<Vec<Member<'_>>> = archive::members(data, path)?
            .into_par_iter()
            .map(|member| self.member(member))
            .collect();
        let made = archive::write(members?)?;
        self.keep(key, &made);
        fs::write(place, made)
    }

    fn is_there(&self, key: Key, place: &Path) -> bool {
        self.cache.as_ref().is_some_and(|cache| cache.link(key, place))
    }

    fn member<'m>(&self, member: Member<'m>) -> io::Result<Member<'m>> {
        let Some(bitcode) = bitcode_of(&member) else {
            return Ok(member);
        };
        let object = self
            .object(bitcode, member.data.as_ref(), &member.name)
            .map_err(io::Error::other)?;
        Ok(match object {
            Some(object) => Member {
                data: Data::Owned(object),
                name: member.name,
            },
            None => member,
        })
    }

    /// What is made of the bitcode in the file `data`; nothing if that file is to be taken as it is.
    fn object(
        &self,
        bitcode: Bitcode<'_>,
        data: &[u8],
        name: &str,
    ) -> Result<Option<Vec<u8>>, module::Error> {
        let modules = bitcode.modules();
        let options = self.options_for(&bitcode);
        let objects: Result<Vec<Vec<u8>>, _> = modules
            .into_iter()
            .map(|module| self.compiled(module, name, &options))
            .collect();
        let mut objects = objects?;
        let object = match objects.len() {
            1 => objects.remove(0),
            _ => relocatable::join(&objects, self.config, self.face, self.directory)
                .map_err(|error| module::Error(format!("{name}: {error}")))?,
        };
        // Somebody put more into it, or gave its symbols other names: then only its own code has that.
        if bitcode.origin == Origin::Hidden && !relocatable::define_the_same(data, &object) {
            (self.warn)(&format!(
                "{name} was changed after it was compiled, so it is used as it is: races in it are not found"
            ));
            return Ok(None);
        }
        Ok(Some(object))
    }

    /// The object made of a module.
    fn compiled(&self, module: &[u8], name: &str, options: &Options) -> Result<Vec<u8>, module::Error> {
        let facts = self.whole.facts(module);
        let key = self.key("object", options, &[module, &facts.digest()]);
        if let Some(object) = self.cache.as_ref().and_then(|cache| cache.get(key)) {
            return Ok(object);
        }
        let object = module::compile_knowing(module, name, options, &facts)?;
        self.keep(key, &object);
        Ok(object)
    }

    fn options_for(&self, bitcode: &Bitcode<'_>) -> Options {
        match bitcode.origin {
            Origin::File => self.options.clone(),
            // Functions name their processor themselves where it matters.
            Origin::Section | Origin::Hidden => Options {
                opt_level: bitcode.level().unwrap_or(2),
                cpu: "x86-64".to_owned(),
                pic: true,
                profile: bitcode.profile(),
                notes: false,
                count: self.config.count,
                log: self.config.log,
                record: self.config.record,
                selection: self.selection_for(std::iter::once(bitcode)),
                placement: self.config.placement,
                explain: self.config.explain,
            },
        }
    }

    /// What is left out of objects that have bitcode. Those of clang say their level, those of Rust's standard library do not.
    fn selection_for<'b>(&self, all: impl IntoIterator<Item: Borrow<Bitcode<'b>>>) -> Selection {
        match all.into_iter().any(|bitcode| bitcode.borrow().level().is_some()) {
            true => self.config.selection.clone(),
            false => self.config.selection.of_standard_library(),
        }
    }

    fn key(&self, what: &str, options: &Options, contents: &[&[u8]]) -> Key {
        let options = format!(
            "{what} abi {} level {} cpu {} pic {} notes {} count {} log {} record {} {:?} placement {} explain {} profile {:?}",
            deadheat_abi::VERSION,
            options.opt_level,
            options.cpu,
            options.pic,
            options.notes,
            self.config.count,
            self.config.log,
            options.record,
            options.selection,
            options.placement.as_str(),
            options.explain,
            options.profile
        );
        let mut parts = vec![&self.config.identity[..], options.as_bytes()];
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

/// The bitcode of a member that is to be instrumented.
pub fn bitcode_of<'m>(member: &'m Member<'_>) -> Option<Bitcode<'m>> {
    let instrumented = !line::is_intrinsic(member.name.as_bytes());
    instrumented
        .then(|| bitcode::find(member.data.as_ref()))
        .flatten()
}

/// The file at `path`, unless it is empty, no file, or not there: that is for the real linker to say.
pub fn contents(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok()?;
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() || metadata.len() == 0 {
        return None;
    }
    // SAFETY: The map is private and only read. Compilers write a new file rather than change one that is being linked;
    // one that is truncated meanwhile would break any linker.
    unsafe { Mmap::map(&file) }.ok()
}
