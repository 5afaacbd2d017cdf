//! Static variables and where they are, from the symbol tables of the files that are loaded.
//!
//! A pointer to a variable leads to that variable. Where there are no symbols it leads to all of the module's data.

use super::library;
use crate::init;
use crate::spin::Spin;
use std::ffi::c_void;
use std::fs::File;
use std::os::unix::fs::FileExt;

/// A loaded object.
#[derive(Default)]
struct Object {
    path: String,
    base: usize,
    /// What of it can be written.
    data: Vec<(usize, usize)>,
    /// What of that is only written while it is loaded.
    constant: (usize, usize),
    /// Its variables by address, read when one is first asked for.
    variables: Option<Vec<Variable>>,
    names: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Variable {
    start: usize,
    len: usize,
    /// Where its name begins.
    name: usize,
}

static OBJECTS: Spin<Vec<Object>> = Spin::new(Vec::new());
/// How many had been loaded and unloaded when they were looked at.
static LOOKED: Spin<(u64, u64)> = Spin::new((0, 0));

/// Takes the lock, before a `fork`.
pub fn hold() {
    LOOKED.hold();
    OBJECTS.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    OBJECTS.let_go();
    LOOKED.let_go();
}

/// Looks at what is loaded, if that is not what it was. Not with a lock held that a constructor of a library could wait for: the loader has its own.
pub fn look() {
    look_for(&LOOKED, &OBJECTS);
}

fn look_for(looked: &Spin<(u64, u64)>, objects: &Spin<Vec<Object>>) {
    let version = library::version();
    if *looked.lock() == version {
        return;
    }
    let mut now: Vec<Object> = Vec::new();
    // SAFETY: the callback gets the pointer back while `now` lives.
    unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut now).cast()) };
    *objects.lock() = now;
    // Not sooner: another thread that comes now would find nothing, and take variables for memory of which nobody knows what it is.
    *looked.lock() = version;
}

/// # Safety
/// Called by `dl_iterate_phdr` with a vector of objects.
unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _: usize, all: *mut c_void) -> i32 {
    // SAFETY: the loader's structures, and our own pointer.
    let (info, all, headers, name) = unsafe {
        let (headers, name) = library::parts(info);
        (&*info, &mut *all.cast::<Vec<Object>>(), headers, name)
    };
    // Nothing of ours is the program's.
    if name
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .starts_with("libdeadheat_rt")
    {
        return 0;
    }
    let at = |vaddr: u64| (info.dlpi_addr + vaddr) as usize;
    let writable =
        |header: &&libc::Elf64_Phdr| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0;
    let data = headers.iter().filter(writable);
    let constant = headers.iter().find(|header| header.p_type == libc::PT_GNU_RELRO);
    all.push(Object {
        path: match &*name {
            "" => init::program().to_owned(),
            name => name.to_owned(),
        },
        base: info.dlpi_addr as usize,
        data: data
            .map(|header| (at(header.p_vaddr), at(header.p_vaddr + header.p_memsz)))
            .collect(),
        constant: constant.map_or((0, 0), |header| {
            (at(header.p_vaddr), at(header.p_vaddr + header.p_memsz))
        }),
        ..Object::default()
    });
    0
}

/// The variable that an address is in, or the data of its module: first byte and length. `None` if it is in no static data.
pub fn at(addr: usize) -> Option<(usize, usize)> {
    let mut objects = OBJECTS.lock();
    let within = |data: &&(usize, usize)| (data.0..data.1).contains(&addr);
    for object in objects.iter_mut() {
        if let Some(&(start, end)) = object.data.iter().find(within) {
            let variables = object.variables();
            let next = variables.partition_point(|variable| variable.start <= addr);
            // One variable may have several names.
            let found = variables[..next]
                .iter()
                .rev()
                .take(4)
                .find(|variable| addr < variable.start + variable.len);
            return Some(match found {
                Some(variable) => (variable.start, variable.len),
                None => {
                    let (start, end) = object.unnamed(addr).unwrap_or((start, end));
                    (start, end - start)
                }
            });
        }
    }
    None
}

/// All data of the object that an address is in.
pub fn all_beside(addr: usize) -> Vec<(usize, usize)> {
    let objects = OBJECTS.lock();
    let nearest = objects
        .iter()
        .filter(|object| object.base <= addr)
        .max_by_key(|object| object.base);
    let data = nearest.map(|object| object.data.clone()).unwrap_or_default();
    data.into_iter()
        .map(|(start, end)| (start, end - start))
        .collect()
}

/// The variables whose name `fits`, in all objects.
pub fn named(fits: impl Fn(&str) -> bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for object in OBJECTS.lock().iter_mut() {
        object.variables();
        for variable in object.variables.iter().flatten() {
            let name = object.names.get(variable.name..).unwrap_or_default();
            let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
            if std::str::from_utf8(&name[..end]).is_ok_and(&fits) {
                found.push((variable.start, variable.len));
            }
        }
    }
    found
}

impl Object {
    /// What lies around an address between the variables of the part that does not change: tables of the loader's and constants of
    /// the compiler's, which have no names. (Pointers to them are on the stack of every program's first thread.)
    fn unnamed(&mut self, addr: usize) -> Option<(usize, usize)> {
        let (start, end) = self.constant;
        let variables = self.variables();
        if !(start..end).contains(&addr) || variables.is_empty() {
            return None;
        }
        let next = variables.partition_point(|variable| variable.start <= addr);
        let after = variables.get(next).map_or(end, |variable| variable.start);
        let before = variables[..next].iter().rev().take(4);
        let before = before.map(|variable| variable.start + variable.len).max();
        Some((before.unwrap_or(0).clamp(start, addr), after.min(end)))
    }

    fn variables(&mut self) -> &[Variable] {
        if self.variables.is_none() {
            let (variables, names) = read(&self.path, self.base).unwrap_or_default();
            (self.variables, self.names) = (Some(variables), names);
        }
        self.variables.as_deref().unwrap_or_default()
    }
}

/// Variables of a file, sorted, and the text of their names.
fn read(path: &str, base: usize) -> Option<(Vec<Variable>, Vec<u8>)> {
    /// More is not believed.
    const LARGE: u64 = 1 << 30;
    let file = File::open(path).ok()?;
    let bytes = |offset: u64, len: u64| {
        let mut bytes = vec![0; usize::try_from(len).ok().filter(|_| len < LARGE)?];
        file.read_exact_at(&mut bytes, offset).ok()?;
        Some(bytes)
    };
    let half = |from: &[u8], at: usize| Some(u16::from_le_bytes(from.get(at..at + 2)?.try_into().ok()?));
    let word = |from: &[u8], at: usize| Some(u32::from_le_bytes(from.get(at..at + 4)?.try_into().ok()?));
    let long = |from: &[u8], at: usize| Some(u64::from_le_bytes(from.get(at..at + 8)?.try_into().ok()?));
    let header = bytes(0, 64)?;
    if header.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let (offset, size, count) = (
        long(&header, 40)?,
        u64::from(half(&header, 58)?),
        u64::from(half(&header, 60)?),
    );
    let sections = bytes(offset, size * count)?;
    let section = |number: usize| sections.get(number * size as usize..(number + 1) * size as usize);
    const SYMTAB: u32 = 2;
    const DYNSYM: u32 = 11;
    let of_kind = |kind: u32| {
        (0..count as usize).find(|number| section(*number).and_then(|at| word(at, 4)) == Some(kind))
    };
    let table = section(of_kind(SYMTAB).or_else(|| of_kind(DYNSYM))?)?;
    let strings = section(word(table, 40)? as usize)?;
    let names = bytes(long(strings, 24)?, long(strings, 32)?)?;
    let mut variables = Vec::new();
    for symbol in bytes(long(table, 24)?, long(table, 32)?)?.chunks_exact(24) {
        const OBJECT: u8 = 1;
        let (kind, place) = (symbol[4] & 0xf, half(symbol, 6)?);
        let (start, len) = (long(symbol, 8)? as usize, long(symbol, 16)? as usize);
        if kind == OBJECT && place != 0 && len > 0 {
            variables.push(Variable {
                start: base.wrapping_add(start),
                len,
                name: word(symbol, 0)? as usize,
            });
        }
    }
    variables.sort_unstable_by_key(|variable| variable.start);
    Some((variables, names))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    #[test]
    fn who_looks_while_another_thread_does_finds_variables_too() {
        for _ in 0..300 {
            let (looked, objects) = (Spin::new((0, 0)), Spin::new(Vec::new()));
            let barrier = Barrier::new(3);
            let look = || {
                barrier.wait();
                look_for(&looked, &objects);
                !objects.lock().is_empty()
            };
            std::thread::scope(|scope| {
                let all = [(); 3].map(|()| scope.spawn(look));
                assert!(all.into_iter().all(|found| found.join().unwrap()));
            });
        }
    }

    #[test]
    fn what_has_no_name_and_does_not_change_is_not_all_data() {
        let mut object = Object {
            constant: (100, 200),
            variables: Some(vec![
                Variable {
                    start: 120,
                    len: 20,
                    name: 0,
                },
                Variable {
                    start: 180,
                    len: 100,
                    name: 0,
                },
            ]),
            ..Object::default()
        };
        assert_eq!(object.unnamed(110), Some((100, 120)));
        assert_eq!(object.unnamed(150), Some((140, 180)));
        assert_eq!(object.unnamed(300), None);
        object.variables = Some(Vec::new());
        assert_eq!(object.unnamed(150), None, "no symbols");
    }

    #[test]
    fn a_variable_is_found_with_its_extent_and_by_its_name() {
        static mut SOMETHING_LARGE: [u64; 100] = [1; 100];
        let start = (&raw mut SOMETHING_LARGE).addr();
        look();
        assert_eq!(at(start + 16), Some((start, 800)));
        assert!(named(|name| name.contains("SOMETHING_LARGE")).contains(&(start, 800)));
        assert_eq!(at((&raw const *Box::new(1)).addr()), None);
        assert!(
            all_beside(start)
                .iter()
                .any(|(from, len)| (*from..from + len).contains(&start))
        );
    }
}
