//! Atomic operations and fences.

use crate::harness::{check, function, instrument};
use deadheat_abi::atomics::{Kind, Ordering, What};

fn what(size: u8, kind: Kind, order: Ordering) -> u32 {
    What { size, kind, order }.pack()
}

#[track_caller]
fn surrounded(operation: &str, size: u8, kind: Kind, order: Ordering) {
    check(
        operation,
        &[
            "atomic_begin(%p)",
            &format!("atomic_end(%p, {})", what(size, kind, order)),
        ],
    );
}

#[test]
fn loads_are_made_by_the_runtime() {
    use Ordering::*;
    let made = |load: &str, size, order| {
        let call = format!("atomic_load(%p, {})", what(size, Kind::Load, order));
        check(load, &[call.as_str()]);
    };
    made("%a = load atomic i64, ptr %p acquire, align 8", 8, Acquire);
    made(
        "%a = load atomic volatile float, ptr %p monotonic, align 4",
        4,
        Relaxed,
    );
    made(
        "%a = load atomic volatile ptr, ptr %p unordered, align 8",
        8,
        Relaxed,
    );
    let text = instrument(
        "define ptr @f(ptr %p) {
            %a = load atomic ptr, ptr %p seq_cst, align 8
            ret ptr %a
        }",
    );
    assert!(!function(&text, "f").join("\n").contains("load atomic"), "{text}");
}

#[test]
fn operations_stand_between_begin_and_end() {
    use Kind::*;
    use Ordering::*;
    surrounded(
        "%a = load atomic i128, ptr %p acquire, align 16",
        16,
        Load,
        Acquire,
    );
    surrounded("%a = load atomic i64, ptr %p acquire, align 4", 8, Load, Acquire);
    surrounded("store atomic i8 1, ptr %p release, align 1", 1, Store, Release);
    surrounded("store atomic i128 1, ptr %p seq_cst, align 16", 16, Store, SeqCst);
    surrounded("%a = atomicrmw add ptr %p, i32 1 acq_rel", 4, Update, AcqRel);
    surrounded(
        "%a = atomicrmw fadd ptr %p, double 1.0 monotonic",
        8,
        Update,
        Relaxed,
    );
    surrounded("%a = atomicrmw xchg ptr %p, ptr null seq_cst", 8, Update, SeqCst);

    let text = instrument(
        "define void @f(ptr %p) {
            store atomic i64 1, ptr %p release, align 8
            ret void
        }",
    );
    let lines = function(&text, "f");
    let at = |part: &str| lines.iter().position(|line| line.contains(part)).expect(part);
    assert!(at("atomic_begin") < at("store atomic") && at("store atomic") < at("atomic_end"));
}

#[test]
fn a_failed_compare_exchange_is_a_load_with_the_order_of_failure() {
    let text = instrument(
        "define i1 @f(ptr %p) {
            %r = cmpxchg weak ptr %p, i16 1, i16 2 acq_rel acquire
            %s = extractvalue { i16, i1 } %r, 1
            ret i1 %s
        }",
    );
    let lines = function(&text, "f").join("\n");
    let select = format!(
        "i32 {}, i32 {}",
        what(2, Kind::Update, Ordering::AcqRel),
        what(2, Kind::Load, Ordering::Acquire)
    );
    assert!(lines.contains(&select), "no `{select}` in\n{lines}");
}

#[test]
fn what_orders_within_the_thread_only_is_plain() {
    check(
        "store atomic i32 1, ptr %p syncscope(\"singlethread\") release, align 4",
        &["write4(%p)"],
    );
    check(
        "%a = atomicrmw add ptr %p, i64 1 syncscope(\"singlethread\") seq_cst",
        &["write8(%p)"],
    );
    check("fence syncscope(\"singlethread\") seq_cst", &[]);
}

#[test]
fn fences_tell_their_order_afterwards() {
    check("fence acquire", &["fence(1)"]);
    check("fence release", &["fence(2)"]);
    check("fence acq_rel", &["fence(3)"]);
    check("fence seq_cst", &["fence(4)"]);
}

#[test]
fn atomics_on_locals_are_left_alone() {
    check(
        "%l = alloca i64
         store atomic volatile i64 1, ptr %l release, align 8",
        &[],
    );
}
