//! Libraries with constructors and destructors, which run in whoever loads and unloads them.

use super::{cc, program};
use crate::harness::{Files, Ran, root};

/// The constructor's work is the library's and the program's; the destructor sees what functions did.
const LIBRARY: &str = "
extern int shared;
static int made, used;
int value(void) { return made; }
void use(void) { used++; }
__attribute__((constructor)) static void begin(void) { made = 1; shared = 2; }
__attribute__((destructor)) static void end(void) { shared = used; }
";

/// Two threads, the second after the first by means that nobody sees.
#[track_caller]
fn ran(before: &str, one: &str, two: &str) -> Ran {
    let files = Files::new();
    files.file("lib.c", LIBRARY);
    files.file(
        "main.c",
        format!(
            "#include \"threads.h\"
#include <dlfcn.h>
int shared, unrelated;
static void *library;
static void *opened(int flags) {{ void *library = dlopen(\"./lib.so\", flags); MUST(library); return library; }}
static int found(void *library, const char *name) {{ return ((int (*)(void))dlsym(library, name))(); }}
static void one(void) {{ turn(1); {one} next_turn(); }}
static void two(void) {{ turn(2); {two} next_turn(); }}
int main(void) {{ {before} together(one, two); (void)library; puts(\"done\"); }}
"
        ),
    );
    cc(&files, "-g -shared -fPIC lib.c -o lib.so");
    let include = root().join("tests/programs/include");
    cc(
        &files,
        &format!(
            "-g -pthread -rdynamic -Wno-unused-function -I{} main.c -o main",
            include.display()
        ),
    );
    let run = program(&files, "main");
    assert_eq!(run.stdout, "done\n", "{}", run.stderr);
    run
}

#[track_caller]
fn no_race(before: &str, one: &str, two: &str) {
    let run = ran(before, one, two);
    assert_eq!(run.status, 0, "{}", run.stderr);
}

#[track_caller]
fn race(before: &str, one: &str, two: &str, lines: [&str; 2]) {
    let run = ran(before, one, two);
    assert_eq!(
        (run.status, run.last_line()),
        (66, "deadheat: 1 data race"),
        "{}",
        run.stderr
    );
    for line in lines {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
}

#[test]
fn who_loads_a_library_again_comes_after_its_constructor() {
    no_race(
        "",
        "opened(RTLD_NOW);",
        "library = opened(RTLD_NOW); MUST(found(library, \"value\") == 1); MUST(shared == 2);",
    );
}

#[test]
fn who_finds_a_function_comes_after_the_constructor_of_its_library() {
    no_race(
        "",
        "opened(RTLD_NOW | RTLD_GLOBAL);",
        "MUST(found(RTLD_DEFAULT, \"value\") == 1); MUST(shared == 2);",
    );
}

#[test]
fn who_knows_nothing_of_a_library_races_with_its_constructor() {
    race(
        "",
        "opened(RTLD_NOW);",
        "MUST(shared == 2);",
        ["lib.c:6:", "main.c:8:"],
    );
}

#[test]
fn what_follows_the_loading_of_a_library_is_not_ordered_by_it() {
    race(
        "",
        "opened(RTLD_NOW); unrelated = 1;",
        "opened(RTLD_NOW); unrelated = 2;",
        ["main.c:7:", "main.c:8:"],
    );
    // Nor is what came before one thread only looked for a function.
    race(
        "opened(RTLD_NOW | RTLD_GLOBAL);",
        "unrelated = 1; found(RTLD_DEFAULT, \"value\");",
        "found(RTLD_DEFAULT, \"value\"); unrelated = 2;",
        ["main.c:7:", "main.c:8:"],
    );
}

#[test]
fn a_destructor_comes_after_all_who_have_closed_the_library() {
    let twice = "opened(RTLD_NOW); library = opened(RTLD_NOW);";
    no_race(
        twice,
        "found(library, \"use\"); dlclose(library);",
        "dlclose(library); MUST(shared == 1);",
    );
    race(
        twice,
        "found(library, \"use\");",
        "dlclose(library); dlclose(library); MUST(shared == 1);",
        ["lib.c:5:", "lib.c:7:"],
    );
}
