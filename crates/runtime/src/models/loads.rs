//! [`crate::loads`]: threads store to an atomic and leave in its object what the value carries, under the lock of its shard; one
//! loads it, without the lock where the number of changes says that it may. What it knows is then what its value carries: a
//! value that carries more would be a false alarm, one that carries less a race that is missed.

use super::{Cpu, Machine, Protocol, explore};

/// The number of changes, times two; odd while the lock is held.
const CHANGES: u8 = 0;
const VALUE: u8 = 1;
const OBJECT: u8 = 2;
/// Set when a load has gone wrong.
const WRONG: u8 = 3;

struct Loads<const THREADS: usize> {
    /// So often each thread stores, or loads.
    times: u8,
    /// Without these it must not work: whether who stores raises the number, and whether who loads looks at it again.
    raises: bool,
    looks_again: bool,
}

impl<const THREADS: usize> Loads<THREADS> {
    fn hold(&self, m: &mut Machine, cpu: usize) -> bool {
        if !m.is_drained(cpu) || m.memory[CHANGES as usize] & 1 != 0 {
            return false;
        }
        m.memory[CHANGES as usize] |= 1;
        true
    }

    /// The thread that stores.
    fn store(&self, m: &mut Machine, cpu: usize) -> bool {
        let next = match m.cpus[cpu].at {
            0 => {
                if !self.hold(m, cpu) {
                    return false;
                }
                1
            }
            1 => {
                let value = m.load(cpu, VALUE);
                m.store(cpu, VALUE, value + 1);
                2
            }
            2 => {
                let value = m.load(cpu, VALUE);
                m.store(cpu, OBJECT, value);
                3
            }
            3 => {
                let changes = m.load(cpu, CHANGES);
                m.store(cpu, CHANGES, changes + if self.raises { 2 } else { 0 });
                4
            }
            _ => {
                let changes = m.load(cpu, CHANGES);
                m.store(cpu, CHANGES, changes & !1);
                m.cpus[cpu].done += 1;
                0
            }
        };
        m.cpus[cpu].at = next;
        true
    }

    /// The thread that loads: it has the number at which it knew all, one more than that so that 0 is none, what it knows, and the
    /// value.
    fn load(&self, m: &mut Machine, cpu: usize) -> bool {
        let [at, known, value] = m.cpus[cpu].registers;
        let mut registers = [at, known, value];
        let next = match m.cpus[cpu].at {
            0 => match m.load(cpu, CHANGES) + 1 == at {
                true => 1,
                false => 4,
            },
            1 => {
                registers[2] = m.load(cpu, VALUE);
                2
            }
            2 => match !self.looks_again || m.load(cpu, CHANGES) + 1 == at {
                true => 3,
                false => 4,
            },
            // Done, and the value counts.
            3 => {
                if value != known {
                    m.memory[WRONG as usize] = 1;
                }
                registers[2] = 0;
                m.cpus[cpu].done += 1;
                0
            }
            // With the lock.
            4 => {
                if !self.hold(m, cpu) {
                    return false;
                }
                5
            }
            5 => {
                registers[2] = m.load(cpu, VALUE);
                6
            }
            6 => {
                registers[1] = m.load(cpu, OBJECT);
                7
            }
            _ => {
                let changes = m.load(cpu, CHANGES) & !1;
                m.store(cpu, CHANGES, changes);
                registers[0] = changes + 1;
                3
            }
        };
        m.cpus[cpu].at = next;
        m.cpus[cpu].registers = registers;
        true
    }
}

impl<const THREADS: usize> Protocol for Loads<THREADS> {
    const THREADS: usize = THREADS;

    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        if cpu == 0 {
            self.load(m, cpu)
        } else {
            self.store(m, cpu)
        }
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == 0 && cpu.done == self.times
    }

    fn is_right(&self, machine: &Machine) -> bool {
        let stores = (THREADS as u8 - 1) * self.times;
        machine.memory[WRONG as usize] == 0 && machine.memory[VALUE as usize] == stores
    }
}

#[test]
fn a_load_without_the_lock_knows_what_its_value_carries() {
    let loads = Loads::<2> {
        times: 4,
        raises: true,
        looks_again: true,
    };
    assert!(explore(&loads).expect("all runs are right") > 1000);
    let loads = Loads::<3> {
        times: 2,
        raises: true,
        looks_again: true,
    };
    assert!(explore(&loads).expect("all runs are right") > 1000);
}

#[test]
fn it_would_not_without_the_number_or_a_second_look() {
    for (raises, looks_again) in [(false, true), (true, false)] {
        let loads = Loads::<2> {
            times: 3,
            raises,
            looks_again,
        };
        assert_eq!(explore(&loads), Err("a change is lost"));
    }
}
