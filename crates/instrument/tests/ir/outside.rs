//! Calls of functions that may not be instrumented.

use crate::harness::{around, function, instrument};

fn calls(body: &str) -> Vec<String> {
    let text = instrument(&format!(
        "@constant = constant i64 1
         @variable = global i64 1
         declare void @many(ptr, i64, i32, double, ptr, ptr, ptr)
         declare void @pure(ptr) nosync
         declare void @_RNvCs1_3foo3bar(ptr)
         declare i64 @llvm.ctpop.i64(i64)
         define void @here(ptr %p) {{
             ret void
         }}
         define void @f(ptr %p, ptr %q, i64 %n) personality ptr @personality {{
             {body}
             ret void
         }}"
    ));
    around(&text, "f")
}

#[test]
fn a_call_is_told_with_what_may_lead_to_shared_memory() {
    // Of an argument only the last word is listed.
    for (call, arguments) in [
        ("other()", "0, 0, 0, 0"),
        ("take(ptr @variable)", "i64), 0, 0, 0"),
        ("take(ptr @constant)", "0, 0, 0, 0"),
        ("take(ptr @here)", "0, 0, 0, 0"),
        ("take(ptr null)", "0, 0, 0, 0"),
    ] {
        let name = &call[..call.find('(').expect("a call")];
        let expected = [
            format!("call_begin(@__deadheat_callee.{name}, {arguments})"),
            format!("call_end(@__deadheat_callee.{name})"),
        ];
        assert_eq!(calls(&format!("call void @{call}")), expected, "{call}");
    }
}

#[test]
fn a_local_variable_that_is_given_is_told_with_its_size() {
    let told =
        calls("%a = alloca [300 x i64]\n%b = getelementptr i8, ptr %a, i64 %n\ncall void @take(ptr %b)");
    let names: Vec<&str> = told.iter().filter_map(|call| call.split('(').next()).collect();
    assert_eq!(names, ["call_local", "call_begin", "call_end"], "{told:?}");
    assert!(told[0].ends_with(", 2400)"), "{told:?}");
}

#[test]
fn more_arguments_are_told_before() {
    let told = calls("call void @many(ptr %p, i64 %n, i32 1, double 0.0, ptr %q, ptr %p, ptr %q)");
    let names: Vec<&str> = told.iter().filter_map(|call| call.split('(').next()).collect();
    assert_eq!(names, ["call_arguments", "call_begin", "call_end"], "{told:?}");
    assert!(told[0].contains("%n"), "a number may be an address: {told:?}");
    assert!(
        told[1].ends_with(", 0, 0, 0)"),
        "one is left for the second: {told:?}"
    );
}

#[test]
fn a_call_that_cannot_go_outside_or_orders_nothing_is_left_alone() {
    for body in [
        "call void @here(ptr %p)",
        "call void @pure(ptr %p)",
        "call void @_RNvCs1_3foo3bar(ptr %p)",
        "%x = call i64 @llvm.ctpop.i64(i64 %n)",
    ] {
        assert_eq!(calls(body), [""; 0], "{body}");
    }
}

#[test]
fn a_call_that_may_unwind_ends_where_it_goes_on() {
    let told = calls(
        "invoke void @take(ptr %p) to label %end unwind label %pad
         pad:
             %l = landingpad { ptr, i32 } cleanup
             resume { ptr, i32 } %l
         end:",
    );
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].starts_with("call_end"), "{told:?}");
}

#[test]
fn a_call_through_a_pointer_is_told_if_that_leads_out_of_the_module() {
    let text = instrument("define void @f(ptr %p, ptr %q) { call void %p(ptr %q) ret void }");
    let body = function(&text, "f").join("\n");
    for part in [
        "__ehdr_start",
        "_etext",
        "@__deadheat_pointer_begin(ptr %p, i64 %",
        "@__deadheat_pointer_end(ptr %p)",
    ] {
        assert!(body.contains(part), "{part} in\n{body}");
    }
}

#[test]
fn calls_of_both_kinds_with_many_arguments_stand_side_by_side() {
    let text = instrument(
        "define void @f(ptr %p, ptr %q) {
             call void %p(ptr %q, ptr %q, ptr %q, ptr %q, ptr %q)
             call void @take(ptr %q)
             ret void
         }",
    );
    let body = function(&text, "f").join("\n");
    let first = body
        .find("@__deadheat_call_arguments(ptr %p, i64 %")
        .expect("four of them");
    let second = body
        .find("@__deadheat_pointer_begin(ptr %p, i64 %")
        .expect("and one");
    assert!(first < second, "{body}");
    assert!(
        body.contains("@__deadheat_call_begin(ptr @__deadheat_callee.take"),
        "{body}"
    );
}

#[test]
fn what_is_defined_here_says_so_to_others() {
    let text = instrument(
        "define void @seen() { ret void }
         define weak void @one_of_many() { ret void }
         define internal void @own() { ret void }
         @also = alias void (), ptr @seen",
    );
    for (name, said) in [
        ("seen", true),
        ("also", true),
        ("one_of_many", false),
        ("own", false),
    ] {
        let variable = format!("@__deadheat_callee.{name} = hidden global i64 1");
        assert_eq!(text.contains(&variable), said, "{name} in\n{text}");
    }
}
