//! Instruments a module given as text and lists the calls of the runtime in its functions.

use deadheat_instrument::effects::Facts;
use deadheat_instrument::module::{Options, Placement, instrumented_text_knowing};

/// What every module begins with, and some functions that tests use.
const HEAD: &str = r#"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"
declare void @other()
declare void @take(ptr)
declare void @look(ptr captures(none))
declare i32 @personality(...)
"#;

/// The instrumented module. Level 0, so that what the test wrote is still there.
pub fn instrument(module: &str) -> String {
    try_instrument(module).unwrap_or_else(|error| panic!("{error}"))
}

/// The same, to count accesses.
pub fn counting(module: &str) -> String {
    try_with(module, true, Placement::Redundant).unwrap_or_else(|error| panic!("{error}"))
}

/// The instrumented module, with all that placement does.
pub fn fully(module: &str) -> String {
    try_with(module, false, Placement::Full).unwrap_or_else(|error| panic!("{error}"))
}

/// The instrumented module, with a check for each access.
pub fn with_all_checks(module: &str) -> String {
    try_with(module, false, Placement::Off).unwrap_or_else(|error| panic!("{error}"))
}

/// The instrumented module, or why not.
pub fn try_instrument(module: &str) -> Result<String, String> {
    try_with(module, false, Placement::Redundant)
}

/// The instrumented module, if nothing runs before `main`.
pub fn as_program(module: &str, placement: Placement) -> String {
    let mut facts = Facts::default();
    facts.starts_alone = true;
    knowing(module, placement, &facts)
}

/// The instrumented module, with what is known of the functions that it calls.
pub fn knowing(module: &str, placement: Placement, facts: &Facts) -> String {
    try_knowing(module, false, placement, facts).unwrap_or_else(|error| panic!("{error}"))
}

fn try_with(module: &str, count: bool, placement: Placement) -> Result<String, String> {
    try_knowing(module, count, placement, &Facts::default())
}

fn try_knowing(module: &str, count: bool, placement: Placement, facts: &Facts) -> Result<String, String> {
    let options = Options {
        count,
        placement,
        opt_level: 0,
        cpu: "x86-64".into(),
        pic: true,
        ..Options::default()
    };
    instrumented_text_knowing(format!("{HEAD}{module}").as_bytes(), "test", &options, facts)
        .map_err(|error| error.to_string())
}

/// The lines of a function of an instrumented module.
pub fn function<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    let start = text
        .lines()
        .position(|line| line.starts_with("define") && line.contains(&format!("@{name}(")))
        .unwrap_or_else(|| panic!("no function {name} in\n{text}"));
    text.lines().skip(start).take_while(|&line| line != "}").collect()
}

/// The calls of the runtime in a function, each as its name and arguments, without `__deadheat_`, types and contexts;
/// but not those around calls that may go outside, see [`around`], nor those behind stores of pointers, see [`links`].
pub fn hooks(text: &str, name: &str) -> Vec<String> {
    let mut hooks = all_hooks(text, name);
    hooks.retain(|hook| {
        !["call_", "pointer_", "link"]
            .iter()
            .any(|prefix| hook.starts_with(prefix))
    });
    hooks
}

/// The calls of the runtime behind stores of pointers.
pub fn links(text: &str, name: &str) -> Vec<String> {
    let mut hooks = all_hooks(text, name);
    hooks.retain(|hook| hook.starts_with("link"));
    hooks
}

/// The calls of the runtime around calls that may go outside.
pub fn around(text: &str, name: &str) -> Vec<String> {
    let mut hooks = all_hooks(text, name);
    hooks.retain(|hook| hook.starts_with("call_"));
    hooks
}

fn all_hooks(text: &str, name: &str) -> Vec<String> {
    let calls = function(text, name).into_iter().filter_map(|line| {
        let (before, call) = line.split_once("@__deadheat_")?;
        let (hook, arguments) = call.split_once('(')?;
        if !before.contains("call") && !before.contains("invoke") {
            return None;
        }
        let arguments = &arguments[..arguments.rfind(')')?];
        let mut arguments: Vec<&str> = arguments
            .split(", ")
            .map(|argument| argument.rsplit(' ').next().expect("an argument has a value"))
            .collect();
        // Only what the runtime defines for itself takes a context, as the last argument.
        if ["read", "write", "atomic_end", "atomic_load"]
            .iter()
            .any(|start| hook.starts_with(start))
        {
            arguments.pop();
        }
        Some(format!("{hook}({})", arguments.join(", ")))
    });
    calls.collect()
}

/// Checks that a function that does `body` with the pointers `%p` and `%q` makes these calls.
#[track_caller]
pub fn check(body: &str, expected: &[&str]) {
    check_in("", body, expected);
}

/// The same in a module with these globals and declarations.
#[track_caller]
pub fn check_in(globals: &str, body: &str, expected: &[&str]) {
    let text = instrument(&format!(
        "{globals}\ndefine void @f(ptr %p, ptr %q, i64 %n, i1 %c) {{\n{body}\nret void\n}}"
    ));
    assert_eq!(
        hooks(&text, "f"),
        expected,
        "in\n{}",
        function(&text, "f").join("\n")
    );
}
