//! Names of symbols as people write them.

use cpp_demangle::{DemangleOptions, Symbol};
use std::fmt;

/// No name is longer, mangled or not. A short mangled name can stand for a very long one.
const LONGEST: usize = 16 << 10;

/// Demangles names of Rust and C++; all others stay as they are. Rust's hashes are left out.
pub fn demangle(name: &str) -> String {
    if name.len() > LONGEST {
        return cut(name).to_owned();
    }
    // Versions of a symbol are no part of its name.
    let plain = name.split('@').next().unwrap_or(name);
    if let Ok(rust) = rustc_demangle::try_demangle(plain) {
        let mut out = Bounded(String::new());
        let _ = fmt::write(&mut out, format_args!("{rust:#}"));
        return out.0;
    }
    // A short C name such as `_Z` is none of C++.
    if plain.starts_with("_Z")
        && let Ok(symbol) = Symbol::new(plain)
    {
        let mut out = Bounded(String::new());
        let options = DemangleOptions::new().no_return_type();
        if symbol.structured_demangle(&mut out, &options).is_ok() {
            return out.0;
        }
    }
    plain.to_owned()
}

fn cut(text: &str) -> &str {
    let mut end = LONGEST.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Refuses more than [`LONGEST`] bytes.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_readable() {
        for (name, expect) in [
            ("main", "main"),
            ("_Z3addPii", "add(int*, int)"),
            ("_ZN3foo3barEv", "foo::bar()"),
            ("_ZN4demo3run17h0123456789abcdefE", "demo::run"),
            ("_RNvC6_123foo3bar", "123foo::bar"),
            ("_ZL7counter", "counter"),
            ("_ZN4demo5TOTAL17h0123456789abcdefE.llvm.123", "demo::TOTAL"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("_Z", "_Z"),
            ("", ""),
        ] {
            assert_eq!(demangle(name), expect, "{name}");
        }
    }

    #[test]
    fn a_name_that_explodes_is_stopped() {
        // Every substitution doubles the type before it.
        let mut name = String::from("_Z1f1SIiiE");
        for turn in 0..30 {
            let (a, b) = (b'A' + turn % 26, turn % 10);
            name.push_str(&format!("1{}IS{b}_S{b}_E", char::from(a)));
        }
        for text in [name, "é".repeat(LONGEST)] {
            assert!(demangle(&text).len() <= LONGEST.max(text.len().min(LONGEST)));
        }
    }
}
