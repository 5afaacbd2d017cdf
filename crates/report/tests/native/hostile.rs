//! Lines that no runtime would say.

use super::program::Program;
use super::session::Session;
use deadheat_report::native::{Lines, Options, Reporter};
use deadheat_report::text::{self, Colors};
use deadheat_report::{Report, Sources, json};
use proptest::prelude::*;
use std::sync::LazyLock;

fn heard(input: &[u8]) -> Report {
    let mut reporter = Reporter::new(Options::new("/no/such/directory"));
    let mut lines = Lines::new(input);
    while let Some(line) = lines.next_line().expect("memory can be read") {
        let _ = reporter.line(line);
    }
    reporter.finish()
}

/// Whatever was heard can be printed and read again.
fn check(input: &[u8]) -> Result<(), TestCaseError> {
    let report = heard(input);
    let (mut out, mut written) = (Vec::new(), Vec::new());
    text::write(&report, Colors::none(), &mut Sources::default(), &mut out).unwrap();
    json::write(&report, &mut written).unwrap();
    prop_assert_eq!(serde_json::from_slice::<Report>(&written).unwrap(), report);
    Ok(())
}

/// A real session.
static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let program = Program::new("cc", "demo.c", "-g");
    let mut session = Session::new(&program);
    let stack = [program.mark("add"), program.mark("worker")];
    for memory in ["global", "heap\t10\t20\t0\t1", "stack\t0"] {
        let sides = [(1, "write plain", &stack[..]), (2, "read atomic", &stack[..1])];
        session.race(program.address("counter"), sides, memory);
    }
    session.say("count\t1\t5\nexit\t0");
    session.lines.into_bytes()
});

const WORDS: &str =
    "deadheat|command|module|stack|thread|race|access|lock|memory|end|count|loss|stat|exit|new";
const FIELDS: &str = "0|1|2|7|-|ff|f{16}|4294967295|18446744073709551615|read|write|free|plain|atomic|heap|freed|\
    global|tls|map|signal|/proc/self/exe";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_bytes_are_survived(input in prop::collection::vec(any::<u8>(), 0..2000)) {
        check(&input)?;
    }

    #[test]
    fn lines_of_known_words_are_survived(
        input in prop::collection::vec((WORDS, prop::collection::vec(FIELDS, 0..7)), 0..60),
    ) {
        let lines = input.iter().map(|(word, fields)| format!("{word}\t{}\n", fields.join("\t")));
        let input: Vec<String> = lines.collect();
        check(input.concat().as_bytes())?;
    }

    #[test]
    fn a_damaged_session_is_survived(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20),
        end in any::<prop::sample::Index>(),
    ) {
        let mut input = GOOD.clone();
        for (at, byte) in damage {
            let at = at.index(input.len());
            input[at] = byte;
        }
        input.truncate(end.index(input.len()) + 1);
        check(&input)?;
    }
}

#[test]
fn what_is_not_understood_is_counted_and_said() {
    let report = heard(b"deadheat\t1\t1\nrace\t1\nnews\tof\ttomorrow\nend\t5\n\xff\xfe\nexit\t0\n");
    assert!(report.summary.partial);
    let notes = &report.summary.notes;
    assert!(notes.iter().any(|note| note.starts_with("2 lines")), "{notes:?}");
}

#[test]
fn another_version_is_said() {
    let report = heard(b"deadheat\t99\t1\nexit\t0\n");
    assert!(report.summary.notes[0].contains("version 99"));
}

#[test]
fn endless_records_do_not_take_endless_memory() {
    let mut reporter = Reporter::new(Options::new("/"));
    let deep = format!("{}\n", "\tffffffff".repeat(1000));
    for number in 0..20_000 {
        reporter.line(format!("stack\t{number:x}{}", deep.trim_end()).as_str());
    }
    let report = reporter.finish();
    let notes = &report.summary.notes;
    assert!(
        notes
            .iter()
            .any(|note| note.contains("more than the reporter keeps")),
        "{notes:?}"
    );
}
