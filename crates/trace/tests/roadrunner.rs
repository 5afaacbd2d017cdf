//! Import of what RoadRunner prints.

use deadheat_trace::{read_all, roadrunner, text};

fn import(text: &str) -> Result<String, String> {
    match read_all(&mut roadrunner::read(text.as_bytes(), None)) {
        Ok((events, tables)) => {
            // Declarations only fix numbers.
            let printed = text::print(&events, &tables);
            let lines = printed.lines().filter(|line| !line.contains(" = "));
            Ok(lines.map(|line| format!("{line}\n")).collect())
        }
        Err(error) => Err(error.to_string()),
    }
}

fn check(printed: &str, expect: &str) {
    assert_eq!(import(printed).as_deref(), Ok(expect), "{printed}");
}

fn check_error(printed: &str, expect: &str) {
    assert_eq!(
        import(printed),
        Err(format!("{expect} (RoadRunner trace)")),
        "{printed}"
    );
}

#[test]
fn accesses_have_their_places_and_values() {
    check(
        "@ ARd(1,@04[3])  S  D.java:52:1\n",
        "T1 r \"@04\"[3] @D.java:52:1\n",
    );
    check(
        "@   AWr(1,@04[3])[1 -> 2]  S  D.java:52:1\n",
        "T1 w \"@04\"[3] @D.java:52:1\n",
    );
    check(
        "@ Rd(0,@05.Test.x_I)  S  Test.java:9:3\n",
        "T0 r \"@05.Test.x_I\" @Test.java:9:3\n",
    );
    check(
        "@ Wr(0,null.Test.y_I)[0 -> 7]  S  Test.java:10:1\n",
        "T0 w null.Test.y_I =7 @Test.java:10:1\n",
    );
    check(
        "@ VRd(2,@05.flag_Z)  V\n@ VWr(2,@05.flag_Z)  V\n",
        "T2 load \"@05.flag_Z\" vol\nT2 store \"@05.flag_Z\" vol\n",
    );
}

#[test]
fn locks_and_barriers() {
    check(
        "@ Acquire(0,@02)\n@ Release(0,@02)\n",
        "T0 acq \"@02\"\nT0 rel \"@02\"\n",
    );
    check(
        "@ Barrier(3,@01,Enter)\n@ Barrier(3,@01,Exit)\n",
        "T3 enter \"barrier:@01\"\nT3 leave \"barrier:@01\"\n",
    );
}

#[test]
fn a_start_counts_before_and_a_join_after() {
    check(
        "@ Start(0,1)\n@ Rd(1,@1.x)  S  A.java:1:1\n@ Start(0,1)\n@ Join(0,1)\n@ Wr(1,@1.x)  S  A.java:2:1\n@ Join(0,1)\n",
        "T0 fork T1\nT1 r \"@1.x\" @A.java:1:1\nT1 w \"@1.x\" @A.java:2:1\nT0 join T1\n",
    );
}

#[test]
fn events_that_are_printed_once_count_too() {
    check(
        "@ Start(0,1)\n@ Join(0,1)\n@ Wr(1,@1.x)  S  A.java:2:1\n@ Rd(0,@1.x)  S  A.java:3:1\n@ Join(0,2)\n",
        "T0 fork T1\nT1 w \"@1.x\" @A.java:2:1\nT0 join T1\nT0 r \"@1.x\" @A.java:3:1\nT0 join T2\n",
    );
}

#[test]
fn a_join_of_a_thread_that_lost_its_number_is_the_one_waited_for() {
    check("@ Join(0,1)\n@ Join(0,-1)\n", "T0 join T1\n");
    check_error(
        "@ Join(0,-1)\n",
        "line 1: the joined thread has no number any more, so nothing can be ordered after it",
    );
}

#[test]
fn a_wait_gives_back_all_levels_of_its_lock() {
    check(
        "@ Acquire(1,@2)\n@ Acquire(1,@2)\n@ Wait(1,@2)\n@ Acquire(2,@2)\n@ Notify(2,@2,true)\n@ Release(2,@2)\n\
         @ Wait(1,@2)\n@ Release(1,@2)\n@ Release(1,@2)\n",
        "T1 acq \"@2\"\nT1 acq \"@2\"\nT1 rel \"@2\"\nT1 rel \"@2\"\nT2 acq \"@2\"\nT2 rel \"@2\"\nT1 acq \"@2\"\nT1 acq \"@2\"\n\
         T1 rel \"@2\"\nT1 rel \"@2\"\n",
    );
}

#[test]
fn classes_and_interrupts_are_messages() {
    check(
        "@ ClassInited(0,Foo)\n@ ClassAccssed(1,Foo)\n",
        "T0 send \"class:Foo\"\nT1 recv \"class:Foo\"\n",
    );
    check(
        "@ Interrupt(0,1)\n@ Interrupted(1)\n",
        "T0 send \"interrupt:1\"\nT1 recv \"interrupt:1\"\n",
    );
}

#[test]
fn other_output_is_skipped() {
    check(
        "## RoadRunner\nhello (1,2)\n@ Enter(0,Test.main([Ljava/lang/String;)V) from null\n@ test acquire @02\n\
         @ T1 started by T0.\n@ pre  sleep\n@ Sleep(0)\n@  stopped T1\n@ Exit(0,Test.main)\n",
        "",
    );
}

#[test]
fn malformed_events_are_errors_with_their_line() {
    check_error(
        "x\n@ Rd(1)\n",
        "line 2: expected a field or array element in `Rd`",
    );
    check_error(
        "@ ARd(1,@04[-3])  S  D.java:52:1\n",
        "line 1: expected an array and an index, but found `@04[-3]`",
    );
    check_error(
        "@ Acquire(1,@04\n",
        "line 1: the bracket behind `Acquire` is not closed",
    );
    check_error(
        "@ Frobnicate(1,@04)\n",
        "line 1: RoadRunner has no event `Frobnicate`",
    );
    check_error(
        "@ Start(1,x)\n",
        "line 1: expected the number of a thread, but found `x`",
    );
    check_error(
        "@ Acquire(99999999999,@1)\n",
        "line 1: thread 99999999999 is out of range",
    );
    check_error("@ Acquire(1)\n", "line 1: the lock is missing");
    check_error(
        "@ Barrier(1,@1,Sideways)\n",
        "line 1: expected `Enter` or `Exit`, but found `Sideways`",
    );
}
