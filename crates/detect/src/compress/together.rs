//! What is committed together.
//!
//! Within a span the thread's clock stands still, so the order in which its accesses are checked does not matter, and
//! an access to an element is redundant after another one of the same kind, or after a write. Footprints of several
//! statements are therefore united before they are committed, and the array's mode only has to fit the union: the
//! statements of an unrolled loop, of a stencil or of `a[i] = a[i] + 1` do not break up an array that is swept.

use super::footprint::Footprint;
use super::pending::{InFlight, Statement};
use super::weave::Weaves;
use deadheat_event::{AccessKind, SiteId};

struct Group {
    as_one: InFlight,
    parts: Vec<(Footprint, SiteId)>,
}

/// Replaces the entries by fewer that cover the same elements, writes first, with locations for the detector.
pub fn together(entries: &mut Vec<InFlight>, weaves: &mut Weaves) {
    if entries.len() > 1 {
        drop_covered(entries);
    }
    if let [entry] = &mut entries[..] {
        entry.by.site = weaves.plain(entry.by.site);
        return;
    }
    let mut groups: Vec<Group> = entries
        .drain(..)
        .map(|entry| Group {
            as_one: entry,
            parts: vec![(entry.fp, entry.by.site)],
        })
        .collect();
    groups.sort_by_key(|group| group.as_one.by.kind == AccessKind::Read);
    while unite_pair(&mut groups) || unite_woven(&mut groups) {}
    for Group { as_one, parts } in groups {
        let located = |fp, site| InFlight::new(fp, Statement { site, ..as_one.by });
        match weaves.of(parts.clone()) {
            Some(site) => entries.push(located(as_one.fp, site)),
            None => entries.extend(
                parts
                    .into_iter()
                    .map(|(fp, site)| located(fp, weaves.plain(site))),
            ),
        }
    }
}

/// Drops entries whose elements are all in another entry that is checked at least as strictly.
fn drop_covered(entries: &mut Vec<InFlight>) {
    let mut place = 0;
    while place < entries.len() {
        let entry = entries[place];
        let covered = entries.iter().enumerate().any(|(other_place, other)| {
            let (mine, theirs) = (entry.by, other.by);
            let stricter = theirs.kind == AccessKind::Write && mine.kind == AccessKind::Read;
            let comparable = mine.atomic == theirs.atomic && (stricter || mine.kind == theirs.kind);
            // Of two that are equal the first stays.
            let twin = mine.kind == theirs.kind && entry.fp == other.fp && place <= other_place;
            comparable && !twin && entry.fp.within(other.fp)
        });
        if covered {
            entries.remove(place);
        } else {
            place += 1;
        }
    }
}

fn alike(a: &Group, b: &Group) -> bool {
    a.as_one.by.kind == b.as_one.by.kind && a.as_one.by.atomic == b.as_one.by.atomic
}

/// Unites two groups that are one footprint together.
fn unite_pair(groups: &mut Vec<Group>) -> bool {
    for i in 0..groups.len() {
        for j in i + 1..groups.len() {
            if alike(&groups[i], &groups[j])
                && let Some(sum) = groups[i].as_one.fp.union(groups[j].as_one.fp)
            {
                let other = groups.remove(j);
                groups[i].as_one.fp = sum;
                groups[i].parts.extend(other.parts);
                return true;
            }
        }
    }
    false
}

/// Unites all groups of one stride, if they interleave without gaps.
fn unite_woven(groups: &mut Vec<Group>) -> bool {
    for i in 0..groups.len() {
        let k = groups[i].as_one.fp.stride();
        if k == 1 {
            continue;
        }
        let mut places: Vec<usize> = (i..groups.len())
            .filter(|j| groups[*j].as_one.fp.stride() == k && alike(&groups[i], &groups[*j]))
            .collect();
        places.sort_by_key(|place| groups[*place].as_one.fp.first());
        let fps: Vec<Footprint> = places.iter().map(|place| groups[*place].as_one.fp).collect();
        if let Some(sum) = Footprint::weave(&fps) {
            let mut parts = Vec::new();
            for place in &places {
                parts.append(&mut groups[*place].parts);
            }
            groups[i].as_one.fp = sum;
            groups[i].parts = parts;
            let mut place = 0;
            groups.retain(|_| {
                place += 1;
                place - 1 == i || !places.contains(&(place - 1))
            });
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn entry((b, e, k): (u64, u64, u64), kind: AccessKind, site: u32) -> InFlight {
        let by = Statement {
            site: SiteId(site),
            kind,
            atomic: false,
        };
        InFlight::new(Footprint::new(b, e, k).expect("small"), by)
    }

    fn check(entries: &[InFlight], expected: &[((u64, u64, u64), AccessKind)]) {
        let mut united = entries.to_vec();
        together(&mut united, &mut Weaves::default());
        let united: Vec<_> = united
            .iter()
            .map(|e| ((e.fp.first(), e.fp.last(), e.fp.stride()), e.by.kind))
            .collect();
        assert_eq!(united, expected);
    }

    const R: AccessKind = AccessKind::Read;
    const W: AccessKind = AccessKind::Write;

    #[test]
    fn statements_of_one_sweep_are_committed_as_one() {
        // a[i] = a[i] + 1
        check(
            &[entry((0, 9, 1), R, 1), entry((0, 9, 1), W, 2)],
            &[((0, 9, 1), W)],
        );
        // a[i] = 0; a[i + 1] = 0; a[i + 2] = 0, three at a time
        let unrolled = [
            entry((0, 9, 3), W, 1),
            entry((1, 7, 3), W, 2),
            entry((2, 8, 3), W, 3),
        ];
        check(&unrolled, &[((0, 9, 1), W)]);
        // two at a time, and the rest
        let rest = [
            entry((0, 6, 2), W, 1),
            entry((1, 7, 2), W, 2),
            entry((8, 8, 1), W, 3),
        ];
        check(&rest, &[((0, 8, 1), W)]);
        // a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3
        let stencil = [
            entry((0, 7, 1), R, 1),
            entry((1, 8, 1), R, 2),
            entry((2, 9, 1), R, 3),
            entry((1, 8, 1), W, 4),
        ];
        check(&stencil, &[((1, 8, 1), W), ((0, 9, 1), R)]);
        // A write under a read is still a write.
        check(
            &[entry((0, 9, 1), R, 1), entry((0, 8, 2), W, 2)],
            &[((0, 8, 2), W), ((0, 9, 1), R)],
        );
        // x and z of an array of points
        let points = [entry((0, 9, 3), W, 1), entry((2, 8, 3), W, 2)];
        check(&points, &[((0, 9, 3), W), ((2, 8, 3), W)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn no_element_is_lost_or_added_and_each_keeps_a_statement_that_touched_it(
            raw in prop::collection::vec(((0u64..12, 0u64..12, 1u64..5), any::<bool>(), 0u32..6), 1..10)
        ) {
            let entries: Vec<InFlight> = raw
                .into_iter()
                .map(|((b, len, k), write, site)| {
                    // Some statements have locations in the range of the made up ones.
                    let site = if site == 5 { u32::MAX } else { site };
                    entry((b, b + len * k, k), if write { W } else { R }, site)
                })
                .collect();
            let mut weaves = Weaves::default();
            let mut united = entries.clone();
            together(&mut united, &mut weaves);

            let mut touched: BTreeMap<(u64, AccessKind), BTreeSet<u32>> = BTreeMap::new();
            for entry in &entries {
                for index in entry.fp.iter() {
                    touched.entry((index, entry.by.kind)).or_default().insert(entry.by.site.0);
                }
            }
            let mut checked: BTreeSet<(u64, AccessKind)> = BTreeSet::new();
            for entry in &united {
                for index in entry.fp.iter() {
                    let statements = touched.get(&(index, entry.by.kind));
                    prop_assert!(statements.is_some(), "{index} was not touched");
                    let site = weaves.resolve(entry.by.site, index);
                    prop_assert!(statements.is_some_and(|s| s.contains(&site.0)), "{index} not by {site}");
                    checked.insert((index, entry.by.kind));
                }
            }
            for (index, kind) in touched.keys() {
                prop_assert!(checked.contains(&(*index, *kind)) || checked.contains(&(*index, W)));
            }
        }
    }
}
