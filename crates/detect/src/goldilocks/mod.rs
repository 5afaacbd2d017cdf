//! Goldilocks (Elmas, Qadeer and Tasiran): happens-before by locksets.
//!
//! A vector clock says, for a thread or lock, which accesses it knows. Goldilocks keeps the same relation the other way
//! round: the *lockset* of an access is the set of threads, locks and atomics that know it. An access of thread `t`
//! races with an earlier one if `t` is not in that one's lockset. Synchronisation moves the knowledge on: "if the lock
//! is in the lockset, add the thread that takes it" (the paper's Figure 1).
//!
//! - [`rules`]: our whole synchronisation vocabulary as three rules on tokens.
//! - [`eager`]: Figure 1 as it stands: every synchronisation updates every lockset. Slow and obvious.
//! - [`lazy`]: Figure 3: synchronisation is only noted down in an update list ([`frames`]); short-circuits ([`alock`])
//!   spare most accesses the lockset, and the rest evaluate it when they need it.
//!
//! Deviations from the paper, in both:
//! - Reads are told from writes: a location has a lockset for its last write and one for each thread that has read it
//!   since. As printed, two concurrent reads are reported as a race.
//! - Atomic accesses are classes of their own: two atomics never race (see [`Class`](crate::history::Class)).
//! - Locksets can lose tokens, because a C11 store ends the release sequence before it, and a barrier opens anew. For
//!   locks this is the same as the paper's: who releases a lock has acquired all that the lock knew.
//! - Threads are named by tokens of their own, never used again, so the reuse of slots cannot confuse locksets.
//!
//! Guarantee: the same racing locations as the full happens-before relation of [`hb`](crate::hb), and the first race of
//! each. Later races of a location that has raced may be missed.

pub mod alock;
pub mod eager;
pub mod frames;
pub mod lazy;
pub mod lockset;
pub mod rules;

#[cfg(test)]
mod tests;

pub use eager::GoldilocksEager;
pub use lazy::Goldilocks;
