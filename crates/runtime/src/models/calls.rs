//! [`crate::record`]: a thread stores to an atomic and records that, with a time that it takes when the store may be in sight already; a missing
//! call of another begins, sees the store or does not, and ends. If it has seen it, its end has a later time.

use super::{Cpu, Machine, Protocol, explore};

/// What the atomic holds: not 0 behind the store.
const VALUE: u8 = 0;
/// Odd while the thread is in the operation.
const ATOMICS: u8 = 1;
/// The thread's last time.
const TIME: u8 = 2;
/// Above the times of ends of calls.
const CALLS: u8 = 3;

struct Calls {
    /// So often there are a store and a call.
    times: u8,
    /// Without these it must not work: whether the operation is marked before it is made, and whether who ends a call waits for it.
    marks: bool,
    waits: bool,
}

const STORING: usize = 0;

impl Calls {
    /// Its registers: the time of its last store.
    fn store(&self, m: &mut Machine, cpu: usize) -> u8 {
        match m.cpus[cpu].at {
            0 => {
                if self.marks {
                    let atomics = m.load(cpu, ATOMICS);
                    m.store(cpu, ATOMICS, atomics | 1);
                }
                1
            }
            1 => {
                let value = m.load(cpu, VALUE);
                m.store(cpu, VALUE, value + 1);
                2
            }
            2 => {
                m.cpus[cpu].registers[0] = m.load(cpu, TIME).max(m.load(cpu, CALLS)) + 1;
                3
            }
            3 => {
                let time = m.cpus[cpu].registers[0];
                m.store(cpu, TIME, time);
                4
            }
            _ => {
                let atomics = m.load(cpu, ATOMICS);
                m.store(cpu, ATOMICS, (atomics | 1) + 1);
                m.cpus[cpu].done += 1;
                0
            }
        }
    }

    /// Its registers: what it has seen of the value, the time of its end, and what marks said.
    fn call(&self, m: &mut Machine, cpu: usize) -> Option<u8> {
        let [_, time, atomics] = m.cpus[cpu].registers;
        Some(match m.cpus[cpu].at {
            // It begins: later than what the thread has told so far.
            0 => {
                let last = m.load(cpu, TIME).max(m.load(cpu, CALLS));
                self.raise(m, cpu, last + 1)?;
                1
            }
            1 => {
                m.cpus[cpu].registers[0] = m.load(cpu, VALUE);
                2
            }
            2 => {
                m.cpus[cpu].registers[2] = m.load(cpu, ATOMICS);
                3
            }
            3 if self.waits && !atomics.is_multiple_of(2) && m.load(cpu, ATOMICS) == atomics => return None,
            3 => {
                m.cpus[cpu].registers[1] = m.load(cpu, TIME).max(m.load(cpu, CALLS)) + 1;
                4
            }
            _ => {
                self.raise(m, cpu, time)?;
                m.cpus[cpu].done += 1;
                0
            }
        })
    }

    /// By a locked instruction.
    fn raise(&self, m: &mut Machine, cpu: usize, time: u8) -> Option<()> {
        m.is_drained(cpu).then(|| {
            let calls = &mut m.memory[CALLS as usize];
            *calls = time.max(*calls);
        })
    }
}

impl Protocol for Calls {
    const THREADS: usize = 2;

    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        let next = match cpu {
            STORING => Some(self.store(m, cpu)),
            _ => self.call(m, cpu),
        };
        if let Some(next) = next {
            m.cpus[cpu].at = next;
        }
        next.is_some()
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == 0 && cpu.done == self.times
    }

    fn is_right(&self, machine: &Machine) -> bool {
        let stored = machine.cpus[STORING].registers[0];
        let [seen, ended, _] = machine.cpus[1].registers;
        // Seen as it is at the end: then the call has seen the last store.
        seen != self.times || ended > stored
    }
}

#[test]
fn a_call_that_has_seen_a_store_ends_later() {
    for times in 1..4 {
        let calls = Calls {
            times,
            marks: true,
            waits: true,
        };
        explore(&calls).expect("all runs are right");
    }
}

#[test]
fn without_the_mark_or_without_waiting_it_may_end_earlier() {
    for (marks, waits) in [(false, true), (true, false)] {
        let calls = Calls {
            times: 1,
            marks,
            waits,
        };
        assert_eq!(explore(&calls), Err("a change is lost"));
    }
}
