//! What a filter must not drop, and what it drops where it promises nothing.

use crate::common::{self, run};
use crate::probe::dropped;
use deadheat_detect::fasttrack::FastTrack;
use deadheat_detect::filter::{Span, Tree, TreeStrict};
use deadheat_event::{
    Access, AccessKind, ArrayId, Detector, Indices, Order, Prior, RaceKind, Races, Rank, Slot, Stats, SyncId,
    SyncOp,
};
use deadheat_trace::recipe::Trace;

/// The events that a filter drops, counted from 0.
fn check<L: Detector>(layer: impl FnOnce(crate::probe::Probe) -> L, text: &str, expect: &[usize]) {
    let dropped = dropped(layer, &common::trace(text)).0;
    let found: Vec<usize> = (0..dropped.len()).filter(|i| dropped[*i]).collect();
    assert_eq!(found, expect, "{text}");
}

/// The second mistake in the list of the papers' known ones.
fn lock_hand_over() -> Trace {
    common::trace(
        "A acq L; A w x @:1; A rel L; A acq M; A rel M
         B acq M; B rel M
         A acq L; A w x @:1; A rel L
         B r x @:2",
    )
}

#[test]
fn tree_loses_a_race_that_only_a_lock_hand_over_tells_apart() {
    let all = run(FastTrack::default(), &lock_hand_over());
    assert_eq!(all.len(), 1);
    assert_eq!(run(Tree::new(FastTrack::default()), &lock_hand_over()), []);
}

#[test]
fn tree_strict_keeps_a_race_that_only_a_lock_hand_over_tells_apart() {
    let all = run(FastTrack::default(), &lock_hand_over());
    assert_eq!(run(TreeStrict::new(FastTrack::default()), &lock_hand_over()), all);
    assert_eq!(run(Span::new(FastTrack::default()), &lock_hand_over()), all);
}

#[test]
fn span_covers_by_kind_of_access() {
    check(Span::new, "A r x; A r x; A w x; A r x; A w x", &[1, 3, 4]);
    check(Span::new, "A w x; A r x:4+0; A r x:4+4; A w x:8+4", &[1]);
    check(
        Span::new,
        "A load x rlx; A r x; A load x rlx; A store x rlx; A load x rlx; A r x",
        &[2, 4, 5],
    );
    check(
        Span::new,
        "A store x rlx; A r x; A store x rlx; A w x; A store x rlx",
        &[2, 4],
    );
    check(Span::new, "A r x; B r x; B w x; A r x; A w x", &[3]);
}

#[test]
fn a_span_ends_where_something_goes_out() {
    for out in [
        "A rel L",
        "A store f rel",
        "A store f vol",
        "A rmw f acqrel",
        "A fence rel",
        "A fork B",
        "A enter b",
        "A send c",
        "A call f {y}",
        "A call f {y}; A ret",
    ] {
        let events = 1 + out.matches(';').count();
        check(
            Span::new,
            &format!("A acq L; A w x; {out}; A w x; A w x"),
            &[3 + events],
        );
    }
    for not_out in [
        "A acq M",
        "A load f acq",
        "A fence acq",
        "A recv c",
        "A leave b",
        "A join B",
        "A store f rlx",
    ] {
        check(Span::new, &format!("A acq L; A w x; {not_out}; A w x"), &[3]);
    }
}

#[test]
fn another_call_can_order_what_every_thread_did_before() {
    // The first call that reaches y is ordered after whatever anybody did so far.
    check(Span::new, "A w x; A w x; B call f {y}; A w x", &[1]);
}

#[test]
fn tree_strict_takes_a_release_back_with_the_lock() {
    let again = |between: &str| format!("A acq L; A w x; A rel L; {between}; A acq L; A w x");
    check(TreeStrict::new, &again("A r y"), &[5]);
    check(TreeStrict::new, &again("A acq M; A r y"), &[6]);
    check(TreeStrict::new, &again("A acq M; A rel M"), &[]);
    check(TreeStrict::new, &again("A acq M; A rel M; A acq M"), &[7]);
    check(TreeStrict::new, &again("B acq L; B rel L"), &[]);
    check(TreeStrict::new, &again("B acqr L; B rel L"), &[]);
    check(TreeStrict::new, &again("A acqr L; A rel L"), &[]);
    check(TreeStrict::new, &again("A send c"), &[]);
    check(TreeStrict::new, "A acqr L; A w x; A rel L; A acqr L; A w x", &[]);
    check(TreeStrict::new, "A acq L; A w x; A rel L; A acqr L; A w x", &[]);
    check(TreeStrict::new, "A acq L; A w x; A rel L; A w x", &[]);
    check(
        TreeStrict::new,
        "A acq L; A w x; A rel L; A w x; A acq L; A w x; A rel L; A w x",
        &[5],
    );
}

#[test]
fn tree_strict_forgets_old_releases_rather_than_grow() {
    let mut text = "A acq L; A w x; A rel L".to_owned();
    for lock in 100..140 {
        text += &format!("; A acq S{lock}; A rel S{lock}");
    }
    for lock in 100..140 {
        text += &format!("; A acq S{lock}");
    }
    // All 41 releases are taken back, but not all of them are remembered so long.
    check(TreeStrict::new, &(text + "; A acq L; A w x"), &[]);
}

#[test]
fn new_memory_makes_every_filter_forget_the_old() {
    let heap = "A w x @:1; A w x @:1; B alloc x:8; A w x @:1; A w x @:1; A w y @:1; B alloc x:8; A w y @:1";
    let array = "A w a[1] @:1; A w a[1] @:1; B new a 5; A w a[1] @:1; A w a[1] @:1";
    let range = "A w a[0..9] @:1; A w a[0..9] @:1; B new a 5; A w a[0..9] @:1";
    for (text, expect) in [(heap, &[1, 4, 7][..]), (array, &[1, 4]), (range, &[1])] {
        check(Span::new, text, expect);
        check(TreeStrict::new, text, expect);
        check(Tree::new, text, expect);
    }
}

#[test]
fn a_thread_in_a_used_slot_is_another_one() {
    // B's slot goes to C; what B did says nothing of what C does.
    let text = "A fork B; B w x @:1; A join B; A fork C; C w x @:1; A w x @:2";
    let trace = common::trace(text);
    for races in [
        run(Span::new(FastTrack::default()), &trace),
        run(TreeStrict::new(FastTrack::default()), &trace),
        run(Tree::new(FastTrack::default()), &trace),
    ] {
        assert_eq!(races, run(FastTrack::default(), &trace));
        assert_eq!(races.len(), 1);
    }
}

#[test]
fn tree_tells_modes_messages_and_sites_apart() {
    check(Tree::new, "A acq L; A r x @:1; A rel L; A acqr L; A r x @:1", &[]);
    check(Tree::new, "A r x @:1; A r x @:2; A r x @:1", &[2]);
    check(Tree::new, "A r x @:1; A w x @:1; A load x rlx @:1", &[]);
    check(Tree::new, "A r x @:1; A send c; A r x @:1", &[]);
    check(
        Tree::new,
        "B store f rel; A load f acq; A r x @:1; A load f acq; A r x @:1",
        &[3, 4],
    );
    check(
        Tree::new,
        "B store f rel; A r x @:1; A load f acq; A r x @:1",
        &[],
    );
    check(Tree::new, "A acq L; A r x @:1; A acq M; A rel M; A r x @:1", &[4]);
    check(Tree::new, "A r x @:1; A fence acq; A r x @:1", &[]);
}

/// Eraser's states and candidate sets, and nothing else.
#[derive(Default)]
struct Eraser;

#[derive(Clone, Default, PartialEq)]
enum State {
    #[default]
    Virgin,
    Exclusive(Slot),
    Shared(Vec<SyncId>),
    Modified(Vec<SyncId>),
}

impl Detector for Eraser {
    type Thread = (Slot, Vec<SyncId>);
    type Sync = ();
    type Location = State;
    type Array = ();

    fn start(&mut self, slot: Slot, _: Option<&Self::Thread>) -> Self::Thread {
        (slot, Vec::new())
    }

    fn sync(&mut self, (_, held): &mut Self::Thread, op: SyncOp, (): &mut ()) {
        match op {
            SyncOp::Acquire(lock, _) => held.push(lock),
            SyncOp::Release(lock, _) => held.retain(|l| *l != lock),
            _ => {}
        }
    }

    fn fence(&mut self, _: &mut Self::Thread, _: Order) {}
    fn fork(&mut self, _: &mut Self::Thread, _: &mut Self::Thread) {}
    fn join(&mut self, _: &mut Self::Thread, _: &mut Self::Thread) {}

    fn access(
        &mut self,
        (slot, held): &mut Self::Thread,
        state: &mut State,
        access: &Access,
    ) -> Option<(RaceKind, Option<Prior>)> {
        let common = |locks: &[SyncId]| locks.iter().copied().filter(|l| held.contains(l)).collect();
        let write = access.kind == AccessKind::Write;
        *state = match std::mem::take(state) {
            State::Virgin => State::Exclusive(*slot),
            State::Exclusive(owner) if owner == *slot => State::Exclusive(owner),
            State::Exclusive(_) if write => State::Modified(held.clone()),
            State::Exclusive(_) => State::Shared(held.clone()),
            State::Shared(locks) if write => State::Modified(common(&locks)),
            State::Shared(locks) => State::Shared(common(&locks)),
            State::Modified(locks) => State::Modified(common(&locks)),
        };
        matches!(state, State::Modified(locks) if locks.is_empty())
            .then_some((RaceKind::Discipline(Rank::Unranked), None))
    }

    fn array(
        &mut self,
        _: &mut Self::Thread,
        _: ArrayId,
        (): &mut (),
        _: Indices,
        _: &Access,
        _: &mut dyn Races,
    ) {
    }

    fn array_size(&self, (): &()) -> (usize, usize) {
        (0, 0)
    }

    fn stats(&self) -> Stats {
        Stats::default()
    }
}

#[test]
fn span_loses_what_eraser_sees_in_the_second_write_of_a_span() {
    let trace = common::trace("A w x; B r x; A w x");
    assert_eq!(run(Eraser, &trace).len(), 1);
    assert_eq!(run(Span::new(Eraser), &trace), []);
    assert_eq!(run(TreeStrict::new(Eraser), &trace), []);
}

#[test]
fn tree_loses_what_eraser_forgot_of_the_first_thread() {
    let trace = common::trace("A w x @:1; B acq L; B w x @:2; B rel L; A w x @:1");
    assert_eq!(run(Eraser, &trace).len(), 1);
    assert_eq!(run(Tree::new(Eraser), &trace), []);
}
