//! `deadheat record`: the traces of running programs are well-formed, agree with every value read, and have the races that
//! `deadheat check` finds.

use crate::harness::{Files, Ran, command, deadheat, ran, root};
use crate::native::cache;
use deadheat_event::{AtomicOp, Event, Op, Tables};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

pub fn record(arguments: &[&str]) -> Ran {
    let mut all = vec!["record"];
    all.extend(arguments);
    let mut command = command(&all);
    command
        .env("DEADHEAT_CACHE", cache())
        .env_remove("DEADHEAT_OPTIONS")
        .env_remove("DEADHEAT_RECORD");
    ran(&mut command)
}

pub fn read(trace: &str) -> (Vec<Event>, Tables) {
    let mut source = deadheat_trace::open(Path::new(trace)).expect("a trace");
    deadheat_trace::read_all(source.as_mut()).expect("a trace to its end")
}

#[track_caller]
pub fn is_well_formed(trace: &str) {
    let ran = deadheat(&["trace", "validate", trace]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
}

/// Replays memory: each value read is what was last written, as far as that is known. How many reads were compared.
#[track_caller]
pub fn values_agree(events: &[Event]) -> usize {
    let mut memory: HashMap<u64, u8> = HashMap::new();
    let mut compared = 0;
    for (number, event) in events.iter().enumerate() {
        let (addr, size, value, reads) = match event.op {
            Op::Read { addr, size, value } => (addr, size, value, true),
            Op::Write { addr, size, value } => (addr, size, value, false),
            Op::Atomic {
                addr,
                size,
                op,
                value,
                ..
            } => (addr, size, value, op == AtomicOp::Load),
            Op::Alloc { addr, size } | Op::Free { addr, size } => (addr, size, None, false),
            _ => continue,
        };
        let bytes = addr.0..addr.0 + u64::from(size);
        let Some(value) = value else {
            if !reads && size > 1 << 16 {
                memory.retain(|at, _| !bytes.contains(at));
            } else if !reads {
                for at in bytes {
                    memory.remove(&at);
                }
            }
            continue;
        };
        for (at, byte) in bytes.zip(value.to_le_bytes()) {
            let before = memory.insert(at, byte);
            if let (true, Some(before)) = (reads, before) {
                assert_eq!(before, byte, "event {number} at {at:#x}: {event:?}");
                compared += 1;
            }
        }
    }
    compared
}

/// Reads of the threads that no write of the trace explains. (`printf` reads its format as a whole, in the main thread.)
fn reads_without_value(events: &[Event]) -> usize {
    let without = |event: &&Event| match event.op {
        Op::Read { value, .. } | Op::Atomic { value, .. } => value.is_none() && event.thread.0 != 0,
        _ => false,
    };
    events.iter().filter(without).count()
}

/// The pairs of lines that race, by the marks in a source (`tests/programs/README.md`).
fn marked(source: &str) -> BTreeSet<(u64, u64)> {
    let mut lines: HashMap<&str, Vec<u64>> = HashMap::new();
    for (number, line) in (1..).zip(source.lines()) {
        let names = line.split_once("//~ RACE ").map_or("", |(_, names)| names);
        for name in names.split_whitespace() {
            lines.entry(name).or_default().push(number);
        }
    }
    lines
        .values()
        .map(|lines| (lines[0], lines[lines.len() - 1]))
        .collect()
}

/// The pairs of lines that race in a trace.
fn reported(trace: &str) -> BTreeSet<(u64, u64)> {
    let report = deadheat(&["analyze", "--format", "json", trace]).json();
    let races = report["races"].as_array().expect("races");
    let line = |access: &serde_json::Value| access["frames"][0]["line"].as_u64().unwrap_or(0);
    races
        .iter()
        .map(|race| {
            let (a, b) = (line(&race["accesses"][0]), line(&race["accesses"][1]));
            (a.min(b), a.max(b))
        })
        .collect()
}

/// Locks, atomics, a barrier, messages, memory that comes and goes: racing and not.
const PROGRAMS: &[&str] = &[
    "c/access_sizes_race.c",
    "c/atomic_mixed_race.c",
    "c/atomic_orderings.c",
    "c/atomic_orderings_race.c",
    "c/barrier.c",
    "c/barrier_race.c",
    "c/bitfield_race.c",
    "c/condition.c",
    "c/condition_race.c",
    "c/detach_race.c",
    "c/fence.c",
    "c/fence_race.c",
    "c/free_race.c",
    "c/heap_reuse.c",
    "c/memory_functions_race.c",
    "c/mutex_kinds.c",
    "c/mutex_try_race.c",
    "c/once_race.c",
    "c/pipe.c",
    "c/realloc_race.c",
    "c/rwlock.c",
    "c/rwlock_race.c",
    "c/semaphore_race.c",
    "c/spin.c",
    "c/thread_stack_reuse.c",
    "rust/barrier.rs",
    "rust/channels.rs",
    "rust/fences.rs",
    "rust/mutex.rs",
    "rust/static_mut_race.rs",
];

#[test]
fn a_trace_has_the_races_that_the_sources_are_marked_with() {
    let files = Files::new();
    for program in PROGRAMS {
        let source = format!("tests/programs/{program}");
        let trace = files.path("run.dht");
        let ran = record(&["-o", &trace, &source]);
        assert!(
            ran.last_line().contains("recorded in"),
            "{program}: {}",
            ran.stderr
        );
        is_well_formed(&trace);
        let marks = marked(&std::fs::read_to_string(root().join(&source)).expect("a source"));
        assert_eq!(reported(&trace), marks, "{program}");
        assert_eq!(marks.is_empty(), !program.contains("_race"), "{program}");
        values_agree(&read(&trace).0);
    }
}

/// Threads that nothing orders, on bytes side by side: the order of accesses is nobody's but the recorder's.
const CONTENTION: &str = r#"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static union { unsigned char bytes[16]; unsigned short halves[8]; unsigned words[4]; unsigned long longs[2]; } shared;
static atomic_uint turns;
static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long locked;

static void *work(void *argument) {
    long me = (long)argument;
    pthread_barrier_wait(&barrier);
    for (int i = 0; i < 2000; i++) {
        shared.bytes[(i + me) % 16]++;
        shared.halves[i % 8] += (unsigned short)me;
        shared.words[(i * me) % 4] ^= (unsigned)i;
        shared.longs[i % 2] += 0x100000001ul * (unsigned long)me;
        atomic_fetch_add(&turns, 1);
        pthread_mutex_lock(&lock);
        locked += me;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    pthread_barrier_init(&barrier, NULL, 4);
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%u %ld\n", turns, locked);
    return 3;
}
"#;

#[test]
fn a_trace_agrees_with_every_value_that_was_read() {
    let files = Files::new();
    let source = files.file("contention.c", CONTENTION);
    let trace = files.path("run.dht");
    for flags in ["-O0", "-O2"] {
        let ran = record(&["-o", &trace, "--cflags", flags, &source]);
        assert_eq!(
            (ran.status, ran.stdout.as_str()),
            (3, "8000 20000\n"),
            "{}",
            ran.stderr
        );
        let (events, tables) = read(&trace);
        let last = format!(
            "deadheat: {} events recorded in {trace}; next: deadheat analyze {trace}",
            events.len()
        );
        assert_eq!(ran.last_line(), last);
        is_well_formed(&trace);
        assert!(values_agree(&events) > 100_000, "four threads, 2000 rounds");
        assert_eq!(
            reads_without_value(&events),
            0,
            "all of them explained by a write"
        );
        assert!(tables.syncs.values().any(|name| tables.name(*name) == "lock"));
        let turns = events.iter().filter_map(|event| match event.op {
            Op::Atomic {
                op: AtomicOp::Rmw,
                value,
                ..
            } => value,
            _ => None,
        });
        assert!(turns.eq(1..=8000), "in the order in which they were made");
    }
}

/// Vectors and numbers of several words, aligned and not, beside accesses across eight bytes.
const VECTORS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

typedef double pair __attribute__((vector_size(16), aligned(8)));
typedef float floats __attribute__((vector_size(16), aligned(4)));
typedef long quad __attribute__((vector_size(32), aligned(8)));
typedef unsigned char bytes __attribute__((vector_size(16), aligned(1)));
typedef unsigned long __attribute__((aligned(1))) loose;

static union { double doubles[8]; float singles[16]; long longs[8]; unsigned char bytes[64]; __int128 wide[4]; } shared;
static pthread_barrier_t barrier;
static double sums[4];

static void *work(void *argument) {
    long me = (long)argument;
    pthread_barrier_wait(&barrier);
    pair sum = {0, 0};
    for (int i = 0; i < 500; i++) {
        pair *at = (pair *)&shared.doubles[(i + me) % 7];
        *at += (pair){1, (double)me};
        sum += *at;
        *(floats *)&shared.singles[(i * me) % 13] *= (floats){1, 2, 1, 0.5};
        *(quad *)&shared.longs[i % 5] ^= (quad){i, me, 0, -1};
        *(bytes *)&shared.bytes[(7 * i + me) % 49] += (bytes){1, 2, 3};
        *(loose *)&shared.bytes[(5 * i) % 57] += 0x0101010101010101;
        shared.wide[i % 4] += (__int128)me << 60;
    }
    memcpy(&sums[me - 1], &sum, sizeof(double));
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    pthread_barrier_init(&barrier, NULL, 3);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

#[test]
fn vectors_and_what_crosses_eight_bytes_are_recorded_with_values() {
    let files = Files::new();
    let source = files.file("vectors.c", VECTORS);
    let trace = files.path("run.dht");
    for flags in ["-O1", "-O2", "-O2 -mavx2"] {
        let ran = record(&["-o", &trace, "--cflags", flags, &source]);
        assert_eq!(ran.status, 0, "{flags}: {}", ran.stderr);
        let (events, _) = read(&trace);
        is_well_formed(&trace);
        assert!(
            values_agree(&events) > 100_000,
            "{flags}: three threads, 500 rounds, six vectors"
        );
        assert_eq!(reads_without_value(&events), 0, "{flags}");
        let wide = events.iter().filter(|event| {
            matches!(event.op, Op::Read { size, .. } | Op::Write { size, .. } if size > 8 && event.thread.0 != 0)
        });
        assert_eq!(wide.count(), 0, "{flags}: in pieces that have values");
    }
}

/// Pages that are one thread's for a while and then another's, in no order that anything keeps; threads come after threads.
const HANDED_OVER: &str = r#"
#include <pthread.h>

enum { PAGES = 60, WORDS = 512, THREADS = 3 };

static long memory[PAGES * WORDS];
static pthread_barrier_t barrier;

// Bands of pages that are each thread's own for a while, then another's, in no order that anything keeps.
static void *work(void *argument) {
    long me = (long)argument;
    pthread_barrier_wait(&barrier);
    for (long round = 0; round < 6; round++) {
        long first = (me + round) % THREADS * (PAGES / THREADS);
        for (long page = first; page < first + PAGES / THREADS + 10 && page < PAGES; page++) {
            for (long word = 0; word < WORDS; word += 1 + (page + me) % 7) {
                memory[page * WORDS + word] += me + round;
            }
        }
    }
    return NULL;
}

int main(void) {
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int turn = 0; turn < 3; turn++) {
        pthread_t threads[THREADS];
        for (long i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, work, (void *)(i + 1));
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
    return 0;
}
"#;

#[test]
fn values_agree_where_pages_go_from_thread_to_thread() {
    let files = Files::new();
    let source = files.file("hands.c", HANDED_OVER);
    let trace = files.path("run.dht");
    let ran = record(&["-o", &trace, "--cflags", "-O2", &source]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let (events, _) = read(&trace);
    is_well_formed(&trace);
    assert!(values_agree(&events) > 100_000, "three threads, six rounds");
    assert_eq!(reads_without_value(&events), 0);
}

/// A block that is filled before there are threads, and read in each round; with `LATE` it is written again.
const CONSTANT: &str = r#"
#include <pthread.h>
#include <stdlib.h>

static long *table;
static long sums[2];

static void *work(void *argument) {
    long me = (long)argument;
    for (int round = 0; round < 1000; round++)
        sums[me] += table[(round * 7) % 64];
    return NULL;
}

int main(void) {
    table = malloc(64 * sizeof *table);
    for (int i = 0; i < 64; i++)
        table[i] = i;
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
#ifdef LATE
    table[7] = 1;
#endif
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
"#;

#[test]
fn reads_of_what_does_not_change_any_more_are_left_out() {
    let files = Files::new();
    let source = files.file("constant.c", CONSTANT);
    let trace = files.path("run.dht");
    // How often memory was read that both threads read.
    let shared = |flags: &str| {
        let ran = record(&["-o", &trace, "--cflags", flags, &source]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let (events, _) = read(&trace);
        is_well_formed(&trace);
        values_agree(&events);
        let mut readers: HashMap<u64, Vec<u32>> = HashMap::new();
        for event in events.iter().filter(|event| event.thread.0 != 0) {
            if let Op::Read { addr, .. } = event.op {
                readers.entry(addr.0).or_default().push(event.thread.0);
            }
        }
        readers.retain(|_, threads| threads.iter().any(|thread| *thread != threads[0]));
        readers.values().map(Vec::len).sum::<usize>()
    };
    assert_eq!(shared("-O1"), 0);
    assert!(shared("-O1 -DLATE") >= 2000, "two threads, a thousand rounds");
}

#[test]
fn a_rust_program_is_recorded_to_text() {
    let files = Files::new();
    let source = files.file(
        "locked.rs",
        "use std::sync::Mutex;
static TOTAL: Mutex<u64> = Mutex::new(0);
fn main() {
    std::thread::scope(|scope| {
        for n in 1..4 {
            scope.spawn(move || *TOTAL.lock().unwrap() += n);
        }
    });
    println!(\"{}\", TOTAL.lock().unwrap());
}
",
    );
    let trace = files.path("run.txt");
    let ran = record(&["-o", &trace, "--rustflags", "-O", &source]);
    assert_eq!((ran.status, ran.stdout.as_str()), (0, "6\n"), "{}", ran.stderr);
    is_well_formed(&trace);
    assert!(reported(&trace).is_empty());
    values_agree(&read(&trace).0);
    let text = std::fs::read_to_string(&trace).expect("a text");
    assert!(text.contains("locked.rs:6"), "{text}");
}

#[test]
fn what_was_recorded_before_a_crash_is_kept() {
    let files = Files::new();
    let source = files.file(
        "killed.c",
        CONTENTION
            .replace(
                "atomic_fetch_add(&turns, 1);",
                "if (atomic_fetch_add(&turns, 1) == 3000) kill(getpid(), SIGKILL);",
            )
            .replace(
                "#include <stdio.h>",
                "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>",
            ),
    );
    let trace = files.path("run.dht");
    let ran = record(&["-o", &trace, &source]);
    assert_eq!(ran.status, 128 + 9, "{}", ran.stderr);
    assert!(
        ran.stderr
            .contains("killed by signal 9 (SIGKILL); the trace ends there"),
        "{}",
        ran.stderr
    );
    is_well_formed(&trace);
    let (events, _) = read(&trace);
    assert!(values_agree(&events) > 30_000);
    assert_eq!(reads_without_value(&events), 0);
    let turns = events.iter().filter(|event| {
        matches!(
            event.op,
            Op::Atomic {
                op: AtomicOp::Rmw,
                ..
            }
        )
    });
    assert!(turns.count() >= 3000, "all that were made before it");
}

#[test]
fn a_file_that_cannot_grow_ends_the_recording_and_not_the_program() {
    let files = Files::new();
    let source = files.file(
        "limited.c",
        CONTENTION
            .replace(
                "pthread_t threads[4];",
                "struct rlimit limit = {2400 << 10, 2400 << 10}; // The first blocks of all threads, and little more.
    setrlimit(RLIMIT_FSIZE, &limit);
    pthread_t threads[4];",
            )
            .replace("i < 2000", "i < 8000")
            .replace(
                "#include <stdio.h>",
                "#include <stdio.h>\n#include <sys/resource.h>",
            ),
    );
    let trace = files.path("run.dht");
    let ran = record(&["-o", &trace, &source]);
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (3, "32000 80000\n"),
        "{}",
        ran.stderr
    );
    assert_eq!(
        ran.stderr.matches("recording ends here (File too large").count(),
        1,
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains("recording ended before the program did"),
        "{}",
        ran.stderr
    );
    is_well_formed(&trace);
    let (events, _) = read(&trace);
    assert!(values_agree(&events) > 10_000);
    assert_eq!(reads_without_value(&events), 0);
}

#[test]
fn a_longer_run_takes_no_more_memory() {
    let files = Files::new();
    let source = files.file(
        "long.c",
        r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

static long rounds, cells[1 << 10];

static void *work(void *argument) {
    for (long i = 0; i < rounds; i++) {
        cells[i * 7 % 512 + (argument ? 512 : 0)] += i;
    }
    return NULL;
}

int main(int count, char **words) {
    rounds = atol(words[1]);
    pthread_t thread;
    pthread_create(&thread, NULL, work, cells);
    work(NULL);
    pthread_join(thread, NULL);
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%ld", usage.ru_maxrss);
    return 0;
}
"#,
    );
    let trace = files.path("run.dht");
    let kilobytes = |rounds: &str| -> u64 {
        let ran = record(&["-o", &trace, &source, "--", rounds]);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        ran.stdout.parse().unwrap()
    };
    let (short, long) = (kilobytes("20000"), kilobytes("1000000"));
    let log = std::fs::metadata(&trace).unwrap().len() / 1024;
    assert!(log > 4096, "{log} KB of trace");
    assert!(long < short + 1024, "{short} KB, and {long} for 50 times as much");
}

#[test]
fn many_threads_share_few_blocks_and_a_forked_process_leaves_none() {
    let files = Files::new();
    let source = files.file(
        "many.c",
        r#"
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int value;
static void *work(void *argument) { value += (int)(long)argument; return NULL; }
int main(void) {
    for (long i = 0; i < 300; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void *)i);
        pthread_join(thread, NULL);
    }
    if (fork() == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, NULL);
        pthread_join(thread, NULL);
        value = -1;
        _exit(0);
    }
    wait(NULL);
    printf("%d\n", value);
    return 0;
}
"#,
    );
    let trace = files.path("run.dht");
    let ran = record(&["-o", &trace, &source]);
    assert_eq!(
        (ran.status, ran.stdout.as_str()),
        (0, "44850\n"),
        "{}",
        ran.stderr
    );
    is_well_formed(&trace);
    assert!(reported(&trace).is_empty());
    let (events, _) = read(&trace);
    values_agree(&events);
    assert_eq!(
        events
            .iter()
            .filter(|event| matches!(event.op, Op::Fork { .. }))
            .count(),
        300
    );
}

#[test]
fn mistakes_are_named_with_the_next_step() {
    let files = Files::new();
    let source = files.file("one.c", "int main(void) { return 5; }\n");
    let (checked, recorded) = (files.path("checked"), files.path("recorded"));
    let check = |arguments: &[&str]| {
        let mut command = command(&[&["check"], arguments].concat());
        ran(command
            .env("DEADHEAT_CACHE", cache())
            .env_remove("DEADHEAT_OPTIONS"))
    };
    assert_eq!(check(&["--keep", &checked, &source]).status, 5);
    let trace = files.path("run.dht");
    let none = record(&["-o", &trace, "--keep", &recorded, &source]);
    assert_eq!(none.status, 5);
    assert!(
        none.last_line().ends_with("; the program created no thread"),
        "{}",
        none.stderr
    );
    assert_eq!(record(&["-o", &trace, &recorded]).status, 5);

    record(&["-o", &trace, &checked]).fails_with(&["built to be checked", "DEADHEAT_RECORD=1 deadheat cc"]);
    check(&[&recorded]).fails_with(&["built to be recorded", "give `deadheat check` the source"]);
    record(&["-o", &trace, "/bin/true"]).fails_with(&["was not built with deadheat", "DEADHEAT_RECORD=1"]);
    record(&["-o", &files.path("run.json"), &source]).fails_with(&["must end in .dht or .txt"]);
    record(&["-o", &files.path("no/run.dht"), &source]).fails_with(&["cannot write", "no/run.dht"]);
    record(&["-o", &trace, &files.path("missing.c")]).fails_with(&["cannot read"]);
    record(&[&source]).fails_with(&["--output"]);
}
