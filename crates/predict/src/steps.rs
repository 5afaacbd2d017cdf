//! The few events of a schedule that people want to see.

use crate::footprint::Footprint;
use crate::graph::{Graph, Id};
use rustc_hash::{FxHashMap, FxHashSet};

/// The most events shown of a schedule.
const MOST: usize = 40;
/// Events in front of each racing access that are shown whatever they are.
const NEAR: usize = 3;

/// Picks, in the order of the schedule: synchronisation and calls, accesses to what the race is on, reads that see what another thread
/// wrote and those writes, and what its thread did just before a racing access. If that is still too much, the last of it.
pub fn pick(graph: &Graph<'_>, schedule: &[Id]) -> Vec<Id> {
    let [prefix @ .., a, b] = schedule else {
        return Vec::new();
    };
    let mut shown: FxHashSet<Id> = FxHashSet::default();
    for &racing in [a, b] {
        let slot = graph.slot[racing as usize] as usize;
        let pos = graph.pos[racing as usize] as usize;
        shown.extend(&graph.threads[slot][pos.saturating_sub(NEAR)..=pos]);
    }
    let racing = cells(graph, *a);
    let mut last: FxHashMap<u32, Id> = FxHashMap::default();
    for &event in prefix {
        let touched = cells(graph, event);
        if !touched.is_disjoint(&racing) || Footprint::of(&graph.events[event as usize].op).is_none() {
            shown.insert(event);
        }
        for read in graph.reads.get(event) {
            if let Some(&writer) = last.get(&read.cell)
                && graph.slot[writer as usize] != graph.slot[event as usize]
            {
                shown.extend([writer, event]);
            }
        }
        for write in graph.writes.get(event) {
            last.insert(write.cell, event);
        }
    }
    let picked: Vec<Id> = schedule
        .iter()
        .copied()
        .filter(|event| shown.contains(event))
        .collect();
    picked[picked.len().saturating_sub(MOST)..].to_vec()
}

fn cells(graph: &Graph<'_>, event: Id) -> FxHashSet<u32> {
    let reads = graph.reads.get(event).iter().map(|read| read.cell);
    reads
        .chain(graph.writes.get(event).iter().map(|write| write.cell))
        .collect()
}
