//! From a window to predictions: candidates, sieve, solver, checker.

use crate::candidates::{self, Location, Pair};
use crate::causal::Causal;
use crate::check::Checker;
use crate::graph::{Graph, Id, Unfinished};
use crate::query::{Answer, Query, keep_order};
use crate::solve::Solvers;
use crate::{Model, SolverName, Window};
use deadheat_event::{Event, Race, RaceKind, Side, SyncId};
use rustc_hash::FxHashSet;
use std::time::{Duration, Instant};

/// How to predict.
#[derive(Clone, Debug)]
pub struct Options {
    /// The causal model.
    pub model: Model,
    /// Events in a window.
    pub window: usize,
    /// What decides.
    pub solver: SolverName,
    /// The most time for a window.
    pub timeout: Duration,
    /// The most time for one pair: a tenth of that unless said.
    pub pair: Option<Duration>,
    /// When to stop with all of them: windows that come later are not looked at.
    pub end: Option<Instant>,
    /// Windows looked at side by side.
    pub jobs: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            model: Model::default(),
            window: 10_000,
            solver: SolverName::default(),
            timeout: Duration::from_secs(60),
            pair: None,
            end: None,
            jobs: 1,
        }
    }
}

/// A schedule that ends with two accesses that nothing orders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Everything in front of this event happens as observed.
    pub start: u64,
    /// Then these events, by their distance from it. The last two are the racing accesses.
    order: Vec<u32>,
    /// The events of the schedule that say why it is one: synchronisation, reads that see what another thread wrote, and
    /// what comes shortly before the end.
    pub steps: Vec<(u64, Event)>,
}

impl Witness {
    /// The events from `start` on, by their number in the trace.
    pub fn schedule(&self) -> impl ExactSizeIterator<Item = u64> {
        self.order.iter().map(|&event| self.start + u64::from(event))
    }
}

/// A race of some schedule.
#[derive(Clone, Debug)]
pub struct Prediction {
    /// The race, as other detectors report it.
    pub race: Race,
    /// The numbers of the two events, the earlier one first.
    pub events: [u64; 2],
    /// How it can come about.
    pub witness: Witness,
}

/// What was found in a window.
#[derive(Debug, Default)]
pub struct Found {
    /// Races, at most one of each pair of program locations.
    pub races: Vec<(Location, Prediction)>,
    /// Counters.
    pub outcome: Outcome,
    /// Why the checker did not accept the first schedule that it did not.
    pub rejection: Option<String>,
}

/// Counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Windows.
    pub windows: u64,
    /// Pairs of accesses that the sieve did not drop.
    pub pairs: u64,
    /// Of them, those that a schedule in the observed order showed to race.
    pub quick: u64,
    /// Those that necessary conditions showed not to race.
    pub refuted: u64,
    /// Those that the solver decided.
    pub solved: u64,
    /// Time spent in the solver, all windows added up.
    pub solving: Duration,
    /// What was not decided.
    pub undecided: Undecided,
    /// Schedules that the checker did not accept. Always 0 unless there is a bug in this crate.
    pub rejected: u64,
}

/// What was not decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Undecided {
    /// Pairs for which time ran out.
    pub pairs: u64,
    /// Windows that time ran out for, with pairs that were not looked at.
    pub windows: u64,
    /// Windows whose memory is accessed in too many different pieces.
    pub tangled: u64,
}

impl Undecided {
    /// Whether everything was decided.
    pub fn is_none(&self) -> bool {
        *self == Undecided::default()
    }
}

impl Outcome {
    /// Adds up.
    pub fn add(&mut self, other: &Outcome) {
        self.windows += other.windows;
        self.pairs += other.pairs;
        self.quick += other.quick;
        self.refuted += other.refuted;
        self.solved += other.solved;
        self.solving += other.solving;
        self.rejected += other.rejected;
        self.undecided.pairs += other.undecided.pairs;
        self.undecided.windows += other.undecided.windows;
        self.undecided.tangled += other.undecided.tangled;
    }
}

/// Looks for races in a window. `wanted` says whether a pair of program locations is of interest.
pub fn look(window: &Window, options: &Options, wanted: &dyn Fn(&Location) -> bool) -> Found {
    let mut found = Found::default();
    found.outcome.windows = 1;
    // From here on: what it takes to get to the first pair counts, too.
    let now = Instant::now();
    let deadline = options
        .end
        .map_or(now + options.timeout, |end| end.min(now + options.timeout));
    if now >= deadline {
        found.outcome.undecided.windows = 1;
        return found;
    }
    let unfinished = |mut found: Found, why: Unfinished| {
        match why {
            Unfinished::Tangled => found.outcome.undecided.tangled = 1,
            Unfinished::Late => found.outcome.undecided.windows = 1,
        }
        found
    };
    let graph = match Graph::new(window, options.model, deadline) {
        Ok(graph) => graph,
        Err(why) => return unfinished(found, why),
    };
    let causal = match Causal::new(&graph, window, options.model, deadline) {
        Ok(causal) => causal,
        Err(why) => return unfinished(found, why),
    };
    let mut looker = Looker {
        window,
        options,
        graph: &graph,
        causal,
        solvers: None,
        #[cfg(feature = "z3")]
        context: None,
        checker: None,
        deadline,
        known: FxHashSet::default(),
        found,
    };
    looker.all(wanted);
    looker.found
}

struct Looker<'g> {
    window: &'g Window,
    options: &'g Options,
    graph: &'g Graph<'g>,
    causal: Option<Causal>,
    solvers: Option<Solvers<'g>>,
    #[cfg(feature = "z3")]
    context: Option<z3::Context>,
    checker: Option<Checker<'g>>,
    deadline: Instant,
    known: FxHashSet<Location>,
    found: Found,
}

impl Looker<'_> {
    fn all(&mut self, wanted: &dyn Fn(&Location) -> bool) {
        let known = std::cell::RefCell::new(std::mem::take(&mut self.known));
        let graph = self.graph;
        candidates::visit(
            graph,
            self.window.fresh,
            &|location| !known.borrow().contains(location) && wanted(location),
            &mut |location, pair| {
                if Instant::now() >= self.deadline {
                    self.found.outcome.undecided.windows = 1;
                    return false;
                }
                if self.pair(location, pair) {
                    known.borrow_mut().insert(location);
                }
                true
            },
        );
    }

    /// Whether the pair races.
    fn pair(&mut self, location: Location, pair: Pair) -> bool {
        let graph = self.graph;
        if { self.causal.as_ref() }.is_some_and(|causal| causal.orders(graph, pair.0, pair.1)) {
            return false;
        }
        let Some(mut query) = Query::new(graph, pair.0, pair.1) else {
            return false;
        };
        self.found.outcome.pairs += 1;
        let prefix = match keep_order(graph, &query) {
            Some(prefix) => {
                self.found.outcome.quick += 1;
                prefix
            }
            None => {
                if !query.close(graph) {
                    self.found.outcome.refuted += 1;
                    return false;
                }
                let limit = Instant::now() + self.options.pair.unwrap_or(self.options.timeout / 10);
                let limit = Some(limit.min(self.deadline));
                let started = Instant::now();
                let answer = match self.options.solver {
                    SolverName::Order => {
                        let solvers = self.solvers.get_or_insert_with(|| Solvers::new(graph));
                        solvers.solve(&query, limit)
                    }
                    #[cfg(feature = "z3")]
                    SolverName::Z3 => {
                        let context = self.context.get_or_insert_with(crate::solve::z3::context);
                        crate::solve::z3::solve(context, graph, &query, limit)
                    }
                };
                self.found.outcome.solving += started.elapsed();
                match answer {
                    Answer::Race(prefix) => {
                        self.found.outcome.solved += 1;
                        prefix
                    }
                    Answer::Ordered => {
                        self.found.outcome.solved += 1;
                        return false;
                    }
                    Answer::Unknown => {
                        self.found.outcome.undecided.pairs += 1;
                        return false;
                    }
                }
            }
        };
        self.accept(location, pair, prefix)
    }

    /// Whether the checker agrees.
    fn accept(&mut self, location: Location, pair: Pair, prefix: Vec<Id>) -> bool {
        let window = self.window;
        let mut schedule = prefix;
        schedule.extend([pair.0, pair.1]);
        if self.checker.is_none() {
            let objects = |set| window.objects(set).to_vec();
            let (model, deadline) = (self.options.model, self.deadline);
            self.checker = Checker::new(&window.events, &window.state, model, &objects, deadline).ok();
        }
        let Some(checker) = &self.checker else {
            self.found.outcome.undecided.windows = 1;
            return false;
        };
        let places: Vec<usize> = schedule.iter().map(|&event| event as usize).collect();
        if let Err(wrong) = checker.check(&places) {
            self.found.outcome.rejected += 1;
            self.found.rejection.get_or_insert(wrong);
            return false;
        }
        let Some(race) = self.race(pair) else {
            return false;
        };
        let prediction = Prediction {
            race,
            events: [window.start + u64::from(pair.0), window.start + u64::from(pair.1)],
            witness: Witness {
                start: window.start,
                steps: self.steps(&schedule),
                order: schedule,
            },
        };
        self.found.races.push((location, prediction));
        true
    }

    fn race(&self, (a, b): Pair) -> Option<Race> {
        let (x, y) = (&self.graph.events[a as usize], &self.graph.events[b as usize]);
        let side = |event: Id, (access, atomic, _)| Side {
            thread: self.graph.events[event as usize].thread,
            access,
            atomic,
            site: self.graph.events[event as usize].site,
            locks: self.locks(event),
        };
        let (first, second) = (candidates::describe(x, y)?, candidates::describe(y, x)?);
        Some(Race {
            kind: RaceKind::HappensBefore,
            place: second.2,
            first: Some(side(a, first)),
            second: side(b, second),
            event: self.window.start + u64::from(b),
        })
    }

    fn locks(&self, event: Id) -> Vec<SyncId> {
        let set = &self.graph.locksets[self.graph.lockset[event as usize] as usize];
        set.iter().map(|(lock, _)| *lock).collect()
    }

    /// What to show of a schedule.
    fn steps(&self, schedule: &[Id]) -> Vec<(u64, Event)> {
        let picked = crate::steps::pick(self.graph, schedule);
        let step = |event: Id| {
            (
                self.window.start + u64::from(event),
                self.graph.events[event as usize],
            )
        };
        picked.into_iter().map(step).collect()
    }
}
