//! What the compiler does not check: layout of the sources, leftovers, paths of one machine, links between documents.

use crate::deps;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};

/// Above this a file is split.
const LONGEST: usize = 800;

/// What must not be left behind, put together so that this file does not contain it.
const LEFTOVERS: [(&str, &str); 4] = [
    ("todo", "!("),
    ("unimplemented", "!("),
    ("dbg", "!("),
    ("FIX", "ME"),
];

/// Paths of somebody's machine mean nothing on another. Put together like the leftovers.
const MACHINE_PATHS: [(&str, &str); 3] = [("/ro", "ot/"), ("/tm", "p/w/"), ("/wo", "rk/")];

/// The checker of witnesses, and all that it may take from the rest of its crate: it must not share the mistakes of what it checks.
const CHECKER: &str = "crates/predict/src/check/";
const CHECKER_USES: [&str; 2] = ["Model", "check"];

/// Runs all checks and lists everything that is wrong.
pub fn run(root: &Path) -> Result<()> {
    let mut wrong = deps::check(root)?;
    for path in files(root)? {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let extension = path.extension().and_then(|extension| extension.to_str());
        let Ok(text) = String::from_utf8(fs::read(&path).with_context(|| name.clone())?) else {
            continue;
        };
        wrong.extend(machine_paths(&name, &text));
        match extension {
            Some("rs") => {
                wrong.extend(rust(&name, &text));
                wrong.extend(checker(&name, &text));
            }
            Some("md") => wrong.extend(links(&name, &text, &path)),
            _ => {}
        }
    }
    for problem in &wrong {
        eprintln!("tidy: {problem}");
    }
    match wrong.len() {
        0 => Ok(()),
        n => bail!("tidy: {n} problem(s)"),
    }
}

/// All files but those of builds and of git.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let (mut directories, mut files) = (vec![root.to_owned()], Vec::new());
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).with_context(|| directory.display().to_string())? {
            let entry = entry?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            // In a second worktree, `.git` is a file.
            if entry.file_name() == "target" || entry.file_name() == ".git" {
                continue;
            }
            if kind.is_dir() {
                directories.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

fn rust(name: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    if !text.starts_with("//!") {
        wrong.push(format!(
            "{name}: the first line must say what the module is (`//!`)"
        ));
    }
    let lines = text.lines().count();
    if lines > LONGEST {
        wrong.push(format!(
            "{name}: {lines} lines; split it (the limit is {LONGEST})"
        ));
    }
    for (number, line) in text.lines().enumerate() {
        for (word, rest) in LEFTOVERS {
            if line.contains(&format!("{word}{rest}")) {
                wrong.push(format!("{name}:{}: `{word}` is left over", number + 1));
            }
        }
    }
    wrong
}

/// What the checker of witnesses uses of its crate.
fn checker(name: &str, text: &str) -> Vec<String> {
    let Some(module) = name.strip_prefix(CHECKER) else {
        return Vec::new();
    };
    let word = |text: &str| -> String {
        { text.chars() }
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let mut wrong = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or_default();
        let shared =
            { code.split("crate::").skip(1) }.any(|rest| !CHECKER_USES.contains(&word(rest).as_str()));
        let above = code.contains("super::super") || module == "mod.rs" && code.contains("super::");
        if shared || above {
            wrong.push(format!(
                "{name}:{}: the checker shares no code with what finds witnesses",
                number + 1
            ));
        }
    }
    wrong
}

fn machine_paths(name: &str, text: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for path in MACHINE_PATHS.map(|(start, rest)| format!("{start}{rest}")) {
            // As a part of another path it may well be one of the repository.
            let absolute =
                |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-~".contains(c));
            if line.match_indices(&path).any(|(at, _)| absolute(at)) {
                wrong.push(format!(
                    "{name}:{}: `{path}` is a path of one machine",
                    number + 1
                ));
            }
        }
    }
    wrong
}

/// Links to files of the repository that do not exist. Links to the web are not looked at.
fn links(name: &str, text: &str, path: &Path) -> Vec<String> {
    let here = path.parent().unwrap_or(path);
    let mut wrong = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for target in targets(line) {
            let file = target.split('#').next().unwrap_or_default();
            let outside = file.contains("://") || file.starts_with("mailto:");
            if !file.is_empty() && !outside && !here.join(file).exists() {
                wrong.push(format!("{name}:{}: the link to {file} goes nowhere", number + 1));
            }
        }
    }
    wrong
}

/// The targets of `[text](target)` in a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tidy_file_passes() {
        assert_eq!(rust("a.rs", "//! A.\nfn f() {}\n"), Vec::<String>::new());
    }

    #[test]
    fn each_kind_of_untidiness_is_named() {
        let long = format!("//! A.\n{}", "\n".repeat(LONGEST));
        let left = format!("//! A.\nfn f() {{ {}{}) }}\n", LEFTOVERS[0].0, LEFTOVERS[0].1);
        for (text, part) in [("fn f() {}\n", "first line"), (&long, "split"), (&left, "a.rs:2")] {
            let wrong = rust("a.rs", text);
            assert_eq!(wrong.len(), 1, "{wrong:?}");
            assert!(wrong[0].contains(part), "{wrong:?}");
        }
    }

    #[test]
    fn the_checker_shares_no_code() {
        let fine = "//! A.\nuse crate::Model;\nuse super::facts::Facts; // not crate::graph\n";
        assert_eq!(checker(&format!("{CHECKER}facts.rs"), fine), Vec::<String>::new());
        for (module, line) in [
            ("facts.rs", "use crate::graph::Graph;"),
            ("facts.rs", "use crate::{Model, Window};"),
            ("facts.rs", "use super::super::graph;"),
            ("mod.rs", "use super::graph;"),
        ] {
            let wrong = checker(&format!("{CHECKER}{module}"), &format!("//! A.\n{line}\n"));
            assert_eq!(wrong.len(), 1, "{line}: {wrong:?}");
            assert!(wrong[0].contains(":2:"), "{wrong:?}");
        }
        assert_eq!(
            checker("crates/predict/src/query.rs", "use crate::graph;"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn paths_of_a_machine_are_found() {
        for (start, rest) in MACHINE_PATHS {
            let text = format!("fine\nsee `{start}{rest}x`\n");
            let [problem] = machine_paths("a.md", &text).try_into().expect("one problem");
            assert!(problem.contains("a.md:2"), "{problem}");
            assert_eq!(
                machine_paths("a.md", &format!("..{start}{rest}x")),
                Vec::<String>::new()
            );
        }
    }

    #[test]
    fn links_are_found_and_followed() {
        let found: Vec<&str> = targets("see [a](b.md#c) and [d](https://e.f/)").collect();
        assert_eq!(found, ["b.md#c", "https://e.f/"]);
        let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("x.md");
        assert!(links("x.md", "[ok](Cargo.toml) [web](https://e.f/) [here](#a)", &here).is_empty());
        assert_eq!(links("x.md", "[no](nothing.md)", &here).len(), 1);
    }
}
