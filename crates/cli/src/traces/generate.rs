//! `deadheat trace generate`: random well-formed traces.

use super::{each_block, print_stats};
use crate::args::Generate;
use crate::meter::Meter;
use crate::term::Term;
use anyhow::{Context, Result};
use deadheat_trace::Source;
use deadheat_trace::generate::{ArrayAccess, Config, Generator, Shares, Sites};

/// Runs the command.
pub fn run(args: &Generate, term: Term) -> Result<()> {
    let meter = Meter::start();
    let mut source = Generator::new(&config(args));
    let mut sink = deadheat_trace::create(&args.output).context("cannot write the trace")?;
    let named = || args.output.display().to_string();
    let events = each_block(&mut source, &args.output, term, |block, source| {
        sink.write(block, source.tables()).with_context(named)?;
        Ok(true)
    })?;
    sink.finish(source.tables()).with_context(named)?;
    print_stats(args.stats, &meter, events);
    Ok(())
}

fn config(args: &Generate) -> Config {
    Config {
        seed: args.seed,
        events: args.events,
        threads: args.threads,
        locks: args.locks,
        variables: args.variables,
        arrays: args.arrays,
        array_len: args.array_len,
        array_access: if args.elements {
            ArrayAccess::Elements
        } else {
            ArrayAccess::Ranges
        },
        nesting: args.nesting,
        work: args.work,
        subword: args.subword,
        shares: args.shares,
        id_reuse: !args.fresh_ids,
        races: args.races,
        sites: match args.sites {
            0 => Sites::Unique,
            n => Sites::Program(n),
        },
        pattern: args.pattern,
    }
}

/// Parses `locks=300,barriers=5`: what is not named keeps its default.
pub fn shares(text: &str) -> Result<Shares, String> {
    let mut shares = Shares::default();
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (name, value) = part
            .split_once('=')
            .ok_or_else(|| format!("expected NAME=N, found `{part}`"))?;
        let value = value.parse().map_err(|_| format!("`{value}` is no number"))?;
        let share = match name {
            "local" => &mut shares.local,
            "locks" => &mut shares.locks,
            "rwlocks" => &mut shares.rwlocks,
            "atomics" => &mut shares.atomics,
            "fences" => &mut shares.fences,
            "messages" => &mut shares.messages,
            "barriers" => &mut shares.barriers,
            "heap" => &mut shares.heap,
            "arrays" => &mut shares.arrays,
            "calls" => &mut shares.calls,
            "forks" => &mut shares.forks,
            _ => return Err(format!("no share `{name}`; there are {SHARES}")),
        };
        *share = value;
    }
    Ok(shares)
}

const SHARES: &str =
    "local, locks, rwlocks, atomics, fences, messages, barriers, heap, arrays, calls and forks";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_set_by_name() {
        let changed = shares("locks=7,barriers=0").unwrap();
        assert_eq!(
            (changed.locks, changed.barriers, changed.local),
            (7, 0, Shares::default().local)
        );
        for (wrong, part) in [("x=1", "rwlocks"), ("locks", "NAME=N"), ("locks=-1", "number")] {
            assert!(shares(wrong).unwrap_err().contains(part), "{wrong}");
        }
    }
}
