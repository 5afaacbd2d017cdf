//! `--table NAME`: the tables of the documents that deadheat was made from, in their form, for this machine.
//!
//! Some are made of a measurement (`--from RESULTS.json`, or one that is made now), some of traces of the workloads, which
//! the off-line detectors analyse (`--traces DIR`, a trace for each workload), some of traces that are generated. A table
//! whose parts are not there says what it needs.

mod arrays;
mod bigfoot;
mod figure4;
mod goldilocks;
mod multirace;
mod rdit;
mod shrinkwrap;
pub mod traces;
mod tree;

use super::results::Results;
use super::tools::{DEADHEAT, NATIVE};
use anyhow::{Result, bail};
use std::path::Path;
use traces::Traces;

/// What tables are made of.
pub struct Sources<'a> {
    /// A measurement, if there is one.
    pub results: Option<&'a Results>,
    /// Traces, if there are some.
    pub traces: Option<&'a Traces>,
    /// Where the workloads are.
    pub workloads: &'a Path,
    /// Where programs that are built go.
    pub directory: &'a Path,
    /// Where plots go, if they are wanted.
    pub svg: Option<&'a Path>,
}

impl<'a> Sources<'a> {
    /// The measurement that a table needs.
    pub fn results(&self) -> Result<&'a Results> {
        match self.results {
            Some(results) if !results.tool_names().contains(&NATIVE) => bail!(
                "this table is made of multiples of native, and in the measurement native is not among the tools: measure again with it"
            ),
            Some(results) => Ok(results),
            None => bail!(
                "this table is made of a measurement: give one with --from RESULTS.json, or measure now"
            ),
        }
    }

    /// The traces that a table needs.
    pub fn traces(&self) -> Result<&'a Traces> {
        match self.traces {
            Some(traces) => Ok(traces),
            None => bail!(
                "this table is made of traces: `bench/workloads/record DIR` makes one for each workload (NAME.dht), and --traces DIR names them"
            ),
        }
    }
}

/// What a table is made of, and so which options it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// A measurement, of these tools if nothing else is asked for. The plots are the measurement's.
    Results(&'static [&'static str]),
    /// Traces of workloads; whether a measurement, if there is one, gives what their times are multiples of.
    Traces { native: bool },
    /// Nothing: it makes what it needs; whether it has plots.
    Nothing { plots: bool },
}

impl Needs {
    /// Whether `--traces` does something.
    pub fn takes_traces(self) -> bool {
        matches!(self, Needs::Traces { .. })
    }

    /// Whether `--from` does.
    pub fn takes_results(self) -> bool {
        matches!(self, Needs::Results(_) | Needs::Traces { native: true })
    }

    /// Whether `--svg` does.
    pub fn has_plots(self) -> bool {
        matches!(self, Needs::Results(_) | Needs::Nothing { plots: true })
    }
}

/// A table.
pub struct Paper {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// What it is made of.
    pub needs: Needs,
    /// Makes it.
    pub make: fn(&Sources<'_>) -> Result<String>,
}

/// All of them.
pub const PAPERS: &[Paper] = &[
    Paper {
        name: "shrinkwrap-5.1",
        about: "race checks and shadow states, FastTrack and compressed",
        needs: Needs::Traces { native: false },
        make: shrinkwrap::table_5_1,
    },
    Paper {
        name: "shrinkwrap-5.2",
        about: "slowdown: empty, FastTrack, compressed",
        needs: Needs::Results(&[NATIVE, "empty", "ft", "ss"]),
        make: shrinkwrap::table_5_2,
    },
    Paper {
        name: "tree-5.1",
        about: "events that TREE skips, memory, speed-up",
        needs: Needs::Traces { native: false },
        make: tree::table_5_1,
    },
    Paper {
        name: "tree-figure-5.1",
        about: "TREE's best case by threads, iterations and locks (its Figure 5.2)",
        needs: Needs::Nothing { plots: true },
        make: tree::figure_5_1,
    },
    Paper {
        name: "tree-figure-5.3",
        about: "TREE's worst case by threads, iterations and locks",
        needs: Needs::Nothing { plots: true },
        make: tree::figure_5_3,
    },
    Paper {
        name: "multirace-1",
        about: "what the programs do",
        needs: Needs::Results(&[NATIVE, DEADHEAT]),
        make: multirace::table_1,
    },
    Paper {
        name: "multirace-17",
        about: "cost by detection unit",
        needs: Needs::Traces { native: false },
        make: multirace::figure_17,
    },
    Paper {
        name: "multirace-18",
        about: "cost by threads, relative to one native thread",
        needs: Needs::Results(&[NATIVE, DEADHEAT]),
        make: multirace::figure_18,
    },
    Paper {
        name: "bigfoot-1",
        about: "check ratio and time overhead by variant",
        needs: Needs::Results(&[NATIVE, "ft", "rc", "ss", "sc", DEADHEAT]),
        make: bigfoot::table_1,
    },
    Paper {
        name: "bigfoot-2",
        about: "space overhead by variant",
        needs: Needs::Results(&[NATIVE, "ft", "rc", "ss", "sc", DEADHEAT]),
        make: bigfoot::table_2,
    },
    Paper {
        name: "goldilocks-1",
        about: "vector clocks, Eraser and Goldilocks on programs",
        needs: Needs::Traces { native: true },
        make: goldilocks::table_1,
    },
    Paper {
        name: "goldilocks-2",
        about: "Goldilocks where locations with a race are left alone",
        needs: Needs::Traces { native: true },
        make: goldilocks::table_2,
    },
    Paper {
        name: "goldilocks-figure-4",
        about: "cost of an access by threads",
        needs: Needs::Nothing { plots: true },
        make: figure4::figure_4,
    },
    Paper {
        name: "rdit-5.3",
        about: "races and false alarms of HB, CP, MC and RDIT on incomplete traces",
        needs: Needs::Nothing { plots: false },
        make: rdit::table_5_3,
    },
    Paper {
        name: "rdit-5.4",
        about: "size and time of recording with and without BarrierPairs",
        needs: Needs::Nothing { plots: false },
        make: rdit::table_5_4,
    },
];

/// The table of that name.
pub fn named(name: &str) -> Result<&'static Paper> {
    match PAPERS.iter().find(|paper| paper.name == name) {
        Some(paper) => Ok(paper),
        None => {
            let known: Vec<&str> = PAPERS.iter().map(|paper| paper.name).collect();
            bail!("there is no table `{name}`; there are {}", known.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::{point, results};
    use super::super::tools::NATIVE;
    use super::*;
    use deadheat_trace::generate::{Config, Generator, Pattern};

    #[test]
    fn a_wrong_name_is_answered_with_the_right_ones() {
        let error = named("tree")
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default();
        assert!(error.contains("tree-5.1, tree-figure-5.1"), "{error}");
    }

    fn is_of_nothing(paper: &Paper) -> bool {
        matches!(paper.needs, Needs::Nothing { .. })
    }

    #[test]
    fn what_is_measured_for_a_table_has_native_and_is_there() {
        for paper in PAPERS {
            if let Needs::Results(tools) = paper.needs {
                assert!(tools.contains(&NATIVE), "{}", paper.name);
                let known = |tool: &&str| super::super::tools::named(tool).is_some();
                assert!(tools.iter().all(known), "{}", paper.name);
            }
        }
    }

    #[test]
    fn without_native_there_are_no_multiples() {
        let alone = results(vec![point("crypt", "deadheat", &[1.0], 10)]);
        for paper in PAPERS
            .iter()
            .filter(|paper| matches!(paper.needs, Needs::Results(_)))
        {
            let sources = Sources {
                results: Some(&alone),
                traces: None,
                workloads: Path::new("bench/workloads"),
                directory: Path::new("target/bench"),
                svg: None,
            };
            let error = (paper.make)(&sources).unwrap_err().to_string();
            assert!(error.contains("native is not among the tools"), "{error}");
        }
    }

    #[test]
    fn tables_say_what_they_need() {
        let nothing = Sources {
            results: None,
            traces: None,
            workloads: Path::new("bench/workloads"),
            directory: Path::new("target/bench"),
            svg: None,
        };
        for paper in PAPERS {
            let made = (!is_of_nothing(paper)).then(|| (paper.make)(&nothing));
            match (paper.needs, made) {
                (Needs::Results(_), Some(Err(error))) => {
                    assert!(error.to_string().contains("--from"), "{}", paper.name);
                }
                (Needs::Traces { .. }, Some(Err(error))) => {
                    let error = error.to_string();
                    assert!(
                        error.contains("--traces") && error.contains("bench/workloads/record"),
                        "{}",
                        paper.name
                    );
                }
                (Needs::Nothing { .. }, None) => {}
                _ => panic!("{} was made of nothing", paper.name),
            }
        }
    }

    #[test]
    fn tables_are_made_of_what_is_there() {
        let mut measured = results(vec![
            point("crypt", NATIVE, &[1.0, 1.0], 10),
            point("crypt", "empty", &[2.0, 2.0], 12),
            point("crypt", "ft", &[4.0, 4.0], 30),
            point("crypt", "ss", &[3.0, 3.0], 25),
            point("crypt", "deadheat", &[2.5, 2.5], 20),
        ]);
        for (n, checks, race_checks, states) in [(2, 1000, 800, 700), (3, 1000, 80, 7), (4, 900, 80, 70)] {
            measured.points[n].counters = [
                ("accesses", 1000),
                ("checks", checks),
                ("race-checks", race_checks),
                ("shadow-states", states),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
        }
        let directory = tempfile::tempdir().unwrap();
        let mut generator = Generator::new(&Config {
            pattern: Pattern::Sweep,
            events: 2000,
            races: 1,
            ..Config::default()
        });
        let mut sink = deadheat_trace::create(&directory.path().join("crypt.dht")).unwrap();
        deadheat_trace::copy(&mut generator, &mut *sink).unwrap();
        let traces = Traces::open(directory.path()).unwrap();
        let all = Sources {
            results: Some(&measured),
            traces: Some(&traces),
            workloads: Path::new("bench/workloads"),
            directory: Path::new("target/bench"),
            svg: None,
        };
        for paper in PAPERS.iter().filter(|paper| !is_of_nothing(paper)) {
            let text = (paper.make)(&all).unwrap();
            assert!(text.contains("| crypt |"), "{}: {text}", paper.name);
        }
        let bigfoot = (named("bigfoot-1").unwrap().make)(&all).unwrap();
        // Overhead is what comes on top: four times native is three.
        assert!(
            bigfoot.contains("| crypt | 0.90 | 1.00 | 3.00 | – | 2.00 | – | 1.50 |"),
            "{bigfoot}"
        );
    }
}
