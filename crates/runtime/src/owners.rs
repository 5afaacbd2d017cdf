//! Who may change the shadow of a stretch of memory without locked instructions.
//!
//! Most memory is touched by one thread for long. A *region* of it (4 KiB) belongs to nobody at first, then to the thread
//! that touches it first, which changes its cells with plain stores. When another thread comes, the region is handed over;
//! if that was done too often, it becomes *shared* for good, and its cells change by `cmpxchg16b`, as they would without all this.
//! By itself a region is handed over twice. Many are handed over together to a thread that goes through them, which costs
//! each of them little; so arrays that threads take turns at, each in a phase of its own, are handed over any number of times.
//!
//! A thread changes cells only inside a *section*, which it enters before it looks at the cell and at whose the region is.
//! Entering is an ordinary store to its own `tls.inside`: that it is seen in time is the newcomer's business. It marks the
//! region, has the kernel put a barrier into every running thread (`membarrier`), and waits until it sees the owner outside
//! of sections. From the barrier on whoever enters one sees the mark.
//!
//! Regions that are accessed in large pieces have no owner and no cells in use, but a summary ([`crate::summary`]).
//!
//! Where there is no `membarrier`, every region is shared from the beginning. A program that is about to confine itself
//! (`seccomp`) could not be served any more: then all is made shared before it does.

use crate::spin::{self, Spin, Wait};
use crate::vm::{self, PAGE, Table};
use crate::{confined, record, shadow, summary};
use deadheat_abi::shadow::{ADDRESS_MASK, BASE, GRANULE};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering, compiler_fence};

/// An address shifted by this is a region's number.
pub const REGION_SHIFT: u32 = 12;
/// The bits of an address within its region.
pub const REGION_MASK: usize = (1 << REGION_SHIFT) - 1;
/// How many regions there are.
pub const REGIONS: usize = (ADDRESS_MASK as usize >> REGION_SHIFT) + 1;

/// Whose a region is: the lower half of its word. Otherwise one more than the owner's slot.
const NOBODY: u32 = 0;
/// It has a summary in the place of cells ([`crate::summary`]), and no owner. It leaves this state only by who holds the summary.
const COMPRESSED: u32 = 0xfffd;
/// It is being taken from its owner.
const MARKED: u32 = 0xfffe;
/// Everybody's.
pub const SHARED: u32 = 0xffff;
/// When it was handed over last: the time stamp's lowest bits, above.
const STAMP: u32 = 0xff << STAMP_SHIFT;
const STAMP_SHIFT: u32 = 16;
/// What its handovers have cost, above that: [`ALONE`] for a handover by itself, less if others came with it. Not zero if there
/// was one.
const COST: u32 = 1 << 24;
const ALONE: u32 = 32;
/// The least that it costs if the last one was shortly before.
const SOON: u32 = 8;
/// So much they may cost.
const OFTEN: u32 = 2 * ALONE * COST;

/// What an access to a region is to touch, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Its cells, with plain stores.
    Own,
    /// Its cells, with locked instructions.
    Shared,
    /// Its summary.
    Compressed,
}

/// The most regions that are taken from their owner at once.
const TOGETHER: usize = 256;
/// How far ahead of the last one a region may be for a thread to go on.
const NEAR: usize = 64;

/// The shadow of so many regions is written to by the kernel ahead of a thread that goes through memory from front to back.
/// Without that each page of it is mapped twice, first to be read, then to be written, and the second time all other
/// processors are told.
const AHEAD: usize = 16;

/// So far behind a region that it comes to a thread looks whether all others have heard of what was done there: they are late by a few epochs.
const BEHIND: usize = 2;
/// It looks at so many at once.
const MANY: usize = 16;

/// A word for each region. Read in [`crate::quick`], too.
static OWNERS: Table<AtomicU32> = Table::new();

/// Whether there can be owners. Held while words change, and while threads are waited for that are in sections: what is locked
/// in a section must not be held by who takes this.
static ABLE: Spin<bool> = Spin::new(false);

/// In `tls.inside` while the thread is in a section.
pub const IN_SECTION: u32 = 0x100;

/// For each slot, where the thread that has it says whether it is in a section; 0 if there is none. Read and changed while
/// [`ABLE`] is held, so that the place is there for as long.
static SECTION: Table<AtomicUsize> = Table::new();
const SECTIONS: usize = 1 << 14;

/// So many slots have had a place there.
static NAMED: AtomicU32 = AtomicU32::new(0);
/// Whether there were threads without one, of which nobody knows whether they are in sections.
static NAMELESS: AtomicBool = AtomicBool::new(false);

/// A thread, as far as regions go.
pub struct Owner {
    /// What the words of its own regions say.
    pub name: u32,
    /// All words, as if there were some for memory below the shadow's: the number of a cell's region is its own address,
    /// shifted by one more than that of the memory.
    pub words: *const AtomicU32,
    /// Its `tls.inside`.
    inside: *const AtomicU32,
    /// The first region of those whose shadow was mapped last.
    ahead: Cell<usize>,
    /// The end of what was taken from another last, and how much that was.
    came: Cell<(usize, usize)>,
    /// The first of some regions that were gone through and are some way behind, if they have not been looked at; 0 if there are none.
    behind: Cell<usize>,
}

impl Owner {
    /// The thread that has `slot` and says in `inside` whether it is in a section. To be told when it is [`gone`][Owner::gone].
    ///
    /// # Safety
    /// `inside` is there until then.
    pub unsafe fn new(slot: u32, inside: *const AtomicU32) -> Owner {
        let _changing = ABLE.lock();
        section(slot).store(inside.expose_provenance(), Ordering::Relaxed);
        NAMED.fetch_max(slot + 1, Ordering::Relaxed);
        Owner {
            name: slot + 1,
            words: words(),
            inside,
            ahead: Cell::default(),
            came: Cell::default(),
            behind: Cell::default(),
        }
    }

    /// A thread without a name in the words of regions, so what it touches is everybody's.
    ///
    /// # Safety
    /// `inside` is there until the thread ends.
    pub unsafe fn of_nothing(inside: *const AtomicU32) -> Owner {
        let _changing = ABLE.lock();
        NAMELESS.store(true, Ordering::Relaxed);
        Owner {
            inside,
            ..Owner::nobody()
        }
    }

    /// For a thread that does not run yet.
    pub fn nobody() -> Owner {
        Owner {
            name: SHARED,
            words: words(),
            inside: std::ptr::null(),
            ahead: Cell::default(),
            came: Cell::default(),
            behind: Cell::default(),
        }
    }

    /// The thread ends, or shadow words cannot name it any more.
    pub fn gone(&self) {
        if self.name <= SECTIONS as u32 {
            let _changing = ABLE.lock();
            section(self.name - 1).store(0, Ordering::Relaxed);
        }
    }

    /// Enters a section in which the cell of `addr` may be changed, or says that it has none: then it is in no section.
    #[inline(always)]
    pub fn enter(&self, addr: usize) -> Whose {
        self.enter_for(addr, false)
    }

    /// The same for an access of which it is known whether it is `long`: a region that nobody has touched is compressed then.
    #[inline(always)]
    pub fn enter_for(&self, addr: usize, long: bool) -> Whose {
        let word = word(region(addr));
        loop {
            self.mark(IN_SECTION);
            let whose = word.load(Ordering::Acquire) & SHARED;
            match whose {
                SHARED => return Whose::Shared,
                name if name == self.name => return Whose::Own,
                _ => self.mark(0),
            }
            if whose == COMPRESSED {
                return Whose::Compressed;
            }
            self.take(region(addr), long);
        }
    }

    /// Enters a section in which the cell may be changed, if nothing has to be done for that: with plain stores, or not. `None` if it
    /// is in none.
    #[inline(always)]
    pub fn enter_at_once(&self, cell: &'static crate::cell::Cell) -> Option<bool> {
        let region = std::ptr::from_ref(cell).addr() >> (REGION_SHIFT + 1);
        // SAFETY: within the table, as `words` counts.
        let word = unsafe { &*self.words.wrapping_add(region) };
        self.mark(IN_SECTION);
        let whose = word.load(Ordering::Acquire) & SHARED;
        if whose == SHARED {
            return Some(false);
        }
        if whose == self.name {
            return Some(true);
        }
        self.mark(0);
        None
    }

    /// Whether a cell may be changed with plain stores in the section that the thread is in.
    #[inline(always)]
    pub fn owns(&self, cell: &'static crate::cell::Cell) -> bool {
        let region = std::ptr::from_ref(cell).addr() >> (REGION_SHIFT + 1);
        // SAFETY: within the table, as `words` counts.
        let word = unsafe { &*self.words.wrapping_add(region) };
        word.load(Ordering::Acquire) & SHARED == self.name && self.name != SHARED
    }

    /// Whose the region of `addr` is, for a thread that is in a section; `None` if it has to be taken first.
    #[inline(always)]
    pub fn whose(&self, addr: usize) -> Option<Whose> {
        let from_here = self.words.wrapping_add(BASE as usize >> (REGION_SHIFT + 1));
        // SAFETY: within the table, as `words` counts; zero bytes are an atomic.
        let word = unsafe { &*from_here.wrapping_add(region(addr)) };
        let whose = word.load(Ordering::Acquire) as u16;
        // This first: it is the commonest by far.
        if whose == self.name as u16 && whose != SHARED as u16 {
            Some(Whose::Own)
        } else if whose == SHARED as u16 {
            Some(Whose::Shared)
        } else {
            None
        }
    }

    /// Leaves it.
    #[inline(always)]
    pub fn leave(&self) {
        self.mark(0);
    }

    #[inline(always)]
    fn mark(&self, section: u32) {
        compiler_fence(Ordering::SeqCst);
        // SAFETY: the thread's own variable, as `new` was promised. Nobody else writes it, so no locked instruction.
        let inside = unsafe { &*self.inside };
        inside.store(
            inside.load(Ordering::Relaxed) & !IN_SECTION | section,
            Ordering::Relaxed,
        );
        compiler_fence(Ordering::SeqCst);
    }

    /// How many regions, from `region` on, to take from their owner at once: twice as many as before, if the thread goes on
    /// from there. At the border of its own memory a thread takes one.
    fn together(&self, region: usize) -> usize {
        let (end, taken) = self.came.get();
        if (end..end + NEAR).contains(&region) {
            (2 * taken).clamp(1, TOGETHER)
        } else {
            1
        }
    }

    /// Takes a region, or makes it shared. To be called outside of sections.
    #[cold]
    #[inline(never)]
    fn take(&self, region: usize, long: bool) {
        let mut able = ABLE.lock();
        let now = word(region).load(Ordering::Relaxed);
        let often = now & !SHARED;
        match now & SHARED {
            SHARED | COMPRESSED => {}
            // Its cells are zeros, and so is its summary.
            NOBODY if often < COST && long && summary::on() => {
                word(region).store(COMPRESSED, Ordering::Release);
            }
            NOBODY => {
                let new = if *able && often < OFTEN { self.name } else { SHARED };
                word(region).store(often | new, Ordering::Release);
                drop(able);
                // Otherwise its shadow is there since somebody else had it.
                if often < COST {
                    self.populate(region);
                    if region.is_multiple_of(MANY) {
                        self.behind.set(region.saturating_sub(MANY + BEHIND));
                    }
                }
            }
            owner => {
                let end = REGIONS.min(region + self.together(region));
                // Words do not change otherwise while `ABLE` is held.
                let rest = |word: &AtomicU32| word.load(Ordering::Relaxed) & !SHARED;
                let all = |whose: u32| {
                    (region..end)
                        .map(word)
                        .filter(move |word| word.load(Ordering::Relaxed) & SHARED == whose)
                };
                let taken = all(owner).count() as u32;
                all(owner).for_each(|word| word.store(rest(word) | MARKED, Ordering::Relaxed));
                *able &= barrier();
                wait_for(owner - 1);
                record::handed_over(owner - 1);
                let stamp = stamp();
                all(MARKED).for_each(|word| {
                    word.store(handed_over(rest(word), taken, stamp) | NOBODY, Ordering::Release);
                });
                self.came.set((end, end - region));
            }
        }
    }

    /// The summary of a region, which this thread holds, was written out to cells. Its new owner is this thread.
    pub fn expanded(&self, region: usize) {
        let able = ABLE.lock();
        let often = word(region).load(Ordering::Relaxed) & !SHARED;
        let new = if *able && often < OFTEN { self.name } else { SHARED };
        word(region).store(often | new, Ordering::Release);
    }

    /// If a region is this thread's, and `f`, which makes a summary of its cells, succeeds, it is compressed. The summary is held.
    /// To be called outside of sections.
    pub fn compress(&self, region: usize, f: impl FnOnce() -> bool) {
        // Nobody else changes the cells, nor takes the region, while this is held.
        let _changing = ABLE.lock();
        let now = word(region).load(Ordering::Relaxed);
        if now & SHARED == self.name && self.name != SHARED && f() {
            word(region).store(now & !SHARED | COMPRESSED, Ordering::Release);
        }
    }

    /// Some regions that were left behind when the thread came to a new one, if it has done so lately, once.
    #[inline(always)]
    pub fn left_behind(&self) -> Option<Range<usize>> {
        match self.behind.get() {
            0 => None,
            first => {
                self.behind.set(0);
                Some(first..first + MANY)
            }
        }
    }

    /// Has the kernel map the shadow from `region` on, if the thread comes from the region before it.
    fn populate(&self, region: usize) {
        let ahead = self.ahead.get();
        let before = word(region.saturating_sub(1)).load(Ordering::Relaxed);
        if before & SHARED == self.name && !(ahead..ahead + AHEAD).contains(&region) {
            self.ahead.set(region);
            shadow::populate(region << REGION_SHIFT, AHEAD << REGION_SHIFT);
        }
    }
}

/// Whether the cells of a region are in use.
pub fn has_cells(region: usize) -> bool {
    !matches!(
        word(region).load(Ordering::Relaxed) & SHARED,
        NOBODY | COMPRESSED | MARKED
    )
}

/// Gives back the shadow of regions of which `f`, which looks at their cells, says that nothing is needed any more. To be called outside
/// of sections.
pub fn give_back(regions: &[usize], f: impl Fn(usize) -> bool) {
    let mut able = ABLE.lock();
    if !*able || NAMELESS.load(Ordering::Relaxed) {
        return;
    }
    // Words do not change otherwise while `ABLE` is held.
    let before: Vec<(usize, u32)> = regions
        .iter()
        .filter(|region| has_cells(**region))
        .map(|region| (*region, word(*region).load(Ordering::Relaxed)))
        .collect();
    for (region, before) in &before {
        word(*region).store(before & !SHARED | MARKED, Ordering::Relaxed);
    }
    *able &= barrier();
    (0..NAMED.load(Ordering::Relaxed)).for_each(wait_for);
    for (region, before) in before {
        if f(region)
            && let Some(cells) = shadow::cells(region << REGION_SHIFT, (REGION_MASK + 1) / GRANULE as usize)
        {
            shadow::give_back(cells);
        }
        word(region).store(before, Ordering::Release);
    }
}

/// What follows whose a region is, when it is handed over together with others, `taken` in all. Long after the last time that costs
/// nothing if there are many. Threads that want the same regions at the same time are better off sharing them.
fn handed_over(rest: u32, taken: u32, stamp: u32) -> u32 {
    let at_once = rest & STAMP == stamp && rest >= COST;
    let cost = match (ALONE / taken.max(1), at_once) {
        (0 | 1, false) => 0,
        (cost, true) => cost.max(SOON),
        (cost, false) => cost,
    };
    let cost = (rest / COST + cost).clamp(1, OFTEN / COST);
    (cost * COST) | stamp
}

/// The present time, in steps of a few milliseconds, as words have it.
fn stamp() -> u32 {
    // SAFETY: all processors of this kind have it.
    let time = unsafe { std::arch::x86_64::_rdtsc() };
    ((time >> 24) as u32) << STAMP_SHIFT & STAMP
}

/// Waits until the thread that has `slot` is seen outside of sections. [`ABLE`] is held.
fn wait_for(slot: u32) {
    let inside = section(slot).load(Ordering::Relaxed);
    if inside == 0 {
        return;
    }
    // SAFETY: there as long as it is named, which cannot change meanwhile.
    let inside = unsafe { &*std::ptr::with_exposed_provenance::<AtomicU32>(inside) };
    // All bits are set where a thread ends, outside of sections.
    let is_in = |inside| inside & IN_SECTION != 0 && inside != u32::MAX;
    let mut wait = Wait::default();
    while is_in(inside.load(Ordering::Acquire)) {
        wait.once();
    }
}

fn section(slot: u32) -> &'static AtomicUsize {
    // SAFETY: within the table; zero bytes are an atomic.
    unsafe { &*SECTION.at(slot as usize % SECTIONS, SECTIONS) }
}

fn words() -> *const AtomicU32 {
    OWNERS
        .at(0, REGIONS)
        .wrapping_sub(BASE as usize >> (REGION_SHIFT + 1))
}

/// Whether a region has a summary in the place of cells.
#[inline(always)]
pub fn is_compressed(region: usize) -> bool {
    word(region).load(Ordering::Acquire) & SHARED == COMPRESSED
}

/// The summary of a region, which is held, was written out to cells that are nobody's.
pub fn expanded_for_anybody(region: usize) {
    let often = word(region).load(Ordering::Relaxed) & !SHARED;
    // As if it had been handed over: those that never were have cells of zeros.
    word(region).store(often.max(COST) | NOBODY, Ordering::Release);
}

/// The summary of a region, which is held, says nothing any more: as if nobody had touched it.
pub fn untouched(region: usize) {
    word(region).store(NOBODY, Ordering::Release);
}

/// Calls `f` with the first address of each compressed region that `addr..addr + len` is in.
pub fn compressed(addr: usize, len: usize, mut f: impl FnMut(usize)) {
    let size = size_of::<AtomicU32>();
    let (mut at, end) = (addr & !REGION_MASK, addr + len);
    while at < end {
        // Masked addresses may wrap around: then in two pieces.
        let first = region(at);
        let count = ((end - at).div_ceil(REGION_MASK + 1)).min(REGIONS - first);
        let mut look = |from: usize, to: usize| {
            (from..to)
                .filter(|n| is_compressed(first + n))
                .for_each(|n| f(at + (n << REGION_SHIFT)));
        };
        let start = OWNERS.at(first, REGIONS).addr();
        let page = start / PAGE * PAGE;
        if count * size <= PAGE {
            look(0, count);
        } else {
            vm::resident(page, start + count * size - page, |page| {
                let from = page.saturating_sub(start) / size;
                look(from, ((page + PAGE - start) / size).min(count));
            });
        }
        at += count << REGION_SHIFT;
    }
}

/// The number of an address's region.
#[inline(always)]
pub fn region(addr: usize) -> usize {
    (addr & ADDRESS_MASK as usize) >> REGION_SHIFT
}

fn word(region: usize) -> &'static AtomicU32 {
    // SAFETY: within the table; zero bytes are an atomic.
    unsafe { &*OWNERS.at(region, REGIONS) }
}

const REGISTER: i32 = 1 << 4;
const EXPEDITED: i32 = 1 << 3;

fn membarrier(command: i32) -> bool {
    // SAFETY: touches no memory.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// A full barrier in every thread that runs. Whether the kernel will do it again.
fn barrier() -> bool {
    let done = membarrier(EXPEDITED);
    if !done {
        // The kernel did at the start. No store stays out of sight for so long.
        spin::nap(1_000_000);
    }
    done
}

/// The same, also where the kernel may not be asked: no store stays out of sight for so long.
pub fn barrier_everywhere() {
    let able = ABLE.lock();
    if *able {
        barrier();
        return;
    }
    drop(able);
    std::thread::sleep(std::time::Duration::from_millis(1));
}

/// Maps the tables ahead of their first use, or says why not.
pub fn reserve() -> Result<(), i32> {
    OWNERS.reserve(REGIONS)?;
    SECTION.reserve(SECTIONS)
}

/// Asks the kernel whether there can be owners. A process that was confined before it started may not be allowed to ask.
pub fn init() {
    *ABLE.lock() = (!confined::at_start() || confined::survives(ask)) && membarrier(REGISTER);
}

fn ask() {
    membarrier(REGISTER);
    membarrier(EXPEDITED);
}

/// From now on everything is shared: the kernel may not be asked any more.
pub fn share_all() {
    let mut able = ABLE.lock();
    if !std::mem::take(&mut *able) {
        return;
    }
    let mut owned = Vec::new();
    let start = OWNERS.at(0, REGIONS).addr();
    vm::resident(start, REGIONS * size_of::<AtomicU32>(), |page| {
        let first = (page - start) / size_of::<AtomicU32>();
        for word in (first..first + PAGE / size_of::<AtomicU32>()).map(word) {
            if !matches!(
                word.load(Ordering::Relaxed) & SHARED,
                SHARED | NOBODY | COMPRESSED
            ) {
                word.store(MARKED, Ordering::Relaxed);
                owned.push(word);
            }
        }
    });
    barrier();
    (0..SECTIONS as u32).for_each(wait_for);
    record::all_handed_over();
    owned
        .iter()
        .for_each(|word| word.store(SHARED, Ordering::Release));
}

/// Takes the lock, before a `fork`.
pub fn hold() {
    ABLE.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    ABLE.let_go();
}

/// After a `fork`, in the child: nobody owns anything, and the only thread is `owner`.
pub fn forget_all(owner: &Owner) {
    if let Some(start) = OWNERS.start() {
        // SAFETY: the table, whose zeros are nobody.
        unsafe { vm::zero(start, REGIONS * size_of::<AtomicU32>()) };
    }
    for slot in (0..SECTIONS as u32).filter(|slot| slot + 1 != owner.name) {
        section(slot).store(0, Ordering::Relaxed);
    }
    // Asked only if it may be, see `share_all`.
    let mut able = ABLE.lock();
    *able = *able && membarrier(REGISTER);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::{Random, times};
    use std::cell::UnsafeCell;
    use std::sync::Once;

    /// Numbers that threads count up, one in each region.
    struct Counts(Vec<UnsafeCell<AtomicU32>>);

    // SAFETY: what the test is about.
    unsafe impl Sync for Counts {}

    fn init_once() {
        static ONCE: Once = Once::new();
        ONCE.call_once(init);
    }

    /// Counts up as cells are changed: where the region is one's own, with an ordinary addition that takes its time.
    fn count(owner: &Owner, addr: usize, count: &UnsafeCell<AtomicU32>, time: u64) {
        let own = owner.enter(addr) == Whose::Own;
        // SAFETY: nobody else changes it meanwhile, if owners are owners.
        unsafe {
            if own {
                let plain = count.get().cast::<u32>();
                let now = plain.read_volatile();
                (0..time).for_each(|_| std::hint::spin_loop());
                plain.write_volatile(now + 1);
            } else {
                (*count.get()).fetch_add(1, Ordering::Relaxed);
            }
        }
        owner.leave();
    }

    /// Threads go through regions, of which `apart` are between one and the next, `passes` times, and count up `rounds` times in each. No
    /// count is lost.
    fn go_through(base: usize, slot: u32, apart: usize, places: usize, passes: usize, rounds: usize) {
        const THREADS: u32 = 3;
        init_once();
        let counts = Counts((0..places).map(|_| UnsafeCell::default()).collect());
        std::thread::scope(|scope| {
            for n in 0..THREADS {
                let counts = &counts;
                scope.spawn(move || {
                    let inside = AtomicU32::new(1);
                    // SAFETY: it lives longer than the owner.
                    let owner = unsafe { Owner::new(slot + n, &raw const inside) };
                    let mut random = Random(n.into());
                    for (at, number) in counts.0.iter().enumerate().cycle().take(places * passes) {
                        for _ in 0..rounds {
                            let addr = base + ((at * apart) << REGION_SHIFT);
                            count(&owner, addr, number, random.below(40));
                        }
                    }
                    owner.gone();
                });
            }
        });
        // SAFETY: the threads have ended.
        let numbers = counts
            .0
            .iter()
            .map(|count| unsafe { (*count.get()).load(Ordering::Relaxed) });
        for (at, number) in numbers.enumerate() {
            assert_eq!(number as usize, THREADS as usize * passes * rounds, "region {at}");
        }
    }

    #[test]
    fn no_change_is_lost_while_regions_go_from_hand_to_hand() {
        let places = 20_000 * times().min(1000) as usize;
        // Regions and slots that no other test has; further apart than what is taken together.
        go_through(0x0100_0000_0000, 9000, 2 * NEAR, places, 1, 40);
    }

    #[test]
    fn no_change_is_lost_while_many_go_from_hand_to_hand_together() {
        let passes = 200 * times().min(1000) as usize;
        go_through(0x0400_0000_0000, 9010, 1, 2000, passes, 2);
    }

    #[test]
    fn many_regions_together_are_handed_over_any_number_of_times_unless_at_once() {
        let [early, late] = [1, 2].map(|time| time << STAMP_SHIFT);
        let turns = |times: usize, taken: u32, stamps: [u32; 2]| {
            let stamps = stamps.iter().cycle().take(times);
            stamps.fold(0, |rest, stamp| handed_over(rest, taken, *stamp))
        };
        assert!((COST..OFTEN).contains(&turns(1000, 32, [early, late])));
        assert!((COST..OFTEN).contains(&turns(3, 32, [early, early])));
        assert!(turns(20, 32, [early, early]) >= OFTEN);
        assert!((COST..OFTEN).contains(&turns(1, 1, [early, late])));
        assert!(turns(2, 1, [early, late]) >= OFTEN);
        // The cost does not run over.
        assert!(turns(1000, 1, [early, late]) >= OFTEN);
    }

    #[test]
    fn a_region_is_handed_over_twice_and_then_shared() {
        init_once();
        let inside = [9100, 9101].map(|slot| (slot, AtomicU32::new(1)));
        // SAFETY: they live longer than the owners.
        let owners = inside
            .each_ref()
            .map(|(slot, inside)| unsafe { Owner::new(*slot, inside) });
        let addr = 0x0300_0000_0000;
        let enter = |n: usize| {
            let whose = owners[n].enter(addr);
            owners[n].leave();
            whose == Whose::Own
        };
        assert!(enter(0) && enter(0));
        assert!(enter(1) && enter(1));
        assert_eq!([0, 1, 0, 1].map(enter), [false; 4]);
        owners.iter().for_each(Owner::gone);
    }
}
