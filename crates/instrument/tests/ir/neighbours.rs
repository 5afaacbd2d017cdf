//! One check for neighbours.

use crate::harness::{fully, hooks};

fn found(body: &str) -> Vec<String> {
    let text = fully(&format!(
        "define void @f(ptr align 8 %p, ptr %q, i64 %n, i1 %c) {{
            %x = getelementptr i8, ptr %p, i64 8
            %y = getelementptr i8, ptr %p, i64 16
            %z = getelementptr i8, ptr %p, i64 4
            {body}
            ret void
        }}"
    ));
    hooks(&text, "f")
}

const X: &str = "%a = load volatile i64, ptr %x, align 8";
const Y: &str = "%b = load volatile i64, ptr %y, align 8";

#[test]
fn members_side_by_side_have_one_check() {
    let at_p = "%o = load volatile i64, ptr %p, align 8";
    assert_eq!(found(&format!("{at_p}\n{X}\n{Y}")), ["read_range(%p, 24)"]);
    // The lowest comes last: its address is counted from the first.
    let reversed = found(&format!("{Y}\n{X}"));
    assert_eq!(reversed.len(), 1, "{reversed:?}");
    assert!(
        reversed[0].starts_with("read_range(%") && reversed[0].ends_with(", 16)"),
        "{reversed:?}"
    );
}

#[test]
fn elements_side_by_side_have_one_check() {
    let body = "%q.8 = getelementptr { i64, i64 }, ptr %p, i64 %n
        %i = shl i64 %n, 1
        %j = or disjoint i64 %i, 1
        %k = getelementptr i64, ptr %p, i64 %j
        store volatile i64 1, ptr %q.8, align 8
        store volatile i64 1, ptr %k, align 8";
    assert_eq!(found(body), ["write_range(%q.8, 16)"]);
}

#[test]
fn halves_of_a_granule() {
    let body = "store volatile i32 1, ptr %p, align 4\n store volatile i32 2, ptr %z, align 4";
    assert_eq!(found(body), ["write8(%p)"]);
    // Nobody knows where in a granule it begins.
    let body = "store volatile i32 1, ptr %q, align 4
        %r = getelementptr i8, ptr %q, i64 4
        store volatile i32 2, ptr %r, align 4";
    assert_eq!(found(body), ["write4(%q)", "write4(%r)"]);
}

#[test]
fn not_with_a_gap_or_of_another_kind_or_across_what_matters() {
    let write = "store volatile i64 1, ptr %y, align 8";
    for body in [
        format!("{X}\n{write}"),
        format!("{X}\ncall void @other()\n{Y}"),
        format!("{X}\nfence acquire\n{Y}"),
        format!("{X}\nfence release\n{Y}"),
        format!("{X}\nbr i1 %c, label %more, label %end\nmore:\n{Y}\nbr label %end\nend:"),
        format!("%o = load volatile i32, ptr %p, align 4\n{Y}"),
    ] {
        let all = found(&body);
        let checks = all
            .iter()
            .filter(|hook| hook.starts_with("read") || hook.starts_with("write"));
        assert_eq!(checks.count(), 2, "{body}: {all:?}");
    }
}
