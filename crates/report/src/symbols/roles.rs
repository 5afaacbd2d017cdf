//! Whose code a frame is in: the user's, the language's library, what starts threads, or our runtime.
//!
//! Readers want their own line first. Decided by the source file where one is known, else by names.

use crate::model::{Frame, Role};

/// Source trees of the languages' libraries, as parts of a path.
const STD_PATHS: [&str; 8] = [
    "/rustlib/src/rust/library/",
    "/include/c++/",
    "/libstdc++-v3/",
    "/libcxx/",
    "/gcc/libgcc/",
    "/nptl/",
    "/sysdeps/",
    "/glibc-",
];

/// Shared objects that are no user's, as beginnings of file names.
const STD_MODULES: [&str; 14] = [
    "libc.so",
    "libc-",
    "libm.so",
    "libpthread",
    "librt.so",
    "libdl.so",
    "ld-linux",
    "libstdc++.",
    "libc++.",
    "libc++abi.",
    "libgcc_s",
    "libomp.so",
    "libiomp5.so",
    "[vdso]",
];

/// Functions that come before any of the user's, whatever file they are in.
const START: [&str; 9] = [
    "_start",
    "start_thread",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
    "__libc_start_main",
    "__libc_start_call_main",
    "execute_native_thread_routine",
];

/// Name of our runtime's library, in front of its version.
const RUNTIME: &str = "libdeadheat_rt";

/// Looks at one frame alone.
pub fn role(frame: &Frame) -> Role {
    let module = frame.module.as_deref().unwrap_or_default();
    let module = module.rsplit('/').next().unwrap_or_default();
    if module.starts_with(RUNTIME) {
        return Role::Runtime;
    }
    let function = frame.function.as_deref().unwrap_or_default();
    if START.contains(&function) {
        return Role::Start;
    }
    if STD_MODULES.iter().any(|name| module.starts_with(name)) {
        return Role::Std;
    }
    let is_std = match frame.file.as_deref() {
        Some(file) => {
            (file.starts_with("/rustc/") && file.contains("/library/"))
                || file.starts_with("/rust/deps/")
                || STD_PATHS.iter().any(|part| file.contains(part))
        }
        None => {
            let name = function.trim_start_matches('<');
            [
                "std::",
                "core::",
                "alloc::",
                "__rust_",
                "__rustc::",
                "__gnu_cxx::",
            ]
            .iter()
            .any(|start| name.starts_with(start))
        }
    };
    if is_std { Role::Std } else { Role::User }
}

/// Marks what is outside of the user's outermost frame as the start of a thread. Innermost first.
pub fn mark_start(stack: &mut [Frame]) {
    // Rust's `main` symbol calls the standard library, which calls the user's; it has no line.
    if let Some(at) = stack
        .iter()
        .position(|frame| frame.function.as_deref() == Some("main") && frame.file.is_none())
        && at > 0
        && !stack[at - 1].role.is_user()
    {
        stack[at].role = Role::Start;
    }
    let Some(last) = stack.iter().rposition(|frame| frame.role.is_user()) else {
        return;
    };
    for frame in &mut stack[last + 1..] {
        if frame.role == Role::Std {
            frame.role = Role::Start;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, file: &str, module: &str) -> Frame {
        let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let mut frame = Frame {
            function: known(function),
            file: known(file),
            module: known(module),
            ..Frame::default()
        };
        frame.role = role(&frame);
        frame
    }

    #[test]
    fn a_frame_is_told_by_its_file_and_then_by_names() {
        for (function, file, module, expect) in [
            ("work", "src/main.rs", "/x/demo", Role::User),
            ("std::thing", "src/std.rs", "/x/demo", Role::User),
            (
                "core::ptr::write",
                "/rustc/abc/library/core/src/ptr/mod.rs",
                "/x/demo",
                Role::Std,
            ),
            (
                "std::vector<int>::push_back(int&&)",
                "/usr/include/c++/12/bits/stl_vector.h",
                "/x/demo",
                Role::Std,
            ),
            ("<alloc::vec::Vec<T> as Drop>::drop", "", "/x/demo", Role::Std),
            ("qsort", "", "/lib/x86_64-linux-gnu/libc.so.6", Role::Std),
            (
                "start_thread",
                "nptl/pthread_create.c",
                "/lib/libc.so.6",
                Role::Start,
            ),
            (
                "hook",
                "src/hooks.rs",
                "/cache/libdeadheat_rt-1.so",
                Role::Runtime,
            ),
            ("", "", "/x/libcat.so", Role::User),
        ] {
            assert_eq!(
                frame(function, file, module).role,
                expect,
                "{function} {file} {module}"
            );
        }
    }

    #[test]
    fn what_is_outside_of_the_user_starts_the_program() {
        let std = "/rustc/abc/library/std/src/rt.rs";
        let mut stack = [
            frame("core::cell::Cell::set", std, "demo"),
            frame("demo::main", "src/main.rs", "demo"),
            frame("std::rt::lang_start", std, "demo"),
            frame("main", "", "demo"),
            frame("__libc_start_main", "", "libc.so.6"),
        ];
        mark_start(&mut stack);
        let roles = stack.map(|frame| frame.role);
        assert_eq!(
            roles,
            [Role::Std, Role::User, Role::Start, Role::Start, Role::Start]
        );
    }

    #[test]
    fn a_c_program_keeps_its_main() {
        let mut stack = [frame("main", "", "demo"), frame("_start", "", "demo")];
        mark_start(&mut stack);
        assert_eq!(stack.map(|frame| frame.role), [Role::User, Role::Start]);
    }
}
