//! Stores of what may be pointers.

use crate::harness::{instrument, links};

/// The names of the hooks behind the stores of a function.
fn told(body: &str) -> Vec<String> {
    let text = instrument(&format!(
        "@variable = global i64 1
         declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
         declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
         declare void @_ZNSt8__detail15_List_node_base7_M_hookEPS0_(ptr, ptr)
         define void @f(ptr %p, ptr %q, i64 %n, double %d) personality ptr @personality {{
             {body}
             ret void
         }}"
    ));
    let names = links(&text, "f").into_iter();
    names
        .map(|hook| hook.split('(').next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn stores_of_pointers_and_of_what_may_be_one_are_told() {
    for (body, hook) in [
        ("store ptr %q, ptr %p", "link"),
        (
            "%g = getelementptr i8, ptr %q, i64 %n store ptr %g, ptr %p",
            "link",
        ),
        ("store i64 %n, ptr %p", "link"),
        ("%a = load i64, ptr %q store i64 %a, ptr %p", "link"),
        (
            "%a = ptrtoint ptr %q to i64 %b = or i64 %a, 1 store i64 %b, ptr %p",
            "link",
        ),
        ("%a = load <2 x ptr>, ptr %q store <2 x ptr> %a, ptr %p", "links"),
        ("%a = load <16 x i8>, ptr %q store <16 x i8> %a, ptr %p", "links"),
        ("%a = load i128, ptr %q store i128 %a, ptr %p", "links"),
        (
            "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 24, i1 0)",
            "links",
        ),
        (
            "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 0)",
            "links",
        ),
        ("store atomic ptr %q, ptr %p release, align 8", "link"),
        ("%a = atomicrmw xchg ptr %p, ptr %q acq_rel", "link"),
        ("%a = cmpxchg ptr %p, ptr null, ptr %q acq_rel monotonic", "link"),
        (
            "call void @_ZNSt8__detail15_List_node_base7_M_hookEPS0_(ptr %p, ptr %q)",
            "link",
        ),
    ] {
        // A line for each instruction.
        let lines = body.replace(" store ", "\nstore ").replace(" %b =", "\n%b =");
        assert_eq!(told(&lines), [hook], "{body}");
    }
}

#[test]
fn stores_of_anything_else_are_not() {
    for body in [
        "store ptr null, ptr %p",
        "store ptr @variable, ptr %p",
        "%a = alloca i64\nstore ptr %a, ptr %p",
        "%a = alloca ptr\nstore ptr %q, ptr %a",
        "store i64 17, ptr %p",
        "%a = load i64, ptr %q\n%b = add i64 %a, 1\nstore i64 %b, ptr %p",
        "%a = load i32, ptr %q\nstore i32 %a, ptr %p",
        "%a = load i32, ptr %q\n%b = zext i32 %a to i64\nstore i64 %b, ptr %p",
        "store double %d, ptr %p",
        "%a = load <4 x float>, ptr %q\nstore <4 x float> %a, ptr %p",
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 4, i1 0)",
        "call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 64, i1 0)",
        "%a = load atomic i64, ptr %p acquire, align 8",
        "%a = atomicrmw add ptr %p, i64 1 acq_rel",
    ] {
        assert_eq!(told(body), [""; 0], "{body}");
    }
}
