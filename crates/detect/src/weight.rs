//! How much an event can make an analysis grow. A few lines of a hostile trace can ask for any amount of memory, so
//! whoever limits it has to look between the events, but not after each of them.

use deadheat_event::{Event, Op};

/// The most that events may weigh between two looks at memory, unless it is a single one.
pub const MAX_WEIGHT: u64 = 64 << 20;

/// What an array element weighs beside a byte of memory, which shares its state with its neighbours as a rule.
const ELEMENT: u64 = 64;

/// The weight of an event: bytes of memory, or elements of an array.
pub fn weight(event: &Event) -> u64 {
    match event.op {
        Op::Read { size, .. }
        | Op::Write { size, .. }
        | Op::Atomic { size, .. }
        | Op::Alloc { size, .. }
        | Op::Free { size, .. } => u64::from(size),
        Op::ArrayRead { indices, .. } | Op::ArrayWrite { indices, .. } => ELEMENT * indices.len(),
        _ => 0,
    }
}
