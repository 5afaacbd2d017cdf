//! What is known of the functions of a link, before any of its modules is instrumented: see [`crate::effects`].

use super::inputs::{bitcode_of, contents};
use super::line::{self, Line, Output, Part};
use crate::archive;
use crate::bitcode::{self, Origin};
use crate::cache::{Cache, Key};
use crate::effects::resolve::{self, Module, Trust};
use crate::effects::summary::Summary;
use crate::effects::{Effects, Facts};
use crate::module;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol};
use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// What each module knows of the functions that it calls.
#[derive(Default)]
pub struct Whole {
    /// By the contents of the module.
    facts: HashMap<Key, Facts>,
}

/// What a file brings to a link.
#[derive(Default)]
struct Brought {
    modules: Vec<(Key, Origin, Summary)>,
    archived: bool,
    /// Functions of which there is no bitcode.
    others: Vec<String>,
}

impl Whole {
    /// Looks at all inputs of a link. What cannot be read is not known.
    pub fn look_at(paths: &[&Path], trust: Trust, identity: &[u8], cache: Option<&Cache>) -> Whole {
        let brought: Vec<Brought> = paths
            .par_iter()
            .map(|path| look_at(path, identity, cache))
            .collect();
        let modules: Vec<Module<'_>> = brought
            .iter()
            .flat_map(|brought| {
                brought.modules.iter().map(|(_, _, summary)| Module {
                    summary,
                    archived: brought.archived,
                })
            })
            .collect();
        let elsewhere: HashSet<String> = brought
            .iter()
            .flat_map(|brought| brought.others.clone())
            .collect();
        let known = resolve::program(&modules, trust, &elsewhere);
        let facts = brought.iter().flat_map(|brought| &brought.modules);
        let facts = facts
            // Of std there is one archive for all links, so it knows only itself.
            .filter(|(_, origin, _)| *origin != Origin::Section)
            .map(|(key, _, summary)| (*key, facts_for(summary, &known)))
            .collect();
        Whole { facts }
    }

    /// What the module with these contents knows.
    pub fn facts(&self, module: &[u8]) -> Facts {
        self.facts.get(&Key::of(&[module])).cloned().unwrap_or_default()
    }
}

/// What is certain of the names in a link.
pub fn trust(line: &Line) -> Trust {
    let words = line.parts.iter().filter_map(|part| match part {
        Part::Words(words) => Some(words),
        Part::Input { .. } => None,
    });
    // One symbol is made another.
    let renames = words.flatten().any(|word| {
        let text = word.text.to_string_lossy();
        text.contains("-wrap") || text.contains("-defsym")
    });
    match line.output {
        _ if renames => Trust::Modules,
        Output::Program => Trust::Program,
        Output::Shared => Trust::Library,
        Output::Object | Output::Nothing => Trust::Modules,
    }
}

/// Of the functions that a module names.
fn facts_for(summary: &Summary, known: &HashMap<String, Effects>) -> Facts {
    let names = summary.functions.iter().map(|function| &function.name);
    names
        .filter_map(|name| Some((name.clone(), *known.get(name)?)))
        .collect()
}

fn look_at(path: &Path, identity: &[u8], cache: Option<&Cache>) -> Brought {
    let mut brought = Brought::default();
    let Some(data) = contents(path) else {
        return brought;
    };
    let left_alone = line::is_left_alone(path);
    if !archive::is_archive(&data) {
        match bitcode::find(&data).filter(|_| !left_alone) {
            Some(bitcode) => {
                for module in bitcode.modules() {
                    brought.add(module, bitcode.origin, identity, cache);
                }
            }
            None => brought.add_symbols(&data),
        }
        return brought;
    }
    brought.archived = true;
    for member in archive::members(&data, path).into_iter().flatten() {
        match bitcode_of(&member).filter(|_| !left_alone) {
            Some(bitcode) => {
                for module in bitcode.modules() {
                    brought.add(module, bitcode.origin, identity, cache);
                }
            }
            None => brought.add_symbols(member.data.as_ref()),
        }
    }
    brought
}

impl Brought {
    fn add(&mut self, module: &[u8], origin: Origin, identity: &[u8], cache: Option<&Cache>) {
        let contents = Key::of(&[module]);
        let key = Key::of(&[identity, b"summary", contents.to_hex().as_bytes()]);
        let kept = cache
            .and_then(|cache| cache.get(key))
            .and_then(|bytes| Summary::read(&bytes));
        let summary = kept.unwrap_or_else(|| {
            // What is wrong with it is said when it is instrumented.
            let summary = module::summary(module, "a module of the link").unwrap_or_default();
            if let Some(cache) = cache {
                let _ = cache.put(key, &summary.write());
            }
            summary
        });
        self.modules.push((contents, origin, summary));
    }

    fn add_symbols(&mut self, data: &[u8]) {
        let Ok(file) = ElfFile64::<Endianness>::parse(data) else {
            return;
        };
        // What a library defines does not count where the program has a function of the name.
        if file.kind() == object::ObjectKind::Dynamic {
            return;
        }
        let defined = file
            .symbols()
            .filter(|symbol| symbol.is_global() && !symbol.is_undefined());
        self.others
            .extend(defined.filter_map(|symbol| Some(symbol.name().ok()?.to_owned())));
    }
}
