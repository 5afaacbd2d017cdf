//! Slots that pass from an ended thread to a new one, while a third thread looks at what the first has left behind.

use super::{CELL, Cpu, INSIDE, LOCK, Machine, Owners, Protocol, explore};

/// [`crate::owners`], [`crate::thread::end`], [`crate::registry`]: a thread that owns a region ends, a new one has its slot, so that the region
/// is its own, and another thread takes the region from whom it finds. All count up.
struct Heirs {
    /// How often the other thread counts.
    times: u8,
    /// Without these it must not work: whether the thread says that it is gone, and before it leaves its slot, and whether who waits for it
    /// knows its end from a section.
    says: bool,
    says_first: bool,
    knows_the_end: bool,
}

const ENDING: usize = 0;
const OTHER: usize = 1;
const NEW: usize = 2;

/// Whose `inside` the slot names: that of the thread that has it from the beginning, nobody's, the new one's.
const SECTION: u8 = 6;
const NAMES_NOBODY: u8 = 1;
const NAMES_NEW: u8 = 2;
/// The slot in the registry: taken, free, taken by the new thread.
const SLOT: u8 = 7;
const IS_FREE: u8 = 1;
const IS_TAKEN: u8 = 2;

/// What regions call the threads that have the slot, and the other one.
const HEIR: u8 = 1;
const STRANGER: u8 = 2;

/// `inside` of a thread that has ended.
const ENDED: u8 = 15;

/// Steps below this one are those of [`Owners`]; here the ending thread has counted.
const COUNTED: u8 = 40;
const BEGINS: u8 = 50;
const DONE: u8 = 60;

impl Heirs {
    /// `wait_for`: who has a name, and whether it is in a section.
    fn is_in(&self, m: &Machine, cpu: usize, name: u8) -> bool {
        let thread = match (name, m.load(cpu, SECTION)) {
            (STRANGER, _) => OTHER,
            (_, NAMES_NOBODY) => return false,
            (_, NAMES_NEW) => NEW,
            _ => ENDING,
        };
        match m.load(cpu, INSIDE + thread as u8) {
            ENDED => !self.knows_the_end,
            inside => inside != 0,
        }
    }

    fn times(&self, cpu: usize) -> u8 {
        if cpu == OTHER { self.times } else { 1 }
    }

    fn counts(&self, m: &mut Machine, cpu: usize) -> bool {
        let owners = Owners::<3> {
            times: self.times(cpu),
            often: 2,
            barrier: true,
            waits: true,
        };
        let name = if cpu == OTHER { STRANGER } else { HEIR };
        let went_on = owners.step_as(m, cpu, name, |m, name| self.is_in(m, cpu, name));
        if m.cpus[cpu].at == 0 && m.cpus[cpu].done == owners.times {
            m.cpus[cpu].at = if cpu == ENDING { COUNTED } else { DONE };
        }
        went_on
    }

    /// What a thread does besides counting: where it goes on, or `None` if it cannot now.
    fn lives(&self, m: &mut Machine, cpu: usize) -> Option<u8> {
        let lock = |m: &mut Machine| {
            let free = m.is_drained(cpu) && m.memory[LOCK as usize] == 0;
            free.then(|| m.memory[LOCK as usize] = 1)
        };
        // What is done under the registry's lock is one step.
        let registered = |m: &mut Machine, old: u8, new: u8| {
            let is = m.is_drained(cpu) && m.memory[SLOT as usize] == old;
            is.then(|| m.memory[SLOT as usize] = new)
        };
        const GONE: u8 = COUNTED + 1;
        const LEAVES: u8 = COUNTED + 4;
        const AWAY: u8 = COUNTED + 5;
        let next = match m.cpus[cpu].at {
            // `end`.
            COUNTED => {
                m.store(cpu, INSIDE + cpu as u8, ENDED);
                if self.says && self.says_first {
                    GONE
                } else {
                    LEAVES
                }
            }
            // `Owner::gone`.
            GONE => lock(m).map(|()| GONE + 1)?,
            42 => {
                m.store(cpu, SECTION, NAMES_NOBODY);
                43
            }
            43 => {
                m.store(cpu, LOCK, 0);
                if self.says_first { LEAVES } else { AWAY }
            }
            // `Registry::leave`.
            LEAVES => {
                registered(m, 0, IS_FREE)?;
                if self.says && !self.says_first { GONE } else { AWAY }
            }
            // Its variables are somebody else's memory by now.
            AWAY => {
                m.store(cpu, INSIDE + cpu as u8, 1);
                DONE
            }
            // `Registry::place`, for a parent that knows all that the ended thread did.
            0 => registered(m, IS_FREE, IS_TAKEN).map(|()| BEGINS)?,
            // `Owner::new`.
            BEGINS => lock(m).map(|()| BEGINS + 1)?,
            51 => {
                m.store(cpu, SECTION, NAMES_NEW);
                52
            }
            52 => {
                m.store(cpu, LOCK, 0);
                0
            }
            _ => unreachable!("no such step"),
        };
        Some(next)
    }
}

impl Protocol for Heirs {
    const THREADS: usize = 3;

    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        let at = m.cpus[cpu].at;
        let has_slot = cpu != NEW || m.memory[SLOT as usize] == IS_TAKEN;
        if at < COUNTED && has_slot {
            return self.counts(m, cpu);
        }
        let next = self.lives(m, cpu);
        next.map(|next| m.cpus[cpu].at = next).is_some()
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == DONE
    }

    fn is_right(&self, machine: &Machine) -> bool {
        machine.memory[CELL as usize] == 2 + self.times
    }
}

#[test]
fn a_region_passes_to_the_next_thread_with_the_slot_and_no_change_is_lost() {
    for times in [1, 2] {
        let heirs = Heirs {
            times,
            says: true,
            says_first: true,
            knows_the_end: true,
        };
        assert!(explore(&heirs).expect("all runs are right") > 1000);
    }
}

#[test]
fn who_leaves_a_slot_before_it_is_gone_takes_away_the_next_one_s_name() {
    let heirs = |says, says_first, knows_the_end| {
        explore(&Heirs {
            times: 1,
            says,
            says_first,
            knows_the_end,
        })
    };
    assert_eq!(heirs(true, false, true), Err("a change is lost"));
    // Memory of an ended thread is waited for, which may say anything; or its end is, which comes when it has the lock.
    assert_eq!(heirs(false, false, true), Err("threads wait for each other"));
    assert_eq!(heirs(true, true, false), Err("threads wait for each other"));
}

/// [`crate::registry`]: a thread accesses memory, releases, perhaps accesses it again, and ends. Another acquires, or waits for its end, and
/// starts a child, in the same slot if the registry says so. A third comes after one of them and looks at an access that is on record.
struct Epochs {
    again: bool,
    joins: bool,
    /// Whom the third comes after, and whose access it looks at: the child and the ended thread's, or the parent and the child's.
    after_child: bool,
    /// Without these it must not work: whether the parent is asked what it knows, whether it makes a difference what the thread did last, and
    /// whether the child's times come after its last one.
    asks: bool,
    cares: bool,
    later: bool,
}

const PARENT: usize = 1;
const THIRD: usize = 2;

/// What is reported: nothing (0), or a race with one of them.
const WITH_ENDED: u8 = 1;
const WITH_CHILD: u8 = 2;

/// The epoch on record of the ended thread's access, and of the child's.
const FIRST: u8 = 0;
const SECOND: u8 = 1;
/// What the thread has left at the lock: its time then.
const LEFT: u8 = 2;
/// Its last time in the registry, and what one must know.
const LAST: u8 = 3;
const KNOWN: u8 = 4;
/// The child's first time in the history of the slot.
const HISTORY: u8 = 5;
/// What is left for the third, plus one: what it knows of the slot.
const SAID: u8 = 6;

impl Protocol for Epochs {
    const THREADS: usize = 3;

    // All of this happens under locks, or by locked instructions.
    fn step(&self, m: &mut Machine, cpu: usize) -> bool {
        let [knows, time, _] = m.cpus[cpu].registers;
        let mut registers = m.cpus[cpu].registers;
        let (memory, at) = (&mut m.memory, m.cpus[cpu].at);
        match (cpu, at) {
            (ENDING, 0) => memory[FIRST as usize] = 1,
            (ENDING, 1) => memory[LEFT as usize] = 1,
            (ENDING, 2) => {
                if self.again {
                    memory[FIRST as usize] = 2;
                }
            }
            (ENDING, 3) => {
                let clean = !self.again || !self.cares;
                (memory[LAST as usize], memory[KNOWN as usize]) = (2, 2 - u8::from(clean));
            }
            (PARENT, 0) if !self.joins => registers[0] = memory[LEFT as usize],
            (PARENT, 0) if memory[LAST as usize] == 0 => return false,
            (PARENT, 0) => registers[0] = memory[LAST as usize],
            (PARENT, 1) => {
                if !self.after_child {
                    memory[SAID as usize] = 1 + knows;
                }
                let ended = memory[LAST as usize] != 0;
                if ended && (!self.asks || knows >= memory[KNOWN as usize]) {
                    registers[1] = memory[LAST as usize] + u8::from(self.later);
                    memory[HISTORY as usize] = registers[1];
                }
            }
            // From here on the child.
            (PARENT, 2) => memory[SECOND as usize] = time,
            (PARENT, 3) => {
                if self.after_child {
                    memory[SAID as usize] = 1 + time.max(knows);
                }
            }
            (THIRD, 0) if memory[SAID as usize] == 0 => return false,
            (THIRD, 0) => registers[0] = memory[SAID as usize] - 1,
            (THIRD, 1) => {
                registers[1] = memory[if self.after_child { FIRST } else { SECOND } as usize];
                let who = match memory[HISTORY as usize] {
                    first if first != 0 && registers[1] >= first => WITH_CHILD,
                    _ => WITH_ENDED,
                };
                registers[2] = if registers[1] > knows { who } else { 0 };
            }
            _ => unreachable!("no such step"),
        }
        m.cpus[cpu].registers = registers;
        m.cpus[cpu].at = if (cpu, at) == (THIRD, 1) { 4 } else { at + 1 };
        true
    }

    fn has_ended(&self, cpu: &Cpu) -> bool {
        cpu.at == 4
    }

    fn is_right(&self, machine: &Machine) -> bool {
        let parent = machine.cpus[PARENT].registers;
        let [_, access, reported] = machine.cpus[THIRD].registers;
        let race = match access {
            // None, or the child's in a slot of its own: that is another story.
            0 => 0,
            _ if !self.after_child => WITH_CHILD,
            access if access <= parent[0] => 0,
            _ => WITH_ENDED,
        };
        reported == race
    }
}

/// All runs of all programs, until one is wrong.
fn epochs(asks: bool, cares: bool, later: bool) -> Result<usize, &'static str> {
    let mut states = 0;
    for program in 0..8 {
        states += explore(&Epochs {
            again: program & 1 != 0,
            joins: program & 2 != 0,
            after_child: program & 4 != 0,
            asks,
            cares,
            later,
        })?;
    }
    Ok(states)
}

#[test]
fn who_looks_at_an_access_finds_the_race_and_the_thread_whoever_has_the_slot() {
    assert!(epochs(true, true, true).expect("all runs are right") > 300);
}

#[test]
fn without_asking_the_parent_or_looking_at_the_last_epoch_races_are_missed() {
    for (asks, cares, later) in [(false, true, true), (true, false, true), (true, true, false)] {
        assert_eq!(epochs(asks, cares, later), Err("a change is lost"));
    }
}
