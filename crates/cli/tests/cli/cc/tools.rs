//! Other tools on our objects: archivers, `ld -r`, `objcopy`, other linkers, ccache.

use super::*;

#[test]
fn archives_of_all_kinds_are_instrumented() {
    let files = steps();
    std::fs::create_dir(files.path("sub")).unwrap();
    cc(&files, "-O2 -c main.c");
    cc(&files, "-O2 -c step.c -o sub/step.o");
    needs(&["llvm-ar-22"]);
    let commands = [
        "ar rcs lib.a sub/step.o",
        "ar rcsT lib.a sub/step.o",
        "ar rcS lib.a sub/step.o",
        "gcc-ar rcs lib.a sub/step.o",
        "llvm-ar-22 rcs lib.a sub/step.o",
    ];
    for command in commands {
        let _ = std::fs::remove_file(files.path("lib.a"));
        tool(&files, command);
        cc(&files, "-pthread main.o lib.a -o program");
        races(&program(&files, "program"), "step.c:3:");
    }
    cc(
        &files,
        "-pthread main.o -Wl,--whole-archive lib.a -Wl,--no-whole-archive -o program",
    );
    races(&program(&files, "program"), "step.c:3:");
}

#[test]
fn objects_that_are_put_together_are_instrumented() {
    let files = steps();
    files.file(
        "more.c",
        "static int count = 5;\nint more(void) { return count; }\n",
    );
    cc(&files, "-O2 -c main.c step.c more.c");
    // By us, by the linker itself, and that once more.
    cc(&files, "-r main.o step.o more.o -o ours.o");
    tool(&files, "ld -r main.o step.o -o two.o");
    tool(&files, "ld -r two.o more.o -o three.o");
    tool(&files, "ar rcs three.a three.o");
    for object in ["ours.o", "two.o more.o", "three.o", "three.a"] {
        cc(&files, &format!("-pthread {object} -o program"));
        races(&program(&files, "program"), "step.c:3:");
    }
}

/// What only the object's own code has is not lost.
#[test]
fn objects_that_were_changed_are_used_as_they_are() {
    let files = steps();
    cc(&files, "-O2 -c step.c");
    cc(&files, "-O2 -Dstep=my_step -c main.c");
    tool(&files, "objcopy --prefix-symbols=my_ step.o prefixed.o");
    tool(&files, "cc -c step.c -Dstep=my_step -o foreign.o");
    tool(&files, "ld -r main.o foreign.o -o both.o");
    for objects in ["main.o prefixed.o", "both.o"] {
        let mut words: Vec<&str> = objects.split(' ').collect();
        words.extend(["-pthread", "-o", "program"]);
        let run = ran(&mut compiler("cc", &files.path(""), &words));
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(
            run.stderr.contains("was changed after it was compiled"),
            "{}",
            run.stderr
        );
        let run = program(&files, "program");
        assert_eq!((run.status, run.stdout.as_str()), (0, "done\n"), "{}", run.stderr);
    }
    // Without its debug information it is the same object.
    tool(&files, "strip --strip-debug step.o");
    cc(&files, "-O2 -c main.c");
    cc(&files, "-pthread main.o step.o -o program");
    races(&program(&files, "program"), "step.c:3:");
}

#[test]
fn other_linkers_do_the_rest() {
    for (linker, mark) in [("lld-22", "LLD"), ("mold", "mold"), ("gold", "gnu.gold-version")] {
        needs(&[&format!("ld.{linker}")]);
        let files = races_with(&format!("-O2 -fuse-ld={linker} -Wl,--gc-sections -Wl,-z,now"));
        let made = std::fs::read(files.path("program")).unwrap();
        assert!(
            made.windows(mark.len()).any(|part| part == mark.as_bytes()),
            "{linker}"
        );
    }
}

#[test]
fn options_and_scripts_for_the_linker_arrive() {
    let files = steps();
    files.file("exports", "{ global: step; local: *; };\n");
    cc(
        &files,
        "-shared -fPIC step.c -Wl,--version-script=exports -Wl,-soname,libstep.so.1 -Wl,-Map=map -o libstep.so.1",
    );
    assert!(
        std::fs::read_to_string(files.path("map"))
            .unwrap()
            .contains("Linker script and memory map")
    );
    // A script that names the library, as Debian has them for libc.
    files.file("libstep.so", "INPUT(./libstep.so.1)\n");
    cc(
        &files,
        "-pthread main.c -L. -lstep -Xlinker -rpath -Xlinker . -o program",
    );
    races(&program(&files, "program"), "step.c:3:");
    cc(
        &files,
        "-pthread main.c step.c -Wl,--defsym=extra=0x1234 -Wl,--wrap=nothing -o program",
    );
    races(&program(&files, "program"), "step.c:3:");
}

#[test]
fn ccache_may_stand_in_front() {
    needs(&["ccache"]);
    let files = steps();
    let compilers = [
        env!("CARGO_BIN_EXE_deadheat").to_owned() + " cc",
        shim(&files, "cc"),
    ];
    for (name, by) in compilers.iter().zip(["one", "two"]) {
        let build = |more: &[(&str, &str)]| {
            for source in ["main", "step"] {
                let mut words = name.split(' ');
                let mut command = Command::new("ccache");
                command
                    .args(words.by_ref())
                    .args([
                        "-O2",
                        "-MD",
                        "-c",
                        &format!("{source}.c"),
                        "-o",
                        &format!("{source}.o"),
                    ])
                    .current_dir(files.path(""))
                    .env("CCACHE_DIR", files.path(by))
                    .env("DEADHEAT_CACHE", cache())
                    .envs(more.iter().copied());
                let run = ran(&mut command);
                assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{name}");
            }
            cc(&files, "-pthread main.o step.o -o program");
            races(&program(&files, "program"), "step.c:3:");
        };
        build(&[]);
        build(&[]);
        build(&[("CCACHE_PREFIX", "env")]);
        if name.ends_with("deadheat-cc") {
            let run = ran(Command::new("ccache")
                .arg("--print-stats")
                .env("CCACHE_DIR", files.path(by)));
            assert!(run.stdout.contains("direct_cache_hit\t4"), "{}", run.stdout);
        }
    }
}

/// A link to the command under the name of a compiler.
pub fn shim(files: &Files, language: &str) -> String {
    let path = files.path(&format!("deadheat-{language}"));
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_deadheat"), &path).unwrap();
    path
}
