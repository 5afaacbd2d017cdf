//! Which functions are outside: by the library that they are in, and by the user's rules.

use crate::channel;
use crate::code;
use crate::openmp;
use crate::rules::Action;
use crate::spin::Spin;
use deadheat_abi::callee::{self, Callee};
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicU64, Ordering};

/// Libraries whose functions are modelled, or order nothing: file names begin with one of these.
const KNOWN: &[&str] = &[
    "libc.so",
    "libm.so",
    "libmvec.so",
    "libpthread.so",
    "libdl.so",
    "librt.so",
    "libresolv.so",
    "libutil.so",
    "libanl.so",
    "ld-linux",
    "linux-vdso",
    "libgcc_s.so",
    "libstdc++.so",
    "libatomic.so",
    "libclang_rt",
    "libdeadheat_rt",
];

/// Libraries that keep what threads share in objects that they are given, or behind locks of libc, which are seen.
const ARGUMENTS: &[&str] = &[
    "libz.so",
    "libbz2.so",
    "liblzma.so",
    "liblz4.so",
    "libzstd.so",
    "libsqlite3.so",
    "libcrypto.so",
    "libssl.so",
    "libcurl",
    "libpng",
    "libjpeg",
    "libxml2.so",
    "libexpat.so",
    "libpcre",
];

/// What calls of a function work on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Works {
    /// What their arguments lead to.
    Arguments,
    /// That, and the library's own state.
    LibraryToo,
    /// What is loaded, which they change: constructors and destructors run in them.
    Loads,
    /// What is loaded, which they only look at.
    LooksUp,
}

impl Works {
    const ALL: [Works; 4] = [Works::Arguments, Works::LibraryToo, Works::Loads, Works::LooksUp];

    /// What the loader's own functions do.
    fn of_loader(name: &str) -> Option<Works> {
        match name {
            "dlopen" | "dlmopen" | "dlclose" => Some(Works::Loads),
            "dlsym" | "dlvsym" => Some(Works::LooksUp),
            _ => None,
        }
    }
}

/// Whether the functions of the library in this file are modelled, or order nothing.
fn is_known(file: &str) -> bool {
    KNOWN.iter().any(|name| file.starts_with(name)) || openmp::tells(file)
}

/// Whether a function is libc's own, or the runtime's in its place.
pub fn is_libc(function: usize) -> bool {
    let own = |file: &str| {
        ["libc.so", "libpthread.so", "librt.so", "libdeadheat_rt"]
            .iter()
            .any(|name| file.starts_with(name))
    };
    object_of(function, |loaded| own(&loaded.file)).unwrap_or(false)
}

/// How calls of a function are treated: [`Callee::state`] from [`callee::OUTSIDE`] on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Treated {
    /// What they work on.
    pub works: Works,
    /// Where the library begins.
    pub library: usize,
}

impl Treated {
    fn pack(self) -> u64 {
        callee::OUTSIDE + self.works as u64 + (self.library as u64 & !0xf)
    }

    /// `None` if nobody need be told of calls.
    pub fn unpack(state: u64) -> Option<Treated> {
        let works = (state & 0xf).checked_sub(callee::OUTSIDE)?;
        Some(Treated {
            works: *Works::ALL.get(works as usize)?,
            library: state as usize & !0xf,
        })
    }
}

/// A loaded object.
#[derive(Clone, Debug, Default)]
struct Loaded {
    start: usize,
    file: String,
    segments: Vec<Segment>,
}

/// A part of it.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Its first address.
    pub start: usize,
    /// Its last+1 address.
    pub end: usize,
    /// Whether it can be written.
    pub writable: bool,
}

#[derive(Default)]
struct All {
    /// How many had been loaded and unloaded when this was made.
    version: (u64, u64),
    loaded: Vec<Loaded>,
}

static ALL: Spin<All> = Spin::new(All {
    version: (0, 0),
    loaded: Vec::new(),
});

/// Takes the lock, before a `fork`.
pub fn hold() {
    ALL.hold();
    POINTERS.hold();
}

/// Gives it back, after it.
pub fn let_go() {
    POINTERS.let_go();
    ALL.let_go();
}

impl Loaded {
    /// The segment that an address is in.
    fn segment(&self, addr: usize) -> Option<Segment> {
        let within = |segment: &&Segment| (segment.start..segment.end).contains(&addr);
        self.segments.iter().find(within).copied()
    }
}

/// Runs `f` on the loaded object that an address is in, as far as they have been looked at.
fn object_seen<R>(addr: usize, f: impl Fn(&Loaded) -> R) -> Option<R> {
    let all = ALL.lock();
    let mut loaded = all.loaded.iter();
    loaded.find(|loaded| loaded.segment(addr).is_some()).map(f)
}

/// The same for all there are. Not with a lock held that a constructor of a library could wait for: the loader has its own.
fn object_of<R>(addr: usize, f: impl Fn(&Loaded) -> R) -> Option<R> {
    if let Some(found) = object_seen(addr, &f) {
        return Some(found);
    }
    let version = version();
    if ALL.lock().version != version {
        let mut now = All::default();
        // SAFETY: as above.
        unsafe { libc::dl_iterate_phdr(Some(each), (&raw mut now).cast()) };
        *ALL.lock() = now;
    }
    // Another thread may have found them in the meantime.
    object_seen(addr, f)
}

/// Objects may have gone.
pub fn forget() {
    *ALL.lock() = All::default();
    *POINTERS.lock() = None;
}

/// How many objects have been loaded and unloaded.
pub fn version() -> (u64, u64) {
    let mut version = (0, 0);
    // SAFETY: the callback gets the pointer back while `version` lives.
    unsafe { libc::dl_iterate_phdr(Some(version_of), (&raw mut version).cast()) };
    version
}

/// # Safety
/// Called by `dl_iterate_phdr` with a pair of numbers.
unsafe extern "C" fn version_of(info: *mut libc::dl_phdr_info, _: usize, version: *mut c_void) -> i32 {
    // SAFETY: the loader's structure, and our own pointer.
    unsafe { *version.cast() = ((*info).dlpi_adds, (*info).dlpi_subs) };
    1
}

/// The program headers of an object, and its name, which is empty for the program.
///
/// # Safety
/// What `dl_iterate_phdr` gives its callback, which has not returned while the parts are used.
pub unsafe fn parts<'a>(info: *const libc::dl_phdr_info) -> (&'a [libc::Elf64_Phdr], Cow<'a, str>) {
    // SAFETY: the loader's structures, as the caller says.
    unsafe {
        let headers = std::slice::from_raw_parts((*info).dlpi_phdr, (*info).dlpi_phnum.into());
        let name = match (*info).dlpi_name.is_null() {
            true => "".into(),
            false => CStr::from_ptr((*info).dlpi_name).to_string_lossy(),
        };
        (headers, name)
    }
}

/// # Safety
/// Called by `dl_iterate_phdr` with an [`All`].
unsafe extern "C" fn each(info: *mut libc::dl_phdr_info, _: usize, all: *mut c_void) -> i32 {
    // SAFETY: the loader's structures, and our own pointer.
    let (info, all, headers, name) = unsafe {
        let (headers, name) = parts(info);
        (&*info, &mut *all.cast::<All>(), headers, name)
    };
    all.version = (info.dlpi_adds, info.dlpi_subs);
    let at = |vaddr: u64| (info.dlpi_addr + vaddr) as usize;
    let loads = headers.iter().filter(|header| header.p_type == libc::PT_LOAD);
    let file = name.rsplit('/').next().unwrap_or_default().to_owned();
    let segments: Vec<_> = loads
        .map(|header| Segment {
            start: at(header.p_vaddr),
            end: at(header.p_vaddr + header.p_memsz),
            writable: header.p_flags & libc::PF_W != 0,
        })
        .collect();
    all.loaded.push(Loaded {
        start: segments.iter().map(|segment| segment.start).min().unwrap_or(0),
        file,
        segments,
    });
    0
}

/// The static data or code that an address is in, as far as libraries have been looked at.
pub fn segment(addr: usize) -> Option<Segment> {
    object_seen(addr, |loaded| loaded.segment(addr)).flatten()
}

/// The file name of the object that a function is in.
pub fn file_of(function: usize) -> String {
    object_of(function, |loaded| loaded.file.clone()).unwrap_or_default()
}

/// Where that begins.
pub fn start_of(function: usize) -> usize {
    object_of(function, |loaded| loaded.start).unwrap_or(0)
}

/// Looks at libraries anew if an address is in none that was looked at.
pub fn look(addr: usize) {
    object_of(addr, |_| ());
}

/// Where the library begins that the code at `function` is in, if that is neither instrumented nor known.
pub fn outside(function: usize) -> Option<usize> {
    if code::instrumented(function) {
        return None;
    }
    // Code that the program made while it ran is outside, too.
    let (start, known) =
        object_of(function, |loaded| (loaded.start, is_known(&loaded.file))).unwrap_or((0, false));
    (!known).then_some(start)
}

/// The same, if the library is not one of those that keep what threads share in objects that they are given.
pub fn with_state(function: usize) -> Option<usize> {
    outside(function).filter(|_| {
        let file = file_of(function);
        !ARGUMENTS.iter().any(|name| file.starts_with(name))
    })
}

/// Functions outside that were called through pointers, by their address; `None` if nobody need be told of their calls.
static POINTERS: Spin<Option<FxHashMap<usize, Option<&'static Outside>>>> = Spin::new(None);

/// A [`Callee`] that all threads may look at: it is made once and never changed but for its state.
struct Outside(Callee);

// SAFETY: the pointers in it never change.
unsafe impl Sync for Outside {}

/// The function at an address, if calls of it are to be told.
pub fn at(function: *const c_void) -> Option<&'static Callee> {
    if code::instrumented(function.addr()) {
        return None;
    }
    let known = POINTERS
        .lock()
        .get_or_insert_default()
        .get(&function.addr())
        .copied();
    known
        .unwrap_or_else(|| look_up(function))
        .map(|outside| &outside.0)
}

/// Looks at a function that is called through a pointer for the first time.
#[cold]
fn look_up(function: *const c_void) -> Option<&'static Outside> {
    // SAFETY: filled in by the loader where it knows the address.
    let name = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        match libc::dladdr(function, &mut info) != 0 && info.dli_saddr.cast_const() == function {
            true => info.dli_sname,
            false => c"".as_ptr(),
        }
    };
    let callee = Callee {
        state: AtomicU64::new(callee::UNKNOWN),
        name,
        function,
    };
    let outside = match classify(&callee) {
        callee::INSIDE => None,
        _ => Some(&*Box::leak(Box::new(Outside(callee)))),
    };
    let mut pointers = POINTERS.lock();
    *pointers
        .get_or_insert_default()
        .entry(function.addr())
        .or_insert(outside)
}

/// Looks at a function that is called for the first time, and remembers how its calls are treated.
#[cold]
pub fn classify(callee: &Callee) -> u64 {
    let state = treatment(callee).map_or(callee::INSIDE, Treated::pack);
    callee.state.store(state, Ordering::Relaxed);
    state
}

fn treatment(callee: &Callee) -> Option<Treated> {
    // SAFETY: as instrumented code has it, with a zero at its end.
    let name = unsafe { CStr::from_ptr(callee.name) };
    let text = name.to_string_lossy();
    let mut function = callee.function.addr();
    let start_of = |addr: usize| object_of(addr, |loaded| loaded.start);
    let mut linked_in = None;
    if code::instrumented(function) {
        // Without position-independent code the address of a function in a library may be one in the program.
        let real = global(name);
        if real != 0 && !code::instrumented(real) {
            function = real;
        } else if text.starts_with("_Z") || start_of(function) != start_of(std::ptr::from_ref(callee).addr())
        {
            // An inline function of C++ that other modules define, or one of another library that is instrumented.
            return None;
        } else {
            // Linked into the module that calls it, from an object that nobody has instrumented.
            linked_in = Some(start_of(function)?);
        }
    }
    let Some(library) = linked_in.or_else(|| outside(function)) else {
        // The loader is known, but code of libraries runs in it, and who loads them after that relies on what it did.
        return Works::of_loader(&text).map(|works| Treated {
            works,
            library: start_of(function).unwrap_or(0),
        });
    };
    let file = object_of(function, |loaded| loaded.file.clone()).unwrap_or_default();
    let options = channel::options();
    let by_arguments = || ARGUMENTS.iter().any(|name| file.starts_with(name));
    let action = match options.rules.action(&text, &file) {
        Some(action) => action,
        None if options.external == Action::Order && by_arguments() => Action::Objects,
        None => options.external,
    };
    let works = match action {
        Action::Ignore => return None,
        Action::Order => Works::LibraryToo,
        Action::Objects => Works::Arguments,
    };
    Some(Treated { works, library })
}

/// The function of a name as the process has it.
fn global(name: &CStr) -> usize {
    // SAFETY: as libc declares it.
    unsafe extern "C" {
        fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    }
    let name = CString::from(name);
    // SAFETY: a name with a zero at its end; the default search.
    unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) }.addr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_function_is_treated_fits_into_its_state() {
        for works in Works::ALL {
            let treated = Treated {
                works,
                library: 0x7fff_1234_5000,
            };
            assert_eq!(Treated::unpack(treated.pack()), Some(treated));
        }
        assert_eq!(Treated::unpack(callee::INSIDE), None);
    }

    #[test]
    fn libc_is_known_and_static_data_is_found() {
        assert_eq!(outside(libc::getpid as *const () as usize), None);
        assert!(outside(treatment as *const () as usize).is_some());
        assert!(segment((&raw const ALL).addr()).is_some_and(|data| data.writable));
        assert!(segment("text".as_ptr().addr()).is_some_and(|data| !data.writable));
        assert!(segment((&raw const *Box::new(1)).addr()).is_none());
    }
}
