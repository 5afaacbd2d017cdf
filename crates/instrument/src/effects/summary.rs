//! What the functions of one module do themselves, whom they call, and what they do to its variables.

use super::Effects;

/// A module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Its functions, also those that it only calls.
    pub functions: Vec<Function>,
    /// The numbers of functions that run before `main`.
    pub constructors: Vec<u32>,
    /// Whether it has other code run before `main`, or calls `main` itself.
    pub starts_otherwise: bool,
    /// Variables that other modules can name.
    pub variables: Vec<Variable>,
    /// Words of its assembly, which may be names.
    pub mentioned: Vec<String>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// As the linker knows it.
    pub name: String,
    /// Who can see it.
    pub reach: Reach,
    /// What its own instructions do; for one that is only declared, nothing.
    pub own: Effects,
    /// Whether it has loops that end unless they do something that can be observed.
    pub loops: bool,
    /// No more than this is possible, by its attributes.
    pub limit: Effects,
    /// The numbers of functions that it calls, each with the most that the call can do by its attributes.
    pub calls: Vec<(u32, Effects)>,
    /// What it does with the addresses that it is given, for each parameter; none for one that is only declared.
    pub parameters: Vec<Parameter>,
    /// Whether this module does nothing with it but call it, as what it is.
    pub only_called: bool,
    /// The addresses that it gives to functions, but for those of memory that no other thread sees for certain.
    pub gives: Vec<Give>,
    /// Its calls, each with what may have been called before.
    pub steps: Vec<(u32, Before)>,
    /// Sets of the numbers of functions, for [`Before`].
    pub before: Vec<Vec<u32>>,
}

/// Which functions may have been called since a function began: the number of a set of them; none if that is not known.
pub type Before = Option<u32>;

/// An address that a function is given.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Give {
    /// The function's number.
    pub callee: u32,
    /// As which parameter.
    pub parameter: u32,
    /// What is there.
    pub what: Given,
}

/// What is at an address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Given {
    /// Memory that others may see.
    Shared,
    /// What the caller was given as this parameter.
    Parameter(u32),
    /// Memory of the caller's own, if these functions keep no copy of these parameters.
    Local(Vec<(u32, u32)>),
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// As the linker knows it.
    pub name: String,
    /// Who can see it.
    pub reach: Reach,
    /// Whether its address gets where nobody follows it.
    pub leaves: bool,
    /// Where it may be written: the numbers of functions, and what they may have called before and by writing.
    pub writes: Vec<(u32, Before)>,
    /// Where blocks of the heap may be written that only the variable leads to, likewise; none if they are not known.
    pub blocks: Option<Vec<(u32, Before)>>,
}

/// What a function does with an address that it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// A copy of it may stay when the function returns, or be seen by others meanwhile.
    pub kept: bool,
    /// The numbers of functions that it is handed to, and as which parameter.
    pub given: Vec<(u32, u32)>,
}

/// Who can see a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nobody outside of the module.
    Module,
    /// Nobody outside of the program or library.
    Output,
    /// Everybody.
    All,
    /// It is only declared here.
    Declared,
}

const REACHES: [Reach; 4] = [Reach::Module, Reach::Output, Reach::All, Reach::Declared];

impl Summary {
    /// As bytes.
    pub fn write(&self) -> Vec<u8> {
        let mut out = Writer(vec![u8::from(self.starts_otherwise)]);
        out.list(&self.constructors, |out, constructor| out.number(*constructor));
        out.list(&self.variables, |out, variable| {
            out.text(&variable.name);
            out.0
                .extend([reach_number(variable.reach), variable.leaves.into()]);
            out.list(&variable.writes, Writer::step);
            out.0.push(variable.blocks.is_some().into());
            out.list(variable.blocks.as_deref().unwrap_or_default(), Writer::step);
        });
        out.list(&self.mentioned, |out, word| out.text(word));
        out.list(&self.functions, Writer::function);
        out.0
    }

    /// From those bytes; none if they are no summary.
    pub fn read(bytes: &[u8]) -> Option<Summary> {
        let mut from = Bytes(bytes);
        let summary = Summary {
            starts_otherwise: from.flag()?,
            constructors: from.list(Bytes::number)?,
            variables: from.list(|from| {
                Some(Variable {
                    name: from.text()?,
                    reach: from.reach()?,
                    leaves: from.flag()?,
                    writes: from.list(Bytes::step)?,
                    blocks: {
                        let known = from.flag()?;
                        let writes = from.list(Bytes::step)?;
                        known.then_some(writes)
                    },
                })
            })?,
            mentioned: from.list(Bytes::text)?,
            functions: from.list(Bytes::function)?,
        };
        (from.0.is_empty() && summary.is_whole()).then_some(summary)
    }

    /// Whether all numbers in it are those of functions that it has, and of sets.
    fn is_whole(&self) -> bool {
        let is_one = |number: u32| (number as usize) < self.functions.len();
        let is_set = |function: &Function, before: Before| {
            before.is_none_or(|set| (set as usize) < function.before.len())
        };
        let all_given = |given: &[(u32, u32)]| given.iter().all(|&(callee, _)| is_one(callee));
        let whole = |function: &Function| {
            let gives = |give: &Give| {
                is_one(give.callee)
                    && match &give.what {
                        Given::Local(given) => all_given(given),
                        _ => true,
                    }
            };
            function.calls.iter().all(|&(callee, _)| is_one(callee))
                && function
                    .parameters
                    .iter()
                    .all(|parameter| all_given(&parameter.given))
                && function.gives.iter().all(gives)
                && function.before.iter().flatten().all(|&callee| is_one(callee))
                && function
                    .steps
                    .iter()
                    .all(|&(callee, before)| is_one(callee) && is_set(function, before))
        };
        let written = |&(function, before): &(u32, Before)| {
            self.functions
                .get(function as usize)
                .is_some_and(|function| is_set(function, before))
        };
        self.constructors.iter().copied().all(is_one)
            && self.functions.iter().all(whole)
            && self
                .variables
                .iter()
                .flat_map(|variable| variable.writes.iter().chain(variable.blocks.iter().flatten()))
                .all(written)
    }
}

fn reach_number(reach: Reach) -> u8 {
    let number = REACHES.iter().position(|&other| other == reach);
    number.unwrap_or_default() as u8
}

/// Numbers are four bytes, lists and texts have their length before them.
struct Writer(Vec<u8>);

impl Writer {
    fn number(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.0.extend(text.bytes());
    }

    fn list<T>(&mut self, list: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.number(list.len() as u32);
        list.iter().for_each(|item| write(self, item));
    }

    fn pair(&mut self, &(one, two): &(u32, u32)) {
        self.number(one);
        self.number(two);
    }

    fn step(&mut self, &(function, before): &(u32, Before)) {
        self.pair(&(function, before.map_or(0, |set| set + 1)));
    }

    fn function(&mut self, function: &Function) {
        self.text(&function.name);
        self.0.extend([
            reach_number(function.reach),
            function.own.bits(),
            function.loops.into(),
            function.limit.bits(),
            function.only_called.into(),
        ]);
        self.list(&function.calls, |out, (callee, limit)| {
            out.number(*callee);
            out.0.push(limit.bits());
        });
        self.list(&function.parameters, |out, parameter| {
            out.0.push(parameter.kept.into());
            out.list(&parameter.given, Writer::pair);
        });
        self.list(&function.gives, |out, give| {
            out.pair(&(give.callee, give.parameter));
            match &give.what {
                Given::Shared => out.0.push(0),
                Given::Parameter(parameter) => {
                    out.0.push(1);
                    out.number(*parameter);
                }
                Given::Local(given) => {
                    out.0.push(2);
                    out.list(given, Writer::pair);
                }
            }
        });
        self.list(&function.steps, Writer::step);
        self.list(&function.before, |out, set| {
            out.list(set, |out, callee| out.number(*callee));
        });
    }
}

/// What a [`Writer`] has written.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn byte(&mut self) -> Option<u8> {
        self.0.split_off_first().copied()
    }

    fn flag(&mut self) -> Option<bool> {
        Some(self.byte()? != 0)
    }

    fn number(&mut self) -> Option<u32> {
        self.0.split_off(..4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn text(&mut self) -> Option<String> {
        let len = self.number()? as usize;
        String::from_utf8(self.0.split_off(..len)?.to_vec()).ok()
    }

    fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        (0..count).map(|_| read(self)).collect()
    }

    fn reach(&mut self) -> Option<Reach> {
        REACHES.get(usize::from(self.byte()?)).copied()
    }

    fn effects(&mut self) -> Option<Effects> {
        self.byte().map(Effects::from_bits)
    }

    fn pair(&mut self) -> Option<(u32, u32)> {
        Some((self.number()?, self.number()?))
    }

    fn step(&mut self) -> Option<(u32, Before)> {
        let (function, before) = self.pair()?;
        Some((function, before.checked_sub(1)))
    }

    fn function(&mut self) -> Option<Function> {
        Some(Function {
            name: self.text()?,
            reach: self.reach()?,
            own: self.effects()?,
            loops: self.flag()?,
            limit: self.effects()?,
            only_called: self.flag()?,
            calls: self.list(|from| Some((from.number()?, from.effects()?)))?,
            parameters: self.list(|from| {
                Some(Parameter {
                    kept: from.flag()?,
                    given: from.list(Bytes::pair)?,
                })
            })?,
            gives: self.list(|from| {
                let (callee, parameter) = from.pair()?;
                let what = match from.byte()? {
                    0 => Given::Shared,
                    1 => Given::Parameter(from.number()?),
                    2 => Given::Local(from.list(Bytes::pair)?),
                    _ => return None,
                };
                Some(Give {
                    callee,
                    parameter,
                    what,
                })
            })?,
            steps: self.list(Bytes::step)?,
            before: self.list(|from| from.list(Bytes::number))?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let function = |name: &str, reach, calls: &[(u32, Effects)]| Function {
            name: name.into(),
            reach,
            own: Effects::from_bits(5),
            loops: true,
            limit: Effects::UNKNOWN,
            calls: calls.to_vec(),
            parameters: vec![
                Parameter {
                    kept: true,
                    given: Vec::new(),
                },
                Parameter {
                    kept: false,
                    given: vec![(1, 0), (0, 7)],
                },
            ],
            only_called: true,
            gives: [
                Given::Shared,
                Given::Parameter(3),
                Given::Local(vec![(1, 2), (0, 1)]),
            ]
            .map(|what| Give {
                callee: 1,
                parameter: 4,
                what,
            })
            .to_vec(),
            steps: vec![(1, None), (0, Some(1))],
            before: vec![vec![], vec![0, 1]],
        };
        let summary = Summary {
            functions: vec![
                function("a", Reach::Module, &[(1, Effects::NONE), (0, Effects::UNKNOWN)]),
                function("", Reach::Declared, &[]),
            ],
            constructors: vec![1],
            starts_otherwise: true,
            variables: vec![Variable {
                name: "v".into(),
                reach: Reach::All,
                leaves: false,
                writes: vec![(0, Some(0)), (1, None)],
                blocks: Some(vec![(0, Some(1))]),
            }],
            mentioned: vec!["word".into()],
        };
        let bytes = summary.write();
        for end in 0..bytes.len() {
            assert_eq!(Summary::read(&bytes[..end]), None, "{end}");
        }
        assert_eq!(Summary::read(&bytes), Some(summary.clone()));
        // Numbers of functions and sets that it does not have.
        let broken: [fn(&mut Summary); 6] = [
            |summary| summary.constructors[0] = 2,
            |summary| summary.functions[0].steps[0] = (2, None),
            |summary| summary.functions[1].before[1][0] = 2,
            |summary| summary.variables[0].writes[0] = (0, Some(2)),
            |summary| summary.variables[0].blocks = Some(vec![(2, None)]),
            |summary| summary.functions[0].gives[2].what = Given::Local(vec![(2, 0)]),
        ];
        for broken in broken {
            let mut summary = summary.clone();
            broken(&mut summary);
            assert_eq!(Summary::read(&summary.write()), None);
        }
    }
}
