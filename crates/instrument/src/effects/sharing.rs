//! What all modules of a link together say of memory that several threads could see and do not, or do not write: parameters
//! that always point to the caller's own memory, and variables that are written only while there is one thread.
//! [`crate::pass`] asks the same of what a module keeps to itself.
//!
//! Only of functions and variables whose name nobody else uses: no object without bitcode, no assembly, no library. And only of
//! functions that are called and nothing else: where somebody has the address of one, not all calls are known.

use super::resolve::Module;
use super::summary::{Before, Function, Given, Reach};
use std::collections::{HashMap, HashSet};

/// A link, with what is known of its functions already. Functions are numbers: those that only their module can name in the order of modules, and
/// behind them one for each other name, which stands for all functions that have it.
pub struct Link<'a> {
    pub modules: &'a [Module<'a>],
    pub named: &'a HashMap<&'a str, usize>,
    /// For each function, whether there may be more threads after it.
    pub spawns: &'a [bool],
    /// For each function, which parameters it keeps no copy of, as bits.
    pub forgets: &'a [u64],
    /// Whether the program has one thread when `main` begins.
    pub starts_alone: bool,
}

/// What was found, by names.
#[derive(Default)]
pub struct Sharing {
    /// Which of its first 64 parameters always point to memory that no other thread sees, as bits.
    pub private: HashMap<String, u64>,
    /// Functions that are called only while the program has one thread.
    pub alone: HashSet<String>,
    /// Variables that are written only then.
    pub published: HashSet<String>,
    /// Those of them that alone lead to blocks of the heap, if these are written only then as well.
    pub blocks: HashSet<String>,
}

impl Link<'_> {
    /// Looks at the whole link, in which the modules alone use what `is_own` says.
    pub fn sharing(&self, is_own: impl Fn(&str, Reach) -> bool) -> Sharing {
        let called = self.only_called(&is_own);
        let private = self.private(&called);
        let alone = self.alone(&called);
        let (published, blocks) = self.published(&alone, &is_own);
        let mut sharing = Sharing {
            published,
            blocks,
            ..Sharing::default()
        };
        for (&name, &number) in self.named {
            if private[number] != 0 {
                sharing.private.insert(name.to_owned(), private[number]);
            }
            if alone[number] && name != "main" {
                sharing.alone.insert(name.to_owned());
            }
        }
        sharing
    }

    /// All functions, with the number of the first of their module.
    fn functions(&self) -> impl Iterator<Item = (usize, &Module<'_>, usize, &Function)> {
        let firsts = self.modules.iter().scan(0, |next, module| {
            let first = *next;
            *next += module.summary.functions.len();
            Some((first, module))
        });
        firsts.flat_map(|(first, module)| {
            let functions = module.summary.functions.iter().enumerate();
            functions.map(move |(i, function)| (first, module, i, function))
        })
    }

    /// The number of a function that a module knows as `local`.
    fn number(&self, first: usize, module: &Module<'_>, local: usize) -> usize {
        let function = &module.summary.functions[local];
        match function.reach {
            Reach::Module => first + local,
            _ => self.named[function.name.as_str()],
        }
    }

    /// The functions all of whose calls are known. Of one that nobody calls there is nothing to gain.
    fn only_called(&self, is_own: impl Fn(&str, Reach) -> bool) -> Vec<bool> {
        let mut called = vec![false; self.spawns.len()];
        for (first, module, _, function) in self.functions() {
            for &(callee, _) in &function.steps {
                called[self.number(first, module, callee as usize)] = true;
            }
        }
        for (first, module, i, function) in self.functions() {
            let own = match function.reach {
                Reach::Module => true,
                _ => function.name != "main" && is_own(&function.name, function.reach),
            };
            if !own || !function.only_called {
                called[self.number(first, module, i)] = false;
            }
        }
        called
    }

    /// For each function, which parameters always point to private memory.
    fn private(&self, called: &[bool]) -> Vec<u64> {
        // Until nothing changes, from "all of them".
        let mut private: Vec<u64> = called.iter().map(|&called| if called { !0 } else { 0 }).collect();
        let bit = |bits: u64, index: u32| index < u64::BITS && bits >> index & 1 != 0;
        loop {
            let mut changed = false;
            for (first, module, i, function) in self.functions() {
                let caller = self.number(first, module, i);
                for give in &function.gives {
                    let callee = self.number(first, module, give.callee as usize);
                    if !bit(private[callee], give.parameter) {
                        continue;
                    }
                    let stays = match &give.what {
                        Given::Shared => false,
                        Given::Parameter(parameter) => bit(private[caller], *parameter),
                        Given::Local(given) => given.iter().all(|&(to, parameter)| {
                            bit(self.forgets[self.number(first, module, to as usize)], parameter)
                        }),
                    };
                    if !stays {
                        private[callee] &= !(1 << give.parameter);
                        changed = true;
                    }
                }
            }
            if !changed {
                return private;
            }
        }
    }

    /// The functions that are called only while the program has one thread.
    fn alone(&self, called: &[bool]) -> Vec<bool> {
        let mut alone = vec![false; called.len()];
        let Some(&main) = self.named.get("main").filter(|_| self.starts_alone) else {
            return alone;
        };
        alone.copy_from_slice(called);
        alone[main] = true;
        loop {
            let mut changed = false;
            for (first, module, i, function) in self.functions() {
                let caller = self.number(first, module, i);
                for &(callee, before) in &function.steps {
                    let callee = self.number(first, module, callee as usize);
                    if alone[callee]
                        && callee != main
                        && !(alone[caller] && self.is_early(first, module, function, before))
                    {
                        alone[callee] = false;
                        changed = true;
                    }
                }
            }
            if !changed {
                return alone;
            }
        }
    }

    /// Whether no function that may have been called before starts a thread.
    fn is_early(&self, first: usize, module: &Module<'_>, function: &Function, before: Before) -> bool {
        before.is_some_and(|set| {
            let mut set = function.before[set as usize].iter();
            set.all(|&callee| !self.spawns[self.number(first, module, callee as usize)])
        })
    }

    /// The variables that are written only while there is one thread, and those of them of whose blocks that is true as well.
    fn published(
        &self,
        alone: &[bool],
        is_own: impl Fn(&str, Reach) -> bool,
    ) -> (HashSet<String>, HashSet<String>) {
        let mut published = [HashSet::new(), HashSet::new()];
        let mut others = [HashSet::new(), HashSet::new()];
        let mut first = 0;
        for module in self.modules {
            for variable in &module.summary.variables {
                let early = |&(function, before): &(u32, Before)| {
                    let writer = &module.summary.functions[function as usize];
                    alone[self.number(first, module, function as usize)]
                        && self.is_early(first, module, writer, before)
                };
                let itself = self.starts_alone
                    && !variable.leaves
                    && is_own(&variable.name, variable.reach)
                    && variable.writes.iter().all(early);
                let blocks = variable.blocks.as_ref();
                let blocks = itself && blocks.is_some_and(|writes| writes.iter().all(early));
                for (i, early) in [itself, blocks].into_iter().enumerate() {
                    if !early {
                        others[i].insert(&variable.name);
                    } else if variable.reach != Reach::Declared {
                        published[i].insert(variable.name.clone());
                    }
                }
            }
            first += module.summary.functions.len();
        }
        for (published, others) in published.iter_mut().zip(&others) {
            published.retain(|name| !others.contains(name));
        }
        published.into()
    }
}

#[cfg(test)]
mod tests {
    use super::super::resolve::{Elsewhere, Known, Trust, program};
    use super::super::summary::{Function, Give, Given, Parameter, Reach, Summary, Variable};
    use super::super::{Effects, resolve};
    use super::Before;

    fn function(name: &str, reach: Reach) -> Function {
        Function {
            name: name.into(),
            reach,
            own: Effects::NONE,
            loops: false,
            limit: Effects::UNKNOWN,
            calls: Vec::new(),
            parameters: vec![Parameter::default(), Parameter::default()],
            only_called: true,
            gives: Vec::new(),
            steps: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Which functions the last one calls, each with those that it may have called before.
    fn calling(mut function: Function, calls: &[(u32, &[u32])]) -> Function {
        for (i, (callee, before)) in calls.iter().enumerate() {
            function.calls.push((*callee, Effects::UNKNOWN));
            function.steps.push((*callee, Some(i as u32)));
            function.before.push(before.to_vec());
        }
        function
    }

    fn variable(reach: Reach, writes: &[(u32, Before)]) -> Variable {
        Variable {
            name: "v".into(),
            reach,
            leaves: false,
            writes: writes.to_vec(),
            blocks: Some(writes.to_vec()),
        }
    }

    /// `main` calls `set` of another module, and then starts a thread.
    fn modules() -> [Summary; 2] {
        let main = function("main", Reach::All);
        [
            Summary {
                functions: vec![
                    calling(main, &[(1, &[]), (2, &[1])]),
                    function("set", Reach::Declared),
                    function("pthread_create", Reach::Declared),
                ],
                variables: vec![variable(Reach::All, &[(0, Some(1))])],
                ..Summary::default()
            },
            Summary {
                functions: vec![
                    calling(function("set", Reach::All), &[(1, &[])]),
                    calling(function("own", Reach::Module), &[(2, &[])]),
                    function("strlen", Reach::Declared),
                ],
                variables: vec![variable(Reach::Declared, &[(1, Some(0))])],
                ..Summary::default()
            },
        ]
    }

    fn known(modules: &[Summary; 2], elsewhere: &Elsewhere) -> Known {
        let modules = modules.each_ref().map(|summary| resolve::Module {
            summary,
            archived: false,
        });
        program(&modules, Trust::Program, elsewhere)
    }

    fn is_published(change: impl FnOnce(&mut [Summary; 2], &mut Elsewhere)) -> bool {
        let (mut modules, mut elsewhere) = (modules(), Elsewhere::default());
        change(&mut modules, &mut elsewhere);
        let known = known(&modules, &elsewhere);
        assert!(!known.published.contains("v") || known.alone.contains("set"));
        assert_eq!(known.blocks.contains("v"), known.published.contains("v"));
        known.published.contains("v")
    }

    #[test]
    fn what_is_written_before_there_are_threads_is_published() {
        assert!(is_published(|_, _| {}));
        // Somebody else uses a name.
        for name in ["v", "set"] {
            assert!(!is_published(
                |_, elsewhere| _ = elsewhere.used.insert(name.into())
            ));
            assert!(!is_published(|_, elsewhere| {
                elsewhere.defined.insert(name.into());
            }));
            assert!(!is_published(|[one, _], _| one.mentioned.push(name.into())));
        }
        assert!(!is_published(|_, elsewhere| elsewhere.all_used = true));
        assert!(!is_published(|_, elsewhere| elsewhere.starts = true));
        assert!(!is_published(|[_, two], _| two.variables[0].leaves = true));
        // `set` may be called by whoever has its address, from a function that is called at any time, or after a thread was started.
        assert!(!is_published(|[one, _], _| one.functions[1].only_called = false));
        assert!(!is_published(|[one, _], _| {
            let mut late = calling(function("late", Reach::All), &[(1, &[])]);
            late.only_called = false;
            one.functions.push(late);
        }));
        assert!(!is_published(|[one, _], _| one.functions[0].before[0] = vec![2]));
        assert!(!is_published(|[one, _], _| one.functions[0].steps[0].1 = None));
        // Written after a thread was started, or who knows when.
        assert!(!is_published(|[one, _], _| one.functions[0].before[1] = vec![2]));
        assert!(!is_published(|[_, two], _| two.variables[0].writes[0].1 = None));
        assert!(!is_published(
            |[_, two], _| two.functions[2].name = "unknown".into()
        ));
    }

    #[test]
    fn blocks_are_published_if_nobody_writes_them_later() {
        let blocks = |change: fn(&mut [Summary; 2])| {
            let mut modules = modules();
            change(&mut modules);
            let known = known(&modules, &Elsewhere::default());
            assert!(known.published.contains("v"));
            known.blocks.contains("v")
        };
        assert!(blocks(|_| {}));
        assert!(blocks(|[one, _]| one.variables[0].blocks = Some(Vec::new())));
        assert!(!blocks(|[one, _]| one.variables[0].blocks = None));
        assert!(!blocks(|[_, two]| two.variables[0].blocks = None));
        assert!(!blocks(|[_, two]| two.variables[0].blocks = Some(vec![(1, None)])));
        // After a thread was started, or in a function that is called then.
        assert!(!blocks(|[one, _]| {
            one.functions[0].before.push(vec![2]);
            one.variables[0].blocks = Some(vec![(0, Some(2))]);
        }));
        assert!(!blocks(|[one, _]| {
            let mut body = function("body", Reach::All);
            body.only_called = false;
            body.before.push(Vec::new());
            one.functions.push(body);
            one.variables[0].blocks = Some(vec![(3, Some(0))]);
        }));
    }

    /// Whether the first parameter of `set` is private if `main` gives it this.
    fn is_private(what: Given, change: impl FnOnce(&mut [Summary; 2])) -> bool {
        let mut modules = modules();
        let mut give = |what| {
            let give = Give {
                callee: 1,
                parameter: 0,
                what,
            };
            modules[0].functions[0].gives.push(give);
        };
        give(what);
        change(&mut modules);
        let known = known(&modules, &Elsewhere::default());
        known.private.get("set").is_some_and(|bits| bits & 1 != 0)
    }

    #[test]
    fn memory_that_nobody_keeps_is_private() {
        let local = || Given::Local(vec![(1, 0)]);
        assert!(is_private(local(), |_| {}));
        assert!(!is_private(Given::Shared, |_| {}));
        assert!(
            !is_private(Given::Parameter(0), |_| {}),
            "nobody knows what `main` is given"
        );
        // `set` keeps it, or the one it hands it to.
        assert!(!is_private(local(), |[_, two]| {
            two.functions[0].parameters[0].kept = true;
        }));
        let hands_on = |two: &mut Summary, to: u32| {
            two.functions[0].parameters[0].given = vec![(to, 0)];
        };
        assert!(is_private(local(), |[_, two]| hands_on(two, 1)));
        assert!(!is_private(local(), |[_, two]| hands_on(two, 2)), "a library's");
        // Others give it something else: what they have from somebody who is known, and who is not.
        let between = |one: &mut Summary, only_called: bool, called: bool| {
            let mut between = function("between", Reach::Module);
            between.only_called = only_called;
            between.gives.push(Give {
                callee: 1,
                parameter: 0,
                what: Given::Parameter(1),
            });
            one.functions.push(between);
            if called {
                one.functions[0].steps.push((3, Some(0)));
            }
        };
        assert!(is_private(local(), |[one, _]| between(one, true, true)));
        assert!(!is_private(local(), |[one, _]| between(one, false, true)));
        assert!(
            !is_private(local(), |[one, _]| between(one, true, false)),
            "who calls it is not seen"
        );
    }
}
