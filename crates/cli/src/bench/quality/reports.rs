//! What the tools report, in their own forms, as far as it matters here: which lines the accesses of a race are at.

use crate::bench::tools::Reports;
use serde_json::Value;

/// A data race that was reported: the lines on the stacks of its accesses, each as file and number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The lines.
    pub lines: Vec<(String, u32)>,
}

impl Report {
    /// Whether it names one of these lines of a file, which is known by its name alone.
    pub fn names(&self, file: &str, lines: &[u32]) -> bool {
        self.lines.iter().any(|(found, line)| {
            let name = found.rsplit('/').next().unwrap_or(found);
            name == file && lines.contains(line)
        })
    }
}

/// The data races that a tool reports. Whatever else it says (locks in another order, threads that nobody joins) is left out.
pub fn parse(form: Reports, text: &str) -> Vec<Report> {
    match form {
        Reports::None => Vec::new(),
        Reports::Deadheat => deadheat(text),
        Reports::Tsan => tsan(text),
        Reports::Valgrind => valgrind(text),
    }
}

/// JSON.
fn deadheat(text: &str) -> Vec<Report> {
    let json: Value = serde_json::from_str(text).unwrap_or_default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let report = |race: &Value| {
        let accesses = list(&race["accesses"]);
        let frames = accesses.iter().flat_map(|access| list(&access["frames"]));
        let line = |frame: Value| {
            let number = u32::try_from(frame["line"].as_u64()?).ok()?;
            Some((frame["file"].as_str()?.to_owned(), number))
        };
        Report {
            lines: frames.filter_map(line).collect(),
        }
    };
    list(&json["races"]).iter().map(report).collect()
}

fn tsan(text: &str) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    let mut in_access = false;
    for line in text.lines() {
        if let Some(what) = line.strip_prefix("WARNING: ThreadSanitizer:") {
            in_access = false;
            if what.trim_start().starts_with("data race") {
                reports.push(Report::default());
            } else {
                // So that its stacks are nobody's.
                reports.push(Report {
                    lines: vec![(String::new(), 0)],
                });
            }
        } else if let Some(frame) = line.trim_start().strip_prefix('#') {
            if in_access && let Some(report) = reports.last_mut() {
                // `0 function file:line:column (module+offset)`
                let frame = frame.split(" (").next().unwrap_or(frame);
                report.lines.extend(frame.rsplit(' ').next().and_then(place));
            }
        } else if !line.trim().is_empty() {
            in_access = line.contains(" of size ") && line.contains(" by ");
        }
    }
    reports.retain(|report| report.lines.first().is_none_or(|(file, _)| !file.is_empty()));
    reports
}

fn valgrind(text: &str) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    // Whether the lines belong to a report, and whether to the stack of an access.
    let (mut inside, mut in_access) = (false, false);
    for line in text.lines() {
        // `==pid== ` stands in front of all its lines, and the program's own may be among them.
        let Some((_, line)) = line.strip_prefix("==").and_then(|line| line.split_once("==")) else {
            continue;
        };
        let line = line.trim();
        let helgrind = line.starts_with("Possible data race during");
        let drd = line.starts_with("Conflicting load by") || line.starts_with("Conflicting store by");
        if helgrind || drd {
            reports.push(Report::default());
            (inside, in_access) = (true, true);
        } else if line.starts_with("This conflicts with a previous") {
            in_access = inside;
        } else if line.is_empty() || line.starts_with("Other segment") {
            in_access = false;
        } else if line.starts_with("---") {
            (inside, in_access) = (false, false);
        } else if in_access && (line.starts_with("at 0x") || line.starts_with("by 0x")) {
            // `at 0x109220: function (file:line)`
            let inner = line.strip_suffix(')').and_then(|line| line.rsplit_once('('));
            if let (Some((_, inner)), Some(report)) = (inner, reports.last_mut()) {
                report.lines.extend(place(inner));
            }
        }
    }
    reports
}

/// `file:line` or `file:line:column`.
fn place(text: &str) -> Option<(String, u32)> {
    let (rest, last) = text.rsplit_once(':')?;
    let last = last.parse().ok()?;
    match rest.rsplit_once(':') {
        Some((file, line)) if line.parse::<u32>().is_ok() => Some((file.to_owned(), line.parse().ok()?)),
        _ => Some((rest.to_owned(), last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The samples are of one program: `counter += n` in line 9, called in line 14; threads are created in line 23.
    fn check(form: Reports, text: &str, expected: usize) {
        let reports = parse(form, text);
        assert_eq!(reports.len(), expected, "{reports:?}");
        for report in &reports {
            assert!(
                report.names("r.c", &[9]) && report.names("r.c", &[14]),
                "{report:?}"
            );
            assert!(
                !report.names("r.c", &[23]),
                "not where threads were created: {report:?}"
            );
            assert!(!report.names("other.c", &[9]));
        }
    }

    #[test]
    fn threadsanitizers_reports_are_read() {
        check(Reports::Tsan, include_str!("samples/tsan.txt"), 1);
        check(Reports::Tsan, include_str!("samples/gcc-tsan.txt"), 1);
    }

    #[test]
    fn valgrinds_reports_are_read() {
        check(Reports::Valgrind, include_str!("samples/helgrind.txt"), 2);
        check(Reports::Valgrind, include_str!("samples/drd.txt"), 2);
    }

    #[test]
    fn other_warnings_are_no_races() {
        let text = include_str!("samples/tsan.txt");
        let leak = text.replace("data race (pid", "thread leak (pid");
        assert_eq!(parse(Reports::Tsan, &leak), []);
        let both = format!("{leak}{text}");
        check(Reports::Tsan, &both, 1);
        let order =
            "==1== Thread #2: lock order \"0x1 before 0x2\" violated\n==1==    at 0x1: work (r.c:9)\n";
        assert_eq!(parse(Reports::Valgrind, order), []);
    }

    #[test]
    fn deadheats_reports_are_read() {
        let text = r#"{"races":[{"accesses":[
            {"frames":[{"file":"r.c","line":9},{"file":null,"line":null}]},
            {"frames":[{"file":"r.c","line":14}]}]}]}"#;
        check(Reports::Deadheat, text, 1);
        assert_eq!(parse(Reports::Deadheat, ""), []);
        assert_eq!(parse(Reports::Deadheat, r#"{"races":[]}"#), []);
    }
}
