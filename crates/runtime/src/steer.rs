//! Steering: holds threads of a program that was built to be recorded, so that it does what a predicted schedule says, and
//! sees whether the two accesses that are said to race meet (`deadheat predict --confirm`; plan in `abi::steer`).
//!
//! A thread waits for its turn wherever it enters the runtime *before* it does anything: at an access, at an atomic, at the begin of a
//! function that is replaced. What it does is counted where otherwise it would be recorded ([`crate::record`]), and the last event
//! of a turn lets the next one come. So no lock of the runtime is held while a thread waits, and the program's own only as in the
//! schedule.
//!
//! No wait is without end. A turn that does not come in time means that the program does something else in this run:
//! from then on it runs freely, but for the racing places.
//!
//! The first thread that reaches its racing access stands in front of it. If the other comes, to bytes in common, both are about to make
//! their accesses: nothing orders them. This cannot be a false alarm, whatever went wrong before.

mod plan;

use crate::modules::Modules;
use crate::spin::{self, Spin};
use crate::thread::{self, Thread};
use crate::{log, vm};
use deadheat_abi::steer::{ASIDE, class};
use plan::{Plan, Side, Stop};
use rustc_hash::FxHashMap;
use std::fmt::Write;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

static ON: AtomicBool = AtomicBool::new(false);
static PLAN: OnceLock<Plan> = OnceLock::new();
/// Keys by return address, from the creation of the first thread on.
static KEYS: OnceLock<FxHashMap<usize, u32>> = OnceLock::new();
/// The file of the plan, which takes the answer.
static FILE: AtomicI32 = AtomicI32::new(-1);
/// The present turn.
static TURN: AtomicU32 = AtomicU32::new(0);
static ARRIVED: AtomicU32 = AtomicU32::new(0);
static CHANCE: AtomicU64 = AtomicU64::new(0);
static STANDING: Spin<Vec<Standing>> = Spin::new(Vec::new());

/// All turns have come: everybody goes on.
const FREE: u32 = u32::MAX;
/// Like no thread of the plan.
const NOBODY: u32 = u32::MAX;
/// Who stands aside does so for this many times the time of a turn.
const PATIENCE: u32 = 8;
/// Of so many visits of a racing place one waits there, where chance has a say.
const ONE_IN: u64 = 4;
/// So many visits wait in a run at most.
const MOST: u32 = 400;

/// How far a thread has come.
pub struct Steps {
    /// As the plan names it.
    thread: u32,
    children: u32,
    hits: FxHashMap<u32, u32>,
    stops: &'static [Stop],
    /// The turn that it waits for.
    waits: u32,
    /// Whether it has stood in front of its atomic access.
    stood: bool,
}

/// A thread in front of a racing access.
struct Standing {
    visitor: usize,
    thread: u32,
    /// A bit for each side that it can be.
    sides: u32,
    start: usize,
    end: usize,
    write: bool,
}

/// Whether this run is steered.
#[inline(always)]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Reads the plan. What is wrong, if anything is.
pub fn open(path: &str) -> Result<(), String> {
    let failed = |what: &str| format!("cannot follow the plan in {path}: {what}");
    let text = std::fs::read_to_string(path).map_err(|error| failed(&error.to_string()))?;
    let plan = Plan::parse(&text).map_err(|why| failed(&why))?;
    let name = std::ffi::CString::new(path).map_err(|_| failed("a path with a zero byte"))?;
    let flags = libc::O_WRONLY | libc::O_APPEND | libc::O_CLOEXEC;
    // SAFETY: a C string. Made directly: `open` may be intercepted.
    let fd = unsafe { libc::syscall(libc::SYS_openat, libc::AT_FDCWD, name.as_ptr(), flags) };
    if fd < 0 {
        return Err(failed(
            &std::io::Error::from_raw_os_error(vm::errno()).to_string(),
        ));
    }
    FILE.store(fd as i32, Ordering::Relaxed);
    if plan.arrive == 0 {
        TURN.store(1, Ordering::Relaxed);
    }
    CHANCE.store(plan.loose.unwrap_or(0) | 1, Ordering::Relaxed);
    let _ = PLAN.set(plan);
    ON.store(true, Ordering::Release);
    Ok(())
}

/// In the child of a `fork`: what it does is not of this run.
pub fn off() {
    ON.store(false, Ordering::Relaxed);
}

/// The first thread, when it creates the second.
pub fn main() -> Option<Box<Steps>> {
    let plan = PLAN.get().filter(|_| on())?;
    KEYS.get_or_init(|| keys(plan, &String::from_utf8_lossy(Modules::now().text())));
    steps(0)
}

/// The thread that `parent` creates now.
pub fn child(parent: &mut Option<Box<Steps>>) -> Option<Box<Steps>> {
    let parent = parent.as_deref_mut()?;
    parent.children += 1;
    let known = PLAN.get()?.children.get(&(parent.thread, parent.children));
    steps(known.copied().unwrap_or(NOBODY))
}

fn steps(thread: u32) -> Option<Box<Steps>> {
    let plan = PLAN.get()?;
    Some(Box::new(Steps {
        thread,
        children: 0,
        hits: FxHashMap::default(),
        stops: plan.stops.get(&thread).map_or(&[], Vec::as_slice),
        waits: plan.begins.get(&thread).copied().unwrap_or(0),
        stood: false,
    }))
}

/// Keys by the addresses that they have in this process. `lines` tell its modules (`abi::wire`), the program first.
fn keys(plan: &Plan, lines: &str) -> FxHashMap<usize, u32> {
    let mut keys = FxHashMap::default();
    let mut program = None;
    for line in lines.lines() {
        let mut words = line.split('\t').skip(1);
        let mut number = || u64::from_str_radix(words.next()?, 16).ok();
        let (Some(start), Some(end), Some(offset)) = (number(), number(), number()) else {
            continue;
        };
        let path = words.nth(1).unwrap_or_default();
        let program = *program.get_or_insert(path);
        for &(module, at, key) in &plan.code {
            let known = plan.modules.get(&module).map_or("", String::as_str);
            let here = if known.is_empty() {
                path == program
            } else {
                path == known
            };
            if here && (offset..offset + (end - start)).contains(&at) {
                keys.insert((start + at - offset) as usize, key);
            }
        }
    }
    keys
}

/// Waits for the thread's turn. To be called before anything that others could see, with no lock of the runtime held.
#[inline(always)]
pub fn pause() {
    if on() {
        pause_slowly();
    }
}

#[cold]
#[inline(never)]
fn pause_slowly() {
    thread::with(wait);
}

/// The same inside the runtime.
pub fn wait(t: &mut Thread) {
    let Some(steps) = t.log.steered.as_deref_mut() else {
        return;
    };
    let (Some(plan), turn) = (PLAN.get(), std::mem::take(&mut steps.waits)) else {
        return;
    };
    if TURN.load(Ordering::Acquire) >= turn {
        return;
    }
    let patience = if turn == ASIDE { PATIENCE } else { 1 };
    let came = until(plan.hold * patience, || TURN.load(Ordering::Acquire) >= turn);
    if !came && turn != ASIDE {
        TURN.store(FREE, Ordering::Release);
    }
}

/// Waits for `done`, at most so long.
fn until(most: Duration, done: impl Fn() -> bool) -> bool {
    let end = Instant::now() + most;
    let mut rounds = 0;
    loop {
        if done() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        rounds += 1;
        spin::nap(if rounds < 200 { 10_000 } else { 200_000 });
    }
}

fn key(plan: &Plan, kind: u8, pc: usize) -> Option<u32> {
    match pc {
        0 => plan.classes.get(&(class(kind)? as u8)).copied(),
        _ => KEYS.get()?.get(&pc).copied(),
    }
}

/// An event of the thread, where otherwise it would be recorded. Locks of the runtime may be held.
#[cold]
#[inline(never)]
pub fn done(t: &mut Thread, kind: u8, pc: usize) {
    let (Some(plan), Some(steps)) = (PLAN.get(), t.log.steered.as_deref_mut()) else {
        return;
    };
    let Some(key) = key(plan, kind, pc) else { return };
    let hits = steps.hits.entry(key).or_default();
    *hits += 1;
    let Some((stop, rest)) = steps.stops.split_first() else {
        return;
    };
    if stop.event != (key, *hits) {
        return;
    }
    (steps.stops, steps.waits) = (rest, stop.next);
    match stop.turn {
        0 if ARRIVED.fetch_add(1, Ordering::AcqRel) + 1 == plan.arrive => {
            TURN.fetch_max(1, Ordering::AcqRel);
        }
        0 => {}
        turn if TURN.load(Ordering::Acquire).saturating_add(1) >= turn => {
            TURN.fetch_max(turn, Ordering::AcqRel);
        }
        // Before its turn: this is another run.
        _ => TURN.store(FREE, Ordering::Release),
    }
}

/// A plain access follows.
#[cold]
#[inline(never)]
pub fn access(t: &mut Thread, addr: usize, len: usize, write: bool, pc: usize) {
    wait(t);
    let (Some(plan), Some(steps)) = (PLAN.get(), t.log.steered.as_deref()) else {
        return;
    };
    let Some(key) = KEYS.get().and_then(|keys| keys.get(&pc)).copied() else {
        return;
    };
    let event = (key, steps.hits.get(&key).copied().unwrap_or(0) + 1);
    let (mut sides, mut waits) = (0, false);
    for (number, side) in plan.sides.iter().enumerate() {
        if side.event.0 == key && side.write == write && !side.atomic {
            sides |= 1 << number;
            waits |= (side.thread, side.event) == (steps.thread, event);
        }
    }
    if sides != 0 {
        waits |= plan.loose.is_some() && chance();
        stand(plan, steps.thread, sides, (addr, addr + len), write, waits);
    }
}

/// An atomic operation on `addr` follows. Where it is is not known before it is done, so only the one that the plan expects next counts.
#[cold]
#[inline(never)]
pub fn atomic(t: &mut Thread, addr: usize) {
    wait(t);
    let (Some(plan), Some(steps)) = (PLAN.get(), t.log.steered.as_deref_mut()) else {
        return;
    };
    let mine = |side: &&Side| side.atomic && side.thread == steps.thread;
    if let Some(number) = plan.sides.iter().position(|side| mine(&side))
        && steps.stops.is_empty()
        && !steps.stood
        && plan.loose.is_none()
    {
        steps.stood = true;
        let side = &plan.sides[number];
        let bytes = (addr, addr + side.size);
        stand(plan, steps.thread, 1 << number, bytes, side.write, true);
    }
}

/// Whether a visit is to wait.
fn chance() -> bool {
    static WAITED: AtomicU32 = AtomicU32::new(0);
    let next = |seed: u64| {
        seed.wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407)
    };
    let seed = CHANCE.load(Ordering::Relaxed);
    CHANCE.store(next(seed), Ordering::Relaxed);
    (seed >> 33).is_multiple_of(ONE_IN) && WAITED.fetch_add(1, Ordering::Relaxed) < MOST
}

/// Is in front of a racing access. If another thread is in front of the other one, that is it.
fn stand(plan: &Plan, thread: u32, sides: u32, (start, end): (usize, usize), write: bool, waits: bool) {
    let visitor = crate::tls::get().addr();
    let mut standing = STANDING.lock();
    let other = standing.iter().find(|other| {
        let both = if plan.sides[0].event.0 == plan.sides[1].event.0 {
            true
        } else {
            sides | other.sides == 3 && sides != other.sides
        };
        both && other.visitor != visitor && other.start < end && start < other.end && (write || other.write)
    });
    if let Some(other) = other {
        let mut line = String::new();
        let first = (other.thread, other.start, other.end - other.start, other.write);
        let _ = write!(line, "met");
        for (thread, addr, len, write) in [first, (thread, start, end - start, write)] {
            let _ = write!(line, " {thread} {addr} {len} {}", u8::from(write));
        }
        line.push('\n');
        // SAFETY: reads bytes that are there.
        unsafe {
            libc::syscall(
                libc::SYS_write,
                FILE.load(Ordering::Relaxed),
                line.as_ptr(),
                line.len(),
            )
        };
        log::exit_now(0);
    }
    if !waits {
        return;
    }
    standing.push(Standing {
        visitor,
        thread,
        sides,
        start,
        end,
        write,
    });
    drop(standing);
    // Who meets it ends the program.
    until(plan.stand, || false);
    STANDING.lock().retain(|other| other.visitor != visitor);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_where_their_file_is_mapped() {
        let mut plan = Plan::default();
        plan.modules.insert(1, "/lib/b.so".to_owned());
        plan.code = vec![(0, 0x1100, 7), (1, 0x20, 8), (1, 0x9999, 9)];
        let lines = "module\t5000\t6000\t1000\t-\t/bin/a\nmodule\t7000\t7100\t0\tbeef\t/lib/b.so\nother\n";
        let found = keys(&plan, lines);
        assert_eq!(found.get(&0x5100), Some(&7));
        assert_eq!(found.get(&0x7020), Some(&8));
        assert_eq!(found.len(), 2);
    }
}
