//! The commonest case in which the inline test fails, answered without the rest: an aligned access to eight bytes where
//! all accesses on record are in the cell and happen before it (those of its own epoch do), and whose place was seen
//! lately. And, of the rest, what is commonest where threads read the same data: a read that is on record, but not as the
//! last one. Everything else is for [`crate::checks`].
//!
//! What is done is what [`crate::cell::step`] does in that case (the tests in `exact` see to it that both agree), in
//! assembly: in the regions of others ([`crate::owners`]) half of the time goes to one locked instruction, which waits for all
//! stores before it, so each register that need not be saved counts twice.

use crate::hooks::{late_signals, read8_in_any_case, write8_in_any_case};
use crate::owners::{IN_SECTION, REGION_SHIFT, SHARED};
use crate::thread::{self, Cached, Thread};
use crate::{partly, places, side, terms};
use deadheat_abi::shadow::{EPOCH, PLACE_BITS, PLACE_SHIFT, SIDE, TERM_SHIFT, TIME_BITS, TIME_SHIFT};
use deadheat_abi::tls::{CONTEXT_FACTOR, NO_WORD, SHARED_MASK, SHARED_SHIFT, Tls};
use std::mem::offset_of;

/// The registers that are saved: these at once, three more where they are needed; the return address stands behind them.
macro_rules! save {
    () => {
        "push rax
        .cfi_adjust_cfa_offset 8
        push rcx
        .cfi_adjust_cfa_offset 8
        push rdx
        .cfi_adjust_cfa_offset 8"
    };
}

macro_rules! save_more {
    () => {
        "push r8
        .cfi_adjust_cfa_offset 8
        push r9
        .cfi_adjust_cfa_offset 8
        push r10
        .cfi_adjust_cfa_offset 8"
    };
}

macro_rules! restore_more {
    () => {
        "pop r10
        .cfi_adjust_cfa_offset -8
        pop r9
        .cfi_adjust_cfa_offset -8
        pop r8
        .cfi_adjust_cfa_offset -8"
    };
}

macro_rules! restore {
    () => {
        "pop rdx
        .cfi_adjust_cfa_offset -8
        pop rcx
        .cfi_adjust_cfa_offset -8
        pop rax
        .cfi_adjust_cfa_offset -8"
    };
}

/// Whether the time of the word in `$word` is known to the thread, whose record is in r8 and whose variable in r9; if not, on
/// to label 2. Those of its present term are. Changes rcx and r10.
macro_rules! known {
    ($word:literal, $known:literal) => {
        concat!(
            "mov rcx, ",
            $word,
            "
            xor rcx, [r9 + {epoch}]
            shr rcx, {term_shift}
            je ",
            $known,
            "f
            mov rcx, ",
            $word,
            "
            shr rcx, {term_shift}
            lea r10, [rip + {terms}]
            mov r10, [r10 + 8 * rcx]
            xor ecx, r10d
            and ecx, {slot_mask}
            shr r10, {base_shift}
            cmp rcx, [r8 + {len}]
            jae 2f
            shl ecx, 3
            add rcx, [r8 + {times}]
            sub r10, [rcx]
            mov rcx, ",
            $word,
            "
            shr rcx, {time_shift}
            and ecx, {time_mask}
            add r10, rcx
            jg 2f",
        )
    };
}

/// Where the new first word is: a read leaves it as it was.
macro_rules! low {
    (read) => {
        "rax"
    };
    (write) => {
        "rcx"
    };
}

/// Stores the new first word.
macro_rules! store {
    (read) => {
        ""
    };
    (write) => {
        "mov [r11], rcx"
    };
}

/// Looks whether the word of the last read, in rdx, stands for several readers; then on to label 6. The thread's variable is
/// in rax. For a write, which has to look at all of them, that is not worth while.
macro_rules! several {
    (read) => {
        "mov rdx, [r11 + 8]
        test edx, {readers}
        jne 6f"
    };
    (write) => {
        ""
    };
}

/// A state elsewhere: on to label 28, where a read may be found to be on record.
macro_rules! elsewhere {
    (read) => {
        "je 28f"
    };
    (write) => {
        "je 2f"
    };
}

/// The body of a function that is called with the address in rdi and the context value in rsi and changes r11 only. `$pc` is
/// where the return address stands. Ends with `$done`, with `$pending` if signals have come in the meantime, or, if this is
/// another case and nothing was done, with `$not`.
macro_rules! quick {
    ($kind:ident, $pc:literal, $done:literal, $pending:literal, $not:literal $(, $operand:ident = sym $value:path)*) => {
        std::arch::naked_asm!(
            ".cfi_startproc",
            save!(),
            "mov rax, [rip + __deadheat_tls@GOTTPOFF]",
            "add rax, fs:[0]",
            // The address of the cell, in r11.
            "mov r11, rdi",
            "and r11, [rax + {mask}]",
            "mov rcx, [rax + {base}]",
            "lea r11, [rcx + 2 * r11]",
            several!($kind),
            "25:",
            save_more!(),
            "mov r9, rax",
            // Not inside the runtime, and to be checked.
            "cmp dword ptr [r9 + {inside}], 0",
            "jne 3f",
            "cmp qword ptr [r9 + {epoch}], 0",
            "je 3f",
            // Into the runtime and into a section: before the cell is looked at.
            "mov dword ptr [r9 + {inside}], {in_section}",
            "mov r8, [r9 + {thread}]",
            // Its words, in rax and rdx.
            "mov rdx, [r11 + 8]",
            "mov rax, [r11]",
            // Not several readers.
            "test edx, {readers}",
            "jne 2f",
            // Mostly both accesses were its own.
            "mov rcx, rax",
            "xor rcx, rdx",
            "mov r10, rax",
            "xor r10, [r9 + {epoch}]",
            "or rcx, r10",
            "shr rcx, {term_shift}",
            "jne 21f",
            // The place, in rcx.
            "22:",
            "mov rcx, [r8 + {locks}]",
            concat!("or rcx, ", $pc),
            "mov r10, rcx",
            "xor r10, rsi",
            "imul r10, [rip + 4f]",
            "shr r10, {hash_shift}",
            "shl r10, {cached_shift}",
            "add r10, [r8 + {places}]",
            "cmp [r10], rsi",
            "jne 2f",
            "cmp [r10 + 8], rcx",
            "jne 2f",
            "mov ecx, [r10 + 16]",
            "shl rcx, {place_shift}",
            // The new words: all bytes were touched.
            "or rcx, [r9 + {epoch}]",
            "mov [r8 + {last}], rcx",
            // Whose the region is.
            "mov r10, r11",
            "shr r10, {region_shift}",
            "shl r10, 2",
            "add r10, [r8 + {words}]",
            "movzx r10d, word ptr [r10]",
            "cmp r10d, [r8 + {name}]",
            "jne 9f",
            store!($kind),
            "mov [r11 + 8], rcx",
            "8:",
            "mov dword ptr [r9 + {inside}], 0",
            "cmp dword ptr [r9 + {pending}], 0",
            ".cfi_remember_state",
            restore_more!(),
            restore!(),
            "jne 5f",
            $done,
            "5:",
            $pending,
            ".cfi_restore_state",
            // Not a state elsewhere.
            "21:",
            "mov rcx, rax",
            "shr rcx, {term_shift}",
            "cmp ecx, {side}",
            elsewhere!($kind),
            known!("rax", "23"),
            "23:",
            "cmp rax, rdx",
            "je 22b",
            known!("rdx", "24"),
            "24:",
            "jmp 22b",
            // The key of `side::read_key`, in rcx.
            "28:",
            "bt rax, {partly}",
            "jc 2f",
            "mov rcx, rax",
            "shr rcx, {generation_shift}",
            "and ecx, {generation_mask}",
            "shl ecx, {key_bits}",
            "mov r10d, eax",
            "shr r10d, {at_bits}",
            "or ecx, r10d",
            "or rcx, [r9 + {epoch}]",
            "and eax, {at_mask}",
            "mov r10, [r8 + {reads}]",
            "cmp [r10 + 8 * rax], rcx",
            "je 8b",
            // What comes next waits for the state.
            "mov eax, [r11]",
            "shl rax, {side_shift}",
            "add rax, [rip + {sides}]",
            "prefetchw [rax]",
            "jmp 2f",
            "9:",
            "cmp r10d, {shared}",
            "jne 2f",
            "push rbx",
            ".cfi_adjust_cfa_offset 8",
            concat!("mov rbx, ", low!($kind)),
            "lock cmpxchg16b [r11]",
            "pop rbx",
            ".cfi_adjust_cfa_offset -8",
            "je 8b",
            "2:",
            "mov dword ptr [r9 + {inside}], 0",
            "3:",
            restore_more!(),
            ".cfi_remember_state",
            restore!(),
            $not,
            // Several readers: a read by one of them, in the epoch of then, says nothing new. Nothing is changed, so this is
            // not inside the runtime.
            ".cfi_restore_state",
            "6:",
            "mov rcx, [rip + {chains}]",
            "mov r11, rdx",
            "7:",
            "shr edx, {place_shift}",
            "and edx, {chain_mask}",
            "shl rdx, 4",
            "mov rdx, [rcx + rdx + {before}]",
            "push rdx",
            ".cfi_adjust_cfa_offset 8",
            "xor rdx, [rax + {epoch}]",
            "test rdx, {all}",
            "pop rdx",
            ".cfi_adjust_cfa_offset -8",
            "je 26f",
            "test edx, {readers}",
            "jne 7b",
            "mov r11, rdi",
            "and r11, [rax + {mask}]",
            "mov rcx, [rax + {base}]",
            "lea r11, [rcx + 2 * r11]",
            "jmp 25b",
            // The next inline test finds it out by itself; unless a signal handler has changed the epoch meanwhile.
            "26:",
            "mov rcx, r11",
            "shr rcx, {shared_shift}",
            "and ecx, {shared_mask}",
            "mov qword ptr [rax + {sharing}], 1",
            "mov [rax + rcx + {shared_words}], r11",
            "xor rdx, [rax + {epoch}]",
            "test rdx, {all}",
            "je 27f",
            "mov qword ptr [rax + rcx + {shared_words}], {no_word}",
            "27:",
            restore!(),
            $done,
            ".cfi_endproc",
            ".p2align 3",
            "4:",
            ".quad {factor}",
            inside = const offset_of!(Tls, inside),
            pending = const offset_of!(Tls, pending),
            epoch = const offset_of!(Tls, epoch),
            mask = const offset_of!(Tls, mask),
            base = const offset_of!(Tls, base),
            thread = const offset_of!(Tls, thread),
            times = const offset_of!(Thread, times),
            terms = sym terms::OF,
            slot_mask = const (1u32 << terms::BASE_SHIFT) - 1,
            base_shift = const terms::BASE_SHIFT,
            len = const offset_of!(Thread, times_len),
            locks = const offset_of!(Thread, locks),
            last = const offset_of!(Thread, last),
            places = const offset_of!(Thread, places.one),
            hash_shift = const 64 - thread::CACHED.trailing_zeros(),
            cached_shift = const size_of::<Cached>().trailing_zeros(),
            factor = const CONTEXT_FACTOR,
            side = const SIDE,
            in_section = const IN_SECTION | 1,
            words = const offset_of!(Thread, owner.words),
            name = const offset_of!(Thread, owner.name),
            region_shift = const REGION_SHIFT + 1,
            shared = const SHARED,
            reads = const offset_of!(Thread, reads),
            partly = const partly::PARTLY.trailing_zeros(),
            generation_shift = const side::GENERATION_SHIFT,
            generation_mask = const side::GENERATIONS - 1,
            key_bits = const side::KEY_BITS,
            sides = sym side::SIDE,
            side_shift = const side::SIZE.trailing_zeros(),
            at_bits = const thread::READS.trailing_zeros(),
            at_mask = const thread::READS - 1,
            chains = sym places::READER,
            chain_mask = const (1u32 << (PLACE_BITS - 1)) - 1,
            before = const offset_of!(places::Reader, before),
            all = const (EPOCH | 0xff) as i64,
            sharing = const offset_of!(Tls, sharing),
            shared_words = const offset_of!(Tls, shared),
            shared_shift = const SHARED_SHIFT,
            shared_mask = const SHARED_MASK,
            no_word = const NO_WORD as i64,
            readers = const 1u32 << (PLACE_SHIFT + PLACE_BITS - 1),
            term_shift = const TERM_SHIFT,
            time_shift = const TIME_SHIFT,
            time_mask = const (1u32 << TIME_BITS) - 1,
            place_shift = const PLACE_SHIFT,
            $($operand = sym $value,)*
        )
    };
}

// SAFETY of calling it and the next: as the contract in `abi::hooks` says.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __deadheat_read8() {
    quick!(read, "[rsp + 48]", "ret", "jmp {late}", "jmp {other}", late = sym late_signals, other = sym read8_in_any_case)
}

// SAFETY of calling it: as above.
#[unsafe(no_mangle)]
#[unsafe(naked)]
unsafe extern "C" fn __deadheat_write8() {
    quick!(write, "[rsp + 48]", "ret", "jmp {late}", "jmp {other}", late = sym late_signals, other = sym write8_in_any_case)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cell::Cell;
    use std::sync::atomic::AtomicU32;

    // SAFETY of calling it and the next: only as the tests below do, with an address that has a shadow.
    #[unsafe(naked)]
    unsafe extern "C" fn read(addr: usize, context: u64, pc: usize) -> bool {
        quick!(read, "[rsp + 24]", "mov eax, 1\nret", "ud2", "xor eax, eax\nret")
    }

    // SAFETY of calling it: as above.
    #[unsafe(naked)]
    unsafe extern "C" fn write(addr: usize, context: u64, pc: usize) -> bool {
        quick!(write, "[rsp + 24]", "mov eax, 1\nret", "ud2", "xor eax, eax\nret")
    }

    /// What the hooks do first, with any cell and place. Whether it was done.
    pub fn access<const WRITE: bool>(
        t: &mut Thread,
        cell: &Cell,
        own: bool,
        context: u64,
        pc: usize,
    ) -> bool {
        t.refresh();
        let word = AtomicU32::new(if own { t.owner.name } else { SHARED });
        // As if the cell were where that of the first region is.
        let region = std::ptr::from_ref(cell).addr() >> (REGION_SHIFT + 1);
        let words = std::mem::replace(&mut t.owner.words, (&raw const word).wrapping_sub(region));
        let tls = crate::tls::get();
        // SAFETY: the thread's own variable, put back as it was; the cell stands for all addresses.
        unsafe {
            let before = tls.read();
            *tls = Tls {
                epoch: t.epoch,
                mask: 0,
                base: std::ptr::from_ref(cell).expose_provenance() as u64,
                context: 0,
                thread: std::ptr::from_mut(t).expose_provenance() as u64,
                inside: 0,
                pending: 0,
                missing: 0,
                sharing: 0,
                shared: [NO_WORD; deadheat_abi::tls::SHARED_WORDS],
            };
            let done = if WRITE {
                write(8, context, pc)
            } else {
                read(8, context, pc)
            };
            assert_eq!((*tls).inside, 0);
            *tls = before;
            t.owner.words = words;
            done
        }
    }
}
