//! Names, kinds and lists of files; pairs of descriptors.

use crate::intercept::model::models;
use core::ffi::{c_char, c_int, c_uint, c_void};
use libc::{dirent, size_t, ssize_t, stat, statfs, statvfs, statx};

models! {
    fn stat(path: *const c_char, into: *mut stat) -> c_int, first |m| m.text(path), then |m, r| if r == 0 { m.fill(into) };
    fn stat64(path: *const c_char, into: *mut stat) -> c_int, first |m| m.text(path), then |m, r| if r == 0 { m.fill(into) };
    fn lstat(path: *const c_char, into: *mut stat) -> c_int, first |m| m.text(path), then |m, r| if r == 0 { m.fill(into) };
    fn lstat64(path: *const c_char, into: *mut stat) -> c_int, first |m| m.text(path), then |m, r| if r == 0 { m.fill(into) };
    fn fstat(file: c_int, into: *mut stat) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn fstat64(file: c_int, into: *mut stat) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn fstatat(at: c_int, path: *const c_char, into: *mut stat, flags: c_int) -> c_int,
        first |m| m.text(path), then |m, r| if r == 0 { m.fill(into) };
    fn fstatat64(at: c_int, path: *const c_char, into: *mut stat, flags: c_int) -> c_int,
        first |m| m.text(path), then |m, r| if r == 0 { m.fill(into) };
    fn statx(at: c_int, path: *const c_char, flags: c_int, wanted: c_uint, into: *mut statx) -> c_int,
        first |m| m.text(path), then |m, r| if r == 0 { m.fill(into) };
    fn statvfs(path: *const c_char, into: *mut statvfs) -> c_int, first |m| m.text(path), then |m, r| if r == 0 { m.fill(into) };
    fn statvfs64(path: *const c_char, into: *mut statvfs) -> c_int, first |m| m.text(path), then |m, r| if r == 0 { m.fill(into) };
    fn fstatvfs(file: c_int, into: *mut statvfs) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn fstatvfs64(file: c_int, into: *mut statvfs) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn statfs(path: *const c_char, into: *mut statfs) -> c_int, first |m| m.text(path), then |m, r| if r == 0 { m.fill(into) };
    fn statfs64(path: *const c_char, into: *mut statfs) -> c_int, first |m| m.text(path), then |m, r| if r == 0 { m.fill(into) };
    fn fstatfs(file: c_int, into: *mut statfs) -> c_int, then |m, r| if r == 0 { m.fill(into) };
    fn fstatfs64(file: c_int, into: *mut statfs) -> c_int, then |m, r| if r == 0 { m.fill(into) };

    fn getcwd(into: *mut c_char, room: size_t) -> *mut c_char, then |m, r| m.made(r);
    fn realpath(path: *const c_char, into: *mut c_char) -> *mut c_char, first |m| m.text(path), then |m, r| m.made(r);
    fn readlink(path: *const c_char, into: *mut c_char, room: size_t) -> ssize_t,
        first |m| m.text(path), then |m, r| m.filled(into, r);
    fn readlinkat(at: c_int, path: *const c_char, into: *mut c_char, room: size_t) -> ssize_t,
        first |m| m.text(path), then |m, r| m.filled(into, r);
    // The name's last six letters are new.
    fn mkstemp(name: *mut c_char) -> c_int,
        first |m| m.text(name), then |m, r| if r >= 0 { m.write(name.add(libc::strlen(name) - 6), 6) };
    fn mkstemp64(name: *mut c_char) -> c_int,
        first |m| m.text(name), then |m, r| if r >= 0 { m.write(name.add(libc::strlen(name) - 6), 6) };
    fn mkostemp(name: *mut c_char, flags: c_int) -> c_int,
        first |m| m.text(name), then |m, r| if r >= 0 { m.write(name.add(libc::strlen(name) - 6), 6) };
    fn mkdtemp(name: *mut c_char) -> *mut c_char,
        first |m| m.text(name), then |m, r| if !r.is_null() { m.write(name.add(libc::strlen(name) - 6), 6) };

    // The entry is in the stream's own buffer, and good until the next call.
    fn readdir(directory: *mut c_void) -> *mut dirent, then |m, r| if !r.is_null() { m.write(r, (*r).d_reclen.into()) };
    fn readdir64(directory: *mut c_void) -> *mut dirent, then |m, r| if !r.is_null() { m.write(r, (*r).d_reclen.into()) };
    fn readdir_r(directory: *mut c_void, into: *mut dirent, result: *mut *mut dirent) -> c_int,
        then |m, r| if r == 0 {
            m.fill(result);
            if !(*result).is_null() { m.write(into, (*into).d_reclen.into()) }
        };
    fn scandir(path: *const c_char, list: *mut *mut *mut dirent, filter: *const c_void, order: *const c_void) -> c_int,
        first |m| m.text(path), then |m, r| if r >= 0 { m.fill(list) };
    fn scandir64(path: *const c_char, list: *mut *mut *mut dirent, filter: *const c_void, order: *const c_void) -> c_int,
        first |m| m.text(path), then |m, r| if r >= 0 { m.fill(list) };

    fn pipe(ends: *mut c_int) -> c_int, then |m, r| if r == 0 { m.write(ends, 8) };
    fn pipe2(ends: *mut c_int, flags: c_int) -> c_int, then |m, r| if r == 0 { m.write(ends, 8) };
    fn socketpair(family: c_int, kind: c_int, protocol: c_int, ends: *mut c_int) -> c_int,
        then |m, r| if r == 0 { m.write(ends, 8) };
}
