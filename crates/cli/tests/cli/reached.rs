//! What missing calls reach in recordings: whatever a call could use to tell other threads something is among it, and no more than that.

use crate::cargo::cargo_command;
use crate::harness::{Files, ran, root};
use crate::missing::{ARGUMENTS, missing, predicted, recorded};
use crate::record::{is_well_formed, read};
use std::collections::BTreeSet;

/// `wait_for` waits for a flag that it finds in some way, and is left out. Whoever sets the flag is not.
const FLAG: &str = r#"#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
struct box { char name[2000]; atomic_int full, *flag; };
struct job { struct box *box; };
struct given { struct job *job; long *data; int far; };
static void wait_for(struct job *job) {
    atomic_int *flag = job->box->flag ? job->box->flag : &job->box->full;
    while (!atomic_load(flag)) sched_yield();
}
static void *reader(void *argument) {
    struct given *given = argument;
    if (given->far) {
        struct { struct job job; char pad[4000]; struct box box; } own = { .job = { &own.box }, .box = { .flag = given->job->box->flag } };
        wait_for(&own.job);
    } else {
        wait_for(given->job);
    }
    return (void *)(*given->data - 5);
}
static sem_t ready, over;
static void *host(void *job) {
    struct box box = { .flag = malloc(sizeof(atomic_int)) };
    *box.flag = 0;
    ((struct job *)job)->box = &box;
    sem_post(&ready);
    sem_wait(&over);
    return NULL;
}
static void *map(int flags) {
    return mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);
}
int main(int count, char **arguments) {
    const char *where = count > 1 ? arguments[1] : "";
    struct box box = { .flag = NULL };
    struct job *job = malloc(sizeof *job);
    struct given given = { job, malloc(sizeof(long)), 0 };
    pthread_t thread, other;
    sem_init(&ready, 0, 0);
    sem_init(&over, 0, 0);
    job->box = &box;
    if (!strcmp(where, "own")) {
        given.far = 1;
        box.flag = malloc(sizeof *box.flag);
    } else if (!strcmp(where, "other")) {
        pthread_create(&other, NULL, host, job);
        sem_wait(&ready);
    } else if (!strcmp(where, "mapping")) {
        job->box = map(MAP_PRIVATE);
    } else if (!strcmp(where, "shared")) {
        job = map(MAP_SHARED);
        given.job = job;
        job->box = map(MAP_SHARED);
    } else if (!strcmp(where, "moved")) {
        job->box = mremap(map(MAP_PRIVATE), 1 << 16, 1 << 20, MREMAP_MAYMOVE);
    } else if (!strcmp(where, "behind")) {
        // The flag is in a block that only a pointer in the mapping leads to.
        job = mmap(NULL, 1 << 30, PROT_NONE, MAP_ANONYMOUS | MAP_PRIVATE | MAP_NORESERVE, -1, 0);
        mprotect(job, 1 << 16, PROT_READ | PROT_WRITE);
        given.job = job;
        job->box = malloc(sizeof *job->box);
        memset(job->box, 0, sizeof *job->box);
    }
    if (box.flag) *box.flag = 0;
    atomic_int *flag = job->box->flag ? job->box->flag : &job->box->full;
    pthread_create(&thread, NULL, reader, &given);
    *given.data = 5;
    atomic_store(flag, 1);
    void *wrong;
    pthread_join(thread, &wrong);
    if (!strcmp(where, "other")) {
        sem_post(&over);
        pthread_join(other, NULL);
    }
    return wrong != NULL;
}
"#;

#[test]
fn what_stacks_and_mappings_hold_is_reached() {
    let files = Files::new();
    let source = files.file("flag.c", FLAG);
    let trace = files.path("run.dht");
    // Neither by static data.
    let rules = files.file("rules", ARGUMENTS);
    for place in ["first", "own", "other", "mapping", "shared", "moved", "behind"] {
        recorded(&[
            "-o",
            &trace,
            "--cflags",
            "-O1",
            "--external-rules",
            &rules,
            "--exclude",
            "wait_for",
            &source,
            "--",
            place,
        ]);
        is_well_formed(&trace);
        let (events, tables) = read(&trace);
        assert_eq!(
            missing(&events, &tables),
            BTreeSet::from(["wait_for".to_owned()]),
            "{place}"
        );
        assert_eq!(predicted(&trace, "rdit"), BTreeSet::new(), "{place}");
        assert_eq!(predicted(&trace, "mc").len(), 1, "{place}");
    }
}

#[test]
fn what_static_data_leads_to_is_reached() {
    let files = Files::new();
    let source = files.file(
        "static.c",
        r#"#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
static atomic_int *flag;
static void wait_for(void) { while (!atomic_load(flag)) sched_yield(); }
static void *reader(void *argument) {
    long *data = argument;
    wait_for();
    return (void *)(*data - 5);
}
int main(void) {
    atomic_int *own = calloc(1, sizeof *own);
    flag = own;
    long *data = malloc(sizeof *data);
    pthread_t thread;
    pthread_create(&thread, NULL, reader, data);
    *data = 5;
    atomic_store(own, 1);
    void *wrong;
    pthread_join(thread, &wrong);
    return wrong != NULL;
}
"#,
    );
    let trace = files.path("run.dht");
    recorded(&["-o", &trace, "--exclude", "wait_for", "--cflags", "-O0", &source]);
    is_well_formed(&trace);
    assert_eq!(predicted(&trace, "rdit"), BTreeSet::new());
    assert_eq!(predicted(&trace, "mc").len(), 1);
}

#[test]
fn text_functions_and_sizes_are_nothing_that_calls_have_in_common() {
    let files = Files::new();
    let source = files.file(
        "steps.c",
        r#"#include <pthread.h>
#include <stdlib.h>
static long shared;
static void nothing(void) {}
static void step(long *own, const char *name, void (*then)(void), unsigned long size) { *own += name[0] + size; then(); }
static void *one(void *own) {
    step(own, "one", nothing, 70000);
    shared = 1;
    step(own, "one", nothing, 70000);
    return NULL;
}
static void *two(void *own) {
    step(own, "two", nothing, 1ul << 40);
    shared = 2;
    step(own, "two", nothing, 1ul << 40);
    return NULL;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, calloc(1, 8));
    pthread_create(&threads[1], NULL, two, calloc(1, 8));
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
"#,
    );
    let (trace, rules) = (files.path("run.dht"), files.file("rules", ARGUMENTS));
    recorded(&[
        "-o",
        &trace,
        "--external-rules",
        &rules,
        "--exclude",
        "step",
        &source,
    ]);
    is_well_formed(&trace);
    assert_eq!(predicted(&trace, "rdit"), BTreeSet::from([(8, 14)]));
}

#[test]
fn functions_of_libc_that_are_left_out_tell_by_the_kernel_what_others_see() {
    let files = Files::new();
    let source = root().join("tests/programs/c/pipe.c").display().to_string();
    let trace = files.path("run.dht");
    recorded(&["-o", &trace, "--exclude", "read", "--exclude", "write", &source]);
    is_well_formed(&trace);
    let (events, tables) = read(&trace);
    let names = ["read", "write"].map(str::to_owned);
    assert_eq!(missing(&events, &tables), BTreeSet::from(names));
    assert_eq!(predicted(&trace, "rdit"), BTreeSet::new());
    assert!(!predicted(&trace, "mc").is_empty());

    // A library that is not known has state of its own, though it is not given any.
    let library = files.path("libgate.so");
    let gate = files.file(
        "gate.c",
        "static int lock;
void gate_take(void) { while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause(); }
void gate_give(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }
",
    );
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o", &library, &gate])
        .status()
        .expect("a compiler");
    assert!(built.success());
    let source = files.file(
        "user.c",
        "#include <pthread.h>
void gate_take(void), gate_give(void);
static long guarded;
static void *work(void *argument) { gate_take(); guarded++; gate_give(); return argument; }
int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return guarded != 2;
}
",
    );
    let directory = std::path::Path::new(&library).parent().expect("a directory");
    let cflags = format!("-O1 -L{0} -lgate -Wl,-rpath,{0}", directory.display());
    recorded(&["-o", &trace, "--cflags", &cflags, "--exclude", "gate_*", &source]);
    assert_eq!(predicted(&trace, "rdit"), BTreeSet::new());
}

/// RDIT's Account (§4.5): the depositors race on `total`, lines 12 and 18. Whoever looks at their sums has seen that they are no longer alive.
const DEPOSITORS: &str = r#"#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
struct depositor { atomic_int done; };
static long first, second, total;
static int is_alive(struct depositor *d) { return !atomic_load(&d->done); }
static void finish(struct depositor *d) { atomic_store(&d->done, 1); }
static void *one(void *own) {
    first = 100;
    // The race.
    total += 100;
    finish(own);
    return NULL;
}
static void *two(void *own) {
    second = 200;
    total += 200;
    finish(own);
    return NULL;
}
int main(void) {
    struct depositor *depositors[2];
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) depositors[i] = calloc(1, sizeof **depositors);
    pthread_create(&threads[0], NULL, one, depositors[0]);
    pthread_create(&threads[1], NULL, two, depositors[1]);
    for (int i = 0; i < 2; i++)
        while (is_alive(depositors[i])) usleep(1000);
    long deposited = first + second;
    long found = total;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return deposited < found;
}
"#;

#[test]
fn account_has_one_race_and_only_rdit_says_so() {
    let files = Files::new();
    let source = files.file("account.c", DEPOSITORS);
    let (trace, rules) = (files.path("run.dht"), files.file("rules", ARGUMENTS));
    for exclude in [&["is_alive", "finish"][..], &["is_alive"]] {
        let mut arguments = vec!["-o", &trace, "--external-rules", &rules];
        for name in exclude {
            arguments.extend(["--exclude", name]);
        }
        arguments.push(&source);
        recorded(&arguments);
        is_well_formed(&trace);
        let race = (12, 18);
        assert_eq!(predicted(&trace, "rdit"), BTreeSet::from([race]), "{exclude:?}");
        for model in ["hb", "cp", "mc"] {
            let found = predicted(&trace, model);
            assert!(
                found.contains(&race) && found.len() > 1,
                "{exclude:?} {model}: {found:?}"
            );
        }
    }
}

#[test]
fn a_crate_is_left_out_of_a_build_by_cargo() {
    let files = Files::new();
    for directory in ["gate/src", "app/src"] {
        std::fs::create_dir_all(files.path(directory)).expect("a directory");
    }
    files.file(
        "Cargo.toml",
        "[workspace]\nresolver = \"3\"\nmembers = [\"gate\", \"app\"]\n",
    );
    files.file(
        "gate/Cargo.toml",
        "[package]\nname = \"gate\"\nedition = \"2024\"\n",
    );
    files.file(
        "gate/src/lib.rs",
        r#"use std::sync::atomic::{AtomicBool, Ordering};
pub struct Gate(AtomicBool);
impl Gate {
    pub fn new() -> Gate { Gate(AtomicBool::new(false)) }
    #[inline(never)]
    pub fn take(&self) { while self.0.swap(true, Ordering::Acquire) { std::thread::yield_now(); } }
    #[inline(never)]
    pub fn give(&self) { self.0.store(false, Ordering::Release) }
}
"#,
    );
    files.file(
        "app/Cargo.toml",
        "[package]\nname = \"app\"\nedition = \"2024\"\n[dependencies]\ngate = { path = \"../gate\" }\n",
    );
    files.file(
        "app/src/main.rs",
        r#"static mut COUNT: u64 = 0;
// So that nothing of the first thread, such as memory that it gives back, comes before the start of the second.
static BOTH: std::sync::Barrier = std::sync::Barrier::new(2);
fn main() {
    let gate = std::sync::Arc::new(gate::Gate::new());
    let threads: Vec<_> = (0..2).map(|_| {
        let gate = gate.clone();
        std::thread::spawn(move || {
            BOTH.wait();
            for _ in 0..5 {
                gate.take();
                // SAFETY: under the gate.
                unsafe { COUNT += 1 };
                gate.give();
            }
        })
    }).collect();
    for thread in threads { thread.join().unwrap(); }
}
"#,
    );
    let directory = files.path("");
    let mut build = cargo_command(std::path::Path::new(&directory), &["build"]);
    let built = ran(build.env("DEADHEAT_RECORD", "1").env("DEADHEAT_EXCLUDE", "gate"));
    assert_eq!(built.status, 0, "{}", built.stderr);
    let program = files.path("target/deadheat/x86_64-unknown-linux-gnu/debug/app");
    let trace = files.path("run.dht");
    recorded(&["-o", &trace, &program]);
    is_well_formed(&trace);
    let (events, tables) = read(&trace);
    let names = missing(&events, &tables);
    assert!(
        names.len() == 2 && names.iter().all(|name| name.contains("gate")),
        "{names:?}"
    );
    assert_eq!(predicted(&trace, "rdit"), BTreeSet::new());
    assert!(!predicted(&trace, "mc").is_empty());
}
