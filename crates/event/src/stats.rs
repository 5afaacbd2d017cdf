//! Counters: what the tables of the documents count.

/// What an analysis did and what it costs. Filled by the driver, the layers and the detector, each its own part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Events seen.
    pub events: u64,
    /// Plain and atomic reads seen (an array range counts once).
    pub reads: u64,
    /// Plain and atomic writes seen (an array range counts once).
    pub writes: u64,
    /// Array elements that those accesses named.
    pub elements: u64,
    /// Lock acquires and releases.
    pub locks: u64,
    /// Atomic accesses and fences.
    pub atomics: u64,
    /// Forks, joins, begins and ends.
    pub threads: u64,
    /// Barriers, sends, receives, allocations, frees, calls out.
    pub others: u64,
    /// Accesses that a filter dropped.
    pub filtered: u64,
    /// Reads that a same-epoch or first-in-frame test answered without a race check.
    pub same_epoch_reads: u64,
    /// Writes that a same-epoch or first-in-frame test answered without a race check.
    pub same_epoch_writes: u64,
    /// Race checks made on a shadow state.
    pub race_checks: u64,
    /// Orderings that a Goldilocks short-circuit (same owner, same lock) showed without a lockset.
    pub short_circuits: u64,
    /// Operations on whole vector clocks (join, copy, compare), or lockset rules applied.
    pub clock_ops: u64,
    /// Vector clocks or locksets allocated.
    pub clock_allocs: u64,
    /// Shadow states alive at the end.
    pub shadow_states: u64,
    /// The most shadow states alive at once, where the driver or layer tracks it.
    pub shadow_states_peak: u64,
    /// Bytes of analysis state at the end.
    pub bytes: u64,
    /// Footprint commits made by the array compression.
    pub commits: u64,
    /// Changes of an array's mode.
    pub mode_changes: u64,
}

impl Stats {
    /// Adds another part's counters to these.
    pub fn merge(&mut self, other: &Stats) {
        for (name, value) in other.fields() {
            *self.field_mut(name) += value;
        }
    }
}

macro_rules! fields {
    ($($name:ident),* $(,)?) => {
        impl Stats {
            /// Every counter with its name, in the order of declaration.
            pub fn fields(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }

            fn field_mut(&mut self, name: &str) -> &mut u64 {
                match name {
                    $(stringify!($name) => &mut self.$name,)*
                    _ => unreachable!("fields() and field_mut() list the same names"),
                }
            }
        }
    };
}

fields!(
    events,
    reads,
    writes,
    elements,
    locks,
    atomics,
    threads,
    others,
    filtered,
    same_epoch_reads,
    same_epoch_writes,
    race_checks,
    short_circuits,
    clock_ops,
    clock_allocs,
    shadow_states,
    shadow_states_peak,
    bytes,
    commits,
    mode_changes,
);
