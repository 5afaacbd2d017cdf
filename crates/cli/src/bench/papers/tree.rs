//! TREE, Table 5.1 and the sweeps over the programs of its Figures 5.1 and 5.3.

use super::Sources;
use super::traces::{Analysed, analyse, analyse_events};
use crate::bench::markdown::{Table, megabytes, number};
use crate::bench::svg::{Plot, Series};
use anyhow::Result;
use deadheat_detect::select::{Choice, FilterName};
use deadheat_event::{Addr, Event, Mode, Op, SiteId, SyncId, Tables, ThreadId};
use std::path::Path;

const PLAIN: Choice = Choice {
    detector: deadheat_detect::select::DetectorName::FastTrack,
    filter: FilterName::None,
    compress: false,
    disable_after_race: false,
};

fn with(filter: FilterName) -> Choice {
    Choice { filter, ..PLAIN }
}

/// What a filter skipped of all accesses, what it takes in memory, and what it gains in time, all in comparison.
fn cells(plain: &Analysed, filtered: &Analysed) -> [String; 3] {
    let skipped = filtered.stats.filtered as f64 / (filtered.accesses() as f64).max(1.0) * 100.0;
    let memory = filtered.stats.bytes as f64 - plain.stats.bytes as f64;
    let gained = (1.0 - filtered.seconds() / plain.seconds().max(1e-9)) * 100.0;
    [number(skipped), megabytes(memory), format!("{gained:.1}")]
}

/// FastTrack, and behind TREE, as published and strict.
pub fn table_5_1(sources: &Sources<'_>) -> Result<String> {
    let mut head = vec!["program".to_owned()];
    for filter in [FilterName::Tree, FilterName::TreeStrict] {
        head.push(format!("{filter}: skipped %"));
        head.push("memory MB".to_owned());
        head.push("faster by %".to_owned());
    }
    let mut table = Table::new(1, head);
    for (name, path) in &sources.traces()?.files {
        let plain = analyse(path, &PLAIN)?;
        let mut row = vec![name.clone()];
        for filter in [FilterName::Tree, FilterName::TreeStrict] {
            row.extend(cells(&plain, &analyse(path, &with(filter))?));
        }
        table.row(row);
    }
    Ok(format!(
        "{table}\nOf the analysis of a trace, without reading it. Skipped are accesses, of all accesses; memory is that of the \
         states at the end, compared with FastTrack alone.\n"
    ))
}

/// Threads, turns of their loops, and locks.
type Shape = (u32, u32, u32);

const USUAL: Shape = (8, 200, 8);

/// The best case: all threads take the same locks.
pub fn figure_5_1(sources: &Sources<'_>) -> Result<String> {
    figure("tree-figure-5.1", false, sources.svg)
}

/// The worst case: locks of each thread's own, and a race.
pub fn figure_5_3(sources: &Sources<'_>) -> Result<String> {
    figure("tree-figure-5.3", true, sources.svg)
}

/// A parameter, and the programs in which it has several values.
type Sweep = (&'static str, Vec<(u32, Shape)>);

fn sweeps() -> [Sweep; 3] {
    let (threads, turns, locks) = USUAL;
    let of = |values: [u32; 6], shape: &dyn Fn(u32) -> Shape| values.map(|n| (n, shape(n))).to_vec();
    [
        ("threads", of([2, 4, 8, 16, 32, 64], &|n| (n, turns, locks))),
        (
            "iterations",
            of([50, 100, 200, 400, 800, 1600], &|n| (threads, n, locks)),
        ),
        ("locks", of([1, 2, 4, 8, 16, 32], &|n| (threads, turns, n))),
    ]
}

/// A table for each parameter, and with `--svg DIR` a plot.
fn figure(name: &str, private: bool, svg: Option<&Path>) -> Result<String> {
    let (threads, turns, locks) = USUAL;
    let mut text = String::new();
    for sweep in sweeps() {
        let (table, plot) = swept(&sweep, private)?;
        text.push_str(&format!("{table}\n"));
        if let Some(directory) = svg {
            plot.write(directory, &format!("{name}-{}", sweep.0))?;
        }
    }
    Ok(format!(
        "{text}Otherwise {threads} threads, {turns} iterations, {locks} locks. The threads' turns follow each other.\n"
    ))
}

/// What a parameter does to FastTrack, alone and behind TREE.
fn swept((parameter, shapes): &Sweep, private: bool) -> Result<(Table, Plot)> {
    let mut table = Table::new(
        0,
        [
            parameter,
            "FastTrack ms",
            "TREE ms",
            "FastTrack MB",
            "TREE MB",
            "skipped %",
            "races",
            "races behind TREE",
        ],
    );
    let mut curves = ["FastTrack", "TREE"].map(|name| Series {
        name: name.to_owned(),
        values: Vec::new(),
    });
    for &(n, shape) in shapes {
        let events = program(shape, private);
        let tables = Tables::default();
        let plain = analyse_events(&events, &tables, &PLAIN)?;
        let tree = analyse_events(&events, &tables, &with(FilterName::Tree))?;
        let times = [plain.seconds() * 1e3, tree.seconds() * 1e3];
        for (curve, time) in curves.iter_mut().zip(times) {
            curve.values.push(Some(time));
        }
        table.row([
            n.to_string(),
            number(times[0]),
            number(times[1]),
            megabytes(plain.stats.bytes as f64),
            megabytes(tree.stats.bytes as f64),
            cells(&plain, &tree)[0].clone(),
            plain.races.to_string(),
            tree.races.to_string(),
        ]);
    }
    let case = if private { "worst" } else { "best" };
    let plot = Plot {
        title: format!("TREE's {case} case: time against {parameter}"),
        axis: format!("{parameter}; milliseconds of the analysis"),
        places: shapes.iter().map(|(n, _)| n.to_string()).collect(),
        series: curves.into(),
        bars: false,
        unit: " ms",
    };
    Ok((table, plot))
}

const X: Op = Op::Write {
    addr: Addr(0x1000),
    size: 8,
    value: None,
};
const READ_X: Op = Op::Read {
    addr: Addr(0x1000),
    size: 8,
    value: None,
};

/// The program of Figure 5.1, or of 5.3: then the main thread changes x as well, before each fork, and locks are private.
fn program((threads, turns, locks): Shape, private: bool) -> Vec<Event> {
    let mut events = Vec::new();
    let mut push = |thread: u32, site: u32, op| {
        events.push(Event {
            thread: ThreadId(thread),
            site: SiteId(site),
            op,
        });
    };
    for child in 1..=threads {
        if private {
            push(0, 1, READ_X);
            push(0, 2, X);
        }
        push(
            0,
            3,
            Op::Fork {
                child: ThreadId(child),
            },
        );
    }
    for _ in 0..turns {
        for thread in 1..=threads {
            let lock = |n: u32| SyncId(if private { thread * locks + n } else { n }.into());
            for n in 0..locks {
                push(
                    thread,
                    4,
                    Op::Acquire {
                        lock: lock(n),
                        mode: Mode::Exclusive,
                    },
                );
            }
            push(thread, 5, READ_X);
            push(thread, 6, X);
            for n in 0..locks {
                push(thread, 7, Op::Release { lock: lock(n) });
            }
        }
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_case_is_free_of_races_and_mostly_skipped() {
        let events = program((4, 50, 2), false);
        assert_eq!(events.len(), 4 + 50 * 4 * (2 + 2 * 2));
        let tree = analyse_events(&events, &Tables::default(), &with(FilterName::Tree)).unwrap();
        assert_eq!(tree.races, 0);
        assert!(tree.stats.filtered * 10 > tree.accesses() * 9, "{:?}", tree.stats);
    }

    #[test]
    fn the_worst_case_has_its_race() {
        let events = program((4, 5, 2), true);
        let plain = analyse_events(&events, &Tables::default(), &PLAIN).unwrap();
        assert!(plain.races > 0);
    }

    #[test]
    fn each_value_of_a_parameter_is_a_row_and_two_points() {
        let sweep = ("locks", vec![(1, (2, 5, 1)), (2, (2, 5, 2)), (4, (2, 5, 4))]);
        let (table, plot) = swept(&sweep, false).unwrap();
        // Head and rule.
        assert_eq!(table.to_string().lines().count(), 2 + 3);
        assert_eq!(plot.places, ["1", "2", "4"]);
        let svg = plot.svg();
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert_eq!(svg.matches("<circle").count(), 2 * 3);
        assert!(
            svg.contains("best case: time against locks")
                && svg.contains("FastTrack")
                && svg.contains(" ms</text>")
        );
        let directory = tempfile::tempdir().unwrap();
        let path = plot.write(directory.path(), "tree-figure-5.1-locks").unwrap();
        assert_eq!(path, directory.path().join("tree-figure-5.1-locks.svg"));
        assert_eq!(std::fs::read_to_string(path).unwrap(), svg);
    }

    #[test]
    fn a_sweep_changes_one_parameter() {
        let usual = <[u32; 3]>::from(USUAL);
        for (place, (parameter, shapes)) in sweeps().into_iter().enumerate() {
            for (n, shape) in shapes {
                let mut expect = usual;
                expect[place] = n;
                assert_eq!(<[u32; 3]>::from(shape), expect, "{parameter}");
            }
        }
    }
}
