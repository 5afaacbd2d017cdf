//! Addresses to names and lines, against what `nm` and the sources say.

use super::program::{Program, clang};
use super::session::{Session, options};
use deadheat_report::native::Reporter;
use deadheat_report::{Frame, Role, What};

/// Function and line, the file left out.
fn shown(frames: &[Frame]) -> Vec<(String, Option<u32>, bool)> {
    let name = |frame: &Frame| frame.function.clone().unwrap_or_else(|| "?".to_owned());
    frames
        .iter()
        .map(|frame| (name(frame), frame.line, frame.inlined))
        .collect()
}

fn session(program: &Program) -> Session {
    let mut session = Session::new(program);
    let stack = [program.mark("add"), program.mark("worker")];
    session.race(
        program.address("counter"),
        [(1, "write plain", &stack), (2, "read plain", &stack)],
        "global",
    );
    session
}

#[track_caller]
fn check_demo(program: &Program, what: &str) {
    let finding = session(program).finding(program);
    let line = |name| Some(program.line(name));
    let frames = &finding.accesses[0].frames;
    assert_eq!(
        shown(frames),
        [
            ("add".to_owned(), line("add"), true),
            ("work".to_owned(), line("call"), false),
            ("worker".to_owned(), line("worker"), false),
        ],
        "{what}"
    );
    assert!(
        frames.iter().all(|frame| frame.file.as_deref() == Some("demo.c")),
        "{what}: {frames:?}"
    );
    assert_eq!(frames[0].module.as_deref(), Some("program"), "{what}");
}

#[test]
fn lines_and_inlined_calls_come_from_every_kind_of_dwarf() {
    for flags in [
        "-gdwarf-4 -O1",
        "-gdwarf-5 -O1",
        "-gdwarf-5 -O0",
        "-gdwarf-5 -O1 -no-pie",
        "-gdwarf-4 -O1 -gz=zlib",
        "-gdwarf-5 -O1 -gz=zlib",
        "-gdwarf-4 -O1 -gsplit-dwarf",
        "-gdwarf-5 -O1 -gsplit-dwarf",
    ] {
        let program = Program::new("cc", "demo.c", flags);
        check_demo(&program, flags);
    }
}

#[test]
fn clang_s_dwarf_is_read_too() {
    let Some(clang) = clang() else {
        eprintln!("skipped: there is no clang");
        return;
    };
    for flags in [
        "-gdwarf-4 -O1",
        "-gdwarf-5 -O1",
        "-gdwarf-5 -O1 -gz=zlib",
        "-g -O2 -gsplit-dwarf",
    ] {
        check_demo(&Program::new(&clang, "demo.c", flags), flags);
    }
}

#[test]
fn sections_compressed_with_zstd_are_read() {
    let program = Program::new("cc", "demo.c", "-g -O1");
    program.run("objcopy --compress-debug-sections=zstd program packed");
    std::fs::rename(program.directory.path().join("packed"), &program.path).unwrap();
    check_demo(&program, "zstd");
}

/// Moves the debug information out of the program.
fn separate(program: &Program, file: &str) {
    program.run(&format!("objcopy --only-keep-debug program {file}"));
    program.run("strip program");
}

#[test]
fn a_separate_file_is_found_by_its_link() {
    for build_id in ["sha1", "none"] {
        let flags = format!("-g -O1 -Wl,--build-id={build_id}");
        let program = Program::new("cc", "demo.c", &flags);
        separate(&program, "program.debug");
        program.run("objcopy --add-gnu-debuglink=program.debug program");
        check_demo(&program, &flags);
        program.run("mkdir .debug");
        program.run("mv program.debug .debug/program.debug");
        check_demo(&program, &flags);
        // One of another build is not taken.
        let other = Program::new("cc", "demo.c", &format!("{flags} -O0"));
        let debug = program.directory.path().join(".debug/program.debug");
        separate(&other, "program.debug");
        std::fs::copy(other.directory.path().join("program.debug"), debug).unwrap();
        let finding = session(&program).finding(&program);
        assert!(
            finding.accesses[0]
                .frames
                .iter()
                .all(|frame| frame.line.is_none())
        );
    }
}

#[test]
fn a_separate_file_is_found_by_its_build_id() {
    let program = Program::new("cc", "demo.c", "-g -O1 -Wl,--build-id=sha1");
    let id = program.build_id.clone().unwrap();
    let directory = format!("debug/.build-id/{}", &id[..2]);
    program.run(&format!("mkdir -p {directory}"));
    separate(&program, &format!("{directory}/{}.debug", &id[2..]));
    check_demo(&program, "build id");
}

#[test]
fn a_stripped_program_has_functions_and_offsets_or_at_least_modules() {
    let program = Program::new("cc", "demo.c", "-O1 -rdynamic");
    program.run("strip program");
    let finding = session(&program).finding(&program);
    let [inner, outer] = finding.accesses[0].frames.as_slice() else {
        panic!("{:?}", finding.accesses[0].frames);
    };
    // `work` is in the dynamic table, `worker` is static and nowhere.
    assert_eq!(inner.function.as_deref(), Some("work"));
    let offset = program.mark("add") - 1 - program.address("work");
    assert_eq!(inner.function_offset, Some(offset));
    assert_eq!(outer.function, None);
    let at = program.mark("worker") - 1 - super::program::BASE;
    assert_eq!(outer.offset, Some(format!("{at:#x}")));
    assert_eq!(outer.module.as_deref(), Some("program"));
    assert_eq!(finding.location.name.as_deref(), Some("counter"));
}

#[test]
fn a_symbol_table_alone_gives_functions() {
    let program = Program::new("cc", "demo.c", "-O1");
    let finding = session(&program).finding(&program);
    let names: Vec<_> = { finding.accesses[0].frames.iter() }
        .map(|frame| frame.function.as_deref())
        .collect();
    assert_eq!(names, [Some("work"), Some("worker")]);
}

#[test]
fn globals_are_named_also_where_they_are_zero_filled() {
    let program = Program::new("cc", "demo.c", "-g -O1");
    for (address, name, size) in [
        (program.address("counter"), "counter", 4),
        (program.address("table"), "table", 128),
        (program.address("table") + 16, "table+16", 128),
        (program.address("item"), "item", 8),
    ] {
        let mut session = Session::new(&program);
        session.race(
            address,
            [(1, "write plain", &[]), (2, "free plain", &[])],
            "global",
        );
        let location = session.finding(&program).location;
        assert_eq!(location.what, What::Global);
        let declared = location.declared_at.unwrap();
        let line = program.line(name.split('+').next().unwrap());
        assert_eq!(
            (declared.file.as_deref(), declared.line),
            (Some("demo.c"), Some(line))
        );
        assert_eq!(location.name.as_deref(), Some(name));
        assert_eq!(location.block.map(|block| block.size), Some(size));
    }
}

#[test]
fn names_of_cpp_are_readable() {
    for compiler in [
        Some("c++".to_owned()),
        clang().map(|name| name.replace("clang", "clang++")),
    ] {
        let Some(compiler) = compiler.filter(|name| super::program::exists(name)) else {
            continue;
        };
        let program = Program::new(&compiler, "queue.cc", "-g -O1");
        let mut session = Session::new(&program);
        let stack = [program.mark("push"), program.mark("fill")];
        let address = program.containing("orders") + 8;
        session.race(
            address,
            [(1, "write plain", &stack), (2, "write plain", &stack)],
            "global",
        );
        let finding = session.finding(&program);
        assert_eq!(
            shown(&finding.accesses[0].frames),
            [
                (
                    "shop::Queue<int>::push(int)".to_owned(),
                    Some(program.line("push")),
                    false
                ),
                (
                    "fill(shop::Queue<int>&, int)".to_owned(),
                    Some(program.line("fill")),
                    false
                ),
            ],
            "{compiler}"
        );
        assert_eq!(finding.location.name.as_deref(), Some("shop::orders+8"));
        let declared = finding.location.declared_at.unwrap();
        assert_eq!(declared.line, Some(program.line("orders")));
    }
}

#[test]
fn names_of_rust_are_readable() {
    for flags in ["-g", "-g -O", "-g -C symbol-mangling-version=v0"] {
        let program = Program::new("rustc", "bank.rs", flags);
        let mut session = Session::new(&program);
        let stack = [program.mark("deposit"), program.mark("main")];
        let address = program.containing("TOTAL");
        session.race(
            address,
            [(1, "write plain", &stack), (2, "write plain", &stack)],
            "global",
        );
        let finding = session.finding(&program);
        let mut frames = shown(&finding.accesses[0].frames);
        // The newer mangling tells a type from a module.
        frames[0].0.retain(|c| !"<>".contains(c));
        assert_eq!(
            frames,
            [
                (
                    "bank::vault::Account::deposit".to_owned(),
                    Some(program.line("deposit")),
                    true
                ),
                ("bank::run".to_owned(), Some(program.line("run")), false),
                ("bank::main".to_owned(), Some(program.line("main")), false),
            ],
            "{flags}"
        );
        // The optimiser takes variables apart and numbers the parts.
        let name = finding.location.name.unwrap();
        assert!(
            name == "bank::TOTAL" || name == "bank::TOTAL.0",
            "{flags}: {name}"
        );
        let declared = finding.location.declared_at.unwrap();
        assert_eq!(declared.line, Some(program.line("total")), "{flags}");
        assert!(
            finding.accesses[0]
                .frames
                .iter()
                .all(|frame| frame.role == Role::User)
        );
    }
}

#[test]
fn a_file_that_is_gone_or_has_changed_is_not_used() {
    let program = Program::new("cc", "demo.c", "-g -O1 -Wl,--build-id=sha1");
    let path = program.path.display().to_string();
    for (modules, why) in [
        (program.modules_as("/no/such/program", None), "cannot be read"),
        (program.modules_as(&path, Some("00112233")), "has changed"),
        (
            program.modules_as(&format!("{path} (deleted)"), None),
            "has changed",
        ),
        (program.modules_as("/dev/zero", None), "cannot be read"),
        (program.modules_as("[vdso]", None), "cannot be read"),
    ] {
        let mut session = Session::with_modules(&modules);
        let stack = [program.mark("add")];
        session.race(
            1,
            [(1, "write plain", &stack), (2, "write plain", &stack)],
            "unknown",
        );
        let (report, _) = session.play(Reporter::new(options(&program)));
        let frame = &report.races[0].accesses[0].frames[0];
        assert_eq!((&frame.function, &frame.line), (&None, &None));
        assert!(frame.module.is_some() && frame.offset.is_some());
        assert!(
            report.summary.notes.iter().any(|note| note.contains(why)),
            "{:?}",
            report.summary.notes
        );
    }
    // The same file under the kernel's name for a removed one is known by its build id.
    let modules = program.modules_as(&format!("{path} (deleted)"), program.build_id.as_deref());
    let mut session = Session::with_modules(&modules);
    let stack = [program.mark("worker")];
    session.race(
        1,
        [(1, "write plain", &stack), (2, "write plain", &stack)],
        "unknown",
    );
    let finding = session.finding(&program);
    assert_eq!(finding.accesses[0].frames[0].line, Some(program.line("worker")));
}

#[test]
fn an_address_in_no_module_is_shown_as_it_is() {
    let program = Program::new("cc", "demo.c", "");
    let mut session = Session::new(&program);
    session.race(
        1,
        [(1, "write plain", &[0x100]), (2, "read plain", &[0])],
        "unknown",
    );
    let finding = session.finding(&program);
    let frame = &finding.accesses[1].frames[0];
    assert_eq!((frame.offset.as_deref(), &frame.module), (Some("0xff"), &None));
}

#[test]
fn a_damaged_program_does_no_harm() {
    let program = Program::new("cc", "demo.c", "-g -O1 -Wl,--build-id=none");
    let bytes = std::fs::read(&program.path).unwrap();
    for step in 0..400_usize {
        let mut damaged = bytes.clone();
        let mut at = step.wrapping_mul(2_654_435_761) % bytes.len();
        for turn in 0..20 {
            damaged[at] ^= 1 << (turn % 8);
            at = (at + step * 37 + 64) % bytes.len();
        }
        if step % 5 == 0 {
            damaged.truncate(bytes.len() * (step + 1) / 401);
        }
        std::fs::write(&program.path, damaged).unwrap();
        // No panic, and something for each address.
        assert!(!session(&program).finding(&program).accesses[0].frames.is_empty());
    }
}
