//! Callbacks out of shared libraries in recordings: what the library has heard comes before them, and what it tells afterwards comes behind them.

use crate::harness::Files;
use crate::missing::{missing, predicted, recorded};
use crate::record::{is_well_formed, read};
use std::collections::BTreeSet;

/// A library whose calls tell each other, and the program, by memory that nobody sees it use.
const RELAY: &str = r"#include <semaphore.h>
static int stage;
static void set(int *at, int to) { __atomic_store_n(at, to, __ATOMIC_RELEASE); }
static void until(int *at, int is) { while (__atomic_load_n(at, __ATOMIC_ACQUIRE) < is) __builtin_ia32_pause(); }
void relay_first(void (*f)(void)) { f(); set(&stage, 1); until(&stage, 2); }
void relay_then(void (*f)(void)) { until(&stage, 1); f(); set(&stage, 2); }
void relay_ready(void) { until(&stage, 1); }
void relay_set(int *flag, void (*f)(void)) { f(); set(flag, 1); until(flag, 2); }
void relay_when(int *flag, void (*f)(void)) { set(&stage, 1); until(flag, 1); f(); }
void relay_post(int *flag, sem_t *to) { set(&stage, 1); until(flag, 1); sem_post(to); }
void relay_twice(int *flag, void (*f)(void), void (*g)(void)) { f(); until(flag, 1); g(); }
";

/// The first thread writes `data`, line 20; the second hears of it and tells the third, which writes it then, line 41. They race on `racy`, lines 24 and 39. What
/// the first does takes it many events, so that its clock is far ahead of the others'.
const RELAYED: &str = r"#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
void relay_first(void (*)(void));
void relay_then(void (*)(void));
void relay_ready(void);
void relay_set(void *, void (*)(void));
void relay_when(void *, void (*)(void));
void relay_post(void *, sem_t *);
void relay_twice(void *, void (*)(void), void (*)(void));
static int how;
static long *data, *own, racy;
static atomic_int *flag;
static sem_t begun, told;
static pthread_t threads[3];
static void give(void) {
    for (int i = 0; i < 1000; i++) own[i % 8]++;
    *data = 1;
}
static void *first(void *argument) {
    if (how != 'o') sem_wait(&begun);
    racy = 1;
    if (how == 'c') relay_first(give);
    else if (how == 'l') relay_set(flag, give);
    else { if (how != 'o') relay_ready(); give(); atomic_store(flag, 1); }
    return argument;
}
static void tell(void) { sem_post(&told); }
static void *second(void *argument) {
    sem_post(&begun);
    if (how == 'c') relay_then(tell);
    else if (how == 's') relay_when(flag, tell);
    else if (how == 'p') relay_post(flag, &told);
    else { while (!atomic_load(flag)) usleep(1000); tell(); atomic_store(flag, 2); }
    return argument;
}
static void take(void) { racy = 2; if (how != 'o') sem_wait(&told);
    // Behind all of that.
    *data = 2;
}
static void *third(void *argument) { take(); return argument; }
static void begin(void) { pthread_create(&threads[2], NULL, first, NULL); }
int main(int count, char **words) {
    how = words[1][0];
    data = calloc(1, 1 << 20);
    own = calloc(1, 1 << 20);
    flag = calloc(1, 64);
    sem_init(&begun, 0, 0);
    sem_init(&told, 0, 0);
    if (how == 'o') {
        relay_twice(flag, begin, take);
    } else {
        pthread_create(&threads[0], NULL, third, NULL);
        pthread_create(&threads[1], NULL, second, NULL);
        begin();
        for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    }
    pthread_join(threads[2], NULL);
    return *data != 2 || racy == 0;
}
";

#[test]
fn what_a_library_has_heard_comes_before_what_it_calls_and_what_it_tells_behind() {
    let files = Files::new();
    let (library, relay) = (files.path("librelay.so"), files.file("relay.c", RELAY));
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o", &library, &relay])
        .status()
        .expect("a compiler");
    assert!(built.success());
    let source = files.file("user.c", RELAYED);
    let (trace, program) = (files.path("run.dht"), files.path("user"));
    let directory = std::path::Path::new(&library).parent().expect("a directory");
    let cflags = format!("-O1 -L{0} -lrelay -Wl,-rpath,{0}", directory.display());
    // The library tells another callback, tells the program, has heard from the program before a callback, and before what it does itself.
    for (how, calls, racy) in [
        ("callbacks", &["relay_first", "relay_then"][..], true),
        ("load", &["relay_set"], true),
        ("store", &["relay_ready", "relay_when"], true),
        ("post", &["relay_post", "relay_ready"], true),
        // In which the first thread is created.
        ("open", &["relay_twice"], false),
    ] {
        recorded(&[
            "-o", &trace, "--keep", &program, "--cflags", &cflags, &source, "--", how,
        ]);
        is_well_formed(&trace);
        let (events, tables) = read(&trace);
        let names: Vec<String> = missing(&events, &tables).into_iter().collect();
        assert_eq!(names, calls, "{how}");
        let races = if racy {
            BTreeSet::from([(24, 39)])
        } else {
            BTreeSet::new()
        };
        assert_eq!(predicted(&trace, "rdit"), races, "{how}");
        assert!(
            predicted(&trace, "mc").contains(&(20, 41)),
            "{how}: by what is recorded of it"
        );
    }
}
