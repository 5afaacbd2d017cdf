//! What do the filters save? `cargo bench -p deadheat-detect --bench filters`
//!
//! Prints, for each filter in front of FastTrack, the time of an event, the share of accesses dropped and the bytes of
//! analysis state at the end, on the programs of TREE's §5.1.3 and §3.6: Figure 5.1 (all threads count under the same
//! locks), Figure 5.3 (each thread has its own locks), Figure 3.7 (sweeps over an array), and on accesses that hardly
//! ever repeat.

use deadheat_detect::fasttrack::FastTrack;
use deadheat_detect::filter::{Span, Tree, TreeStrict};
use deadheat_detect::{Analysis, Driver};
use deadheat_event::{Addr, ArrayId, Event, Indices, Mode, Op, SiteId, SyncId, Tables, ThreadId};
use std::time::{Duration, Instant};

const THREADS: u32 = 8;
const TURNS: usize = 40_000;
const LOCKS: u64 = 4;
/// How often a thread goes round before another comes to run.
const QUANTUM: usize = 20;

/// A trace as it grows.
#[derive(Default)]
struct Program(Vec<Event>);

impl Program {
    fn push(&mut self, thread: u32, site: u32, op: Op) {
        let (thread, site) = (ThreadId(thread), SiteId(site));
        self.0.push(Event { thread, site, op });
    }

    fn fork_all(&mut self, mut before: impl FnMut(&mut Program)) {
        for child in 1..=THREADS {
            before(self);
            let child = ThreadId(child);
            self.push(0, 1, Op::Fork { child });
        }
    }

    /// `x = x + 1`
    fn count(&mut self, thread: u32, site: u32, addr: u64) {
        let (addr, size, value) = (Addr(addr), 8, None);
        self.push(thread, site, Op::Read { addr, size, value });
        self.push(thread, site + 1, Op::Write { addr, size, value });
    }

    /// The threads take turns of a critical section, each with the locks from `first` of it on.
    fn sections(&mut self, first: impl Fn(u32) -> u64) {
        for turn in 0..TURNS {
            let thread = 1 + (turn / QUANTUM) as u32 % THREADS;
            let locks = first(thread)..first(thread) + LOCKS;
            for lock in locks.clone().map(SyncId) {
                let mode = Mode::Exclusive;
                self.push(thread, 2, Op::Acquire { lock, mode });
            }
            self.count(thread, 3, 0x1000);
            for lock in locks.map(SyncId) {
                self.push(thread, 5, Op::Release { lock });
            }
        }
    }
}

fn figure_5_1() -> Program {
    let mut program = Program::default();
    program.fork_all(|_| ());
    program.sections(|_| 1);
    program
}

fn figure_5_3() -> Program {
    let mut program = Program::default();
    program.fork_all(|program| program.count(0, 6, 0x1000));
    program.sections(|thread| 1 + u64::from(thread) * LOCKS);
    program
}

fn figure_3_7() -> Program {
    let mut program = Program::default();
    for element in (0..5).flat_map(|_| 0..80_000) {
        let (array, indices) = (ArrayId(1), Indices::one(element));
        program.push(0, 1, Op::ArrayWrite { array, indices });
        program.count(0, 2, 0x1000);
    }
    program
}

fn scattered() -> Program {
    let mut program = Program::default();
    let mut random = 1u64;
    for turn in 0..4 * TURNS {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let thread = (turn / QUANTUM) as u32 % THREADS;
        program.count(thread, 1, (u64::from(thread) << 32) + (random >> 48) * 8);
    }
    program
}

fn measure(name: &str, analysis: impl Fn() -> Box<dyn Analysis>, events: &[Event]) {
    let tables = Tables::default();
    let mut best = Duration::MAX;
    for _ in 0..5 {
        let mut analysis = analysis();
        let start = Instant::now();
        analysis.process(events, &tables, &mut |_| ());
        best = best.min(start.elapsed());
    }
    let mut analysis = analysis();
    analysis.process(events, &tables, &mut |_| ());
    let stats = analysis.stats();
    println!(
        "  {name:12} {:8.1} ns/event {:7.2}% dropped {:9} bytes",
        best.as_nanos() as f64 / events.len() as f64,
        100.0 * stats.filtered as f64 / (stats.reads + stats.writes) as f64,
        stats.bytes,
    );
}

fn main() {
    for (name, program) in [
        ("Figure 5.1: common locks", figure_5_1()),
        ("Figure 5.3: private locks", figure_5_3()),
        ("Figure 3.7: sweeps", figure_3_7()),
        ("scattered accesses", scattered()),
    ] {
        println!("{name}: {} events", program.0.len());
        let fasttrack = FastTrack::default;
        measure("none", || Box::new(Driver::new(fasttrack())), &program.0);
        measure(
            "span",
            || Box::new(Driver::new(Span::new(fasttrack()))),
            &program.0,
        );
        measure(
            "tree",
            || Box::new(Driver::new(Tree::new(fasttrack()))),
            &program.0,
        );
        measure(
            "tree-strict",
            || Box::new(Driver::new(TreeStrict::new(fasttrack()))),
            &program.0,
        );
    }
}
