//! Checks that others stand for.

use crate::harness::{check, check_in, hooks, instrument, with_all_checks};

/// Functions that do nothing to other threads, and some that do, all of this module alone.
const OWN: &str = "
    @shared = global i64 0
    declare double @sin(double)
    declare void @free(ptr)
    define internal void @quiet(ptr %x) noinline {
        %v = call double @sin(double 1.0)
        ret void
    }
    define internal void @acquiring() noinline {
        %v = load atomic i64, ptr @shared acquire, align 8
        ret void
    }
    define internal void @releasing() noinline {
        store atomic i64 1, ptr @shared release, align 8
        ret void
    }
    define internal void @relaxed() noinline {
        store atomic i64 1, ptr @shared monotonic, align 8
        ret void
    }
    define internal void @deeper() noinline {
        call void @releasing()
        ret void
    }
    define internal void @freeing(ptr %x) noinline {
        call void @free(ptr %x)
        ret void
    }
    define internal void @leaving(i1 %c) noinline {
        br i1 %c, label %leave, label %stay
    leave:
        call void @exit(i32 0)
        unreachable
    stay:
        ret void
    }
    define internal void @endless(i1 %c) noinline {
        br label %again
    again:
        br i1 %c, label %again, label %end
    end:
        ret void
    }
    declare void @exit(i32) noreturn nosync nofree
";

/// Whether the second access has a check if this happens between it and the first.
fn second(first: &str, between: &str, second: &str) -> Vec<String> {
    let text = instrument(&format!(
        "{OWN}\ndefine void @f(ptr %p, ptr %q, i1 %c) {{\n{first}\n{between}\n{second}\nret void\n}}"
    ));
    let mut all = hooks(&text, "f");
    all.retain(|hook| hook.starts_with("read") || hook.starts_with("write"));
    all
}

const READ: &str = "%a = load volatile i64, ptr %p, align 8";
const AGAIN: &str = "%b = load volatile i64, ptr %p, align 8";
const WRITE: &str = "store volatile i64 1, ptr %p, align 8";

#[test]
fn a_check_stands_for_what_comes_behind_until_something_is_released() {
    for (between, kept) in [
        ("", false),
        ("call void @quiet(ptr %p)", false),
        ("call void @acquiring()", false),
        ("call void @relaxed()", false),
        ("call void @leaving(i1 %c)", false),
        ("call void @endless(i1 %c)", false),
        ("%d = load atomic i64, ptr @shared acquire, align 8", false),
        ("%d = load atomic i64, ptr @shared seq_cst, align 8", false),
        ("%d = call double @sin(double 1.0)", false),
        ("call void @releasing()", true),
        ("call void @deeper()", true),
        ("call void @freeing(ptr %q)", true),
        ("call void @other()", true),
        ("call void %q()", true),
        ("store atomic i64 1, ptr @shared release, align 8", true),
        ("%d = atomicrmw add ptr @shared, i64 1 acq_rel", true),
        ("fence release", true),
        ("fence syncscope(\"singlethread\") seq_cst", false),
        ("call void asm sideeffect \"\", \"~{memory}\"()", true),
    ] {
        // A write, for which the read behind it cannot stand.
        let found = second(WRITE, between, AGAIN);
        assert_eq!(found.len(), if kept { 2 } else { 1 }, "{between}: {found:?}");
    }
}

#[test]
fn a_check_stands_for_what_comes_before_since_something_was_acquired() {
    // Nothing but a write can stand for a write.
    for (between, kept) in [
        ("", false),
        ("call void @quiet(ptr %p)", false),
        ("call void @releasing()", false),
        ("call void @relaxed()", false),
        ("store atomic i64 1, ptr @shared release, align 8", false),
        ("call void @acquiring()", true),
        ("call void @leaving(i1 %c)", true),
        ("call void @endless(i1 %c)", true),
        ("call void @freeing(ptr %q)", true),
        ("call void @other()", true),
        ("%d = load atomic i64, ptr @shared acquire, align 8", true),
        ("fence acquire", true),
    ] {
        let found = second(READ, between, WRITE);
        let expected: &[&str] = match kept {
            true => &["read8(%p)", "write8(%p)"],
            false => &["write8(%p)"],
        };
        assert_eq!(found, expected, "{between}");
    }
}

/// How many checks there are of a write and a read with a call through a pointer between them, in a module with these globals.
fn through(globals: &str, call: &str) -> usize {
    let text = instrument(&format!(
        "{OWN}
        define internal void @still() noinline {{
            ret void
        }}
        {globals}
        define void @f(ptr %p, ptr %q, i64 %n, i1 %c) {{
            {WRITE}
            {call}
            {AGAIN}
            ret void
        }}"
    ));
    let mut all = hooks(&text, "f");
    // The pointer is read, too.
    all.retain(|hook| hook.ends_with("8(%p)"));
    all.len()
}

#[test]
fn a_call_through_a_pointer_does_what_one_of_the_functions_does() {
    let chosen = |one: &str, other: &str| {
        through(
            "",
            &format!("%g = select i1 %c, ptr @{one}, ptr @{other}\ncall void %g()"),
        )
    };
    assert_eq!(chosen("still", "acquiring"), 1);
    assert_eq!(chosen("still", "releasing"), 2);
    assert_eq!(chosen("still", "other"), 2);
    let told = "!0 = !{ptr @still, ptr @relaxed}\n!1 = !{ptr @still, ptr @deeper}";
    assert_eq!(through(told, "call void %q(), !callees !0"), 1);
    assert_eq!(through(told, "call void %q(), !callees !1"), 2);
}

#[test]
fn a_call_through_a_table_of_functions() {
    let call = "%i = getelementptr [3 x ptr], ptr @table, i64 0, i64 %n
        %g = load ptr, ptr %i
        call void %g()";
    let table = |kind: &str, last: &str| {
        through(
            &format!("@table = {kind} [3 x ptr] [ptr @still, ptr null, ptr @{last}]"),
            call,
        )
    };
    assert_eq!(table("internal constant", "acquiring"), 1);
    assert_eq!(table("internal constant", "releasing"), 2);
    // Another may be in its place, or something else in it.
    assert_eq!(table("constant", "acquiring"), 2);
    assert_eq!(table("internal global", "acquiring"), 2);
    // Names and numbers between the functions.
    let rows = |function: &str| {
        through(
            &format!(
                "@name = internal constant [2 x i8] c\"x\\00\"
                @rows = internal constant [2 x {{ ptr, i32, ptr }}]
                    [{{ ptr, i32, ptr }} {{ ptr @name, i32 1, ptr @still }}, {{ ptr, i32, ptr }} {{ ptr null, i32 2, ptr {function} }}]"
            ),
            "%i = getelementptr { ptr, i32, ptr }, ptr @rows, i64 %n, i32 2
            %g = load ptr, ptr %i
            call void %g()",
        )
    };
    assert_eq!(rows("@relaxed"), 1);
    assert_eq!(rows("@releasing"), 2);
    assert_eq!(rows("inttoptr (i64 4096 to ptr)"), 2);
}

#[test]
fn a_call_through_a_variable_of_this_module() {
    let variable = |variable: &str, stored: &str| {
        through(
            &format!(
                "{variable}
                define void @set(i1 %c, ptr %x) {{
                    %y = select i1 %c, ptr @still, ptr null
                    store ptr %y, ptr @function
                    store ptr {stored}, ptr @function
                    ret void
                }}"
            ),
            "%g = load ptr, ptr @function\ncall void %g()",
        )
    };
    let own = "@function = internal global ptr null";
    assert_eq!(variable(own, "@acquiring"), 1);
    assert_eq!(variable(own, "@releasing"), 2);
    assert_eq!(variable(own, "%x"), 2);
    assert_eq!(variable("@function = global ptr null", "@acquiring"), 2);
    // Whoever has its address may store anything.
    let known = format!("{own}\n@at = global ptr @function");
    assert_eq!(variable(&known, "@acquiring"), 2);
    let assembly = format!("module asm \"nop\"\n{own}");
    assert_eq!(variable(&assembly, "@acquiring"), 2);
}

#[test]
fn a_read_does_not_stand_for_a_write() {
    let text = instrument(
        "define void @f(ptr %p, i1 %c) {
            %a = load volatile i64, ptr %p, align 8
            br i1 %c, label %more, label %end
        more:
            store volatile i64 %a, ptr %p, align 8
            br label %end
        end:
            ret void
        }",
    );
    assert_eq!(hooks(&text, "f"), ["read8(%p)", "write8(%p)"]);
}

#[test]
fn bytes_within_others() {
    check(
        "%i = getelementptr i8, ptr %p, i64 4
         %a = load volatile i64, ptr %p, align 8
         %b = load volatile i32, ptr %i, align 4
         %j = getelementptr { i32, i16, i16 }, ptr %p, i64 0, i32 2
         %d = load volatile i16, ptr %j, align 2",
        &["read8(%p)"],
    );
    // Not one of them has all bytes of another.
    check(
        "%i = getelementptr i8, ptr %p, i64 4
         %a = load volatile i64, ptr %p, align 8
         %b = load volatile i64, ptr %i, align 8",
        &["read8(%p)", "read8(%i)"],
    );
}

#[test]
fn elements_and_members_by_the_same_index() {
    check(
        "%x = getelementptr { i64, i64 }, ptr %p, i64 %n, i32 1
         %a = load volatile i64, ptr %x, align 8
         %y = getelementptr [2 x i64], ptr %p, i64 %n
         %z = getelementptr i8, ptr %y, i64 8
         %b = load volatile i64, ptr %z, align 8",
        &["read8(%x)"],
    );
    check(
        "%x = getelementptr i64, ptr %p, i64 %n
         %a = load volatile i64, ptr %x, align 8
         %y = getelementptr i64, ptr %q, i64 %n
         %b = load volatile i64, ptr %y, align 8",
        &["read8(%x)", "read8(%y)"],
    );
}

#[test]
fn indices_are_taken_apart() {
    // All eight bytes are written by the index one further, less eight.
    let both = |index: &str| {
        let text = instrument(&format!(
            "define void @f(ptr %p, i64 %n, i32 %s, i64 %m) {{
                {index}
                %x = getelementptr i64, ptr %p, i64 %i
                store volatile i64 1, ptr %x, align 8
                %y = getelementptr i64, ptr %p, i64 %j
                %z = getelementptr i8, ptr %y, i64 -8
                %v = load volatile i64, ptr %z, align 8
                ret void
            }}"
        ));
        hooks(&text, "f").len()
    };
    for index in [
        "%i = add i64 %n, 1\n%j = add i64 %n, 2",
        "%i = sub i64 %n, 4\n%j = sub i64 %n, 3",
        "%t = shl i64 %n, 3\n%i = add i64 %t, 1\n%u = mul i64 %n, 8\n%j = add i64 %u, 2",
        // The same in another order.
        "%t = add i64 %n, %m\n%i = add i64 %t, 1\n%u = add i64 %m, 2\n%j = add i64 %u, %n",
        "%t = add nsw i32 %s, 1\n%i = sext i32 %t to i64\n%u = add nsw i32 %s, 2\n%j = sext i32 %u to i64",
        "%t = add nuw i32 %s, 1\n%i = zext i32 %t to i64\n%u = add nuw i32 %s, 2\n%j = zext i32 %u to i64",
        "%i = zext i32 %s to i64\n%u = add nuw i32 %s, 1\n%j = zext i32 %u to i64",
        "%t = shl i64 %n, 1\n%i = or disjoint i64 %t, 1\n%j = add i64 %t, 2",
    ] {
        assert_eq!(both(index), 1, "{index}");
    }
    for index in [
        "%i = add i64 %n, 1\n%j = add i64 %n, 3",
        "%i = add i64 %n, 1\n%j = add i64 %m, 2",
        // They may wrap around.
        "%i = sext i32 %s to i64\n%u = add i32 %s, 1\n%j = sext i32 %u to i64",
        "%i = sext i32 %s to i64\n%u = add nuw i32 %s, 1\n%j = sext i32 %u to i64",
        "%i = zext i32 %s to i64\n%u = add nsw i32 %s, 1\n%j = zext i32 %u to i64",
        // One is meant with its sign.
        "%i = sext i32 %s to i64\n%u = add nuw i32 %s, 1\n%j = zext i32 %u to i64",
        "%t = shl i64 %n, 1\n%i = or i64 %t, %m\n%u = add i64 %t, %m\n%j = add i64 %u, 1",
    ] {
        assert_eq!(both(index), 2, "{index}");
    }
}

#[test]
fn an_index_that_is_computed_anew_is_another() {
    let text = instrument(
        "define void @f(ptr %p, i1 %c) {
            br label %again
        again:
            %i = phi i64 [ 0, %0 ], [ %j, %again ]
            %j = add i64 %i, 1
            %x = getelementptr i64, ptr %p, i64 %i
            store volatile i64 1, ptr %x, align 8
            %k = add i64 %j, -1
            %y = getelementptr i64, ptr %p, i64 %k
            %a = load volatile i64, ptr %y, align 8
            br i1 %c, label %again, label %end
        end:
            %z = getelementptr i64, ptr %p, i64 %j
            %b = load volatile i64, ptr %z, align 8
            ret void
        }",
    );
    assert_eq!(hooks(&text, "f"), ["write8(%x)", "read8(%z)"]);
}

#[test]
fn on_every_path_or_not_at_all() {
    let module = |one: &str, other: &str, behind: &str| {
        let text = instrument(&format!(
            "define void @f(ptr %p, i1 %c) {{
                br i1 %c, label %one, label %other
            one:
                {one}
                br label %end
            other:
                {other}
                br label %end
            end:
                {behind}
                ret void
            }}"
        ));
        hooks(&text, "f").len()
    };
    let behind = "%e = load volatile i64, ptr %p, align 8";
    assert_eq!(module(READ, WRITE, behind), 2, "both stand for the last");
    assert_eq!(module(READ, "", behind), 1, "the last stands for the first");
    assert_eq!(module(READ, "", ""), 1);
    assert_eq!(module(WRITE, "", behind), 2, "a read does not stand for a write");
}

#[test]
fn a_call_that_may_throw_is_one_that_may_leave() {
    let found = |first: &str, attributes: &str, second: &str| {
        let text = instrument(&format!(
            "define void @f(ptr %p) personality ptr @personality {{
                {first}
                invoke void @other() {attributes} to label %on unwind label %gone
            on:
                {second}
                ret void
            gone:
                %x = landingpad {{ ptr, i32 }} cleanup
                resume {{ ptr, i32 }} %x
            }}"
        ));
        let mut all = hooks(&text, "f");
        all.retain(|hook| hook.starts_with("read") || hook.starts_with("write"));
        all.len()
    };
    assert_eq!(found(READ, "", WRITE), 2);
    assert_eq!(found(WRITE, "", AGAIN), 2);
    // It neither synchronises nor frees, nor runs for ever: it may still throw.
    let calm = "nosync nofree willreturn";
    assert_eq!(found(READ, calm, WRITE), 2, "the second may not be reached");
    assert_eq!(found(WRITE, calm, AGAIN), 1, "the first was");
}

#[test]
fn ways_of_a_switch() {
    let module = |ways: [&str; 3], behind: &str| {
        let [one, two, other] = ways;
        let text = instrument(&format!(
            "define void @f(ptr %p, i64 %n) {{
                switch i64 %n, label %other [ i64 1, label %one
                                              i64 2, label %two
                                              i64 3, label %two ]
            one:
                {one}
                br label %end
            two:
                {two}
                br label %end
            other:
                {other}
                br label %end
            end:
                {behind}
                ret void
            }}"
        ));
        hooks(&text, "f").len()
    };
    let first = "%x = load volatile i64, ptr %p, align 8";
    // Different ones, so that the optimiser does not make them one.
    let [one, two, three] = [1, 2, 3].map(|n| format!("store volatile i64 {n}, ptr %p, align 8"));
    assert_eq!(module([&one, &two, &three], AGAIN), 3, "all stand for the last");
    assert_eq!(module([&one, &two, ""], AGAIN), 3, "one way has none");
    assert_eq!(module([first, "", ""], WRITE), 1, "the last stands for the first");
    let text = |ways: &str| {
        let text = instrument(&format!(
            "define void @f(ptr %p, i64 %n) {{
                %a = load volatile i64, ptr %p, align 8
                switch i64 %n, label %other [ i64 1, label %one ]
            one:
                store volatile i64 1, ptr %p, align 8
                ret void
            other:
                {ways}
                ret void
            }}"
        ));
        hooks(&text, "f")
    };
    assert_eq!(text(""), ["read8(%p)", "write8(%p)"]);
    assert_eq!(
        text("store volatile i64 2, ptr %p, align 8"),
        ["write8(%p)", "write8(%p)"]
    );
}

#[test]
fn a_cycle_with_two_ways_in() {
    let module = |before: &str, one: &str, two: &str, behind: &str| {
        let text = instrument(&format!(
            "define void @f(ptr %p, i1 %c, i1 %d) {{
                {before}
                br i1 %c, label %one, label %two
            one:
                {one}
                br i1 %d, label %two, label %end
            two:
                {two}
                br i1 %d, label %one, label %end
            end:
                {behind}
                ret void
            }}"
        ));
        let mut all = hooks(&text, "f");
        all.retain(|hook| hook.starts_with("read") || hook.starts_with("write"));
        all
    };
    assert_eq!(module(WRITE, READ, AGAIN, ""), ["write8(%p)"]);
    // Either may be reached without the other.
    assert_eq!(module("", WRITE, AGAIN, ""), ["write8(%p)", "read8(%p)"]);
    // What is released on the way from one comes between the other and what was before.
    let released = "fence release\n%b = load volatile i64, ptr %p, align 8";
    assert_eq!(
        module(WRITE, READ, released, ""),
        ["write8(%p)", "read8(%p)", "read8(%p)"]
    );
    // It may go round for ever.
    assert_eq!(module(READ, "", "", WRITE), ["read8(%p)", "write8(%p)"]);
}

#[test]
fn loops() {
    // The check before the loop stands for all that is in it; nothing in it changes the address.
    let text = instrument(
        "define void @f(ptr %p, i1 %c) {
            store volatile i64 1, ptr %p, align 8
            br label %again
        again:
            %a = load volatile i64, ptr %p, align 8
            br i1 %c, label %again, label %end
        end:
            ret void
        }",
    );
    assert_eq!(hooks(&text, "f"), ["write8(%p)"]);
    // Nothing stands for an access but what comes: here, itself for ever.
    let text = instrument(
        "define void @f(ptr %p) {
            br label %again
        again:
            %a = load volatile i64, ptr %p, align 8
            br label %again
        }",
    );
    assert_eq!(hooks(&text, "f"), ["read8(%p)"]);
    // The pointer is another one each time.
    let text = instrument(
        "define void @f(ptr %p, i1 %c) {
            br label %again
        again:
            %q = phi ptr [ %p, %0 ], [ %r, %again ]
            %r = load volatile ptr, ptr %q, align 8
            br i1 %c, label %again, label %end
        end:
            ret void
        }",
    );
    assert_eq!(hooks(&text, "f"), ["read8(%q)"]);
    // A release in the loop comes between each time but the first.
    let text = instrument(
        "define void @f(ptr %p, i1 %c) {
            store volatile i64 1, ptr %p, align 8
            br label %again
        again:
            %a = load volatile i64, ptr %p, align 8
            fence release
            br i1 %c, label %again, label %end
        end:
            ret void
        }",
    );
    assert_eq!(hooks(&text, "f"), ["write8(%p)", "read8(%p)", "fence(2)"]);
}

#[test]
fn a_loop_may_never_come_to_the_check_behind_it() {
    let text = instrument(
        "define void @f(ptr %p, i1 %c) {
            %a = load volatile i64, ptr %p, align 8
            br label %again
        again:
            br i1 %c, label %again, label %end
        end:
            store volatile i64 1, ptr %p, align 8
            ret void
        }",
    );
    assert_eq!(hooks(&text, "f"), ["read8(%p)", "write8(%p)"]);
}

#[test]
fn a_copy_counts_on_both_sides() {
    check_in(
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        "call void @llvm.memcpy.p0.p0.i64(ptr align 8 %p, ptr align 8 %q, i64 32, i1 false)
         %i = getelementptr i8, ptr %q, i64 8
         %a = load volatile i64, ptr %i, align 8
         %j = getelementptr i8, ptr %p, i64 24
         store volatile i64 1, ptr %j, align 8
         store volatile i64 1, ptr %i, align 8",
        &["read_range(%q, 32)", "write_range(%p, 32)", "write8(%i)"],
    );
}

#[test]
fn without_placement_each_access_has_its_check() {
    let text = with_all_checks(&format!(
        "define void @f(ptr %p) {{\n{READ}\n{WRITE}\n{AGAIN}\nret void\n}}"
    ));
    assert_eq!(hooks(&text, "f"), ["read8(%p)", "write8(%p)", "read8(%p)"]);
}
