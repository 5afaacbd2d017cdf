//! What the runtime had to give up, told to the user once each.

use crate::channel::Lines;
use std::sync::atomic::{AtomicU32, Ordering};

/// Something that may hide a race or shorten a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Too many places or stacks.
    Stacks,
    /// Too many sets of locks.
    Locks,
    /// No clock slot for a new thread, or no new times for an old one.
    Slots,
    /// Memory whose shadow another mapping has.
    Shadow,
    /// The kernel has no memory for the runtime, not even what it had put by.
    Memory,
}

const ALL: [Loss; 5] = [Loss::Stacks, Loss::Locks, Loss::Slots, Loss::Shadow, Loss::Memory];

/// Those that there were, and those that were told.
static THERE: AtomicU32 = AtomicU32::new(0);
static TOLD: AtomicU32 = AtomicU32::new(0);

impl Loss {
    fn text(self) -> &'static str {
        match self {
            Loss::Stacks => "there are so many call stacks that new ones are shortened",
            Loss::Locks => {
                "there are so many sets of locks that reports do not say which locks new ones are of"
            }
            Loss::Slots => "there are so many threads that some accesses are no longer checked",
            Loss::Shadow => "some memory lies where the shadow of other memory is, and is not checked",
            Loss::Memory => "memory ran out: from then on nothing was checked",
        }
    }
}

/// Remembers it. Any lock may be held: it is told when next something is.
#[cold]
pub fn note(loss: Loss) {
    THERE.fetch_or(1 << loss as u32, Ordering::Relaxed);
}

/// There is no memory to go on with: from here on everything is let through. Does not allocate.
#[cold]
pub fn give_up() {
    note(Loss::Memory);
    if !crate::thread::OFF.swap(true, Ordering::Relaxed) {
        crate::log::tell(format_args!(
            "no memory is left for checks: detection is off from here"
        ));
    }
}

/// Adds the lines of those not told yet. What makes reports shorter is told only where there are any.
pub fn tell(lines: &mut Lines) {
    let mut there = THERE.load(Ordering::Relaxed);
    if crate::races::count() == 0 {
        there &= !(1 << Loss::Stacks as u32 | 1 << Loss::Locks as u32);
    }
    let new = there & !TOLD.fetch_or(there, Ordering::Relaxed);
    for loss in ALL.into_iter().filter(|loss| new >> *loss as u32 & 1 == 1) {
        lines.line(format_args!("loss\t{}", loss.text()));
    }
}

/// They will be told again: there is another reporter.
pub fn untold() {
    TOLD.store(0, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_told_once() {
        note(Loss::Shadow);
        note(Loss::Shadow);
        let mut lines = Lines::default();
        tell(&mut lines);
        let text = String::from_utf8_lossy(&lines.0).into_owned();
        assert_eq!(text.matches(Loss::Shadow.text()).count(), 1);
        let mut lines = Lines::default();
        tell(&mut lines);
        assert!(!String::from_utf8_lossy(&lines.0).contains(Loss::Shadow.text()));
    }
}
