//! What gets no check, and what looks like it but does.

use crate::harness::{check, check_in, function, hooks, instrument};

#[test]
fn constants() {
    let globals = "@k = constant [4 x i64] zeroinitializer\n@v = global i64 0";
    check_in(
        globals,
        "%i = getelementptr [4 x i64], ptr @k, i64 0, i64 %n
         %a = load volatile i64, ptr %i, align 8",
        &[],
    );
    check_in(globals, "%a = load volatile i64, ptr @v, align 8", &["read8(@v)"]);
    check_in(
        globals,
        "%s = select i1 %c, ptr @k, ptr @v
         %a = load volatile i64, ptr %s, align 8",
        &["read8(%s)"],
    );
}

#[test]
fn loads_of_what_never_changes() {
    let text = instrument(
        "define i64 @f(ptr %p) {
            %a = load i64, ptr %p, align 8, !invariant.load !0
            ret i64 %a
        }
        define ptr @virtual(ptr %object) {
            %table = load ptr, ptr %object, align 8, !tbaa !1
            %slot = getelementptr ptr, ptr %table, i64 2
            %method = load ptr, ptr %slot, align 8
            ret ptr %method
        }
        !0 = !{}
        !1 = !{!2, !2, i64 0}
        !2 = !{!\"vtable pointer\", !3, i64 0}
        !3 = !{!\"Simple C++ TBAA\"}",
    );
    assert!(hooks(&text, "f").is_empty());
    assert_eq!(
        hooks(&text, "virtual"),
        ["read8(%object)"],
        "the table, not the object"
    );
}

#[test]
fn locals_whose_address_stays() {
    check(
        "%l = alloca [4 x i64]
         %i = getelementptr [4 x i64], ptr %l, i64 0, i64 %n
         store volatile i64 1, ptr %i, align 8
         call void @look(ptr %l)",
        &[],
    );
}

#[test]
fn locals_whose_address_leaves_by_another_pointer() {
    for leaving in [
        "call void @take(ptr %j)",
        "store ptr %j, ptr %q, align 8",
        "%a = ptrtoint ptr %j to i64\n call void @number(i64 %a)",
        "%s = select i1 %c, ptr %j, ptr %q\n call void @take(ptr %s)",
        "%o = cmpxchg ptr %q, ptr null, ptr %j seq_cst seq_cst",
        "call void asm sideeffect \"\", \"r\"(ptr %j)",
        "call void @more(ptr captures(none) %i) [ \"deopt\"(ptr %j) ]",
    ] {
        let text = instrument(&format!(
            "declare void @number(i64)
            declare void @more(ptr)
            define void @f(ptr %p, ptr %q, i64 %n, i1 %c) {{
                %l = alloca [4 x i64]
                %i = getelementptr [4 x i64], ptr %l, i64 0, i64 %n
                %j = getelementptr i8, ptr %l, i64 16
                store volatile i64 1, ptr %i, align 8
                {leaving}
                ret void
            }}"
        ));
        assert!(
            hooks(&text, "f").contains(&"write8(%i)".to_owned()),
            "{leaving}:\n{}",
            function(&text, "f").join("\n")
        );
    }
}

#[test]
fn own_copies_of_arguments() {
    let text = instrument(
        "define void @own(ptr byval(i64) align 8 %p) {
            store volatile i64 1, ptr %p, align 8
            ret void
        }
        define void @shared(ptr byval(i64) align 8 %p) {
            store volatile i64 1, ptr %p, align 8
            call void @take(ptr %p)
            ret void
        }",
    );
    assert!(hooks(&text, "own").is_empty());
    assert_eq!(hooks(&text, "shared"), ["write8(%p)"]);
}

#[test]
fn thread_locals_only_if_their_address_stays() {
    let globals = "
        @stays = internal thread_local global i64 0
        @leaves = internal thread_local global i64 0
        @known = thread_local global i64 0
        declare ptr @llvm.threadlocal.address.p0(ptr)
        define ptr @away() {
            %a = call ptr @llvm.threadlocal.address.p0(ptr @leaves)
            ret ptr %a
        }";
    for (name, checked) in [("stays", false), ("leaves", true), ("known", true)] {
        let body = format!(
            "%t = call ptr @llvm.threadlocal.address.p0(ptr @{name})
             store volatile i64 1, ptr %t, align 8"
        );
        check_in(globals, &body, if checked { &["write8(%t)"] } else { &[] });
    }
}

#[test]
fn other_address_spaces_and_counters() {
    check_in(
        "@__llvm_gcov_ctr = internal global [2 x i64] zeroinitializer
         @__profc_f = private global [1 x i64] zeroinitializer, section \"__llvm_prf_cnts\"",
        "%a = load volatile i64, ptr addrspace(257) null, align 8
         %i = getelementptr [2 x i64], ptr @__llvm_gcov_ctr, i64 0, i64 1
         store volatile i64 1, ptr %i, align 8
         store volatile i64 1, ptr @__profc_f, align 8",
        &[],
    );
}

#[test]
fn a_read_before_a_write_of_the_same_bytes() {
    check(
        "%a = load volatile i64, ptr %p, align 8
         store volatile i64 %a, ptr %p, align 8",
        &["write8(%p)"],
    );
}

#[test]
fn not_a_read_before_a_write_if_something_may_synchronise_or_the_bytes_differ() {
    for (between, also) in [
        ("call void @other()", None),
        ("call void asm sideeffect \"\", \"\"()", None),
        ("fence seq_cst", Some("fence(4)")),
    ] {
        let body = format!(
            "%a = load volatile i64, ptr %p, align 8
             {between}
             store volatile i64 %a, ptr %p, align 8"
        );
        let expected: Vec<&str> = [Some("read8(%p)"), also, Some("write8(%p)")]
            .into_iter()
            .flatten()
            .collect();
        check(&body, &expected);
    }
    check(
        "%a = load volatile i64, ptr %p, align 8
         store volatile i32 0, ptr %p, align 4",
        &["read8(%p)", "write4(%p)"],
    );
}

#[test]
fn functions_that_ask_for_it() {
    let text = instrument(
        "define void @naked(ptr %p) naked {
            call void asm sideeffect \"ret\", \"\"()
            unreachable
        }
        define void @disabled(ptr %p) disable_sanitizer_instrumentation {
            store volatile i64 1, ptr %p, align 8
            call void @other()
            ret void
        }
        @chosen = ifunc void (), ptr @choose
        @which = global i64 0
        define ptr @choose() {
            %w = load volatile i64, ptr @which, align 8
            ret ptr null
        }",
    );
    for name in ["naked", "disabled", "choose"] {
        let lines = function(&text, name).join("\n");
        assert!(!lines.contains("deadheat"), "{lines}");
    }
}
