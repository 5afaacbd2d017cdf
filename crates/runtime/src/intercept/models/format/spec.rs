//! What a format says about its arguments.

use super::list::List;
use crate::intercept::model::Model;
use core::ffi::{c_char, c_int};
use libc::wchar_t;

/// The length that is given with a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    None,
    Char,
    Short,
    Long,
    LongDouble,
}

impl Size {
    /// Bytes of an integer.
    fn integer(self) -> usize {
        match self {
            Size::Char => 1,
            Size::Short => 2,
            Size::None => 4,
            Size::Long | Size::LongDouble => 8,
        }
    }
}

/// A format that is read byte by byte.
struct Reader {
    at: *const u8,
}

impl Reader {
    fn peek(&self) -> u8 {
        // SAFETY: within the string, or at its NUL: nobody steps over that.
        unsafe { *self.at }
    }

    fn next(&mut self) -> u8 {
        let byte = self.peek();
        if byte != 0 {
            self.at = self.at.wrapping_add(1);
        }
        byte
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == byte;
        if there {
            self.next();
        }
        there
    }

    /// Goes behind the next `%`. False at the end.
    fn find(&mut self) -> bool {
        loop {
            match self.next() {
                0 => return false,
                b'%' => return true,
                _ => {}
            }
        }
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = None;
        while self.peek().is_ascii_digit() {
            let digit = usize::from(self.next() - b'0');
            number = Some(number.unwrap_or(0usize).saturating_mul(10).saturating_add(digit));
        }
        number
    }

    fn size(&mut self) -> Size {
        match self.peek() {
            b'h' => {
                self.next();
                if self.take(b'h') { Size::Char } else { Size::Short }
            }
            b'l' => {
                self.next();
                self.take(b'l');
                Size::Long
            }
            b'q' | b'j' | b'z' | b't' | b'Z' => {
                self.next();
                Size::Long
            }
            b'L' => {
                self.next();
                Size::LongDouble
            }
            _ => Size::None,
        }
    }
}

/// # Safety
/// A string, or valid for `limit` characters; or null.
unsafe fn text(m: Model, text: *const c_char, limit: Option<usize>, wide: bool) {
    if text.is_null() {
        return;
    }
    let limit = limit.unwrap_or(usize::MAX);
    // SAFETY: the caller's promise.
    unsafe {
        if wide {
            // How many characters make so many bytes is not known.
            if limit == usize::MAX {
                let text = text.cast::<wchar_t>();
                m.read_wide(text, libc::wcslen(text) + 1);
            }
        } else {
            let len = libc::strnlen(text, limit);
            m.read(text, (len.saturating_add(1)).min(limit));
        }
    }
}

/// Tells what `printf` reads: the format and strings. And `%n` is written, but that is what the function does last.
///
/// # Safety
/// A format and its arguments.
pub unsafe fn print(m: Model, form: *const c_char, mut list: List) {
    // SAFETY: the caller's promise.
    unsafe { m.text(form) };
    let mut reader = Reader { at: form.cast() };
    while reader.find() {
        // Flags may begin with 0, which belongs to no number.
        while b"-+ #0'I".contains(&reader.peek()) && reader.peek() != 0 {
            reader.next();
        }
        if reader.take(b'*') {
            // SAFETY: as above: one argument each, here and below.
            unsafe { list.word() };
        } else {
            reader.number();
        }
        // Arguments by number.
        if reader.peek() == b'$' {
            return;
        }
        let mut precision = None;
        if reader.take(b'.') {
            precision = if reader.take(b'*') {
                // SAFETY: as above.
                let given = unsafe { list.word() } as usize as c_int;
                usize::try_from(given).ok()
            } else {
                Some(reader.number().unwrap_or(0))
            };
        }
        let size = reader.size();
        match reader.next() {
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'c' | b'C' | b'p' | b'b' | b'B' => {
                // SAFETY: as above.
                unsafe { list.word() };
            }
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => {
                if size == Size::LongDouble {
                    list.skip_long_double();
                } else {
                    list.skip_double();
                }
            }
            letter @ (b's' | b'S') => {
                let wide = letter == b'S' || size == Size::Long;
                // SAFETY: as above; the argument is a string.
                unsafe { text(m, list.word().cast(), precision, wide) };
            }
            b'n' => {
                // SAFETY: as above.
                m.write(unsafe { list.word() }, size.integer());
            }
            b'm' | b'%' => {}
            // Not known, so neither are the arguments behind it.
            _ => return,
        }
    }
}

/// Tells what `scanf` wrote when it assigned `assigned` values.
///
/// # Safety
/// A format and its arguments, as the function has left them.
pub unsafe fn scan(m: Model, form: *const c_char, mut list: List, assigned: c_int) {
    let mut left = assigned.max(0);
    let mut reader = Reader { at: form.cast() };
    while left > 0 && reader.find() {
        let ignored = reader.take(b'*');
        let width = reader.number();
        if reader.peek() == b'$' {
            return;
        }
        let made = reader.take(b'm');
        let size = reader.size();
        let letter = reader.next();
        if letter == b'%' {
            continue;
        }
        if letter == b'[' {
            skip_set(&mut reader);
        }
        if ignored {
            continue;
        }
        // SAFETY: one argument for each conversion that is not ignored: an address.
        let to = unsafe { list.word() };
        let wide = size == Size::Long || matches!(letter, b'S' | b'C');
        let len = match letter {
            _ if made => 8,
            // Something behind it was assigned, so it was.
            b'd' | b'i' | b'o' | b'u' | b'x' | b'X' | b'n' => size.integer(),
            b'p' => 8,
            b'e' | b'E' | b'f' | b'F' | b'g' | b'G' | b'a' | b'A' => match size {
                Size::LongDouble => 16,
                Size::Long => 8,
                _ => 4,
            },
            b'c' | b'C' => width.unwrap_or(1) * if wide { size_of::<wchar_t>() } else { 1 },
            // SAFETY: it has been made a string.
            b's' | b'S' | b'[' if wide => unsafe { (libc::wcslen(to.cast()) + 1) * size_of::<wchar_t>() },
            // SAFETY: as above.
            b's' | b'[' => unsafe { libc::strlen(to.cast()) + 1 },
            _ => return,
        };
        m.write(to, len);
        if letter != b'n' {
            left -= 1;
        }
    }
}

/// Goes behind a set of characters; a `]` at its start belongs to it.
fn skip_set(reader: &mut Reader) {
    reader.take(b'^');
    reader.take(b']');
    while !matches!(reader.next(), 0 | b']') {}
}
