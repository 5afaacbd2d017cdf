//! Reads of a line that is not locked, in programs that are recorded, beside threads that lock it.

use super::{Cpu, Machine, Protocol, explore};

/// `crate::record`, granules: a line may be read without its lock at times up to that of its last read, if nobody begins to write it meanwhile.
/// What is written is the time of the write, so that a read at some time is right if it finds the last write before that time.
struct Leases {
    /// Whether the reader has the last of the times that it may have, or the first.
    late: bool,
    /// Without these it must not work: whether the reader looks again whether somebody writes, and who writes at what was read.
    looks_again: bool,
    minds_reads: bool,
}

/// Reads without the lock.
const READER: usize = 0;
/// Writes.
const WRITER: usize = 1;

/// How much longer than its own time who reads with the lock lets others read.
const LEASE: u8 = 2;

const DATA: u8 = 0;
/// Its time, and below it whether the line is locked.
const LAST_WRITE: u8 = 1;
const LAST_READ: u8 = 2;

/// So often each thread does what it does.
const TIMES: u8 = 2;
/// The reader has read.
const HAS_READ: u8 = 4;
const ENDED: u8 = 5;

impl Leases {
    /// Locks the line, and has its word in the last register. False while another has it locked.
    fn lock(m: &mut Machine, cpu: usize) -> bool {
        m.drain(cpu);
        let word = &mut m.memory[LAST_WRITE as usize];
        let free = *word & 1 == 0;
        if free {
            m.cpus[cpu].registers[2] = *word;
            *word |= 1;
        }
        free
    }

    fn again(cpu: &mut Cpu) {
        cpu.done += 1;
        cpu.at = if cpu.done == TIMES { ENDED } else { 0 };
    }

    fn read(&self, m: &mut Machine) {
        let cpu = READER;
        let [word, until, _] = m.cpus[cpu].registers;
        let first = (word >> 1) + 1;
        match m.cpus[cpu].at {
            0 => m.cpus[cpu].registers[0] = m.load(cpu, LAST_WRITE),
            1 => {
                let until = m.load(cpu, LAST_READ);
                m.cpus[cpu].registers[1] = until;
                if word & 1 != 0 || first > until {
                    return Leases::again(&mut m.cpus[cpu]);
                }
            }
            2 => m.cpus[cpu].registers[2] = m.load(cpu, DATA),
            _ => {
                if self.looks_again && m.load(cpu, LAST_WRITE) != word {
                    return Leases::again(&mut m.cpus[cpu]);
                }
                m.cpus[cpu].registers[1] = if self.late { until } else { first };
            }
        }
        m.cpus[cpu].at += 1;
    }

    fn write(&self, m: &mut Machine) -> bool {
        let cpu = WRITER;
        let word = m.cpus[cpu].registers[2];
        match m.cpus[cpu].at {
            0 => {
                if !Leases::lock(m, cpu) {
                    return false;
                }
            }
            1 => {
                let read = if self.minds_reads {
                    m.load(cpu, LAST_READ)
                } else {
                    0
                };
                m.cpus[cpu].registers[2] = (word >> 1).max(read) + 1;
            }
            2 => m.store(cpu, DATA, word),
            _ => {
                m.store(cpu, LAST_WRITE, word << 1);
                let done = m.cpus[cpu].done as usize;
                m.cpus[cpu].registers[done] = word;
                Leases::again(&mut m.cpus[cpu]);
                return true;
            }
        }
        m.cpus[cpu].at += 1;
        true
    }

    /// The third thread reads with the lock.
    fn read_locked(m: &mut Machine, cpu: usize) -> bool {
        let word = m.cpus[cpu].registers[2];
        match m.cpus[cpu].at {
            0 => {
                if !Leases::lock(m, cpu) {
                    return false;
                }
            }
            1 => m.cpus[cpu].registers[0] = m.load(cpu, DATA),
            2 => {
                let time = (word >> 1) + 1;
                m.cpus[cpu].registers[1] = time;
                m.store(cpu, LAST_READ, m.load(cpu, LAST_READ).max(time + LEASE));
            }
            _ => {
                m.store(cpu, LAST_WRITE, word);
                Leases::again(&mut m.cpus[cpu]);
                return true;
            }
        }
        m.cpus[cpu].at += 1;
        true
    }
}

impl Protocol for Leases {
    const THREADS: usize = 3;

    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        match cpu {
            READER => {
                self.read(m);
                true
            }
            WRITER => self.write(m),
            _ => Leases::read_locked(m, cpu),
        }
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == ENDED || cpu.at == HAS_READ
    }

    fn is_right(&self, machine: &Machine) -> bool {
        let [reader, writer, other] = machine.cpus;
        let is_last = |time: u8, found: u8| {
            let writes = writer.registers.iter().take(TIMES as usize);
            found < time && writes.into_iter().all(|write| *write <= found || *write > time)
        };
        (reader.at != HAS_READ || is_last(reader.registers[1], reader.registers[2]))
            && is_last(other.registers[1], other.registers[0])
    }
}

fn leases(late: bool, looks_again: bool, minds_reads: bool) -> Result<usize, &'static str> {
    explore(&Leases {
        late,
        looks_again,
        minds_reads,
    })
}

#[test]
fn a_line_is_read_without_its_lock_and_what_is_found_is_the_last_write() {
    for late in [false, true] {
        let states = leases(late, true, true).unwrap();
        assert!(states > 1000, "{states}");
    }
}

#[test]
fn without_looking_again_or_minding_reads_something_else_is_found() {
    assert!(leases(true, false, true).is_err());
    assert!(leases(true, true, false).is_err());
}
