//! Begin and end of calls, and what they order.

use super::*;
use crate::memory;
use deadheat_abi::atomics::{Kind, Ordering as AbiOrder, What};
use deadheat_detect::hb::HbThread;
use deadheat_event::{Prior, SiteId, Slot};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::AtomicUsize;

/// Threads in slots that no other test uses.
fn threads<const N: usize>(first: u32) -> [Thread; N] {
    std::array::from_fn(|i| {
        let slot = first + i as u32;
        Thread::new(slot, HbThread::after(Slot(slot), 0), true)
    })
}

fn call(t: &mut Thread, library: usize) -> usize {
    let from = From {
        library: Some(Key::library(library)),
        ..From::default()
    };
    open(t, std::ptr::null(), 0x1000, from);
    t.calls.open.len() - 1
}

fn whole_call(t: &mut Thread, library: usize) {
    let at = call(t, library);
    end_from(t, at);
}

/// Whether this process runs nothing but the test of this name. If not, such a process is started, and its end is the test's: once a
/// call is wide, all calls and atomics of the process are ordered with it.
fn is_alone(name: &str) -> bool {
    const ALONE: &str = "DEADHEAT_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let path = format!("outside::tests::{name}");
    let mut command = std::process::Command::new(std::env::current_exe().expect("the test itself"));
    let output = command.args(["--exact", &path]).env(ALONE, "1").output();
    let output = output.expect("it can be started");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    false
}

fn race_with(epoch: Epoch) -> Found {
    Found {
        mask: 1,
        prior: Prior {
            slot: epoch.slot(),
            timestamp: epoch.time(),
            site: SiteId(0),
            kind: deadheat_event::AccessKind::Write,
            atomic: false,
        },
    }
}

#[test]
fn what_was_done_before_a_call_began_comes_before_what_follows_the_end_of_another() {
    let [mut a, mut b, mut c] = threads(100);
    let waiting = call(&mut b, 0x10_0000);
    let before = a.hb.epoch();
    let inside = call(&mut a, 0x10_0000);
    assert!(!b.hb.knows(before), "it has not ended");
    end_from(&mut b, waiting);
    assert!(b.hb.knows(before), "they overlap");
    end_from(&mut a, inside);
    let after = a.hb.epoch();
    whole_call(&mut b, 0x10_0000);
    assert!(!b.hb.knows(after), "that was after the call");
    whole_call(&mut c, 0x20_0000);
    assert!(!c.hb.knows(before), "another library");
    whole_call(&mut b, 0x20_0000);
    whole_call(&mut c, 0x20_0000);
    assert!(c.hb.knows(before), "by way of another thread");
}

#[test]
fn who_comes_second_finds_what_the_owner_did() {
    let [mut a, mut b] = threads(110);
    let first = a.hb.epoch();
    (0..5).for_each(|_| whole_call(&mut a, 0x30_0000));
    let last = a.hb.epoch();
    assert!(with(Key::library(0x30_0000), |objects| objects
        [&Key::library(0x30_0000)]
        .owner
        == 110));
    whole_call(&mut b, 0x30_0000);
    assert!(b.hb.knows(first) && !b.hb.knows(last));
    whole_call(&mut a, 0x30_0000);
    whole_call(&mut b, 0x30_0000);
    assert!(b.hb.knows(last), "it is shared, and both know");
}

#[test]
fn what_follows_a_call_is_not_among_what_others_see_while_it_ends() {
    let [mut a, mut b] = threads(150);
    let first = call(&mut a, 0xa0_0000);
    let second = call(&mut b, 0xa0_0000);
    // Up to where others could come in between.
    a.calls.ending = true;
    give(&mut a, first);
    end_from(&mut b, second);
    assert!(!b.hb.knows(a.hb.epoch()));
}

#[test]
fn callbacks_are_ordered_with_what_other_calls_reach() {
    let [mut a, mut b, mut c] = threads(120);
    call(&mut a, 0x40_0000);
    call(&mut b, 0x40_0000);
    let called_back = a.hb.epoch();
    assert!(
        settle(&mut b, &[race_with(called_back)]).is_empty(),
        "both are in callbacks"
    );
    assert_eq!(
        settle(&mut c, &[race_with(called_back)]).len(),
        1,
        "this one is in none"
    );
    call(&mut c, 0x50_0000);
    assert_eq!(
        settle(&mut c, &[race_with(called_back)]).len(),
        1,
        "this one is elsewhere"
    );
}

#[test]
fn calls_that_were_unwound_end_when_their_frame_calls_again() {
    let [mut a, mut b] = threads(130);
    let before = b.hb.epoch();
    call(&mut a, 0x60_0000);
    whole_call(&mut b, 0x60_0000);
    end_unwound(&mut a, 0x1000);
    assert!(!a.calls.any() && a.hb.knows(before));
}

#[test]
fn a_wide_call_is_ordered_with_all_others() {
    if !is_alone("a_wide_call_is_ordered_with_all_others") {
        return;
    }
    let [mut a, mut b, mut c, mut d] = threads(140);
    let before = a.hb.epoch();
    whole_call(&mut a, 0x70_0000);
    call(&mut d, 0xb0_0000);
    first_wide(&a);
    // In a callback: another time than what could be seen of it then.
    sync::release(&mut d, 0xb0_1000, deadheat_event::Mode::Exclusive);
    let called_back = d.hb.epoch();
    let wide = Reached {
        keys: None,
        ..Reached::default()
    };
    take(&mut b, &wide);
    assert!(b.hb.knows(before));
    assert!(
        b.hb.knows(called_back),
        "it is still in the call that it was in before"
    );
    let at = call(&mut b, 0x80_0000);
    b.calls.open[at].reached = Some(wide);
    let earlier = b.hb.epoch();
    end_from(&mut b, at);
    whole_call(&mut c, 0x90_0000);
    assert!(c.hb.knows(before) && c.hb.knows(earlier));
}

#[test]
fn a_lock_in_a_callback_hands_on_all_that_its_holder_learned() {
    let [mut a, mut b, mut c] = threads(160);
    call(&mut a, 0xc0_0000);
    call(&mut b, 0xc0_0000);
    // This one sees where the other is, before it takes the lock.
    assert!(settle(&mut b, &[]).is_empty());
    assert!(b.hb.knows(a.hb.epoch()));
    let (lock, exclusive) = (0xc0_1000, deadheat_event::Mode::Exclusive);
    let done = c.hb.epoch();
    sync::release(&mut c, lock, exclusive);
    for t in [&mut a, &mut b] {
        sync::acquire(t, lock, exclusive);
        assert!(t.hb.knows(done));
        sync::release(t, lock, exclusive);
    }
}

#[test]
fn a_wide_call_hears_what_atomics_said_and_they_hear_it() {
    if !is_alone("a_wide_call_hears_what_atomics_said_and_they_hear_it") {
        return;
    }
    let [mut a, mut b] = threads(170);
    let flag = |t: &mut Thread, addr: usize, kind, order| {
        sync::begin_atomic(t, addr);
        sync::end_atomic(t, addr, What { size: 4, kind, order }, |_| ());
    };
    let before = a.hb.epoch();
    flag(&mut a, 0xd0_0000, Kind::Store, AbiOrder::Release);
    ANY.store(true, Ordering::SeqCst);
    first_wide(&b);
    let wide = Reached {
        keys: None,
        ..Reached::default()
    };
    take(&mut b, &wide);
    assert!(b.hb.knows(before));
    let between = a.hb.epoch();
    flag(&mut a, 0xd0_0010, Kind::Store, AbiOrder::Release);
    take(&mut b, &wide);
    assert!(b.hb.knows(between));
    let at = call(&mut b, 0xd1_0000);
    b.calls.open[at].reached = Some(wide);
    let earlier = b.hb.epoch();
    give(&mut b, at);
    flag(&mut a, 0xd0_0020, Kind::Load, AbiOrder::Acquire);
    assert!(a.hb.knows(earlier));
}

/// A heap block of so many words, all zeros.
fn block(t: &mut Thread, words: usize) -> &'static [AtomicUsize] {
    crate::shadow::reserve_once();
    // Of 16 bytes each, as the allocator's.
    let pairs = vec![0u128; words.div_ceil(2)].leak();
    let start = pairs.as_ptr().expose_provenance();
    memory::allocated(t, start, 8 * words, 0);
    // SAFETY: as many words are there, for ever, and numbers and atomics are alike.
    unsafe { std::slice::from_raw_parts(pairs.as_ptr().cast(), words) }
}

fn address(block: &[AtomicUsize]) -> usize {
    block.as_ptr().addr()
}

/// Stores a word as instrumented code does.
fn store(t: &mut Thread, place: &AtomicUsize, value: usize) {
    place.store(value, Ordering::SeqCst);
    let addr = std::ptr::from_ref(place).addr();
    if memory::may_be_heap(value) && links::may_matter(addr, 8) {
        links::stored(t, links::Stored::Word(addr, value));
    }
}

fn call_with(t: &mut Thread, root: usize) -> usize {
    let from = From {
        roots: vec![root],
        ..From::default()
    };
    open(t, std::ptr::null(), 0x1000, from);
    t.calls.open.len() - 1
}

#[test]
fn what_a_call_could_reach_for_a_moment_orders_it() {
    let [mut a, mut b, mut c] = threads(190);
    let (table, item, next) = (block(&mut a, 4), block(&mut a, 2), block(&mut a, 2));
    let before = a.hb.epoch();
    let waiting = call_with(&mut a, address(table));
    // Together, and gone again.
    store(&mut b, &item[1], address(next));
    store(&mut b, &table[3], address(item));
    store(&mut b, &item[1], 0);
    store(&mut b, &table[3], 0);
    let done = b.hb.epoch();
    let other = call_with(&mut b, address(next));
    end_from(&mut b, other);
    assert!(b.hb.knows(before), "the other call may have been there");
    end_from(&mut a, waiting);
    assert!(a.hb.knows(done));
    // The next does not reach it.
    let later = b.hb.epoch();
    let other = call_with(&mut b, address(next));
    end_from(&mut b, other);
    let again = call_with(&mut a, address(table));
    end_from(&mut a, again);
    assert!(!a.hb.knows(later));
    let far = call_with(&mut c, address(table));
    end_from(&mut c, far);
    assert!(c.hb.knows(done) && !c.hb.knows(later));
}

#[test]
fn a_block_that_is_another_is_not_taken_for_the_one_that_was_there() {
    let [mut a, mut b] = threads(200);
    let (table, item, next) = (block(&mut a, 4), block(&mut a, 2), block(&mut a, 2));
    table[0].store(address(item), Ordering::SeqCst);
    let waiting = call_with(&mut a, address(table));
    // Given back and allocated once more.
    memory::allocated(&mut b, address(item), 16, 0);
    forget(&b, address(item));
    store(&mut b, &item[0], address(next));
    store(&mut b, &table[1], address(item));
    store(&mut b, &item[0], 0);
    let done = b.hb.epoch();
    let other = call_with(&mut b, address(next));
    end_from(&mut b, other);
    end_from(&mut a, waiting);
    assert!(a.hb.knows(done));
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Store { from: usize, place: usize, to: usize },
    Begin,
    End,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let store =
        (0..6usize, 0..3usize, 0..8usize).prop_map(|(from, place, to)| Step::Store { from, place, to });
    let step = prop_oneof![6 => store, 2 => Just(Step::Begin), 1 => Just(Step::End)];
    prop::collection::vec(step, 1..80)
}

proptest! {
    /// Blocks with three pointers each; numbers above the last one are null. The first is large, so that calls do not look each time.
    #[test]
    fn a_call_reaches_all_that_could_be_reached_while_it_was_open(steps in steps()) {
        let [mut a, mut b] = threads(210);
        let blocks: Vec<_> = (0..6).map(|n| block(&mut a, if n == 0 { 3000 } else { 4 })).collect();
        let mut links = [[7usize; 3]; 6];
        let mut could: Option<BTreeSet<usize>> = None;
        let reachable = |links: &[[usize; 3]; 6]| {
            let (mut seen, mut todo) = (BTreeSet::new(), vec![0]);
            while let Some(at) = todo.pop() {
                if at < 6 && seen.insert(at) {
                    todo.extend(links[at]);
                }
            }
            seen
        };
        for step in steps {
            match step {
                Step::Store { from, place, to } => {
                    links[from][place] = to;
                    store(&mut b, &blocks[from][place], blocks.get(to).map_or(0, |block| address(block)));
                }
                Step::Begin if could.is_none() => {
                    call_with(&mut a, address(blocks[0]));
                    could = Some(BTreeSet::new());
                }
                Step::End if could.is_some() => {
                    could = None;
                    end_from(&mut a, 0);
                }
                _ => {}
            }
            let Some(could) = &mut could else { continue };
            could.extend(reachable(&links));
            let reached = a.calls.open[0].reached.clone().unwrap_or_default().with_more(&a);
            let keys = reached.keys.expect("it is not that much");
            for &at in could.iter() {
                prop_assert!(keys.contains(&Key::block(address(blocks[at]))), "{at} of {could:?}");
            }
        }
        end_from(&mut a, 0);
        lately::end_thread(&mut a);
    }
}

#[test]
fn what_an_atomic_operation_stores_is_followed_when_it_is_over() {
    let [mut a, mut b] = threads(220);
    let (table, item) = (block(&mut a, 4), block(&mut a, 2));
    let waiting = call_with(&mut a, address(table));
    let place = std::ptr::from_ref(&table[1]).addr();
    sync::begin_atomic(&mut b, place);
    store(&mut b, &table[1], address(item));
    assert!(b.calls.has_stored(), "it holds a lock");
    let what = What {
        size: 8,
        kind: Kind::Store,
        order: AbiOrder::Relaxed,
    };
    sync::end_atomic(&mut b, place, what, |_| ());
    assert!(!b.calls.has_stored());
    let done = b.hb.epoch();
    let other = call_with(&mut b, address(item));
    end_from(&mut b, other);
    end_from(&mut a, waiting);
    assert!(a.hb.knows(done));
}
