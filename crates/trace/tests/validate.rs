//! What the validator refuses, by rule; and that what we make ourselves is well-formed.

use deadheat_event::{Addr, Event, MAX_ACCESS, Op, SiteId, Tables, ThreadId};
use deadheat_trace::generate::{ArrayAccess, Config, Generator, Pattern, Shares, Sites};
use deadheat_trace::recipe::{self, traces};
use deadheat_trace::{Source, Validator, text, validate};
use proptest::prelude::*;

/// Checks a text trace. Answers with the violation, or the empty string.
fn verdict(trace: &str) -> String {
    let (_, violation) = validate(&mut text::read(trace.as_bytes(), None)).unwrap();
    violation.map_or(String::new(), |violation| violation.to_string())
}

fn good(trace: &str) {
    assert_eq!(verdict(trace), "", "{trace}");
}

fn bad(trace: &str, expect: &str) {
    assert_eq!(verdict(trace), expect, "{trace}");
}

#[test]
fn locks() {
    good("T1 acq L; T1 acq L; T1 rel L; T1 rel L; T2 acq L");
    good("T1 acqr L; T2 acqr L; T1 rel L; T2 rel L; T1 acq L");
    good("T1 acq L; T1 acqr L; T1 rel L; T1 rel L");
    bad("T1 rel L", "event 0 (line 1): `T1 rel L`: nobody holds the lock");
    bad(
        "T1 acq L\nT1 rel L\nT1 rel L",
        "event 2 (line 3): `T1 rel L`: nobody holds the lock",
    );
    bad(
        "T1 acq L\n\nT2 rel L",
        "event 1 (line 3): `T2 rel L`: the lock is held by T1, not by this thread",
    );
    bad(
        "T1 acq L; T2 acq L",
        "event 1 (line 1): `T2 acq L`: the lock is held by T1",
    );
    bad(
        "T1 acq L; T2 acqr L",
        "event 1 (line 1): `T2 acqr L`: the lock is held by T1",
    );
    bad(
        "T1 acqr L; T2 acqr L; T2 acq L",
        "event 2 (line 1): `T2 acq L`: the lock is held by T1",
    );
    bad(
        "T1 acqr L; T1 acq L",
        "event 1 (line 1): `T1 acq L`: the thread holds the lock as a reader: it cannot become a writer",
    );
}

#[test]
fn threads() {
    good("T1 fork T2; T2 begin; T2 end; T1 join T2; T1 fork T2; T2 r x");
    good("T1 w x; T2 w x; T3 join T1");
    good("T1 fork T2; T2 end; T1 fork T2; T2 w x; T3 join T2; T1 join T2");
    good("T1 fork T2; T2 acq L; T2 end; T1 acq L");
    bad(
        "T1 fork T1",
        "event 0 (line 1): `T1 fork T1`: a thread cannot fork itself",
    );
    bad(
        "T1 fork T2; T2 fork T1",
        "event 1 (line 1): `T2 fork T1`: T1 is running since event 0, before this fork",
    );
    bad(
        "T2 w x; T1 fork T2",
        "event 1 (line 1): `T1 fork T2`: T2 is running since event 0, before this fork",
    );
    bad(
        "T1 fork T2; T1 fork T2",
        "event 1 (line 1): `T1 fork T2`: T2 was forked before and has neither ended nor been joined",
    );
    bad(
        "T1 end; T1 w x",
        "event 1 (line 1): `T1 w x`: the thread has ended, and was not forked again",
    );
    bad(
        "T1 fork T2; T1 join T2; T2 w x",
        "event 2 (line 1): `T2 w x`: the thread was joined, and was not forked again",
    );
    bad(
        "T1 join T1",
        "event 0 (line 1): `T1 join T1`: a thread cannot join itself",
    );
    bad(
        "T1 join T2",
        "event 0 (line 1): `T1 join T2`: T2 was never forked and has done nothing",
    );
    bad(
        "T1 w x; T1 begin",
        "event 1 (line 1): `T1 begin`: this is not the thread's first event",
    );
}

#[test]
fn barriers_and_calls() {
    good("T1 enter B; T1 w x; T1 leave B; T1 enter B");
    good("T1 call f {x}; T1 call g {x, y}; T1 ret; T1 ret; T1 call f {x}");
    bad(
        "T1 leave B",
        "event 0 (line 1): `T1 leave B`: the thread has not entered this barrier",
    );
    bad(
        "T1 enter B; T1 enter B",
        "event 1 (line 1): `T1 enter B`: the thread is already at this barrier",
    );
    bad(
        "T1 ret",
        "event 0 (line 1): `T1 ret`: the thread is in no call into untraced code",
    );
    bad(
        "T1 call f; T2 ret",
        "event 1 (line 1): `T2 ret`: the thread is in no call into untraced code",
    );
    bad(
        "T1 call f; T1 end",
        "event 1 (line 1): `T1 end`: the thread ends inside 1 call(s) into untraced code",
    );
    bad(
        "T1 call f {x:16}; T2 call f {x:8+8}",
        "event 1 (line 1): `T2 call f {x+8}`: object 0x100000000008:8 overlaps object 0x100000000000:16",
    );
    good("T1 call f {x:16}; T2 free x:16; T2 call f {x:8+8}");
    good("T1 call f {x:16, y}; T2 call f {x:16}");
}

#[test]
fn accesses() {
    good("T1 w 0xfffffffffffffff8; T1 r 0x0:1073741824");
    good("T1 r a[5]; T1 new a 6; T1 r a[1..5:2]; T1 new a 7; T1 w a[6]");
    bad("T1 w x:0", "event 0 (line 1): `T1 w x:0`: a size of 0 bytes");
    bad(
        "T1 load 0xfffffffffffffff9 sc",
        "event 0 (line 1): `T1 load 0xfffffffffffffff9 sc`: it reaches beyond the last address",
    );
    bad(
        "T1 new a 6; T1 r a[2..6:2]",
        "event 1 (line 1): `T1 r a[2..6:2]`: index 6 is outside of the array, which has 6 elements",
    );
}

/// Readers refuse such sizes; events that come from elsewhere are looked at all the same.
#[test]
fn accesses_that_no_reader_lets_through() {
    let event = Event {
        thread: ThreadId(1),
        site: SiteId(0),
        op: Op::Alloc {
            addr: Addr(0),
            size: MAX_ACCESS as u32 + 1,
        },
    };
    let verdict = Validator::new().check(&event, &Tables::default());
    let expect = "1073741825 bytes are more than the 1073741824 that one event may span";
    assert_eq!(verdict, Err(expect.to_owned()));
}

fn check_generated(config: &Config) {
    let mut generator = Generator::new(config);
    let (count, violation) = validate(&mut generator).unwrap();
    assert_eq!(
        violation.map(|violation| violation.to_string()),
        None,
        "{config:?}"
    );
    assert_eq!(count, config.events, "{config:?}");
}

/// All that [`Shares`] can name.
fn everything() -> Shares {
    Shares {
        local: 10,
        locks: 20,
        rwlocks: 10,
        atomics: 10,
        fences: 10,
        messages: 10,
        barriers: 2,
        heap: 10,
        arrays: 10,
        calls: 5,
        forks: 5,
    }
}

#[test]
fn generated_traces_are_well_formed_and_as_long_as_asked() {
    for pattern in Pattern::ALL {
        for threads in [1, 2, 9] {
            let config = Config {
                pattern,
                threads,
                events: 30_000,
                races: 3,
                ..Config::default()
            };
            check_generated(&config);
            check_generated(&Config {
                shares: everything(),
                seed: 7,
                ..config.clone()
            });
            check_generated(&Config {
                array_access: ArrayAccess::Elements,
                array_len: 5,
                id_reuse: false,
                ..config
            });
        }
    }
    check_generated(&Config {
        events: 0,
        ..Config::default()
    });
    check_generated(&Config {
        sites: Sites::Unique,
        locks: 1,
        variables: 1,
        nesting: 5,
        ..Config::default()
    });
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_one_another() {
    let first = |seed| {
        let mut block = Vec::new();
        Generator::new(&Config {
            seed,
            ..Config::default()
        })
        .next_block(&mut block)
        .unwrap();
        block
    };
    assert_eq!(first(1), first(1));
    assert_ne!(first(1), first(2));
}

#[test]
fn patterns_are_known_by_their_names() {
    for pattern in Pattern::ALL {
        assert_eq!(pattern.to_string().parse(), Ok(pattern));
    }
    assert!(
        "nonsense"
            .parse::<Pattern>()
            .unwrap_err()
            .contains("mixed, sharedspot")
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn recipes_are_well_formed(trace in prop_oneof![
        traces(recipe::Config::all()),
        traces(recipe::Config::classic()),
        traces(recipe::Config::accesses()),
    ]) {
        let mut validator = Validator::new();
        for event in &trace.events {
            prop_assert_eq!(validator.check(event, &trace.tables), Ok(()));
        }
    }
}
