//! The plan of a steered run, as `abi::steer` defines its text.

use rustc_hash::FxHashMap;
use std::time::Duration;

/// An event at which a thread stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// What it is, and how often the thread has then done it.
    pub event: (u32, u32),
    /// The turn that comes then; 0 if the thread has arrived where the schedule begins.
    pub turn: u32,
    /// The turn that the thread waits for.
    pub next: u32,
}

/// One of the racing accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// Whose.
    pub thread: u32,
    /// As in [`Stop`].
    pub event: (u32, u32),
    /// Whether memory is changed.
    pub write: bool,
    /// Whether it is atomic.
    pub atomic: bool,
    /// Bytes.
    pub size: usize,
}

/// A plan.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The most time that a thread waits for its turn.
    pub hold: Duration,
    /// The most time in front of a racing access.
    pub stand: Duration,
    /// Where chance starts, if it has a say.
    pub loose: Option<u64>,
    /// How many threads must arrive.
    pub arrive: u32,
    /// Files by number; the program itself has no name.
    pub modules: FxHashMap<u32, String>,
    /// Module, offset in its file, key.
    pub code: Vec<(u32, u64, u32)>,
    /// Keys of events without a place, by their class.
    pub classes: FxHashMap<u8, u32>,
    /// Threads by parent and position among its children.
    pub children: FxHashMap<(u32, u32), u32>,
    /// The turn in which a thread begins.
    pub begins: FxHashMap<u32, u32>,
    /// The stops of each thread, in order.
    pub stops: FxHashMap<u32, Vec<Stop>>,
    /// The racing accesses.
    pub sides: [Side; 2],
}

impl Plan {
    /// From its text. What is wrong with it, if anything is.
    pub fn parse(text: &str) -> Result<Plan, String> {
        let mut plan = Plan::default();
        for line in text.lines() {
            plan.line(line)
                .ok_or_else(|| format!("`{line}` makes no sense"))?;
        }
        Ok(plan)
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        if word == "module" {
            let (number, path) = rest.split_once(' ').unwrap_or((rest, ""));
            self.modules.insert(number.parse().ok()?, path.to_owned());
            return Some(());
        }
        let numbers: Vec<u64> = { rest.split_whitespace() }
            .map(|word| word.parse().ok())
            .collect::<Option<_>>()?;
        let small = |at: usize| u32::try_from(*numbers.get(at)?).ok();
        let time = || Some(Duration::from_micros(u64::from(small(0)?)));
        match word {
            "" => {}
            "hold" => self.hold = time()?,
            "stand" => self.stand = time()?,
            "loose" => self.loose = Some(*numbers.first()?),
            "arrive" => self.arrive = small(0)?,
            "code" => self.code.push((small(0)?, *numbers.get(1)?, small(2)?)),
            "class" => drop(self.classes.insert(u8::try_from(small(0)?).ok()?, small(1)?)),
            "child" => drop(self.children.insert((small(0)?, small(1)?), small(2)?)),
            "begin" => drop(self.begins.insert(small(0)?, small(1)?)),
            "stop" => {
                let stop = Stop {
                    event: (small(1)?, small(2)?),
                    turn: small(3)?,
                    next: small(4)?,
                };
                self.stops.entry(small(0)?).or_default().push(stop);
            }
            "meet" => {
                *self.sides.get_mut(small(0)? as usize)? = Side {
                    thread: small(1)?,
                    event: (small(2)?, small(3)?),
                    write: small(4)? != 0,
                    atomic: small(5)? != 0,
                    size: small(6)? as usize,
                };
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_read_and_nonsense_is_named() {
        let text = "hold 1000\nstand 2000\nloose 7\narrive 2\nmodule 0 \nmodule 1 /lib/a b.so\ncode 1 4096 3\nclass 2 4\n\
                    child 0 1 5\nbegin 5 2\nstop 5 3 1 2 4294967294\nmeet 0 5 3 2 1 0 8\nmeet 1 0 3 1 0 1 4";
        let plan = Plan::parse(text).expect("a plan");
        assert_eq!(plan.hold, Duration::from_millis(1));
        assert_eq!((plan.loose, plan.arrive), (Some(7), 2));
        assert_eq!(plan.modules[&1], "/lib/a b.so");
        assert_eq!((plan.modules[&0].as_str(), plan.code[0]), ("", (1, 4096, 3)));
        assert_eq!((plan.children[&(0, 1)], plan.begins[&5]), (5, 2));
        let stop = Stop {
            event: (3, 1),
            turn: 2,
            next: deadheat_abi::steer::ASIDE,
        };
        assert_eq!(plan.stops[&5], [stop]);
        assert!(plan.sides[0].write && plan.sides[1].atomic && plan.sides[1].size == 4);
        for wrong in ["go 1", "hold x", "stop 1 2", "meet 2 0 0 0 0 0 0", "class 300 1"] {
            let why = Plan::parse(wrong).expect_err(wrong);
            assert!(why.contains(wrong), "{why}");
        }
    }
}
