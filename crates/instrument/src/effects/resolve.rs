//! Follows calls: what functions do, with all that they call.
//!
//! A name that others can see is trusted only if it is certain which function the linker binds it to: one that the link's
//! own bitcode defines (several, where each is taken for possible), nothing else in the link does, and nobody can put
//! another in front of when the program is loaded. A member of an archive may be left out in favour of a library, so of
//! those only names of Rust count, which have a hash in them.

use super::sharing::{Link, Sharing};
use super::summary::{Function, Reach, Summary};
use super::{Effects, Facts, known};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// What is certain of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// Nothing but what a module keeps to itself: an object that is linked again, or symbols are renamed.
    Modules,
    /// Also what does not leave the library.
    Library,
    /// All that the program defines.
    Program,
}

/// A module of the link.
pub struct Module<'a> {
    /// What it does.
    pub summary: &'a Summary,
    /// Whether it comes out of an archive.
    pub archived: bool,
}

/// What is known of a link.
pub struct Known {
    /// What its functions do that can be called by their names.
    pub functions: HashMap<String, Effects>,
    /// Which of its first 64 parameters each of them keeps no copy of, as bits.
    pub forgets: HashMap<String, u64>,
    /// Whether nothing that is run before `main` starts a thread.
    pub starts_alone: bool,
    /// Which parameters always point to memory that no other thread sees, by the names of functions, as bits.
    pub private: HashMap<String, u64>,
    /// Functions that are called only while the program has one thread.
    pub alone: HashSet<String>,
    /// Variables that are written only then.
    pub published: HashSet<String>,
    /// Those of them that alone lead to blocks of the heap, if these are written only then as well.
    pub blocks: HashSet<String>,
}

/// What there is in a link besides its modules.
#[derive(Default)]
pub struct Elsewhere {
    /// Names that are defined without bitcode.
    pub defined: HashSet<String>,
    /// Names that are used without bitcode, or that libraries may find.
    pub used: HashSet<String>,
    /// Whether libraries may find every name.
    pub all_used: bool,
    /// Whether code without bitcode runs before `main`.
    pub starts: bool,
}

/// Follows the calls of a link.
pub fn program(modules: &[Module<'_>], trust: Trust, elsewhere: &Elsewhere) -> Known {
    let mut graph = Graph::default();
    let mut names: HashMap<&str, Name> = HashMap::new();
    for module in modules {
        let first = graph.add(module.summary);
        for (i, function) in module.summary.functions.iter().enumerate() {
            let name = names.entry(&function.name).or_default();
            if matches!(function.reach, Reach::Output | Reach::All) {
                name.defined.push(first + i);
                name.trusted &= is_trusted(function.reach, module.archived, &function.name, trust);
            }
        }
    }
    let certain = |text: &str, name: &Name| {
        !elsewhere.defined.contains(text) && !name.defined.is_empty() && name.trusted && !is_taken_over(text)
    };
    let (forgets_here, forgets) = forgets(modules, &names, certain);
    // A node for each name, which stands for all functions that it may mean.
    let mut named: HashMap<&str, usize> = HashMap::new();
    for (text, name) in &names {
        let own = match name.defined.is_empty() {
            _ if elsewhere.defined.contains(*text) => Effects::UNKNOWN,
            true => known::effects(text).unwrap_or(Effects::UNKNOWN),
            false if name.trusted && !is_taken_over(text) => Effects::NONE,
            false => Effects::UNKNOWN,
        };
        let node = graph.nodes.len();
        graph.nodes.push(Node {
            state: own,
            limit: Effects::UNKNOWN,
            ..Node::default()
        });
        for &defined in &name.defined {
            graph.call(node, defined, Effects::UNKNOWN);
        }
        named.insert(text, node);
    }
    let mut first = 0;
    for module in modules {
        graph.calls(module.summary, first, |name| named[name]);
        first += module.summary.functions.len();
    }
    graph.solve();
    let known = names.iter().filter(|(_, name)| !name.defined.is_empty());
    let functions = known
        .map(|(text, _)| ((*text).to_owned(), graph.nodes[named[text]].state))
        .collect();
    let mut starts_alone = trust == Trust::Program && !elsewhere.starts;
    let mut first = 0;
    for module in modules {
        let constructor = |number: &u32| graph.nodes[first + *number as usize].state;
        starts_alone &= !module.summary.starts_otherwise
            && !module
                .summary
                .constructors
                .iter()
                .map(constructor)
                .any(|effects| effects.spawns);
        first += module.summary.functions.len();
    }
    let spawns: Vec<bool> = graph.nodes.iter().map(|node| node.state.spawns).collect();
    let mut forgets_all = forgets_here;
    forgets_all.resize(spawns.len(), 0);
    for (text, &node) in &named {
        forgets_all[node] = forgets.get(*text).copied().unwrap_or_default();
    }
    let mentioned: HashSet<&str> = modules
        .iter()
        .flat_map(|module| &module.summary.mentioned)
        .map(String::as_str)
        .collect();
    let Sharing {
        private,
        alone,
        published,
        blocks,
    } = Link {
        modules,
        named: &named,
        spawns: &spawns,
        forgets: &forgets_all,
        starts_alone,
    }
    .sharing(|text, reach| {
        let others = elsewhere.defined.contains(text)
            || elsewhere.used.contains(text)
            || mentioned.contains(text)
            || is_taken_over(text);
        !others
            && match trust {
                Trust::Modules => false,
                Trust::Library => reach == Reach::Output,
                Trust::Program => reach == Reach::Output || !elsewhere.all_used,
            }
    });
    Known {
        functions,
        forgets,
        starts_alone,
        private,
        alone,
        published,
        blocks,
    }
}

/// Which parameters functions keep no copy of, by themselves and by those that they hand them to: for each function, and by
/// the names that are certain.
fn forgets(
    modules: &[Module<'_>],
    names: &HashMap<&str, Name>,
    certain: impl Fn(&str, &Name) -> bool,
) -> (Vec<u64>, HashMap<String, u64>) {
    let all: Vec<(usize, &Module<'_>, &Function)> = {
        let mut first = 0;
        let mut all = Vec::new();
        for module in modules {
            let functions = module.summary.functions.iter();
            all.extend(functions.map(|function| (first, module, function)));
            first += module.summary.functions.len();
        }
        all
    };
    // Until nothing changes, from "whatever does not keep it itself".
    let own = |function: &Function| {
        let free = function.parameters.iter().take(64).enumerate();
        free.filter(|(_, parameter)| !parameter.kept)
            .fold(0, |bits: u64, (i, _)| bits | 1 << i)
    };
    let mut bits: Vec<u64> = all.iter().map(|(_, _, function)| own(function)).collect();
    let of_name = |bits: &[u64], text: &str| match names.get(text) {
        Some(name) if certain(text, name) => name.defined.iter().fold(u64::MAX, |all, &at| all & bits[at]),
        _ => 0,
    };
    loop {
        let mut changed = false;
        for (at, (first, module, function)) in all.iter().enumerate() {
            for (i, parameter) in function.parameters.iter().take(64).enumerate() {
                let forgotten = |&(callee, index): &(u32, u32)| {
                    let called = &module.summary.functions[callee as usize];
                    let known = match called.reach {
                        Reach::Module => bits[first + callee as usize],
                        _ => of_name(&bits, &called.name),
                    };
                    index < 64 && known >> index & 1 != 0
                };
                if bits[at] >> i & 1 != 0 && !parameter.given.iter().all(forgotten) {
                    bits[at] &= !(1 << i);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    let known = names
        .keys()
        .map(|text| ((*text).to_owned(), of_name(&bits, text)));
    let known = known.filter(|(_, bits)| *bits != 0).collect();
    (bits, known)
}

/// What the functions of one module do, if this is known of those that it calls by name.
pub fn module(summary: &Summary, facts: &Facts) -> Vec<Effects> {
    let mut graph = Graph::default();
    graph.add(summary);
    let count = summary.functions.len();
    for function in &summary.functions {
        let state = facts.get(&function.name).or_else(|| {
            let outside = function.reach == Reach::Declared;
            outside.then(|| known::effects(&function.name)).flatten()
        });
        graph.nodes.push(Node {
            state: state.unwrap_or(Effects::UNKNOWN),
            limit: Effects::UNKNOWN,
            ..Node::default()
        });
    }
    // What stands for the names is behind the functions, in their order.
    for (i, function) in summary.functions.iter().enumerate() {
        for &(callee, limit) in &function.calls {
            let here = summary.functions[callee as usize].reach == Reach::Module;
            let callee = callee as usize + if here { 0 } else { count };
            graph.call(i, callee, limit);
        }
    }
    graph.solve();
    let state = |(i, function): (usize, &super::summary::Function)| match function.reach {
        Reach::Module => graph.nodes[i].state,
        _ => graph.nodes[count + i].state,
    };
    summary.functions.iter().enumerate().map(state).collect()
}

/// What is known of a name.
struct Name {
    defined: Vec<usize>,
    trusted: bool,
}

impl Default for Name {
    fn default() -> Self {
        Name {
            defined: Vec::new(),
            trusted: true,
        }
    }
}

fn is_trusted(reach: Reach, archived: bool, name: &str, trust: Trust) -> bool {
    let bound = match trust {
        Trust::Modules => false,
        Trust::Library => reach == Reach::Output,
        Trust::Program => true,
    };
    bound && (!archived || crate::pass::is_rust(name))
}

/// Whether calls of it go to the runtime.
fn is_taken_over(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| deadheat_abi::hooks::redirected().collect());
    NAMES.contains(name)
}

/// Functions and names, and who calls whom.
#[derive(Default)]
struct Graph {
    nodes: Vec<Node>,
}

#[derive(Default)]
struct Node {
    /// What is known to be possible so far.
    state: Effects,
    limit: Effects,
    loops: bool,
    callers: Vec<(u32, Effects)>,
}

impl Graph {
    /// Adds the functions of a module, without their calls; answers with the number of the first.
    fn add(&mut self, summary: &Summary) -> usize {
        let first = self.nodes.len();
        self.nodes.extend(summary.functions.iter().map(|function| Node {
            state: function.own.and(function.limit),
            limit: function.limit,
            loops: function.loops,
            callers: Vec::new(),
        }));
        first
    }

    fn calls(&mut self, summary: &Summary, first: usize, named: impl Fn(&str) -> usize) {
        for (i, function) in summary.functions.iter().enumerate() {
            for &(callee, limit) in &function.calls {
                let called = &summary.functions[callee as usize];
                let callee = match called.reach {
                    Reach::Module => first + callee as usize,
                    _ => named(&called.name),
                };
                self.call(first + i, callee, limit);
            }
        }
    }

    fn call(&mut self, caller: usize, callee: usize, limit: Effects) {
        self.nodes[callee].callers.push((caller as u32, limit));
    }

    /// Until nothing changes: a state only grows, so each function is looked at a few times.
    fn solve(&mut self) {
        let mut todo: Vec<usize> = (0..self.nodes.len()).collect();
        while let Some(at) = todo.pop() {
            let node = &mut self.nodes[at];
            if node.loops && node.state.observable {
                node.state.may_not_end |= node.limit.may_not_end;
            }
            let state = node.state;
            let callers = std::mem::take(&mut node.callers);
            for &(caller, limit) in &callers {
                let node = &mut self.nodes[caller as usize];
                let more = node.state.or(state.and(limit).and(node.limit));
                if more != node.state {
                    node.state = more;
                    todo.push(caller as usize);
                }
            }
            // A function that calls itself has learnt nothing from itself.
            self.nodes[at].callers = callers;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::summary::Parameter;
    use super::*;

    const RELEASES: Effects = Effects {
        releases: true,
        ..Effects::NONE
    };

    fn function(name: &str, reach: Reach, own: Effects, calls: &[u32]) -> Function {
        Function {
            name: name.into(),
            reach,
            own,
            loops: false,
            limit: Effects::UNKNOWN,
            calls: calls.iter().map(|&callee| (callee, Effects::UNKNOWN)).collect(),
            parameters: Vec::new(),
            only_called: true,
            gives: Vec::new(),
            steps: calls.iter().map(|&callee| (callee, Some(0))).collect(),
            before: vec![Vec::new()],
        }
    }

    /// `a` calls `b` of another module, which calls a function of its own, which calls `c`; and `d`, which calls itself.
    fn two() -> [Summary; 2] {
        let none = Effects::NONE;
        let declared = |name| function(name, Reach::Declared, none, &[]);
        [
            Summary {
                functions: vec![
                    function("a", Reach::All, none, &[1]),
                    declared("b"),
                    function("d", Reach::All, none, &[2, 3]),
                    declared("sin"),
                ],
                ..Summary::default()
            },
            Summary {
                functions: vec![
                    function("b", Reach::All, none, &[1]),
                    function("own", Reach::Module, none, &[2]),
                    function("c", Reach::All, RELEASES, &[]),
                ],
                ..Summary::default()
            },
        ]
    }

    fn solved(archived: bool, trust: Trust, elsewhere: &[&str]) -> HashMap<String, Effects> {
        known(two(), archived, trust, elsewhere).functions
    }

    fn known(summaries: [Summary; 2], archived: bool, trust: Trust, elsewhere: &[&str]) -> Known {
        let [one, two] = &summaries;
        let modules = [one, two].map(|summary| Module { summary, archived });
        let elsewhere = Elsewhere {
            defined: elsewhere.iter().map(|&name| name.to_owned()).collect(),
            ..Elsewhere::default()
        };
        program(&modules, trust, &elsewhere)
    }

    #[test]
    fn calls_are_followed_from_module_to_module() {
        let known = solved(false, Trust::Program, &[]);
        assert_eq!(known["a"], RELEASES);
        assert_eq!(known["b"], RELEASES);
        assert_eq!(known["d"], Effects::NONE);
        assert!(!known.contains_key("own") && !known.contains_key("sin"));
    }

    #[test]
    fn what_may_be_another_function_is_not_known() {
        assert_eq!(solved(true, Trust::Program, &[])["d"], Effects::UNKNOWN);
        assert_eq!(solved(false, Trust::Library, &[])["d"], Effects::UNKNOWN);
        assert_eq!(solved(false, Trust::Modules, &[])["d"], Effects::UNKNOWN);
        let known = solved(false, Trust::Program, &["c"]);
        assert_eq!((known["a"], known["d"]), (Effects::UNKNOWN, Effects::NONE));
    }

    #[test]
    fn what_is_handed_on_is_kept_if_the_last_one_keeps_it() {
        let forgets = |kept: bool, archived| {
            let [mut one, mut two] = two();
            let parameter = |kept, given: &[(u32, u32)]| Parameter {
                kept,
                given: given.to_vec(),
            };
            // `a` hands it to `b`, which hands it to `own`, which hands it to `c`; `d` to itself and to nobody.
            one.functions[0].parameters = vec![parameter(true, &[]), parameter(false, &[(1, 0)])];
            one.functions[2].parameters = vec![parameter(false, &[(2, 0)]), parameter(false, &[(3, 0)])];
            two.functions[0].parameters = vec![parameter(false, &[(1, 0)])];
            two.functions[1].parameters = vec![parameter(false, &[(2, 1)])];
            two.functions[2].parameters = vec![parameter(true, &[]), parameter(kept, &[])];
            known([one, two], archived, Trust::Program, &[]).forgets
        };
        let all = forgets(false, false);
        assert_eq!((all["a"], all["b"], all["c"], all["d"]), (2, 1, 2, 1));
        let kept = forgets(true, false);
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["d"]);
        assert!(forgets(false, true).is_empty(), "others may take their place");
    }

    #[test]
    fn a_program_starts_alone_unless_a_constructor_may_start_a_thread() {
        let starts = |summaries, trust| known(summaries, false, trust, &[]).starts_alone;
        assert!(starts(two(), Trust::Program));
        assert!(!starts(two(), Trust::Library));
        let [mut one, two_] = two();
        // `d` calls `sin`.
        one.constructors = vec![2];
        assert!(starts([one.clone(), two_.clone()], Trust::Program));
        one.functions[3].name = "unknown".into();
        assert!(!starts([one, two_.clone()], Trust::Program));
        let [mut one, _] = two();
        one.starts_otherwise = true;
        assert!(!starts([one, two_], Trust::Program));
    }

    #[test]
    fn one_module_knows_its_own() {
        let [_, two] = &two();
        let known = module(two, &Facts::default());
        assert_eq!(known[0], Effects::UNKNOWN);
        assert_eq!(known[1], Effects::UNKNOWN, "it calls one that others can replace");
        let facts = [("c".to_owned(), RELEASES)].into_iter().collect();
        assert_eq!(module(two, &facts)[1], RELEASES);
    }

    #[test]
    fn loops_end_unless_they_are_seen_to_go_on() {
        let mut summary = Summary {
            functions: vec![function("f", Reach::Module, Effects::NONE, &[])],
            ..Summary::default()
        };
        summary.functions[0].loops = true;
        assert_eq!(module(&summary, &Facts::default())[0], Effects::NONE);
        summary.functions[0].own.observable = true;
        assert!(module(&summary, &Facts::default())[0].may_not_end);
    }
}
