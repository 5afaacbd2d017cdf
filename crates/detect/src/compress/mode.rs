//! Compression modes: how the elements of an array share states (SHRINKWRAP §3.2, Figures 4.5 and 4.6, §5.1).
//!
//! A mode is a partition of the indices `0..n`. This module is arithmetic only; the states are in
//! [`array`](super::array).
//!
//! Deviations: the algorithmic compatibility M ⊢ fp as printed is narrower than the semantic one (it has no rule for
//! FINE and a stride, or for STRIDE d and a footprint of stride k that divides d), so Lemma 4.3 does not hold for it;
//! the one here is equal to M ⊨ fp, tested exhaustively. SPLIT has up to [`MAX_PARTS`] parts instead of three, so that
//! an array divided unevenly among threads, a stencil or an array that grows stays compressed.

use super::footprint::Footprint;

/// The most parts of a SPLIT.
pub const MAX_PARTS: usize = 64;

/// A partition of an array's indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One class.
    Coarse,
    /// Classes of so many neighbours; the last one may be shorter.
    Block(u64),
    /// Classes of indices that are equal modulo this.
    Stride(u64),
    /// Contiguous parts of any length. The cuts are the first indices of all parts but the first, ascending.
    Split(Box<[u64]>),
    /// Each index is a class.
    Fine,
}

impl Mode {
    /// The names of the modes, in the order of [`Mode::kind`].
    pub const NAMES: [&'static str; 5] = ["coarse", "block", "stride", "split", "fine"];

    /// A number from 0 to 4 that tells modes from each other whatever their parameters.
    pub fn kind(&self) -> usize {
        match self {
            Mode::Coarse => 0,
            Mode::Block(_) => 1,
            Mode::Stride(_) => 2,
            Mode::Split(_) => 3,
            Mode::Fine => 4,
        }
    }

    /// γ: the class of an index.
    #[inline]
    pub fn class(&self, index: u64) -> u64 {
        match self {
            Mode::Coarse => 0,
            Mode::Block(d) => index / d,
            Mode::Stride(d) => index % d,
            Mode::Split(cuts) => cuts.partition_point(|cut| *cut <= index) as u64,
            Mode::Fine => index,
        }
    }

    /// How many classes an array of `n` elements has (at least one, so that an empty array has a state to grow from).
    pub fn classes(&self, n: u64) -> u64 {
        match self {
            Mode::Coarse => 1,
            Mode::Block(d) => n.div_ceil(*d).max(1),
            Mode::Stride(d) => (*d).min(n).max(1),
            Mode::Split(cuts) => cuts.len() as u64 + 1,
            Mode::Fine => n,
        }
    }

    /// The indices of a class in an array of `n` elements.
    pub fn extent(&self, class: u64, n: u64) -> Footprint {
        let last = n.saturating_sub(1);
        let (b, e, k) = match self {
            Mode::Coarse => (0, last, 1),
            Mode::Block(d) => (class * d, (class * d + d - 1).min(last), 1),
            Mode::Stride(d) => (class, last, *d),
            Mode::Split(cuts) => {
                let class = class as usize;
                let b = class.checked_sub(1).map_or(0, |before| cuts[before]);
                (b, cuts.get(class).map_or(last, |cut| cut - 1), 1)
            }
            Mode::Fine => (class, class, 1),
        };
        Footprint::new(b, e, k).unwrap_or(Footprint::EMPTY)
    }

    /// M ⊢ fp: whether the footprint is a union of classes. It is not empty, and within `n`.
    pub fn fits(&self, fp: Footprint, n: u64) -> bool {
        let (b, e, k) = (fp.first(), fp.last(), fp.stride());
        match self {
            Mode::Coarse => k == 1 && b == 0 && e + 1 == n,
            Mode::Block(1) | Mode::Fine => true,
            Mode::Block(d) => k == 1 && b.is_multiple_of(*d) && ((e + 1).is_multiple_of(*d) || e + 1 == n),
            Mode::Stride(d) => {
                let alone = e < *d && b + d >= n;
                let whole = d.is_multiple_of(k) && b < k && e + k >= n;
                alone || whole
            }
            Mode::Split(cuts) => {
                let starts = |index| index == 0 || cuts.binary_search(&index).is_ok();
                let ends = |index| index + 1 == n || cuts.binary_search(&(index + 1)).is_ok();
                if k == 1 {
                    starts(b) && ends(e)
                } else {
                    fp.len() <= cuts.len() as u64 + 1 && fp.iter().all(|index| starts(index) && ends(index))
                }
            }
        }
    }

    /// ρ: calls `visit` for each class of a footprint that fits.
    #[inline]
    pub fn visit(&self, fp: Footprint, mut visit: impl FnMut(u64)) {
        let (b, e, k) = (fp.first(), fp.last(), fp.stride());
        match self {
            Mode::Coarse => visit(0),
            Mode::Block(1) | Mode::Fine => fp.iter().for_each(visit),
            Mode::Block(d) => (b / d..=e / d).for_each(visit),
            Mode::Stride(d) => {
                let last = e.min(d - 1);
                let steps = (last - b) / k;
                (0..=steps).for_each(|i| visit(b + i * k));
            }
            Mode::Split(_) if k == 1 => (self.class(b)..=self.class(e)).for_each(visit),
            Mode::Split(_) => fp.iter().for_each(|index| visit(self.class(index))),
        }
    }
}

/// A mode that refines `mode` and fits `fp`, preferably one with few classes (§3.3, Figure 3.4, §5.1).
///
/// Deviations: from COARSE and BLOCK d, BLOCK e is taken only for few blocks, because the first two elements of a large
/// array do not show a pattern of pairs; SPLIT waits for more evidence and becomes a BLOCK when it is full. A few
/// scattered elements are split off one by one. `budget` bounds the number of states.
pub fn refine(mode: &Mode, fp: Footprint, n: u64, budget: u64) -> Mode {
    if mode.fits(fp, n) {
        return mode.clone();
    }
    let next = match mode {
        Mode::Stride(d) => refine_stride(*d, fp, n, budget),
        Mode::Coarse if fp.stride() > 1 => refine_stride(1, fp, n, budget),
        _ => None,
    }
    .or_else(|| refine_blocks(mode, fp, n, budget))
    .unwrap_or(Mode::Fine);
    debug_assert!(next.fits(fp, n));
    next
}

/// Whether an array in STRIDE `d` has few enough states, or large enough classes.
fn stride_pays(d: u64, n: u64, budget: u64) -> bool {
    d <= MAX_PARTS as u64 || (n / d >= 16 && d <= budget)
}

fn refine_stride(d: u64, fp: Footprint, n: u64, budget: u64) -> Option<Mode> {
    let k = fp.stride();
    let whole = fp.first() < k && fp.last() + k >= n && fp.len() > 1;
    let lcm = (d / gcd(d, k)).checked_mul(k)?;
    (whole && stride_pays(lcm, n, budget)).then_some(Mode::Stride(lcm))
}

fn refine_blocks(mode: &Mode, fp: Footprint, n: u64, budget: u64) -> Option<Mode> {
    let (b, e) = (fp.first(), fp.last());
    if fp.stride() > 1 {
        return isolate(mode, fp, n);
    }
    let len = fp.len();
    let (parts, divides) = match mode {
        Mode::Coarse => (vec![], true),
        Mode::Block(d) => (cuts_of_blocks(*d, n), d.is_multiple_of(len)),
        Mode::Split(cuts) => (cuts.to_vec(), false),
        Mode::Stride(_) | Mode::Fine => return None,
    };
    if divides && len > 1 && b.is_multiple_of(len) && n.div_ceil(len) <= MAX_PARTS as u64 {
        return Some(Mode::Block(len));
    }
    let cuts = with_cuts(parts, [b, e + 1], n);
    if cuts.len() < MAX_PARTS {
        return Some(Mode::Split(cuts.into()));
    }
    let d = cuts.iter().fold(0, |d, cut| gcd(d, *cut));
    let pays = d >= 8 && n.div_ceil(d) <= budget;
    pays.then_some(Mode::Block(d))
}

/// Splits off each index of a short footprint.
fn isolate(mode: &Mode, fp: Footprint, n: u64) -> Option<Mode> {
    if fp.len() > 4 {
        return None;
    }
    let parts = match mode {
        Mode::Coarse => vec![],
        Mode::Block(d) if n.div_ceil(*d) <= MAX_PARTS as u64 => cuts_of_blocks(*d, n),
        Mode::Split(cuts) => cuts.to_vec(),
        _ => return None,
    };
    let cuts = with_cuts(parts, fp.iter().flat_map(|index| [index, index + 1]), n);
    (cuts.len() < MAX_PARTS).then(|| Mode::Split(cuts.into()))
}

/// The cuts of BLOCK `d`, or as many as are too many for a SPLIT: enough to find a common divisor.
fn cuts_of_blocks(d: u64, n: u64) -> Vec<u64> {
    let blocks = n.div_ceil(d).min(MAX_PARTS as u64 + 1);
    (1..blocks).map(|block| block * d).collect()
}

fn with_cuts(mut parts: Vec<u64>, cuts: impl IntoIterator<Item = u64>, n: u64) -> Vec<u64> {
    for cut in cuts {
        if cut > 0
            && cut < n
            && let Err(place) = parts.binary_search(&cut)
        {
            parts.insert(place, cut);
        }
    }
    parts
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// M ⊨ fp: indices of one class are all in the footprint or all out of it.
    fn models(mode: &Mode, fp: Footprint, n: u64) -> bool {
        (0..n).all(|i| (0..n).all(|j| mode.class(i) != mode.class(j) || fp.contains(i) == fp.contains(j)))
    }

    fn modes(n: u64) -> Vec<Mode> {
        let mut modes = vec![Mode::Coarse, Mode::Fine];
        for d in 1..=n + 1 {
            modes.extend([Mode::Block(d), Mode::Stride(d)]);
        }
        for set in 1u32..1 << (n - 1) {
            let cuts: Vec<u64> = (1..n).filter(|cut| set >> (cut - 1) & 1 == 1).collect();
            modes.push(Mode::Split(cuts.into()));
        }
        modes
    }

    fn footprints(n: u64) -> BTreeSet<(u64, u64, u64)> {
        let mut all = BTreeSet::new();
        for b in 0..n {
            for e in b..n {
                for k in 1..=n {
                    let fp = Footprint::new(b, e, k).expect("small");
                    all.insert((fp.first(), fp.last(), fp.stride()));
                }
            }
        }
        all
    }

    fn each(max: u64, mut check: impl FnMut(&Mode, Footprint, u64)) {
        for n in 1..=max {
            for mode in modes(n) {
                for (b, e, k) in footprints(n) {
                    check(&mode, Footprint::new(b, e, k).expect("small"), n);
                }
            }
        }
    }

    #[test]
    fn algorithmic_compatibility_is_the_semantic_one() {
        each(11, |mode, fp, n| {
            assert_eq!(mode.fits(fp, n), models(mode, fp, n), "{mode:?} {fp:?} of {n}");
        });
    }

    #[test]
    fn rho_is_the_image_of_gamma_and_extents_are_its_preimages() {
        each(10, |mode, fp, n| {
            for index in fp.iter() {
                assert!(mode.extent(mode.class(index), n).contains(index));
                assert!(mode.class(index) < mode.classes(n));
            }
            if mode.fits(fp, n) {
                let mut classes = Vec::new();
                mode.visit(fp, |class| classes.push(class));
                let image: BTreeSet<u64> = fp.iter().map(|index| mode.class(index)).collect();
                assert_eq!(
                    classes.len(),
                    image.len(),
                    "each class once: {mode:?} {fp:?} of {n}"
                );
                assert_eq!(classes.into_iter().collect::<BTreeSet<_>>(), image);
                let covered: BTreeSet<u64> = image
                    .iter()
                    .flat_map(|class| mode.extent(*class, n).iter())
                    .collect();
                assert_eq!(covered, fp.iter().collect::<BTreeSet<_>>());
            }
        });
    }

    #[test]
    fn the_printed_rules_reject_footprints_that_are_unions_of_classes() {
        let fp = |b, e, k| Footprint::new(b, e, k).expect("small");
        // [BLOCK ALGO COMPAT] asks for stride 1, which contradicts Lemma 4.4 for FINE = BLOCK 1.
        assert!(models(&Mode::Block(1), fp(0, 6, 2), 8));
        // [STRIDE ALGO COMPAT] asks for k = d, yet these are the classes 0 and 2 of STRIDE 4.
        assert!(models(&Mode::Stride(4), fp(0, 6, 2), 8));
    }

    #[test]
    fn a_refined_mode_refines_and_fits() {
        each(9, |mode, fp, n| {
            for budget in [4, 1 << 20] {
                let next = refine(mode, fp, n, budget);
                assert!(next.fits(fp, n), "{mode:?} {fp:?} of {n}: {next:?}");
                for i in 0..n {
                    for j in 0..i {
                        assert!(next.class(i) != next.class(j) || mode.class(i) == mode.class(j));
                    }
                }
            }
        });
    }

    #[test]
    fn large_arrays_get_few_classes() {
        let fp = |b, e, k| Footprint::new(b, e, k).expect("in bounds");
        let check = |mode: &Mode, fp, n, expected: Mode| {
            assert_eq!(refine(mode, fp, n, 1 << 20), expected, "{mode:?} {fp:?} of {n}");
        };
        let million = 1_000_000;
        check(&Mode::Coarse, fp(0, 249_999, 1), million, Mode::Block(250_000));
        // An uneven division, and a footprint too small to be taken for a block pattern.
        check(
            &Mode::Coarse,
            fp(250_000, 500_001, 1),
            million,
            Mode::Split([250_000, 500_002].into()),
        );
        check(&Mode::Coarse, fp(0, 1, 1), million, Mode::Split([2].into()));
        check(
            &Mode::Block(250_000),
            fp(1, 249_999, 1),
            million,
            Mode::Split([1, 250_000, 500_000, 750_000].into()),
        );
        // The columns of a matrix, but not two elements that are far apart.
        check(&Mode::Coarse, fp(7, 999_007, 1000), million, Mode::Stride(1000));
        check(
            &Mode::Coarse,
            fp(7, 700_007, 700_000),
            million,
            Mode::Split([7, 8, 700_007, 700_008].into()),
        );
        // A full SPLIT of rows becomes a BLOCK, one of nothing in particular FINE.
        let rows: Vec<u64> = (1..64).map(|row| row * 1000).collect();
        check(
            &Mode::Split(rows.clone().into()),
            fp(64_000, 64_999, 1),
            million,
            Mode::Block(1000),
        );
        check(
            &Mode::Split(rows.into()),
            fp(64_001, 64_999, 1),
            million,
            Mode::Fine,
        );
        check(&Mode::Coarse, fp(0, 30, 3), 1 << 40, Mode::Fine);
    }
}
