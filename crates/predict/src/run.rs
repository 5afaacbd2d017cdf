//! A whole trace: windows are cut while it is read, and looked at side by side.
//!
//! What comes out does not depend on how many windows run at once: of each pair of program locations, the race of the
//! first window that has one is kept, and a window leaves out only what an earlier one has found.

use crate::{Found, Location, Options, Outcome, Prediction, Window, Windows, look};
use deadheat_event::Event;
use deadheat_trace::{Source, Validator};
use rustc_hash::FxHashMap;
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

/// What was predicted from a trace.
#[derive(Debug, Default)]
pub struct Predictions {
    /// The races, in the order of the trace.
    pub races: Vec<Prediction>,
    /// Counters.
    pub outcome: Outcome,
    /// Events looked at.
    pub events: u64,
    /// What was wrong with the first schedule that the checker did not accept.
    pub rejection: Option<String>,
}

/// What happens while a trace is looked at.
pub enum Step<'a> {
    /// This block of events was read from the source.
    Read(&'a [Event], &'a dyn Source),
    /// Windows are finished: so many of the events that were read have been looked at.
    Finished(u64),
}

/// Why not all of a trace was looked at.
#[derive(Debug)]
pub enum Stopped {
    /// It cannot be read further.
    Unreadable(deadheat_trace::Error),
    /// An event makes no sense: its number, and what is wrong.
    IllFormed(u64, String),
}

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Stopped::Unreadable(error) => write!(f, "{error}"),
            Stopped::IllFormed(event, message) => write!(
                f,
                "event {event} is ill-formed ({message}), so there is no telling what other schedules would have done; \
                 `deadheat trace validate` says where it stands"
            ),
        }
    }
}

impl std::error::Error for Stopped {}

/// Predicts the races of a trace. `watch` sees every block of events, and the source, as they are read, and how far it has come.
pub fn predict(
    source: &mut dyn Source,
    options: &Options,
    watch: &mut dyn FnMut(Step<'_>),
) -> (Predictions, Option<Stopped>) {
    let jobs = options.jobs.max(1);
    let first = Mutex::new(FxHashMap::default());
    let (give, take) = sync_channel::<(usize, Window)>(jobs);
    // Owned by the workers: if all should fail, `give` hears of it.
    let take = Arc::new(Mutex::new(take));
    let (tell, told) = channel();
    let mut merger = Merger::default();
    let stopped = std::thread::scope(|scope| {
        for _ in 0..jobs {
            let tell = tell.clone();
            let (take, first) = (take.clone(), &first);
            scope.spawn(move || work(&take, &tell, first, options));
        }
        drop((take, tell));
        let mut windows = Windows::new(options.window);
        let mut validator = Validator::new();
        let (mut block, mut number) = (Vec::new(), 0);
        let stopped = loop {
            match source.next_block(&mut block) {
                Ok(true) => {}
                Ok(false) => break None,
                Err(error) => break Some(Stopped::Unreadable(error)),
            }
            let wrong = { block.iter().enumerate() }
                .find_map(|(n, event)| Some((n, validator.check(event, source.tables()).err()?)));
            if let Some((n, _)) = wrong {
                block.truncate(n);
            }
            watch(Step::Read(&block, source));
            windows.push(&block);
            while let Some(window) = windows.next(false, source.tables()) {
                // Fails only if all workers are gone, and then so is this.
                merger.expect(&window);
                let _ = give.send((number, window));
                number += 1;
                told.try_iter().for_each(|found| watch(merger.add(found)));
            }
            if let Some((_, message)) = wrong {
                break Some(Stopped::IllFormed(validator.events(), message));
            }
        };
        while let Some(window) = windows.next(true, source.tables()) {
            merger.expect(&window);
            let _ = give.send((number, window));
            number += 1;
            told.try_iter().for_each(|found| watch(merger.add(found)));
        }
        drop(give);
        told.iter().for_each(|found| watch(merger.add(found)));
        merger.predictions.events = validator.events();
        stopped
    });
    (merger.finish(), stopped)
}

/// The windows in which locations were found to race: the first of them.
type FirstWindows = Mutex<FxHashMap<Location, usize>>;

fn work(
    take: &Mutex<Receiver<(usize, Window)>>,
    tell: &Sender<(usize, Found)>,
    first: &FirstWindows,
    options: &Options,
) {
    loop {
        let next = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, window)) = next else {
            return;
        };
        let lock = || first.lock().unwrap_or_else(PoisonError::into_inner);
        let known: FxHashMap<Location, usize> = lock().clone();
        let found = look(&window, options, &|location| {
            known.get(location).is_none_or(|&earlier| earlier > number)
        });
        let mut first = lock();
        for (location, _) in &found.races {
            let earliest = first.entry(*location).or_insert(number);
            *earliest = number.min(*earliest);
        }
        drop(first);
        if tell.send((number, found)).is_err() {
            return;
        }
    }
}

#[derive(Default)]
struct Merger {
    races: FxHashMap<Location, (usize, Prediction)>,
    /// Of each window how many events no window before it had.
    fresh: Vec<u64>,
    /// How many of those are in windows that are finished.
    finished: u64,
    /// The first window with a schedule that the checker did not accept.
    rejected: usize,
    predictions: Predictions,
}

impl Merger {
    /// The next window is to be looked at.
    fn expect(&mut self, window: &Window) {
        self.fresh.push((window.events.len() - window.fresh) as u64);
    }

    fn add(&mut self, (number, found): (usize, Found)) -> Step<'static> {
        self.predictions.outcome.add(&found.outcome);
        let first = self.predictions.rejection.is_none() || number < self.rejected;
        if found.rejection.is_some() && first {
            self.rejected = number;
            self.predictions.rejection = found.rejection;
        }
        for (location, prediction) in found.races {
            match self.races.get(&location) {
                Some((earlier, _)) if *earlier < number => {}
                _ => drop(self.races.insert(location, (number, prediction))),
            }
        }
        self.finished += self.fresh.get(number).copied().unwrap_or(0);
        Step::Finished(self.finished)
    }

    fn finish(mut self) -> Predictions {
        let races = self.races.into_values().map(|(_, prediction)| prediction);
        self.predictions.races = races.collect();
        self.predictions
            .races
            .sort_by_key(|prediction| (prediction.race.event, prediction.events));
        self.predictions
    }
}
