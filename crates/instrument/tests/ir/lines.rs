//! The lines of accesses whose check is made elsewhere.

use crate::harness::{fully, function};

const DEBUG: &str = r#"
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "a.c", directory: "/")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "f", file: !1, line: 1, unit: !0, type: !4, spFlags: DISPFlagDefinition)
!4 = !DISubroutineType(types: !5)
!5 = !{}
"#;

/// The lines that are told of each call of a check in a function that does this. `!N` at the end of an instruction is its line.
fn told(body: &str) -> Vec<Vec<u32>> {
    let mut debug = String::new();
    for line in 10..40 {
        debug += &format!("!{line} = !DILocation(line: {line}, column: 1, scope: !3)\n");
    }
    let body: String = { body.lines() }
        .map(|line| line.replace(" !", ", !dbg !") + "\n")
        .collect();
    let text = fully(&format!(
        "define void @f(ptr align 8 %p, ptr %q, i64 %n, i1 %c) !dbg !3 {{
            %x = getelementptr i8, ptr %p, i64 8
            {body}
            ret void
        }}
        {DEBUG}{debug}"
    ));
    let number = |line: &str| -> u32 {
        let name = line.rsplit("!dbg ").next().expect("a line");
        let meant = format!("{name} = !DILocation(line: ");
        let found = text.lines().find_map(|line| line.strip_prefix(&meant));
        let number = found.and_then(|rest| rest.split(',').next()).expect("a location");
        number.parse().expect("a number")
    };
    let mut checks: Vec<Vec<u32>> = Vec::new();
    for line in function(&text, "f") {
        if line.contains("call") && (line.contains("@__deadheat_read") || line.contains("@__deadheat_write"))
        {
            checks.push(vec![number(line)]);
        }
        // `nopl` with a magic number, and the check's own line and column.
        if line.contains("asm sideeffect \".byte 0xf,0x1f,0x80") {
            let check = checks.last_mut().expect("a mark comes behind a check");
            let [low, high] = ((check[0] * 257 + 1) as u16).to_le_bytes();
            assert!(line.contains(&format!("0x80,{low:#x},{high:#x},0x44")), "{line}");
            check.push(number(line));
        }
        assert!(!line.contains("deadheat.also"), "{line}");
    }
    checks
}

#[test]
fn of_a_check_before() {
    let body = "store volatile i64 1, ptr %p, align 8 !10
        store volatile i64 2, ptr %p, align 8 !11
        %v = load volatile i64, ptr %p, align 8 !12";
    assert_eq!(told(body), [[10, 11, 12]]);
    // Of the same line is nothing to tell.
    let body = "store volatile i64 1, ptr %p, align 8 !10
        store volatile i64 2, ptr %p, align 8 !10";
    assert_eq!(told(body), [[10]]);
}

#[test]
fn of_a_check_behind_and_through_others() {
    let body = "%v = load volatile i64, ptr %p, align 8 !10
        %w = load volatile i64, ptr %p, align 8 !11
        store volatile i64 2, ptr %p, align 8 !12";
    assert_eq!(told(body), [[12, 10, 11]]);
}

#[test]
fn of_checks_on_all_ways() {
    let body = "br i1 %c, label %one, label %two
        one:
        store volatile i64 1, ptr %p, align 8 !10
        br label %end
        two:
        store volatile i64 2, ptr %p, align 8 !11
        br label %end
        end:
        store volatile i64 3, ptr %p, align 8 !12";
    let mut found = told(body);
    found.sort();
    assert_eq!(found, [[10, 12], [11, 12]]);
}

#[test]
fn of_neighbours_and_what_they_stand_for() {
    let body = |line: u32| {
        format!(
            "store volatile i64 1, ptr %p, align 8 !10
            store volatile i64 1, ptr %x, align 8 !{line}
            store volatile i64 1, ptr %x, align 8 !12"
        )
    };
    assert_eq!(told(&body(10)), [[10, 12]]);
    // At several lines each has its own, so that the one that races is named.
    assert_eq!(told(&body(11)), [vec![10], vec![11, 12]]);
}

#[test]
fn of_all_accesses_in_a_loop() {
    let body = "br label %loop
        loop:
        %i = phi i64 [ 0, %0 ], [ %next, %loop ]
        %at = getelementptr i64, ptr %q, i64 %i
        %v = load volatile i64, ptr %at, align 8 !10
        store volatile i64 2, ptr %at, align 8 !11
        store volatile i64 3, ptr %at, align 8 !12
        %next = add nuw nsw i64 %i, 1
        %end = icmp eq i64 %next, 100
        br i1 %end, label %done, label %loop
        done:";
    let found = told(body);
    assert_eq!(found.len(), 1, "{found:?}");
    let mut lines = found[0].clone();
    lines.sort_unstable();
    assert_eq!(lines, [10, 11, 12]);
}

#[test]
fn of_many_only_some() {
    let body: String = (10..30)
        .map(|line| format!("store volatile i64 1, ptr %p, align 8 !{line}\n"))
        .collect();
    let found = told(&body);
    // The last stands for those that are not told.
    assert_eq!(found, [[10, 11, 12, 13, 14, 15, 16, 17, 18, 18]]);
}

#[test]
fn a_choice_between_the_ways_out_of_a_loop_comes_before_what_debuggers_are_told() {
    // That is a module's first rule for phis: `fully` says no if it is broken.
    let text = fully(&format!(
        "define void @f(ptr %p, i64 %n) !dbg !3 {{
            br label %loop
        loop:
            %i = phi i64 [ 0, %0 ], [ %next, %latch ]
            %a = getelementptr i64, ptr %p, i64 %i
            %v = load volatile i64, ptr %a
            %zero = icmp eq i64 %v, 0
            br i1 %zero, label %done, label %latch
        latch:
            store volatile i64 1, ptr %a
            %next = add i64 %i, 1
            %more = icmp ult i64 %next, %n
            br i1 %more, label %loop, label %done
        done:
            #dbg_value(i64 %n, !6, !DIExpression(), !7)
            ret void
        }}
        {DEBUG}
        !6 = !DILocalVariable(name: \"n\", scope: !3, file: !1, line: 1, type: !8)
        !7 = !DILocation(line: 1, scope: !3)
        !8 = !DIBasicType(name: \"long\", size: 64, encoding: DW_ATE_signed)"
    ));
    let body = function(&text, "f");
    let find = |what: &str| body.iter().position(|line| line.contains(what));
    let choice = body
        .iter()
        .rposition(|line| line.contains("phi i64 [ "))
        .expect("which way");
    assert!(
        find("loop:") < Some(choice) && Some(choice) < find("#dbg_value"),
        "{text}"
    );
}
