//! Random programs in C of which it is known what races: small threads that walk arrays in all the ways that loops can be
//! written, between barriers, under locks, and with messages from one to the other.
//!
//! The text of a program and the list of its accesses come from the same [`Action`]s, and the list is made by going through
//! the numbers one by one, so that nothing in here knows of ranges, strides or checks. Which accesses are ordered is in
//! [`super::truth`]. Scenarios are independent of each other: many go into one program, and each can be made alone again.

use super::action::{self, Action, Walk};
use super::truth::{self, Access, Node, Truth};
use std::fmt::Write;

/// SplitMix64.
pub struct Rng(u64);

impl Rng {
    /// Numbers that depend on the seed only.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// Whether something happens that does so so many times in a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A part of an element: its name in C (empty for a number), where it is and how long.
pub type Field = (&'static str, usize, usize);

/// What arrays are of.
#[derive(Clone, Copy)]
pub struct Element {
    pub name: &'static str,
    pub bytes: usize,
    pub fields: &'static [Field],
}

const ELEMENTS: &[Element] = &[
    number("uint8_t", 1, &[("", 0, 1)]),
    number("uint16_t", 2, &[("", 0, 2)]),
    number("uint32_t", 4, &[("", 0, 4)]),
    number("uint64_t", 8, &[("", 0, 8)]),
    number(
        "struct mixed",
        16,
        &[(".a", 0, 1), (".b", 2, 2), (".c", 4, 4), (".d", 8, 8)],
    ),
    number("struct even", 12, &[(".a", 0, 4), (".b", 4, 4), (".c", 8, 4)]),
    number(
        "struct wide",
        40,
        &[(".a", 0, 8), (".b", 8, 4), (".c", 12, 4), (".d", 16, 8)],
    ),
    number("struct small", 3, &[(".a", 0, 1), (".b", 1, 1), (".c", 2, 1)]),
];

const fn number(name: &'static str, bytes: usize, fields: &'static [Field]) -> Element {
    Element { name, bytes, fields }
}

const HEAD: &str = "\
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
struct mixed { uint8_t a; uint16_t b; uint32_t c; uint64_t d; };
struct even { uint32_t a, b, c; };
struct wide { uint64_t a; uint32_t b, c; uint64_t d, e[2]; };
struct small { uint8_t a, b, c; };
int64_t zero;
#define num(x) ((x) + zero)
";

/// An array that threads share.
pub struct Var {
    pub name: String,
    pub element: Element,
    pub len: usize,
    /// The line that allocates it, if it is no global variable.
    pub allocated: Option<usize>,
    /// What is true of each of its bytes.
    pub truth: Vec<Truth>,
}

/// Programs and what races in them.
pub struct Program {
    pub text: String,
    pub vars: Vec<Var>,
}

/// What a thread does next.
enum Step {
    Act(Action),
    Barrier,
    /// Tells another thread something, or waits for it: the number of the message, and how.
    Send(usize, &'static str),
    Receive(usize, &'static str),
    /// Adds to a counter, with this order.
    Count(usize, &'static str),
    /// Memory of its own: allocated, filled, moved, freed.
    Own(usize, usize),
}

struct Scenario {
    number: usize,
    vars: Vec<Var>,
    locks: usize,
    counters: usize,
    messages: usize,
    threads: Vec<Vec<Step>>,
}

/// One program of several scenarios.
pub fn program(seed: u64, scenarios: impl Iterator<Item = usize>) -> Program {
    let (mut text, mut vars, mut main) = (HEAD.to_owned(), Vec::new(), String::new());
    for number in scenarios {
        let mut rng = Rng::new(seed.wrapping_mul(1_000_003).wrapping_add(number as u64));
        let mut scenario = scenario(&mut rng, number);
        print(&mut scenario, &mut rng, &mut text);
        judge(&mut scenario);
        let _ = writeln!(main, "    run_{number}();");
        vars.extend(scenario.vars);
    }
    let _ = write!(text, "int main(void) {{\n{main}    return 0;\n}}\n");
    Program { text, vars }
}

fn scenario(rng: &mut Rng, number: usize) -> Scenario {
    let count = 1 + rng.below(3);
    let vars = (0..count).map(|n| {
        let element = rng.pick(ELEMENTS);
        let len = match rng.below(6) {
            0 => 1 + rng.below(4),
            // More than a batch of a loop that may not end.
            1 => rng.pick(&[256, 256, 700]),
            _ => 6 + rng.below(90),
        };
        Var {
            name: format!("v_{number}_{n}"),
            element,
            len,
            allocated: rng.chance(20).then_some(0),
            truth: vec![Truth::Never; len * element.bytes],
        }
    });
    let mut made = Scenario {
        number,
        vars: vars.collect(),
        locks: 1 + rng.below(2),
        counters: 0,
        messages: 0,
        threads: Vec::new(),
    };
    let threads = if rng.chance(75) { 2 } else { 3 };
    made.threads.resize_with(threads, Vec::new);
    for _ in 0..2 + rng.below(4) {
        match rng.below(10) {
            0 | 1 => made
                .threads
                .iter_mut()
                .for_each(|thread| thread.push(Step::Barrier)),
            2 => message(&mut made, rng),
            3 => {
                let order = rng.pick(&["relaxed", "acquire", "release", "acq_rel", "seq_cst"]);
                let counter = made.counters;
                made.counters += 1;
                for thread in &mut made.threads {
                    if rng.chance(70) {
                        thread.push(Step::Count(counter, order));
                    }
                }
            }
            4 => {
                let thread = rng.below(threads);
                let (before, after) = (1 + rng.below(60), 1 + rng.below(90));
                made.threads[thread].push(Step::Own(before, after));
            }
            _ => together(&mut made, rng),
        }
    }
    together(&mut made, rng);
    made
}

/// From one thread to another, in all the ways that order, and in one that does not.
fn message(made: &mut Scenario, rng: &mut Rng) {
    let from = rng.below(made.threads.len());
    let to = (from + 1 + rng.below(made.threads.len() - 1)) % made.threads.len();
    let how = rng.pick(&["release", "seq_cst", "fence", "exchange", "relaxed"]);
    made.threads[from].push(Step::Send(made.messages, how));
    made.threads[to].push(Step::Receive(made.messages, how));
    made.messages += 1;
}

/// All threads do something to one array: to parts of it that touch, that overlap by a little, or to all of it.
fn together(made: &mut Scenario, rng: &mut Rng) {
    let var = rng.below(made.vars.len());
    let other = rng.below(made.vars.len());
    let (len, threads) = (made.vars[var].len, made.threads.len());
    let all_locked = rng.chance(20).then(|| rng.below(made.locks));
    let (interleaved, whole) = (rng.chance(20), rng.chance(15));
    let field = rng.below(made.vars[var].element.fields.len());
    let fields = rng.chance(40);
    for thread in 0..threads {
        if rng.chance(10) {
            continue;
        }
        let cut = |n: usize| len * n / threads;
        let (mut low, mut high, mut step) = (cut(thread), cut(thread + 1), 1);
        if whole {
            (low, high) = (0, len);
        } else if interleaved {
            (low, high, step) = (thread.min(len), len, threads);
        } else if rng.chance(15) {
            step = 1 + rng.below(5);
        }
        // Neighbours now and then: one too many, or one too few.
        if !whole && rng.chance(30) {
            match rng.below(4) {
                0 => low = low.saturating_sub(1),
                1 => high = (high + 1).min(len),
                2 => low += 1,
                _ => high = high.saturating_sub(1),
            }
        }
        // Each thread a field of its own.
        let field = if fields { field + thread } else { field };
        let walk = Walk {
            var,
            other,
            low,
            high,
            step,
            field,
        };
        let lock = all_locked.or_else(|| rng.chance(12).then(|| rng.below(made.locks)));
        let action = action::choose(rng, &made.vars, walk, lock);
        made.threads[thread].push(Step::Act(action));
    }
}

/// Appends a scenario's text.
fn print(scenario: &mut Scenario, rng: &mut Rng, text: &mut String) {
    let Scenario { number, .. } = *scenario;
    let _ = writeln!(text, "/* scenario {number} */");
    for var in &scenario.vars {
        let (ty, name, len) = (var.element.name, &var.name, var.len);
        let _ = match var.allocated {
            Some(_) => writeln!(text, "{ty} *{name};"),
            None => writeln!(text, "{ty} {name}[{len}];"),
        };
    }
    for lock in 0..scenario.locks {
        let name = format!("lock_{number}_{lock}");
        let _ = writeln!(text, "pthread_mutex_t {name} = PTHREAD_MUTEX_INITIALIZER;");
        let kind = rng.pick(&["static", "static __attribute__((noinline))", ""]);
        let _ = writeln!(
            text,
            "{kind} void enter_{number}_{lock}(void) {{ pthread_mutex_lock(&{name}); }}"
        );
        let _ = writeln!(
            text,
            "{kind} void leave_{number}_{lock}(void) {{ pthread_mutex_unlock(&{name}); }}"
        );
    }
    for message in 0..scenario.messages {
        let _ = writeln!(text, "atomic_int message_{number}_{message};");
    }
    for counter in 0..scenario.counters {
        let _ = writeln!(text, "atomic_int counter_{number}_{counter};");
    }
    let _ = writeln!(text, "atomic_int noise_{number};");
    let _ = writeln!(text, "pthread_barrier_t barrier_{number};");
    for (thread, steps) in scenario.threads.iter().enumerate() {
        let _ = writeln!(text, "uint64_t sink_{number}_{thread};");
        let mut body = String::new();
        let last = steps.len().wrapping_sub(1);
        for (n, step) in steps.iter().enumerate() {
            match step {
                Step::Act(action) => {
                    let name = format!("act_{number}_{thread}_{n}");
                    let sink = format!("sink_{number}_{thread}");
                    let call = action.print(&scenario.vars, &name, &sink, number, n == last, text);
                    body.push_str(&call);
                }
                Step::Barrier => {
                    let _ = writeln!(body, "    pthread_barrier_wait(&barrier_{number});");
                }
                Step::Send(message, how) => body.push_str(&send(&format!("message_{number}_{message}"), how)),
                Step::Receive(message, how) => {
                    body.push_str(&receive(&format!("message_{number}_{message}"), how));
                }
                Step::Count(counter, order) => {
                    let _ = writeln!(
                        body,
                        "    atomic_fetch_add_explicit(&counter_{number}_{counter}, 1, memory_order_{order});"
                    );
                }
                Step::Own(before, after) => {
                    body.push_str(&own(*before, *after, &format!("sink_{number}_{thread}")));
                }
            }
        }
        let _ = write!(
            text,
            "static void *thread_{number}_{thread}(void *x) {{\n{body}    return x;\n}}\n"
        );
    }
    let _ = writeln!(text, "static void run_{number}(void) {{");
    let threads = scenario.threads.len();
    let _ = writeln!(text, "    pthread_barrier_init(&barrier_{number}, 0, {threads});");
    for var in scenario.vars.iter_mut().filter(|var| var.allocated.is_some()) {
        let (name, bytes) = (&var.name, var.len * var.element.bytes);
        let _ = writeln!(text, "    {name} = calloc({bytes}, 1);");
        var.allocated = Some(text.lines().count());
    }
    let _ = writeln!(text, "    pthread_t team[{threads}];");
    for thread in 0..threads {
        let _ = writeln!(
            text,
            "    pthread_create(&team[{thread}], 0, thread_{number}_{thread}, 0);"
        );
    }
    for thread in 0..threads {
        let _ = writeln!(text, "    pthread_join(team[{thread}], 0);");
    }
    for var in scenario.vars.iter().filter(|var| var.allocated.is_some()) {
        let _ = writeln!(text, "    free({});", var.name);
    }
    text.push_str("}\n");
}

fn send(to: &str, how: &str) -> String {
    match how {
        "fence" => format!(
            "    atomic_thread_fence(memory_order_release);\n    atomic_store_explicit(&{to}, 1, memory_order_relaxed);\n"
        ),
        "exchange" => format!("    atomic_exchange_explicit(&{to}, 1, memory_order_acq_rel);\n"),
        order => format!("    atomic_store_explicit(&{to}, 1, memory_order_{order});\n"),
    }
}

fn receive(from: &str, how: &str) -> String {
    let (order, fence) = match how {
        "fence" => ("relaxed", "    atomic_thread_fence(memory_order_acquire);\n"),
        "seq_cst" => ("seq_cst", ""),
        "relaxed" => ("relaxed", ""),
        _ => ("acquire", ""),
    };
    format!(
        "    while (!atomic_load_explicit(&{from}, memory_order_{order}))\n        sched_yield();\n{fence}"
    )
}

/// What one thread allocates another may get later: nothing of it races.
fn own(before: usize, after: usize, sink: &str) -> String {
    format!(
        "    {{
        uint32_t *own = malloc(num({before}) * 4);
        for (int i = 0; i < num({before}); i++)
            own[i] = i;
        own = realloc(own, num({after}) * 4);
        for (int i = num({after}) - 1; i >= 0; i--)
            own[i] = i;
        {sink} += own[{after} / 2];
        free(own);
    }}
"
    )
}

/// Messages that order as they happen have numbers behind those of all counters.
const RELAXED: usize = 1000;

/// Finds out what races.
fn judge(scenario: &mut Scenario) {
    // After a fence, what is relaxed may order as well.
    let fenced = |step: &Step| matches!(step, Step::Send(_, "fence"));
    let fences = scenario.threads.iter().flatten().any(fenced);
    let relaxed = |number: usize| match fences {
        true => Node::Maybe(number, true, true),
        false => Node::Nothing,
    };
    let threads = scenario.threads.iter().map(|steps| {
        let node = |step: &Step| match step {
            Step::Act(action) => Node::Accesses(action.accesses(&scenario.vars), action.lock),
            Step::Barrier => Node::Barrier,
            Step::Own(..) => Node::Nothing,
            Step::Send(message, "relaxed") | Step::Receive(message, "relaxed") => relaxed(RELAXED + message),
            Step::Count(counter, "relaxed") => relaxed(*counter),
            Step::Count(counter, _) if fences => relaxed(*counter),
            Step::Send(message, _) => Node::Send(*message),
            Step::Receive(message, _) => Node::Receive(*message),
            Step::Count(counter, order) => Node::Maybe(*counter, *order != "acquire", *order != "release"),
        };
        steps.iter().map(node).collect::<Vec<_>>()
    });
    let threads = threads.collect::<Vec<_>>();
    for (Access { var, byte, .. }, found) in truth::of(&threads) {
        let place = &mut scenario.vars[var].truth[byte];
        *place = (*place).max(found);
    }
}
