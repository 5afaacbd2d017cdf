//! The lock-free protocols, step by step, in every order in which this machine could take the steps.
//!
//! What the runtime does without locks rests on inline assembly, `cmpxchg16b`, `membarrier` and addresses that are agreed upon with
//! instrumented code, and on what x86 promises beyond the memory model of Rust. Miri and loom know none of that: so the protocols
//! are written down here once more, as programs of a machine with store buffers (x86-TSO: Owens, Sarkar, Sewell, 2009), and all
//! their runs are looked at. A store waits in the buffer of its processor, in order, and is seen by its own thread only; a locked
//! instruction empties the buffer first; `membarrier` has every processor empty its own at some moment while it lasts.
//!
//! A model says what is right of the protocol, not of its code. That has its own tests: [`crate::owners`] and [`crate::stress`] run
//! it under load, [`crate::exact`] compares it with the reference.

mod calls;
mod ends;
mod kept;
mod leases;
mod loads;
mod rolls;
mod slots;

use std::collections::HashSet;

const MOST: usize = 3;
const VARIABLES: usize = 8;

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Cpu {
    at: u8,
    done: u8,
    registers: [u8; 3],
    /// Stores that wait, oldest first: variable and value.
    buffer: [(u8, u8); 6],
    waiting: u8,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Machine {
    memory: [u8; VARIABLES],
    cpus: [Cpu; MOST],
}

impl Machine {
    fn load(&self, cpu: usize, variable: u8) -> u8 {
        let buffer = &self.cpus[cpu].buffer[..self.cpus[cpu].waiting as usize];
        let own = buffer.iter().rev().find(|(at, _)| *at == variable);
        own.map_or(self.memory[variable as usize], |(_, value)| *value)
    }

    fn store(&mut self, cpu: usize, variable: u8, value: u8) {
        let cpu = &mut self.cpus[cpu];
        cpu.buffer[cpu.waiting as usize] = (variable, value);
        cpu.waiting += 1;
    }

    fn drain_one(&mut self, cpu: usize) {
        let (variable, value) = self.cpus[cpu].buffer[0];
        self.memory[variable as usize] = value;
        let cpu = &mut self.cpus[cpu];
        cpu.buffer.rotate_left(1);
        cpu.waiting -= 1;
        cpu.buffer[cpu.waiting as usize] = (0, 0);
    }

    fn drain(&mut self, cpu: usize) {
        while self.cpus[cpu].waiting > 0 {
            self.drain_one(cpu);
        }
    }

    fn is_drained(&self, cpu: usize) -> bool {
        self.cpus[cpu].waiting == 0
    }
}

/// A protocol: what a thread does next. False if it cannot go on now.
trait Protocol {
    const THREADS: usize;

    fn step(&self, machine: &mut Machine, cpu: usize) -> bool;

    fn has_ended(&self, cpu: &Cpu) -> bool;

    /// Whether the end is a right one.
    fn is_right(&self, machine: &Machine) -> bool;
}

/// Looks at all runs: how many states there are, or a wrong end.
fn explore<P: Protocol>(protocol: &P) -> Result<usize, &'static str> {
    let start = Machine {
        memory: [0; VARIABLES],
        cpus: [Cpu::default(); MOST],
    };
    let (mut seen, mut next) = (HashSet::from([start]), vec![start]);
    while let Some(machine) = next.pop() {
        let mut went_on = false;
        for cpu in 0..P::THREADS {
            if !machine.is_drained(cpu) {
                let mut drained = machine;
                drained.drain_one(cpu);
                went_on = true;
                if seen.insert(drained) {
                    next.push(drained);
                }
            }
            let room = (machine.cpus[cpu].waiting as usize) < machine.cpus[cpu].buffer.len();
            if !protocol.has_ended(&machine.cpus[cpu]) && room {
                let mut stepped = machine;
                if protocol.step(&mut stepped, cpu) {
                    went_on = true;
                    if seen.insert(stepped) {
                        next.push(stepped);
                    }
                }
            }
        }
        if !went_on {
            let ended = (0..P::THREADS).all(|cpu| protocol.has_ended(&machine.cpus[cpu]));
            if !ended {
                return Err("threads wait for each other");
            }
            if !protocol.is_right(&machine) {
                return Err("a change is lost");
            }
        }
    }
    Ok(seen.len())
}

/// [`crate::owners`]: threads count up in one region, that goes from hand to hand and then is everybody's.
struct Owners<const THREADS: usize> {
    times: u8,
    /// So often it is handed over.
    often: u8,
    /// Without these it must not work.
    barrier: bool,
    waits: bool,
}

const CELL: u8 = 0;
const WORD: u8 = 1;
const LOCK: u8 = 2;
const INSIDE: u8 = 3;

const NOBODY: u8 = 0;
const MARKED: u8 = 14;
const SHARED: u8 = 15;

impl<const THREADS: usize> Owners<THREADS> {
    /// A step of a thread that goes by `name`. `is_in` says whether the one with another name is seen in a section.
    fn step_as(&self, m: &mut Machine, cpu: usize, name: u8, is_in: impl Fn(&Machine, u8) -> bool) -> bool {
        let inside = INSIDE + cpu as u8;
        let [word, x, turn] = m.cpus[cpu].registers;
        let mut registers = [word, x, turn];
        let next = match m.cpus[cpu].at {
            // `enter`.
            0 => {
                m.store(cpu, inside, 1);
                1
            }
            1 => match m.load(cpu, WORD) & 15 {
                SHARED => 20,
                owner if owner == name => 10,
                _ => 2,
            },
            2 => {
                m.store(cpu, inside, 0);
                3
            }
            // `take`.
            3 => {
                if !m.is_drained(cpu) || m.memory[LOCK as usize] != 0 {
                    return false;
                }
                m.memory[LOCK as usize] = 1;
                4
            }
            4 => {
                registers[0] = m.load(cpu, WORD);
                match registers[0] & 15 {
                    SHARED => 9,
                    NOBODY => 5,
                    _ => 6,
                }
            }
            5 => {
                let new = if word >> 4 < self.often { name } else { SHARED };
                m.store(cpu, WORD, word & 0xf0 | new);
                9
            }
            6 => {
                m.store(cpu, WORD, MARKED);
                registers[2] = 0;
                if self.barrier { 7 } else { 8 }
            }
            // `membarrier`: one processor after the other, its own first.
            7 => {
                m.drain((cpu + turn as usize) % THREADS);
                registers[2] = turn + 1;
                if registers[2] as usize == THREADS { 8 } else { 7 }
            }
            8 => {
                if self.waits && is_in(m, word & 15) {
                    return false;
                }
                m.store(cpu, WORD, (word & 0xf0) + 0x10);
                9
            }
            9 => {
                m.store(cpu, LOCK, 0);
                0
            }
            // In the section, alone.
            10 => {
                registers[1] = m.load(cpu, CELL);
                11
            }
            11 => {
                m.store(cpu, CELL, x + 1);
                12
            }
            // `leave`.
            12 => {
                m.store(cpu, inside, 0);
                m.cpus[cpu].done += 1;
                0
            }
            // In the section, with others.
            20 => {
                if !m.is_drained(cpu) {
                    return false;
                }
                m.memory[CELL as usize] += 1;
                12
            }
            _ => unreachable!("no such step"),
        };
        m.cpus[cpu].at = next;
        // What is not needed any more makes no two states of one.
        m.cpus[cpu].registers = if next == 0 { [0; 3] } else { registers };
        true
    }
}

impl<const THREADS: usize> Protocol for Owners<THREADS> {
    const THREADS: usize = THREADS;

    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        let is_in = |m: &Machine, name: u8| m.load(cpu, INSIDE + name - 1) != 0;
        self.step_as(m, cpu, cpu as u8 + 1, is_in)
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == 0 && cpu.done == self.times
    }

    fn is_right(&self, machine: &Machine) -> bool {
        machine.memory[CELL as usize] as usize == THREADS * self.times as usize
    }
}

#[test]
fn a_region_goes_from_hand_to_hand_and_no_change_is_lost() {
    let owners = Owners::<2> {
        times: 3,
        often: 2,
        barrier: true,
        waits: true,
    };
    assert!(explore(&owners).expect("all runs are right") > 1000);
    let owners = Owners::<3> {
        times: 1,
        often: 2,
        barrier: true,
        waits: true,
    };
    assert!(explore(&owners).expect("all runs are right") > 1000);
}

#[test]
fn without_the_barrier_or_without_waiting_changes_are_lost() {
    for (barrier, waits) in [(false, true), (true, false)] {
        let owners = Owners::<2> {
            times: 2,
            often: 2,
            barrier,
            waits,
        };
        assert_eq!(explore(&owners), Err("a change is lost"));
    }
}

/// [`crate::side`]: a cell that counts in its own word, or in a state elsewhere that the word leads to. Threads change between the
/// two at every step, so every change of hands is there.
struct Sides<const THREADS: usize> {
    times: u8,
    /// Without these it must not work: whether the words of a cell with a state elsewhere change only by who holds that, and
    /// whether who holds it looks again whether the cell leads to it.
    holds: bool,
    looks_again: bool,
}

/// The word of a cell: a number, or this and where the state is.
const ELSEWHERE: u8 = 0x80;
/// States: one for each thread, so none is ever waited for; and their locks.
const STATE: u8 = 1;
const STATE_LOCK: u8 = STATE + MOST as u8;

impl<const THREADS: usize> Protocol for Sides<THREADS> {
    const THREADS: usize = THREADS;

    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        let [word, index, count] = m.cpus[cpu].registers;
        let mut registers = [word, index, count];
        // The state that this thread has put by: its own at first, then the one that it has given back last.
        let next = match m.cpus[cpu].at {
            0 => {
                registers[0] = m.load(cpu, CELL);
                if registers[0] & ELSEWHERE == 0 { 1 } else { 4 }
            }
            // `make`: fill a state, and lead to it if nothing has changed.
            1 => {
                registers[1] = STATE + cpu as u8;
                // Still in use, as the state that the cell leads to or led to: count in the word.
                if m.load(cpu, registers[1]) != 0 {
                    10
                } else {
                    m.store(cpu, registers[1], word + 1);
                    2
                }
            }
            2 => {
                if !m.is_drained(cpu) {
                    return false;
                }
                if m.memory[CELL as usize] == word {
                    m.memory[CELL as usize] = ELSEWHERE | index;
                    12
                } else {
                    3
                }
            }
            3 => {
                m.store(cpu, index, 0);
                0
            }
            // `access`: hold the state, look whether it is the cell's, look into it, put together, give back, let go.
            4 => {
                registers[1] = word & !ELSEWHERE;
                let lock = (registers[1] + STATE_LOCK - STATE) as usize;
                if !m.is_drained(cpu) || m.memory[lock] != 0 {
                    return false;
                }
                m.memory[lock] = u8::from(self.holds);
                5
            }
            5 => {
                let is_led_to = m.load(cpu, CELL) == word;
                if is_led_to || !self.looks_again { 6 } else { 9 }
            }
            6 => {
                registers[2] = m.load(cpu, index);
                7
            }
            7 => {
                m.store(cpu, CELL, count + 1);
                8
            }
            // It is empty, and whose it is may fill it again.
            8 => {
                m.store(cpu, index, 0);
                11
            }
            9 => {
                m.store(cpu, index + STATE_LOCK - STATE, 0);
                0
            }
            11 => {
                m.store(cpu, index + STATE_LOCK - STATE, 0);
                12
            }
            // In the word, by a locked instruction.
            10 => {
                if !m.is_drained(cpu) {
                    return false;
                }
                if m.memory[CELL as usize] == word {
                    m.memory[CELL as usize] = word + 1;
                    12
                } else {
                    0
                }
            }
            12 => {
                m.cpus[cpu].done += 1;
                0
            }
            _ => unreachable!("no such step"),
        };
        m.cpus[cpu].at = next;
        m.cpus[cpu].registers = if next == 0 || next == 12 {
            [0; 3]
        } else {
            registers
        };
        true
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == 0 && cpu.done == self.times
    }

    fn is_right(&self, machine: &Machine) -> bool {
        let word = machine.memory[CELL as usize];
        let count = match word & ELSEWHERE {
            0 => word,
            _ => machine.memory[(word & !ELSEWHERE) as usize],
        };
        count as usize == THREADS * self.times as usize
    }
}

#[test]
fn a_state_goes_elsewhere_and_comes_back_and_no_access_is_lost() {
    let sides = Sides::<2> {
        times: 4,
        holds: true,
        looks_again: true,
    };
    assert!(explore(&sides).expect("all runs are right") > 1000);
    let sides = Sides::<3> {
        times: 2,
        holds: true,
        looks_again: true,
    };
    assert!(explore(&sides).expect("all runs are right") > 1000);
}

#[test]
fn without_holding_the_state_or_looking_again_accesses_are_lost() {
    for (holds, looks_again) in [(false, true), (true, false)] {
        let sides = Sides::<3> {
            times: 2,
            holds,
            looks_again,
        };
        assert_eq!(explore(&sides), Err("a change is lost"));
    }
}

/// [`crate::summary`]: threads count up in one region, in its cell while it has an owner, else in its summary, and change between
/// the two after every other time.
struct Summaries<const THREADS: usize> {
    times: u8,
    /// Without these it must not work: whether who holds the summary looks again whether it is in use, and whether the cell is
    /// written before the word.
    looks_again: bool,
    cell_first: bool,
}

const SUMMARY: u8 = 6;
const SUMMARY_HELD: u8 = 7;
const COMPRESSED: u8 = 13;

impl<const THREADS: usize> Protocol for Summaries<THREADS> {
    const THREADS: usize = THREADS;

    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        let (inside, name) = (INSIDE + cpu as u8, cpu as u8 + 1);
        let [word, x, turn] = m.cpus[cpu].registers;
        let mut registers = [word, x, turn];
        let lock = |m: &mut Machine, lock: u8| {
            let free = m.is_drained(cpu) && m.memory[lock as usize] == 0;
            if free {
                m.memory[lock as usize] = 1;
            }
            free
        };
        let at = m.cpus[cpu].at;
        let next = match at {
            // `enter`.
            0 => {
                m.store(cpu, inside, 1);
                1
            }
            1 => {
                registers[0] = m.load(cpu, WORD);
                match registers[0] {
                    SHARED => 13,
                    owner if owner == name => 10,
                    _ => 2,
                }
            }
            2 => {
                m.store(cpu, inside, 0);
                if word == COMPRESSED { 20 } else { 3 }
            }
            // `take`: from nobody, compressed; from its owner.
            3 if !lock(m, LOCK) => return false,
            3 => 4,
            4 => {
                registers[0] = m.load(cpu, WORD);
                match registers[0] {
                    COMPRESSED | SHARED => 9,
                    NOBODY => {
                        m.store(cpu, WORD, COMPRESSED);
                        9
                    }
                    owner if owner == name => 9,
                    _ => {
                        m.store(cpu, WORD, MARKED);
                        registers[2] = 0;
                        7
                    }
                }
            }
            7 => {
                m.drain((cpu + turn as usize) % THREADS);
                registers[2] = turn + 1;
                if registers[2] as usize == THREADS { 8 } else { 7 }
            }
            8 => {
                if m.load(cpu, INSIDE + word - 1) != 0 {
                    return false;
                }
                m.store(cpu, WORD, name);
                9
            }
            9 => {
                m.store(cpu, LOCK, 0);
                0
            }
            // In the section, alone.
            10 => {
                registers[1] = m.load(cpu, CELL);
                11
            }
            11 => {
                m.store(cpu, CELL, x + 1);
                12
            }
            12 => {
                m.store(cpu, inside, 0);
                m.cpus[cpu].done += 1;
                if m.cpus[cpu].done.is_multiple_of(2) { 30 } else { 0 }
            }
            // In the section, with others.
            13 => {
                if !m.is_drained(cpu) {
                    return false;
                }
                m.memory[CELL as usize] += 1;
                12
            }
            // In the summary.
            20 if !lock(m, SUMMARY_HELD) => return false,
            20 => {
                let still = m.load(cpu, WORD) == COMPRESSED;
                if still || !self.looks_again { 21 } else { 29 }
            }
            21 => {
                registers[1] = m.load(cpu, SUMMARY);
                22
            }
            22 => {
                m.store(cpu, SUMMARY, x + 1);
                m.cpus[cpu].done += 1;
                if m.cpus[cpu].done.is_multiple_of(2) {
                    23
                } else {
                    29
                }
            }
            // `expand`.
            23 if !lock(m, LOCK) => return false,
            23 => {
                // The last time, for everybody.
                let ends = m.cpus[cpu].done == self.times;
                let new = if ends { SHARED } else { name };
                let (cell, word) = ((CELL, m.load(cpu, SUMMARY)), (WORD, new));
                let order = if self.cell_first {
                    [cell, word]
                } else {
                    [word, cell]
                };
                order
                    .into_iter()
                    .for_each(|(variable, value)| m.store(cpu, variable, value));
                m.store(cpu, SUMMARY, 0);
                28
            }
            28 => {
                m.store(cpu, LOCK, 0);
                29
            }
            29 => {
                m.store(cpu, SUMMARY_HELD, 0);
                0
            }
            // `compress`.
            30 if !lock(m, SUMMARY_HELD) => return false,
            30 => 31,
            31 if !lock(m, LOCK) => return false,
            31 if m.load(cpu, WORD) != name => 28,
            31 => {
                let count = m.load(cpu, CELL);
                m.store(cpu, SUMMARY, count);
                m.store(cpu, CELL, 0);
                m.store(cpu, WORD, COMPRESSED);
                28
            }
            _ => unreachable!("no such step"),
        };
        m.cpus[cpu].at = next;
        m.cpus[cpu].registers = if next == 0 { [0; 3] } else { registers };
        true
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == 0 && cpu.done >= self.times
    }

    fn is_right(&self, machine: &Machine) -> bool {
        let count = machine.memory[CELL as usize] + machine.memory[SUMMARY as usize];
        count as usize == THREADS * self.times as usize
    }
}

#[test]
fn a_region_is_compressed_and_expanded_and_no_change_is_lost() {
    let summaries = |times| Summaries::<2> {
        times,
        looks_again: true,
        cell_first: true,
    };
    assert!(explore(&summaries(4)).expect("all runs are right") > 1000);
    assert!(explore(&summaries(3)).expect("all runs are right") > 1000);
    let summaries = Summaries::<3> {
        times: 2,
        looks_again: true,
        cell_first: true,
    };
    assert!(explore(&summaries).expect("all runs are right") > 1000);
}

#[test]
fn without_looking_again_or_with_the_word_before_the_cell_changes_are_lost() {
    for (looks_again, cell_first) in [(false, true), (true, false)] {
        let summaries = Summaries::<2> {
            times: 4,
            looks_again,
            cell_first,
        };
        assert_eq!(explore(&summaries), Err("a change is lost"));
    }
}

/// [`crate::intern`], [`crate::places`]: an entry is filled, then its id is put into the index. Who finds the id finds the entry.
struct Published {
    /// Without it it must not work: whether the entry is filled first.
    filled_first: bool,
}

const ENTRY: u8 = 0;
const INDEX: u8 = 1;

impl Protocol for Published {
    const THREADS: usize = 2;

    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        let at = m.cpus[cpu].at;
        let (first, second) = match self.filled_first {
            true => (ENTRY, INDEX),
            false => (INDEX, ENTRY),
        };
        match (cpu, at) {
            (0, 0) => m.store(cpu, first, 7),
            (0, 1) => m.store(cpu, second, 7),
            (1, 0) => m.cpus[cpu].registers[0] = m.load(cpu, INDEX),
            (1, 1) => m.cpus[cpu].registers[1] = m.load(cpu, ENTRY),
            _ => unreachable!("no such step"),
        }
        m.cpus[cpu].at += 1;
        true
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == 2
    }

    fn is_right(&self, machine: &Machine) -> bool {
        let [index, entry, _] = machine.cpus[1].registers;
        index == 0 || entry == 7
    }
}

#[test]
fn who_finds_an_id_finds_what_it_stands_for() {
    let published = |filled_first| explore(&Published { filled_first });
    assert!(published(true).is_ok());
    assert!(published(false).is_err());
}
