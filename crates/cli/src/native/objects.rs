//! Objects that missing calls reach, cut so that any two are equal or apart, as a trace has them.
//!
//! A variable is part of its module's data, and some calls reach the one, some the other. What overlaps objects that were told
//! before is told as those, whole, and what is left between them.

use deadheat_event::{Addr, Object};
use std::collections::BTreeMap;

/// Objects that were told: length by first byte.
#[derive(Default)]
pub struct Known(BTreeMap<u64, u64>);

impl Known {
    /// The objects to tell instead.
    pub fn cut(&mut self, objects: &[Object]) -> Vec<Object> {
        let mut all = Vec::with_capacity(objects.len());
        for object in objects {
            let (mut at, end) = (object.addr.0, object.addr.0.saturating_add(object.size.into()));
            if self.0.get(&at) == Some(&(end - at)) {
                all.push((at, end - at));
                continue;
            }
            for (start, len) in self.overlapping(at, end) {
                if at < start {
                    all.push((at, start - at));
                }
                all.push((start, len));
                at = start + len;
            }
            if at < end {
                all.push((at, end - at));
            }
            self.0.extend(all.iter().copied());
        }
        all.sort_unstable();
        all.dedup();
        let object = |(addr, len): (u64, u64)| Object {
            addr: Addr(addr),
            size: u32::try_from(len).unwrap_or(u32::MAX),
        };
        all.into_iter().map(object).collect()
    }

    fn overlapping(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let before = self.0.range(..start).next_back();
        let before = before.filter(|(at, len)| **at + **len > start);
        let within = self.0.range(start..end.max(start));
        let all = before.into_iter().chain(within);
        all.map(|(at, len)| (*at, *len)).collect()
    }

    /// Memory that comes into being holds other objects.
    pub fn forget(&mut self, addr: u64, len: u64) {
        for (start, _) in self.overlapping(addr, addr.saturating_add(len)) {
            self.0.remove(&start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(known: &mut Known, objects: &[(u64, u32)]) -> Vec<(u64, u32)> {
        let object = |&(addr, size): &(u64, u32)| Object {
            addr: Addr(addr),
            size,
        };
        let objects: Vec<Object> = objects.iter().map(object).collect();
        known
            .cut(&objects)
            .iter()
            .map(|object| (object.addr.0, object.size))
            .collect()
    }

    #[test]
    fn objects_are_equal_or_apart() {
        let mut known = Known::default();
        assert_eq!(cut(&mut known, &[(100, 10)]), [(100, 10)]);
        assert_eq!(cut(&mut known, &[(100, 10), (200, 8)]), [(100, 10), (200, 8)]);
        // The data that both are in.
        let all = [(50, 50), (100, 10), (110, 90), (200, 8), (208, 42)];
        assert_eq!(cut(&mut known, &[(50, 200)]), all);
        assert_eq!(cut(&mut known, &[(50, 200), (100, 10)]), all);
        // A part of what was told as a whole.
        assert_eq!(cut(&mut known, &[(120, 8)]), [(110, 90)]);
        assert_eq!(cut(&mut known, &[(240, 20)]), [(208, 42), (250, 10)]);
        known.forget(105, 1);
        assert_eq!(cut(&mut known, &[(102, 4)]), [(102, 4)]);
    }
}
