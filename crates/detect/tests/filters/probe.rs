//! Which events a filter drops.

use deadheat_detect::{Analysis, Driver};
use deadheat_event::{
    Access, ArrayId, Detector, Event, Indices, Op, Order, Prior, RaceKind, Races, Slot, Stats, SyncOp,
};
use deadheat_trace::recipe::Trace;
use std::cell::Cell;
use std::rc::Rc;

/// Counts the accesses that reach it.
#[derive(Clone, Default)]
pub struct Probe(Rc<Cell<usize>>);

impl Detector for Probe {
    type Thread = ();
    type Sync = ();
    type Location = ();
    type Array = ();

    fn start(&mut self, _: Slot, _: Option<&()>) {}
    fn sync(&mut self, (): &mut (), _: SyncOp, (): &mut ()) {}
    fn fence(&mut self, (): &mut (), _: Order) {}
    fn fork(&mut self, (): &mut (), (): &mut ()) {}
    fn join(&mut self, (): &mut (), (): &mut ()) {}

    fn access(&mut self, (): &mut (), (): &mut (), _: &Access) -> Option<(RaceKind, Option<Prior>)> {
        None
    }

    fn admit(&mut self, (): &mut (), _: &Access) -> bool {
        self.0.set(self.0.get() + 1);
        true
    }

    fn array(&mut self, (): &mut (), _: ArrayId, (): &mut (), _: Indices, _: &Access, _: &mut dyn Races) {}

    fn array_size(&self, (): &()) -> (usize, usize) {
        (0, 0)
    }

    fn stats(&self) -> Stats {
        Stats::default()
    }
}

/// Whether a detector is asked about an event.
pub fn is_access(event: &Event) -> bool {
    matches!(
        event.op,
        Op::Read { .. }
            | Op::Write { .. }
            | Op::ArrayRead { .. }
            | Op::ArrayWrite { .. }
            | Op::Atomic { .. }
            | Op::Free { .. }
    )
}

/// For each event, whether it is an access and the filter dropped it.
pub fn dropped<L: Detector>(layer: impl FnOnce(Probe) -> L, trace: &Trace) -> (Vec<bool>, Driver<L>) {
    let probe = Probe::default();
    let mut driver = Driver::new(layer(probe.clone()));
    let dropped = trace.events.iter().map(|event| {
        let before = probe.0.get();
        driver.process(&[*event], &trace.tables, &mut |race| panic!("{race:?}"));
        is_access(event) && probe.0.get() == before
    });
    let dropped: Vec<bool> = dropped.collect();
    let filtered = driver.stats().filtered;
    assert_eq!(filtered, dropped.iter().filter(|d| **d).count() as u64);
    (dropped, driver)
}
