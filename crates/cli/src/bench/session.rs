//! A measurement: everything is built first, then run, the tools in turn within each repetition.

use super::build::{Builder, Version};
use super::counters;
use super::measure::{Meter, Run};
use super::progress::Progress;
use super::quality::{environment, reports};
use super::results::{Outcome, Point};
use super::tools::{self, Reports, Tool};
use super::workload::Workload;
use anyhow::Result;
use std::path::PathBuf;

/// What to measure.
pub struct Plan {
    /// With these tools.
    pub tools: Vec<&'static Tool>,
    /// These workloads, each with the sizes to run.
    pub workloads: Vec<(Workload, Vec<u64>)>,
    /// With so many threads.
    pub threads: Vec<u64>,
    /// So often.
    pub runs: u64,
    /// Whether deadheat counts, in runs of their own.
    pub counters: bool,
}

/// A point to be measured.
struct Cell<'a> {
    tool: &'static Tool,
    workload: &'a Workload,
    program: Option<PathBuf>,
    point: Point,
}

/// Measures.
pub fn measure(plan: &Plan, builder: &Builder, meter: &Meter) -> Result<Vec<Point>> {
    let mut cells = build(plan, builder);
    let timed = cells.iter().filter(|cell| cell.program.is_some()).count() as u64;
    let counted = |cell: &Cell<'_>| plan.counters && cell.program.is_some() && cell.tool.counting.is_some();
    let counts = cells.iter().filter(|cell| counted(cell)).count() as u64;
    let progress = Progress::new(timed * plan.runs + counts);
    in_turn(&mut cells, plan.runs, |cell| {
        let Some(program) = &cell.program else {
            return Ok(());
        };
        progress.say(&cell.name());
        progress.step();
        // Whoever fails once fails again, and that may take long each time.
        if cell.point.problem().is_some() {
            return Ok(());
        }
        let mut run = Run {
            command: cell.tool.run(program),
            environment: environment(cell.tool),
        };
        run.command.extend(cell.arguments());
        let mut ran = meter.run(&run)?;
        ran.sample.races = races(cell.tool.reports, &ran.stderr);
        cell.point.samples.push(ran.sample);
        Ok(())
    })?;
    for cell in cells.iter_mut().filter(|cell| counted(cell)) {
        let Some(build) = &cell.tool.counting else {
            continue;
        };
        progress.say(&format!("{}, counting", cell.name()));
        progress.step();
        let arguments = cell.arguments();
        match counters::count(cell.tool, build, cell.workload, arguments, builder, meter)? {
            Ok(counters) => cell.point.counters = counters,
            Err(why) => cell.point.uncounted = Some(why),
        }
    }
    Ok(cells.into_iter().map(|cell| cell.point).collect())
}

/// Runs all once before any is run again, so that what disturbs the machine for a while disturbs one repetition of each, and
/// not all repetitions of one.
fn in_turn<'a>(
    cells: &mut [Cell<'a>],
    runs: u64,
    mut run: impl FnMut(&mut Cell<'a>) -> Result<()>,
) -> Result<()> {
    for _ in 0..runs {
        cells.iter_mut().try_for_each(&mut run)?;
    }
    Ok(())
}

/// All points of a plan, with their programs. What cannot be built fails alone.
fn build<'a>(plan: &'a Plan, builder: &Builder) -> Vec<Cell<'a>> {
    let progress = Progress::new((plan.workloads.len() * plan.tools.len()) as u64);
    let mut cells = Vec::new();
    for (workload, sizes) in &plan.workloads {
        let programs: Vec<_> = plan
            .tools
            .iter()
            .map(|tool| {
                progress.say(&format!("building {} for {}", workload.name, tool.name));
                progress.step();
                tool.takes(workload.language).map_err(str::to_owned)?;
                let built = builder.program(workload, &tool.build, Version::Clean);
                built.map_err(|error| format!("it cannot be built: {error:#}"))
            })
            .collect();
        cells.extend(points(plan, workload, sizes, &programs));
    }
    cells
}

/// The points of a workload, those of different tools beside each other: they are compared. A program or what is wrong for each tool.
fn points<'a>(
    plan: &Plan,
    workload: &'a Workload,
    sizes: &[u64],
    programs: &[Result<PathBuf, String>],
) -> Vec<Cell<'a>> {
    let mut cells = Vec::new();
    for &size in sizes {
        for &threads in &plan.threads {
            for (&tool, program) in plan.tools.iter().zip(programs) {
                cells.push(Cell {
                    tool,
                    workload,
                    program: program.as_ref().ok().cloned(),
                    point: Point {
                        workload: workload.name.clone(),
                        suite: workload.suite.clone(),
                        threads,
                        size,
                        tool: tool.name.to_owned(),
                        failed: program.as_ref().err().cloned(),
                        ..Point::default()
                    },
                });
            }
        }
    }
    cells
}

impl Cell<'_> {
    fn name(&self) -> String {
        let Point { threads, size, .. } = self.point;
        format!("{} {threads} {size} with {}", self.workload.name, self.tool.name)
    }

    fn arguments(&self) -> [std::ffi::OsString; 2] {
        [
            self.point.threads.to_string().into(),
            self.point.size.to_string().into(),
        ]
    }
}

/// How many races a tool reported in a timed run.
fn races(form: Reports, stderr: &str) -> u64 {
    match form {
        // Here it reports as text, and its last line has the number.
        Reports::Deadheat => {
            let line = stderr
                .lines()
                .filter_map(|line| line.strip_prefix("deadheat: "))
                .next_back();
            let number = line.and_then(|line| line.split(" data race").next()?.parse().ok());
            number.unwrap_or(0)
        }
        other => reports::parse(other, stderr).len() as u64,
    }
}

/// What went wrong, a line each.
pub fn problems(points: &[Point]) -> Vec<String> {
    let mut lines = Vec::new();
    for point in points {
        let Point {
            workload,
            threads,
            size,
            tool,
            ..
        } = point;
        let what = point.problem().map(|(_, what)| what);
        for what in what.iter().chain(&point.uncounted) {
            lines.push(format!("{workload} {threads} {size} with {tool}: {what}"));
        }
    }
    lines
}

/// Whether a run was not right, or could not be made. That a tool does not take a language is for people to see.
pub fn is_serious(point: &Point) -> bool {
    let takes_not = |why: &str| tools::named(&point.tool).is_some_and(|tool| tool.rust == Err(why));
    point.samples.iter().any(|sample| sample.outcome != Outcome::Ok)
        || point.uncounted.is_some()
        || point.failed.as_deref().is_some_and(|why| !takes_not(why))
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::point;
    use super::*;
    use std::path::Path;

    #[test]
    fn tools_take_turns_within_a_repetition() {
        let parse = |name: &str| {
            let head = "// suite: nas\n// size: 9 quick: 1\n";
            Workload::parse(Path::new(name), head).unwrap()
        };
        let plan = Plan {
            tools: tools::choose(&["native".to_owned(), "deadheat".to_owned()]).unwrap(),
            workloads: vec![(parse("a.c"), vec![5, 9]), (parse("b.c"), vec![9])],
            threads: vec![2],
            runs: 2,
            counters: false,
        };
        let programs = [Ok(PathBuf::from("native")), Err("no".to_owned())];
        let mut cells = Vec::new();
        for (workload, sizes) in &plan.workloads {
            cells.extend(points(&plan, workload, sizes, &programs));
        }
        assert_eq!(cells[0].program.as_deref(), Some(Path::new("native")));
        assert_eq!(cells[1].point.failed.as_deref(), Some("no"));
        let mut order = Vec::new();
        in_turn(&mut cells, plan.runs, |cell| {
            order.push(cell.name());
            Ok(())
        })
        .unwrap();
        let once = [
            "a 2 5 with native",
            "a 2 5 with deadheat",
            "a 2 9 with native",
            "a 2 9 with deadheat",
            "b 2 9 with native",
            "b 2 9 with deadheat",
        ];
        assert_eq!(order, [once, once].concat());
    }

    #[test]
    fn what_could_not_be_run_is_serious_but_for_languages() {
        let good = point("sort", "tsan", &[1.0], 10);
        assert!(!is_serious(&good));
        let of = |failed: Option<&str>, uncounted: Option<&str>| Point {
            failed: failed.map(str::to_owned),
            uncounted: uncounted.map(str::to_owned),
            ..good.clone()
        };
        let nightly = tools::named("tsan").unwrap().rust.unwrap_err();
        assert!(!is_serious(&of(Some(nightly), None)));
        assert!(is_serious(&of(Some("it cannot be built: no"), None)));
        assert!(is_serious(&of(None, Some("counting, it did not end in time"))));
    }

    #[test]
    fn the_last_line_has_the_number_of_races() {
        for (stderr, expect) in [
            ("deadheat: no data races\n", 0),
            (
                "x\ndeadheat: warning: y\ndeadheat: 3 data races (1 suppressed)\n",
                3,
            ),
            ("deadheat: 1 data race\n", 1),
            ("", 0),
        ] {
            assert_eq!(races(Reports::Deadheat, stderr), expect, "{stderr}");
        }
    }
}
