//! What is known of the functions of a link, before any of its modules is instrumented: see [`crate::effects`].

use super::inputs::{bitcode_of, contents};
use super::line::{self, Line, Output};
use crate::archive;
use crate::bitcode::{self, Origin};
use crate::cache::{Cache, Key};
use crate::effects::resolve::{self, Elsewhere, Module, Trust};
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
    /// Names that no library must find in the program.
    pub relied_on: HashSet<String>,
}

/// What a file brings to a link.
#[derive(Default)]
struct Brought {
    modules: Vec<(Key, Origin, Summary)>,
    archived: bool,
    /// Names that it defines without bitcode.
    others: Vec<String>,
    /// Names that it uses without bitcode; if it is a library, all that it defines, too: the linker lets it find the program's.
    used: Vec<String>,
    /// Whether there is code without bitcode that runs before `main`.
    starts: bool,
}

impl Whole {
    /// Looks at all inputs of a link, of whose symbols libraries may find the `exported`. What cannot be read is not known.
    pub fn look_at(
        paths: &[&Path],
        trust: Trust,
        exported: &Exported,
        identity: &[u8],
        cache: Option<&Cache>,
    ) -> Whole {
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
        let names = |of: fn(&Brought) -> &Vec<String>| brought.iter().flat_map(of).cloned();
        let mut elsewhere = Elsewhere {
            defined: names(|brought| &brought.others).collect(),
            used: names(|brought| &brought.used).collect(),
            all_used: false,
            starts: brought.iter().any(|brought| brought.starts),
        };
        match exported {
            Exported::These(these) => elsewhere.used.extend(these.iter().cloned()),
            Exported::All => elsewhere.all_used = true,
        }
        let known = resolve::program(&modules, trust, &elsewhere);
        let facts = brought.iter().flat_map(|brought| {
            let modules = brought.modules.iter();
            modules
                .map(|(key, origin, summary)| (key, summary, brought.archived && *origin == Origin::Section))
        });
        let mut relied_on = HashSet::new();
        let facts = facts
            // Of std there is one archive for all links, so it knows only itself.
            .filter(|(_, _, is_std)| !is_std)
            .map(|(key, summary, _)| {
                let mut facts = facts_for(summary, &known.functions);
                for function in &summary.functions {
                    let forgets = known.forgets.get(&function.name).copied();
                    facts.note_forgets(&function.name, forgets.unwrap_or_default());
                    if !matches!(function.reach, Reach::Output | Reach::All) {
                        continue;
                    }
                    let private = known.private.get(&function.name).copied().unwrap_or_default();
                    let private = private & pointers(function);
                    facts.note_private(&function.name, private);
                    let alone = known.alone.contains(&function.name);
                    if alone {
                        facts.note_alone(&function.name);
                    }
                    if alone || private != 0 {
                        relied_on.insert(function.name.clone());
                    }
                }
                for variable in &summary.variables {
                    if known.published.contains(&variable.name) {
                        facts.note_published(&variable.name);
                        relied_on.insert(variable.name.clone());
                    }
                    if known.blocks.contains(&variable.name) {
                        facts.note_blocks(&variable.name);
                    }
                }
                // Others do not ask, and are kept whoever else is in the link.
                facts.starts_alone = known.starts_alone && has_main(summary);
                (*key, facts)
            })
            .collect();
        Whole { facts, relied_on }
    }

    /// What the module with these contents knows.
    pub fn facts(&self, module: &[u8]) -> Facts {
        self.facts.get(&Key::of(&[module])).cloned().unwrap_or_default()
    }
}

/// Which symbols of a program the linker lets libraries find.
#[derive(Clone)]
pub enum Exported {
    /// These, besides those that a library in the link names.
    These(HashSet<String>),
    /// All of them.
    All,
}

impl Exported {
    /// By what the command line says.
    pub fn of(line: &Line) -> Exported {
        let all = [
            "rdynamic",
            "export-dynamic",
            "dynamic-list",
            "version-script",
            "gc-keep-exported",
        ];
        let mut words = line.words();
        match words.any(|word| word == "-E" || all.iter().any(|option| word.contains(option))) {
            true => Exported::All,
            false => Exported::These(HashSet::new()),
        }
    }

    /// Whether libraries may find this.
    pub fn has(&self, name: &str) -> bool {
        match self {
            Exported::These(these) => these.contains(name),
            Exported::All => true,
        }
    }

    /// With those that a program which was linked has let libraries find; `None` if they were known.
    pub fn with_those_of(&self, program: &Path) -> Option<Exported> {
        let Exported::These(known) = self else {
            return None;
        };
        let data = contents(program)?;
        let file = ElfFile64::<Endianness>::parse(&*data).ok()?;
        let found: HashSet<String> = file
            .dynamic_symbols()
            .filter(|symbol| !symbol.is_undefined())
            .filter_map(|symbol| Some(symbol.name().ok()?.to_owned()))
            .collect();
        let more = !found.is_subset(known);
        more.then(|| Exported::These(known.union(&found).cloned().collect()))
    }
}

/// What is certain of the names in a link.
pub fn trust(line: &Line) -> Trust {
    // One symbol is made another.
    let renames = line.words().any(|text| {
        // Or something else than `main` comes first.
        let option = text.trim_start_matches('-');
        let first = text.starts_with('-')
            && (matches!(option, "init" | "e" | "entry")
                || option.starts_with("init=")
                || option.starts_with("entry="));
        first || text.contains("-wrap") || text.contains("-defsym") || is_script(&text)
    });
    match line.output {
        _ if renames => Trust::Modules,
        Output::Program => Trust::Program,
        Output::Shared => Trust::Library,
        Output::Object | Output::Nothing => Trust::Modules,
    }
}

/// Whether an option names a script, which may do so as well.
fn is_script(option: &str) -> bool {
    option.starts_with("-T") || option.starts_with("--script")
}

/// The parameters that may be addresses, as bits.
fn pointers(function: &Function) -> u64 {
    match function.parameters.len() as u32 {
        count @ 0..u64::BITS => (1 << count) - 1,
        _ => !0,
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

/// Whether it is one of the objects that every program begins and ends with, or an archive of the compiler's own functions, which has the look at
/// the processor run before `main`.
fn is_of_the_compiler(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let starts = |names: &[&str]| names.iter().any(|start| name.starts_with(start));
    name.ends_with(".o") && starts(&["crt", "Scrt", "gcrt", "rcrt"])
        || name.ends_with(".a") && starts(&["libgcc", "libclang_rt.", "libc_nonshared"])
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
    brought.starts &= !is_of_the_compiler(path);
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
        // What a library defines does not count where the program has a function of the name: the library then uses that.
        if file.kind() == object::ObjectKind::Dynamic {
            let names = file.dynamic_symbols().filter_map(|symbol| symbol.name().ok());
            return self.used.extend(names.map(str::to_owned));
        }
        let before_main = [".init_array", ".preinit_array", ".ctors"];
        self.starts |= file.sections().any(|section| {
            let name = section.name().unwrap_or_default();
            before_main.iter().any(|start| name.starts_with(start))
        });
        for symbol in file.symbols().filter(|symbol| symbol.is_global()) {
            let Ok(name) = symbol.name() else { continue };
            match symbol.is_undefined() {
                true => self.used.push(name.to_owned()),
                false => self.others.push(name.to_owned()),
            }
        }
    }
}
