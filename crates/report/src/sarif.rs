//! The report as SARIF 2.1.0, for code hosts and editors that show findings beside the code.
//!
//! The access at which the race was seen is the result's location, the other one a related location; so are other lines that either may
//! be at. A finding's id is its partial fingerprint, so that hosts recognise it from run to run.

use crate::{Access, Finding, Frame, Report, Witness};
use serde_json::{Value, json};
use std::io::{self, Write};

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// Writes the report as indented SARIF and a newline.
pub fn write(report: &Report, mut out: impl Write) -> io::Result<()> {
    let results: Vec<Value> = report.races.iter().map(result).collect();
    let sarif = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": report.tool,
                "version": report.version,
                "rules": [
                    rule("data-race", "error", "Two accesses to the same memory, at least one of them a write, are not \
                        ordered by happens-before."),
                    rule("locking-discipline", "warning", "No lock is held at every access to this memory. This need \
                        not be a race."),
                ],
            }},
            "invocations": [{
                "commandLine": report.command,
                "executionSuccessful": !report.summary.partial,
            }],
            "results": results,
        }],
    });
    serde_json::to_writer_pretty(&mut out, &sarif)?;
    writeln!(out)
}

fn rule(id: &str, level: &str, text: &str) -> Value {
    json!({
        "id": id,
        "shortDescription": { "text": text },
        "defaultConfiguration": { "level": level },
    })
}

fn result(finding: &Finding) -> Value {
    let (rule, level) = match (finding.confirmed, finding.rank.as_deref()) {
        (true, _) => ("data-race", "error"),
        (false, Some("low")) => ("locking-discipline", "note"),
        (false, _) => ("locking-discipline", "warning"),
    };
    let mut result = json!({
        "ruleId": rule,
        "level": level,
        "message": { "text": message(finding) },
        "partialFingerprints": { "deadheat/v1": finding.id },
        "occurrenceCount": finding.count,
        "properties": {
            "kind": finding.kind,
            "detector": finding.detector,
            "rank": finding.rank,
        },
    });
    if let Some(met) = met(finding) {
        result["properties"]["confirmation"] = json!(if met { "confirmed" } else { "predicted" });
    }
    let mut accesses = finding.accesses.iter().rev();
    if let Some(location) = accesses.next().and_then(|access| location(access, None)) {
        result["locations"] = json!([location]);
    }
    let others = accesses.filter_map(|access| location(access, Some(describe(access))));
    let also = finding.accesses.iter().rev().flat_map(also);
    let related: Vec<Value> = others.chain(also).collect();
    if !related.is_empty() {
        result["relatedLocations"] = related.into();
    }
    if let Some(witness) = &finding.witness {
        result["codeFlows"] = json!([flow(witness)]);
    }
    result
}

/// The witness as one flow for each thread, with the place of each step in the order of all.
fn flow(witness: &Witness) -> Value {
    let mut flows: Vec<(u32, Vec<Value>)> = Vec::new();
    for (order, step) in (1..).zip(&witness.steps) {
        let mut location = match &step.frame {
            Some(frame) => frame_location(frame),
            None => json!({}),
        };
        location["message"] = json!({ "text": step.does });
        let step_location = json!({ "executionOrder": order, "location": location });
        match flows.iter_mut().find(|(thread, _)| *thread == step.thread) {
            Some((_, steps)) => steps.push(step_location),
            None => flows.push((step.thread, vec![step_location])),
        }
    }
    let flows: Vec<Value> = { flows.into_iter() }
        .map(|(thread, locations)| json!({ "id": format!("T{thread}"), "locations": locations }))
        .collect();
    json!({
        "message": { "text": "An order of events in which the accesses meet." },
        "threadFlows": flows,
    })
}

/// Whether the accesses met when the program was run again, if it was.
fn met(finding: &Finding) -> Option<bool> {
    finding.confirmation.as_ref().map(|confirmation| confirmation.met)
}

fn message(finding: &Finding) -> String {
    let what = if met(finding) == Some(true) {
        "Confirmed data race"
    } else if finding.predicted {
        "Predicted data race"
    } else if finding.confirmed {
        "Data race"
    } else {
        "Locking discipline violation"
    };
    let on = match (&finding.location.name, &finding.location.address) {
        (Some(name), _) => name.as_str(),
        (None, Some(address)) => address.as_str(),
        (None, None) => "memory",
    };
    let accesses: Vec<String> = finding.accesses.iter().rev().map(describe).collect();
    format!("{what} on {on}: {}.", accesses.join(", after a "))
}

fn describe(access: &Access) -> String {
    let atomic = if access.atomic { "atomic " } else { "" };
    let at = match access.frames.first() {
        Some(Frame {
            function: Some(function),
            ..
        }) => format!(" in {function}"),
        _ => String::new(),
    };
    let who = access
        .thread
        .map(|id| format!(" by thread T{id}"))
        .unwrap_or_default();
    format!("{atomic}{}{who}{at}", access.op.as_str())
}

fn location(access: &Access, message: Option<String>) -> Option<Value> {
    let mut location = frame_location(access.frames.first()?);
    if let Some(message) = message {
        location["message"] = json!({ "text": message });
    }
    Some(location)
}

/// Other places that an access may be at.
fn also(access: &Access) -> impl Iterator<Item = Value> {
    let text = format!("or, checked together with it, {}", describe(access));
    access.also.iter().map(move |frame| {
        let mut location = frame_location(frame);
        location["message"] = json!({ "text": text });
        location
    })
}

fn frame_location(frame: &Frame) -> Value {
    let mut location = json!({});
    if let Some(file) = &frame.file {
        location["physicalLocation"] = json!({ "artifactLocation": { "uri": uri(file) } });
        if let Some(line) = frame.line {
            let mut region = json!({ "startLine": line });
            if let Some(column) = frame.column {
                region["startColumn"] = column.into();
            }
            location["physicalLocation"]["region"] = region;
        }
    }
    if let Some(function) = &frame.function {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": function, "kind": "function" }]);
    }
    location
}

/// A path as a URI reference: everything but the usual characters is percent-encoded.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/+".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        for (path, expect) in [
            ("src/a.c", "src/a.c"),
            ("/x/a b.c", "file:///x/a%20b.c"),
            ("é:\n", "%C3%A9%3A%0A"),
        ] {
            assert_eq!(uri(path), expect);
        }
    }
}
