//! Races as they come, one of each pair of program locations kept.
//!
//! A loop that races makes a race in every round; people want to read it once. Races are the same finding if their two
//! accesses are at the same two sites, in either order, and of the same kinds. Where a site is unknown, the place stands
//! in for it. Memory grows with the number of findings and of threads, not of races.
//!
//! Names are looked up at the end, when all of a trace's tables are known. Sites that only then turn out to mean the
//! same line are merged there.

use crate::model::{Access, Finding, Thread, Witness, rank_word};
use crate::names;
use deadheat_event::{
    AccessKind, Addr, ArrayId, Event, Op, Place, Race, RaceKind, Side, SiteId, Tables, ThreadId,
};
use rustc_hash::FxHashMap;

/// Takes races, keeps one of each pair of program locations, and counts.
#[derive(Debug, Default)]
pub struct Collector {
    by_key: FxHashMap<Key, usize>,
    kept: Vec<Kept>,
    origins: FxHashMap<ThreadId, Origin>,
    /// Events looked at by [`Collector::observe`].
    events: u64,
}

/// What a finding says about who found it.
#[derive(Clone, Copy, Debug)]
pub struct Labels<'a> {
    /// The detector's name.
    pub detector: &'a str,
    /// The command that shows the findings again. The finding's id is put in for every `{id}`.
    pub again: &'a str,
}

/// A schedule that shows a predicted race. Events are those of the trace, by number.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    /// Everything in front of this event happens as observed.
    pub start: u64,
    /// Then these happen. The last two are the accesses.
    pub order: Vec<u64>,
    /// Those of them that are to be shown.
    pub shown: Vec<(u64, Event)>,
}

#[derive(Debug)]
struct Kept {
    race: Race,
    /// For a predicted race.
    schedule: Option<Schedule>,
    count: u64,
    /// Where the two threads were made, the earlier access's first.
    origins: [Option<Origin>; 2],
}

/// Where a thread was made.
#[derive(Clone, Copy, Debug)]
struct Origin {
    event: u64,
    parent: ThreadId,
    site: SiteId,
    /// The id has had several threads, and a race does not say which of them it means.
    ambiguous: bool,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Key {
    /// In ascending order.
    sides: [Option<(SiteId, AccessKind, bool)>; 2],
    place: Option<PlaceKey>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum PlaceKey {
    Memory(Addr),
    Array(ArrayId),
}

impl Key {
    fn of(race: &Race) -> Key {
        let side = |side: &Side| (side.site, side.access, side.atomic);
        let mut sides = [race.first.as_ref().map(side), Some(side(&race.second))];
        sides.sort_unstable();
        let unknown = sides
            .iter()
            .flatten()
            .any(|(site, ..)| *site == SiteId::default());
        let place = unknown.then_some(match race.place {
            Place::Memory { addr, .. } => PlaceKey::Memory(addr),
            Place::Array { array, .. } => PlaceKey::Array(array),
        });
        Key { sides, place }
    }
}

impl Collector {
    /// A collector that has seen nothing yet.
    pub fn new() -> Collector {
        Collector::default()
    }

    /// Learns from the next events where threads are made. To be called before races in these events are added.
    pub fn observe(&mut self, events: &[Event]) {
        // Forks are rare: groups of a fixed size are looked through faster than one event after the other.
        let (groups, rest) = events.as_chunks::<8>();
        let is_fork = |event: &Event| matches!(event.op, Op::Fork { .. });
        for (number, group) in (self.events..).step_by(8).zip(groups) {
            if group.iter().any(is_fork) {
                self.forks(number, group);
            }
        }
        self.forks(self.events + (events.len() - rest.len()) as u64, rest);
        self.events += events.len() as u64;
    }

    fn forks(&mut self, first: u64, events: &[Event]) {
        for (number, event) in (first..).zip(events) {
            if let Op::Fork { child } = event.op {
                let origin = Origin {
                    event: number,
                    parent: event.thread,
                    site: event.site,
                    ambiguous: self.origins.contains_key(&child),
                };
                self.origins.insert(child, origin);
            }
        }
    }

    /// Takes a race. Whether it is a new finding.
    pub fn add(&mut self, race: Race) -> bool {
        self.add_with(race, None)
    }

    /// Takes a race of another schedule than the observed one. Whether it is a new finding.
    pub fn add_predicted(&mut self, race: Race, schedule: Schedule) -> bool {
        self.add_with(race, Some(schedule))
    }

    fn add_with(&mut self, race: Race, schedule: Option<Schedule>) -> bool {
        let next = self.kept.len();
        let place = *self.by_key.entry(Key::of(&race)).or_insert(next);
        if place < next {
            let kept = &mut self.kept[place];
            kept.count += 1;
            // The strongest claim about a pair is the one to show.
            if severity(race.kind) > severity(kept.race.kind) {
                kept.origins = origins(&self.origins, &race);
                (kept.race, kept.schedule) = (race, schedule);
            }
            return false;
        }
        self.kept.push(Kept {
            origins: origins(&self.origins, &race),
            race,
            schedule,
            count: 1,
        });
        true
    }

    /// How many races were taken.
    pub fn occurrences(&self) -> u64 {
        self.kept.iter().map(|kept| kept.count).sum()
    }

    /// How many findings there are so far.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The findings behind the first `seen`, in the order in which they were found, to decide whether to go on.
    pub fn since(&self, seen: usize, tables: &Tables, labels: Labels<'_>) -> impl Iterator<Item = Finding> {
        self.kept
            .iter()
            .skip(seen)
            .map(move |kept| kept.resolve(tables, labels))
    }

    /// All findings with their names: confirmed ones first, then by rank, then in the order of the trace.
    pub fn findings(&self, tables: &Tables, labels: Labels<'_>) -> Vec<Finding> {
        let mut order: Vec<&Kept> = self.kept.iter().collect();
        order.sort_by_key(|kept| (std::cmp::Reverse(severity(kept.race.kind)), kept.race.event));
        let mut by_id = FxHashMap::default();
        let mut findings: Vec<Finding> = Vec::new();
        for kept in order {
            let finding = kept.resolve(tables, labels);
            let place = *by_id.entry(finding.id.clone()).or_insert(findings.len());
            match findings.get_mut(place) {
                Some(same) => same.count += finding.count,
                None => findings.push(finding),
            }
        }
        findings
    }
}

fn severity(kind: RaceKind) -> u8 {
    match kind {
        RaceKind::HappensBefore => u8::MAX,
        RaceKind::Discipline(rank) => rank as u8,
    }
}

fn origins(known: &FxHashMap<ThreadId, Origin>, race: &Race) -> [Option<Origin>; 2] {
    let origin = |side: &Side| {
        let origin = known.get(&side.thread)?;
        (!origin.ambiguous && origin.event <= race.event).then_some(*origin)
    };
    [race.first.as_ref().and_then(origin), origin(&race.second)]
}

impl Kept {
    fn resolve(&self, tables: &Tables, labels: Labels<'_>) -> Finding {
        let race = &self.race;
        let location = names::location(race.place, tables);
        let access = |side: &Side, locks_known: bool| Access {
            thread: Some(side.thread.0),
            op: side.access.into(),
            atomic: side.atomic,
            address: None,
            size: location.size,
            frames: names::frame(side.site, tables).into_iter().collect(),
            also: Vec::new(),
            also_more: false,
            locks: (locks_known || !side.locks.is_empty())
                .then(|| side.locks.iter().map(|lock| names::lock(*lock, tables)).collect()),
        };
        let mut accesses = Vec::with_capacity(2);
        // What the thread of the earlier access held is not remembered by most detectors. Prediction knows it.
        let both = self.schedule.is_some();
        accesses.extend(race.first.as_ref().map(|first| access(first, both)));
        accesses.push(access(&race.second, true));
        let kind: Vec<&str> = accesses.iter().map(|access| access.op.as_str()).collect();
        let id = fingerprint(
            &accesses,
            location.name.as_deref().or(location.address.as_deref()),
        );
        Finding {
            kind: kind.join("-"),
            confirmed: race.kind == RaceKind::HappensBefore,
            rank: match race.kind {
                RaceKind::HappensBefore => None,
                RaceKind::Discipline(rank) => Some(rank_word(rank).to_owned()),
            },
            predicted: self.schedule.is_some(),
            accesses,
            threads: self.threads(tables),
            detector: labels.detector.to_owned(),
            witness: self.schedule.as_ref().map(|schedule| Witness {
                start: schedule.start,
                schedule: schedule.order.clone(),
                steps: { schedule.shown.iter() }
                    .map(|(number, event)| names::step(*number, event, tables))
                    .collect(),
            }),
            confirmation: None,
            event: Some(race.event),
            count: self.count,
            again: labels.again.replace("{id}", &id),
            id,
            location,
            hint: None,
        }
    }

    fn threads(&self, tables: &Tables) -> Vec<Thread> {
        let sides = [self.race.first.as_ref(), Some(&self.race.second)];
        let accessing = sides.into_iter().zip(self.origins);
        let accessing = accessing.filter_map(|(side, origin)| Some((side?.thread, origin)));
        let parents = self
            .origins
            .into_iter()
            .flatten()
            .map(|origin| (origin.parent, None));
        let mut threads: Vec<Thread> = Vec::new();
        for (id, origin) in accessing.chain(parents) {
            if threads.iter().all(|thread| thread.id != id.0) {
                let site = origin.and_then(|origin| names::frame(origin.site, tables));
                threads.push(Thread {
                    id: id.0,
                    tid: None,
                    name: names::thread(id, tables),
                    created_by: origin.map(|origin| origin.parent.0),
                    created_at: site.into_iter().collect(),
                });
            }
        }
        threads
    }
}

/// The same for every run in which the pair of program locations is found: no ids, no addresses unless nothing else is
/// known. Lines and columns are part of it, so that a baseline never hides a race at a new place.
fn fingerprint(accesses: &[Access], place: Option<&str>) -> String {
    let mut sides: Vec<String> = accesses.iter().map(side_text).collect();
    sides.sort_unstable();
    if accesses.iter().any(|access| access.frames.is_empty()) {
        // The elements of an array are one place, as in `Key`.
        let whole = place.unwrap_or_default().split('[').next().unwrap_or_default();
        sides.push(whole.to_owned());
    }
    format!("{:016x}", fnv(&sides.join("\n\n")))
}

/// FNV-1a: stable between versions of Rust and of this tool, which the standard hasher is not.
pub(crate) fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn side_text(access: &Access) -> String {
    let mut text = format!("{} {}", access.op.as_str(), access.atomic);
    for frame in &access.frames {
        for word in [&frame.function, &frame.file] {
            text.push('\n');
            text.push_str(word.as_deref().unwrap_or_default());
        }
        for number in [frame.line, frame.column] {
            text.push('\n');
            text.push_str(&number.unwrap_or_default().to_string());
        }
    }
    text
}
