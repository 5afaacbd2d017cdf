//! The detectors that detect nothing.

mod common;

use common::{analyse, trace};
use deadheat_detect::Driver;
use deadheat_detect::baseline::{Count, Counts, Empty};

const TRACE: &str = "A fork B; A acq L; A acq L; A w x; A w y:4; A r x; A rel L; A rel L
     B r a[0..9]; B w a[3]; B rmw f acqrel; B load f rlx; B fence acq; B send c
     A recv c; A free x; A join B";

#[test]
fn count_tells_what_reaches_a_detector_by_thread_and_kind() {
    let mut driver = Driver::new(Count::default());
    let (races, stats) = analyse(&mut driver, &trace(TRACE));
    assert_eq!(races, []);
    let main = Counts {
        reads: 1,
        writes: 3,
        acquires: 1,
        releases: 1,
        messages: 1,
        forks: 1,
        joins: 1,
        ..Counts::default()
    };
    let child = Counts {
        reads: 1,
        writes: 1,
        atomic_reads: 1,
        atomic_writes: 1,
        elements: 11,
        atomics: 3,
        fences: 1,
        messages: 1,
        ..Counts::default()
    };
    assert_eq!(driver.detector().threads(), [main, child]);
    assert_eq!(
        stats.race_checks,
        4 + 10 + 1 + 2,
        "a state for each access and element"
    );
    assert_eq!(
        stats.clock_ops,
        5 + 5,
        "lock, fork, join, receive; rmw twice, load, fence, send"
    );
}

#[test]
fn the_driver_counts_the_same_whatever_the_detector() {
    let events = trace(TRACE);
    let (_, empty) = analyse(&mut Driver::new(Empty), &events);
    let (_, count) = analyse(&mut Driver::new(Count::default()), &events);
    assert_eq!(
        (empty.events, empty.reads, empty.writes, empty.elements),
        (17, 3, 4, 11)
    );
    assert_eq!(
        (empty.locks, empty.atomics, empty.threads, empty.others),
        (4, 3, 2, 3)
    );
    assert_eq!((empty.race_checks, empty.clock_ops, empty.filtered), (0, 0, 0));
    assert_eq!(
        (count.events, count.reads, count.writes, count.elements),
        (empty.events, empty.reads, empty.writes, empty.elements)
    );
}
