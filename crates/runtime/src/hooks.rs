//! What instrumented code calls: names in `abi::hooks`.
//!
//! The checks of plain accesses preserve all general registers but r11 (`preserve_most`): a stub saves those that the C
//! convention lets a function change, and hands on the return address, which says where in the program the access is.

use crate::checks::{self, Does};
use crate::outside::links::{self, Stored};
use crate::stretches::{self, State};
use crate::sweeps::Sweep;
use crate::thread::{self, Inside, Thread};
use crate::{cell, counts, intercept, loads, memory, outside, record, shadow, side, steer, sync};
use deadheat_abi::atomics::{Ordering, What};
use deadheat_abi::callee::Callee;
use deadheat_abi::footprint::{Footprint, Tile};
use deadheat_abi::hooks as names;
use deadheat_abi::spill::Kind;
use std::arch::naked_asm;
use std::ffi::c_void;
use std::mem::offset_of;

/// Runs `f` with the thread's record if its accesses are to be checked, `recorded` if they are to be recorded. `pieces` are
/// how many, how far apart, and of how many bytes.
#[inline(always)]
fn checked<const WRITE: bool>(
    addr: usize,
    pieces: (usize, usize, usize),
    f: impl FnOnce(&mut Thread),
    recorded: impl FnOnce(&mut Thread),
) {
    if let Some(inside) = Inside::enter() {
        inside.run(|t| {
            if counts::on() {
                counts::check(t, WRITE, addr, pieces);
            }
            if t.checks() {
                f(t);
            } else if t.log.on {
                recorded(t);
            }
        });
    }
}

fn record_range<const WRITE: bool>(t: &mut Thread, addr: usize, len: usize, pc: usize) {
    let kind = if WRITE { Kind::RangeWrite } else { Kind::RangeRead };
    record::range(t, kind, addr, len, pc);
}

extern "C" fn access<const WRITE: bool, const SIZE: usize>(addr: usize, context: u64, pc: usize) {
    if WRITE || SIZE > 8 || !reads_kept(addr, bytes_of(addr, SIZE), context, pc) {
        access_any::<WRITE, SIZE>(addr, context, pc);
    }
}

/// An access within a granule, as a mask.
#[inline(always)]
fn bytes_of(addr: usize, size: usize) -> u8 {
    (((1u16 << size) - 1) as u8) << (addr % 8)
}

/// A read that the thread keeps to itself, if it is one ([`checks::read_kept`]): apart from the rest, which needs more registers.
#[inline(always)]
fn reads_kept(addr: usize, mask: u8, context: u64, pc: usize) -> bool {
    if !checks::is_kept(addr) || counts::on() {
        return false;
    }
    let read = |t: &mut Thread| t.checks() && checks::read_kept(t, addr, mask, context, pc);
    Inside::enter().is_some_and(|inside| inside.run_to_end(read))
}

#[inline(never)]
extern "C" fn access_any<const WRITE: bool, const SIZE: usize>(addr: usize, context: u64, pc: usize) {
    checked::<WRITE>(
        addr,
        (1, 0, SIZE),
        |t| {
            if SIZE <= 8 {
                checks::granule::<WRITE>(t, addr, bytes_of(addr, SIZE), context, pc);
            } else {
                range::<WRITE>(t, addr, SIZE, context, pc);
            }
        },
        |t| record_range::<WRITE>(t, addr, SIZE, pc),
    );
}

extern "C" fn any<const WRITE: bool>(addr: usize, len: usize, context: u64, pc: usize) {
    if len > 0 {
        checked::<WRITE>(
            addr,
            (1, 0, len),
            |t| range::<WRITE>(t, addr, len, context, pc),
            |t| record_range::<WRITE>(t, addr, len, pc),
        );
    }
}

/// Up to so many bytes a read is likely one of an object, whose cells are in use.
const SHORT: usize = 256;

#[inline(always)]
fn range<const WRITE: bool>(t: &mut Thread, addr: usize, len: usize, context: u64, pc: usize) {
    // Commonest where threads read the same data: only one of them is the last reader, which the inline test looks at.
    if !WRITE && is_known::<WRITE>(t, addr, len) || checks::is_within_extent::<WRITE>(t, addr, len) {
        return;
    }
    let does = if WRITE { Does::Write } else { Does::Read };
    let place = t.place(context, pc, false);
    checks::range::<WRITE>(t, addr, len, place, does);
}

/// Whether a few whole granules were accessed in this way in this epoch.
#[inline(always)]
fn is_known<const WRITE: bool>(t: &Thread, addr: usize, len: usize) -> bool {
    let whole = (addr | len).is_multiple_of(8) && len <= SHORT;
    let Some(cells) = shadow::cells(addr, len / 8).filter(|_| whole) else {
        return false;
    };
    let known = cell::are_known::<WRITE>(t, cells);
    if !WRITE && !known {
        side::fetch(cells);
    }
    known
}

extern "C" fn strided<const WRITE: bool>(
    addr: usize,
    count: usize,
    stride: usize,
    size: usize,
    context: u64,
    pc: usize,
) {
    if count == 0 || size == 0 {
        return;
    }
    // From the lowest place up.
    let (addr, stride) = match stride.cast_signed() {
        0.. => (addr, stride),
        _ => (
            addr.wrapping_add((count - 1).wrapping_mul(stride)),
            stride.wrapping_neg(),
        ),
    };
    let pieces = (count, stride, size);
    checked::<WRITE>(
        addr,
        pieces,
        |t| {
            let whole = (count - 1).saturating_mul(stride).saturating_add(size);
            if checks::is_within_extent::<WRITE>(t, addr, whole) {
                return;
            }
            if stride == size && is_known::<WRITE>(t, addr, count.saturating_mul(size)) {
                return;
            }
            // A few cells are looked at sooner than what is remembered.
            let long = count.saturating_mul(stride.max(size)) > SHORT;
            let sweep = Sweep::new(addr, pieces, WRITE);
            if long && t.sweeps.has(t.epoch, &sweep) {
                return;
            }
            let place = t.place(context, pc, false);
            checks::strided::<WRITE>(t, addr, pieces, place);
            if long {
                t.sweeps.add(t.epoch, sweep);
            }
        },
        |t| (0..count).for_each(|n| record_range::<WRITE>(t, addr + n * stride, size, pc)),
    );
}

/// Adds a row to a footprint, which has been counted; what it does not continue is checked.
///
/// # Safety
/// The footprint is the caller's own.
unsafe extern "C" fn gather<const WRITE: bool>(
    footprint: *mut Footprint,
    addr: usize,
    len: usize,
    context: u64,
    pc: usize,
) {
    // SAFETY: by contract, a variable of the function that has called.
    let footprint = unsafe { &mut *footprint };
    let check = |tile| check_tile::<WRITE>(tile, context, pc);
    footprint.commit_due(check);
    footprint.add(addr, len, check);
}

/// The same for places in equal distances.
///
/// # Safety
/// As above.
unsafe extern "C" fn gather_column<const WRITE: bool>(
    footprint: *mut Footprint,
    addr: usize,
    places: usize,
    stride: usize,
    context: u64,
    pc: usize,
) {
    // SAFETY: as above.
    let footprint = unsafe { &mut *footprint };
    const COLUMN: usize = names::COLUMN as usize;
    let column = (places / COLUMN, stride, places % COLUMN);
    let check = |tile| check_tile::<WRITE>(tile, context, pc);
    footprint.left = footprint.left.wrapping_sub(1);
    footprint.commit_due(check);
    footprint.add_column(addr, column, check);
}

/// Checks what a footprint holds.
///
/// # Safety
/// As above.
unsafe extern "C" fn commit<const WRITE: bool>(footprint: *mut Footprint, context: u64, pc: usize) {
    // SAFETY: as above.
    let footprint = unsafe { &mut *footprint };
    footprint.commit(|tile| check_tile::<WRITE>(tile, context, pc));
}

fn check_tile<const WRITE: bool>(tile: Tile, context: u64, pc: usize) {
    strided::<WRITE>(tile.first, tile.count, tile.stride, tile.len, context, pc);
}

/// A write that does not go on with a stretch of its loop: it begins one, or is checked.
///
/// # Safety
/// The state is the caller's own, as `abi::stretches` says.
unsafe extern "C" fn stretch(state: *mut State, addr: usize, size: usize, context: u64, pc: usize) {
    // SAFETY: by contract, a variable of the function that has called.
    let add = |t: &mut Thread| t.checks() && unsafe { stretches::add(t, state, addr, size, (context, pc)) };
    if thread::with(add) == Some(true) {
        return;
    }
    match size {
        1 => access::<true, 1>(addr, context, pc),
        2 => access::<true, 2>(addr, context, pc),
        4 => access::<true, 4>(addr, context, pc),
        _ => access::<true, 8>(addr, context, pc),
    }
}

/// Checks the stretches of a loop that is left.
///
/// # Safety
/// As above.
unsafe extern "C" fn stretches_end(state: *mut State, context: u64, pc: usize) {
    // SAFETY: as above.
    thread::with(|t| unsafe { stretches::end(t, state, (context, pc)) });
}

/// What [`Footprint::add`] does with most rows: they are part of the latest piece, or go on where it ends, or are the next of a tile
/// that is gone through again, or the same as before. Others are left to `$rest`, which gets the return address where it is. Changes r11 only.
macro_rules! gathering {
    ($($(#[$export:meta])? $name:ident = $rest:ident;)*) => { $(
        // SAFETY of calling it: as the contract in `abi::hooks` says.
        $(#[$export])?
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(
                "sub qword ptr [rdi + {left}], 1",
                "jc 3f",
                "cmp rsi, [rdi + {low}]",
                "jb 2f",
                "cmp rsi, [rdi + {high}]",
                "ja 2f",
                "lea r11, [rsi + rdx]",
                "cmp r11, [rdi + {until}]",
                "ja 2f",
                "cmp r11, [rdi + {high}]",
                "jbe 1f",
                "mov [rdi + {high}], r11",
                "1: ret",
                "2: cmp qword ptr [rdi + {tiles}], 0",
                "je 3f",
                "cmp rsi, [rdi + {first}]",
                "jne 4f",
                "cmp qword ptr [rdi + {count}], 0",
                "je 3f",
                "cmp rdx, [rdi + {len}]",
                "ja 3f",
                "test rdx, rdx",
                "je 3f",
                "mov r11, [rdi + {stride}]",
                "add [rdi + {first}], r11",
                "dec qword ptr [rdi + {count}]",
                "ret",
                "4: cmp rsi, [rdi + {same}]",
                "jne 3f",
                "cmp rdx, [rdi + {same} + 8]",
                "jbe 1b",
                "3: jmp {rest}",
                same = const offset_of!(Footprint, same),
                tiles = const offset_of!(Footprint, tiles),
                first = const offset_of!(Footprint, again.first),
                count = const offset_of!(Footprint, again.count),
                stride = const offset_of!(Footprint, again.stride),
                len = const offset_of!(Footprint, again.len),
                low = const offset_of!(Footprint, low),
                high = const offset_of!(Footprint, high),
                until = const offset_of!(Footprint, until),
                left = const offset_of!(Footprint, left),
                rest = sym $rest,
            )
        }
    )* };
}

gathering! {
    #[unsafe(no_mangle)]
    __deadheat_read_gather = read_gather_row;
    #[unsafe(no_mangle)]
    __deadheat_write_gather = write_gather_row;
}

/// A stub that preserves registers and passes the return address in `$pc`, the register behind the last argument.
///
/// SAFETY of calling one: only as the contract in `abi::hooks` says, with what `$body` takes.
macro_rules! preserving {
    ($($(#[$export:meta])? $name:ident = $pc:literal, $body:expr;)*) => { $(
        $(#[$export])?
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name() {
            naked_asm!(
                ".cfi_startproc",
                "push rax", ".cfi_adjust_cfa_offset 8",
                "push rcx", ".cfi_adjust_cfa_offset 8",
                "push rdx", ".cfi_adjust_cfa_offset 8",
                "push rsi", ".cfi_adjust_cfa_offset 8",
                "push rdi", ".cfi_adjust_cfa_offset 8",
                "push r8", ".cfi_adjust_cfa_offset 8",
                "push r9", ".cfi_adjust_cfa_offset 8",
                "push r10", ".cfi_adjust_cfa_offset 8",
                "sub rsp, 8", ".cfi_adjust_cfa_offset 8",
                concat!("mov ", $pc, ", [rsp + 72]"),
                "call {body}",
                "add rsp, 8", ".cfi_adjust_cfa_offset -8",
                "pop r10", ".cfi_adjust_cfa_offset -8",
                "pop r9", ".cfi_adjust_cfa_offset -8",
                "pop r8", ".cfi_adjust_cfa_offset -8",
                "pop rdi", ".cfi_adjust_cfa_offset -8",
                "pop rsi", ".cfi_adjust_cfa_offset -8",
                "pop rdx", ".cfi_adjust_cfa_offset -8",
                "pop rcx", ".cfi_adjust_cfa_offset -8",
                "pop rax", ".cfi_adjust_cfa_offset -8",
                "ret",
                ".cfi_endproc",
                body = sym $body,
            )
        }
    )* };
}

/// A word was stored that may be a pointer.
extern "C" fn link(addr: usize, value: usize) {
    if memory::may_be_heap(value) && links::may_matter(addr, 8) {
        intercept::event(|t| links::stored(t, Stored::Word(addr, value)));
    }
}

/// Words were stored that may be pointers.
pub(crate) extern "C" fn link_all(addr: usize, len: usize) {
    if len >= 8 && links::may_matter(addr, len) {
        intercept::event(|t| links::stored(t, Stored::Range(addr, len)));
    }
}

/// Signals came while the runtime was at work.
extern "C" fn deliver() {
    thread::deliver();
}

preserving! {
    late_signals = "rdi", deliver;
    #[unsafe(no_mangle)]
    __deadheat_read1 = "rdx", access::<false, 1>;
    #[unsafe(no_mangle)]
    __deadheat_read2 = "rdx", access::<false, 2>;
    #[unsafe(no_mangle)]
    __deadheat_read4 = "rdx", access::<false, 4>;
    read8_in_any_case = "rdx", access::<false, 8>;
    #[unsafe(no_mangle)]
    __deadheat_read16 = "rdx", access::<false, 16>;
    #[unsafe(no_mangle)]
    __deadheat_write1 = "rdx", access::<true, 1>;
    #[unsafe(no_mangle)]
    __deadheat_write2 = "rdx", access::<true, 2>;
    #[unsafe(no_mangle)]
    __deadheat_write4 = "rdx", access::<true, 4>;
    write8_in_any_case = "rdx", access::<true, 8>;
    #[unsafe(no_mangle)]
    __deadheat_write16 = "rdx", access::<true, 16>;
    #[unsafe(no_mangle)]
    __deadheat_read_range = "rcx", any::<false>;
    #[unsafe(no_mangle)]
    __deadheat_write_range = "rcx", any::<true>;
    #[unsafe(no_mangle)]
    __deadheat_read_strided = "r9", strided::<false>;
    #[unsafe(no_mangle)]
    __deadheat_write_strided = "r9", strided::<true>;
    read_gather_row = "r8", gather::<false>;
    write_gather_row = "r8", gather::<true>;
    #[unsafe(no_mangle)]
    __deadheat_read_column = "r9", gather_column::<false>;
    #[unsafe(no_mangle)]
    __deadheat_write_column = "r9", gather_column::<true>;
    #[unsafe(no_mangle)]
    __deadheat_link = "rdx", link;
    #[unsafe(no_mangle)]
    __deadheat_links = "rdx", link_all;
    #[unsafe(no_mangle)]
    __deadheat_read_commit = "rdx", commit::<false>;
    #[unsafe(no_mangle)]
    __deadheat_write_commit = "rdx", commit::<true>;
    #[unsafe(no_mangle)]
    __deadheat_write_stretch = "r8", stretch;
    #[unsafe(no_mangle)]
    __deadheat_write_stretches = "rdx", stretches_end;
}

/// Stubs that hand on where they were called from, behind the arguments.
///
/// SAFETY of calling one: as for the access that it makes.
macro_rules! performing {
    ($($name:ident = $pc:literal, $body:expr;)*) => { $(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!(concat!("mov ", $pc, ", [rsp]"), "jmp {}", sym $body)
        }
    )* };
}

performing! {
    __deadheat_load1 = "rsi", record::load::<1, 1>;
    __deadheat_load2 = "rsi", record::load::<2, 1>;
    __deadheat_load4 = "rsi", record::load::<4, 1>;
    __deadheat_load8 = "rsi", record::load::<8, 1>;
    __deadheat_load16 = "rsi", record::load::<8, 2>;
    __deadheat_store1 = "rdx", record::store::<1>;
    __deadheat_store2 = "rdx", record::store::<2>;
    __deadheat_store4 = "rdx", record::store::<4>;
    __deadheat_store8 = "rdx", record::store::<8>;
    __deadheat_store16 = "rcx", record::store16;
}

const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    a.len() == b.len() && i == a.len()
}

#[unsafe(no_mangle)]
extern "C" fn __deadheat_atomic_begin(addr: usize) {
    thread::with(|t| sync::begin_atomic(t, addr));
}

// SAFETY of calling it: as the contract in `abi::hooks` says. It hands on where it was called from.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __deadheat_atomic_end(addr: usize, what: u32, context: u64) {
    naked_asm!("mov rcx, [rsp]", "jmp {}", sym atomic_end)
}

extern "C" fn atomic_end(addr: usize, what: u32, context: u64, pc: usize) {
    let Some(what) = What::unpack(what) else { return };
    thread::with(|t| {
        counts::atomic(t);
        sync::end_atomic(t, addr, what, |t| {
            checks::atomic_access(t, addr, what, context, pc);
        });
    });
}

// SAFETY of calling it: as of the load that it makes.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __deadheat_atomic_load(addr: usize, what: u32, context: u64) -> u64 {
    naked_asm!("mov rcx, [rsp]", "jmp {}", sym atomic_load)
}

extern "C" fn atomic_load(addr: usize, what: u32, context: u64, pc: usize) -> u64 {
    let known = What::unpack(what).and_then(|what| {
        thread::with(|t| {
            counts::atomic(t);
            loads::load(t, addr, what, context, pc)
        })
    });
    known.unwrap_or_else(|| loads::read(addr, what as u8))
}

#[unsafe(no_mangle)]
extern "C" fn __deadheat_accesses(count: u64) {
    thread::with(|t| counts::accesses(t, count));
}

#[unsafe(no_mangle)]
extern "C" fn __deadheat_fence(order: u32) {
    let Some(order) = Ordering::from_number(order as u8) else {
        return;
    };
    thread::with(|t| sync::fence(t, sync::order(order)));
}

// SAFETY of calling them: as the contract in `abi::hooks` says. They hand on how high the caller's stack is.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __deadheat_call_begin(callee: *const Callee, a: usize, b: usize, c: usize, d: usize) {
    naked_asm!("mov r9, rsp", "jmp {}", sym call_begin)
}

// SAFETY of calling it: as above.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __deadheat_call_end(callee: *const Callee) {
    naked_asm!("mov rsi, rsp", "jmp {}", sym call_end)
}

/// # Safety
/// Called by the hook above.
unsafe extern "C" fn call_begin(callee: *const Callee, a: usize, b: usize, c: usize, d: usize, sp: usize) {
    steer::pause();
    intercept::event(|t| {
        // SAFETY: a variable of the program.
        outside::begin(t, unsafe { &*callee }, [a, b, c, d], sp);
    });
}

#[unsafe(no_mangle)]
extern "C" fn __deadheat_call_arguments(_callee: *const Callee, a: usize, b: usize, c: usize, d: usize) {
    thread::with(|t| outside::arguments(t, [a, b, c, d]));
}

#[unsafe(no_mangle)]
extern "C" fn __deadheat_call_local(_callee: *const Callee, start: usize, len: usize) {
    thread::with(|t| outside::local(t, start, len));
}

// SAFETY of calling them: as above.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __deadheat_pointer_begin(
    function: *const c_void,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) {
    naked_asm!("mov r9, rsp", "jmp {}", sym pointer_begin)
}

// SAFETY of calling it: as above.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __deadheat_pointer_end(function: *const c_void) {
    naked_asm!("mov rsi, rsp", "jmp {}", sym pointer_end)
}

// SAFETY of calling them: as above.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __deadheat_missing_begin(callee: *const Callee, a: usize, b: usize, c: usize, d: usize) {
    naked_asm!("mov r9, rsp", "jmp {}", sym missing_begin)
}

/// # Safety
/// Called by the hook above.
unsafe extern "C" fn missing_begin(callee: *const Callee, a: usize, b: usize, c: usize, d: usize, sp: usize) {
    steer::pause();
    intercept::event(|t| {
        // SAFETY: a variable of the program.
        record::missing::begin(t, unsafe { &*callee }, [a, b, c, d], sp);
    });
}

#[unsafe(no_mangle)]
extern "C" fn __deadheat_missing_end(callee: *const Callee) {
    steer::pause();
    intercept::event(|t| record::missing::end(t, callee));
}

/// Stubs that hand on how high the caller's stack is.
macro_rules! with_stack {
    ($($name:ident = $body:expr;)*) => { $(
        // SAFETY of calling it: as above.
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            naked_asm!("mov rdi, rsp", "jmp {}", sym $body)
        }
    )* };
}

with_stack! {
    __deadheat_callback_begin = callback_begin;
    __deadheat_callback_end = callback_end;
    __deadheat_landed = landed;
}

extern "C" fn callback_begin(sp: usize) {
    intercept::event(|t| record::missing::begin_callback(t, sp));
}

extern "C" fn callback_end(sp: usize) {
    intercept::event(|t| record::missing::end_callback(t, sp));
}

extern "C" fn landed(sp: usize) {
    intercept::event(|t| record::missing::leave_unwound(t, sp));
}

#[unsafe(no_mangle)]
extern "C" fn __deadheat_pointers_written(addr: usize) {
    outside::objects::written(addr, 64);
}

const _: () = assert!(
    same(names::MISSING_BEGIN, "__deadheat_missing_begin")
        && same(names::MISSING_END, "__deadheat_missing_end")
        && same(names::CALLBACK_BEGIN, "__deadheat_callback_begin")
        && same(names::CALLBACK_END, "__deadheat_callback_end")
        && same(names::LANDED, "__deadheat_landed")
        && same(names::POINTERS_WRITTEN, "__deadheat_pointers_written")
        && same(names::LINK, "__deadheat_link")
        && same(names::LINKS, "__deadheat_links")
);

extern "C" fn pointer_begin(function: *const c_void, a: usize, b: usize, c: usize, d: usize, sp: usize) {
    steer::pause();
    intercept::event(|t| match outside::at(function) {
        Some(callee) => outside::begin(t, callee, [a, b, c, d], sp),
        None => outside::forget_arguments(t),
    });
}

extern "C" fn pointer_end(function: *const c_void, sp: usize) {
    steer::pause();
    intercept::event(|t| {
        if let Some(callee) = outside::at(function) {
            outside::end(t, callee, sp);
        }
    });
}

extern "C" fn call_end(callee: *const Callee, sp: usize) {
    steer::pause();
    intercept::event(|t| outside::end(t, callee, sp));
}

const _: () = assert!(
    same(names::CALL_BEGIN, "__deadheat_call_begin")
        && same(names::CALL_ARGUMENTS, "__deadheat_call_arguments")
        && same(names::CALL_LOCAL, "__deadheat_call_local")
        && same(names::CALL_END, "__deadheat_call_end")
        && same(names::POINTER_BEGIN, "__deadheat_pointer_begin")
        && same(names::POINTER_END, "__deadheat_pointer_end")
);

const _: () = assert!(
    same(names::ATOMIC_BEGIN, "__deadheat_atomic_begin")
        && same(names::ATOMIC_END, "__deadheat_atomic_end")
        && same(names::ATOMIC_LOAD, "__deadheat_atomic_load")
        && same(names::FENCE, "__deadheat_fence")
        && same(names::ACCESSES, "__deadheat_accesses")
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stress::Random;
    use deadheat_abi::footprint::ROWS;
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeSet;

    thread_local! {
        /// What was checked, by byte, and how many rows the assembly left to the rest.
        static CHECKED: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
        static LEFT: Cell<usize> = const { Cell::new(0) };
    }

    fn checked(tile: Tile) {
        let rows = (0..tile.count).map(|row| tile.first + row * tile.stride);
        CHECKED.with_borrow_mut(|checked| checked.extend(rows.flat_map(|row| row..row + tile.len)));
    }

    extern "C" fn add(footprint: &mut Footprint, addr: usize, len: usize) {
        LEFT.set(LEFT.get() + 1);
        footprint.commit_due(checked);
        footprint.add(addr, len, checked);
    }

    gathering! {
        gather_here = add;
    }

    fn gather() -> extern "C" fn(&mut Footprint, usize, usize) {
        // SAFETY: this is what it takes, by `gathering`.
        unsafe { std::mem::transmute(gather_here as *const ()) }
    }

    #[test]
    fn rows_that_are_gathered_in_assembly_are_checked_and_nothing_else() {
        let gather = gather();
        let mut random = Random(11);
        let (mut rows, mut all) = (0, BTreeSet::new());
        for _ in 0..5000 {
            let mut footprint = Footprint::default();
            let stride = 8 + random.below(40) as usize;
            let mut put = |addr: usize, len: usize| {
                all.extend(addr..addr + len);
                rows += 1;
                gather(&mut footprint, addr, len);
            };
            // Tiles, gone through several times, with rows elsewhere in between.
            for _ in 0..1 + random.below(4) {
                let (first, count) = (4096 + 8 * random.below(32) as usize, random.below(9) as usize);
                let len = random.below(stride as u64 + 9) as usize;
                for row in 0..count {
                    put(first + row * stride, len - len.min(random.below(3) as usize));
                    if random.below(6) == 0 {
                        put(4096 + random.below(600) as usize, random.below(20) as usize);
                    }
                }
            }
            footprint.commit(checked);
            assert_eq!(CHECKED.take(), all);
            all.clear();
        }
        assert!(LEFT.get() < rows, "all rows were left to the rest");
    }

    #[test]
    fn rows_that_are_gone_through_again_stay_in_assembly() {
        let gather = gather();
        let mut footprint = Footprint::default();
        let mut go_through = || {
            LEFT.set(0);
            (0..8).for_each(|row| gather(&mut footprint, 4096 + 64 * row, 16));
            LEFT.get()
        };
        assert_eq!(go_through(), 8);
        // Only the first shows that they come again.
        assert_eq!([go_through(), go_through()], [1, 1]);
        footprint.commit(checked);
        assert_eq!(CHECKED.take().len(), 8 * 16);
    }

    #[test]
    fn of_rows_that_come_for_ever_all_is_checked_now_and_then() {
        let gather = gather();
        let mut footprint = Footprint::default();
        for last in 1..5 {
            // One and the same, one after another, and a tile that is gone through again.
            for row in (0..ROWS).map(|n| if n % 2 == 0 { 0 } else { 64 * (n % 100) }) {
                gather(&mut footprint, 4096 + row, 16);
            }
            let checked = CHECKED.take().len();
            assert!(last == 1 || checked == 51 * 16, "{checked}");
        }
    }

    #[test]
    fn two_rows_of_a_tile_that_take_turns_stay_in_assembly() {
        let gather = gather();
        let mut footprint = Footprint::default();
        let mut row = |row: usize| {
            gather(&mut footprint, 4096 + 64 * row, 16);
        };
        (0..100).for_each(&mut row);
        LEFT.set(0);
        for first in 10..50 {
            for other in first + 7..100 {
                row(first);
                row(other);
            }
        }
        // A few at the beginning of each round.
        assert!(LEFT.get() <= 40 * 9, "{} rows were left", LEFT.get());
        footprint.commit(checked);
        assert_eq!(CHECKED.take().len(), 100 * 16);
    }
}
