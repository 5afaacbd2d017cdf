//! States that do not fit into a cell.
//!
//! First the granule is split into *halves*, each with two words of its own that mean what those of a cell mean: neighbouring
//! integers that are used at different times are common. What does not fit there either (atomics, reads that are not
//! ordered, single bytes) is a [`Few`] accesses; reads by more threads are in a roll that many granules have in common ([`rolls`]) or [`Many`], with the write before them; and what that does not do for is in `detect`'s
//! FastTrack locations, one for each *run* of bytes with one history. Reads by a few threads that go on for long are [`kept`] by the threads.
//!
//! All but [`Many`], leases and locations is in the one line of memory that a side state is: threads that use the same atomics pass those lines to and
//! fro, and wait for each.
//!
//! A cell with a side state has, in its first word, where the state is; in its second, the last reader's epoch and bytes,
//! so that this reader's inline test still succeeds (or an id by which each reader finds its own last read, see [`kept`]):
//!
//! ```text
//!  63      50 49         37 36 35           0
//! ┌──────────┬─────────────┬──┬────────────┐
//! │   SIDE   │ generation  │ 0│   index    │
//! └──────────┴─────────────┴──┴────────────┘
//! ```
//!
//! The lock of the cell and its side state is in the state: so the cell's line, which all who use an atomic look at, need not change
//! when the state does. Without the lock the words of such a cell do not change. The generation
//! changes whenever an index is used again, so a word that is still the same when the lock is taken means a state that is still there; otherwise the lock is
//! another cell's, or nobody's, and given back at once. Cells whose
//! highest bit of the index is set have another kind of state ([`crate::partly`]).

use crate::cell::{self, Cell, FIRST_SIDE, Found, Step, bytes, word};
use crate::partly::{self, Parts};
use crate::places::Place;
use crate::spin::Wait;
use crate::thread::Thread;
use crate::{checks, readers, shadow};
use deadheat_abi::shadow::{EPOCH, TERM_SHIFT};
use deadheat_detect::history::Class;
use deadheat_event::AccessKind;
use std::sync::atomic::Ordering;

mod few;
pub mod kept;
mod lines;
mod many;
mod rolls;
mod runs;
mod seen;

use few::Few;
use kept::Kept;
use lines::{Held, give, index, line, take};
pub use lines::{SIDE, SIDES, SIZE, count, give_all};
use many::{Many, Written};
use runs::{Runs, detect_epoch};
pub use seen::{KEY_BITS, has_read};
use seen::{see, seen};

const INDEX_BITS: u32 = 36;
/// Where the generation is in a cell's first word.
pub const GENERATION_SHIFT: u32 = INDEX_BITS + 1;
/// How many there are.
pub const GENERATIONS: u64 = 1 << (TERM_SHIFT - GENERATION_SHIFT);

/// The bytes of the two halves.
const HALVES: [u8; 2] = [0x0f, 0xf0];

/// What a side state says.
#[derive(Default)]
struct Said {
    /// What is known, in the form that `form` says.
    words: [u64; few::MOST],
    more: Option<Box<More>>,
}

/// What kind of side state it is.
#[derive(Default)]
struct Kind {
    generation: u16,
    /// Of a [`Few`].
    classes: u16,
    form: Form,
    /// How many reads in a row have repeated one of the same thread.
    repeats: u8,
}

/// A side state that is held.
pub struct Side<'a> {
    said: &'a mut Said,
    kind: &'a mut Kind,
}

/// How a side state says what it says.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(u8)]
enum Form {
    /// Four words: write and read of the lower half, and of the upper one.
    #[default]
    Halves,
    /// A [`Few`].
    Few,
    /// A [`Few`], and reads that are in the leases of [`More::Kept`]. Together there are no more than a [`Few`] has room for.
    Kept,
    /// [`More`].
    More,
    /// The write in the first word, then the bits of a [`rolls::Enrolled`], then its roll.
    Enrolled,
}

/// What a side state says elsewhere.
enum More {
    Many(Many),
    Runs(Runs),
    Kept(Kept),
}

/// Maps the tables ahead of their first use, or says why not.
pub fn reserve() -> Result<(), i32> {
    lines::reserve()?;
    rolls::reserve()
}

/// Takes the locks of the free states and of the rolls, before a `fork`.
pub fn hold() {
    lines::hold();
    rolls::hold();
}

/// Gives them back, after it.
pub fn let_go() {
    rolls::let_go();
    lines::let_go();
}

/// All cells are forgotten, in the child of a `fork`.
pub fn forget_all() {
    lines::forget_all();
    rolls::forget_all();
}

/// A word, as far as it is about `mask`.
fn only(word: u64, mask: u8) -> u64 {
    if bytes(word) & mask == 0 {
        0
    } else {
        word | u64::from(!mask)
    }
}

/// One word for two halves, if there is one.
fn unite(t: &mut Thread, low: u64, high: u64) -> Option<u64> {
    if low == 0 || high == 0 {
        return Some(low | high);
    }
    let (a, b) = (cell::place(low), cell::place(high));
    if (low ^ high) & EPOCH != 0 || a.is_readers() || b.is_readers() {
        return None;
    }
    let both = if a == b { a } else { t.places.with(a, b, HALVES[1]) };
    Some(word(low, both, bytes(low) | bytes(high)))
}

impl Side<'_> {
    fn fill(&mut self, (write, read): (u64, u64)) {
        // Reads that others are behind of cannot be cut in two.
        if !cell::place(read).is_readers() {
            return self.set_halves(HALVES.map(|half| (only(write, half), only(read, half))));
        }
        match Few::of(write, read) {
            Some(few) => self.set_few(few),
            None if self.enroll(write, || readers::each(read)) => {}
            None => self.set_more(match Many::of(write, readers::each(read)) {
                Some(many) => More::Many(many),
                None => More::Runs(Runs::of(|_| (write, read))),
            }),
        }
    }

    /// Whether it has been through all generations. Then it is not used again: what threads know to be in a state of this name would be
    /// taken for known of the next. That costs less than a hundredth of a byte for each use.
    fn is_worn(&self) -> bool {
        u64::from(self.kind.generation) >= GENERATIONS - 1
    }

    /// Says nothing, and has nothing elsewhere.
    fn empty(&mut self) {
        if let Some((_, enrolled)) = self.enrolled() {
            enrolled.leave();
        }
        self.said.more = None;
        self.set_halves([(0, 0); 2]);
    }

    fn fill_parts(&mut self, parts: &Parts) {
        let written = bytes(parts.words.1);
        // A half that was written in part has more to say than its words.
        if HALVES.iter().any(|half| ![0, *half].contains(&(written & half))) {
            return self.set_more(More::Runs(Runs::of(|byte| parts.at_byte(byte))));
        }
        self.set_halves(HALVES.map(|half| {
            let (write, read) = parts.at_byte(half.trailing_zeros());
            (only(write, half), only(read, half))
        }));
    }

    fn halves(&self) -> [(u64, u64); 2] {
        let [a, b, c, d, ..] = self.said.words;
        [(a, b), (c, d)]
    }

    fn set_halves(&mut self, [(a, b), (c, d)]: [(u64, u64); 2]) {
        self.said.words = [a, b, c, d, 0, 0];
        self.kind.form = Form::Halves;
    }

    fn set_few(&mut self, few: Few) {
        (self.said.words, self.kind.classes) = (few.words, few.classes);
        self.kind.form = Form::Few;
    }

    fn set_more(&mut self, more: More) {
        self.said.more = Some(Box::new(more));
        self.kind.form = Form::More;
    }

    fn few(&self) -> Few {
        Few {
            words: self.said.words,
            classes: self.kind.classes,
        }
    }

    /// Checks an access and remembers it.
    fn access(
        &mut self,
        t: &mut Thread,
        mask: u8,
        kind: AccessKind,
        atomic: bool,
        at: Place,
        found: &mut Vec<Found>,
    ) {
        if self.kind.form == Form::Kept && self.access_kept(t, mask, Class { kind, atomic }, at, found) {
            return;
        }
        if self.kind.form == Form::Enrolled
            && self.access_enrolled(t, mask, Class { kind, atomic }, at, found)
        {
            return;
        }
        self.kind.repeats = 0;
        let mut left = mask;
        if !atomic && self.kind.form == Form::Halves {
            let mut halves = self.halves();
            for (half, words) in HALVES.iter().zip(&mut halves) {
                let mask = mask & half;
                if mask == 0 {
                    continue;
                }
                let step = match kind {
                    AccessKind::Read => cell::step_among::<false>(t, *words, mask, at, readers::FEW),
                    AccessKind::Write => cell::step::<true>(t, *words, mask, at),
                };
                match step {
                    Step::Known => {}
                    Step::Words(new, with_write, with_read) => {
                        cell::tell_both(t, *words, with_write, with_read, found);
                        *words = new;
                    }
                    Step::Misfit => break,
                }
                left &= !half;
            }
            self.set_halves(halves);
        }
        if left == 0 {
            return;
        }
        if self.kind.form == Form::Halves
            && let Some(few) = Few::of_halves(self.halves())
        {
            self.set_few(few);
        }
        if self.kind.form == Form::Few && t.fits() {
            let before = found.len();
            let mut few = self.few();
            if few.access(t, left, Class { kind, atomic }, at, found) {
                return match few.halves() {
                    Some(halves) if kind == AccessKind::Write && !atomic => self.set_halves(halves),
                    _ => self.set_few(few),
                };
            }
            found.truncate(before);
            if kind == AccessKind::Read
                && !atomic
                && let Some(many) = self.few().many()
            {
                if self.enroll(many.write, || many.each())
                    && self.access_enrolled(t, left, Class::READ, at, found)
                {
                    return;
                }
                if self.kind.form != Form::More {
                    self.set_more(More::Many(many));
                }
            }
        }
        if !atomic && t.fits() && self.access_many(t, left, kind, at, found) {
            return;
        }
        self.access_runs(t, left, kind, atomic, at, found);
    }

    /// An access where some reads are in leases. Whether it was done; otherwise the leases were taken back.
    fn access_kept(
        &mut self,
        t: &mut Thread,
        mask: u8,
        class: Class,
        at: Place,
        found: &mut Vec<Found>,
    ) -> bool {
        let Some(More::Kept(kept)) = self.said.more.as_deref_mut() else {
            return false;
        };
        let mut few = Few {
            words: self.said.words,
            classes: self.kind.classes,
        };
        // Reads race with no reads.
        if class.kind == AccessKind::Read && t.fits() {
            let before = found.len();
            let mut after = few;
            if after.access(t, mask, class, at, found) && after.len() + kept.count() <= few::MOST {
                (self.said.words, self.kind.classes) = (after.words, after.classes);
                return true;
            }
            found.truncate(before);
        }
        kept.take().for_each(|read| few.add_read(read));
        self.said.more = None;
        self.set_few(few);
        false
    }

    /// Gives a lease to the thread whose read, on record in this epoch, is the first of a few. The cell's read word is `id` from
    /// now on, whoever else may have had a lease before. Whether it was given.
    #[inline(never)]
    fn keep(&mut self, t: &mut Thread, id: u64, mask: u8, at: Place) -> bool {
        let new = word(t.epoch, at, mask);
        let is_read = usize::from(self.kind.classes) % 4 == Class::READ.index();
        if self.said.words[0] != new || !is_read || t.blind {
            return false;
        }
        if self.kind.form == Form::Few {
            self.said.more = Some(Box::new(More::Kept(Kept::default())));
            self.kind.form = Form::Kept;
        }
        let Some(More::Kept(kept)) = self.said.more.as_deref_mut() else {
            return false;
        };
        let given = kept.give(t, id, mask, at);
        if given {
            self.said.words.rotate_left(1);
            self.said.words[few::MOST - 1] = 0;
            self.kind.classes >>= 2;
        } else if kept.count() == 0 {
            self.said.more = None;
            self.kind.form = Form::Few;
        }
        given
    }

    /// An access where many threads have read. Whether it was done.
    fn access_many(
        &mut self,
        t: &mut Thread,
        mask: u8,
        kind: AccessKind,
        at: Place,
        found: &mut Vec<Found>,
    ) -> bool {
        let Some(More::Many(many)) = self.said.more.as_deref_mut() else {
            return false;
        };
        if kind == AccessKind::Read {
            return many.read(t, mask, at, found);
        }
        match many.write(t, mask, at, found) {
            Written::Known => true,
            Written::Word(word) => {
                self.said.more = None;
                self.fill((word, word));
                true
            }
            Written::Misfit => false,
        }
    }

    #[inline(never)]
    fn access_runs(
        &mut self,
        t: &mut Thread,
        mask: u8,
        kind: AccessKind,
        atomic: bool,
        at: Place,
        found: &mut Vec<Found>,
    ) {
        let runs = match (self.kind.form, self.said.more.as_deref()) {
            (Form::Halves, _) => {
                let halves = self.halves();
                Some(Runs::of(|byte| halves[byte as usize / 4]))
            }
            (Form::Few | Form::Kept, _) => Some(self.few().runs()),
            (Form::More, Some(More::Many(many))) => Some(many.runs()),
            (Form::More | Form::Enrolled, _) => None,
        };
        if let Some(runs) = runs {
            self.set_more(More::Runs(runs));
        }
        let Some(More::Runs(runs)) = self.said.more.as_deref_mut() else {
            return;
        };
        runs.access(t, mask, kind, atomic, at, found);
        if kind == AccessKind::Write
            && !atomic
            && let Some(halves) = runs.pack()
        {
            self.said.more = None;
            self.set_halves(halves);
        }
    }

    /// An access that repeats one of the thread's and finds nothing, if it is one: most are. Never a plain write.
    #[inline(always)]
    fn repeat(&mut self, t: &Thread, mask: u8, class: Class, at: Place) -> bool {
        match self.kind.form {
            Form::Halves | Form::Kept | Form::Enrolled => false,
            Form::Few => {
                t.fits() && few::repeat(&mut self.said.words, &mut self.kind.classes, t, mask, class, at)
            }
            Form::More => match self.said.more.as_deref_mut() {
                Some(More::Runs(runs)) if class.atomic => runs.repeat_atomic(t, mask, class.kind, at),
                _ => false,
            },
        }
    }

    /// A read has repeated one. If there were many such it is in a lease from now on, and this is the read word of the cell.
    #[inline(always)]
    fn repeats_read(&mut self, t: &mut Thread, mask: u8, at: Place) -> Option<u64> {
        self.kind.repeats = self.kind.repeats.saturating_add(1);
        if self.kind.repeats < kept::LONG || self.kind.form != Form::Few {
            return None;
        }
        self.kind.repeats = 0;
        let id = kept::new_id(mask);
        self.keep(t, id, mask, at).then_some(id)
    }

    /// The state as two words, if it fits.
    fn pack(&self, t: &mut Thread) -> Option<(u64, u64)> {
        if self.kind.form != Form::Halves {
            return None;
        }
        let [low, high] = self.halves();
        Some((unite(t, low.0, high.0)?, unite(t, low.1, high.1)?))
    }
}

/// Has the processor fetch the states of neighbouring cells, all at once, if they have any: what comes next waits for each of them.
#[inline(always)]
pub fn fetch(cells: &[Cell]) {
    let first = |cell: &Cell| cell.write.load(Ordering::Relaxed);
    if cells.first().is_some_and(|cell| first(cell) >= FIRST_SIDE) {
        for cell in cells {
            checks::fetch(std::ptr::from_ref(line(first(cell))).addr());
        }
    }
}

/// Takes the lock of a cell with a side state, which its first word names. `None` if it has none any more.
fn hold_cell(cell: &Cell) -> Option<(u64, Held)> {
    let mut wait = Wait::default();
    loop {
        let first = cell.write.load(Ordering::Acquire);
        if first < FIRST_SIDE || partly::is(first) {
            return None;
        }
        let held = hold_at_once(cell, first);
        if held.is_some() {
            return Some(first).zip(held);
        }
        wait.once();
    }
}

/// The same if nobody has it, and the first word of the cell is this one.
#[inline(always)]
fn hold_at_once(cell: &Cell, first: u64) -> Option<Held> {
    let line = line(first);
    if !line.take() {
        return None;
    }
    let held = Held(line);
    (cell.write.load(Ordering::Relaxed) == first).then_some(held)
}

/// The second word: what this thread's inline test for reads may take as done.
fn filter(t: &Thread, old: u64, mask: u8, kind: AccessKind, atomic: bool) -> u64 {
    match (kind, atomic) {
        _ if t.blind || t.far => old,
        (_, true) => old,
        _ if (old ^ t.epoch) & EPOCH == 0 && old != 0 => word(t.epoch, Place(0), bytes(old) | mask),
        _ => word(t.epoch, Place(0), mask),
    }
}

/// An access to a cell whose first word was `first`, with a side state. Whether it was done: not if the cell has none any
/// more.
#[allow(clippy::too_many_arguments, reason = "the parts of one access")]
#[inline(never)]
pub fn access(
    t: &mut Thread,
    cell: &Cell,
    first: u64,
    mask: u8,
    kind: AccessKind,
    atomic: bool,
    at: Place,
    found: &mut Vec<Found>,
) -> bool {
    let class = Class { kind, atomic };
    let is_known = class == Class::READ && has_read(t, first);
    if is_known || seen(t, cell, first, mask, kind, atomic) {
        return true;
    }
    if class == Class::READ && kept::read(t, cell, mask, |_| Some(at)) {
        return true;
    }
    let Some((first, mut held)) = hold_cell(cell) else {
        return false;
    };
    let mut side = held.side();
    if class != Class::WRITE && side.repeat(t, mask, class, at) {
        if !atomic {
            let filter = filter(t, cell.read.load(Ordering::Relaxed), mask, kind, atomic);
            let id = side.repeats_read(t, mask, at);
            cell.read.store(id.unwrap_or(filter), Ordering::Relaxed);
        }
        drop(held);
        see(t, cell, first, mask, kind, atomic);
        return true;
    }
    side.access(t, mask, kind, atomic, at, found);
    let read = cell.read.load(Ordering::Relaxed);
    if side.kind.form == Form::Kept {
        if class == Class::READ && found.is_empty() {
            side.keep(t, read, mask, at);
        }
        drop(held);
        see(t, cell, first, mask, kind, atomic);
        return true;
    }
    if kept::is_id(read) {
        // Its leases were taken back.
        cell.read.store(0, Ordering::Relaxed);
    }
    match side.pack(t) {
        Some((write, read)) => {
            cell.read.store(read, Ordering::Relaxed);
            cell.write.store(write, Ordering::Release);
            give(t, index(first), side);
        }
        None => {
            let filter = filter(t, cell.read.load(Ordering::Relaxed), mask, kind, atomic);
            if !atomic {
                cell.read.store(filter, Ordering::Relaxed);
            }
            drop(held);
            see(t, cell, first, mask, kind, atomic);
        }
    }
    true
}

/// An access to a packed cell that says `old`, whose outcome does not fit into it. Whether it was done: not if the cell
/// has changed meanwhile.
#[allow(clippy::too_many_arguments, reason = "the parts of one access")]
#[inline(never)]
pub fn make(
    t: &mut Thread,
    cell: &Cell,
    old: (u64, u64),
    mask: u8,
    kind: AccessKind,
    atomic: bool,
    at: Place,
    found: &mut Vec<Found>,
) -> bool {
    make_of(
        t,
        cell,
        old,
        |side| side.fill(old),
        (mask, kind, atomic, at),
        found,
    )
}

fn make_of(
    t: &mut Thread,
    cell: &Cell,
    old: (u64, u64),
    fill: impl FnOnce(&mut Side<'_>),
    (mask, kind, atomic, at): (u8, AccessKind, bool, Place),
    found: &mut Vec<Found>,
) -> bool {
    let (index, mut side) = take(t);
    fill(&mut side);
    let before = found.len();
    side.access(t, mask, kind, atomic, at, found);
    let first = FIRST_SIDE | u64::from(side.kind.generation) << GENERATION_SHIFT | index;
    if cell.change(old, (first, filter(t, 0, mask, kind, atomic))) {
        shadow::side_made(cell);
        see(t, cell, first, mask, kind, atomic);
        return true;
    }
    found.truncate(before);
    give(t, index, side);
    false
}

/// An access to a cell that was written in part, and has this first word. Whether it was done: not if the cell has changed
/// meanwhile. `own` if nobody else changes the cell.
#[allow(clippy::too_many_arguments, reason = "the parts of one access")]
#[inline]
pub fn access_parts(
    t: &mut Thread,
    cell: &Cell,
    first: u64,
    own: bool,
    mask: u8,
    kind: AccessKind,
    atomic: bool,
    at: Place,
    found: &mut Vec<Found>,
) -> bool {
    let Some(parts) = Parts::of(cell, first) else {
        return false;
    };
    if !atomic {
        let done = match kind {
            AccessKind::Write => parts.write(t, cell, own, mask, at),
            AccessKind::Read => parts.has_read(t, mask).then_some(true),
        };
        if let Some(done) = done {
            return done;
        }
    }
    divide(t, cell, &parts, (mask, kind, atomic, at), found)
}

/// An access that makes a side state of what was written in part. Whether it was done.
#[inline(never)]
fn divide(
    t: &mut Thread,
    cell: &Cell,
    parts: &Parts,
    access: (u8, AccessKind, bool, Place),
    found: &mut Vec<Found>,
) -> bool {
    let done = make_of(t, cell, parts.words, |side| side.fill_parts(parts), access, found);
    if done {
        parts.left(t);
    }
    done
}

/// [`atomic`] where a few accesses are on record, the thread's own last one of this kind among them, and it finds nothing. Whether
/// it was so; otherwise nothing was done.
#[inline(always)]
pub fn repeat_atomic(t: &mut Thread, cell: &Cell, mask: u8, kind: AccessKind, at: Place) -> bool {
    let first = cell.write.load(Ordering::Relaxed);
    if first < FIRST_SIDE || partly::is(first) {
        return false;
    }
    if seen(t, cell, first, mask, kind, true) {
        return true;
    }
    let Some(mut held) = hold_at_once(cell, first) else {
        return false;
    };
    let class = Class { kind, atomic: true };
    let Side { said, kind: of } = held.side();
    let done =
        of.form == Form::Few && t.fits() && few::repeat(&mut said.words, &mut of.classes, t, mask, class, at);
    drop(held);
    if done {
        see(t, cell, first, mask, kind, true);
    }
    done
}

/// Whether an atomic load of these bytes by this thread, in this epoch, is on record.
#[inline(always)]
pub fn has_loaded(t: &Thread, cell: &Cell, mask: u8) -> bool {
    let first = cell.write.load(Ordering::Relaxed);
    seen(t, cell, first, mask, AccessKind::Read, true)
}

/// An atomic access to `mask`.
pub fn atomic(t: &mut Thread, cell: &Cell, mask: u8, kind: AccessKind, at: Place, found: &mut Vec<Found>) {
    loop {
        let old = cell.load();
        let done = if partly::is(old.0) {
            access_parts(t, cell, old.0, false, mask, kind, true, at, found)
        } else if old.0 >= FIRST_SIDE {
            access(t, cell, old.0, mask, kind, true, at, found)
        } else {
            make(t, cell, old, mask, kind, true, at, found)
        };
        if done {
            return;
        }
    }
}

/// Forgets all that the cell says. Plain stores do: who touches memory while it comes into being races with that.
#[inline]
pub fn reset(cell: &Cell) {
    let (write, read) = cell.load();
    if partly::is(write) {
        partly::forgotten(write);
    } else if write >= FIRST_SIDE && reset_side(cell) {
        return;
    }
    if write | read != 0 {
        cell.write.store(0, Ordering::Relaxed);
        cell.read.store(0, Ordering::Relaxed);
    }
}

#[cold]
fn reset_side(cell: &Cell) -> bool {
    let Some((first, mut held)) = hold_cell(cell) else {
        return false;
    };
    cell.read.store(0, Ordering::Relaxed);
    cell.write.store(0, Ordering::Release);
    let mut side = held.side();
    side.empty();
    if !side.is_worn() {
        lines::give_to_all(first);
    }
    true
}
