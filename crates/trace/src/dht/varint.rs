//! LEB128 numbers, and zigzag for signed ones.

/// The most bytes of a 64-bit number.
const MAX_LEN: usize = 10;

pub(super) fn put(to: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        to.push(value as u8 | 0x80);
        value >>= 7;
    }
    to.push(value as u8);
}

/// Reads a number at `*at` and steps over it. `None` if it does not end in time or does not fit.
#[inline]
pub(super) fn get(from: &[u8], at: &mut usize) -> Option<u64> {
    let first = *from.get(*at)?;
    if first < 0x80 {
        *at += 1;
        return Some(u64::from(first));
    }
    get_long(from, at)
}

fn get_long(from: &[u8], at: &mut usize) -> Option<u64> {
    let mut value = 0_u64;
    for n in 0..MAX_LEN {
        let byte = *from.get(*at + n)?;
        if n == MAX_LEN - 1 && byte > 1 {
            return None;
        }
        value |= u64::from(byte & 0x7f) << (7 * n);
        if byte < 0x80 {
            *at += n + 1;
            return Some(value);
        }
    }
    None
}

#[inline]
pub(super) fn get32(from: &[u8], at: &mut usize) -> Option<u32> {
    get(from, at).and_then(|value| u32::try_from(value).ok())
}

/// Small numbers of either sign to small numbers.
#[inline]
pub(super) fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[inline]
pub(super) fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_come_back(value: u64, shift in 0..64_u32) {
            let value = value >> shift;
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            let mut at = 0;
            prop_assert_eq!(get(&bytes, &mut at), Some(value));
            prop_assert_eq!(at, bytes.len());
            prop_assert_eq!(unzigzag(zigzag(value as i64)), value as i64);
            prop_assert_eq!(get(&bytes[..bytes.len() - 1], &mut 0), None);
        }
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        assert_eq!(get(&[0xff; 20], &mut 0), None);
        let mut over = [0x80; 10];
        over[9] = 2;
        assert_eq!(get(&over, &mut 0), None);
    }
}
