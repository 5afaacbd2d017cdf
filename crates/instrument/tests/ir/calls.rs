//! Context values and redirected calls; errors.

use crate::harness::{check_in, function, hooks, instrument, try_instrument};
use deadheat_instrument::module::{Options, compile};

/// Stores to the context in the thread's variable.
fn stores(text: &str, name: &str) -> usize {
    let lines = function(text, name);
    let pointers: Vec<&str> = lines
        .iter()
        .filter(|line| line.contains("getelementptr i8, ptr") && line.trim_end().ends_with("i64 24"))
        .filter_map(|line| line.trim().split(' ').next())
        .collect();
    lines
        .iter()
        .filter(|line| {
            pointers.iter().any(|pointer| {
                line.trim().starts_with("store i64") && line.contains(&format!("ptr {pointer},"))
            })
        })
        .count()
}

#[test]
fn a_function_stores_its_context_only_if_it_calls() {
    let text = instrument(
        "define void @nothing(i64 %n) { ret void }
        define void @checks(ptr %p) {
            store i64 1, ptr %p, align 8
            ret void
        }
        define void @calls() {
            call void @other()
            ret void
        }
        declare void @die() noreturn
        define void @dies(ptr %p) {
            store i64 1, ptr %p, align 8
            call void @die() noreturn
            unreachable
        }",
    );
    assert!(!function(&text, "nothing").join("\n").contains("deadheat"));
    assert_eq!(stores(&text, "checks"), 0);
    assert_eq!(stores(&text, "calls"), 2, "at entry and at return");
    assert_eq!(stores(&text, "dies"), 1, "only before the call");
}

#[test]
fn the_context_is_stored_again_after_unwinding_and_jumps() {
    let text = instrument(
        "declare i32 @setjmp(ptr) returns_twice
        define void @unwinds() personality ptr @personality {
            invoke void @other() to label %end unwind label %pad
        pad:
            %l = landingpad { ptr, i32 } cleanup
            call void @other()
            resume { ptr, i32 } %l
        end:
            ret void
        }
        define void @jumps(ptr %p) {
            %again = call i32 @setjmp(ptr %p) returns_twice
            ret void
        }",
    );
    assert_eq!(stores(&text, "unwinds"), 3, "entry, landing pad, return");
    assert_eq!(stores(&text, "jumps"), 3, "entry, after setjmp, return");
}

#[test]
fn a_tail_call_that_must_be_one_sees_the_context_of_the_caller() {
    let text = instrument(
        "define void @replaced(ptr %p) {
            call void @other()
            musttail call void @take(ptr %p)
            ret void
        }
        define void @only(ptr %p) {
            musttail call void @take(ptr %p)
            ret void
        }",
    );
    assert_eq!(stores(&text, "replaced"), 2, "entry, and before the tail call");
    assert_eq!(stores(&text, "only"), 0);
}

#[test]
fn known_functions_are_called_through_the_runtime() {
    let declarations = "
        declare i64 @strlen(ptr)
        declare i32 @strcmp(i64, i64)
        define ptr @memchr(ptr %p, i32 %c, i64 %n) { ret ptr %p }
        declare void @free(ptr)";
    check_in(
        declarations,
        "%a = call i64 @strlen(ptr %p)
         %b = call i32 @strcmp(i64 1, i64 2)
         %d = call ptr @memchr(ptr %p, i32 0, i64 %n)
         call void @take(ptr @strlen)
         call void @free(ptr %p)",
        &["strlen(%p)", "free(%p)"],
    );
    let text = instrument(
        "declare void @free(ptr)
        define void @f(ptr %p) personality ptr @personality {
            invoke void @free(ptr %p) to label %end unwind label %pad
        pad:
            %l = landingpad { ptr, i32 } cleanup
            resume { ptr, i32 } %l
        end:
            ret void
        }",
    );
    assert_eq!(hooks(&text, "f"), ["free(%p)"]);
}

#[test]
fn what_cannot_be_read_is_an_error_that_names_the_module() {
    let options = Options {
        opt_level: 2,
        cpu: "x86-64".into(),
        pic: true,
        ..Options::default()
    };
    for bitcode in [
        &b""[..],
        b"BC\xc0\xde",
        b"BC\xc0\xde\x35\x14\0\0garbage here",
        b"\x7fELF",
    ] {
        let error = compile(bitcode, "broken.o", &options)
            .expect_err("not bitcode")
            .to_string();
        assert!(error.starts_with("broken.o: "), "{error}");
        assert!(error.len() > "broken.o: ".len(), "{error}");
    }
    let error = try_instrument("define void @f() { ret i32 0 }").expect_err("not well-typed");
    assert!(error.starts_with("test: "), "{error}");
}
