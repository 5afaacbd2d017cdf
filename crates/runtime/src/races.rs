//! Races found: one record for each pair of stacks, and how often each was seen.

use crate::cell::Found;
use crate::channel::{self, Lines};
use crate::checks::Does;
use crate::intercept::cancel;
use crate::modules::Modules;
use crate::places::{Known, Place};
use crate::registry;
use crate::spin::Spin;
use crate::stacks::Stack;
use crate::thread::Thread;
use crate::{amid, ample, exit, memory, outside, plain};
use deadheat_event::{AccessKind, Prior};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// The access that is being checked.
#[derive(Clone, Copy, Debug)]
pub struct Present {
    /// Its first byte.
    pub addr: usize,
    /// Its bytes.
    pub size: usize,
    /// What it does.
    pub does: Does,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Where it is.
    pub place: Place,
}

/// One side of a race as far as it makes a difference to the reader.
type Side = (Stack, Does, bool);

#[derive(Default)]
struct Races {
    /// Number and count of each pair, the smaller side first.
    pairs: Option<FxHashMap<(Side, Side), (u64, u64)>>,
    /// What the reporter knows already.
    stacks: Option<FxHashSet<Stack>>,
    threads: Option<FxHashSet<u32>>,
}

static RACES: Spin<Races> = Spin::new(Races {
    pairs: None,
    stacks: None,
    threads: None,
});

/// Takes the lock, before a `fork`.
pub fn hold() {
    RACES.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    RACES.let_go();
}

/// After a `fork`, in the child: nothing was told yet of this process.
pub fn child() {
    RACES.lock().pairs = None;
    untold();
}

/// There is another reporter, which knows nothing.
fn untold() {
    let mut races = RACES.lock();
    (races.stacks, races.threads) = (None, None);
    drop(races);
    crate::modules::untold();
    crate::loss::untold();
}

/// How many pairs there are.
pub fn count() -> u64 {
    RACES.lock().pairs.as_ref().map_or(0, |pairs| pairs.len() as u64)
}

/// Adds how often each was seen.
pub fn tell_counts(lines: &mut Lines) {
    let races = RACES.lock();
    let mut counts: Vec<(u64, u64)> = races.pairs.iter().flatten().map(|(_, race)| *race).collect();
    counts.sort_unstable();
    for (number, times) in counts {
        lines.line(format_args!("count\t{number:x}\t{times}"));
    }
}

fn order(side: &Side) -> (u32, u8, bool) {
    (side.0.0, side.1 as u8, side.2)
}

/// Tells the races that `t`'s present access has with what was found at the granule of `granule`.
#[cold]
#[inline(never)]
pub fn report(t: &mut Thread, granule: usize, present: Present, found: &[Found]) {
    let mut new = found.to_vec();
    // An atomic operation has come behind it before it began, and holds a lock now.
    if cancel::any() && t.atomics == 0 && cancel::come_behind(t) {
        new.retain(|found| t.hb.get(found.prior.slot) < found.prior.timestamp);
    }
    new.retain(|found| !amid::orders(t, found) && !told(&present, found));
    if new.is_empty() {
        return;
    }
    let found = outside::settle(t, &new);
    let granule = granule / 8 * 8;
    // A report takes more stack than the thread may have left, in a handler above all.
    cancel::uncancelled(|| {
        ample::run(|| {
            for found in &found {
                one(t, granule, present, found);
            }
        });
    });
}

/// Takes the lock of the stack that reports are made on, before a `fork`.
pub fn hold_stack() {
    ample::hold();
}

/// Gives it back, after it.
pub fn let_go_stack() {
    ample::let_go();
}

/// Both sides of a race: now and then.
fn sides(present: &Present, found: &Found) -> [Side; 2] {
    let stack = |known: Option<Known>| known.map_or_else(Stack::default, |known| known.stack);
    let there = Place(found.prior.site.0).known();
    [
        (stack(present.place.known()), present.does, present.atomic),
        (stack(there), does(&found.prior, there), found.prior.atomic),
    ]
}

fn pair([now, then]: [Side; 2]) -> (Side, Side) {
    if order(&now) <= order(&then) {
        (now, then)
    } else {
        (then, now)
    }
}

/// Whether that was told before; then it is counted.
fn told(present: &Present, found: &Found) -> bool {
    let pair = pair(sides(present, found));
    let mut races = RACES.lock();
    let times = races.pairs.as_mut().and_then(|pairs| pairs.get_mut(&pair));
    times.map(|(_, times)| *times += 1).is_some()
}

fn one(t: &mut Thread, granule: usize, present: Present, found: &Found) {
    let there = Place(found.prior.site.0).known();
    let [now, then] = sides(&present, found);
    let number = {
        let mut races = RACES.lock();
        let pairs = races.pairs.get_or_insert_default();
        let next = pairs.len() as u64 + 1;
        let (number, times) = pairs.entry(pair([now, then])).or_insert((next, 0));
        *times += 1;
        if *times > 1 {
            return;
        }
        *number
    };
    let modules = Modules::now();
    let first = found.mask.trailing_zeros() as usize;
    let run = (found.mask >> first).trailing_ones() as usize;
    let at = granule + first;
    let tell = |lines: &mut Lines| {
        modules.tell(lines);
        let told = |lines: &mut Lines, stack| tell_stack(lines, stack);
        told(lines, now.0);
        told(lines, then.0);
        let other = registry::lock().who(found.prior.slot.0, found.prior.timestamp);
        let locks = [
            t.held.all(),
            there.map_or_else(Vec::new, |there| there.locks.locks()),
        ];
        let lock_stack = |place: Place| place.known().map_or_else(Stack::default, |known| known.stack);
        for lock in locks.iter().flatten() {
            tell_stack(lines, lock_stack(lock.place));
        }
        let memory = memory::describe(at, &modules);
        tell_stack(lines, memory.stack());
        let who = [Some(t.id), other, memory.thread()];
        who.into_iter().flatten().for_each(|id| tell_thread(lines, id));

        lines.line(format_args!("race\t{number:x}\t{at:x}\t{run:x}"));
        let sides = [
            (Some(t.id), now, present.addr, present.size),
            (other, then, at, run),
        ];
        for ((thread, (stack, does, atomic), addr, size), locks) in sides.into_iter().zip(&locks) {
            let _ = write!(lines, "access\t");
            dash(lines, thread);
            let _ = write!(
                lines,
                "\t{}\t{}\t{addr:x}\t{size:x}\t",
                does.name(),
                if atomic { "atomic" } else { "plain" },
            );
            stack_id(lines, stack);
            lines.0.push(b'\n');
            for lock in locks {
                let _ = write!(lines, "lock\t{}\t{:x}\t", lock.kind.name(), lock.addr);
                stack_id(lines, lock_stack(lock.place));
                lines.0.push(b'\n');
            }
        }
        memory.tell(lines);
        lines.line(format_args!("end\t{number:x}"));
    };
    let mut told = channel::send(tell);
    if !told && channel::again(number) {
        untold();
        told = channel::send(tell);
    }
    if !told {
        let other = registry::lock().who(found.prior.slot.0, found.prior.timestamp);
        plain::tell(
            at,
            [(Some(t.id), now.1.name(), now.0), (other, then.1.name(), then.0)],
        );
    }
    if channel::options().halt_on_race && channel::wait_for_answer(number) {
        exit::halt();
    }
}

fn does(prior: &Prior, known: Option<Known>) -> Does {
    match prior.kind {
        AccessKind::Read => Does::Read,
        AccessKind::Write if known.is_some_and(|known| known.free) => Does::Free,
        AccessKind::Write => Does::Write,
    }
}

fn dash(lines: &mut Lines, id: Option<u32>) {
    match id {
        Some(id) => {
            let _ = write!(lines, "{id}");
        }
        None => lines.text("-"),
    }
}

/// A stack as a field.
pub fn stack_id(lines: &mut Lines, stack: Stack) {
    if stack == Stack::default() {
        lines.text("-");
    } else {
        let _ = write!(lines, "{:x}", stack.0);
    }
}

/// Tells a stack, once.
fn tell_stack(lines: &mut Lines, stack: Stack) {
    if stack == Stack::default() || !RACES.lock().stacks.get_or_insert_default().insert(stack) {
        return;
    }
    let _ = write!(lines, "stack\t{:x}", stack.0);
    for pc in stack.frames() {
        let _ = write!(lines, "\t{pc:x}");
    }
    lines.0.push(b'\n');
}

/// Tells a thread and those it came from, once.
fn tell_thread(lines: &mut Lines, id: u32) {
    if !RACES.lock().threads.get_or_insert_default().insert(id) {
        return;
    }
    let Some((parent, created, tid, mut name)) = registry::lock()
        .entries
        .get(id as usize)
        .map(|entry| (entry.parent, entry.created, entry.tid, entry.name))
    else {
        return;
    };
    if parent != registry::NOBODY {
        tell_thread(lines, parent);
    }
    tell_stack(lines, created);
    if name[0] == 0 {
        let comm = std::fs::read(format!("/proc/self/task/{tid}/comm")).unwrap_or_default();
        let len = comm.len().min(name.len());
        name[..len].copy_from_slice(&comm[..len]);
        // It may have ended meanwhile, and its number may be another's by now. Then it has left its name before.
        let left = registry::lock().entries[id as usize].name;
        if left[0] != 0 {
            name = left;
        }
    }
    let end = name
        .iter()
        .position(|byte| matches!(byte, 0 | b'\n'))
        .unwrap_or(name.len());
    let _ = write!(lines, "thread\t{id}\t{tid}\t");
    dash(lines, Some(parent).filter(|parent| *parent != registry::NOBODY));
    lines.0.push(b'\t');
    stack_id(lines, created);
    lines.0.push(b'\t');
    lines.text(&String::from_utf8_lossy(&name[..end]));
    lines.0.push(b'\n');
}
