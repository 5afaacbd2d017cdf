//! What a runtime would have said.

use super::program::Program;
use deadheat_report::native::{Event, Options, Reporter};
use deadheat_report::{Finding, Report};
use std::fmt::Write;

/// Lines for a reporter.
#[derive(Clone)]
pub struct Session {
    pub lines: String,
    stacks: u64,
    races: u64,
}

/// An access: thread, words, stack.
pub type Side<'a> = (u32, &'a str, &'a [u64]);

impl Session {
    pub fn new(program: &Program) -> Session {
        Session::with_modules(&program.modules())
    }

    pub fn with_modules(modules: &str) -> Session {
        let mut session = Session {
            lines: "deadheat\t1\t77\ncommand\t./program\t--fast mode\n".to_owned(),
            stacks: 0,
            races: 0,
        };
        session.lines.push_str(modules);
        session.say("thread\t0\t77\t-\t-\tprogram");
        session
    }

    pub fn say(&mut self, line: &str) {
        self.lines.push_str(line);
        self.lines.push('\n');
    }

    /// A stack's id.
    pub fn stack(&mut self, pcs: &[u64]) -> String {
        self.stacks += 1;
        let mut line = format!("stack\t{:x}", self.stacks);
        for pc in pcs {
            write!(line, "\t{pc:x}").unwrap();
        }
        self.say(&line);
        format!("{:x}", self.stacks)
    }

    /// A race of two plain accesses of four bytes; `memory` is said behind them.
    pub fn race(&mut self, addr: u64, sides: [Side<'_>; 2], memory: &str) {
        let stacks = sides.map(|(_, _, pcs)| self.stack(pcs));
        self.races += 1;
        let number = self.races;
        self.say(&format!("race\t{number}\t{addr:x}\t4"));
        for ((thread, words, _), stack) in sides.into_iter().zip(stacks) {
            let words = words.replace(' ', "\t");
            self.say(&format!("access\t{thread}\t{words}\t{addr:x}\t4\t{stack}"));
        }
        self.say(&format!("memory\t{memory}"));
        self.say(&format!("end\t{number}"));
    }

    pub fn reporter(program: &Program) -> Reporter {
        Reporter::new(options(program))
    }

    /// What comes of it, with the events on the way.
    pub fn play(&self, mut reporter: Reporter) -> (Report, Vec<Event>) {
        let events = self
            .lines
            .lines()
            .filter_map(|line| reporter.line(line))
            .collect();
        (reporter.finish(), events)
    }

    /// The only finding.
    #[track_caller]
    pub fn finding(&self, program: &Program) -> Finding {
        let (mut report, _) = self.play(Session::reporter(program));
        assert_eq!(report.races.len(), 1, "{:?}", report.summary);
        report.races.remove(0)
    }
}

/// Options that look for nothing outside of the program's directory.
pub fn options(program: &Program) -> Options {
    let directory = program.directory.path();
    Options {
        debug_directories: vec![directory.join("debug")],
        ..Options::new(directory)
    }
}
