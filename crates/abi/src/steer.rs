//! The plan of a steered run: what the runtime is told by `DEADHEAT_OPTIONS=steer=FILE`, and what it answers.
//!
//! Text, one statement a line, numbers in decimal. A *key* stands for a place in the program, or for a kind of event that has none. An
//! event of a thread is known by its key and by how often the thread has come there since recording would have begun.
//!
//! ```text
//! hold MICROSECONDS          the most time that a thread waits for its turn
//! stand MICROSECONDS         the most time that one waits in front of a racing access
//! loose SEED                 any visit of a racing place may wait there, by chance
//! arrive N                   turn 1 comes when N threads have done an event of turn 0
//! module N PATH              an executable or library; none for the program itself
//! code MODULE OFFSET KEY     the place whose calls of the runtime return to this offset in the file
//! class CLASS KEY            events of this class that have no place
//! child PARENT N THREAD      the N-th thread (from 1) that PARENT creates is THREAD; the first thread of all is 0
//! begin THREAD TURN          THREAD does nothing before this turn
//! stop THREAD KEY N TURN NEXT    when THREAD has done the N-th event of KEY, TURN comes (0: it has arrived); it waits for NEXT
//! meet SIDE THREAD KEY N WRITE ATOMIC SIZE   the two racing accesses, SIDE 0 and 1
//! ```
//!
//! When both accesses are about to be made, by two threads, on bytes in common, the runtime adds one line to the file and ends the
//! program: `met`, then for each access the thread (as the plan names it), address, bytes, and 1 for a write.

use crate::spill::Kind;

/// The turn that never comes: who waits for it stands aside.
pub const ASIDE: u32 = u32::MAX - 1;

/// Events that have no place of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Class {
    /// A lock is taken, a message received.
    In = 1,
    /// A lock is given back, a message sent.
    Out,
    /// A barrier is reached.
    Enter,
    /// It is left.
    Leave,
    /// A thread is made.
    Fork,
    /// It was waited for.
    Join,
    /// A call of code that is not instrumented begins.
    CallBegin,
    /// It ends.
    CallEnd,
}

/// The class of a record.
pub fn class(kind: u8) -> Option<Class> {
    let is = |kinds: &[Kind]| kinds.iter().any(|other| *other as u8 == kind);
    if is(&[Kind::Acquire, Kind::AcquireShared, Kind::Receive]) {
        Some(Class::In)
    } else if is(&[Kind::Release, Kind::Send]) {
        Some(Class::Out)
    } else if is(&[Kind::Enter]) {
        Some(Class::Enter)
    } else if is(&[Kind::Leave]) {
        Some(Class::Leave)
    } else if is(&[Kind::Fork]) {
        Some(Class::Fork)
    } else if is(&[Kind::Join]) {
        Some(Class::Join)
    } else if is(&[Kind::CallBegin]) {
        Some(Class::CallBegin)
    } else if is(&[Kind::CallEnd]) {
        Some(Class::CallEnd)
    } else {
        None
    }
}
