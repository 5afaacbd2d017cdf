//! Plots: bars for each program, and cost against threads, size or what else is swept. The axis of costs is logarithmic and has
//! 1 on it, where a cost is a multiple. Colours change with those of the reader's screen.

use super::results::{Quantity, Results};
use super::tools::NATIVE;
use anyhow::{Context, Result};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A curve or the bars of one colour: a value for each place on the axis, where there is one.
pub struct Series {
    /// What it is.
    pub name: String,
    /// Its values.
    pub values: Vec<Option<f64>>,
}

/// A plot.
pub struct Plot {
    /// What stands above it.
    pub title: String,
    /// What stands below it.
    pub axis: String,
    /// The places on the axis.
    pub places: Vec<String>,
    /// What is plotted.
    pub series: Vec<Series>,
    /// Bars, or else lines.
    pub bars: bool,
    /// What values are in, as it stands behind them.
    pub unit: &'static str,
}

/// The unit of multiples of native.
const TIMES: &str = "×";

const HEIGHT: f64 = 240.0;
const LEFT: f64 = 60.0;
const TOP: f64 = 40.0;

/// Colours that can be told apart on white and on black, by those who see few of them as well (Okabe and Ito).
const COLOURS: [&str; 7] = [
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#999999",
];

const STYLE: &str = "<style>text{fill:#222;font:11px sans-serif}.grid{stroke:#ddd}.axis{stroke:#888}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}}</style>\n";

impl Plot {
    /// Writes it to a file of that name.
    pub fn write(&self, directory: &Path, name: &str) -> Result<PathBuf> {
        std::fs::create_dir_all(directory).with_context(|| format!("cannot make {}", directory.display()))?;
        let path = directory.join(format!("{name}.svg"));
        std::fs::write(&path, self.svg()).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// As SVG.
    pub fn svg(&self) -> String {
        let each = match self.bars {
            true => 12.0 * self.series.len() as f64 + 14.0,
            false => 70.0,
        };
        let inner = (each * self.places.len() as f64).max(420.0);
        let (width, height) = (LEFT + inner + 20.0, TOP + HEIGHT + 110.0);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" \
             height=\"{height:.0}\">\n{STYLE}<text x=\"{LEFT}\" y=\"18\" font-weight=\"bold\">{}</text>\n\
             <g transform=\"translate({LEFT},{TOP})\">\n",
            escaped(&self.title)
        );
        let scale = Scale::of(
            self.series
                .iter()
                .flat_map(|series| series.values.iter().flatten().copied()),
        );
        scale.grid(&mut svg, inner, self.unit);
        let step = inner / self.places.len().max(1) as f64;
        for (n, place) in self.places.iter().enumerate() {
            let x = step * (n as f64 + 0.5);
            let y = HEIGHT + 14.0;
            let turn = if self.bars {
                format!(" transform=\"rotate(-35 {x:.1} {y})\"")
            } else {
                String::new()
            };
            let anchor = if self.bars { "end" } else { "middle" };
            let place = escaped(place);
            let _ = writeln!(
                svg,
                "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"{anchor}\"{turn}>{place}</text>"
            );
        }
        for (n, series) in self.series.iter().enumerate() {
            match self.bars {
                true => self.draw_bars(&mut svg, n, series, &scale, step),
                false => draw_line(&mut svg, n, series, &scale, step),
            }
        }
        let below = HEIGHT + 70.0;
        let _ = writeln!(svg, "<text x=\"0\" y=\"{below}\">{}</text>", escaped(&self.axis));
        for (n, series) in self.series.iter().enumerate() {
            let x = 110.0 * (n % 4) as f64;
            let y = below + 16.0 + 14.0 * (n / 4) as f64;
            let colour = COLOURS[n % COLOURS.len()];
            let _ = writeln!(
                svg,
                "<rect x=\"{x}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{colour}\"/>",
                y - 9.0
            );
            let _ = writeln!(
                svg,
                "<text x=\"{}\" y=\"{y}\">{}</text>",
                x + 14.0,
                escaped(&series.name)
            );
        }
        svg.push_str("</g>\n</svg>\n");
        svg
    }

    fn draw_bars(&self, svg: &mut String, n: usize, series: &Series, scale: &Scale, step: f64) {
        let bar = (step - 14.0) / self.series.len() as f64;
        for (place, value) in series.values.iter().enumerate() {
            let Some(value) = value else { continue };
            let x = step * place as f64 + 7.0 + bar * n as f64;
            let y = scale.y(*value);
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{}\"><title>{} {value:.2}</title></rect>",
                bar - 1.0,
                HEIGHT - y,
                COLOURS[n % COLOURS.len()],
                escaped(&series.name)
            );
        }
    }
}

fn draw_line(svg: &mut String, n: usize, series: &Series, scale: &Scale, step: f64) {
    let points: Vec<(f64, f64)> = series
        .values
        .iter()
        .enumerate()
        .filter_map(|(place, value)| Some((step * (place as f64 + 0.5), scale.y((*value)?))))
        .collect();
    let colour = COLOURS[n % COLOURS.len()];
    let line: Vec<String> = points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let line = line.join(" ");
    let _ = writeln!(
        svg,
        "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" points=\"{line}\"/>"
    );
    for (x, y) in points {
        let _ = writeln!(
            svg,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\" fill=\"{colour}\"/>"
        );
    }
}

/// From values to heights.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = values.fold((1.0f64, 2.0f64), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        Scale {
            low: low.max(1e-9).log2().floor(),
            high: high.log2().ceil(),
        }
    }

    fn y(&self, value: f64) -> f64 {
        HEIGHT - HEIGHT * (value.max(1e-9).log2() - self.low) / (self.high - self.low)
    }

    fn grid(&self, svg: &mut String, width: f64, unit: &str) {
        let every = ((self.high - self.low) / 10.0).ceil().max(1.0) as usize;
        for power in (self.low as i32..=self.high as i32).step_by(every) {
            let value = 2f64.powi(power);
            let y = self.y(value);
            let class = if power == 0 { "axis" } else { "grid" };
            let _ = writeln!(
                svg,
                "<line class=\"{class}\" x1=\"0\" x2=\"{width:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
            );
            let _ = writeln!(
                svg,
                "<text x=\"-6\" y=\"{:.1}\" text-anchor=\"end\">{value}{unit}</text>",
                y + 4.0
            );
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Writes the plots of a measurement, and says which.
pub fn write(results: &Results, directory: &Path) -> Result<Vec<PathBuf>> {
    let plots = plots(results).into_iter();
    plots.map(|(name, plot)| plot.write(directory, &name)).collect()
}

fn plots(results: &Results) -> Vec<(String, Plot)> {
    let mut plots = Vec::new();
    let threads = results.threads();
    for (quantity, name) in [(Quantity::Time, "time"), (Quantity::Memory, "memory")] {
        for &threads in &threads {
            plots.push((
                format!("{name}-{threads}"),
                programs(results, threads, quantity, name),
            ));
        }
        for (workload, _) in results.workloads() {
            if threads.len() > 1 {
                plots.push((
                    format!("{name}-threads-{workload}"),
                    against_threads(results, workload, quantity, name),
                ));
            }
            if results.sizes(workload).len() > 1 {
                for &threads in &threads {
                    let plot = against_size(results, workload, threads, quantity, name);
                    plots.push((format!("{name}-size-{workload}-{threads}"), plot));
                }
            }
        }
    }
    plots
}

fn tools(results: &Results) -> Vec<&str> {
    results
        .tool_names()
        .into_iter()
        .filter(|name| *name != NATIVE)
        .collect()
}

/// A series for each tool, by a function from tool and place to value.
fn series(results: &Results, places: usize, value: impl Fn(&str, usize) -> Option<f64>) -> Vec<Series> {
    let of = |tool: &str| Series {
        name: tool.to_owned(),
        values: (0..places).map(|place| value(tool, place)).collect(),
    };
    tools(results).into_iter().map(of).collect()
}

fn programs(results: &Results, threads: u64, quantity: Quantity, name: &str) -> Plot {
    let workloads = results.workloads();
    let value = |tool: &str, n: usize| {
        let point = results.point(workloads[n].0, threads, tool)?;
        Some(results.ratio(point, quantity)?.median)
    };
    Plot {
        title: format!("{name}, {threads} threads"),
        axis: "multiples of native".to_owned(),
        places: workloads.iter().map(|(name, _)| (*name).to_owned()).collect(),
        series: series(results, workloads.len(), value),
        bars: true,
        unit: TIMES,
    }
}

fn against_threads(results: &Results, workload: &str, quantity: Quantity, name: &str) -> Plot {
    let threads = results.threads();
    let value = |tool: &str, n: usize| {
        let point = results.point(workload, threads[n], tool)?;
        Some(results.ratio(point, quantity)?.median)
    };
    Plot {
        title: format!("{workload}: {name} against threads"),
        axis: "threads; multiples of native with as many".to_owned(),
        places: threads.iter().map(ToString::to_string).collect(),
        series: series(results, threads.len(), value),
        bars: false,
        unit: TIMES,
    }
}

fn against_size(results: &Results, workload: &str, threads: u64, quantity: Quantity, name: &str) -> Plot {
    let sizes = results.sizes(workload);
    let value = |tool: &str, n: usize| {
        let is = |point: &&super::results::Point| {
            (point.workload.as_str(), point.tool.as_str()) == (workload, tool)
                && (point.threads, point.size) == (threads, sizes[n])
        };
        Some(results.ratio(results.points.iter().find(is)?, quantity)?.median)
    };
    Plot {
        title: format!("{workload}: {name} against size, {threads} threads"),
        axis: "size; multiples of native of the same size".to_owned(),
        places: sizes.iter().map(ToString::to_string).collect(),
        series: series(results, sizes.len(), value),
        bars: false,
        unit: TIMES,
    }
}

#[cfg(test)]
mod tests {
    use super::super::results::tests::{point, results};
    use super::*;

    #[test]
    fn every_value_is_drawn_and_gaps_are_left() {
        let plot = |bars| Plot {
            title: "a < b".to_owned(),
            axis: "x".to_owned(),
            places: vec!["1".to_owned(), "2".to_owned(), "4".to_owned()],
            series: vec![Series {
                name: "tsan".to_owned(),
                values: vec![Some(2.0), None, Some(8.0)],
            }],
            bars,
            unit: TIMES,
        };
        assert_eq!(plot(true).svg().matches("<title>").count(), 2);
        let lines = plot(false).svg();
        assert_eq!(lines.matches("<circle").count(), 2);
        assert!(lines.contains("a &lt; b") && lines.contains("prefers-color-scheme:dark"));
    }

    #[test]
    fn heights_are_logarithmic_from_one() {
        let scale = Scale::of([4.0, 16.0].into_iter());
        assert_eq!(
            (scale.y(1.0), scale.y(4.0), scale.y(16.0)),
            (HEIGHT, HEIGHT / 2.0, 0.0)
        );
        assert_eq!(Scale::of([].into_iter()).y(1.0), HEIGHT);
    }

    #[test]
    fn threads_and_sizes_are_plotted_where_there_are_several() {
        let mut all = results(vec![
            point("fft", NATIVE, &[1.0], 10),
            point("fft", "tsan", &[4.0], 40),
        ]);
        let names = |all: &Results| -> Vec<String> { plots(all).into_iter().map(|(name, _)| name).collect() };
        assert_eq!(names(&all), ["time-2", "memory-2"]);
        for n in 0..2 {
            let mut more = all.points[n].clone();
            more.size = 7;
            all.points.push(more);
        }
        assert!(names(&all).contains(&"time-size-fft-2".to_owned()));
        all.points[3].threads = 4;
        assert!(names(&all).contains(&"memory-threads-fft".to_owned()));
    }
}
