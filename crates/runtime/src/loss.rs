//! What the runtime had to give up, told to the user once each.

use crate::channel;
use std::sync::atomic::{AtomicBool, Ordering};

/// Something that may hide a race or shorten a report.
#[derive(Clone, Copy, Debug)]
pub enum Loss {
    /// Too many places or stacks.
    Stacks,
    /// Too many sets of locks.
    Locks,
    /// No clock slot for a new thread, or no new times for an old one.
    Slots,
    /// Memory whose shadow another mapping has.
    Shadow,
}

const ALL: usize = 4;

static TOLD: [AtomicBool; ALL] = [const { AtomicBool::new(false) }; ALL];

impl Loss {
    fn text(self) -> &'static str {
        match self {
            Loss::Stacks => "there are so many call stacks that new ones are shortened",
            Loss::Locks => "there are so many sets of locks that reports leave new ones out",
            Loss::Slots => "there are so many threads and releases that some accesses are no longer checked",
            Loss::Shadow => "some memory lies where the shadow of other memory is, and is not checked",
        }
    }
}

/// Tells it, the first time.
#[cold]
pub fn tell(loss: Loss) {
    if !TOLD[loss as usize].swap(true, Ordering::Relaxed) {
        channel::loss(loss.text());
    }
}
