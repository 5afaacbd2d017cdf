//! What needs no check by all that a program does, and what looks like it but does.

use crate::harness::{as_program, function, hooks, instrument, knowing, with_all_checks};
use deadheat_instrument::effects::Facts;
use deadheat_instrument::module::Placement;

/// A function that reads and writes by its parameter, and `f`, which calls it.
fn called(linkage: &str, attributes: &str, rest: &str) -> String {
    format!(
        "declare ptr @malloc(i64)
        declare void @free(ptr)
        @kept = global ptr null
        define {linkage} void @callee(ptr {attributes} %p) noinline {{
            store volatile i64 1, ptr %p, align 8
            ret void
        }}
        {rest}"
    )
}

#[track_caller]
fn callee_checks(module: &str, checked: bool) {
    let text = instrument(module);
    let expected: &[&str] = if checked { &["write8(%p)"] } else { &[] };
    assert_eq!(hooks(&text, "callee"), expected, "in\n{text}");
    // Whatever is known, `off` does not use it.
    assert_eq!(hooks(&with_all_checks(module), "callee"), ["write8(%p)"]);
}

const LOCAL: &str = "define void @f() {
    %l = alloca i64
    call void @callee(ptr %l)
    ret void
}";

#[test]
fn a_parameter_that_is_always_private_has_no_checks() {
    callee_checks(&called("internal", "captures(none)", LOCAL), false);
    // Of the heap, and a constant distance away.
    let heap = "define void @f() {
        %l = call ptr @malloc(i64 16)
        %m = getelementptr i8, ptr %l, i64 8
        call void @callee(ptr %m)
        call void @free(ptr %l)
        ret void
    }";
    callee_checks(&called("internal", "captures(none)", heap), false);
    // Handed on by a function of which the same is true.
    let through = format!(
        "define internal void @between(ptr captures(none) %q) noinline {{
            call void @callee(ptr %q)
            ret void
        }}
        {}",
        LOCAL.replace("@callee", "@between")
    );
    callee_checks(&called("internal", "captures(none)", &through), false);
}

#[test]
fn a_parameter_that_may_be_shared_is_checked() {
    // Somebody else may call it.
    callee_checks(&called("", "captures(none)", LOCAL), true);
    callee_checks(&called("hidden", "captures(none)", LOCAL), true);
    // It may keep the address.
    callee_checks(&called("internal", "", LOCAL), true);
    for other in [
        // One call of many with something else.
        "define void @g(ptr %q) {
            call void @callee(ptr %q)
            ret void
        }",
        "@variable = global i64 0
        define void @g() {
            call void @callee(ptr @variable)
            ret void
        }",
        "define void @g(ptr %q, i1 %c) {
            %l = alloca i64
            %s = select i1 %c, ptr %l, ptr %q
            call void @callee(ptr %s)
            ret void
        }",
        "define void @g(ptr %q) {
            %l = load ptr, ptr %q, align 8
            call void @callee(ptr %l)
            ret void
        }",
        "define void @g(i64 %n) {
            %l = inttoptr i64 %n to ptr
            call void @callee(ptr %l)
            ret void
        }",
        // By a function that others call.
        "define void @g(ptr captures(none) %q) {
            call void @between(ptr %q)
            ret void
        }
        define internal void @between(ptr captures(none) %q) noinline {
            call void @callee(ptr %q)
            ret void
        }",
        // Its address is known.
        "@table = global ptr @callee",
        "@another = alias void (ptr), ptr @callee",
        "define void @g() {
            call void @take(ptr @callee)
            ret void
        }",
        "define void @g(ptr %q) {
            store ptr @callee, ptr %q, align 8
            ret void
        }",
        // Called as something else.
        "define void @g(i64 %n) {
            call void @callee(i64 %n)
            ret void
        }",
        // Memory that other threads come to see: before the call, after it, by a part of it, by a copy of the address.
        "define void @g() {
            %l = alloca i64
            call void @take(ptr %l)
            call void @callee(ptr %l)
            ret void
        }",
        "define void @g() {
            %l = call ptr @malloc(i64 16)
            call void @callee(ptr %l)
            %m = getelementptr i8, ptr %l, i64 8
            store ptr %m, ptr @kept, align 8
            ret void
        }",
        "define void @g(ptr %q) {
            %l = alloca i64
            %o = atomicrmw xchg ptr %q, ptr %l seq_cst
            call void @callee(ptr %l)
            ret void
        }",
        "define void @g(ptr %q) {
            %l = alloca i64
            %n = ptrtoint ptr %l to i64
            store i64 %n, ptr %q, align 8
            call void @callee(ptr %l)
            ret void
        }",
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
        define void @g(ptr %q) {
            %l = alloca i64
            %a = alloca ptr
            store ptr %l, ptr %a, align 8
            call void @llvm.memcpy.p0.p0.i64(ptr %q, ptr %a, i64 8, i1 false)
            call void @callee(ptr %l)
            ret void
        }",
        "define ptr @g() {
            %l = call ptr @malloc(i64 16)
            call void @callee(ptr %l)
            ret ptr %l
        }",
        "declare void @print(ptr, ...)
        define void @g() {
            %l = alloca i64
            call void @callee(ptr %l)
            call void (ptr, ...) @print(ptr null, ptr %l)
            ret void
        }",
    ] {
        callee_checks(
            &called("internal", "captures(none)", &format!("{LOCAL}\n{other}")),
            true,
        );
    }
}

#[test]
fn a_copy_that_the_callee_shows_to_others_is_checked() {
    let callee = |rest: &str| {
        format!(
            "@kept = global ptr null
            define internal void @callee(ptr byval(i64) %p) noinline {{
                store volatile i64 1, ptr %p, align 8
                {rest}
                ret void
            }}
            {}",
            LOCAL.replace("ptr %l)", "ptr byval(i64) %l)")
        )
    };
    let shown = hooks(&instrument(&callee("store ptr %p, ptr @kept, align 8")), "callee");
    assert!(shown.contains(&"write8(%p)".to_owned()), "{shown:?}");
    assert_eq!(hooks(&instrument(&callee("")), "callee"), [] as [&str; 0]);
}

#[test]
fn what_the_link_says_of_a_function_that_others_can_name() {
    let module = called("", "captures(none)", LOCAL);
    let mut facts = Facts::default();
    facts.note_private("callee", 2);
    let checks = |module: &str, facts: &Facts| hooks(&knowing(module, Placement::Redundant, facts), "callee");
    assert_eq!(checks(&module, &facts), ["write8(%p)"], "it is another parameter");
    facts.note_private("callee", 1);
    assert_eq!(checks(&module, &facts), [] as [&str; 0]);
    // Also of what it hands on to one that only this module can name.
    let between =
        called("internal", "captures(none)", LOCAL).replace("@f()", "@named(ptr captures(none) %l)");
    let between = between.replace("%l = alloca i64", "");
    assert_eq!(checks(&between, &facts), ["write8(%p)"]);
    facts.note_private("named", 1);
    assert_eq!(checks(&between, &facts), [] as [&str; 0]);
    // Who has the name in a module of his own is another.
    let own = called(
        "internal",
        "captures(none)",
        "define void @g(ptr %q) {\ncall void @callee(ptr %q)\nret void\n}",
    );
    assert_eq!(checks(&own, &facts), ["write8(%p)"]);
}

#[test]
fn what_the_link_says_of_variables_and_of_who_is_called_when() {
    let module = publishing("ret i32 0", "").replace("@v = internal", "@v =");
    let mut facts = Facts::default();
    let checks = |module: &str, facts: &Facts| hooks(&knowing(module, Placement::Redundant, facts), "reader");
    assert_eq!(checks(&module, &facts), ["read8(%i)"]);
    facts.note_published("v");
    assert_eq!(checks(&module, &facts), [] as [&str; 0]);
    // Blocks behind one, which the modules could write all the same.
    let block = with_block("ret i32 0", LOAD, "").replace("@p = internal", "@p =");
    assert_eq!(checks(&block, &facts), ["read8(@p)", "read8(%i)"]);
    facts.note_published("p");
    assert_eq!(checks(&block, &facts), ["read8(%i)"]);
    facts.note_blocks("p");
    assert_eq!(checks(&block, &facts), [] as [&str; 0]);
    // A variable of the module's own, that a function sets which is called early.
    let own = publishing(
        "ret i32 0",
        "define void @set(i64 %n) {
            store volatile i64 %n, ptr @v, align 8
            ret void
        }",
    );
    assert_eq!(checks(&own, &facts), ["read8(%i)"], "the name is that of another");
    facts.note_alone("set");
    assert_eq!(checks(&own, &facts), [] as [&str; 0]);
    let late = own.replace(
        "store volatile i64 %n",
        "call void @other()\nstore volatile i64 %n",
    );
    assert_eq!(checks(&late, &facts), ["read8(%i)"]);
}

#[test]
fn memory_of_the_heap_whose_address_stays_has_no_checks() {
    let program = |rest: &str| {
        format!(
            "declare ptr @malloc(i64)
            declare void @free(ptr)
            define i64 @f(ptr %q) {{
                %l = call ptr @malloc(i64 16)
                store volatile i64 1, ptr %l, align 8
                {rest}
                call void @free(ptr %l)
                ret i64 0
            }}"
        )
    };
    assert_eq!(hooks(&instrument(&program("")), "f"), ["free(%l)"]);
    assert_eq!(
        hooks(&with_all_checks(&program("")), "f"),
        ["write8(%l)", "free(%l)"]
    );
    let leaves = program("store volatile ptr %l, ptr %q, align 8");
    assert!(hooks(&instrument(&leaves), "f").contains(&"write8(%l)".to_owned()));
}

#[test]
fn locals_that_functions_of_other_modules_do_not_keep_have_no_checks() {
    let module = |call: &str| {
        format!(
            "declare void @two(ptr, ptr)
            declare void @more(ptr, ...)
            define internal void @own(ptr %p) noinline {{
                call void @take(ptr %p)
                ret void
            }}
            define void @f(ptr %q) {{
                %l = alloca i64
                store volatile i64 1, ptr %l, align 8
                call void {call}
                ret void
            }}"
        )
    };
    let mut facts = Facts::default();
    // The second parameter of two.
    for name in ["two", "own", "more"] {
        facts.note_forgets(name, 2);
    }
    facts.note_forgets("own", 1);
    let checked = |call: &str, placement| {
        let hooks = hooks(&knowing(&module(call), placement, &facts), "f");
        hooks.contains(&"write8(%l)".to_owned())
    };
    let known = "@two(ptr %q, ptr %l)";
    assert!(!checked(known, Placement::Redundant));
    assert!(checked(known, Placement::Off));
    for call in [
        "@two(ptr %l, ptr %q)",
        "@two(ptr %l, ptr %l)",
        "@take(ptr %l)",
        // One of its own that has the name of another's.
        "@own(ptr %l)",
        // Not as it is defined.
        "@two(ptr %q, ptr %l, i64 0)",
        "%q(ptr %q, ptr %l)",
    ] {
        assert!(checked(call, Placement::Redundant), "{call}");
    }
}

/// A program with a variable that `main` writes where `%HERE` is, and that `reader` reads.
fn publishing(main: &str, rest: &str) -> String {
    format!(
        "@v = internal global [4 x i64] zeroinitializer
        declare void @pthread_create(ptr)
        declare void @printf(ptr, ...)
        define i64 @reader(i64 %n) {{
            %i = getelementptr [4 x i64], ptr @v, i64 0, i64 %n
            %a = load volatile i64, ptr %i, align 8
            ret i64 %a
        }}
        define i32 @main(i64 %n, i1 %c) {{
            {main}
            ret i32 0
        }}
        {rest}"
    )
}

#[track_caller]
fn reader_checks(module: &str, checked: bool) {
    let text = as_program(module, Placement::Redundant);
    let expected: &[&str] = if checked { &["read8(%i)"] } else { &[] };
    assert_eq!(hooks(&text, "reader"), expected, "in\n{module}");
    let off = as_program(module, Placement::Off);
    assert_eq!(hooks(&off, "reader"), ["read8(%i)"]);
    // Who does not know that `main` is first cannot know more.
    assert_eq!(hooks(&instrument(module), "reader"), ["read8(%i)"]);
}

const WRITE: &str = "store volatile i64 %n, ptr @v, align 8";
const START: &str = "call void @pthread_create(ptr @reader)";

#[test]
fn what_is_published_before_there_are_threads_is_read_without_checks() {
    for main in [
        START.to_owned(),
        format!("{WRITE}\n{START}"),
        format!("call void (ptr, ...) @printf(ptr null)\n{WRITE}\n{START}"),
        // In a loop, in a branch, by a function, at an address that is computed.
        format!(
            "br label %loop
            loop:
            {WRITE}
            br i1 %c, label %loop, label %done
            done:
            {START}"
        ),
        format!("call void @set(i64 1)\ncall void @set(i64 %n)\n{START}"),
        format!(
            "%p = getelementptr [4 x i64], ptr @v, i64 0, i64 %n
            store volatile i64 1, ptr %p, align 8
            {START}"
        ),
    ] {
        let set = "define internal void @set(i64 %n) noinline {
            store volatile i64 %n, ptr @v, align 8
            ret void
        }";
        reader_checks(&publishing(&main, set), false);
    }
}

#[test]
fn what_may_be_written_later_is_checked() {
    for main in [
        format!("{START}\n{WRITE}"),
        format!("call void @other()\n{WRITE}"),
        "call void @set(i64 1)\ncall void @start()\ncall void @set(i64 2)".to_owned(),
        // On some path, in a later round.
        format!(
            "br i1 %c, label %start, label %done
            start:
            {START}
            br label %done
            done:
            {WRITE}"
        ),
        format!(
            "br label %loop
            loop:
            {WRITE}
            {START}
            br i1 %c, label %loop, label %done
            done:"
        ),
        // Somebody else gets the address.
        format!("call void @take(ptr @v)\n{START}"),
        format!(
            "call void @filling(ptr captures(none) @v)\n{START}\ncall void @filling(ptr captures(none) @v)"
        ),
        format!(
            "%n2 = ptrtoint ptr @v to i64
            call void (ptr, ...) @printf(ptr null, i64 %n2)
            {START}"
        ),
        format!("call void @callback(ptr @set)\n{START}"),
        format!(
            "%old = atomicrmw add ptr @v, i64 1 seq_cst\n{START}\n%new = atomicrmw add ptr @v, i64 1 seq_cst"
        ),
        // The second time it comes from `longjmp`.
        format!("%s = call i32 @setjmp(ptr null) returns_twice\n{WRITE}\n{START}"),
    ] {
        let rest = "define internal void @set(i64 %n) noinline {
            store volatile i64 %n, ptr @v, align 8
            ret void
        }
        define internal void @start() noinline {
            call void @pthread_create(ptr @reader)
            ret void
        }
        declare void @filling(ptr)
        declare void @callback(ptr)
        declare i32 @setjmp(ptr) returns_twice";
        reader_checks(&publishing(&main, rest), true);
    }
    let main = format!("{WRITE}\n{START}");
    for rest in [
        // A thread, or anybody else, writes as well.
        "define void @body(i64 %n) {
            store volatile i64 1, ptr @v, align 8
            ret void
        }",
        "@address = global ptr @v",
        "define ptr @f() {
            ret ptr @v
        }",
        "@also = alias [4 x i64], ptr @v",
        // Called again.
        "define void @again(i64 %n, i1 %c) {
            %i = call i32 @main(i64 %n, i1 %c)
            ret void
        }",
    ] {
        reader_checks(&publishing(&main, rest), true);
    }
    let module = publishing(&main, "");
    reader_checks(&module.replace("@v = internal", "@v ="), true);
    reader_checks(
        &module.replace("zeroinitializer", "zeroinitializer, section \"own\""),
        true,
    );
}

/// A program with blocks of the heap, the one behind `@p` read by `reader`, by a pointer that is loaded as `load` says.
fn with_block(main: &str, load: &str, rest: &str) -> String {
    format!(
        "@p = internal global [2 x ptr] zeroinitializer
        @q = internal global ptr null
        declare void @pthread_create(ptr)
        declare ptr @malloc(i64)
        declare ptr @realloc(ptr, i64)
        declare void @free(ptr)
        declare void @fill(ptr captures(none))
        declare i64 @strlen(ptr captures(none) readonly)
        declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
        declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
        define i64 @reader(i64 %n, i1 %c) {{
            {load}
            %i = getelementptr i64, ptr %block, i64 %n
            %a = load volatile i64, ptr %i, align 8
            ret i64 %a
        }}
        define i32 @main(i64 %n, i1 %c) {{
            %new = call ptr @malloc(i64 64)
            {main}
            ret i32 0
        }}
        {rest}"
    )
}

/// Whether the read of the block is checked.
#[track_caller]
fn block_checks(main: &str, load: &str, rest: &str, checked: bool) {
    let module = with_block(main, load, rest);
    let hooks = hooks(&as_program(&module, Placement::Redundant), "reader");
    assert_eq!(
        hooks.iter().any(|hook| hook == "read8(%i)"),
        checked,
        "in\n{module}"
    );
}

const LOAD: &str = "%block = load ptr, ptr @p, align 8";
const PUT: &str = "store ptr %new, ptr @p, align 8\nstore volatile i64 1, ptr %new, align 8";

#[test]
fn blocks_that_are_filled_before_there_are_threads_are_read_without_checks() {
    for main in [
        format!("{PUT}\n{START}"),
        format!("call void @llvm.memset.p0.i64(ptr %new, i8 1, i64 64, i1 false)\n{PUT}\n{START}"),
        // By what is in the variable, by a function, by whoever only looks at it later.
        format!(
            "{PUT}\ncall void @set(i64 %n)\n{START}\n%m = load ptr, ptr @p, align 8\n%l = call i64 @strlen(ptr %m)"
        ),
        // In a larger place, and not from its beginning.
        format!(
            "{PUT}
            %more = call ptr @realloc(ptr %new, i64 128)
            %behind = getelementptr i8, ptr %more, i64 8
            store ptr %behind, ptr @p, align 8
            {START}"
        ),
        format!(
            "{PUT}
            %m = load ptr, ptr @p, align 8
            %behind = getelementptr i8, ptr %m, i64 8
            store ptr %behind, ptr @p, align 8
            store ptr null, ptr getelementptr (i8, ptr @p, i64 8), align 8
            {START}"
        ),
    ] {
        let set = "define internal void @set(i64 %n) noinline {
            %m = load ptr, ptr @p, align 8
            %i = getelementptr i64, ptr %m, i64 %n
            store volatile i64 %n, ptr %i, align 8
            ret void
        }";
        block_checks(&main, LOAD, set, false);
    }
    let at = "%at = getelementptr ptr, ptr @p, i64 %n\n%block = load ptr, ptr %at, align 8";
    block_checks(&format!("{PUT}\n{START}"), at, "", false);
}

#[test]
fn blocks_that_may_be_written_later_are_checked() {
    for main in [
        format!("{PUT}\n{START}\nstore volatile i64 2, ptr %new, align 8"),
        format!("{PUT}\n{START}\n%m = load ptr, ptr @p, align 8\nstore volatile i64 2, ptr %m, align 8"),
        format!("{PUT}\n{START}\ncall void @fill(ptr %new)"),
        // Another block later, or none.
        format!("{START}\n{PUT}"),
        format!("{PUT}\n{START}\ncall void @free(ptr %new)"),
        format!("{PUT}\n{START}\n%m = call ptr @realloc(ptr %new, i64 1)"),
        // Somebody else has a pointer to it.
        format!("{PUT}\ncall void @take(ptr %new)\n{START}"),
        format!("{PUT}\nstore ptr %new, ptr @q, align 8\n{START}"),
        format!("{PUT}\nstore ptr %new, ptr %new, align 8\n{START}"),
        format!("{PUT}\n%m = load ptr, ptr @p, align 8\nstore ptr %m, ptr @q, align 8\n{START}"),
        format!("{PUT}\n%m = ptrtoint ptr %new to i64\nstore i64 %m, ptr @q, align 8\n{START}"),
        // Memory that is not new.
        format!("%m = load ptr, ptr @q, align 8\nstore ptr %m, ptr @p, align 8\n{START}"),
        format!("store ptr @q, ptr @p, align 8\n{START}"),
        // Not as a pointer, not as one that is whole, and not only there.
        format!("{PUT}\n%m = load i64, ptr @p, align 8\nstore i64 %m, ptr @q, align 8\n{START}"),
        format!("{PUT}\nstore i64 %n, ptr @p, align 8\n{START}"),
        format!("store ptr %new, ptr getelementptr (i8, ptr @p, i64 4), align 4\n{START}"),
        format!("%either = select i1 %c, ptr @p, ptr @q\nstore ptr %new, ptr %either, align 8\n{START}"),
        format!("{PUT}\ncall void @fill(ptr @p)\n{START}"),
        format!("{PUT}\ncall void @llvm.memcpy.p0.p0.i64(ptr @q, ptr @p, i64 8, i1 false)\n{START}"),
    ] {
        block_checks(&main, LOAD, "", true);
    }
    let main = format!("{PUT}\n{START}");
    // A thread writes, or keeps a pointer.
    for rest in [
        "define void @body() {
            %m = load ptr, ptr @p, align 8
            store volatile i64 2, ptr %m, align 8
            ret void
        }",
        "define ptr @body() {
            %m = load ptr, ptr @p, align 8
            ret ptr %m
        }",
    ] {
        block_checks(&main, LOAD, rest, true);
    }
    // It may be another's that is written.
    let either = "%at = select i1 %c, ptr @p, ptr @q\n%block = load ptr, ptr %at, align 8";
    let late = "%other = call ptr @malloc(i64 64)
        store ptr %other, ptr @q, align 8";
    let late = format!("{late}\n{main}\nstore volatile i64 2, ptr %other, align 8");
    block_checks(&late, either, "", true);
    let module = with_block(&main, LOAD, "@r = global i64 0");
    let module = module.replace(
        "@p = internal global [2 x ptr] zeroinitializer",
        "@p = internal global ptr @r",
    );
    let text = as_program(&module, Placement::Redundant);
    assert!(hooks(&text, "reader").iter().any(|hook| hook == "read8(%i)"));
}

#[test]
fn writes_keep_their_checks() {
    let text = as_program(
        &publishing(&format!("{WRITE}\n{START}"), ""),
        Placement::Redundant,
    );
    assert_eq!(
        hooks(&text, "main"),
        ["write8(@v)"],
        "{}",
        function(&text, "main").join("\n")
    );
}
