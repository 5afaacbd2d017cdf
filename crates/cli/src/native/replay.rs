//! What a recorded run has in memory, as far as its records say.
//!
//! Not every write is recorded: a local whose address goes no further than to a function that is called, padding, what the kernel and
//! libraries write out of sight. A read of such bytes is told without its value: no write of the trace explains it.

use std::collections::HashMap;

const PAGE: usize = 4096;

/// Bytes of memory by page, and which of them are known.
#[derive(Default)]
pub struct Memory {
    pages: HashMap<u64, Box<Page>>,
}

struct Page {
    bytes: [u8; PAGE],
    known: [u64; PAGE / 64],
}

impl Memory {
    fn page(&mut self, addr: u64) -> (&mut Page, usize) {
        let page = self.pages.entry(addr / PAGE as u64).or_insert_with(|| {
            Box::new(Page {
                bytes: [0; PAGE],
                known: [0; PAGE / 64],
            })
        });
        (page, addr as usize % PAGE)
    }

    /// Bytes are written, or shown by a read. Whether those that were known before are the same.
    pub fn set(&mut self, addr: u64, size: u32, value: u64) -> bool {
        let mut same = true;
        let (mut page, mut at) = self.page(addr);
        for (n, byte) in (0..u64::from(size)).zip(value.to_le_bytes()) {
            if at == PAGE {
                (page, at) = self.page(addr.wrapping_add(n));
            }
            let (word, bit) = (at / 64, 1u64 << (at % 64));
            same &= page.known[word] & bit == 0 || page.bytes[at] == byte;
            page.bytes[at] = byte;
            page.known[word] |= bit;
            at += 1;
        }
        same
    }

    /// Nothing is known of these bytes any more.
    pub fn forget(&mut self, addr: u64, len: u64) {
        let end = addr.saturating_add(len);
        if len / PAGE as u64 > self.pages.len() as u64 {
            self.pages.retain(|page, _| {
                let start = page * PAGE as u64;
                start < addr || start + PAGE as u64 > end
            });
        }
        let mut at = addr;
        while at < end {
            let (number, offset) = (at / PAGE as u64, at as usize % PAGE);
            let stop = (PAGE as u64 - offset as u64).min(end - at) as usize + offset;
            if stop - offset == PAGE {
                self.pages.remove(&number);
            } else if let Some(page) = self.pages.get_mut(&number) {
                for byte in offset..stop {
                    page.known[byte / 64] &= !(1 << (byte % 64));
                }
            }
            at += (stop - offset) as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_known_byte_by_byte_until_it_is_forgotten() {
        let mut memory = Memory::default();
        let edge = 3 * PAGE as u64 - 2;
        assert!(memory.set(edge, 4, 0x0403_0201), "nothing was known");
        assert!(memory.set(edge, 4, 0x0403_0201));
        assert!(memory.set(edge + 1, 2, 0x0302));
        assert!(!memory.set(edge + 3, 1, 9));
        assert!(memory.set(edge + 3, 1, 9), "the last one counts");
        memory.forget(edge + 3, 1);
        assert!(memory.set(edge + 3, 1, 7));
        for len in [3, 2 * PAGE as u64, 1 << 30] {
            memory.set(edge, 4, 1);
            memory.forget(edge, len);
            assert!(memory.set(edge, 2, 2), "{len}");
        }
        assert!(memory.set(edge + 2, 2, 5));
    }
}
