//! The same as a page.

use super::{Source, summary, words};
use std::fmt::Write;

const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\"><meta charset=\"utf-8\"><title>Checks</title>
<style>
body { font: 14px sans-serif; margin: 2em }
table { border-collapse: collapse }
pre, td { font-family: monospace; white-space: pre; padding: 0 .6em; margin: 0 }
td.number, td.share { text-align: right; color: #777 }
tr.all td { background: #fbe3e0 } tr.some td { background: #fdf3d7 } tr.none td { background: #e3f4e3 }
tr.note td { color: #555; font-size: 12px }
h2 { font-size: 15px }
</style>
<p>Lines whose accesses are <span style=\"background: #fbe3e0\">all checked there</span>,
<span style=\"background: #fdf3d7\">checked there in part</span>, or
<span style=\"background: #e3f4e3\">not checked there</span>, and why not.</p>
";

/// The whole page.
pub fn page(sources: &[Source]) -> String {
    let mut text = HEAD.to_owned();
    text.push_str("<table>\n");
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
        let _ = writeln!(text, "<h2>{}</h2>\n<table>", escaped(&source.path));
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
        escaped(code)
    );
    for (decision, count) in source.notes.get(&line).into_iter().flatten() {
        let _ = writeln!(
            text,
            "<tr class=\"note\"><td><td><td>    {}",
            escaped(&words(decision, *count))
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
