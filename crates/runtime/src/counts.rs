//! What a run with `count=1` counts: the checks of instrumented code, each of them.
//!
//! An ordinary run cannot tell, because most checks end in the inline test. With `count=1` that test looks at cells that
//! are like no epoch ([`crate::tls::ODD`]), so that it always fails and the hook is called, which does with the real cell what
//! it always does. So every check is counted and what is found stays the same; only time is lost.
//!
//! Accesses are counted by code that was instrumented for it (`abi::hooks::ACCESSES`), before any of them is found to
//! need no check. What the models of library functions read and write is in neither count.

use crate::cell::Cell;
use crate::owners::{self, REGION_MASK};
use crate::runs::{LONGEST, Piece};
use crate::spin::Spin;
use crate::thread::Thread;
use crate::{shadow, summary};
use deadheat_abi::shadow::{ADDRESS_MASK, BASE, EPOCH, LEN};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

/// Every thread's, those that have ended too.
static ALL: Spin<Vec<&'static Counts>> = Spin::new(Vec::new());

/// Counts, from here on.
pub fn begin() {
    ON.store(true, Ordering::Relaxed);
}

/// Whether checks are counted.
#[inline(always)]
pub fn on() -> bool {
    ON.load(Ordering::Relaxed)
}

/// Takes the lock, before a `fork`.
pub fn hold() {
    ALL.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    ALL.let_go();
}

/// Begins again, in the child of a `fork`.
pub fn forget() {
    for counts in ALL.lock().iter() {
        for counter in [
            &counts.accesses,
            &counts.checks,
            &counts.needless,
            &counts.race_checks,
            &counts.atomics,
        ] {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

/// What one thread has counted. Only the thread itself changes it.
#[derive(Debug, Default)]
pub struct Counts {
    accesses: AtomicU64,
    checks: AtomicU64,
    needless: AtomicU64,
    race_checks: AtomicU64,
    atomics: AtomicU64,
}

impl Counts {
    /// For a new thread, if there is something to count.
    pub fn new() -> Option<&'static Counts> {
        on().then(|| {
            // Stays: it is added up when the thread may be gone.
            let counts: &'static Counts = Box::leak(Box::default());
            ALL.lock().push(counts);
            counts
        })
    }
}

fn add(counter: &AtomicU64, n: u64) {
    counter.store(counter.load(Ordering::Relaxed) + n, Ordering::Relaxed);
}

/// Instrumented code makes so many accesses.
pub fn accesses(t: &Thread, n: u64) {
    if let Some(counts) = t.counts {
        add(&counts.accesses, n);
    }
}

/// An atomic operation.
pub fn atomic(t: &Thread) {
    if let Some(counts) = t.counts {
        add(&counts.atomics, 1);
    }
}

/// One check of so many pieces of memory, so far apart and of so many bytes, before it is made.
#[cold]
#[inline(never)]
pub fn check(t: &Thread, write: bool, addr: usize, (count, stride, size): (usize, usize, usize)) {
    let Some(counts) = t.counts else { return };
    add(&counts.checks, 1);
    if !t.checks() {
        add(&counts.needless, 1);
    } else if !(0..count).all(|n| same_epoch(t, write, addr + n * stride, size)) {
        add(&counts.race_checks, 1);
    }
}

/// Whether the inline test would have passed: the thread's access to all these bytes in this epoch is on record.
fn same_epoch(t: &Thread, write: bool, addr: usize, len: usize) -> bool {
    let (mut at, end) = (addr, addr + len);
    while at < end {
        let offset = at % 8;
        let count = (end - at).min(8 - offset);
        let bytes = (((1u16 << count) - 1) << offset) as u8;
        let granule = (at & REGION_MASK) / 8;
        let piece = Piece {
            from: granule,
            to: granule + 1,
            period: 1,
            masks: [bytes; LONGEST],
        };
        let known = summary::knows(t, write, owners::region(at), &piece).unwrap_or_else(|| {
            let cell = shadow::cell(at);
            let word = if write { &cell.write } else { &cell.read };
            (word.load(Ordering::Relaxed) ^ t.epoch) & (EPOCH | u64::from(bytes)) == 0
        });
        if !known {
            return false;
        }
        at += count;
    }
    true
}

/// Every count with its name, all threads together.
pub fn totals() -> [(&'static str, u64); 5] {
    let all = ALL.lock();
    let sum = |of: fn(&Counts) -> &AtomicU64| all.iter().map(|one| of(one).load(Ordering::Relaxed)).sum();
    [
        ("accesses", sum(|one| &one.accesses)),
        ("checks", sum(|one| &one.checks)),
        ("checks-while-alone", sum(|one| &one.needless)),
        ("race-checks", sum(|one| &one.race_checks)),
        ("atomics", sum(|one| &one.atomics)),
    ]
}

/// Bytes of memory that the shadow takes now, cells and summaries, if the kernel says so.
pub fn shadow_bytes() -> Option<u64> {
    let smaps = std::fs::read_to_string("/proc/self/smaps").ok()?;
    let tables = summary::tables().filter_map(|(start, len)| resident(&smaps, start, len));
    Some(resident(&smaps, BASE as usize, LEN as usize)? + tables.sum::<u64>())
}

/// Bytes in memory of the mappings that begin within a range: the kernel makes one of neighbours.
fn resident(smaps: &str, start: usize, len: usize) -> Option<u64> {
    let mut is_within = false;
    let mut kilobytes = None;
    for line in smaps.lines() {
        if let Some((from, _)) = crate::memory::span(line) {
            is_within = (start..start + len).contains(&from);
        }
        if let Some(size) = line.strip_prefix("Rss:").filter(|_| is_within) {
            let size: u64 = size.trim().strip_suffix("kB")?.trim().parse().ok()?;
            kilobytes = Some(kilobytes.unwrap_or(0) + size);
        }
    }
    Some(kilobytes? << 10)
}

/// A mapping larger than this is a reservation, most of which nobody has touched: looking for what was takes too long.
const HUGE: usize = 1 << 40;

/// Cells that have a state now: granules of memory that is mapped and was accessed since it came into being. Of compressed
/// regions those that are written down.
pub fn shadow_states() -> Option<u64> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let mut states = 0;
    for (from, to) in maps.lines().filter_map(crate::memory::span) {
        let ours = (BASE as usize..crate::vm::OWN_END).contains(&from);
        // The kernel's own page at the top has no shadow.
        if !ours && to - from < HUGE && to as u64 <= 1 << 47 {
            shadow::touched(from, to - from, |addr, len| {
                states += (addr..addr + len)
                    .step_by(8)
                    .filter(|at| used(shadow::cell(*at)))
                    .count() as u64;
            });
            shadow::compressed(from, to - from, |addr, _| {
                states += summary::states(owners::region(addr)).unwrap_or(0) as u64;
            });
        }
    }
    Some(states)
}

fn used(cell: &Cell) -> bool {
    cell.write.load(Ordering::Relaxed) | cell.read.load(Ordering::Relaxed) != 0
}

const _: () = assert!(ADDRESS_MASK < 1 << 47 && BASE + LEN < 1 << 47);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_word_on_the_shadow_is_found() {
        let smaps = "\
0ff000000000-100000000000 rw-p 00000000 00:00 0\nRss:                 4 kB
100000000000-300000000000 rw-p 00000000 00:00 0\nSize:      34359738368 kB\nRss:             56180 kB\nPss: 1 kB
5555d6e4e000-5555d6e50000 r--p 00000000 fe:01 1\nRss:                 8 kB\n";
        let shadow = |smaps| resident(smaps, BASE as usize, LEN as usize);
        assert_eq!(shadow(smaps), Some(56180 << 10));
        let other = "5555d6e4e000-5555d6e50000 r--p\nRss: 8 kB\n";
        assert_eq!(shadow(other), None);

        assert_eq!(
            resident(smaps, BASE as usize, 0x5000_0000_0000),
            Some(56188 << 10)
        );
    }
}
