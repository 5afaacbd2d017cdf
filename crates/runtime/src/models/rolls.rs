//! The rolls of [`crate::side`]: a thread puts its read of one granule there while another puts an older read of the same thread there, of a
//! granule that it moves out of a chain. They have one word between them; whoever comes second sees that, and uses a table.

use super::{Cpu, Machine, Protocol, explore};

/// The word of the thread that reads, by the number of its read; 0 for none.
const WORD: u8 = 0;
/// Whether the word is about each of the two granules.
const BIT: [u8; 2] = [1, 2];
/// The read that a granule's own table has.
const TABLE: [u8; 2] = [3, 4];

const ENDED: u8 = 9;

struct Rolls {
    /// Without this it must not work: whether the word is compared and changed in one step.
    at_once: bool,
}

/// The read of each granule: they are of two epochs.
fn read(granule: usize) -> u8 {
    granule as u8 + 1
}

impl Protocol for Rolls {
    const THREADS: usize = 2;

    /// Each holds the cell of its own granule, so nobody else looks at the bit or the table.
    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        let is_said = |word| if word == read(cpu) { 3 } else { 4 };
        m.cpus[cpu].at = match m.cpus[cpu].at {
            0 => match m.load(cpu, WORD) {
                0 => 1,
                word => is_said(word),
            },
            1 if self.at_once => {
                m.drain(cpu);
                let word = &mut m.memory[WORD as usize];
                if *word == 0 {
                    *word = read(cpu);
                }
                is_said(*word)
            }
            1 => {
                m.store(cpu, WORD, read(cpu));
                3
            }
            3 => {
                m.store(cpu, BIT[cpu], 1);
                ENDED
            }
            _ => {
                m.store(cpu, TABLE[cpu], read(cpu));
                ENDED
            }
        };
        true
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == ENDED
    }

    fn is_right(&self, machine: &Machine) -> bool {
        let memory = |at: u8| machine.memory[at as usize];
        (0..2).all(|granule| match memory(BIT[granule]) {
            0 => memory(TABLE[granule]) == read(granule),
            _ => memory(WORD) == read(granule),
        })
    }
}

#[test]
fn each_granule_says_its_own_read() {
    assert!(explore(&Rolls { at_once: true }).expect("all runs are right") > 10);
}

#[test]
fn without_one_step_a_granule_says_the_read_of_another() {
    assert_eq!(explore(&Rolls { at_once: false }), Err("a change is lost"));
}
