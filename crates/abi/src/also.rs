//! Further source lines of a check.
//!
//! One check may stand for accesses at several lines. Its call has the line of the first. For each other line an
//! instruction that does nothing, [`MARK`], follows the call, and has that line: so what knows lines (the debug information)
//! knows these as well, wherever the code ends up.

/// `nopl 0x7261_4844(%rax)`: no compiler makes it.
pub const MARK: [u8; 7] = [0x0f, 0x1f, 0x80, 0x44, 0x48, 0x61, 0x72];

/// So many are put behind one check at most.
pub const MOST: usize = 8;

/// So far from the return address the first, and from one to the next, may other instructions be in between.
pub const GAP: usize = 48;

/// Where marks are in the code behind a check, counted from its beginning.
pub fn marks(code: &[u8]) -> impl Iterator<Item = usize> {
    let mut from = 0;
    core::iter::from_fn(move || {
        let end = code.len().min(from + GAP + MARK.len());
        let at = code
            .get(from..end)?
            .windows(MARK.len())
            .position(|bytes| bytes == MARK)?;
        let found = from + at;
        from = found + MARK.len();
        Some(found)
    })
    .take(MOST)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    #[test]
    fn marks_are_found_near_the_check_and_near_each_other() {
        let mut code = Vec::from([0x90; 3]);
        code.extend(MARK);
        code.extend(MARK);
        code.extend([0x90; GAP]);
        code.extend(MARK);
        code.extend([0x90; GAP + 1]);
        code.extend(MARK);
        let third = 3 + 2 * MARK.len() + GAP;
        assert_eq!(marks(&code).collect::<Vec<_>>(), [3, 10, third]);
        assert_eq!(marks(&code[..5]).count(), 0);
    }
}
