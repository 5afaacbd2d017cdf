//! Files of any format: recognised by content or name, converted from one to the other.

use deadheat_trace::{Error, Format, copy, create, open, read_all, recognise, text};
use std::path::Path;

const TRACE: &str = "T0|fork(T1)|1\nT1|acq(L)|2\nT1|w(x)|3\nT1|rel(L)|4\nT0|join(T1)|5\n";

#[test]
fn a_trace_goes_through_all_formats() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a.std"), TRACE).unwrap();
    for (from, to) in [
        ("a.std", "b.dht"),
        ("b.dht", "c.txt"),
        ("c.txt", "d.dht"),
        ("d.dht", "e.std"),
    ] {
        let mut source = open(&path(from)).unwrap();
        let mut sink = create(&path(to)).unwrap();
        assert_eq!(copy(&mut *source, &mut *sink).unwrap(), 5, "{from} to {to}");
    }
    assert_eq!(std::fs::read_to_string(path("e.std")).unwrap(), TRACE);
    let (a, b) = (open(&path("b.dht")), open(&path("c.txt")));
    let (b, tables_b) = read_all(&mut *b.unwrap()).unwrap();
    let (a, tables_a) = read_all(&mut *a.unwrap()).unwrap();
    assert_eq!(text::print(&a, &tables_a), text::print(&b, &tables_b));
}

#[test]
fn content_counts_more_than_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("misnamed.txt");
    std::fs::write(&path, TRACE).unwrap();
    assert_eq!(read_all(&mut *open(&path).unwrap()).unwrap().0.len(), 5);
    assert_eq!(recognise(TRACE.as_bytes()), Some(Format::Std));
    assert_eq!(recognise(b"\x89DHT\r\n\x1a\n\x01\0\0\0"), Some(Format::Dht));
    assert_eq!(recognise(b"T1 w x"), None);
}

#[test]
fn errors_name_the_file() {
    let check = |path: &str, expect: &str| {
        let error = open(Path::new(path)).err().unwrap().to_string();
        assert!(error.starts_with(expect), "{error}");
    };
    check("/nowhere/at/all.dht", "/nowhere/at/all.dht: ");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("what.bin");
    std::fs::write(&path, "hello").unwrap();
    assert!(matches!(open(&path), Err(Error::UnknownFormat { .. })));
    let error = create(&folder.path().join("x.rr")).err().unwrap().to_string();
    assert!(error.contains("can only be read"), "{error}");
}
