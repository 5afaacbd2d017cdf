//! MultiRace, Table 1 and Figures 17 and 18.

use super::Sources;
use super::traces::{analyse, analyse_changed};
use crate::bench::markdown::{Table, megabytes, number};
use crate::bench::results::Quantity;
use crate::bench::tools::{DEADHEAT, NATIVE};
use crate::meter::thousands;
use anyhow::Result;
use deadheat_detect::select::{Choice, DetectorName};
use deadheat_event::{Addr, Event, Op};

/// What the programs do. What counted faults and minipages there has no like here: what stands in their place are the
/// race checks and the states. Nor is it counted how much memory threads share, of which a compressed state has no
/// fixed part: the memory of the shadow, which is kept for it, stands in its place.
pub fn table_1(sources: &Sources<'_>) -> Result<String> {
    let results = sources.results()?;
    let threads = results.threads().into_iter().find(|threads| *threads == 2);
    let threads = threads.or(results.threads().first().copied()).unwrap_or(0);
    let head = [
        "program",
        "input set",
        "shadow MB",
        "states",
        "race checks",
        "atomics",
        "time s",
    ];
    let mut table = Table::new(1, head);
    for (name, _) in results.workloads() {
        let Some(native) = results.point(name, threads, NATIVE) else {
            continue;
        };
        let counters = results.beside(native, DEADHEAT).map(|point| &point.counters);
        let of = |counter: &str| counters.and_then(|counters| counters.get(counter)).copied();
        let count = |counter: &str| of(counter).map_or("–".to_owned(), thousands);
        table.row([
            name.to_owned(),
            native.size.to_string(),
            of("shadow-bytes").map_or("–".to_owned(), |bytes| megabytes(bytes as f64)),
            count("shadow-states"),
            count("race-checks"),
            count("atomics"),
            native
                .spread(Quantity::Time)
                .map_or("–".to_owned(), |spread| number(spread.median)),
        ]);
    }
    Ok(format!(
        "{table}\nWith {threads} threads. The shadow is what is kept about memory that threads can share, with whole pages, and not that memory itself, \
         which is not counted: a state is that of eight bytes, or, where the shadow is compressed, of as many as share one.\n"
    ))
}

/// Bytes that share a location.
const UNITS: [u64; 6] = [8, 16, 64, 256, 1024, 4096];

/// What a larger detection unit gains, and the false alarms that it costs, on traces.
pub fn figure_17(sources: &Sources<'_>) -> Result<String> {
    let djit = Choice {
        detector: DetectorName::Djit,
        ..Choice::default()
    };
    let mut head = vec!["program".to_owned(), "exact".to_owned()];
    head.extend(UNITS.map(|unit| format!("{unit} bytes")));
    let mut table = Table::new(1, head);
    for (name, path) in &sources.traces()?.files {
        let empty = Choice {
            detector: DetectorName::Empty,
            ..Choice::default()
        };
        let empty = analyse(path, &empty)?.seconds().max(1e-9);
        let cell = |seconds: f64, races: u64| format!("{} ({races})", number(seconds / empty));
        let exact = analyse(path, &djit)?;
        let mut row = vec![name.clone(), cell(exact.seconds(), exact.races)];
        for unit in UNITS {
            let coarse = analyse_changed(path, &djit, |event| widen(event, unit))?;
            row.push(cell(coarse.seconds(), coarse.races));
        }
        table.row(row);
    }
    Ok(format!(
        "{table}\nTime of DJIT+ on the trace as a multiple of that of an analysis that checks nothing, and in brackets the races \
         reported: more than with exact addresses are false ones. All accesses that begin in a unit have one state, as if they were of the same \
         place. Elements of arrays keep their own states.\n"
    ))
}

/// Makes a plain access one to the first eight bytes of the unit that it begins in: they stand for all of the unit. Were it one
/// to the whole unit, the detector would look at as many states as there are words in it, and a larger unit would cost more.
fn widen(event: &mut Event, unit: u64) {
    if let Op::Read { addr, size, .. } | Op::Write { addr, size, .. } = &mut event.op {
        *addr = Addr(addr.0 / unit * unit);
        *size = unit.min(8) as u32;
    }
}

/// Times by threads, all relative to native with one thread, without and with detection.
pub fn figure_18(sources: &Sources<'_>) -> Result<String> {
    let results = sources.results()?;
    let threads = results.threads();
    let mut head = vec!["program".to_owned()];
    head.extend(threads.iter().map(|threads| format!("{threads}: native")));
    head.extend(threads.iter().map(|threads| format!("{threads}: deadheat")));
    let mut table = Table::new(1, head);
    let seconds = |name: &str, threads: u64, tool: &str| {
        Some(results.point(name, threads, tool)?.spread(Quantity::Time)?.median)
    };
    for (name, _) in results.workloads() {
        let one = threads.first().and_then(|first| seconds(name, *first, NATIVE));
        let mut row = vec![name.to_owned()];
        for tool in [NATIVE, DEADHEAT] {
            row.extend(
                threads
                    .iter()
                    .map(|threads| match (one, seconds(name, *threads, tool)) {
                        (Some(one), Some(seconds)) => number(seconds / one),
                        _ => "–".to_owned(),
                    }),
            );
        }
        table.row(row);
    }
    let first = threads.first().copied().unwrap_or(0);
    Ok(format!(
        "{table}\nTimes as multiples of the native one with {first} thread(s). Measure with --threads 1,2,4,8,16,32,64 for all \
         of the figure.\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadheat_event::{SiteId, ThreadId};
    use deadheat_trace::generate::{Config, Generator, Pattern};

    #[test]
    fn an_access_becomes_one_to_its_unit() {
        let mut event = Event {
            thread: ThreadId(1),
            site: SiteId(1),
            op: Op::Write {
                addr: Addr(70),
                size: 4,
                value: None,
            },
        };
        widen(&mut event, 64);
        let wide = Op::Write {
            addr: Addr(64),
            size: 8,
            value: None,
        };
        assert_eq!(event.op, wide);
    }

    #[test]
    fn a_larger_unit_takes_no_more_states_and_checks() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("mixed.dht");
        let mut generator = Generator::new(&Config {
            pattern: Pattern::Mixed,
            events: 20_000,
            ..Config::default()
        });
        let mut sink = deadheat_trace::create(&path).unwrap();
        deadheat_trace::copy(&mut generator, &mut *sink).unwrap();
        let djit = Choice {
            detector: DetectorName::Djit,
            ..Choice::default()
        };
        let counted = UNITS.map(|unit| {
            let stats = analyse_changed(&path, &djit, |event| widen(event, unit))
                .unwrap()
                .stats;
            (stats.shadow_states, stats.race_checks)
        });
        for pair in counted.windows(2) {
            assert!(pair[1].0 <= pair[0].0 && pair[1].1 <= pair[0].1, "{counted:?}");
        }
        assert!(counted[5].0 < counted[0].0 / 2, "{counted:?}");
    }
}
