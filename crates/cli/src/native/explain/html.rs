//! The same as a page.

use super::{Source, summary, words};
use deadheat_report::html::{Escaped, STYLE};
use std::fmt::Write;

const EXPLAIN_STYLE: &str = "\
table { border-collapse: collapse } table.code td { white-space: pre; padding: 0 .6em }
td.number, td.share { text-align: right; color: var(--quiet) }
tr.all td, .all { background: var(--race-box) } tr.some td, .some { background: var(--maybe-box) }
tr.none td, .none { background: var(--good-box) }
tr.note td { color: var(--quiet); font-size: 12px }
h2 { margin: 1.5rem 0 .5rem }
";

const LEGEND: &str = "<p>Lines whose accesses are <span class=\"all\">all checked there</span>, \
<span class=\"some\">checked there in part</span>, or <span class=\"none\">not checked there</span>, and why not.</p>";

/// The whole page.
pub fn page(sources: &[Source]) -> String {
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Checks</title>\n\
         <style>\n{STYLE}{EXPLAIN_STYLE}</style>\n{LEGEND}\n<table class=\"code\">\n"
    );
    for (rule, count) in summary(sources) {
        let _ = writeln!(
            text,
            "<tr><td class=\"share\">{count}<td>{}<td>{}",
            rule.as_str(),
            rule.about()
        );
    }
    text.push_str("</table>\n");
    for source in sources {
        let _ = writeln!(text, "<h2>{}</h2>\n<table class=\"code\">", Escaped(&source.path));
        let last = source.notes.keys().copied().max().unwrap_or_default();
        let lines = last.max(source.lines.len() as u32);
        // Of a source that cannot be read only the lines are shown of which there is something to say.
        let shown = (1..=lines).filter(|line| !source.lines.is_empty() || source.notes.contains_key(line));
        for line in shown {
            row(&mut text, source, line);
        }
        text.push_str("</table>\n");
    }
    text
}

fn row(text: &mut String, source: &Source, line: u32) {
    let code = source.lines.get(line as usize - 1).map_or("", String::as_str);
    let (class, share) = match source.share(line) {
        None => ("", String::new()),
        Some((checked, all)) => {
            let class = match checked {
                0 => "none",
                _ if checked == all => "all",
                _ => "some",
            };
            (class, format!("{checked}/{all}"))
        }
    };
    let _ = writeln!(
        text,
        "<tr class=\"{class}\"><td class=\"number\">{line}<td class=\"share\">{share}<td>{}",
        Escaped(code)
    );
    for (decision, count) in source.notes.get(&line).into_iter().flatten() {
        let _ = writeln!(
            text,
            "<tr class=\"note\"><td><td><td>    {}",
            Escaped(&words(decision, *count))
        );
    }
}
