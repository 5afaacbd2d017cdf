//! Loads that the optimiser makes where the program may not read. They are known by their names.

use crate::harness::{fully, function, hooks, with_all_checks};

/// The checks of a function with this body, one for each access that needs one.
#[track_caller]
fn all(body: &str, expected: &[&str]) {
    let text = with_all_checks(&module(body));
    let found = hooks(&text, "f");
    assert_eq!(found, expected, "in\n{}", function(&text, "f").join("\n"));
}

fn module(body: &str) -> String {
    format!("define i64 @f(ptr %p, ptr %q, i64 %n, i1 %c, i1 %d) {{\n{body}\n}}")
}

/// A loop that loads `%p` in front, and stores there in some rounds. `use` is done in those, with `%v`, `then` in all.
fn promoted(uses: &str, then: &str) -> String {
    format!(
        "  br label %before
        before:
          %p.promoted = load i64, ptr %p
          br label %loop
        loop:
          %i = phi i64 [ 0, %before ], [ %next, %on ]
          %v = phi i64 [ %p.promoted, %before ], [ %kept, %on ]
          %some = icmp eq i64 %i, %n
          br i1 %some, label %seldom, label %on
        seldom:
          {uses}
          br label %on
        on:
          %kept = phi i64 [ %v, %loop ], [ %new, %seldom ]
          {then}
          %next = add i64 %i, 1
          %more = icmp ult i64 %next, 100
          br i1 %more, label %loop, label %done
        done:
          ret i64 0"
    )
}

#[test]
fn promoted_loads_are_checked_where_the_value_is_used() {
    let body = promoted("%new = add i64 %v, %i\nstore i64 %new, ptr %p", "");
    all(&body, &["read8(%p)", "write8(%p)"]);
    let text = fully(&module(&body));
    let lines = function(&text, "f");
    // The write stands for the read, and the load itself has no check.
    assert_eq!(hooks(&text, "f"), ["write8(%p)"], "{}", lines.join("\n"));
    let find = |what: &str| lines.iter().position(|line| line.contains(what));
    assert!(
        find("seldom:") < find("@__deadheat_write8"),
        "{}",
        lines.join("\n")
    );
    assert_eq!(
        lines
            .iter()
            .filter(|line| line.contains("load i64, ptr %p"))
            .count(),
        1
    );
}

#[test]
fn promoted_loads_that_nobody_uses_are_not_checked() {
    all(
        &promoted("%new = add i64 %i, 7\nstore i64 %new, ptr %p", ""),
        &["write8(%p)"],
    );
}

#[test]
fn promoted_loads_that_are_sure_to_be_used_are_checked_where_they_are() {
    let body = promoted(
        "%new = add i64 %i, 7\nstore i64 %new, ptr %p",
        "store i64 %kept, ptr %q",
    );
    let text = with_all_checks(&module(&body));
    let lines = function(&text, "f");
    let find = |what: &str| lines.iter().position(|line| line.contains(what));
    assert_eq!(hooks(&text, "f"), ["read8(%p)", "write8(%p)", "write8(%q)"]);
    assert!(
        find("@__deadheat_read8(ptr %p") < find("loop:"),
        "{}",
        lines.join("\n")
    );
}

#[test]
fn promoted_loads_with_several_users_are_checked_at_each() {
    let body = promoted(
        "%new = add i64 %v, %i
         store i64 %v, ptr %q
         store i64 %new, ptr %p
         %r = getelementptr i64, ptr %q, i64 8
         store i64 %new, ptr %r",
        "",
    );
    let reads = |text: &str| {
        hooks(text, "f")
            .iter()
            .filter(|hook| hook.starts_with("read8(%p)"))
            .count()
    };
    assert_eq!(reads(&with_all_checks(&module(&body))), 3);
    assert_eq!(reads(&fully(&module(&body))), 0);
}

#[test]
fn what_is_selected_is_checked_if_it_is() {
    let body = promoted(
        "%new = add i64 %i, 7\nstore i64 %new, ptr %p",
        "%one = select i1 %c, i64 %v, i64 0\nstore i64 %one, ptr %q",
    );
    all(&body, &["write8(%p)", "read_range(%p, 8)", "write8(%q)"]);
}

#[test]
fn what_is_kept_for_later_is_checked_where_it_is_read() {
    let body = "
          br label %before
        before:
          %p.promoted5 = load i64, ptr %p
          br label %loop
        loop:
          %i = phi i64 [ 0, %before ], [ %next, %on ]
          %v = phi i64 [ %p.promoted5, %before ], [ %kept, %on ]
          %x = phi i64 [ 0, %before ], [ %y, %on ]
          %some = icmp eq i64 %i, %n
          br i1 %some, label %seldom, label %on
        seldom:
          store i64 %i, ptr %p
          br label %on
        on:
          %kept = phi i64 [ %v, %loop ], [ %i, %seldom ]
          %y = phi i64 [ %x, %loop ], [ %v, %seldom ]
          %next = add i64 %i, 1
          %more = icmp ult i64 %next, 100
          br i1 %more, label %loop, label %done
        done:
          call void @other()
          ret i64 %y";
    all(body, &["write8(%p)", "read8(%p)"]);
}

#[test]
fn what_is_used_behind_a_call_that_may_synchronise_is_not_checked_there() {
    let body = "
          br label %before
        before:
          %p.promoted = load i64, ptr %p
          br i1 %c, label %then, label %done
        then:
          call void @other()
          store i64 %p.promoted, ptr %q
          br label %done
        done:
          ret i64 0";
    all(body, &["write8(%q)"]);
}

#[test]
fn loops_within_loops_hand_it_on() {
    let body = "
          br label %before
        before:
          %p.promoted = load i64, ptr %p
          br label %outer
        outer:
          %j = phi i64 [ 0, %before ], [ %j.next, %end ]
          %u = phi i64 [ %p.promoted, %before ], [ %last, %end ]
          br label %loop
        loop:
          %i = phi i64 [ 0, %outer ], [ %next, %on ]
          %v = phi i64 [ %u, %outer ], [ %kept, %on ]
          %some = icmp eq i64 %i, %n
          br i1 %some, label %seldom, label %on
        seldom:
          %new = add i64 %v, %i
          store i64 %new, ptr %p
          br label %on
        on:
          %kept = phi i64 [ %v, %loop ], [ %new, %seldom ]
          %next = add i64 %i, 1
          %more = icmp ult i64 %next, 100
          br i1 %more, label %loop, label %end
        end:
          %last = phi i64 [ %kept, %on ]
          %j.next = add i64 %j, 1
          %again = icmp ult i64 %j.next, 100
          br i1 %again, label %outer, label %done
        done:
          ret i64 0";
    all(body, &["read8(%p)", "write8(%p)"]);
}

#[test]
fn loads_that_are_not_the_optimisers_stay_as_they_are() {
    let body =
        promoted("%new = add i64 %v, %i\nstore i64 %new, ptr %p", "").replace("p.promoted", "p.loaded");
    let text = with_all_checks(&module(&body));
    let lines = function(&text, "f");
    let find = |what: &str| lines.iter().position(|line| line.contains(what));
    assert_eq!(hooks(&text, "f"), ["read8(%p)", "write8(%p)"]);
    assert!(
        find("@__deadheat_read8(ptr %p") < find("loop:"),
        "{}",
        lines.join("\n")
    );
}

/// A loop that loads `%p` anew where it has called something, and then does `end`.
fn reloaded(end: &str) -> String {
    format!(
        "  br label %before
        before:
          %.pre1 = load i64, ptr %p
          br label %loop
        loop:
          %i = phi i64 [ 0, %before ], [ %next, %on ]
          %v = phi i64 [ %.pre1, %before ], [ %kept, %on ]
          %some = icmp eq i64 %i, %v
          br i1 %some, label %seldom, label %on
        seldom:
          call void @other()
          %.pre = load i64, ptr %p
          {end}
        on:
          %kept = phi i64 [ %v, %loop ], [ %.pre, %seldom ]
          %next = add i64 %i, 1
          br label %loop
        done:
          ret i64 0"
    )
}

#[test]
fn what_is_loaded_anew_is_checked_where_the_next_round_reads() {
    let text = with_all_checks(&module(&reloaded("br i1 %c, label %on, label %done")));
    let lines = function(&text, "f");
    assert_eq!(
        hooks(&text, "f"),
        ["read8(%p)", "read8(%p)"],
        "{}",
        lines.join("\n")
    );
    let find = |what: &str| lines.iter().position(|line| line.contains(what));
    let last = lines.iter().rposition(|line| line.contains("@__deadheat_read8"));
    assert!(
        find("loop:") < last && last < find("seldom:"),
        "{}",
        lines.join("\n")
    );
}

#[test]
fn what_is_loaded_anew_is_checked_there_if_the_next_round_comes() {
    let text = with_all_checks(&module(&reloaded("br label %on")));
    let lines = function(&text, "f");
    assert_eq!(
        hooks(&text, "f"),
        ["read8(%p)", "read8(%p)"],
        "{}",
        lines.join("\n")
    );
    let find = |what: &str| lines.iter().position(|line| line.contains(what));
    let last = lines.iter().rposition(|line| line.contains("@__deadheat_read8"));
    assert!(find("seldom:") < last, "{}", lines.join("\n"));
}

#[test]
fn vectors_that_are_loaded_anew_are_not_checked_there() {
    let body = reloaded("br i1 %c, label %on, label %done")
        .replace("%.pre1 =", "%first =")
        .replace("%.pre = load", "%1 = load")
        .replace("[ %.pre, ", "[ %1, ")
        .replace("%.pre1", "%first")
        .replace("i64 [ %first", "<2 x i64> [ %first")
        .replace("phi i64 [ %v", "phi <2 x i64> [ %v")
        .replace("load i64", "load <2 x i64>")
        .replace("%some =", "%e = extractelement <2 x i64> %v, i64 0\n%some =")
        .replace("i64 %i, %v", "i64 %i, %e");
    let text = with_all_checks(&module(&body));
    let reads = hooks(&text, "f");
    assert_eq!(reads.len(), 1, "{}", function(&text, "f").join("\n"));
}

#[test]
fn what_was_stored_in_two_ways_is_in_memory_as_well() {
    let body = promoted(
        "br i1 %c, label %one, label %two
        one:
          %add = add i64 %v, %i
          store i64 %add, ptr %p
          br label %both
        two:
          store i64 1, ptr %p
          br label %both
        both:
          %new = phi i64 [ %add, %one ], [ 1, %two ]",
        "",
    );
    let body = body.replace("[ %new, %seldom ]", "[ %new, %both ]");
    all(&body, &["read8(%p)", "write8(%p)", "write8(%p)"]);
}

#[test]
fn branches_that_were_taken_out_of_a_loop_are_no_reads() {
    let body = "
          %p.promoted = load i64, ptr %p
          %fixed = freeze i64 %p.promoted
          %some = icmp sgt i64 %fixed, 4
          br i1 %some, label %then, label %done
        then:
          store i64 1, ptr %q
          br label %done
        done:
          ret i64 0";
    all(body, &["write8(%q)"]);
}
