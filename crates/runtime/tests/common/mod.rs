//! What the tests share.

use std::path::PathBuf;

/// The runtime as a library. Cargo builds it beside the tests of this package.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().expect("the test's own path");
    test.with_file_name("libdeadheat_runtime.so")
}
