//! The report as one page that needs nothing else: no other file, no network, and no script to be read.
//!
//! Findings are shown whole, the frames of the language's own library folded. A few lines of script look for words in
//! them; `?search=WORDS` behind the page's address does so at once.
//!
//! Names come out of traces and programs, and may be anything. They are escaped where they are printed ([`Escaped`]), and
//! the page's policy lets a browser run nothing but the script with the right hash and load nothing at all.

mod finding;
mod witness;

use crate::words;
use crate::{Finding, Report, Sources, Summary};
use std::fmt::{self, Display, Formatter, Write as _};
use std::io::{self, Write};

/// Colours and letters of all pages that deadheat makes, light or dark as the reader's system is.
pub const STYLE: &str = include_str!("style.css");

const REPORT_STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("filter.js");

/// `openssl dgst -sha256 -binary filter.js | base64`, so that a browser runs this script and no other. A browser in
/// `crates/cli/tests` sees whether it is right.
const SCRIPT_HASH: &str = "sha256-0+v8fivGwVtGKnYxAIXRixoqXMXMmn4tT29bCo9pK5s=";

/// Writes the report as a page. Lines of source files come from `sources`.
pub fn write(report: &Report, sources: &mut Sources, mut out: impl Write) -> io::Result<()> {
    let (title, class) = title(&report.summary);
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src '{SCRIPT_HASH}'\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<title>deadheat: {title}</title>\n\
         <style>\n{STYLE}{REPORT_STYLE}</style>\n</head>\n<body>\n\
         <header>\n<h1>deadheat: <span class=\"{class}\">{title}</span></h1>\n"
    )?;
    write_summary(report, &mut out)?;
    out.write_all(b"</header>\n")?;
    if !report.races.is_empty() {
        write_index(report, &mut out)?;
    }
    out.write_all(b"<main>\n")?;
    for (number, finding) in (1..).zip(&report.races) {
        finding::write(number, finding, sources, &mut out)?;
    }
    out.write_all(b"</main>\n")?;
    if !report.races.is_empty() {
        writeln!(out, "<script>{SCRIPT}</script>")?;
    }
    out.write_all(b"</body>\n</html>\n")
}

fn title(summary: &Summary) -> (String, &'static str) {
    match summary.races {
        0 => ("no data races".to_owned(), "good"),
        1 => ("1 data race".to_owned(), "race"),
        races => (format!("{races} data races"), "race"),
    }
}

fn write_summary(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let summary = &report.summary;
    if !report.command.is_empty() {
        writeln!(out, "<p><code>{}</code></p>", Escaped(&report.command))?;
    }
    let mut facts = vec![format!("version {}", report.version)];
    let counts = [
        (summary.unconfirmed, "unconfirmed (locking discipline)"),
        (summary.met.unwrap_or(0), "confirmed by running the program again"),
        (summary.suppressed, "suppressed"),
        (summary.known, "in the baseline"),
        (summary.events, "events"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    facts.extend(counts.map(|(count, what)| format!("{count} {what}")));
    facts.extend(summary.seconds.map(|seconds| format!("{seconds:.1} s")));
    writeln!(out, "<p class=\"quiet\">{}</p>", Escaped(&facts.join(" · ")))?;
    if summary.partial || !summary.notes.is_empty() {
        out.write_all(b"<ul class=\"notes\">\n")?;
        if summary.partial {
            out.write_all(b"<li>Not everything was analysed.</li>\n")?;
        }
        for note in &summary.notes {
            writeln!(out, "<li>{}</li>", Escaped(note))?;
        }
        out.write_all(b"</ul>\n")?;
    }
    Ok(())
}

/// The findings in short, and what looks for words in them. That is of no use without a script, which shows it.
fn write_index(report: &Report, out: &mut impl Write) -> io::Result<()> {
    out.write_all(
        b"<p id=\"filter\" hidden><label>Search <input type=\"search\" id=\"search\" \
          placeholder=\"function, file, thread, lock, variable\"></label> <span id=\"count\" class=\"quiet\"></span></p>\n\
          <nav>\n<ol class=\"index\">\n",
    )?;
    for (number, finding) in (1..).zip(&report.races) {
        write!(
            out,
            "<li><a href=\"#{}\"><span class=\"quiet\">{number}</span><span>{}</span>",
            anchor(number, finding),
            Tag(finding)
        )?;
        for access in finding.accesses.iter().rev() {
            let user = access.frames.iter().find(|frame| frame.role.is_user());
            let place = user.or(access.frames.first()).map(words::place);
            let place = place.unwrap_or_default();
            let op = access.op.as_str();
            write!(out, "<span><b>{op}</b> <code>{}</code></span>", Escaped(&place))?;
        }
        out.write_all(b"</a></li>\n")?;
    }
    out.write_all(b"</ol>\n</nav>\n")
}

/// What a finding's part of the page is called: its id, which is the same in every run.
fn anchor(number: usize, finding: &Finding) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !finding.id.is_empty() && finding.id.chars().all(plain) {
        format!("race-{}", finding.id)
    } else {
        format!("finding-{number}")
    }
}

/// What a finding is.
struct Tag<'a>(&'a Finding);

impl Display for Tag<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Tag(finding) = self;
        let met = finding.confirmation.as_ref().is_some_and(|it| it.met);
        let (class, what) = match (finding.confirmed, finding.predicted, met) {
            (false, ..) => ("maybe", "locking discipline"),
            (true, true, false) => ("race", "predicted race"),
            (true, true, true) => ("race", "confirmed race"),
            (true, false, _) => ("race", "data race"),
        };
        write!(out, "<span class=\"tag {class}\">{what}</span>")
    }
}

/// Text as HTML takes it, in elements and in quoted attributes. Characters that do not show are replaced: a terminal may
/// get what is copied from the page, and marks of direction could show code in another order than it has.
pub struct Escaped<'a>(pub &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => out.write_str("&amp;")?,
                '<' => out.write_str("&lt;")?,
                '>' => out.write_str("&gt;")?,
                '"' => out.write_str("&quot;")?,
                '\'' => out.write_str("&#39;")?,
                '\t' => out.write_char(c)?,
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    out.write_char(char::REPLACEMENT_CHARACTER)?;
                }
                c if c.is_control() => out.write_char(char::REPLACEMENT_CHARACTER)?,
                c => out.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
