//! Footprints ⟨b:e:k⟩: a set of array indices in constant space (SHRINKWRAP §3.3, Figures 4.3 and 4.4).
//!
//! Deviations: ranges can be added as well as single indices, as BigFoot (§4) does with its coalesced checks.

use deadheat_event::Indices;
use std::fmt;

/// The largest index that footprints and modes deal with. Beyond it, arithmetic on indices could overflow.
pub const MAX_INDEX: u64 = (1 << 48) - 1;

/// The indices `b, b + k, …, e`.
///
/// Invariant: empty is [`Footprint::EMPTY`]; otherwise `b <= e <=` [`MAX_INDEX`], `k` divides `e - b`, and a single
/// index has `k = 1`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Footprint {
    b: u64,
    e: u64,
    k: u64,
}

impl fmt::Debug for Footprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "⟨{}:{}:{}⟩", self.b, self.e, self.k)
    }
}

impl Footprint {
    /// No index.
    pub const EMPTY: Footprint = Footprint { b: 1, e: 0, k: 1 };

    /// One index.
    #[inline]
    pub fn one(index: u64) -> Footprint {
        Footprint {
            b: index,
            e: index,
            k: 1,
        }
    }

    /// From `b` to at most `e` in steps of `k`, in the normal form. `None` if `k` is 0 or `e` too large.
    pub fn new(b: u64, e: u64, k: u64) -> Option<Footprint> {
        if k == 0 || e > MAX_INDEX {
            return None;
        }
        if b > e {
            return Some(Footprint::EMPTY);
        }
        let steps = (e - b) / k;
        Some(match steps {
            0 => Footprint::one(b),
            _ => Footprint {
                b,
                e: b + steps * k,
                k,
            },
        })
    }

    /// The footprint of a range access, if it is within [`MAX_INDEX`].
    #[inline]
    pub fn of(indices: Indices) -> Option<Footprint> {
        (indices.last() <= MAX_INDEX).then(|| Footprint {
            b: indices.first(),
            e: indices.last(),
            k: u64::from(indices.stride()),
        })
    }

    /// The smallest index.
    #[inline]
    pub fn first(self) -> u64 {
        self.b
    }

    /// The largest index.
    #[inline]
    pub fn last(self) -> u64 {
        self.e
    }

    /// The distance between neighbours.
    #[inline]
    pub fn stride(self) -> u64 {
        self.k
    }

    /// Whether there is no index.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.b > self.e
    }

    /// How many indices there are.
    #[inline]
    pub fn len(self) -> u64 {
        if self.is_empty() {
            0
        } else {
            (self.e - self.b) / self.k + 1
        }
    }

    /// Whether `index` is one of them.
    #[inline]
    pub fn contains(self, index: u64) -> bool {
        self.b <= index && index <= self.e && (index - self.b).is_multiple_of(self.k)
    }

    /// All indices in ascending order.
    pub fn iter(self) -> impl Iterator<Item = u64> {
        let count = self.len();
        (0..count).map(move |i| self.b + i * self.k)
    }

    /// ⊕ for its most frequent case: the next index upwards of at least two.
    #[inline]
    pub fn step(self, index: u64) -> Option<Footprint> {
        (self.b < self.e && index == self.e + self.k).then_some(Footprint { e: index, ..self })
    }

    /// fp ⊕ i: these indices and one more, if Figure 4.4 can tell.
    #[inline]
    pub fn extend(self, index: u64) -> Option<Footprint> {
        let Footprint { b, e, k } = self;
        if b < e {
            if let Some(longer) = self.step(index) {
                return Some(longer);
            }
            if index + k == b {
                return Some(Footprint { b: index, ..self });
            }
            return self.contains(index).then_some(self);
        }
        if b > e {
            return Some(Footprint::one(index));
        }
        Some(match index.cmp(&b) {
            std::cmp::Ordering::Equal => self,
            std::cmp::Ordering::Greater => Footprint {
                b,
                e: index,
                k: index - b,
            },
            std::cmp::Ordering::Less => Footprint {
                b: index,
                e,
                k: e - index,
            },
        })
    }

    /// ⊕ for a range: these indices and those of `other` as one footprint, if it is a single index and ⊕ can tell, if
    /// one contains the other, or if both have the same stride and continue each other.
    #[inline]
    pub fn extend_by(self, other: Footprint) -> Option<Footprint> {
        if other.b == other.e {
            return self.extend(other.b);
        }
        self.union(other)
    }

    /// The union of the two, if it is a footprint and one look shows it. Unlike ⊕, two single indices only unite when
    /// they are neighbours: there is no pattern in them.
    pub fn union(self, other: Footprint) -> Option<Footprint> {
        if self.within(other) {
            return Some(other);
        }
        if other.within(self) {
            return Some(self);
        }
        let (low, high) = if self.b <= other.b {
            (self, other)
        } else {
            (other, self)
        };
        let k = match (low.b == low.e, high.b == high.e) {
            (true, true) => 1,
            (true, false) => high.k,
            (false, true) => low.k,
            (false, false) if low.k == high.k => low.k,
            (false, false) => return None,
        };
        let continues = high.b <= low.e + k && (high.b - low.b).is_multiple_of(k);
        continues.then(|| Footprint {
            b: low.b,
            e: low.e.max(high.e),
            k,
        })
    }

    /// Whether all indices are among those of `other`.
    pub fn within(self, other: Footprint) -> bool {
        self.is_empty()
            || other.contains(self.b)
                && other.contains(self.e)
                && (self.b == self.e || self.k.is_multiple_of(other.k))
    }

    /// Footprints of one stride that interleave without gaps, such as the statements of an unrolled loop make them, as
    /// one: ⟨0:6:3⟩, ⟨1:7:3⟩ and ⟨2:5:3⟩ are ⟨0:7:1⟩. `parts` must be sorted by their first index.
    pub fn weave(parts: &[Footprint]) -> Option<Footprint> {
        let (first, rest) = parts.split_first()?;
        let k = first.k;
        let ways = parts.len() as u64;
        if rest.is_empty() || k < ways || !k.is_multiple_of(ways) {
            return None;
        }
        let step = k / ways;
        let mut before = *first;
        for part in rest {
            // Each part starts one step behind the one before it, and has as many elements or one less than the first.
            let short = before.len() - part.len().min(before.len());
            if part.k != k || part.b != before.b + step || part.len() > before.len() || short > 1 {
                return None;
            }
            before = *part;
        }
        if first.len() - before.len() > 1 {
            return None;
        }
        let e = parts.iter().map(|part| part.e).max()?;
        Footprint::new(first.b, e, step)
    }

    /// The indices as ranges that a report can name.
    pub fn ranges(self) -> impl Iterator<Item = Indices> {
        let stride = u32::try_from(self.k).ok();
        // A stride that a range cannot hold is reported index by index.
        let chunk = if stride.is_some() {
            deadheat_event::MAX_RANGE
        } else {
            1
        };
        let count = self.len();
        (0..count.div_ceil(chunk)).filter_map(move |n| {
            let first = self.b + n * chunk * self.k;
            let last = self.b + ((n + 1) * chunk).min(count).saturating_sub(1) * self.k;
            Indices::new(first, last, stride.unwrap_or(1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn set(fp: Footprint) -> BTreeSet<u64> {
        fp.iter().collect()
    }

    fn small() -> impl Strategy<Value = Footprint> {
        (0u64..30, 0u64..30, 1u64..8).prop_map(|(b, e, k)| Footprint::new(b, e, k).expect("small"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn what_extend_and_union_return_is_exactly_the_union(a in small(), b in small(), i in 0u64..30) {
            if let Some(sum) = a.extend(i) {
                let mut expected = set(a);
                expected.insert(i);
                prop_assert_eq!(set(sum), expected);
            }
            for sum in [a.union(b), a.extend_by(b)].into_iter().flatten() {
                prop_assert_eq!(set(sum), &set(a) | &set(b));
            }
            prop_assert_eq!(a.within(b), set(a).is_subset(&set(b)));
        }

        #[test]
        fn what_weave_returns_is_exactly_the_union(b in 0u64..9, k in 1u64..9, shape in prop::collection::vec((0u64..6, 1u64..5), 2..6)) {
            let mut parts: Vec<Footprint> = Vec::new();
            let mut start = b;
            for (gap, len) in shape {
                start += gap;
                parts.push(Footprint::new(start, start + (len - 1) * k, k).expect("small"));
            }
            if let Some(sum) = Footprint::weave(&parts) {
                let expected: BTreeSet<u64> = parts.iter().flat_map(|p| p.iter()).collect();
                prop_assert_eq!(set(sum), expected);
            }
        }

        #[test]
        fn ranges_name_every_index_once(fp in small()) {
            let named: Vec<u64> = fp.ranges().flat_map(Indices::iter).collect();
            prop_assert_eq!(named, fp.iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn unrolled_loops_weave_into_one_sweep() {
        let fp = |b, e, k| Footprint::new(b, e, k).expect("small");
        let check = |parts: &[Footprint], expected| assert_eq!(Footprint::weave(parts), expected);
        check(&[fp(0, 8, 2), fp(1, 9, 2)], Some(fp(0, 9, 1)));
        check(&[fp(0, 6, 3), fp(1, 7, 3), fp(2, 5, 3)], Some(fp(0, 7, 1)));
        check(&[fp(0, 8, 4), fp(2, 10, 4)], Some(fp(0, 10, 2)));
        check(&[fp(0, 8, 3), fp(1, 7, 3)], None);
        check(&[fp(0, 8, 2), fp(1, 5, 2)], None);
    }

    #[test]
    fn large_strides_and_long_footprints_are_reported_in_pieces() {
        let far = Footprint::new(3, 3 + (1 << 40), 1 << 40).expect("in bounds");
        assert_eq!(
            far.ranges().map(Indices::first).collect::<Vec<_>>(),
            [3, 3 + (1 << 40)]
        );
        let long = Footprint::new(0, deadheat_event::MAX_RANGE, 1).expect("in bounds");
        assert_eq!(long.ranges().map(Indices::len).collect::<Vec<_>>(), [1 << 24, 1]);
    }
}
