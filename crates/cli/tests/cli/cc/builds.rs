//! Projects with build systems: what they ask the compiler is answered as they expect, and what they make is checked.

use super::tools::shim;
use super::*;

/// Runs a command of a build, and gives what it printed.
#[track_caller]
fn build(files: &Files, compilers: [&str; 2], line: &str) -> String {
    let mut words = line.split(' ');
    let run = ran(Command::new(words.next().unwrap())
        .args(words)
        .current_dir(files.path(""))
        .env("CC", compilers[0])
        .env("CXX", compilers[1])
        .env("DEADHEAT_CACHE", cache())
        .env_remove("CFLAGS")
        .env_remove("MAKEFLAGS"));
    assert_eq!(run.status, 0, "{line}: {}{}", run.stdout, run.stderr);
    run.stdout + &run.stderr
}

/// Both ways to name the compilers.
fn both(files: &Files) -> [[String; 2]; 2] {
    let command = env!("CARGO_BIN_EXE_deadheat");
    for name in ["llvm-ar", "llvm-ranlib"] {
        shim(files, name);
    }
    [
        [shim(files, "cc"), shim(files, "c++")],
        [format!("{command} cc"), format!("{command} c++")],
    ]
}

#[track_caller]
fn says(output: &str, lines: &[&str]) {
    for line in lines {
        assert!(output.contains(line), "no `{line}` in {output}");
    }
}

const CMAKE: &str = r##"
cmake_minimum_required(VERSION 3.16)
project(small C CXX)
include(CheckCSourceCompiles)
include(CheckCXXSourceCompiles)
include(CheckCSourceRuns)
include(CheckFunctionExists)
include(CheckIPOSupported)
include(CheckTypeSize)
check_c_source_compiles("int main(void) { return 0; }" COMPILES)
check_c_source_compiles("int main(void) { return nothing(; }" BROKEN)
check_c_source_compiles("int nowhere(void); int main(void) { return nowhere(); }" UNLINKED)
check_cxx_source_compiles("#include <vector>\nint main() { return std::vector<int>().size(); }" COMPILES_CXX)
check_c_source_runs("int main(void) { return 0; }" RUNS)
check_function_exists(no_such_function NOTHING)
check_type_size("long" LONG)
find_package(Threads REQUIRED)
check_ipo_supported(RESULT IPO OUTPUT WHY)
foreach(name COMPILES BROKEN UNLINKED COMPILES_CXX RUNS NOTHING LONG IPO CMAKE_C_COMPILER_ID CMAKE_CROSSCOMPILING)
  message(STATUS "found ${name}=${${name}}.")
endforeach()
set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
add_library(static_step STATIC step.c)
add_library(shared_step SHARED step.c)
add_executable(one main.c)
target_link_libraries(one static_step Threads::Threads)
target_precompile_headers(one PRIVATE <stdio.h> <pthread.h>)
add_executable(two main.c)
target_link_libraries(two shared_step Threads::Threads)
add_executable(three three.cpp)
enable_testing()
add_test(NAME one COMMAND one)
set_tests_properties(one PROPERTIES WILL_FAIL TRUE)
"##;

#[test]
fn cmake_finds_what_it_looks_for() {
    needs(&["cmake"]);
    let files = steps();
    files.file("CMakeLists.txt", CMAKE);
    files.file(
        "three.cpp",
        "#include <iostream>\nint main() { std::cout << 3; }\n",
    );
    for compilers in both(&files) {
        let compilers = [compilers[0].as_str(), compilers[1].as_str()];
        let _ = std::fs::remove_dir_all(files.path("build"));
        let said = build(
            &files,
            compilers,
            "cmake -B build -DCMAKE_BUILD_TYPE=RelWithDebInfo",
        );
        says(
            &said,
            &[
                "found COMPILES=1.",
                "found BROKEN=.",
                "found UNLINKED=.",
                "found COMPILES_CXX=1.",
                "found RUNS=1.",
                "found NOTHING=.",
                "found LONG=8.",
                "found IPO=YES.",
                "found CMAKE_C_COMPILER_ID=Clang.",
                "found CMAKE_CROSSCOMPILING=FALSE.",
            ],
        );
        build(&files, compilers, "cmake --build build");
        races(&program(&files, "build/one"), "step.c:3:");
        races(&program(&files, "build/two"), "step.c:3:");
        assert_eq!(program(&files, "build/three").stdout, "3");
        build(&files, compilers, "cmake --build build --target test");
    }
}

const MESON: &str = r#"
project('small', 'c', 'cpp')
c = meson.get_compiler('c')
nowhere = 'int nowhere(void); int main(void) { return nowhere(); }'
message('found', c.get_id(), meson.get_compiler('cpp').get_id(), c.compiles('int x;'), c.compiles('int x'),
  c.links(nowhere), c.has_function('strtoul'), c.has_function('no_such_function'), c.sizeof('long'),
  c.has_argument('-Wall'), c.has_argument('-no-such-option'), c.has_link_argument('-Wl,--as-needed'),
  c.run('int main(void) { return 3; }').returncode(), meson.is_cross_build(), '.')
threads = dependency('threads')
step = static_library('step', 'step.c')
shared = shared_library('shared', 'step.c')
executable('one', 'main.c', link_with: step, dependencies: threads)
executable('two', 'main.c', link_with: shared, dependencies: threads)
"#;

#[test]
fn meson_finds_what_it_looks_for() {
    needs(&["meson", "ninja"]);
    let files = steps();
    files.file("meson.build", MESON);
    let [_, commands] = both(&files);
    let compilers = [commands[0].as_str(), commands[1].as_str()];
    let said = build(
        &files,
        compilers,
        "meson setup build -Db_lto=true -Db_coverage=true",
    );
    says(
        &said,
        &["found clang clang true false false true false 8 true false true 3 false ."],
    );
    build(&files, compilers, "ninja -C build");
    races(&program(&files, "build/one"), "step.c:3:");
    races(&program(&files, "build/two"), "step.c:3:");
}

const AUTOCONF: &str = r#"
AC_INIT([small], [1])
AC_CONFIG_SRCDIR([main.c])
AC_PROG_CC
AC_PROG_CXX
AC_PROG_CPP
AC_PROG_RANLIB
AC_C_INLINE
AC_C_RESTRICT
AC_CHECK_SIZEOF([long])
AC_CHECK_HEADERS([pthread.h no_such_header.h])
AC_CHECK_FUNCS([strtoul no_such_function])
AC_SEARCH_LIBS([cos], [m])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
"#;
const MAKEFILE: &str = "CC = @CC@\nCFLAGS = @CFLAGS@\nRANLIB = @RANLIB@\n\
    one: main.o libstep.a\n\t$(CC) $(CFLAGS) -pthread main.o libstep.a @LIBS@ -o one\n\
    libstep.a: step.o\n\tar cr libstep.a step.o\n\t$(RANLIB) libstep.a\n\
    .c.o:\n\t$(CC) $(CFLAGS) -c $<\n\
    clean:\n\trm -f one *.o *.a\n";

#[test]
fn configure_finds_what_it_looks_for() {
    needs(&["autoconf", "make"]);
    let files = steps();
    files.file("configure.ac", AUTOCONF);
    files.file("Makefile.in", MAKEFILE);
    tool(&files, "autoconf");
    let [shims, _] = both(&files);
    let compilers = [shims[0].as_str(), shims[1].as_str()];
    let said = build(&files, compilers, "./configure");
    says(
        &said,
        &[
            "whether we are cross compiling... no",
            "whether the compiler supports GNU C... yes",
            "whether the compiler supports GNU C++... yes",
            "checking for inline... inline",
            "checking size of long... 8",
            "checking for pthread.h... yes",
            "checking for no_such_header.h... no",
            "checking for strtoul... yes",
            "checking for no_such_function... no",
            "checking for library containing cos... -lm",
        ],
    );
    build(&files, compilers, "make clean one");
    races(&program(&files, "one"), "step.c:3:");
}

#[test]
fn functions_of_the_programs_own_stay_its_own() {
    let files = Files::new();
    files.file(
        "main.c",
        "#include <pthread.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         int inet_pton(int family, const char *text, void *to), inet_aton(const char *text, void *to);\n\
         static void *work(void *argument) {\n\
             char to[20];\n\
             if (inet_pton(1, \"x\", to) != 4242 || inet_aton(\"x\", to) != 77) abort();\n\
             return argument;\n\
         }\n\
         int main(void) {\n\
             pthread_t thread;\n\
             pthread_create(&thread, 0, work, 0);\n\
             work(0);\n\
             pthread_join(thread, 0);\n\
             puts(\"its own\");\n\
         }\n",
    );
    files.file(
        "object.c",
        "int inet_pton(int family, const char *text, void *to) { return 4242; }\n",
    );
    files.file(
        "member.c",
        "int inet_aton(const char *text, void *to) { return 77; }\n",
    );
    for flags in ["", "-O2 -fvisibility=hidden", "-fvisibility=hidden -fPIC"] {
        cc(&files, &format!("{flags} -c main.c object.c member.c"));
        tool(&files, "ar rc libmember.a member.o");
        cc(
            &files,
            &format!("{flags} -pthread main.o object.o -L. -lmember -o program"),
        );
        let run = program(&files, "program");
        assert_eq!(
            (run.status, run.stdout.as_str()),
            (0, "its own\n"),
            "{flags}: {}",
            run.stderr
        );
        cc(
            &files,
            &format!("{flags} -fPIC -shared -pthread main.o object.o -L. -lmember -o libmain.so"),
        );
    }
}
