//! What a thread does to arrays at one time: a loop of some form and what it does in each round. Each is a function in C, and a
//! list of accesses that comes from doing the same here, round by round.

use super::generate::{Rng, Var};
use super::truth::Access;
use std::fmt::Write;

/// Which elements are meant, of which array, and which of their fields (modulo how many there are).
#[derive(Clone, Copy)]
pub struct Walk {
    pub var: usize,
    /// Another array, for copies.
    pub other: usize,
    pub low: usize,
    pub high: usize,
    pub step: usize,
    pub field: usize,
}

#[derive(Clone, Copy, PartialEq)]
enum Op {
    Read,
    Write,
    Update,
}

/// An access of a round: of the element so far behind the round's own.
struct Use {
    var: usize,
    plus: usize,
    field: usize,
    op: Op,
}

/// How a loop is written.
#[derive(Clone, Copy)]
enum Form {
    /// `for (i = low; i < high; i += step)`, by the operator.
    Up(&'static str),
    Down,
    /// `for (i = count; i-- > 0;)`.
    CountDown,
    PointerUp(&'static str),
    PointerDown,
    DoWhile,
    /// The test comes first in the body.
    BreakFirst,
    /// Left in round `n`, after the accesses.
    BreakAfter(usize),
    /// Left in round `n`, before the accesses, by `return`.
    ReturnBefore(usize),
    /// A number of 8 bits that goes round until it is the end.
    Wrap8(u8, u8, u8),
    /// A number of 32 bits that starts so far below zero.
    Wrap32(usize),
    /// The end is read anew in each round, before it or (there is one at least) behind it.
    ReadEnd,
    ReadEndLast,
    /// Rows of so many.
    Rows(usize),
    Columns(usize),
    /// Round `i` has `i` inner rounds, one more, or those that are left.
    Triangle(usize, &'static str),
    /// Only where `i % n == 0`.
    If(usize),
    Continue(usize),
    /// Only where something holds that is the same in all rounds; left in round `n`.
    Guarded(bool, usize),
    Once,
    /// `memset`.
    Fill,
}

/// One action.
pub struct Action {
    walk: Walk,
    form: Form,
    uses: Vec<Use>,
    /// The lock that is held.
    pub lock: Option<usize>,
    /// It is taken in each round.
    inside: bool,
    index: &'static str,
    noinline: bool,
    by_pointer: bool,
    literal: bool,
    /// An access is in a function of its own.
    called: bool,
    noise: bool,
    /// Each access is at a line of its own.
    lines: bool,
    value: &'static str,
}

/// An action on the elements that are meant.
pub fn choose(rng: &mut Rng, vars: &[Var], mut walk: Walk, lock: Option<usize>) -> Action {
    let array = &vars[walk.var];
    let op = rng.pick(&[Op::Read, Op::Write, Op::Write, Op::Update]);
    let field = walk.field % array.element.fields.len();
    let one = |var, plus, field, op| Use { var, plus, field, op };
    let mut uses = vec![one(walk.var, 0, field, op)];
    match rng.below(8) {
        0 if walk.high > 0 => {
            // A neighbour, too.
            walk.high = walk.high.min(array.len - 1);
            let neighbour = rng.pick(&[Op::Read, Op::Write]);
            uses.push(one(walk.var, 1, field, neighbour));
        }
        1 if array.element.fields.len() > 1 => {
            let also = rng.below(array.element.fields.len());
            uses.push(one(walk.var, 0, also, op));
            let also = rng.below(array.element.fields.len());
            uses.push(one(walk.var, 0, also, op));
        }
        2 if vars[walk.other].len >= walk.high && walk.other != walk.var => {
            let fields = vars[walk.other].element.fields.len();
            uses.insert(0, one(walk.other, 0, walk.field % fields, Op::Read));
        }
        _ => {}
    }
    let rounds = walk.high.saturating_sub(walk.low).div_ceil(walk.step);
    let width = walk.high.saturating_sub(walk.low);
    let mut index = rng.pick(&[
        "int", "int", "unsigned", "long", "size_t", "short", "uint16_t", "uint8_t",
    ]);
    if index == "uint8_t" && walk.high + walk.step > 255 {
        index = "int64_t";
    }
    let form = match rng.below(24) {
        0..=2 => Form::Up("<"),
        3 => Form::Up("!="),
        4 => Form::Up("<="),
        5 => Form::Down,
        6 => Form::CountDown,
        7 => Form::PointerUp(rng.pick(&["<", "!="])),
        8 => Form::PointerDown,
        9 if rounds > 0 => Form::DoWhile,
        10 => Form::BreakFirst,
        11 if rounds > 0 => Form::BreakAfter(rng.below(rounds)),
        12 if rounds > 0 => Form::ReturnBefore(rng.below(rounds)),
        13 if array.len == 256 && uses.iter().all(|it| it.plus == 0 && vars[it.var].len == 256) => {
            let (start, end) = (rng.below(256) as u8, rng.below(256) as u8);
            let step = rng.pick(&[1, 3, 5, 255, 253, 127]);
            Form::Wrap8(start, end, step)
        }
        14 if walk.step == 1 => Form::Wrap32(rng.below(9)),
        15 if width > 3 => Form::Rows(2 + rng.below(width / 2)),
        16 if width > 3 => Form::Columns(2 + rng.below(width / 2)),
        17 if width > 3 => Form::Triangle(
            2 + rng.below(width / 2),
            rng.pick(&["j < i", "j <= i", "j + i < n"]),
        ),
        18 => rng.pick(&[Form::If(2), Form::If(3), Form::Continue(2), Form::Continue(4)]),
        19 if uses.len() == 1 && op == Op::Write && walk.step == 1 => Form::Fill,
        19 if width > 0 => Form::Once,
        20 => Form::ReadEnd,
        21 if rounds > 0 => Form::ReadEndLast,
        22 | 23 => Form::Guarded(rng.chance(75), rng.below(rounds + 2)),
        _ => Form::Up("<"),
    };
    if matches!(form, Form::Down) && !matches!(index, "int" | "long" | "short") {
        index = "int";
    }
    Action {
        walk,
        form,
        uses,
        lock,
        inside: rng.chance(25),
        index,
        noinline: rng.chance(60),
        by_pointer: rng.chance(40),
        literal: rng.chance(40),
        called: rng.chance(8),
        noise: rng.chance(6),
        lines: rng.chance(50),
        value: rng.pick(&["0", "7", "k", "k * 3 + 1"]),
    }
}

impl Action {
    /// The numbers of the elements that are accessed, as they come.
    fn rounds(&self) -> Vec<usize> {
        let Walk { low, high, step, .. } = self.walk;
        let plain: Vec<usize> = (low..high.max(low)).step_by(step).collect();
        let width = high.saturating_sub(low);
        match self.form {
            Form::BreakAfter(n) => plain[..=n].to_vec(),
            Form::ReturnBefore(n) => plain[..n].to_vec(),
            Form::Wrap8(start, end, step) => {
                let (mut all, mut i) = (Vec::new(), start);
                while i != end {
                    all.push(usize::from(i));
                    i = i.wrapping_add(step);
                }
                all
            }
            Form::Rows(n) | Form::Columns(n) => (0..width / n)
                .flat_map(|i| (0..n).map(move |j| low + i * n + j))
                .collect(),
            Form::Triangle(n, test) => {
                let inner = |i: usize, j: usize| match test {
                    "j < i" => j < i,
                    "j <= i" => j <= i,
                    _ => j + i < n,
                };
                let pairs = (0..width / n).flat_map(|i| (0..n).map(move |j| (i, j)));
                pairs
                    .filter(|&(i, j)| inner(i, j))
                    .map(|(i, j)| low + i * n + j)
                    .collect()
            }
            Form::If(n) => plain.into_iter().filter(|i| i % n == 0).collect(),
            Form::Continue(n) => plain.into_iter().filter(|i| i % n != 0).collect(),
            Form::Guarded(holds, n) => plain.into_iter().take(n + 1).filter(|_| holds).collect(),
            Form::Once => vec![low],
            _ => plain,
        }
    }

    /// All bytes that it accesses.
    pub fn accesses(&self, vars: &[Var]) -> Vec<Access> {
        let mut all = Vec::new();
        for round in self.rounds() {
            for part in &self.uses {
                let element = &vars[part.var].element;
                let (_, mut start, mut bytes) = element.fields[part.field];
                if matches!(self.form, Form::Fill) {
                    (start, bytes) = (0, element.bytes);
                }
                let first = (round + part.plus) * element.bytes + start;
                for byte in first..first + bytes {
                    let access = Access {
                        var: part.var,
                        byte,
                        write: part.op != Op::Read,
                    };
                    all.push(access);
                    if part.op == Op::Update {
                        all.push(Access {
                            write: false,
                            ..access
                        });
                    }
                }
            }
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Appends the function, and gives the statements that call it. `ends`: it may end the thread.
    pub fn print(
        &self,
        vars: &[Var],
        name: &str,
        sink: &str,
        scenario: usize,
        ends: bool,
        text: &mut String,
    ) -> String {
        let Walk { low, high, step, .. } = self.walk;
        let array = &vars[self.walk.var];
        let (ty, index) = (array.element.name, self.index);
        let global = if self.by_pointer { "a" } else { &array.name };
        let pointer = matches!(self.form, Form::PointerUp(_) | Form::PointerDown)
            // One pointer is for one array.
            && self.uses.iter().all(|part| part.var == self.walk.var);
        let mut round = String::new();
        let element = if pointer {
            "p".to_owned()
        } else {
            format!("{global} + k")
        };
        if self.called && self.uses.len() == 1 {
            let part = &self.uses[0];
            let one = statement(part, array, "p[0]", self.value);
            let _ = write!(
                text,
                "static __attribute__((noinline)) uint64_t {name}_one({ty} *p, int64_t k) {{
    uint64_t sum = (uint64_t)k & 1;
    {one}
    return sum;
}}
"
            );
            let _ = writeln!(round, "sum += {name}_one({element}, k);");
        } else {
            for part in &self.uses {
                let own = part.var == self.walk.var;
                let place = match (pointer, own) {
                    (true, _) => format!("p[{}]", part.plus),
                    (_, true) => format!("{global}[k + {}]", part.plus),
                    (_, false) => format!("{}[k]", vars[part.var].name),
                };
                round.push_str(&statement(part, &vars[part.var], &place, self.value));
                let one_line = own && part.plus == 0 && !self.lines;
                round.push_str(if one_line { " " } else { "\n" });
            }
            round.push('\n');
        }
        if self.noise {
            let _ = writeln!(
                round,
                "atomic_fetch_add_explicit(&noise_{scenario}, 1, memory_order_relaxed);"
            );
        }
        let (mut enter, mut leave) = (String::new(), String::new());
        if let Some(lock) = self.lock {
            (enter, leave) = (
                format!("enter_{scenario}_{lock}();"),
                format!("leave_{scenario}_{lock}();"),
            );
            if self.inside && !matches!(self.form, Form::Fill) {
                round = format!("{enter}\n{round}{leave}\n");
                (enter, leave) = (String::new(), String::new());
            }
        }
        // What leaves early gives the lock back first.
        let out = match ends && leave.is_empty() {
            true => format!("{{ {sink} += sum; pthread_exit(0); }}"),
            false => "return sum;".to_owned(),
        };
        let rounds = high.saturating_sub(low).div_ceil(step);
        let last = low + rounds.max(1) * step - step;
        let mut parameters = [low as i64, high as i64, 0];
        let k = format!("int64_t k = (int64_t)i; (void)k; {round}");
        let up = |test: &str, body: &str| {
            format!("for ({index} i = ({index})p0; {test}; i += {step}) {{\n{body}}}\n")
        };
        let code = match self.form {
            Form::Up("!=") => {
                parameters[1] = (low + rounds * step) as i64;
                up(&format!("i != ({index})p1"), &k)
            }
            Form::Up("<=") if rounds > 0 => {
                parameters[1] = last as i64;
                up(&format!("i <= ({index})p1"), &k)
            }
            Form::Up(_) => up(&format!("i < ({index})p1"), &k),
            Form::Down => {
                parameters[1] = if rounds > 0 { last as i64 } else { low as i64 - 1 };
                format!("for ({index} i = ({index})p1; i >= ({index})p0; i -= {step}) {{\n{k}}}\n")
            }
            Form::CountDown => {
                parameters[1] = rounds as i64;
                format!(
                    "for ({index} i = ({index})p1; i-- > 0;) {{\nint64_t k = (int64_t)p0 + (int64_t)i * {step}; (void)k; {round}}}\n"
                )
            }
            Form::PointerUp(test) => {
                parameters[1] = (low + rounds * step) as i64;
                format!(
                    "for ({ty} *p = {global} + p0, *e = {global} + p1; p {test} e; p += {step}) {{\nint64_t k = p - {global}; (void)k; {round}}}\n"
                )
            }
            Form::PointerDown => {
                parameters[1] = (low + rounds * step) as i64;
                format!(
                    "for ({ty} *p = {global} + p1; p > {global} + p0;) {{\np -= {step}; int64_t k = p - {global}; (void)k; {round}}}\n"
                )
            }
            Form::DoWhile => {
                format!("{index} i = ({index})p0;\ndo {{\n{k}i += {step};\n}} while (i < ({index})p1);\n")
            }
            Form::BreakFirst => up("", &format!("if (i >= ({index})p1) break;\n{k}")),
            Form::BreakAfter(n) => {
                parameters[2] = (low + n * step) as i64;
                up(
                    &format!("i < ({index})p1"),
                    &format!("{k}if (i == ({index})p2) break;\n"),
                )
            }
            Form::ReturnBefore(n) => {
                parameters[2] = (low + n * step) as i64;
                up(
                    &format!("i < ({index})p1"),
                    &format!("if (i == ({index})p2) {{ {leave} {out} }}\n{k}"),
                )
            }
            Form::Wrap8(start, end, step) => {
                parameters[..2].copy_from_slice(&[start.into(), end.into()]);
                format!("for (uint8_t i = (uint8_t)p0; i != (uint8_t)p1; i += {step}) {{\n{k}}}\n")
            }
            Form::Wrap32(below) => {
                parameters = [
                    -(below as i64),
                    rounds as i64 - below as i64,
                    (low + below) as i64,
                ];
                let signless = "int64_t k = (uint32_t)(i + (uint32_t)p2); (void)k;";
                format!("for (uint32_t i = (uint32_t)p0; i != (uint32_t)p1; i++) {{\n{signless} {round}}}\n")
            }
            Form::ReadEnd => {
                let up = up(&format!("i < ({index})end"), &k);
                format!("volatile int64_t end = p1;\n{up}")
            }
            Form::ReadEndLast => {
                let up = up("", &format!("{k}if ((int64_t)i + {step} >= end) break;\n"));
                format!("volatile int64_t end = p1;\n{up}")
            }
            Form::Rows(n) => nest(&mut parameters, (low, high, n), "i", "j < n", index, &round),
            Form::Columns(n) => nest(&mut parameters, (low, high, n), "j", "j < n", index, &round),
            Form::Triangle(n, test) => {
                let test = format!("j < n && {test}");
                nest(&mut parameters, (low, high, n), "i", &test, index, &round)
            }
            Form::If(n) => up(
                &format!("i < ({index})p1"),
                &format!("if (i % {n} == 0) {{\n{k}}}\n"),
            ),
            Form::Continue(n) => up(
                &format!("i < ({index})p1"),
                &format!("if (i % {n} == 0) continue;\n{k}"),
            ),
            Form::Guarded(holds, n) => {
                parameters[2] = ((low + n * step) as i64) << 1 | i64::from(holds);
                up(
                    &format!("i < ({index})p1"),
                    &format!("if (p2 & 1) {{\n{k}}}\nif ((int64_t)i == p2 >> 1) break;\n"),
                )
            }
            Form::Once => format!("{{\nint64_t k = p0; {round}}}\n"),
            Form::Fill => {
                format!("if (p0 < p1) memset({global} + p0, 1, (size_t)(p1 - p0) * sizeof({ty}));\n")
            }
        };
        let noinline = if self.noinline {
            "__attribute__((noinline)) "
        } else {
            ""
        };
        let _ = write!(
            text,
            "static {noinline}uint64_t {name}({ty} *a, int64_t p0, int64_t p1, int64_t p2) {{
(void)a; (void)p0; (void)p1; (void)p2;
uint64_t sum = 0;
{enter}
{code}{leave}
return sum;
}}
"
        );
        let [p0, p1, p2] = parameters;
        match self.literal {
            true => format!("    {sink} += {name}({}, {p0}, {p1}, {p2});\n", array.name),
            false => format!(
                "    {sink} += {name}({}, num({p0}), num({p1}), num({p2}));\n",
                array.name
            ),
        }
    }
}

/// Two loops, of which one goes over rows of `n`.
fn nest(
    parameters: &mut [i64; 3],
    (low, high, n): (usize, usize, usize),
    outer: &str,
    test: &str,
    index: &str,
    round: &str,
) -> String {
    *parameters = [low as i64, (high.saturating_sub(low) / n) as i64, n as i64];
    let rows = format!("for ({index} i = 0; i < rows; i++)");
    let columns = format!("for ({index} j = 0; {test}; j++)");
    let (first, second) = if outer == "i" {
        (rows, columns)
    } else {
        (columns, rows)
    };
    format!(
        "{index} rows = ({index})p1, n = ({index})p2;\n{first}\n{second} {{\nint64_t k = p0 + (int64_t)i * n + j; (void)k; {round}}}\n"
    )
}

fn statement(part: &Use, var: &Var, place: &str, value: &str) -> String {
    let field = var.element.fields[part.field].0;
    match part.op {
        Op::Read => format!("sum += {place}{field};"),
        Op::Write => format!("{place}{field} = {value};"),
        Op::Update => format!("{place}{field} += 1;"),
    }
}
