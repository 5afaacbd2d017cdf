//! [`crate::side::kept`]: a thread puts its reads into a lease, another takes that back. Every read is then on record: in the lease, or
//! in the state that it was gathered into.

use super::{Cpu, Machine, Protocol, explore};

/// The last read in the lease, by its number.
const LEASE: u8 = 0;
/// The last read in the state.
const STATE: u8 = 1;
/// Whether the cell has lost its id.
const NO_ID: u8 = 2;
/// The lock of the cell.
const HELD: u8 = 3;

const GONE: u8 = 0xff;

const READER: usize = 0;
/// So often it reads.
const TIMES: u8 = 3;
const ENDED: u8 = 9;

struct Kept {
    /// Without these it must not work: whether who takes the lease back swaps what it says, and whether the reader minds what it gets.
    swaps: bool,
    minds: bool,
}

impl Kept {
    fn hold(m: &mut Machine, cpu: usize) -> bool {
        let free = m.is_drained(cpu) && m.memory[HELD as usize] == 0;
        if free {
            m.memory[HELD as usize] = 1;
        }
        free
    }

    fn swap(m: &mut Machine, cpu: usize, value: u8) -> u8 {
        m.drain(cpu);
        std::mem::replace(&mut m.memory[LEASE as usize], value)
    }

    fn read(&self, m: &mut Machine, cpu: usize) -> bool {
        let number = m.cpus[cpu].done + 1;
        let at = m.cpus[cpu].at;
        let next = match at {
            0 => 1 + m.load(cpu, NO_ID),
            1 => match Kept::swap(m, cpu, number) {
                GONE if self.minds => 2,
                _ => 5,
            },
            // The long way.
            2 if !Kept::hold(m, cpu) => return false,
            2 => 3,
            3 => {
                m.store(cpu, STATE, number);
                4
            }
            4 => {
                m.store(cpu, HELD, 0);
                5
            }
            _ => {
                m.cpus[cpu].done += 1;
                if number == TIMES { ENDED } else { 0 }
            }
        };
        m.cpus[cpu].at = next;
        true
    }

    fn take(&self, m: &mut Machine, cpu: usize) -> bool {
        let at = m.cpus[cpu].at;
        let next = match at {
            0 if !Kept::hold(m, cpu) => return false,
            0 => 1,
            1 if self.swaps => {
                m.cpus[cpu].registers[0] = Kept::swap(m, cpu, GONE);
                3
            }
            1 => {
                m.cpus[cpu].registers[0] = m.load(cpu, LEASE);
                2
            }
            2 => {
                m.store(cpu, LEASE, GONE);
                3
            }
            3 => {
                let taken = m.cpus[cpu].registers[0];
                m.store(cpu, STATE, taken);
                4
            }
            4 => {
                m.store(cpu, NO_ID, 1);
                5
            }
            _ => {
                m.store(cpu, HELD, 0);
                ENDED
            }
        };
        m.cpus[cpu].at = next;
        true
    }
}

impl Protocol for Kept {
    const THREADS: usize = 2;

    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        if cpu == READER {
            self.read(m, cpu)
        } else {
            self.take(m, cpu)
        }
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == ENDED
    }

    fn is_right(&self, machine: &Machine) -> bool {
        machine.memory[STATE as usize] == TIMES
    }
}

#[test]
fn a_lease_is_taken_back_and_no_read_is_lost() {
    let kept = Kept {
        swaps: true,
        minds: true,
    };
    assert!(explore(&kept).expect("all runs are right") > 100);
}

#[test]
fn without_the_swap_or_what_it_tells_reads_are_lost() {
    for (swaps, minds) in [(false, true), (true, false)] {
        assert_eq!(explore(&Kept { swaps, minds }), Err("a change is lost"));
    }
}
