//! `deadheat trace info`: what a trace contains.

use super::{each_block, open, print_stats};
use crate::args::InfoFormat;
use crate::files;
use crate::meter::{Meter, Table};
use crate::term::Term;
use anyhow::Result;
use deadheat_event::{ArrayId, AtomicOp, Event, Mode, Op, SyncId, ThreadId};
use serde_json::json;
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use std::path::Path;

/// Kinds of events, in the order in which they are listed.
const KINDS: [&str; 24] = [
    "reads",
    "writes",
    "array reads",
    "array writes",
    "acquires",
    "acquires as reader",
    "releases",
    "atomic loads",
    "atomic stores",
    "atomic read-modify-writes",
    "fences",
    "forks",
    "joins",
    "begins",
    "ends",
    "barrier enters",
    "barrier leaves",
    "sends",
    "receives",
    "allocations",
    "frees",
    "new arrays",
    "calls into untraced code",
    "returns from untraced code",
];

/// Counts of a trace. Memory grows with threads, locks and arrays, not with events or addresses.
#[derive(Default)]
struct Contents {
    kinds: [u64; KINDS.len()],
    threads: HashSet<ThreadId>,
    syncs: HashSet<SyncId>,
    arrays: HashSet<ArrayId>,
    last_thread: Option<ThreadId>,
}

/// Runs the command.
pub fn run(file: &Path, format: InfoFormat, stats: bool, term: Term) -> Result<()> {
    let meter = Meter::start();
    let mut source = open(file)?;
    let mut contents = Contents::default();
    let events = each_block(&mut *source, file, term, |block, _| {
        block.iter().for_each(|event| contents.add(event));
        Ok(true)
    })?;
    let bytes = if files::is_standard(file) {
        None
    } else {
        file.metadata().ok().map(|metadata| metadata.len())
    };
    let (tables, truncated) = (source.tables(), source.truncation().is_some());
    let sites = tables.sites.len().saturating_sub(1) as u64;
    let text = match format {
        InfoFormat::Json => {
            let kinds: BTreeMap<&str, u64> = KINDS.into_iter().zip(contents.kinds).collect();
            let json = json!({
                "file": file.to_string_lossy(),
                "bytes": bytes,
                "events": events,
                "kinds": kinds,
                "threads": contents.threads.len(),
                "syncs": contents.syncs.len(),
                "arrays": contents.arrays.len(),
                "sites": sites,
                "truncated": truncated,
            });
            serde_json::to_string_pretty(&json)?
        }
        InfoFormat::Text => {
            let mut table = Table::default();
            table.count("events", events);
            if let Some(bytes) = bytes {
                table.count("bytes", bytes);
                if events > 0 {
                    table.text("bytes per event", &format!("{:.2}", bytes as f64 / events as f64));
                }
            }
            table.count("threads", contents.threads.len() as u64);
            table.count("locks, barriers and channels", contents.syncs.len() as u64);
            table.count("arrays", contents.arrays.len() as u64);
            table.count("program locations", sites);
            for (kind, count) in KINDS.into_iter().zip(contents.kinds) {
                table.count(kind, count);
            }
            format!("{}\n{table}", file.display()).trim_end().to_owned()
        }
    };
    writeln!(io::stdout().lock(), "{text}")?;
    print_stats(stats, &meter, events);
    Ok(())
}

impl Contents {
    fn add(&mut self, event: &Event) {
        if self.last_thread != Some(event.thread) {
            self.last_thread = Some(event.thread);
            self.threads.insert(event.thread);
        }
        self.kinds[kind(event.op)] += 1;
        match event.op {
            Op::Acquire { lock: sync, .. }
            | Op::BarrierEnter { barrier: sync }
            | Op::Send { channel: sync }
            | Op::Receive { channel: sync } => {
                self.syncs.insert(sync);
            }
            Op::ArrayRead { array, .. } | Op::ArrayWrite { array, .. } | Op::NewArray { array, .. } => {
                self.arrays.insert(array);
            }
            Op::Fork { child } => {
                self.threads.insert(child);
            }
            _ => {}
        }
    }
}

/// The place of an operation in [`KINDS`].
fn kind(op: Op) -> usize {
    match op {
        Op::Read { .. } => 0,
        Op::Write { .. } => 1,
        Op::ArrayRead { .. } => 2,
        Op::ArrayWrite { .. } => 3,
        Op::Acquire {
            mode: Mode::Exclusive,
            ..
        } => 4,
        Op::Acquire {
            mode: Mode::Shared, ..
        } => 5,
        Op::Release { .. } => 6,
        Op::Atomic {
            op: AtomicOp::Load, ..
        } => 7,
        Op::Atomic {
            op: AtomicOp::Store, ..
        } => 8,
        Op::Atomic {
            op: AtomicOp::Rmw, ..
        } => 9,
        Op::Fence { .. } => 10,
        Op::Fork { .. } => 11,
        Op::Join { .. } => 12,
        Op::Begin => 13,
        Op::End => 14,
        Op::BarrierEnter { .. } => 15,
        Op::BarrierLeave { .. } => 16,
        Op::Send { .. } => 17,
        Op::Receive { .. } => 18,
        Op::Alloc { .. } => 19,
        Op::Free { .. } => 20,
        Op::NewArray { .. } => 21,
        Op::CallBegin { .. } => 22,
        Op::CallEnd => 23,
    }
}
