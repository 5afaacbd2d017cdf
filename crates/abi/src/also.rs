//! Further source lines of a check.
//!
//! One check may stand for accesses at several lines. Its call has the line of the first. For each other line an
//! instruction that does nothing, a [`mark`], follows the call, and has that line: so what knows lines (the debug information)
//! knows these as well, wherever the code ends up.
//!
//! Checks may follow one another closely, where code that is seldom run is put together above all. So a mark says the line and the
//! column of its check, as far as it has room for them.

/// Bytes of a mark.
pub const LEN: usize = 7;

/// So many lines are told of one check at most.
pub const MOST: usize = 8;

/// So far from the return address the first, and from one to the next, may other instructions be in between.
pub const GAP: usize = 48;

/// `nopl 0x??44_????(%rax)`: no compiler makes it.
const START: [u8; 3] = [0x0f, 0x1f, 0x80];
const ONE: [u8; 2] = *b"DH";
const MORE: [u8; 2] = *b"D+";

/// A line and a column; 0 if they are not known.
pub type Place = (u32, u32);

/// A mark behind the check of an access at this place.
pub fn mark(place: Place) -> [u8; LEN] {
    with(place, ONE)
}

/// What is behind the last mark if there are more lines than are told.
pub fn more(place: Place) -> [u8; LEN] {
    with(place, MORE)
}

fn with((line, column): Place, kind: [u8; 2]) -> [u8; LEN] {
    let [a, b, c] = START;
    let both = line.wrapping_mul(257).wrapping_add(column);
    let [low, high] = (both as u16).to_le_bytes();
    [a, b, c, low, high, kind[0], kind[1]]
}

/// Where marks are in the code behind the check of an access at this place, counted from its beginning; those that say that there
/// are more have a `true`.
pub fn marks(code: &[u8], place: Place) -> impl Iterator<Item = (usize, bool)> {
    let mut from = 0;
    let kind = move |bytes: &[u8]| {
        [(false, ONE), (true, MORE)]
            .into_iter()
            .find(|&(_, kind)| bytes == with(place, kind) || bytes == with((0, 0), kind))
    };
    core::iter::from_fn(move || {
        let end = code.len().min(from + GAP + LEN);
        let mut places = code.get(from..end)?.windows(LEN).enumerate();
        let (at, (last, _)) = places.find_map(|(at, bytes)| Some((at, kind(bytes)?)))?;
        let found = from + at;
        from = found + LEN;
        Some((found, last))
    })
    .take(MOST + 1)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    #[test]
    fn marks_are_found_near_the_check_and_near_each_other() {
        let mut code = Vec::from([0x90; 3]);
        code.extend(mark((5, 9)));
        code.extend(mark((5, 9)));
        code.extend([0x90; GAP]);
        code.extend(mark((5, 9)));
        code.extend([0x90; GAP + 1]);
        code.extend(mark((5, 9)));
        let third = 3 + 2 * LEN + GAP;
        let found: Vec<_> = marks(&code, (5, 9)).collect();
        assert_eq!(found, [(3, false), (10, false), (third, false)]);
        assert_eq!(marks(&code[..5], (5, 9)).count(), 0);
    }

    #[test]
    fn marks_of_the_next_check_are_not_of_this_one() {
        let place = (0x1_0203, 4);
        let code = [mark(place), more(place)].concat();
        assert_eq!(marks(&code, (7, 4)).count(), 0);
        assert_eq!(marks(&code, (0x1_0203, 5)).count(), 0);
        let found: Vec<_> = marks(&code, place).collect();
        assert_eq!(found, [(0, false), (LEN, true)]);
        // A check whose line is not known may be taken for one of another line.
        assert_eq!(marks(&mark((0, 0)), (7, 4)).count(), 1);
    }
}
