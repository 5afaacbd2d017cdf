//! Sorting and searching. What the comparison looks at, it looks at itself.

use crate::intercept::model::models;
use core::ffi::c_void;
use libc::size_t;

models! {
    fn qsort(first: *mut c_void, count: size_t, size: size_t, compare: *const c_void) -> (),
        first |m| if count > 1 { m.write(first, count * size) };
    fn qsort_r(first: *mut c_void, count: size_t, size: size_t, compare: *const c_void, more: *mut c_void) -> (),
        first |m| if count > 1 { m.write(first, count * size) };
    fn lfind(key: *const c_void, first: *const c_void, count: *mut size_t, size: size_t, compare: *const c_void) -> *mut c_void,
        first |m| m.look(count);
    fn lsearch(key: *const c_void, first: *mut c_void, count: *mut size_t, size: size_t, compare: *const c_void) -> *mut c_void,
        as |f, m| {
            m.look(count);
            let before = *count;
            let r = f(key, first, count, size, compare);
            if *count != before {
                m.fill(count);
                m.read(key, size);
                m.write(r, size);
            }
            r
        };
    // The nodes are the library's own; where the first one is, is not.
    fn tsearch(key: *const c_void, root: *mut *mut c_void, compare: *const c_void) -> *mut c_void, as |f, m| {
        m.look(root);
        let before = if root.is_null() { core::ptr::null_mut() } else { *root };
        let r = f(key, root, compare);
        if !root.is_null() && *root != before { m.fill(root) }
        r
    };
    fn tfind(key: *const c_void, root: *const *mut c_void, compare: *const c_void) -> *mut c_void, first |m| m.look(root);
    fn tdelete(key: *const c_void, root: *mut *mut c_void, compare: *const c_void) -> *mut c_void, as |f, m| {
        m.look(root);
        let before = if root.is_null() { core::ptr::null_mut() } else { *root };
        let r = f(key, root, compare);
        if !root.is_null() && *root != before { m.fill(root) }
        r
    };
}
