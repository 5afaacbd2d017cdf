//! Arrays in the real shadow: in compressed regions, and in cells. Only the threads are simulated: accesses go through
//! [`checks::touch`], regions are handed over, expanded and compressed again as they would be.

use super::{World, common, place};
use crate::owners::{self, Owner};
use crate::shadow;
use crate::summary;
use crate::thread::Thread;
use crate::{checks, heard, short};
use deadheat_detect::reference::Reference;
use deadheat_event::{AccessKind, ArrayId, Event, Indices, Op, Place, Race, Side, ThreadId};
use deadheat_trace::recipe::{Config, Trace, traces};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Once;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// How the elements of arrays lie in memory.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// From one element to the next.
    step: usize,
    /// How many bytes of it are accessed.
    size: usize,
    /// Where the array begins in its first region.
    offset: usize,
}

/// Whether, and how, regions change between cells and summaries.
#[derive(Clone, Copy, Debug)]
struct Habits {
    /// They are compressed from the beginning.
    compressed: bool,
    /// Before every so many events they are tried to be compressed again.
    again: usize,
    /// Before every so many events they get cells.
    expanded: usize,
    /// Before every so many events the shadow is given back of those of which all threads have heard.
    given_back: usize,
}

/// Where the arrays of a run are.
pub struct Arrays {
    base: usize,
    layout: Layout,
    habits: Habits,
}

/// Each array has so many regions of its own.
const ROOM: usize = 3 << owners::REGION_SHIFT;
/// All arrays together: so much that their shadow is given back in pages.
const ALL: usize = 32 << owners::REGION_SHIFT;

static NEXT: AtomicUsize = AtomicUsize::new(0);
static OWNERS: AtomicU32 = AtomicU32::new(0);

/// A name for a thread, as a real one has.
pub fn own_regions(t: &mut Thread) {
    // Names that no other test has. A thread that has the same is gone, or never in a section when this one is waited for.
    let slot = 12_000 + OWNERS.fetch_add(1, Ordering::Relaxed) % 2000;
    let inside: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(1)));
    // SAFETY: stays.
    t.owner = unsafe { Owner::new(slot, inside) };
}

impl Arrays {
    fn new(layout: Layout, habits: Habits) -> Arrays {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            shadow::reserve_once();
            owners::init();
            summary::begin();
        });
        let base = 0x0600_0000_0000 + ALL * NEXT.fetch_add(1, Ordering::Relaxed);
        Arrays { base, layout, habits }
    }

    fn addr(&self, array: ArrayId, index: u64) -> usize {
        self.base + array.0 as usize * ROOM + self.layout.offset + index as usize * self.layout.step
    }

    fn index(&self, array: ArrayId, addr: usize) -> u64 {
        ((addr - self.addr(array, 0)) / self.layout.step) as u64
    }
}

impl Drop for Arrays {
    fn drop(&mut self) {
        shadow::reset(self.base, ALL);
    }
}

impl World {
    fn arrays(&self) -> &Arrays {
        self.arrays.as_ref().expect("in runs with arrays")
    }

    pub(super) fn elements(
        &mut self,
        event: &Event,
        number: usize,
        array: ArrayId,
        indices: Indices,
        kind: AccessKind,
    ) {
        let at = place(event.site);
        self.simulated(event.thread);
        let arrays = self.arrays.take().expect("in runs with arrays");
        let Layout { step, size, .. } = arrays.layout;
        let addr = arrays.addr(array, indices.first());
        let stride = step * indices.stride() as usize;
        let count = indices.iter().count();
        let t = &mut self.threads.get_mut(&event.thread).expect("started above").thread;
        arrays.before(t, number, addr);
        let mut races = Vec::new();
        let tell = |_: &mut Thread, granule: usize, found: &[_]| {
            races.extend(found.iter().map(|found| (granule, *found)));
        };
        let whole = (count - 1) * stride + size;
        let unbroken = count == 1 || stride <= size;
        // As the hooks do.
        match kind {
            AccessKind::Read if checks::is_within_extent::<false>(t, addr, whole) => {}
            AccessKind::Write if checks::is_within_extent::<true>(t, addr, whole) => {}
            AccessKind::Read if unbroken && short::access::<false>(t, addr, whole, at) => {}
            AccessKind::Write if unbroken && short::access::<true>(t, addr, whole, at) => {}
            AccessKind::Read => checks::touch::<false>(t, addr, (count, stride, size), at, tell),
            AccessKind::Write => checks::touch::<true>(t, addr, (count, stride, size), at, tell),
        }
        for (granule, found) in races {
            for byte in (0..8).filter(|byte| found.mask >> byte & 1 == 1) {
                let indices = Indices::one(arrays.index(array, granule + byte));
                self.race_at(
                    event,
                    number,
                    Place::Array { array, indices },
                    kind,
                    false,
                    &found,
                );
            }
        }
        self.arrays = Some(arrays);
    }

    pub(super) fn new_array(&mut self, array: ArrayId) {
        let arrays = self.arrays();
        shadow::reset(arrays.addr(array, 0), ROOM - arrays.layout.offset);
        // Who has given back what was there before comes behind all that others did with it, so that they are in other epochs now, or
        // it races with them. In these traces nobody gives anything back.
        self.threads
            .values_mut()
            .for_each(|simulated| simulated.thread.sweeps.birth());
    }
}

impl Arrays {
    /// What happens to regions beside the access to `addr`.
    fn before(&self, t: &mut Thread, number: usize, addr: usize) {
        let Habits {
            compressed,
            again,
            expanded,
            given_back,
        } = self.habits;
        if given_back != 0 && number.is_multiple_of(given_back) {
            let first = owners::region(addr);
            heard::give_back(t, first - 1..first + 2);
        }
        for addr in [addr, addr + (1 << owners::REGION_SHIFT)] {
            let region = owners::region(addr);
            if compressed {
                t.owner.enter_for(addr, true);
                t.owner.leave();
            }
            if again != 0 && number.is_multiple_of(again) {
                summary::compress(t, region, false);
            }
            if expanded != 0 && number.is_multiple_of(expanded) {
                summary::expand(t, region);
            }
        }
    }
}

/// The events behind which a thread does nothing until another one has ended, and which one.
fn waits(trace: &Trace) -> HashMap<usize, ThreadId> {
    let mut last = HashMap::new();
    let mut waits = HashMap::new();
    for (number, event) in trace.events.iter().enumerate() {
        if let (Op::Join { child }, Some(before)) = (event.op, last.insert(event.thread, number)) {
            waits.insert(before, child);
        }
    }
    waits
}

fn races_of(trace: &Trace, layout: Layout, habits: Habits) -> Vec<Race> {
    let mut world = World::new();
    world.arrays = Some(Arrays::new(layout, habits));
    world.floor = Some(Box::leak(Box::default()));
    // All that no other starts, since none of those knows what was heard of before.
    let starts = |id| move |event: &Event| matches!(event.op, Op::Fork { child } if child == id);
    for event in &trace.events {
        if !trace.events.iter().any(starts(event.thread)) {
            world.simulated(event.thread);
        }
    }
    let waits = waits(trace);
    for (number, event) in trace.events.iter().enumerate() {
        world.step(event, number);
        if let Some(child) = waits.get(&number).and_then(|child| world.threads.get(child)) {
            heard::waits(&world.threads[&event.thread].thread, child.thread.reference());
        }
    }
    std::mem::take(&mut world.races)
}

fn config() -> Config {
    Config {
        mutexes: true,
        rwlocks: true,
        arrays: true,
        locks: 2,
        max_choices: 160,
        ..Config::accesses()
    }
}

/// The same, where more threads read than are kept in order in one word.
fn many_readers() -> Config {
    Config {
        threads: 20,
        few_writes: true,
        ..config()
    }
}

/// The same with threads that are waited for.
fn family() -> Config {
    Config {
        forks: true,
        barriers: true,
        begin_end: true,
        roots: 2,
        threads: 6,
        max_choices: 240,
        ..config()
    }
}

fn layouts() -> impl Strategy<Value = Layout> {
    let steps = prop_oneof![
        Just((8, 8)),
        Just((4, 4)),
        Just((16, 16)),
        Just((16, 8)),
        Just((8, 4)),
        Just((24, 8)),
        Just((12, 4)),
        Just((20, 20)),
        Just((1, 1)),
        // Elements that make short and long runs; all of them make more than a region.
        Just((200, 200)),
        Just((352, 352)),
        Just((352, 344)),
    ];
    // At the beginning, in the middle, across the border of two regions.
    let offsets = prop_oneof![Just(0), Just(520), Just(4096 - 48), Just(4), Just(4096 - 20)];
    (steps, offsets).prop_map(|((step, size), offset)| Layout { step, size, offset })
}

fn habits() -> impl Strategy<Value = Habits> {
    (any::<bool>(), 0..8usize, 0..12usize, 0..4usize).prop_map(|(compressed, again, expanded, given_back)| {
        Habits {
            compressed,
            again,
            expanded,
            given_back,
        }
    })
}

const CELLS: Habits = Habits {
    compressed: false,
    again: 0,
    expanded: 0,
    given_back: 0,
};

const SUMMARIES: Habits = Habits {
    compressed: true,
    again: 0,
    expanded: 0,
    given_back: 0,
};

/// The first race of each element, which is the same however its state is kept: what comes behind it need not be. A chain of readers, a
/// side state and a summary differ in whom they still know then, and which of them there is depends on what a thread has
/// at hand. Of two accesses of one thread in one epoch either may be named, and of several readers any with
/// which the write races, as the tests of exactness see to.
fn firsts(races: &[Race]) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, u64> = BTreeMap::new();
    let told = races.iter().filter_map(|race| {
        let event = *seen.entry(format!("{:?}", race.place)).or_insert(race.event);
        let thread = |first: &Side| (first.access == AccessKind::Write).then_some(first.thread);
        let first = race.first.as_ref().map(|first| (thread(first), first.access));
        (race.event == event).then(|| format!("{event} {:?} {first:?} {:?}", race.place, race.second))
    });
    told.collect()
}

/// The same accesses, where each that is to many elements comes in three parts, one behind the other, as those of a loop that is
/// checked now and then.
fn in_parts(mut trace: Trace) -> Trace {
    let parts = |event: Event| {
        let (Op::ArrayRead { indices, .. } | Op::ArrayWrite { indices, .. }) = event.op else {
            return vec![event];
        };
        let all: Vec<u64> = indices.iter().collect();
        let part = |of: &[u64]| {
            let mut event = event;
            if let Op::ArrayRead { indices, .. } | Op::ArrayWrite { indices, .. } = &mut event.op {
                let stride = indices.stride();
                *indices = Indices::new(of[0], of[of.len() - 1], stride).expect("a part of them");
            }
            event
        };
        all.chunks(all.len().div_ceil(3)).map(part).collect()
    };
    trace.events = trace.events.into_iter().flat_map(parts).collect();
    trace
}

fn exact(trace: &Trace, layout: Layout, habits: Habits) -> Result<(), TestCaseError> {
    common::exact_races(&races_of(trace, layout, habits), trace)
}

proptest! {
    #![proptest_config(common::cases(4000))]

    #[test]
    fn in_cells(trace in traces(config()), layout in layouts()) {
        exact(&trace, layout, CELLS)?;
    }

    #[test]
    fn in_summaries(trace in traces(config()), layout in layouts()) {
        exact(&trace, layout, SUMMARIES)?;
    }

    #[test]
    fn in_summaries_that_are_swept_part_by_part(trace in traces(config()), layout in layouts()) {
        let races = races_of(&in_parts(trace.clone()), layout, SUMMARIES);
        common::same_spots_races(&races, &trace, &Reference::new(&trace.events, &trace.tables))?;
    }

    #[test]
    fn in_regions_that_go_to_and_fro(trace in traces(config()), layout in layouts(), habits in habits()) {
        exact(&trace, layout, habits)?;
    }

    #[test]
    fn that_many_threads_read(trace in traces(many_readers()), layout in layouts(), habits in habits()) {
        exact(&trace, layout, habits)?;
    }

    #[test]
    fn that_threads_use_which_come_go_and_wait_for_each_other(
        trace in traces(family()), layout in layouts(), habits in habits()
    ) {
        exact(&trace, layout, habits)?;
    }

    #[test]
    fn the_same_first_races_in_cells_and_in_summaries(
        trace in traces(config()), layout in layouts(), habits in habits()
    ) {
        let [cells, summaries, some] =
            [CELLS, SUMMARIES, habits].map(|habits| firsts(&races_of(&trace, layout, habits)));
        prop_assert_eq!(&cells, &summaries);
        prop_assert_eq!(&cells, &some);
    }
}
