//! What an instruction reads and writes.

use super::ir::{At, Opcode, Order, Type, Value, attribute_kind};
use super::unmasked::Selection;
use super::x86;
use deadheat_abi::atomics;
use llvm_sys::target::LLVMTargetDataRef;

/// Plain memory that an instruction accesses.
#[derive(Clone, Copy)]
pub struct Access<'m> {
    /// Where; a vector of addresses for [`Extent::Scattered`].
    pub pointer: Value<'m>,
    /// How much.
    pub extent: Extent<'m>,
    /// What the address is a multiple of.
    pub alignment: u64,
    /// A write or a read.
    pub write: bool,
    /// Where in its granule it begins, if that is known.
    pub place: Option<u64>,
}

/// How much memory. A mask is a vector of bits, or of numbers or floats whose sign bits count.
#[derive(Clone, Copy, PartialEq)]
pub enum Extent<'m> {
    /// So many bytes.
    Bytes(u64),
    /// As many bytes as the value says.
    Length(Value<'m>),
    /// Elements of so many bytes side by side: those whose bit in the mask is set (or not set), and only those below the
    /// limit.
    Lanes {
        element: u64,
        mask: Value<'m>,
        set: bool,
        limit: Option<Value<'m>>,
    },
    /// The same with an address for each element.
    Scattered {
        element: u64,
        mask: Value<'m>,
        limit: Option<Value<'m>>,
    },
    /// Elements of so many bytes at the address and so many times `scale` bytes behind it as the (signed) index says.
    Indexed {
        element: u64,
        mask: Value<'m>,
        indices: Value<'m>,
        scale: u64,
    },
    /// As many elements of so many bytes side by side as the mask has bits.
    Packed { element: u64, mask: Value<'m> },
}

/// An atomic operation.
#[derive(Clone, Copy)]
pub struct Atomic<'m> {
    /// Where.
    pub pointer: Value<'m>,
    /// What, if it succeeds.
    pub what: atomics::What,
    /// What, if it is a compare-exchange that fails.
    pub failed: Option<atomics::What>,
}

/// What an instruction means to a race detector.
pub enum Meaning<'m> {
    /// Nothing.
    None,
    /// Accesses to plain memory, in this order.
    Plain(Vec<Access<'m>>),
    /// An atomic operation.
    Atomic(Atomic<'m>),
    /// A fence between threads.
    Fence(atomics::Ordering),
}

/// Reads instructions.
pub struct Reader {
    layout: LLVMTargetDataRef,
    align: u32,
    byval: u32,
}

impl Reader {
    /// With the sizes of types.
    pub fn new(layout: LLVMTargetDataRef) -> Self {
        Reader {
            layout,
            align: attribute_kind("align"),
            byval: attribute_kind("byval"),
        }
    }

    /// The sizes of types.
    pub fn layout(&self) -> LLVMTargetDataRef {
        self.layout
    }

    /// What an instruction means.
    pub fn read<'m>(&self, instruction: Value<'m>) -> Meaning<'m> {
        let Some(opcode) = instruction.opcode() else {
            return Meaning::None;
        };
        match opcode {
            Opcode::LLVMLoad => {
                self.load_or_store(instruction, instruction.operand(0), instruction.ty(), false)
            }
            Opcode::LLVMStore => {
                let ty = instruction.operand(0).ty();
                self.load_or_store(instruction, instruction.operand(1), ty, true)
            }
            Opcode::LLVMAtomicRMW => {
                let order = instruction.ordering();
                let ty = instruction.operand(1).ty();
                self.update(instruction, ty, order, None)
            }
            Opcode::LLVMAtomicCmpXchg => {
                let (success, failure) = instruction.exchange_orderings();
                let ty = instruction.operand(1).ty();
                self.update(instruction, ty, success, Some(failure))
            }
            Opcode::LLVMFence => match instruction.is_single_thread() {
                // A fence for the compiler, or for signal handlers of the thread itself.
                true => Meaning::None,
                false => Meaning::Fence(order_number(instruction.ordering())),
            },
            Opcode::LLVMCall | Opcode::LLVMInvoke => {
                let accesses = match instruction.callee().intrinsic() {
                    Some(name) => self.intrinsic(instruction, name),
                    None => self.copies_at_call(instruction),
                };
                match accesses.is_empty() {
                    true => Meaning::None,
                    false => Meaning::Plain(accesses),
                }
            }
            // What `va_arg` reads, the arguments of the call, only the callee has the address of.
            _ => Meaning::None,
        }
    }

    /// What a load of all elements reads that should have been one of some.
    pub fn unmasked<'m>(&self, load: Value<'m>, selection: &Selection<'m>) -> Access<'m> {
        let element = load.ty().vector().expect("only vectors are masked").1;
        Access {
            pointer: load.operand(0),
            extent: Extent::Lanes {
                element: element.store_size(self.layout),
                mask: selection.mask,
                set: selection.set,
                limit: None,
            },
            alignment: 1,
            write: false,
            place: None,
        }
    }

    fn load_or_store<'m>(&self, at: Value<'m>, pointer: Value<'m>, ty: Type<'m>, write: bool) -> Meaning<'m> {
        if !pointer.ty().is_plain_pointer() {
            return Meaning::None;
        }
        let size = ty.store_size(self.layout);
        let order = at.ordering();
        // An atomic that orders only within its own thread is, to other threads, a plain access.
        if order == Order::LLVMAtomicOrderingNotAtomic || at.is_single_thread() {
            return Meaning::Plain(vec![Access {
                pointer,
                extent: Extent::Bytes(size),
                alignment: at.alignment(),
                write,
                place: None,
            }]);
        }
        let kind = if write {
            atomics::Kind::Store
        } else {
            atomics::Kind::Load
        };
        Meaning::Atomic(Atomic {
            pointer,
            what: what(size, kind, order),
            failed: None,
        })
    }

    fn update<'m>(&self, at: Value<'m>, ty: Type<'m>, order: Order, failure: Option<Order>) -> Meaning<'m> {
        let pointer = at.operand(0);
        if !pointer.ty().is_plain_pointer() {
            return Meaning::None;
        }
        let size = ty.store_size(self.layout);
        if at.is_single_thread() {
            return Meaning::Plain(vec![Access {
                pointer,
                extent: Extent::Bytes(size),
                alignment: at.alignment(),
                write: true,
                place: None,
            }]);
        }
        Meaning::Atomic(Atomic {
            pointer,
            what: what(size, atomics::Kind::Update, order),
            failed: failure.map(|order| what(size, atomics::Kind::Load, order)),
        })
    }

    fn intrinsic<'m>(&self, call: Value<'m>, name: &str) -> Vec<Access<'m>> {
        let argument = |i: u32| call.operand(i);
        let side = |i: u32, write: bool| Access {
            pointer: argument(i),
            extent: match argument(2).constant_integer() {
                Some(bytes) => Extent::Bytes(bytes),
                None => Extent::Length(argument(2)),
            },
            alignment: self.argument_alignment(call, i),
            write,
            place: None,
        };
        let mut accesses = match name {
            "llvm.memcpy"
            | "llvm.memcpy.inline"
            | "llvm.memmove"
            | "llvm.memcpy.element.unordered.atomic"
            | "llvm.memmove.element.unordered.atomic" => vec![side(1, false), side(0, true)],
            "llvm.memset" | "llvm.memset.inline" | "llvm.memset.element.unordered.atomic" => {
                vec![side(0, true)]
            }
            _ => {
                let vector = self.vector_intrinsic(call, name);
                vector
                    .or_else(|| x86::access(call, name, self.layout))
                    .into_iter()
                    .collect()
            }
        };
        accesses.retain(|access| access.pointer.ty().is_plain_pointer());
        accesses
    }

    /// Vector accesses of which each element depends on a mask. (`vp`: also on a limit.)
    fn vector_intrinsic<'m>(&self, call: Value<'m>, name: &str) -> Option<Access<'m>> {
        // Where the address is; the mask follows. A store begins with what is stored.
        let (write, at) = match name {
            "llvm.masked.load"
            | "llvm.masked.gather"
            | "llvm.masked.expandload"
            | "llvm.vp.load"
            | "llvm.vp.gather" => (false, 0),
            "llvm.masked.store"
            | "llvm.masked.scatter"
            | "llvm.masked.compressstore"
            | "llvm.vp.store"
            | "llvm.vp.scatter" => (true, 1),
            _ => return None,
        };
        let ty = if write { call.operand(0).ty() } else { call.ty() };
        // Elements of less than a byte are no memory accesses of the processor.
        let element = ty.vector()?.1.store_size(self.layout);
        let mask = call.operand(at + 1);
        let limit = name.starts_with("llvm.vp.").then(|| call.operand(at + 2));
        let extent = match name.rsplit('.').next()? {
            "load" | "store" => Extent::Lanes {
                element,
                mask,
                set: true,
                limit,
            },
            "gather" | "scatter" => Extent::Scattered { element, mask, limit },
            _ => Extent::Packed { element, mask },
        };
        Some(Access {
            pointer: call.operand(at),
            extent,
            alignment: 1,
            write,
            place: None,
        })
    }

    /// What a call passes by value is copied from memory at the call.
    fn copies_at_call<'m>(&self, call: Value<'m>) -> Vec<Access<'m>> {
        let arguments = call.arguments().enumerate();
        let copies = arguments.filter_map(|(i, pointer)| {
            let ty = call.call_type_attribute(At::Parameter(i as u32), self.byval)?;
            Some(Access {
                pointer,
                extent: Extent::Bytes(ty.stride(self.layout)),
                alignment: self.argument_alignment(call, i as u32),
                write: false,
                place: None,
            })
        });
        copies
            .filter(|access| access.pointer.ty().is_plain_pointer())
            .collect()
    }

    fn argument_alignment(&self, call: Value<'_>, i: u32) -> u64 {
        call.call_attribute(At::Parameter(i), self.align)
            .unwrap_or(1)
            .max(1)
    }
}

fn what(size: u64, kind: atomics::Kind, order: Order) -> atomics::What {
    atomics::What {
        // LLVM has atomics of up to 16 bytes on this processor; larger ones are calls by now.
        size: size as u8,
        kind,
        order: order_number(order),
    }
}

fn order_number(order: Order) -> atomics::Ordering {
    match order {
        // `unordered` is a relaxed access that may be torn apart in time, but not a race.
        Order::LLVMAtomicOrderingNotAtomic
        | Order::LLVMAtomicOrderingUnordered
        | Order::LLVMAtomicOrderingMonotonic => atomics::Ordering::Relaxed,
        Order::LLVMAtomicOrderingAcquire => atomics::Ordering::Acquire,
        Order::LLVMAtomicOrderingRelease => atomics::Ordering::Release,
        Order::LLVMAtomicOrderingAcquireRelease => atomics::Ordering::AcqRel,
        Order::LLVMAtomicOrderingSequentiallyConsistent => atomics::Ordering::SeqCst,
    }
}
