//! Options of clang's: each does what it does with clang, and the race is found all the same.

use super::*;
use std::fs;

/// What clang itself says.
fn clang(files: &Files, arguments: &[&str]) -> Ran {
    let name = std::env::var("DEADHEAT_CLANG").unwrap_or_else(|_| "clang-22".to_owned());
    ran(Command::new(name).args(arguments).current_dir(files.path("")))
}

#[test]
fn questions_are_answered_as_clang_answers_them() {
    let files = steps();
    for question in [
        &["--version"][..],
        &["-dumpversion"],
        &["-dumpmachine"],
        &["-print-search-dirs"],
        &["-print-file-name=libc.so"],
        &["-print-libgcc-file-name"],
        &["-print-resource-dir"],
        &["-v"],
        &["-E", "-dM", "-x", "c", "/dev/null"],
        &["-M", "main.c"],
        &["-MM", "-MT", "other", "main.c"],
        &["-fsyntax-only", "main.c"],
        // Mistakes.
        &["--nonsense"],
        &["-c"],
        &[],
        &["nowhere.c"],
        &["nowhere.o"],
        &["-c", "nowhere.c", "-o", "nowhere/x.o"],
    ] {
        let ours = ran(&mut compiler("cc", &files.path(""), question));
        let clang = clang(&files, question);
        assert_eq!(
            (ours.status, ours.stdout, ours.stderr),
            (clang.status, clang.stdout, clang.stderr),
            "{question:?}"
        );
    }
    let plan = ran(&mut compiler("cc", &files.path(""), &["-###", "main.c"]));
    assert_eq!(plan.status, 0);
    assert!(plan.stderr.contains("deadheat-ld\""), "{}", plan.stderr);
    assert!(!Path::new(&files.path("a.out")).exists());
}

#[test]
fn dependencies_are_written_where_they_are_wanted() {
    let files = Files::new();
    files.file("a.h", "#define TWO 2\n");
    files.file("a.c", "#include <stddef.h>\n#include \"a.h\"\nint two = TWO;\n");
    cc(&files, "-MD -MF all.d -MT target -c a.c");
    cc(&files, "-MMD -c a.c -o made.o");
    let read = |name: &str| fs::read_to_string(files.path(name)).unwrap();
    assert!(read("all.d").starts_with("target: a.c") && read("all.d").contains("stddef.h"));
    assert_eq!(read("made.d"), "made.o: a.c a.h\n");
}

#[test]
fn a_source_may_come_from_stdin() {
    let files = steps();
    let compile = |arguments: &[&str]| {
        let input = fs::File::open(files.path("step.c")).unwrap();
        let run = ran(compiler("cc", &files.path(""), arguments).stdin(input));
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    };
    cc(&files, "-c main.c");
    compile(&["-x", "c", "-c", "-", "-o", "step.o"]);
    compile(&["-c", "-x", "c", "-"]);
    assert!(Path::new(&files.path("-.o")).exists());
    for object in ["step.o", "./-.o"] {
        cc(&files, &format!("-pthread main.o {object} -o program"));
        races(&program(&files, "program"), "<stdin>:3:");
    }
}

#[test]
fn options_may_stand_in_files() {
    let files = steps();
    files.file("flags", "-pthread -O2 -flto=thin \"-DNAME=a b\" @more");
    files.file("more", "main.c step.c\n-o program");
    cc(&files, "@flags");
    races(&program(&files, "program"), "step.c:3:");
    files.file("bad", "-fsanitize=address");
    ran(&mut compiler("cc", &files.path(""), &["@bad", "main.c"])).fails_with(&["-fsanitize=address"]);
    // Too long for a command line, and still taken apart.
    let defines: String = (0..20_000).map(|i| format!("-DNAME_{i}={i}\n")).collect();
    files.file(
        "long",
        format!("{defines} -flto -pthread main.c step.c -o program"),
    );
    cc(&files, "@long");
    races(&program(&files, "program"), "step.c:3:");
}

#[test]
fn several_sources_and_kinds_of_files_go_together() {
    let files = steps();
    cc(&files, "-O1 -c main.c step.c");
    assert!(Path::new(&files.path("main.o")).exists() && Path::new(&files.path("step.o")).exists());
    cc(&files, "-O2 -S step.c");
    cc(&files, "-O2 -emit-llvm -c step.c -o step.bc");
    cc(&files, "-E step.c -o step.i");
    for step in ["step.c", "step.o", "step.s", "step.bc", "step.i"] {
        cc(&files, &format!("-pthread main.o {step} -o program"));
        races(&program(&files, "program"), "step.c:3:");
    }
    let assembly = cc(&files, "-pipe -O2 -S step.c -o -").stdout;
    assert!(assembly.contains("step:"), "{assembly}");
}

#[test]
fn debug_information_may_be_elsewhere_or_under_another_name() {
    let files = races_with("-O2 -gsplit-dwarf");
    cc(&files, "-O2 -gsplit-dwarf -c step.c");
    assert!(Path::new(&files.path("step.dwo")).exists());
    for options in [
        "-g1",
        "-gdwarf-4",
        "-ggdb3",
        "-gz",
        "-g -gline-tables-only",
        "-pipe",
    ] {
        races_with(options);
    }
    let files = steps();
    let here = files.path("");
    let here = here.trim_end_matches('/');
    cc(
        &files,
        &format!("-pthread -fdebug-prefix-map={here}=/elsewhere main.c step.c -o program"),
    );
    races(&program(&files, "program"), "/elsewhere/step.c:3:");
}

#[test]
fn link_time_optimisation_of_the_users_is_ours() {
    for options in [
        "-O2 -flto",
        "-O2 -flto=thin -flto-jobs=2",
        "-O2 -flto=full -fwhole-program-vtables -fvisibility=hidden",
        "-O2 -flto -ffat-lto-objects",
        "-O2 -flto -fno-lto",
    ] {
        races_with(options);
    }
}

#[test]
fn headers_may_be_compiled_before() {
    let files = Files::new();
    files.file(
        "all.h",
        "#include <pthread.h>\n#include <stdio.h>\n#define ONCE 1\n",
    );
    files.file("step.c", STEP.replace("++count", "count += ONCE"));
    files.file("main.c", MAIN.replace("#include <pthread.h>", ""));
    for (header, options) in [
        ("-x c-header all.h -o all.pch", "-include-pch all.pch"),
        ("-x c-header all.h -o all.h.gch", "-include all.h"),
        ("all.h -o all.h.pch", "-include all.h"),
    ] {
        cc(&files, &format!("-O2 {header}"));
        cc(&files, &format!("-O2 {options} -c main.c step.c"));
        cc(&files, "-pthread main.o step.o -o program");
        races(&program(&files, "program"), "step.c:3:");
    }
}

#[test]
fn sanitizers_that_do_not_watch_memory_work() {
    let files = steps();
    files.file(
        "step.c",
        "static int count = 2147483647;\nint step(void) {\n    return ++count;\n}\n",
    );
    cc(&files, "-fsanitize=undefined -pthread main.c step.c -o program");
    let run = program(&files, "program");
    assert_eq!(
        (run.status, run.stdout.as_str()),
        (66, "done\n"),
        "{}",
        run.stderr
    );
    assert!(
        run.stderr
            .contains("step.c:3:12: runtime error: signed integer overflow"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("#0 step"), "{}", run.stderr);
    races_with("-fsanitize=thread -fno-sanitize=all");
    races_with("-fstack-protector-all -fcf-protection -D_FORTIFY_SOURCE=2 -O2");
}

#[test]
fn coverage_is_exact_and_no_race() {
    const LOOP: &str = "int step(void) {\n    int sum = 0;\n    for (int i = 0; i < 1000; i++) {\n        sum += i;\n    }\n    return sum;\n}\n";
    for level in ["-O0", "-O2"] {
        let files = steps();
        files.file("step.c", LOOP);
        cc(&files, &format!("{level} --coverage -c main.c step.c"));
        // The compiler wrote them; the link needs no such place.
        fs::remove_file(files.path("main.gcno")).unwrap();
        cc(&files, "--coverage -pthread main.o step.o -o program");
        assert!(!Path::new(&files.path("main.gcno")).exists());
        let run = program(&files, "program");
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        let shown = ran(Command::new("llvm-cov-22")
            .args(["gcov", "-t", "step.gcda"])
            .current_dir(files.path("")));
        assert!(
            shown.stdout.contains("     2000:    4:"),
            "{}{}",
            shown.stdout,
            shown.stderr
        );

        cc(
            &files,
            &format!(
                "{level} -fprofile-instr-generate=here.profraw -fcoverage-mapping -pthread main.c step.c -o program"
            ),
        );
        let run = program(&files, "program");
        assert_eq!((run.status, run.stderr.as_str()), (0, ""));
        tool(&files, "llvm-profdata-22 merge here.profraw -o merged");
        let shown = ran(Command::new("llvm-cov-22")
            .args(["show", "program", "-instr-profile=merged"])
            .current_dir(files.path("")));
        assert!(
            shown.stdout.contains("|  2.00k|        sum += i;"),
            "{}",
            shown.stdout
        );
    }
    races_with("-O2 --coverage");
    races_with("-fprofile-instr-generate -fcoverage-mapping");
}

#[test]
fn functions_are_instrumented_for_the_user_as_well() {
    let files = Files::new();
    files.file(
        "a.c",
        "#include <stdio.h>\n#define NOT __attribute__((no_instrument_function))\n\
         NOT void __cyg_profile_func_enter(void *f, void *from) { puts(\"in\"); }\n\
         NOT void __cyg_profile_func_exit(void *f, void *from) { puts(\"out\"); }\n\
         int main(void) { puts(\"main\"); return 0; }\n",
    );
    for level in ["-O0", "-O2"] {
        cc(&files, &format!("{level} -finstrument-functions a.c -o a"));
        assert_eq!(program(&files, "a").stdout, "in\nmain\nout\n", "{level}");
    }
}

/// Some assembly compiles only when what is in front of it has been optimised; some code links only then.
#[test]
fn what_needs_the_optimiser_has_it() {
    let files = Files::new();
    files.file(
        "a.c",
        "static inline __attribute__((always_inline)) int same(const int n) {\n  int r;\n\
         __asm__(\"movl %1, %0\" : \"=r\"(r) : \"i\"(n));\n  return r;\n}\n\
         void not_defined(void);\nint dropped(void) { not_defined(); return 1; }\n\
         int main(void) { if (!__builtin_constant_p(3)) not_defined(); return same(3); }\n",
    );
    cc(&files, "-O2 -c a.c");
    cc(&files, "-ffunction-sections -Wl,--gc-sections a.o -o a");
    assert_eq!(program(&files, "a").status, 3);
}

#[test]
fn what_cannot_be_is_explained() {
    let files = steps();
    for (options, parts) in [
        (
            "-static",
            &["static programs cannot be checked", "link dynamically"][..],
        ),
        ("-static-pie", &["static programs cannot be checked"]),
        ("-m32 -nostdlib", &["32 bits", "-m32"]),
    ] {
        let mut words: Vec<&str> = options.split(' ').collect();
        words.push("step.c");
        let run = ran(&mut compiler("cc", &files.path(""), &words));
        assert_ne!(run.status, 0, "{options}");
        for part in parts {
            assert!(run.stderr.contains(part), "{options}: {}", run.stderr);
        }
    }
    for sanitizer in ["thread", "address", "memory", "leak", "hwaddress", "cfi"] {
        let option = format!("-fsanitize={sanitizer}");
        let words = [option.as_str(), "-flto", "-fvisibility=hidden", "main.c"];
        ran(&mut compiler("cc", &files.path(""), &words)).fails_with(&[option.as_str(), "build without"]);
    }
    // What is not linked is no program.
    cc(&files, "-static -c main.c");
}
