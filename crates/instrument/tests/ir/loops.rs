//! One check behind a loop.

use crate::harness::{fully, hooks};

/// The checks of a loop over `%i` from 0 to `%n`, whose body ends with `%more`, which says whether to go on.
fn found(body: &str) -> Vec<String> {
    let text = fully(&format!(
        "define void @f(ptr %p, ptr %q, i64 %n, i64 %s, i1 %c) {{
        start:
            br label %loop
        loop:
            %i = phi i64 [ 0, %start ], [ %next, %latch ]
            {body}
        latch:
            %next = add i64 %i, 1
            %more = icmp ult i64 %next, %n
            br i1 %more, label %loop, label %done
        done:
            ret void
        }}"
    ));
    hooks(&text, "f")
}

/// The same of one access in every round.
fn of(access: &str) -> Vec<String> {
    found(&format!("{access}\nbr label %latch"))
}

/// The names of the hooks, and what they are given besides addresses and counts that are computed.
fn kinds(hooks: &[String]) -> Vec<String> {
    let known = |argument: &&str| !argument.starts_with('%');
    let kind = |hook: &String| {
        let (name, arguments) = hook.split_once('(').expect("a call");
        let arguments: Vec<&str> = arguments
            .trim_end_matches(')')
            .split(", ")
            .filter(known)
            .collect();
        format!("{name}({})", arguments.join(", "))
    };
    hooks.iter().map(kind).collect()
}

fn at(element: &str, index: &str) -> String {
    format!("%a = getelementptr {element}, ptr %p, i64 {index}")
}

#[test]
fn an_array_is_checked_once() {
    let body = format!("{}\nstore double 0.0, ptr %a", at("double", "%i"));
    assert_eq!(kinds(&of(&body)), ["write_strided(8, 8)"]);
    let body = format!(
        "%j = sub i64 %s, %i\n{}\n%v = load volatile i32, ptr %a",
        at("i32", "%j")
    );
    assert_eq!(kinds(&of(&body)), ["read_strided(-4, 4)"]);
    let body = format!(
        "%j = shl i64 %i, 1\n{}\n%v = load volatile i64, ptr %a",
        at("i64", "%j")
    );
    assert_eq!(kinds(&of(&body)), ["read_strided(16, 8)"]);
}

#[test]
fn what_stays_in_one_place_is_checked_in_front_of_the_loop() {
    assert_eq!(kinds(&of("store i64 1, ptr %p")), ["write_strided(1, 0, 8)"]);
    let text = fully(
        "define void @f(ptr %p, ptr %q, i64 %n) {
        start:
            br label %loop
        loop:
            %i = phi i64 [ 0, %start ], [ %next, %latch ]
            store volatile i64 1, ptr %p
            %v = load volatile i64, ptr %q
            %more = icmp eq i64 %v, 0
            br i1 %more, label %latch, label %done
        latch:
            %next = add i64 %i, 1
            br label %loop
        done:
            ret void
        }",
    );
    // Even if the loop may not end.
    let checks = hooks(&text, "f");
    assert_eq!(
        kinds(&checks),
        ["write_strided(1, 0, 8)", "read_strided(1, 0, 8)"]
    );
    // Not what the first round may not come to.
    let body = "br i1 %c, label %rest, label %out
        out:
        ret void
        rest:
        store volatile i64 1, ptr %p
        br label %latch";
    assert_eq!(kinds(&found(body)), ["write_strided(0, 8)"]);
}

/// The checks of a loop over `%i` from `first` on, by `step`, that goes on while this comparison holds.
fn until(first: &str, step: &str, compare: &str) -> Vec<String> {
    let text = fully(&format!(
        "define void @f(ptr %p, ptr %q, i64 %n) {{
        start:
            br label %loop
        loop:
            %i = phi i64 [ {first}, %start ], [ %next, %loop ]
            %a = getelementptr i64, ptr %p, i64 %i
            store i64 1, ptr %a
            %next = add i64 %i, {step}
            %more = icmp {compare}
            br i1 %more, label %loop, label %done
        done:
            ret void
        }}"
    ));
    kinds(&hooks(&text, "f"))
}

#[test]
fn an_end_that_is_too_far_is_none() {
    let far = [
        ("0", "1", "slt i64 %next, 9223372036854775807"),
        ("0", "1", "ult i64 %next, -1"),
        ("0", "1", "ne i64 %next, -16"),
        ("1", "1", "sle i64 %i, 1000000000000"),
        ("%n", "1", "slt i64 %next, 9223372036854775807"),
        ("%n", "1", "ult i64 %next, -8"),
        ("9223372036854775807", "-1", "sgt i64 %next, 0"),
        ("%n", "-1", "sgt i64 %next, -9223372036854775808"),
    ];
    for (first, step, compare) in far {
        let checks = until(first, step, compare);
        // In batches, too.
        assert_eq!(checks.len(), 2, "{first} {step} {compare}: {checks:?}");
    }
    let near = [
        ("0", "1", "slt i64 %next, 1000000"),
        ("0", "1", "slt i64 %next, %n"),
        ("%n", "1", "slt i64 %next, 0"),
        ("%n", "1", "ne i64 %next, -1"),
        ("%n", "-1", "sgt i64 %next, 0"),
        ("%n", "-1", "ugt i64 %next, 5"),
        ("%n", "-1", "ne i64 %next, -1"),
        ("-100", "1", "ne i64 %next, 0"),
        // A few rounds from the end.
        ("9223372036854775800", "1", "slt i64 %next, 9223372036854775807"),
    ];
    for (first, step, compare) in near {
        let checks = until(first, step, compare);
        assert_eq!(checks.len(), 1, "{first} {step} {compare}: {checks:?}");
    }
}

#[test]
fn neighbours_are_one_range() {
    let body = "%a = getelementptr i64, ptr %p, i64 %i
        %b = getelementptr i8, ptr %a, i64 8
        %v = load volatile i64, ptr %a
        %w = load volatile i64, ptr %b";
    // Each round reads two, which overlap with those of the next.
    assert_eq!(kinds(&of(body)), ["read_strided(8, 16)"]);
    // Reads of what is written say nothing.
    let body = "%a = getelementptr i64, ptr %p, i64 %i\n%v = load volatile i64, ptr %a\nstore volatile i64 1, ptr %a";
    assert_eq!(kinds(&of(body)), ["write_strided(8, 8)"]);
    // The right neighbour in steps of two: one more round.
    let body = "%j = shl i64 %i, 1
        %a = getelementptr i64, ptr %p, i64 %j
        %b = getelementptr i8, ptr %a, i64 16
        %v = load volatile i64, ptr %a
        %w = load volatile i64, ptr %b";
    assert_eq!(kinds(&of(body)), ["read_strided(16, 8)"]);
}

#[test]
fn numbers_that_may_wrap_are_not_followed() {
    let index = |flag: &str, extend: &str| {
        format!(
            "%t = trunc i64 %i to i32
            %j = add {flag} i32 %t, 1
            %k = {extend} i32 %j to i64
            {}
            store i64 1, ptr %a",
            at("i64", "%k")
        )
    };
    for (flag, extend) in [("", "sext"), ("nsw", "zext")] {
        assert_eq!(
            kinds(&of(&index(flag, extend))),
            ["write_stretch(8)", "write_stretches()"]
        );
    }
}

#[test]
fn what_is_written_here_and_there_may_fill_stretches() {
    let anywhere = "%where = getelementptr i64, ptr %q, i64 %i
        %j = load i64, ptr %where";
    let body = |accesses: &str| format!("{anywhere}\n{}\n{accesses}", at("i64", "%j"));
    let checks = |accesses: &str| {
        let mut checks = kinds(&of(&body(accesses)));
        checks.retain(|check| check.starts_with("write"));
        checks
    };
    assert_eq!(
        checks("store i64 1, ptr %a"),
        ["write_stretch(8)", "write_stretches()"]
    );
    // A counter is not filled.
    let counter = "%v = load i64, ptr %a\n%w = add i64 %v, 1\nstore i64 %w, ptr %a";
    assert_eq!(checks(counter), ["write8()"]);
    // Nor may it wait for what is acquired or released in the loop.
    assert_eq!(checks("store i64 1, ptr %a\nfence release"), ["write8()"]);
    // Copies of one line share a table.
    let two = "%k = mul i64 %j, %j
        %b = getelementptr i64, ptr %p, i64 %k
        store i64 1, ptr %a
        store i64 1, ptr %b";
    assert_eq!(
        checks(two),
        ["write_stretch(8)", "write_stretch(8)", "write_stretches()"]
    );
}

#[test]
fn only_what_every_round_accesses() {
    let body = format!(
        "{}
        %odd = trunc i64 %i to i1
        br i1 %odd, label %some, label %latch
        some:
        store i64 1, ptr %a
        br label %latch",
        at("i64", "%i")
    );
    assert_eq!(kinds(&found(&body)), ["write8()"]);
}

#[test]
fn what_all_rounds_access_or_none() {
    let store = format!("{}\nstore i64 1, ptr %a", at("i64", "%i"));
    let odd = "%odd = trunc i64 %i to i1";
    // What is computed behind the loop says whether there is anything to check.
    for branch in [
        "br i1 %c, label %some, label %latch",
        "br i1 %c, label %latch, label %some",
    ] {
        let body = format!("{branch}\nsome:\n{store}\nbr label %latch");
        assert_eq!(kinds(&found(&body)), ["write_strided(8, 8)"], "{branch}");
    }
    let cases = [
        // Come to in another way, too.
        "br i1 %c, label %some, label %other
        other:
        br i1 %odd, label %some, label %latch
        some:
        STORE
        br label %latch",
        // Left out by some rounds all the same.
        "br i1 %c, label %again, label %latch
        again:
        br i1 %odd, label %some, label %latch
        some:
        STORE
        br label %latch",
        // Or by the last one, of which it is not known then.
        "br i1 %c, label %again, label %latch
        again:
        br i1 %odd, label %some, label %out
        some:
        STORE
        br label %latch
        out:
        ret void",
    ];
    for case in cases {
        let body = format!("{odd}\n{}", case.replace("STORE", &store));
        assert_eq!(kinds(&found(&body)), ["write8()"], "{case}");
    }
    // A round that leaves behind it has accessed, one that leaves before it has not.
    let early = |before: &str, behind: &str| {
        kinds(&found(&format!(
            "{odd}
            {before}
            asks:
            br i1 %c, label %some, label %join
            some:
            {store}
            br label %join
            join:
            {behind}
            out:
            call void @other()
            ret void"
        )))
    };
    let leaves = |to: &str| format!("br i1 %odd, label %{to}, label %out");
    let stays = |to: &str| format!("br label %{to}");
    let both = ["write_strided(8, 8)", "write_strided(8, 8)"];
    assert_eq!(early(&leaves("asks"), &stays("latch")), both);
    assert_eq!(early(&stays("asks"), &leaves("latch")), both);
}

#[test]
fn a_loop_that_is_left_early_has_a_check_at_each_exit() {
    let body = format!(
        "{}
        %v = load volatile i64, ptr %a
        %zero = icmp eq i64 %v, 0
        br i1 %zero, label %out, label %rest
        out:
        call void @other()
        ret void
        rest:
        store volatile i64 1, ptr %a
        br label %latch",
        at("i64", "%i")
    );
    let checks = kinds(&found(&body));
    let count = |what: &str| checks.iter().filter(|check| **check == what).count();
    // The round that leaves early has read, but not written.
    assert_eq!(count("write_strided(8, 8)"), 2, "{checks:?}");
    assert_eq!(count("read_strided(8, 8)"), 2, "{checks:?}");
    // Where both ways out lead to one block, what was written depends on the way.
    let checks = kinds(&found(&body.replace("call void @other()", "")));
    assert_eq!(checks, ["write_strided(8, 8)", "read_strided(8, 8)"]);
}

#[test]
fn not_where_the_loop_may_synchronise() {
    let store = format!("{}\nstore i64 1, ptr %a", at("i64", "%i"));
    for between in [
        "fence acquire",
        "fence release",
        "call void @other()",
        "store atomic i64 1, ptr %q release, align 8",
        "%o = load atomic i64, ptr %q acquire, align 8",
    ] {
        let checks = of(&format!("{store}\n{between}"));
        assert!(checks.contains(&"write8(%a)".to_owned()), "{between}: {checks:?}");
    }
}

#[test]
fn not_where_the_loop_gives_memory_back_or_may_leave() {
    let functions = "
        declare void @free(ptr)
        declare i32 @munmap(ptr, i64)
        declare void @exit(i32) noreturn
        define internal void @leaving(i1 %c) noinline {
            br i1 %c, label %leave, label %stay
        leave:
            call void @exit(i32 0)
            unreachable
        stay:
            ret void
        }
        define internal void @quiet() noinline {
            ret void
        }";
    let checks = |between: &str, behind: &str| {
        let text = fully(&format!(
            "{functions}
            define void @f(ptr %p, ptr %q, i64 %n, i1 %c) personality ptr @personality {{
            start:
                br label %loop
            loop:
                %i = phi i64 [ 0, %start ], [ %next, %latch ]
                %a = getelementptr i64, ptr %p, i64 %i
                store i64 1, ptr %a
                {between}
            latch:
                %next = add i64 %i, 1
                %more = icmp ult i64 %next, %n
                br i1 %more, label %loop, label %done
            done:
                ret void
                {behind}
            }}"
        ));
        hooks(&text, "f")
    };
    let own = "write8(%a)".to_owned();
    for between in [
        "call void @free(ptr %q)",
        "%o = call i32 @munmap(ptr %q, i64 4096)",
        "call void @leaving(i1 %c)",
    ] {
        let checks = checks(&format!("{between}\nbr label %latch"), "");
        assert!(checks.contains(&own), "{between}: {checks:?}");
    }
    let behind = "gone:
        %x = landingpad { ptr, i32 } cleanup
        call void @quiet()
        resume { ptr, i32 } %x";
    for call in ["@other()", "@leaving(i1 %c)"] {
        let between = format!("invoke void {call} to label %latch unwind label %gone");
        let checks = checks(&between, behind);
        assert!(checks.contains(&own), "{call}: {checks:?}");
    }
    // The same without any of it.
    let calm = checks("call void @quiet()\nbr label %latch", "");
    assert!(!calm.contains(&own), "{calm:?}");
}

#[test]
fn not_around_a_region_with_two_ways_in() {
    // The two blocks of the inner cycle are both entered from outside: nobody knows whether it ends.
    let body = format!(
        "{}
        store i64 1, ptr %a
        br i1 %c, label %one, label %two
        one:
        %x = load volatile i64, ptr %q
        %back = icmp eq i64 %x, 0
        br i1 %back, label %two, label %latch
        two:
        %y = load volatile i64, ptr %q
        %on = icmp eq i64 %y, 1
        br i1 %on, label %one, label %latch",
        at("i64", "%i")
    );
    let checks = found(&body);
    assert!(checks.contains(&"write8(%a)".to_owned()), "{checks:?}");
}

/// A loop that ends when another thread says so, with this in each round.
fn endless(round: &str) -> String {
    fully(&format!(
        "define void @f(ptr %p, ptr %q, i64 %n) {{
        start:
            br label %loop
        loop:
            %i = phi i64 [ 0, %start ], [ %next, %latch ]
            %a = getelementptr i64, ptr %p, i64 %i
            store i64 1, ptr %a
            {round}
            br label %latch
        latch:
            %next = add i64 %i, 1
            %v = load volatile i64, ptr %q
            %more = icmp eq i64 %v, 0
            br i1 %more, label %loop, label %done
        done:
            ret void
        }}"
    ))
}

#[test]
fn a_loop_that_may_not_end_is_checked_in_batches_and_behind_it() {
    let text = endless("");
    let checks = kinds(&hooks(&text, "f"));
    // What stays where it is is checked before.
    let expected = [
        "read_strided(1, 0, 8)",
        "write_strided(256, 8, 8)",
        "write_strided(8, 8)",
    ];
    let mut sorted = checks.clone();
    sorted.sort();
    assert_eq!(sorted, expected, "{checks:?}");
    // The last round of the first batch.
    assert!(text.contains("store i64 255, ptr"), "{text}");
}

#[test]
fn no_batches_where_an_inner_loop_may_not_end_or_within_another() {
    let inner = "br label %inner
        inner:
            %w = load volatile i64, ptr %q
            %again = icmp eq i64 %w, %n
            br i1 %again, label %inner, label %behind
        behind:";
    let checks = hooks(&endless(inner), "f");
    assert!(checks.contains(&"write8(%a)".to_owned()), "{checks:?}");
}

/// A loop that reads where an array is, and where it ends, in each round.
fn reading(globals: &str, between: &str) -> Vec<String> {
    let text = fully(&format!(
        "{globals}
        declare double @cos(double)
        define void @set(ptr %p, i64 %n) {{
            store ptr %p, ptr @array, align 8
            store i64 %n, ptr @length, align 8
            ret void
        }}
        define void @f() {{
        start:
            br label %loop
        loop:
            %i = phi i64 [ 0, %start ], [ %next, %loop ]
            %base = load ptr, ptr @array, align 8
            %a = getelementptr double, ptr %base, i64 %i
            %v = call double @cos(double 1.0)
            store double %v, ptr %a, align 8
            {between}
            %next = add i64 %i, 1
            %n = load i64, ptr @length, align 8
            %half = sdiv i64 %n, 2
            %more = icmp slt i64 %next, %half
            br i1 %more, label %loop, label %done
        done:
            ret void
        }}"
    ));
    let mut all = kinds(&hooks(&text, "f"));
    all.retain(|hook| hook.starts_with("write"));
    all
}

#[test]
fn variables_that_a_loop_leaves_alone_are_the_same_in_each_round() {
    let own = "@array = internal global ptr null\n@length = internal global i64 0";
    assert_eq!(reading(own, ""), ["write_strided(8, 8)"]);
    let all = reading(own, "store ptr null, ptr @array, align 8");
    assert!(all.contains(&"write_stretch(8)".to_owned()), "{all:?}");
    // Whoever has its address, or any function that is not known, may change it.
    let seen = "@array = internal global ptr null\n@length = internal global i64 0\n@at = global ptr @array";
    assert!(reading(seen, "").contains(&"write_stretch(8)".to_owned()));
    let seen = "@array = global ptr null\n@length = internal global i64 0";
    assert!(reading(seen, "").contains(&"write_stretch(8)".to_owned()));
}

#[test]
fn places_far_apart_keep_their_checks() {
    let body = format!("%j = shl i64 %i, 4\n{}\nstore i64 1, ptr %a", at("i64", "%j"));
    assert_eq!(kinds(&of(&body)), ["write8()"]);
    let body = format!("%j = mul i64 %i, %s\n{}\nstore i64 1, ptr %a", at("i64", "%j"));
    assert_eq!(kinds(&of(&body)), ["write8()"]);
}

#[test]
fn steps_that_neighbours_fill_are_no_gaps() {
    // As of a loop that was unrolled: 64 bytes a round, in four parts.
    let part = |n: u32| {
        format!(
            "%b{n} = getelementptr i64, ptr %p, i64 %j\n%a{n} = getelementptr i8, ptr %b{n}, i64 {}\nstore <2 x i64> zeroinitializer, ptr %a{n}, align 8",
            16 * n
        )
    };
    let parts: Vec<String> = (0..4).map(part).collect();
    let body = format!("%j = shl i64 %i, 3\n{}", parts.join("\n"));
    assert_eq!(kinds(&of(&body)), ["write_strided(64, 64)"]);
}

/// The hooks of a loop over `%i` around one over `%j`, whose rounds make an access, and what is between the two.
fn nested(access: &str, between: &str) -> Vec<String> {
    let text = fully(&format!(
        "define void @f(ptr %p, i64 %n, i64 %m) {{
        start:
            br label %outer
        outer:
            %i = phi i64 [ 0, %start ], [ %i.next, %outer.latch ]
            %row = mul i64 %i, %m
            br label %loop
        loop:
            %j = phi i64 [ 0, %outer ], [ %j.next, %loop ]
            {access}
            %j.next = add i64 %j, 1
            %more = icmp ult i64 %j.next, %m
            br i1 %more, label %loop, label %outer.latch
        outer.latch:
            {between}
            %i.next = add i64 %i, 1
            %again = icmp ult i64 %i.next, %n
            br i1 %again, label %outer, label %done
        done:
            ret void
        }}"
    ));
    let names = hooks(&text, "f");
    { names.iter() }
        .map(|hook| hook.split_once('(').expect("a call").0.to_owned())
        .collect()
}

#[test]
fn what_inner_loops_access_is_checked_behind_the_outermost() {
    let access = "%at = add i64 %row, %j
        %a = getelementptr i64, ptr %p, i64 %at
        store i64 1, ptr %a";
    assert_eq!(nested(access, ""), ["write_gather", "write_commit"]);
    // Not if something may be released or acquired in between.
    assert_eq!(nested(access, "call void @other()"), ["write_strided"]);
    assert_eq!(nested(access, "fence release"), ["write_strided", "fence"]);
    // Accesses of one array share what they add to.
    let both = format!("{access}\n%b = getelementptr i64, ptr %a, i64 64\nstore i64 1, ptr %b");
    assert_eq!(
        nested(&both, ""),
        ["write_gather", "write_gather", "write_commit"]
    );
}

#[test]
fn columns_of_inner_loops_are_checked_behind_the_outermost_too() {
    // By a constant distance, by one that only the program knows, and from a place that is a product of two values.
    for apart in ["shl i64 %j, 1", "mul i64 %j, %n", "mul i64 %at, %n"] {
        let access = format!(
            "%at = add i64 %i, %j
            %apart = {apart}
            %a = getelementptr i64, ptr %p, i64 %apart
            store i64 1, ptr %a"
        );
        assert_eq!(nested(&access, ""), ["write_column", "write_commit"], "{apart}");
        // Places far apart that are checked by themselves are checked in the loop.
        let alone = match apart {
            "shl i64 %j, 1" => "write_strided",
            _ => "write8",
        };
        assert_eq!(nested(&access, "fence release"), [alone, "fence"], "{apart}");
    }
    // Not what is a product of three.
    let access = "%at = add i64 %i, %j
        %two = mul i64 %at, %n
        %three = mul i64 %two, %m
        %a = getelementptr i64, ptr %p, i64 %three
        store i64 1, ptr %a";
    assert_eq!(nested(access, ""), ["write_stretch", "write_stretches"]);
}

#[test]
fn a_value_that_must_be_met_must_not_be_stepped_over() {
    let round = |add: &str, first: u64, end: &str| {
        fully(&format!(
            "define void @f(ptr %p, i64 %n) {{
            start:
                %even = and i64 %n, -2
                %some = and i64 %n, 6
                %fours = shl i64 %n, 2
                br label %loop
            loop:
                %i = phi i64 [ {first}, %start ], [ %next, %loop ]
                %a = getelementptr i64, ptr %p, i64 %i
                store i64 1, ptr %a
                %next = {add}
                %done = icmp eq i64 %next, {end}
                br i1 %done, label %end, label %loop
            end:
                ret void
            }}"
        ))
    };
    let from = |add, first, end| kinds(&hooks(&round(add, first, end), "f"));
    let names = |add| from(add, 0, "%n");
    assert_eq!(names("add i64 %i, 1"), ["write_strided(8, 8)"]);
    // It may go on for ever.
    let batches = ["write_strided(256, 16, 8)", "write_strided(16, 8)"];
    assert_eq!(names("add i64 %i, 2"), batches);
    assert_eq!(names("add nuw i64 %i, 2"), ["write_strided(16, 8)"]);
    // Both go by twos, as the optimiser writes loops of two rounds in one, or do not.
    for end in ["%even", "%some", "%fours"] {
        assert_eq!(from("add i64 %i, 2", 0, end), ["write_strided(16, 8)"], "{end}");
        assert_eq!(from("sub i64 %i, 2", 8, end), ["write_strided(-16, 8)"], "{end}");
        assert_eq!(from("add i64 %i, 2", 1, end), batches, "{end}");
    }
    assert_eq!(from("add i64 %i, 4", 0, "%fours"), ["write_strided(32, 8)"]);
    assert_eq!(from("add i64 %i, 4", 0, "%even").len(), 2);
    assert_eq!(from("add i64 %i, 3", 0, "%even").len(), 2);
}

#[test]
fn how_a_value_begins_does_not_say_that_it_never_wraps() {
    for (step, checks) in [("add", 2), ("add nsw", 1)] {
        let text = fully(&format!(
            "define void @f(ptr %p, i64 %n, i64 %end) {{
            start:
                %from = add nsw i64 %n, 1
                br label %loop
            loop:
                %i = phi i64 [ %from, %start ], [ %next, %loop ]
                %a = getelementptr i64, ptr %p, i64 %i
                store i64 1, ptr %a
                %next = {step} i64 %i, 3
                %done = icmp eq i64 %i, %end
                br i1 %done, label %out, label %loop
            out:
                ret void
            }}"
        ));
        let found = kinds(&hooks(&text, "f"));
        assert_eq!(found.len(), checks, "{step}: {found:?}");
    }
}

#[test]
fn of_very_many_accesses_that_are_made_as_long_as_something_holds_some_keep_their_checks() {
    let count = 100;
    let conditions: Vec<String> = (0..count).map(|n| format!("i1 %c{n}")).collect();
    let parts: String = (0..count)
        .map(|n| {
            format!(
                "br i1 %c{n}, label %then{n}, label %next{n}
                then{n}:
                %a{n} = getelementptr [4096 x i64], ptr %p, i64 {n}, i64 %i
                store i64 1, ptr %a{n}
                br label %next{n}
                next{n}:
                "
            )
        })
        .collect();
    let text = fully(&format!(
        "define void @f(ptr %p, i64 %n, {}) {{
        start:
            br label %loop
        loop:
            %i = phi i64 [ 0, %start ], [ %next, %next{last} ]
            {parts}
            %next = add nuw nsw i64 %i, 1
            %more = icmp ult i64 %next, %n
            br i1 %more, label %loop, label %out
        out:
            ret void
        }}",
        conditions.join(", "),
        last = count - 1,
    ));
    let found = kinds(&hooks(&text, "f"));
    let alone = found.iter().filter(|kind| **kind == *"write8()").count();
    assert_eq!((alone, found.len()), (count - 64, count));
}

#[test]
fn narrow_numbers_count_rounds_too() {
    let text = fully(
        "define void @f(ptr %p, i32 %n) {
        start:
            br label %loop
        loop:
            %i = phi i32 [ 0, %start ], [ %next, %loop ]
            %index = sext i32 %i to i64
            %a = getelementptr i32, ptr %p, i64 %index
            store i32 1, ptr %a
            %next = add nsw i32 %i, 1
            %more = icmp slt i32 %next, %n
            br i1 %more, label %loop, label %end
        end:
            ret void
        }",
    );
    assert_eq!(kinds(&hooks(&text, "f")), ["write_strided(4, 4)"]);
}
