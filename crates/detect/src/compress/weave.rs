//! Program locations of elements that share a state although different statements accessed them.
//!
//! A loop that is unrolled, or reads `a[i - 1]`, `a[i]` and `a[i + 1]`, sweeps one array from several statements. Their
//! footprints together are one sweep, and elements with one state for all of it, but a report must name the statement
//! that touched the element. So such a sweep is given to the detector with a location made up here, which stands for a
//! list of footprints with their real locations and is resolved for an element when a race is reported.

use super::footprint::{Footprint, MAX_INDEX};
use deadheat_event::SiteId;
use rustc_hash::FxHashMap;

/// Locations from here on are made up.
const BASE: u32 = 1 << 31;
/// Not more than this are made up: sweeps then are committed statement by statement.
const MOST: usize = 1 << 16;

/// Footprints with their real locations.
type Strands = Box<[(Footprint, SiteId)]>;

/// The locations that were made up so far.
#[derive(Debug, Default)]
pub struct Weaves {
    table: Vec<Strands>,
    index: FxHashMap<Strands, u32>,
}

impl Weaves {
    /// Whether a location has to be resolved.
    #[inline]
    pub fn is_woven(site: SiteId) -> bool {
        site.0 >= BASE
    }

    /// A location that resolves to `site` for all elements: itself, but for hostile traces.
    #[inline]
    pub fn plain(&mut self, site: SiteId) -> SiteId {
        if !Weaves::is_woven(site) {
            return site;
        }
        let all = Footprint::new(0, MAX_INDEX, 1).unwrap_or(Footprint::EMPTY);
        self.intern(vec![(all, site)]).unwrap_or_default()
    }

    /// A location that resolves to that of the first of `parts` which has the element. `None` if there are too many.
    pub fn of(&mut self, mut parts: Vec<(Footprint, SiteId)>) -> Option<SiteId> {
        if parts.iter().all(|(_, site)| *site == parts[0].1) {
            return Some(self.plain(parts[0].1));
        }
        // Interleaved statements are told apart by the remainder alone, however far their loop went.
        let k = parts[0].0.stride();
        if k > 1 && parts.iter().all(|(fp, _)| fp.stride() == k) {
            parts.sort_by_key(|(fp, _)| fp.first() % k);
            if parts.windows(2).all(|p| p[0].0.first() % k != p[1].0.first() % k) {
                for (fp, _) in &mut parts {
                    *fp = Footprint::new(fp.first() % k, MAX_INDEX, k)?;
                }
            }
        }
        self.intern(parts)
    }

    /// The real location of an element's access.
    pub fn resolve(&self, site: SiteId, index: u64) -> SiteId {
        if !Weaves::is_woven(site) {
            return site;
        }
        let parts = self.table.get((site.0 - BASE) as usize);
        let mut parts = parts.into_iter().flatten();
        // A single location holds for indices beyond all footprints too.
        parts
            .find(|(fp, _)| fp.contains(index.min(MAX_INDEX)))
            .map_or(SiteId::default(), |(_, site)| *site)
    }

    /// Bytes.
    pub fn bytes(&self) -> usize {
        let parts: usize = self.table.iter().map(|parts| parts.len()).sum();
        2 * parts * size_of::<(Footprint, SiteId)>()
            + self.table.capacity() * size_of::<Strands>()
            + self.index.capacity() * size_of::<(Strands, u32)>()
    }

    fn intern(&mut self, parts: Vec<(Footprint, SiteId)>) -> Option<SiteId> {
        let parts: Strands = parts.into();
        if let Some(place) = self.index.get(&parts) {
            return Some(SiteId(BASE + place));
        }
        if self.table.len() >= MOST {
            return None;
        }
        let place = self.table.len() as u32;
        self.table.push(parts.clone());
        self.index.insert(parts, place);
        Some(SiteId(BASE + place))
    }
}
