//! `deadheat cc` and `deadheat c++`: objects, archives and libraries of projects that build themselves.

mod builds;
mod loader;
mod modules;
mod options;
mod tools;

use crate::harness::{Files, Ran, command, needs, ran};
use crate::native::cache;
use std::path::Path;
use std::process::Command;

fn compiler(name: &str, directory: &str, arguments: &[&str]) -> Command {
    let mut command = command(&[name]);
    command
        .args(arguments)
        .current_dir(directory)
        .env("DEADHEAT_CACHE", cache());
    command
}

#[track_caller]
fn cc(files: &Files, arguments: &str) -> Ran {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let run = ran(&mut compiler("cc", &files.path(""), &words));
    assert_eq!(run.status, 0, "{arguments}: {}", run.stderr);
    assert_eq!(run.stderr, "", "{arguments}");
    run
}

#[track_caller]
fn tool(files: &Files, line: &str) {
    let mut words = line.split_whitespace();
    let run = ran(Command::new(words.next().unwrap())
        .args(words)
        .current_dir(files.path("")));
    assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{line}");
}

fn program(files: &Files, name: &str) -> Ran {
    ran(Command::new(files.path(name))
        .current_dir(files.path(""))
        .env_remove("DEADHEAT_OPTIONS"))
}

/// Two threads that call `step`, at the same time as far as anybody can tell.
const MAIN: &str = "
    #include <pthread.h>
    #include <stdio.h>
    int step(void);
    static pthread_barrier_t both;
    static void *work(void *argument) {
        pthread_barrier_wait(&both);
        step();
        return argument;
    }
    int main(void) {
        pthread_t threads[2];
        pthread_barrier_init(&both, NULL, 2);
        for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
        puts(\"done\");
        return 0;
    }
";
const STEP: &str = "static int count;\nint step(void) {\n    return ++count;\n}\n";

#[test]
fn what_is_compiled_without_a_level_is_not_optimised() {
    let files = Files::new();
    files.file("main.c", MAIN);
    // Nobody reads it: an optimiser leaves it out.
    files.file(
        "step.c",
        "static int last;\nint step(void) {\n    last = 1;\n    return 0;\n}\n",
    );
    cc(&files, "-pthread main.c step.c -o at_once");
    races(&program(&files, "at_once"), "step.c:3:");
    cc(&files, "-c step.c");
    cc(&files, "-pthread main.c step.o -o by_objects");
    races(&program(&files, "by_objects"), "step.c:3:");
    cc(&files, "-O1 -pthread main.c step.c -o optimised");
    assert_eq!(program(&files, "optimised").status, 0);
}

#[track_caller]
fn races(run: &Ran, at: &str) {
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "done\n"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains(at), "{}", run.stderr);
    assert_eq!(run.last_line(), "deadheat: 1 data race");
}

/// A step in two threads that is found to race, compiled and linked with these options.
#[track_caller]
fn races_with(options: &str) -> Files {
    let files = steps();
    cc(&files, &format!("-pthread {options} main.c step.c -o program"));
    races(&program(&files, "program"), "step.c:3:");
    files
}

/// The sources of a program with a race.
fn steps() -> Files {
    let files = Files::new();
    files.file("main.c", MAIN);
    files.file("step.c", STEP);
    files
}

#[test]
fn archives_and_shared_libraries_are_instrumented() {
    for level in ["-O0", "-O2"] {
        let files = Files::new();
        files.file("main.c", MAIN);
        files.file("step.c", STEP);
        cc(&files, &format!("{level} -c main.c"));
        cc(
            &files,
            &format!("{level} -fPIC -ffunction-sections -c step.c -o step.o"),
        );
        // An ordinary object, to tools that know nothing of us.
        tool(&files, "ar rcs libstep.a step.o");
        tool(&files, "ranlib libstep.a");
        cc(&files, "-pthread main.o -L. -lstep -o archived");
        races(&program(&files, "archived"), "step.c:3:");

        cc(&files, "-shared step.o -o libshared.so");
        cc(&files, "-pthread main.o libshared.so -Wl,-rpath,. -o shared");
        races(&program(&files, "shared"), "step.c:3:");
    }
}

#[test]
fn a_library_that_is_loaded_later_is_instrumented() {
    let files = Files::new();
    files.file("step.c", STEP);
    files.file("main.c", MAIN);
    files.file(
        "load.c",
        "#include <dlfcn.h>\n#include <stdio.h>\nint step(void) {\n  void *library = dlopen(\"./libstep.so\", RTLD_NOW);\n\
         if (!library) { puts(dlerror()); return 0; }\n  int (*real)(void) = dlsym(library, \"step\");\n  return real();\n}\n",
    );
    cc(&files, "-shared -fPIC step.c -o libstep.so");
    cc(&files, "-pthread main.c load.c -o loads");
    races(&program(&files, "loads"), "step.c:3:");
}

/// Threads that know nothing of each other use memory in turn that libraries come and go in.
#[test]
fn a_library_where_another_was_is_new() {
    let files = Files::new();
    let include = crate::harness::root().join("tests/programs/include");
    files.file(
        "lib.c",
        "static int data[5000];\nint touch(void) { return ++data[NUMBER]; }\n",
    );
    files.file(
        "main.c",
        "#include \"threads.h\"\n#include <dlfcn.h>\nstatic void use(const char *name) {\n  void *library = dlopen(name, RTLD_NOW);\n\
         MUST(library);\n  int (*touch)(void) = dlsym(library, \"touch\");\n  touch();\n  MUST(dlclose(library) == 0);\n}\n\
         static void one(void) { turn(1); use(\"./one.so\"); next_turn(); }\n\
         static void two(void) { turn(2); use(\"./two.so\"); next_turn(); }\n\
         int main(void) { together(one, two); puts(\"done\"); }\n",
    );
    cc(&files, "-shared -fPIC -DNUMBER=4000 lib.c -o one.so");
    cc(&files, "-shared -fPIC -DNUMBER=4000 lib.c -o two.so");
    cc(
        &files,
        &format!("-pthread -I{} main.c -o main", include.display()),
    );
    let run = program(&files, "main");
    assert_eq!((run.status, run.stdout.as_str()), (0, "done\n"), "{}", run.stderr);
}

#[test]
fn what_is_not_a_link_is_as_clang_does_it() {
    let files = Files::new();
    files.file("a.c", "#define THREE 3\nint three(void) { return THREE; }\n");
    assert!(cc(&files, "-E a.c").stdout.contains("return 3;"));
    assert!(cc(&files, "-M a.c").stdout.starts_with("a.o: a.c"));
    assert!(cc(&files, "-S -o - a.c").stdout.contains("three:"));
    assert!(cc(&files, "--version").stdout.contains("clang version"));
    assert!(!cc(&files, "-dumpmachine").stdout.is_empty());
    cc(&files, "-MD -c a.c");
    assert!(Path::new(&files.path("a.d")).exists() && Path::new(&files.path("a.o")).exists());
    files.file("broken.c", "int f(\n");
    let run = ran(&mut compiler("cc", &files.path(""), &["-c", "broken.c"]));
    assert_eq!(run.status, 1);
    assert!(run.stderr.contains("broken.c:1:"), "{}", run.stderr);
}

#[test]
fn programs_in_cpp_are_linked_with_their_library() {
    let files = Files::new();
    files.file(
        "main.cpp",
        "#include <iostream>\n#include <thread>\nint count;\nint main() {\n  std::thread one([] { ++count; }), two([] { ++count; });\n\
         one.join();\n  two.join();\n  std::cout << \"done\" << std::endl;\n}\n",
    );
    let words = ["-std=c++20", "-O1", "-flto", "-pthread", "main.cpp", "-o", "main"];
    let run = ran(&mut compiler("c++", &files.path(""), &words));
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    races(&program(&files, "main"), "main.cpp:5:");
}

#[test]
fn what_does_not_go_together_is_explained() {
    let files = Files::new();
    files.file("a.c", "int main(void) { return 0; }\n");
    let run = ran(&mut compiler(
        "cc",
        &files.path(""),
        &["-fsanitize=thread", "a.c"],
    ));
    run.fails_with(&["-fsanitize=thread", "cannot both"]);
    let run = ran(&mut compiler("cc", &files.path(""), &["-static", "a.c"]));
    assert_ne!(run.status, 0);
    assert!(
        run.stderr.contains("static programs cannot be checked"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_program_that_cannot_be_checked_runs_all_the_same() {
    let files = Files::new();
    files.file(
        "a.c",
        "#include <stdio.h>\nint main(void) { puts(\"runs\"); return 4; }\n",
    );
    cc(&files, "a.c -o a");
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -v 4000000; exec ./a"])
        .current_dir(files.path(""));
    let run = ran(&mut limited);
    assert_eq!((run.status, run.stdout.as_str()), (4, "runs\n"), "{}", run.stderr);
    assert!(
        run.stderr.contains("ulimit -v") && run.stderr.contains("UNCHECKED"),
        "{}",
        run.stderr
    );
}
