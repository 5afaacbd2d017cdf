//! `deadheat record --include/--exclude`: what is left out becomes missing calls, and `predict --model rdit` raises no false alarm.

use crate::harness::{Files, Ran, command, deadheat, ran, root};
use crate::native::cache;
use crate::record::{is_well_formed, read, record, values_agree};
use deadheat_event::{Event, Object, Op, Tables};
use std::collections::BTreeSet;

/// The names of the missing calls of a trace.
pub fn missing(events: &[Event], tables: &Tables) -> BTreeSet<String> {
    let name = |event: &Event| match event.op {
        Op::CallBegin { function, .. } => Some(tables.name(function).to_owned()),
        _ => None,
    };
    events.iter().filter_map(name).collect()
}

fn count(events: &[Event], is: impl Fn(&Op) -> bool) -> usize {
    events.iter().filter(|event| is(&event.op)).count()
}

/// Lines of the races that a model predicts.
pub fn predicted(trace: &str, model: &str) -> BTreeSet<(u64, u64)> {
    let ran = deadheat(&["predict", "--model", model, "--format", "json", trace]);
    let report = ran.json();
    let races = report["races"].as_array().expect("races");
    let line = |access: &serde_json::Value| access["frames"][0]["line"].as_u64().unwrap_or(0);
    let pair = |race: &serde_json::Value| {
        let (a, b) = (line(&race["accesses"][0]), line(&race["accesses"][1]));
        (a.min(b), a.max(b))
    };
    races.iter().map(pair).collect()
}

/// Records a run, which must go well.
#[track_caller]
pub fn recorded(arguments: &[&str]) -> Ran {
    let ran = record(arguments);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    ran
}

/// Functions that are left out use nothing but their arguments.
pub const ARGUMENTS: &str = "objects *\n";

/// A race on `racy`, line 7, none on `balance`.
const ACCOUNT: &str = r#"#include <pthread.h>
#include <stdlib.h>
struct account { pthread_mutex_t lock; long balance; };
static struct account *one;
static long racy;
static void add(struct account *a) { a->balance += 1; }
static void now(void) { racy = 1; }
static void take(struct account *a) { pthread_mutex_lock(&a->lock); }
static void give(struct account *a) { pthread_mutex_unlock(&a->lock); }
static void with(struct account *a, void (*f)(struct account *)) {
    take(a);
    f(a);
    give(a);
}
static void *work(void *argument) {
    now();
    for (int i = 0; i < 20; i++) {
        take(one);
        one->balance += 2;
        give(one);
        with(one, add);
    }
    return argument;
}
int main(void) {
    one = malloc(sizeof *one);
    pthread_mutex_init(&one->lock, NULL);
    one->balance = 0;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return one->balance != 120 || racy != 1;
}
"#;

#[test]
fn functions_of_c_are_left_out_and_callbacks_are_seen() {
    let files = Files::new();
    let source = files.file("account.c", ACCOUNT);
    let trace = files.path("run.dht");
    let rules = files.file("rules", ARGUMENTS);
    for flags in ["-O0", "-O2"] {
        let exclude = ["--exclude", "take", "--exclude", "give", "--exclude", "with"];
        recorded(
            &[
                &["-o", &trace, "--cflags", flags, "--external-rules", &rules][..],
                &exclude,
                &[&source],
            ]
            .concat(),
        );
        is_well_formed(&trace);
        let (events, tables) = read(&trace);
        values_agree(&events);
        let names = ["give", "take", "with"].map(str::to_owned);
        assert_eq!(missing(&events, &tables), BTreeSet::from(names), "{flags}");
        // Within `with`, calls of the other two are nothing new.
        let (begins, ends) = (
            count(&events, |op| matches!(op, Op::CallBegin { .. })),
            count(&events, |op| matches!(op, Op::CallEnd)),
        );
        assert_eq!((begins, ends), (2 * 20 * 3, 2 * 20 * 3), "{flags}");
        assert_eq!(
            count(&events, |op| matches!(op, Op::Acquire { .. })),
            0,
            "{flags}"
        );
        // What was called back is recorded, between the two.
        let mut open = 0;
        let mut between = 0;
        for event in events.iter().filter(|event| event.thread.0 == 1) {
            match event.op {
                Op::CallBegin { .. } => open += 1,
                Op::CallEnd => open -= 1,
                Op::Write { .. } if open == 1 => between += 1,
                _ => {}
            }
        }
        assert_eq!(between, 20, "{flags}");
        assert_eq!(predicted(&trace, "rdit"), BTreeSet::from([(7, 7)]), "{flags}");
        assert!(
            predicted(&trace, "mc").len() > 1,
            "without the locks there seem to be more"
        );
    }
}

#[test]
fn functions_of_libc_and_of_a_file_are_left_out_or_alone_recorded() {
    let files = Files::new();
    let source = files.file("account.c", ACCOUNT);
    let trace = files.path("run.dht");
    recorded(&["-o", &trace, "--exclude", "pthread_mutex_*", &source]);
    let (events, tables) = read(&trace);
    let names = ["pthread_mutex_lock", "pthread_mutex_unlock"].map(str::to_owned);
    assert_eq!(missing(&events, &tables), BTreeSet::from(names));
    assert_eq!(count(&events, |op| matches!(op, Op::Acquire { .. })), 0);
    assert_eq!(predicted(&trace, "rdit"), BTreeSet::from([(7, 7)]));

    let rules = files.file("rules", ARGUMENTS);
    recorded(&[
        "-o",
        &trace,
        "--external-rules",
        &rules,
        "--include",
        "now",
        "--include",
        "work",
        &source,
    ]);
    is_well_formed(&trace);
    let (events, tables) = read(&trace);
    let names = ["give", "main", "take", "with"].map(str::to_owned);
    assert_eq!(missing(&events, &tables), BTreeSet::from(names));
    assert_eq!(
        count(&events, |op| matches!(op, Op::Fork { .. })),
        2,
        "threads are always seen"
    );
    assert_eq!(predicted(&trace, "rdit"), BTreeSet::from([(7, 7)]));

    // All of the file is left out, and threads that begin there are one call.
    recorded(&["-o", &trace, "--exclude", "account.c", &source]);
    is_well_formed(&trace);
    let (events, tables) = read(&trace);
    assert_eq!(
        missing(&events, &tables),
        BTreeSet::from(["main".to_owned(), "work".to_owned()])
    );
    assert_eq!(count(&events, |op| matches!(op, Op::Write { .. })), 0);
}

#[test]
fn what_is_left_out_tells_by_memory_what_others_see() {
    // `publish` and `wait_for` hand over `data` by a flag that nobody sees them use; the locks of `counted` are another matter.
    let files = Files::new();
    let source = files.file(
        "flag.c",
        r#"#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
struct box { atomic_int full; struct item { long data; } *item; };
static void publish(struct box *box) { atomic_store(&box->full, 1); }
static void wait_for(struct box *box) { while (!atomic_load(&box->full)) sched_yield(); }
static void *reader(void *argument) {
    struct box *box = argument;
    wait_for(box);
    return (void *)(box->item->data - 5);
}
int main(void) {
    struct box *box = calloc(1, sizeof *box);
    pthread_t thread;
    pthread_create(&thread, NULL, reader, box);
    struct item *item = malloc(sizeof *item);
    item->data = 5;
    box->item = item;
    publish(box);
    void *wrong;
    pthread_join(thread, &wrong);
    return wrong != NULL;
}
"#,
    );
    let trace = files.path("run.dht");
    // Only one side is seen.
    for exclude in [&["publish", "wait_for"][..], &["publish"], &["wait_for"]] {
        let mut arguments = vec!["-o", &trace, "--cflags", "-O1"];
        for name in exclude {
            arguments.extend(["--exclude", name]);
        }
        arguments.push(&source);
        recorded(&arguments);
        is_well_formed(&trace);
        let (events, tables) = read(&trace);
        assert_eq!(missing(&events, &tables).len(), exclude.len());
        assert!(predicted(&trace, "rdit").is_empty(), "{exclude:?}");
    }
}

#[test]
fn a_call_that_reaches_too_much_to_be_told_reaches_everything() {
    // As above, but from `box` more blocks can be reached than are looked through.
    let files = Files::new();
    let source = files.file(
        "wide.c",
        r#"#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
struct node { struct node *next; };
struct box { atomic_int full; struct item { long data; } *item; struct node *list; };
static long racy;
static void publish(struct box *box) { atomic_store(&box->full, 1); }
static void wait_for(struct box *box) { while (!atomic_load(&box->full)) sched_yield(); }
static void *reader(void *argument) {
    struct box *box = argument;
    wait_for(box);
    return (void *)(box->item->data - 5);
}
static void *racer(void *argument) {
    racy = (long)argument;
    return NULL;
}
int main(void) {
    struct box *box = calloc(1, sizeof *box);
    for (int i = 0; i < 5000; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = box->list;
        box->list = node;
    }
    pthread_t thread, racers[2];
    pthread_create(&thread, NULL, reader, box);
    struct item *item = malloc(sizeof *item);
    item->data = 5;
    box->item = item;
    publish(box);
    void *wrong;
    pthread_join(thread, &wrong);
    for (long i = 0; i < 2; i++) pthread_create(&racers[i], NULL, racer, (void *)i);
    for (long i = 0; i < 2; i++) pthread_join(racers[i], NULL);
    return wrong != NULL || racy > 1;
}
"#,
    );
    let trace = files.path("run.dht");
    for exclude in [&["publish", "wait_for"][..], &["publish"], &["wait_for"]] {
        let mut arguments = vec!["-o", &trace, "--cflags", "-O1"];
        for name in exclude {
            arguments.extend(["--exclude", name]);
        }
        arguments.push(&source);
        recorded(&arguments);
        is_well_formed(&trace);
        let (events, tables) = read(&trace);
        let wide = |op: &Op| match op {
            Op::CallBegin { objects, .. } => tables.objects(*objects).contains(&Object::EVERYTHING),
            _ => false,
        };
        assert_eq!(count(&events, wide), exclude.len(), "{exclude:?}");
        // The race that there is, and no other.
        assert_eq!(
            predicted(&trace, "rdit"),
            BTreeSet::from([(16, 16)]),
            "{exclude:?}"
        );
        if exclude.len() == 2 {
            assert!(predicted(&trace, "mc").len() > 1, "the hand-over is not seen");
        }
    }
}

#[test]
fn rules_say_what_a_function_that_is_left_out_uses() {
    let files = Files::new();
    let source = files.file(
        "two.c",
        r#"#include <pthread.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static long shared;
static void take_first(void) { pthread_mutex_lock(&first); }
static void give_first(void) { pthread_mutex_unlock(&first); }
static void take_second(void) { pthread_mutex_lock(&second); }
static void give_second(void) { pthread_mutex_unlock(&second); }
static void *one(void *argument) {
    take_first();
    shared = 1;
    give_first();
    return argument;
}
static void *two(void *argument) {
    take_second();
    shared = 2;
    give_second();
    return argument;
}
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, two, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return shared == 0;
}
"#,
    );
    let trace = files.path("run.dht");
    let exclude = ["--exclude", "take_*", "--exclude", "give_*"];
    // Nobody knows what they use.
    recorded(&[&["-o", &trace][..], &exclude, &[&source]].concat());
    assert!(predicted(&trace, "rdit").is_empty());
    let rules = files.file(
        "rules",
        "objects *_first with first\nobjects *_second with second\n",
    );
    recorded(
        &[
            &["-o", &trace, "--external-rules", &rules][..],
            &exclude,
            &[&source],
        ]
        .concat(),
    );
    assert_eq!(predicted(&trace, "rdit"), BTreeSet::from([(10, 16)]));
    let rules = files.file(
        "rules",
        "objects *_first with first\nobjects *_second with second,first\n",
    );
    recorded(
        &[
            &["-o", &trace, "--external-rules", &rules][..],
            &exclude,
            &[&source],
        ]
        .concat(),
    );
    assert!(
        predicted(&trace, "rdit").is_empty(),
        "they have a variable in common"
    );
}

#[test]
fn an_exception_ends_a_missing_call() {
    let files = Files::new();
    let source = files.file(
        "throw.cc",
        r#"#include <mutex>
#include <stdexcept>
#include <thread>
namespace store {
struct Shelf {
    std::mutex lock;
    long items = 0;
    void check(long at) { if (at % 2) throw std::runtime_error("odd"); }
};
}
static store::Shelf shelf;
static void work() {
    for (long i = 0; i < 10; i++) {
        try {
            shelf.check(i);
        } catch (const std::runtime_error &) {
        }
        std::lock_guard<std::mutex> guard(shelf.lock);
        shelf.items++;
    }
}
int main() {
    std::thread one(work), two(work);
    one.join();
    two.join();
    return shelf.items != 20;
}
"#,
    );
    let trace = files.path("run.dht");
    for flags in ["-O0", "-O2"] {
        recorded(&[
            "-o",
            &trace,
            "--cflags",
            flags,
            "--exclude",
            "store::Shelf",
            &source,
        ]);
        is_well_formed(&trace);
        let (events, tables) = read(&trace);
        assert_eq!(missing(&events, &tables).len(), 1, "{flags}");
        let begins = count(&events, |op| matches!(op, Op::CallBegin { .. }));
        let ends = count(&events, |op| matches!(op, Op::CallEnd));
        assert_eq!((begins, ends), (20, 20), "{flags}");
        // The locks that are taken after it are seen.
        assert_eq!(
            count(&events, |op| matches!(op, Op::Acquire { .. })),
            20,
            "{flags}"
        );
        assert!(predicted(&trace, "rdit").is_empty(), "{flags}");
    }
}

#[test]
fn a_module_of_a_crate_is_left_out() {
    let files = Files::new();
    let source = files.file(
        "bank.rs",
        r#"mod vault {
    use std::sync::Mutex;
    pub struct Vault(Mutex<()>, pub std::cell::UnsafeCell<u64>);
    // SAFETY: the value is reached under the lock only.
    unsafe impl Sync for Vault {}
    impl Vault {
        pub fn new() -> Vault { Vault(Mutex::new(()), 0.into()) }
        pub fn with(&self, f: impl FnOnce(*mut u64)) {
            let _guard = self.0.lock().unwrap();
            f(self.1.get());
        }
    }
}
static mut RACY: u64 = 0;
// SAFETY: called under the lock.
fn raise(at: *mut u64) { unsafe { *at += 1 } }
fn main() {
    let vault = std::sync::Arc::new(vault::Vault::new());
    let threads: Vec<_> = (0..2).map(|_| {
        let vault = vault.clone();
        std::thread::spawn(move || {
            // SAFETY: none: this is the race.
            unsafe { RACY = 1 }
            for _ in 0..10 { vault.with(raise); }
        })
    }).collect();
    for thread in threads { thread.join().unwrap(); }
    // SAFETY: all threads have ended.
    assert_eq!(unsafe { *vault.1.get() }, 20);
}
"#,
    );
    let trace = files.path("run.dht");
    let rules = files.file("rules", ARGUMENTS);
    for flags in ["-Copt-level=0", "-O"] {
        recorded(&[
            "-o",
            &trace,
            "--external-rules",
            &rules,
            "--rustflags",
            flags,
            "--exclude",
            "bank::vault",
            &source,
        ]);
        is_well_formed(&trace);
        let (events, tables) = read(&trace);
        values_agree(&events);
        assert!(
            missing(&events, &tables)
                .iter()
                .all(|name| name.contains("vault")),
            "{flags}"
        );
        assert_eq!(
            count(&events, |op| matches!(op, Op::CallBegin { .. })),
            20,
            "{flags}"
        );
        // Whether there was such a schedule depends on how far the first thread came before the second was made.
        let races = predicted(&trace, "rdit");
        assert!(races.is_subset(&BTreeSet::from([(23, 23)])), "{flags}: {races:?}");
    }
}

#[test]
fn calls_of_a_shared_library_are_missing_calls() {
    let files = Files::new();
    let library = files.path("libgate.so");
    let gate = files.file(
        "gate.c",
        "static int lock;
void gate_take(int *at) { while (__atomic_exchange_n(at, 1, __ATOMIC_ACQUIRE)) __builtin_ia32_pause(); }
void gate_give(int *at) { __atomic_store_n(at, 0, __ATOMIC_RELEASE); }
void gate_each(int *at, void (*f)(void)) { (void)lock; gate_take(at); f(); gate_give(at); }
",
    );
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o", &library, &gate])
        .status()
        .expect("a compiler");
    assert!(built.success());
    let source = files.file(
        "user.c",
        r#"#include <pthread.h>
#include <stdlib.h>
void gate_take(int *), gate_give(int *), gate_each(int *, void (*)(void));
static int *gate;
static long guarded, racy;
static void more(void) { guarded++; }
static void *work(void *argument) {
    racy++;
    for (int i = 0; i < 10; i++) {
        gate_take(gate);
        guarded++;
        gate_give(gate);
        gate_each(gate, more);
    }
    return argument;
}
int main(void) {
    gate = calloc(4, 4);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    gate_take(gate);
    return guarded != 40;
}
"#,
    );
    let trace = files.path("run.dht");
    let directory = std::path::Path::new(&library)
        .parent()
        .expect("a directory")
        .display()
        .to_string();
    let cflags = format!("-O1 -L{directory} -lgate -Wl,-rpath,{directory}");
    recorded(&["-o", &trace, "--cflags", &cflags, &source]);
    is_well_formed(&trace);
    let (events, tables) = read(&trace);
    let names = ["gate_each", "gate_give", "gate_take"].map(str::to_owned);
    assert_eq!(missing(&events, &tables), BTreeSet::from(names));
    let rdit = predicted(&trace, "rdit");
    assert_eq!(rdit, BTreeSet::from([(8, 8)]));
    assert!(predicted(&trace, "mc").len() > 1);
}

#[test]
fn a_program_that_is_built_is_not_cut_again() {
    let files = Files::new();
    let source = files.file("account.c", ACCOUNT);
    let (program, trace) = (files.path("account"), files.path("run.dht"));
    recorded(&["-o", &trace, "--keep", &program, &source]);
    record(&["-o", &trace, "--exclude", "take", &program])
        .fails_with(&["are for sources", "DEADHEAT_EXCLUDE"]);

    let built = ran(command(&["cc", "-O1", "-pthread", "-o", &program, &source])
        .env("DEADHEAT_CACHE", cache())
        .env("DEADHEAT_RECORD", "1")
        .env("DEADHEAT_EXCLUDE", "take;give"));
    assert_eq!(built.status, 0, "{}", built.stderr);
    recorded(&["-o", &trace, &program]);
    let (events, tables) = read(&trace);
    assert!(missing(&events, &tables).contains("take"));
}

/// A list that grows, loses elements, and is tied to other blocks in between the calls that reach it.
const LIST: &str = r#"#include <pthread.h>
#include <stdlib.h>
struct node { struct node *next; char *text; };
static void look(struct node *list) { for (; list; list = list->next) if (list->text) list->text[0]++; }
static void *work(void *argument) {
    struct node *list = NULL;
    for (int i = 0; i < 30; i++) {
        struct node *node = calloc(1, sizeof *node + 16 * i);
        node->next = list;
        list = node;
        look(list);
        look(list);
        if (i % 3 == 0) node->text = calloc(1, 1000 + i);
        look(list);
        if (i % 5 == 4) list->next->next->text = NULL;
        look(list);
        if (i % 7 == 6) list = list->next;
        look(list);
    }
    return argument;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return 0;
}
"#;

#[test]
fn what_is_found_once_is_what_is_found_each_time() {
    let files = Files::new();
    let source = files.file("list.c", LIST);
    let rules = files.file("rules", ARGUMENTS);
    // Addresses differ from run to run, sizes do not.
    let reached = |calls: &str| -> Vec<Vec<u32>> {
        let trace = files.path("run.dht");
        let mut command = command(&["record", "-o", &trace, "--external-rules", &rules]);
        command.args(["--exclude", "look", "--cflags", "-O1", &source]);
        command
            .env("DEADHEAT_CACHE", cache())
            .env("DEADHEAT_OPTIONS", calls);
        let ran = ran(&mut command);
        assert_eq!(ran.status, 0, "{}", ran.stderr);
        let (events, tables) = read(&trace);
        let sizes = |event: &Event| match event.op {
            Op::CallBegin { objects, .. } => {
                let mut sizes: Vec<u32> = tables.objects(objects).iter().map(|object| object.size).collect();
                sizes.sort_unstable();
                Some(sizes)
            }
            _ => None,
        };
        events.iter().filter_map(sizes).collect()
    };
    let (once, each) = (reached("calls=once"), reached("calls=each"));
    assert_eq!(each.len(), 150);
    assert!(each.iter().any(|sizes| sizes.len() > 25), "{each:?}");
    assert_eq!(once, each);
    assert_eq!(reached("calls=none").len(), 0, "the option reaches the program");
}

#[test]
fn libraries_as_they_come_raise_no_false_alarm() {
    let files = Files::new();
    for (name, library, function) in [
        ("zlib.c", "-l:libz.so.1", "deflate"),
        ("sqlite.c", "-l:libsqlite3.so.0", "sqlite3_exec"),
        ("crypto.c", "-l:libcrypto.so.3", "EVP_DigestUpdate"),
        ("ssl.c", "-l:libssl.so.3 -l:libcrypto.so.3", "SSL_write"),
    ] {
        let source = root().join("tests/libraries").join(name).display().to_string();
        let trace = files.path("run.dht");
        recorded(&["-o", &trace, "--cflags", &format!("-O1 {library}"), &source]);
        is_well_formed(&trace);
        let (events, tables) = read(&trace);
        assert!(missing(&events, &tables).contains(function), "{name}");
        assert_eq!(predicted(&trace, "rdit"), BTreeSet::new(), "{name}");
    }
}

/// Locks beside what they guard, in one block and in one array: a race on `uses`, line 9, and on `drawn`, line 13, none on `paid`.
const SLOTS: &str = r#"#include <pthread.h>
#include <stdlib.h>
struct slot { pthread_mutex_t lock; pthread_cond_t some; long uses, paid; };
static struct slot *slots;
static struct { pthread_mutex_t lock; long drawn; } table[4];
static void pay(struct slot *s) {
    s->paid += 1;
}
static void use(struct slot *s) { s->uses += 1; }
static void draw(int from) {
    pthread_mutex_lock(&table[from].lock);
    // The lock of another.
    table[0].drawn += 1;
    pthread_mutex_unlock(&table[from].lock);
}
static void *work(void *argument) {
    for (int i = 0; i < 8; i++) {
        struct slot *s = &slots[i % 2];
        pthread_mutex_lock(&s->lock);
        pay(s);
        pthread_cond_signal(&s->some);
        pthread_mutex_unlock(&s->lock);
        use(s);
        draw(argument != NULL);
    }
    return argument;
}
int main(void) {
    slots = calloc(2, sizeof *slots);
    for (int i = 0; i < 2; i++) pthread_mutex_init(&slots[i].lock, NULL), pthread_cond_init(&slots[i].some, NULL);
    for (int i = 0; i < 4; i++) pthread_mutex_init(&table[i].lock, NULL);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, work, i ? &threads : NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
"#;

#[test]
fn a_missing_lock_orders_only_by_its_own_bytes() {
    let files = Files::new();
    let source = files.file("slots.c", SLOTS);
    let trace = files.path("run.dht");
    let exclude = ["--exclude", "pthread_mutex_*", "--exclude", "pthread_cond_*"];
    recorded(&[&["-o", &trace][..], &exclude, &[&source]].concat());
    is_well_formed(&trace);
    let (events, tables) = read(&trace);
    for event in &events {
        if let Op::CallBegin { function, objects } = event.op {
            let sizes: Vec<u32> = tables.objects(objects).iter().map(|object| object.size).collect();
            let expect = if tables.name(function).starts_with("pthread_mutex_") {
                40
            } else {
                48
            };
            assert_eq!(sizes, [expect], "{}", tables.name(function));
        }
    }
    assert_eq!(predicted(&trace, "rdit"), BTreeSet::from([(9, 9), (13, 13)]));
    assert!(
        predicted(&trace, "mc").contains(&(7, 7)),
        "a false alarm of those who do not see calls"
    );

    // A function of that name that is not libc's may use anything beside what it is given.
    let own = "int pthread_mutex_lock(pthread_mutex_t *m) { while (pthread_mutex_trylock(m)); return 0; }\n";
    let source = files.file(
        "own.c",
        SLOTS.replacen("struct slot {", &format!("{own}struct slot {{"), 1),
    );
    recorded(&["-o", &trace, "--exclude", "pthread_mutex_lock", &source]);
    let (events, tables) = read(&trace);
    let whole = |event: &Event| match event.op {
        Op::CallBegin { objects, .. } => tables.objects(objects).iter().any(|object| object.size > 48),
        _ => true,
    };
    assert!(events.iter().all(whole));
}
