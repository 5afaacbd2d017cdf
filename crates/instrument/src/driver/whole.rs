//! What is known of the functions of a link, before any of its modules is instrumented: see [`crate::effects`].

use super::inputs::{bitcode_of, contents};
use super::line::{self, Line, Output, Part};
use crate::archive;
use crate::bitcode::{self, Origin};
use crate::cache::{Cache, Key};
use crate::effects::resolve::{self, Module, Trust};
use crate::effects::summary::{Function, Reach, Summary};
use crate::effects::{Effects, Facts};
use crate::module;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol};
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
    /// Whether there is code without bitcode that runs before `main`.
    starts: bool,
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
        let starts_alone = known.starts_alone && !brought.iter().any(|brought| brought.starts);
        let facts = brought.iter().flat_map(|brought| &brought.modules);
        let facts = facts
            // Of std there is one archive for all links, so it knows only itself.
            .filter(|(_, origin, _)| *origin != Origin::Section)
            .map(|(key, _, summary)| {
                let mut facts = facts_for(summary, &known.functions);
                for function in &summary.functions {
                    let forgets = known.forgets.get(&function.name).copied();
                    facts.note_forgets(&function.name, forgets.unwrap_or_default());
                }
                // Others do not ask, and are kept whoever else is in the link.
                facts.starts_alone = starts_alone && has_main(summary);
                (*key, facts)
            })
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
        // Or something else than `main` comes first.
        let option = text.trim_start_matches('-');
        let first = text.starts_with('-')
            && (matches!(option, "init" | "e" | "entry")
                || option.starts_with("init=")
                || option.starts_with("entry="));
        first || text.contains("-wrap") || text.contains("-defsym")
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

fn has_main(summary: &Summary) -> bool {
    let main = |function: &Function| function.name == "main" && function.reach != Reach::Declared;
    summary.functions.iter().any(main)
}

/// Whether it is one of the objects that every program begins and ends with.
fn is_of_the_compiler(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ["crt", "Scrt", "gcrt", "rcrt"]
        .iter()
        .any(|start| name.starts_with(start))
        && name.ends_with(".o")
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
        brought.starts &= !is_of_the_compiler(path);
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
        let before_main = [".init_array", ".preinit_array", ".ctors"];
        self.starts |= file.sections().any(|section| {
            let name = section.name().unwrap_or_default();
            before_main.iter().any(|start| name.starts_with(start))
        });
        let defined = file
            .symbols()
            .filter(|symbol| symbol.is_global() && !symbol.is_undefined());
        self.others
            .extend(defined.filter_map(|symbol| Some(symbol.name().ok()?.to_owned())));
    }
}
