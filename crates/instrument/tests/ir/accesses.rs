//! Plain accesses: which test and which hook they get.

use crate::harness::{check, check_in, counting, function, hooks, instrument, with_all_checks};

/// Loads `ty` from `%p` with this alignment. The value is kept alive by a call.
fn load(ty: &str, align: u32) -> String {
    format!("%v = load volatile {ty}, ptr %p, align {align}")
}

#[test]
fn sizes_that_fit_have_hooks_of_their_own() {
    check(&load("i8", 1), &["read1(%p)"]);
    check(&load("i16", 2), &["read2(%p)"]);
    check(&load("float", 4), &["read4(%p)"]);
    check(&load("ptr", 8), &["read8(%p)"]);
    check(&load("i128", 16), &["read16(%p)"]);
    check(&load("<4 x i32>", 16), &["read16(%p)"]);
    check("store volatile i1 true, ptr %p, align 1", &["write1(%p)"]);
    check(
        "store volatile <2 x float> zeroinitializer, ptr %p, align 8",
        &["write8(%p)"],
    );
}

#[test]
fn others_are_ranges_of_exactly_their_bytes() {
    check(&load("i16", 1), &["read_range(%p, 2)"]);
    check(&load("i64", 4), &["read_range(%p, 8)"]);
    check(&load("i24", 4), &["read_range(%p, 3)"]);
    check(&load("x86_fp80", 16), &["read_range(%p, 10)"]);
    check(&load("<3 x float>", 16), &["read_range(%p, 12)"]);
    check(&load("i128", 8), &["read_range(%p, 16)"]);
    check(&load("<8 x i64>", 64), &["read_range(%p, 64)"]);
    check(&load("<16 x i64>", 64), &["read_range(%p, 128)"]);
    check(
        "store { i64, i32 } zeroinitializer, ptr %p, align 8",
        &["write_range(%p, 16)"],
    );
}

/// The bits of the shadow word that a test looks at.
fn bits(body: &str) -> Vec<u64> {
    let text = instrument(&format!("define void @f(ptr %p) {{\n{body}\nret void\n}}"));
    let lines = function(&text, "f");
    let tests = lines.iter().filter(|line| line.trim_start().starts_with("%new"));
    let bits = tests.map(|line| line.rsplit(' ').next().unwrap().parse::<i64>().unwrap() as u64);
    bits.collect()
}

#[test]
fn a_test_looks_at_the_epoch_and_at_the_bytes_of_the_access() {
    const EPOCH: u64 = 0xffff_ffff_c000_0000;
    assert_eq!(bits(&load("i64", 8)), [EPOCH | 0xff]);
    assert_eq!(bits(&load("i32", 8)), [EPOCH | 0x0f]);
    // Not known where: the bytes are turned to the lowest bits.
    assert_eq!(bits(&load("i32", 4)), [EPOCH | 0x0f]);
    assert_eq!(bits(&load("i16", 4)), [EPOCH | 0x03]);
    let fields = "
        %a = load volatile i64, ptr %p, align 8
        %q = getelementptr { i64, i32, i16, i8 }, ptr %p, i64 0, i32 1
        %b = load volatile i32, ptr %q, align 4
        %r = getelementptr i8, ptr %p, i64 12
        %c = load volatile i16, ptr %r, align 2
        %s = getelementptr i8, ptr %p, i64 -1
        %d = load volatile i8, ptr %s, align 1";
    assert_eq!(
        bits(fields),
        [EPOCH | 0xff, EPOCH | 0x0f, EPOCH | 0x30, EPOCH | 0x80]
    );
}

#[test]
fn where_an_access_is_in_its_granule_is_not_learned_from_another_branch() {
    let text = with_all_checks(
        "define void @f(ptr %p, i1 %c) {
            br i1 %c, label %wide, label %narrow
        wide:
            %a = load volatile i64, ptr %p, align 8
            %b = load volatile i32, ptr %p, align 4
            br label %end
        narrow:
            %d = load volatile i32, ptr %p, align 4
            br label %end
        end:
            %e = load volatile i32, ptr %p, align 4
            ret void
        }",
    );
    let turns = function(&text, "f")
        .iter()
        .filter(|line| line.contains("rorb"))
        .count();
    assert_eq!(turns, 2, "those in `narrow` and in `end`");
}

#[test]
fn copies_check_both_sides_before() {
    let declarations = "
        declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
        declare void @llvm.memcpy.inline.p0.p0.i64(ptr, ptr, i64, i1)
        declare void @llvm.memmove.p0.p0.i32(ptr, ptr, i32, i1)
        declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)";
    check_in(
        declarations,
        "call void @llvm.memcpy.p0.p0.i64(ptr align 8 %p, ptr align 4 %q, i64 24, i1 false)",
        &["read_range(%q, 24)", "write_range(%p, 24)"],
    );
    check_in(
        declarations,
        "call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr %q, i64 %n, i1 false)",
        &["read_range(%q, %n)", "write_range(%p, %n)"],
    );
    check_in(
        declarations,
        "call void @llvm.memcpy.inline.p0.p0.i64(ptr align 8 %p, ptr align 8 %q, i64 8, i1 true)",
        &["read8(%q)", "write8(%p)"],
    );
    check_in(
        declarations,
        "call void @llvm.memmove.p0.p0.i32(ptr %p, ptr %q, i32 0, i1 false)",
        &[],
    );
    check_in(
        declarations,
        "call void @llvm.memset.p0.i64(ptr align 4 %p, i8 0, i64 4, i1 false)",
        &["write4(%p)"],
    );
}

#[test]
fn a_masked_access_checks_only_the_elements_that_the_mask_has() {
    let declarations = "
        declare <4 x i32> @llvm.masked.load.v4i32.p0(ptr, <4 x i1>, <4 x i32>)
        declare void @llvm.masked.store.v2i64.p0(<2 x i64>, ptr, <2 x i1>)
        declare <2 x i32> @llvm.masked.gather.v2i32.v2p0(<2 x ptr>, <2 x i1>, <2 x i32>)
        declare void @llvm.masked.scatter.v2i32.v2p0(<2 x i32>, <2 x ptr>, <2 x i1>)
        declare <4 x i16> @llvm.masked.expandload.v4i16(ptr, <4 x i1>, <4 x i16>)
        declare void @llvm.masked.compressstore.v8i8(<8 x i8>, ptr, <8 x i1>)
        declare <4 x i32> @llvm.vp.load.v4i32.p0(ptr, <4 x i1>, i32)
        declare void @use(<4 x i32>, <2 x i32>)";
    let text = instrument(&format!(
        "{declarations}
        define void @constant(ptr %p) {{
            %v = call <4 x i32> @llvm.masked.load.v4i32.p0(ptr align 4 %p, <4 x i1> <i1 1, i1 0, i1 0, i1 1>, <4 x i32> zeroinitializer)
            call void @use(<4 x i32> %v, <2 x i32> zeroinitializer)
            ret void
        }}
        define void @variable(ptr %p, <2 x i1> %m) {{
            call void @llvm.masked.store.v2i64.p0(<2 x i64> zeroinitializer, ptr align 8 %p, <2 x i1> %m)
            ret void
        }}
        define void @gathered(<2 x ptr> %ps, <2 x i1> %m) {{
            %v = call <2 x i32> @llvm.masked.gather.v2i32.v2p0(<2 x ptr> align 4 %ps, <2 x i1> %m, <2 x i32> zeroinitializer)
            call void @use(<4 x i32> zeroinitializer, <2 x i32> %v)
            ret void
        }}
        define void @scattered(<2 x ptr> %ps, <2 x i1> %m) {{
            call void @llvm.masked.scatter.v2i32.v2p0(<2 x i32> zeroinitializer, <2 x ptr> align 4 %ps, <2 x i1> %m)
            ret void
        }}
        define void @packed(ptr %p, <8 x i1> %m) {{
            call void @llvm.masked.compressstore.v8i8(<8 x i8> zeroinitializer, ptr %p, <8 x i1> %m)
            ret void
        }}
        define void @limited(ptr %p, <4 x i1> %m, i32 %n) {{
            %v = call <4 x i32> @llvm.vp.load.v4i32.p0(ptr align 4 %p, <4 x i1> %m, i32 %n)
            call void @use(<4 x i32> %v, <2 x i32> zeroinitializer)
            ret void
        }}"
    ));
    assert_eq!(hooks(&text, "constant").len(), 2, "two elements are on");
    assert!(hooks(&text, "constant")[0].starts_with("read_range(%p, 4"));
    for (name, hook, count) in [
        ("variable", "write_range(", 2),
        ("gathered", "read_range(", 2),
        ("scattered", "write_range(", 2),
        ("limited", "read_range(", 4),
    ] {
        let found = hooks(&text, name);
        assert_eq!(found.len(), count, "{name}: {found:?}");
        assert!(
            found.iter().all(|call| call.starts_with(hook)),
            "{name}: {found:?}"
        );
    }
    assert_eq!(hooks(&text, "packed").len(), 1);
    let packed = function(&text, "packed").join("\n");
    assert!(packed.contains("@llvm.ctpop.i8"), "{packed}");
}

#[test]
fn a_load_that_llvm_widened_is_checked_as_the_masked_load_it_was() {
    let text = instrument(
        "define <2 x i32> @set(ptr %p, <2 x i1> %m) {
            %unmaskedload = load <2 x i32>, ptr %p, align 8
            %s = select <2 x i1> %m, <2 x i32> %unmaskedload, <2 x i32> zeroinitializer
            ret <2 x i32> %s
        }
        define <2 x i32> @unset(ptr %p) {
            %unmaskedload7 = load <2 x i32>, ptr %p, align 8
            %s = select <2 x i1> <i1 1, i1 0>, <2 x i32> zeroinitializer, <2 x i32> %unmaskedload7
            ret <2 x i32> %s
        }
        define <2 x i32> @unknown(ptr %p, <2 x i1> %m) {
            %unmaskedload = load <2 x i32>, ptr %p, align 8
            ret <2 x i32> %unmaskedload
        }
        define <2 x i32> @another(ptr %p, <2 x i1> %m) {
            %v = load <2 x i32>, ptr %p, align 8
            %s = select <2 x i1> %m, <2 x i32> %v, <2 x i32> zeroinitializer
            ret <2 x i32> %s
        }",
    );
    assert_eq!(hooks(&text, "set").len(), 2);
    assert!(
        hooks(&text, "set")
            .iter()
            .all(|hook| hook.starts_with("read_range("))
    );
    assert_eq!(hooks(&text, "unset").len(), 1, "only the element that is off");
    assert_eq!(hooks(&text, "unknown").len(), 0);
    assert_eq!(hooks(&text, "another"), ["read8(%p)"], "the program's own vector");
}

#[test]
fn what_is_passed_by_value_is_read_by_the_caller() {
    check_in(
        "%s = type { i64, i64, i64 }\ndeclare void @by_value(ptr byval(%s) align 8)",
        "call void @by_value(ptr byval(%s) align 8 %p)",
        &["read_range(%p, 24)"],
    );
}

#[test]
fn locals_stay_in_the_first_block() {
    let text = instrument(
        "define void @f(ptr %p) {
            %v = load volatile i64, ptr %p, align 8
            %late = alloca i64
            store volatile i64 %v, ptr %late
            call void @take(ptr %late)
            ret void
        }",
    );
    let lines = function(&text, "f");
    let alloca = lines
        .iter()
        .position(|line| line.contains("alloca"))
        .expect("the local");
    let branch = lines
        .iter()
        .position(|line| line.contains("br i1"))
        .expect("the test");
    assert!(alloca < branch, "{}", lines.join("\n"));
}

#[test]
fn accesses_are_counted_on_request_whether_checked_or_not() {
    let module = "define void @f(ptr %p, ptr %q, i1 %c) {
            %local = alloca i64
            store volatile i64 1, ptr %local
            %v = load i64, ptr %p, align 8
            store i64 %v, ptr %q, align 8
            store i64 2, ptr %p, align 8
            br i1 %c, label %more, label %end
        more:
            %w = load i64, ptr %q, align 8
            store i64 %w, ptr %p, align 8
            br label %end
        end:
            ret void
        }";
    let hooks_of = |text: &str| {
        let mut all = hooks(text, "f");
        all.retain(|hook| hook.starts_with("accesses") || hook.contains('8'));
        all
    };
    // The first read of %p has no check: a write follows. Those behind have none: writes came before. The local is nobody
    // else's.
    assert_eq!(
        hooks_of(&counting(module)),
        ["accesses(3)", "write8(%q)", "write8(%p)", "accesses(2)",]
    );
    assert_eq!(hooks_of(&instrument(module)), ["write8(%q)", "write8(%p)"]);
    assert_eq!(
        hooks_of(&with_all_checks(module)),
        ["read8(%p)", "write8(%q)", "write8(%p)", "read8(%q)", "write8(%p)"]
    );
}
