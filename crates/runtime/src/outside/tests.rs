//! Begin and end of calls, and what they order.

use super::*;
use deadheat_abi::atomics::{Kind, Ordering as AbiOrder, What};
use deadheat_detect::hb::HbThread;
use deadheat_event::{Prior, SiteId, Slot};

/// Threads in slots that no other test uses.
fn threads<const N: usize>(first: u32) -> [Thread; N] {
    std::array::from_fn(|i| {
        let slot = first + i as u32;
        Thread::new(slot, HbThread::after(Slot(slot), 0), true)
    })
}

fn call(t: &mut Thread, library: usize) -> usize {
    let from = From {
        roots: Vec::new(),
        library: Some(Key::library(library)),
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
