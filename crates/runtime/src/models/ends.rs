//! Threads and processes that end while a race is being reported.

use super::{Cpu, Machine, Protocol, explore};

/// [`crate::races`]: a report names a thread that is just ending. Its name is in the registry once it has left it there, and the kernel's
/// until it has ended. Then its number may be another's.
struct Named {
    /// Without it it must not work: whether the registry is asked again after the kernel.
    asks_again: bool,
}

/// What the registry has: nothing, or the right name.
const LEFT: u8 = 0;
/// What the kernel says: the right name, nothing, another thread's.
const KERNEL: u8 = 1;
const RIGHT: u8 = 0;

const ENDING: usize = 0;
const REPORTING: usize = 1;

impl Protocol for Named {
    const THREADS: usize = 2;

    // Under the registry's lock, or in the kernel: no store waits.
    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        let at = m.cpus[cpu].at;
        let mut next = at + 1;
        match (cpu, at) {
            (ENDING, 0) => m.memory[LEFT as usize] = 1,
            (ENDING, 1 | 2) => m.memory[KERNEL as usize] += 1,
            (REPORTING, 0) => {
                m.cpus[cpu].registers[0] = m.memory[LEFT as usize];
                if m.cpus[cpu].registers[0] != 0 {
                    next = 3;
                }
            }
            (REPORTING, 1) => m.cpus[cpu].registers[1] = m.memory[KERNEL as usize],
            (REPORTING, 2) => {
                if self.asks_again {
                    m.cpus[cpu].registers[0] = m.memory[LEFT as usize];
                }
            }
            _ => unreachable!("no such step"),
        }
        m.cpus[cpu].at = next;
        true
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == 3
    }

    fn is_right(&self, machine: &Machine) -> bool {
        let [left, kernel, _] = machine.cpus[REPORTING].registers;
        left != 0 || kernel == RIGHT
    }
}

#[test]
fn a_thread_that_ends_while_it_is_named_has_its_own_name() {
    let named = |asks_again| explore(&Named { asks_again });
    assert!(named(true).is_ok());
    assert!(named(false).is_err());
}

/// [`crate::exit`] against [`crate::races`]: two threads each tell a race while a third ends the process.
struct Told {
    /// Without it it must not work: whether who ends the process waits for reports that are being made ([`crate::ample`]).
    waits: bool,
}

/// Whose the stack for reports is.
const STACK: u8 = 0;
/// How many races count, how many were told, and whether it is too late.
const COUNTED: u8 = 1;
const TOLD: u8 = 2;
const CLOSED: u8 = 3;

const ENDS: usize = 2;

impl Protocol for Told {
    const THREADS: usize = 3;

    // Each step is one under a lock: that of the stack, of the races, of the channel.
    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        let at = m.cpus[cpu].at;
        let memory = &mut m.memory;
        let takes = cpu != ENDS || self.waits;
        match (cpu, at) {
            (_, 0) if takes => {
                if memory[STACK as usize] != 0 {
                    return false;
                }
                memory[STACK as usize] = 1;
            }
            (_, 3) if takes => memory[STACK as usize] = 0,
            (ENDS, 1) => m.cpus[cpu].registers[0] = memory[COUNTED as usize],
            (ENDS, 2) => {
                memory[CLOSED as usize] = 1;
                m.cpus[cpu].registers[1] = memory[TOLD as usize];
            }
            (ENDS, _) => {}
            (_, 1) => memory[COUNTED as usize] += 1,
            (_, 2) => memory[TOLD as usize] += u8::from(memory[CLOSED as usize] == 0),
            _ => unreachable!("no such step"),
        }
        m.cpus[cpu].at += 1;
        true
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == 4
    }

    fn is_right(&self, machine: &Machine) -> bool {
        let [counted, told, _] = machine.cpus[ENDS].registers;
        counted == told
    }
}

#[test]
fn what_counts_when_the_process_ends_was_told() {
    let told = |waits| explore(&Told { waits });
    assert!(told(true).is_ok());
    assert!(told(false).is_err());
}
