//! Libraries that are not instrumented, and what the user says about them: `--external` and `--external-rules`.

use crate::harness::{Files, Ran, command, ran, root};
use crate::native::cache;
use std::process::Command;

/// Tells another thread something by means that nobody sees.
const LIBRARY: &str = "
static int told;
void tell(void) { __atomic_store_n(&told, 1, __ATOMIC_RELEASE); }
void hear(void) { while (!__atomic_load_n(&told, __ATOMIC_ACQUIRE)) ; }
";

const PROGRAM: &str = "
#include \"threads.h\"
void tell(void), hear(void);
static int data;
static void one(void) { data = 1; tell(); }
static void two(void) { hear(); MUST(data == 1); }
int main(void) { together(one, two); puts(\"done\"); }
";

fn files() -> Files {
    let files = Files::new();
    files.file("lib.c", LIBRARY);
    files.file("main.c", PROGRAM);
    let library = files.path("libtells.so");
    let made =
        ran(Command::new("cc").args(["-O1", "-shared", "-fPIC", "-o", &library, &files.path("lib.c")]));
    assert_eq!(made.status, 0, "{}", made.stderr);
    let include = format!("-I{}", root().join("tests/programs/include").display());
    let (source, program) = (files.path("main.c"), files.path("main"));
    let path = format!("-Wl,-rpath,{}", files.path(""));
    let mut cc = command(&[
        "cc", "-g", "-pthread", &include, &source, &library, &path, "-o", &program,
    ]);
    let made = ran(cc.env("DEADHEAT_CACHE", cache()));
    assert_eq!(made.status, 0, "{}", made.stderr);
    files
}

/// Checks the program with these options; rules, if there are any, in a file.
fn check(files: &Files, options: &[&str], rules: Option<&str>) -> Ran {
    let mut command = command(&["check"]);
    command.args(options);
    if let Some(rules) = rules {
        command
            .arg("--external-rules")
            .arg(files.file("some.rules", rules));
    }
    let run = ran(command.arg(files.path("main")));
    assert_eq!(run.stdout, "done\n", "{}", run.stderr);
    run
}

#[track_caller]
fn is_told(run: &Ran, races: bool) {
    let expected = match races {
        true => (66, "deadheat: 1 data race"),
        false => (0, "deadheat: no data races"),
    };
    assert_eq!((run.status, run.last_line()), expected, "{}", run.stderr);
}

#[test]
fn calls_into_other_libraries_are_ordered_unless_the_user_says_otherwise() {
    let files = files();
    is_told(&check(&files, &[], None), false);
    is_told(&check(&files, &["--external", "order"], None), false);
    let run = check(&files, &["--external", "ignore"], None);
    is_told(&run, true);
    assert!(
        run.stderr.contains("main.c:5:") && run.stderr.contains("main.c:6:"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_rule_decides_for_the_functions_and_libraries_that_it_names() {
    let files = files();
    for (options, rules, races) in [
        (&[][..], "ignore te*", true),
        (&[], "ignore hear", true),
        (&[], "ignore other", false),
        (&[], "ignore * in libtells.so", true),
        (&[], "ignore * in libother.so*", false),
        // The first that fits counts.
        (&[], "order tell\norder hear in libtells*\nignore *", false),
        (&[], "ignore *\norder tell\norder hear", true),
        // They have no arguments, and so no objects.
        (&[], "objects * in libtells.so", true),
        // Rules go before the option.
        (&["--external", "ignore"], "order * in libtells.so", false),
        (&["--external", "ignore"], "order tell", true),
        (&["--external", "ignore"], "order * in libother.so", true),
    ] {
        let run = check(&files, options, Some(rules));
        let expected = if races { 66 } else { 0 };
        assert_eq!(run.status, expected, "{options:?} {rules}: {}", run.stderr);
    }
}
