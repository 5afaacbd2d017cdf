//! What the modules of a program say together of memory that needs no checks, and what ends it.

use super::{cc, compiler, program, races, tool};
use crate::harness::{Files, command, ran};
use crate::native::cache;

const HEADER: &str = "
    struct pair { long first, second; };
    extern int level;
    extern long table[64], *block;
    void options(int count);
    void add(struct pair *to, long value);
    void *work(void *argument);
";

/// Two threads add to memory of their own by a function of another module; variables are written before.
const MAIN: &str = "
    #include \"all.h\"
    #include <pthread.h>
    #include <stdio.h>
    int level;
    int main(int count, char **words) {
        (void)words;
        level = count;
        options(count);
        pthread_t thread;
        struct pair mine = {1, 2};
        pthread_create(&thread, 0, work, 0);
    #ifdef LATE
        level = 3;
    #endif
        for (int i = 0; i < 100; i++) add(&mine, i);
        pthread_join(thread, 0);
        puts(\"done\");
        return mine.second == 77;
    }
";

const OPTIONS: &str = "
    #include \"all.h\"
    #include <stdlib.h>
    long table[64], *block;
    void options(int count) {
        block = malloc(64 * sizeof *block);
        for (int i = 0; i < 64; i++) block[i] = i + count;
        for (int i = 0; i < 64; i++) table[i] = i * count;
        if (count > 5) level = 7;
    }
";

const WORK: &str = "
    #include \"all.h\"
    __attribute__((noinline)) void add(struct pair *to, long value) {
        to->first += value;
    }
    void *work(void *unused) {
        struct pair mine = {0, 0};
        long sum = 0;
        for (int i = 0; i < 1000; i++) {
            add(&mine, i);
            sum += level;
            sum += table[mine.first & 63];
            sum += block[mine.first & 63];
        }
        return sum == 77 ? 0 : unused;
    }
";

const ADD: &str = "to->first += value;";
const LEVEL: &str = "sum += level;";
const TABLE: &str = "sum += table[mine.first & 63];";
const BLOCK: &str = "sum += block[mine.first & 63];";

fn project() -> Files {
    let files = Files::new();
    files.file("all.h", HEADER);
    files.file("main.c", MAIN);
    files.file("options.c", OPTIONS);
    files.file("work.c", WORK);
    files
}

/// Which of these lines are checked in what is linked so.
#[track_caller]
fn checked(files: &Files, link: &str) -> Vec<&'static str> {
    let words: Vec<&str> = link.split_whitespace().collect();
    let linked = ran(compiler("cc", &files.path(""), &words).env("DEADHEAT_EXPLAIN", "1"));
    assert_eq!((linked.status, linked.stderr.as_str()), (0, ""), "{link}");
    let explained = ran(command(&["explain-checks", &files.path("program")]).env("DEADHEAT_CACHE", cache()));
    assert_eq!(explained.status, 0, "{}", explained.stderr);
    let is_checked = |line: &&str| {
        let text = explained.stdout.lines().find(|text| text.ends_with(*line));
        let text = text.unwrap_or_else(|| panic!("no `{line}` in:\n{}", explained.stdout));
        // The line's number, how many accesses are checked there, and of how many.
        let checked = text.split_whitespace().nth(1);
        !checked.is_some_and(|checked| checked.starts_with("0/"))
    };
    [ADD, LEVEL, TABLE, BLOCK]
        .into_iter()
        .filter(is_checked)
        .collect()
}

const ALL: &str = "-O2 -g -pthread main.c options.c work.c -o program";

#[test]
fn what_no_module_shares_is_not_checked() {
    let files = project();
    assert_eq!(checked(&files, ALL), [] as [&str; 0]);
    assert_eq!(program(&files, "program").status, 0);
    // One by one, and out of an archive: of a function there the linker may take another, which may keep what it is given.
    cc(&files, "-O2 -g -c main.c options.c work.c");
    assert_eq!(
        checked(&files, "-pthread main.o options.o work.o -o program"),
        [] as [&str; 0]
    );
    tool(&files, "ar rc library.a options.o work.o");
    assert_eq!(checked(&files, "-pthread main.o library.a -o program"), [ADD]);
}

#[test]
fn what_is_written_later_is_checked_and_races() {
    let files = project();
    assert_eq!(checked(&files, &format!("-DLATE {ALL}")), [LEVEL]);
    races(&program(&files, "program"), "main.c:14:");
}

#[test]
fn what_another_module_shares_is_checked() {
    let all = [ADD, LEVEL, TABLE, BLOCK];
    for (more, expected) in [
        // It gives shared memory, or what it was given.
        ("struct pair one; void more(void) { add(&one, 1); }", &[ADD][..]),
        ("void more(struct pair *one) { add(one, 1); }", &[ADD]),
        (
            "void more(struct pair *one) { add(one, 1); } void last(void) { struct pair mine = {1, 2}; more(&mine); }",
            &[],
        ),
        (
            "void more(struct pair *one) { add(one, 1); } void (*that)(struct pair *) = more;",
            &[ADD],
        ),
        // It keeps an address.
        ("void (*that)(struct pair *, long) = add;", &[ADD]),
        ("int *more(void) { return &level; }", &[LEVEL]),
        ("long *that = table + 3;", &[TABLE]),
        ("long *more(void) { return block; }", &[BLOCK]),
        // It writes.
        (
            "void more(void) { level++; } void (*that)(void) = more;",
            &[LEVEL],
        ),
        (
            "void more(void) { block[1]++; } void (*that)(void) = more;",
            &[BLOCK],
        ),
        // Assembly may do anything with a name.
        ("__asm__(\".globl more\\nmore: jmp add\");", &[ADD]),
        ("void more(void) { __asm__(\"incl level(%rip)\"); }", &[LEVEL]),
        // What runs before `main` may start threads.
        (
            "#include <pthread.h>\n__attribute__((constructor)) void more(void) { pthread_t one; pthread_create(&one, 0, work, 0); }",
            &[LEVEL, TABLE, BLOCK],
        ),
    ] {
        let files = project();
        files.file("more.c", format!("#include \"all.h\"\n{more}\n"));
        assert_eq!(checked(&files, &format!("{ALL} more.c")), expected, "{more}");
    }
    // Without bitcode.
    let files = project();
    files.file(
        "more.c",
        "#include \"all.h\"\nvoid more(void) { add(0, level); }\n",
    );
    tool(&files, "clang-22 -O2 -c more.c");
    assert_eq!(checked(&files, &format!("{ALL} more.o")), [ADD, LEVEL]);
    // A library that asks for names, one that has them itself, and all libraries there are.
    tool(&files, "clang-22 -O2 -shared -fPIC more.c -o libmore.so");
    assert_eq!(checked(&files, &format!("{ALL} libmore.so")), [ADD, LEVEL]);
    assert_eq!(checked(&files, &format!("{ALL} -L. -lmore")), [ADD, LEVEL]);
    tool(
        &files,
        "clang-22 -O2 -shared -fPIC options.c work.c -o libother.so -Wl,-z,lazy",
    );
    assert_eq!(checked(&files, &format!("{ALL} libother.so")), all);
    assert_eq!(checked(&files, &format!("{ALL} -rdynamic")), all);
    assert_eq!(checked(&files, &format!("{ALL} -Wl,-E")), all);
}

#[test]
fn a_name_that_a_library_finds_after_all_is_linked_again() {
    let files = project();
    // libc has a function of this name, so the linker lets it find the program's.
    for name in ["all.h", "main.c", "work.c"] {
        let text = std::fs::read_to_string(files.path(name)).expect("it is there");
        files.file(name, text.replace("add(", "insque("));
    }
    assert_eq!(checked(&files, ALL), [ADD]);
}
