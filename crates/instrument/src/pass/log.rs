//! A program that logs what it does, for the proof of the placement (BigFoot §5): every access that needs a check, whether it
//! has one of its own or not; every check that is made; and what synchronises in between. Also accesses that are left out by
//! what all of the program does ([`super::whole`]), and where variables of functions begin.
//!
//! This is for tests only. The functions that are called here are in no library of ours: a test brings them. What
//! synchronises is told apart from [`super::effects`], whose answers are among what is to be proved: by the orderings of atomic
//! operations, and by a table of functions of libc. Calls of other functions outside of the link say nothing.

use super::batches;
use super::builder::Builder;
use super::ir::{Block, Ir, Opcode, Order, Value};
use super::loops::{Sweep, Work};
use crate::decisions::Rule;
use llvm_sys::target::LLVMTargetDataRef;

/// `(address, bytes, write)`.
const ACCESS: &str = "deadheat_log_access";
/// `(address, bytes, write)` of memory that is called private.
const PRIVATE: &str = "deadheat_log_private";
/// `(address, bytes, write)` of memory that is called published.
const PUBLISHED: &str = "deadheat_log_published";
/// `(address, bytes)` of a variable of a function that begins.
const BEGIN: &str = "deadheat_log_begin";
/// `(address, count, stride, bytes, write)`.
const CHECK: &str = "deadheat_log_check";
/// `(footprint, address, bytes, write)`: what is added to a footprint.
const GATHER: &str = "deadheat_log_gather";
/// Its parts are places in equal distances.
const COLUMN: &str = "deadheat_log_column";
/// `(footprint)`: what was added to it is checked.
const COMMIT: &str = "deadheat_log_commit";
/// `(what)`: the sum of [`ACQUIRE`], [`RELEASE`] and [`START`].
const SYNC: &str = "deadheat_log_sync";
/// `(address)` of a block of the heap that is given back.
const FREE: &str = "deadheat_log_free";

const ACQUIRE: u32 = 1;
const RELEASE: u32 = 2;
/// A thread is started.
const START: u32 = 4;

/// Functions that acquire when they return.
const ACQUIRING: &[&str] = &[
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_spin_lock",
    "pthread_join",
    "pthread_barrier_wait",
    "pthread_cond_wait",
    "pthread_once",
    "sem_wait",
];
/// Functions that release when they are called.
const RELEASING: &[&str] = &[
    "pthread_mutex_unlock",
    "pthread_rwlock_unlock",
    "pthread_spin_unlock",
    "pthread_create",
    "pthread_barrier_wait",
    "pthread_cond_wait",
    "pthread_once",
    "sem_post",
];
const FREEING: &[&str] = &["free", "realloc"];

/// Logs an access, before it; by which rule it is left out of all checks, if it is.
pub fn access<'m>(
    ir: Ir<'m>,
    builder: &Builder<'m>,
    (address, bytes): (Value<'m>, Value<'m>),
    write: bool,
    rule: Option<Rule>,
) {
    let name = match rule {
        None => ACCESS,
        Some(Rule::Published) => PUBLISHED,
        Some(_) => PRIVATE,
    };
    let ty = ir.function_type(ir.void(), &[ir.pointer(), ir.integer(64), ir.integer(32)]);
    let hook = ir.declare(name, ty);
    builder.call(hook, ty, &[address, bytes, ir.small(write.into())]);
}

/// Logs where the variables of a function begin.
pub fn locals<'m>(ir: Ir<'m>, builder: &Builder<'m>, entry: Block<'m>, layout: LLVMTargetDataRef) {
    let ty = ir.function_type(ir.void(), &[ir.pointer(), ir.integer(64)]);
    let sized = |at: Value<'m>| Some((at, ir.number(at.local_size(layout)?)));
    let locals: Vec<_> = entry.instructions().filter_map(sized).collect();
    for &(local, bytes) in &locals {
        builder.call(ir.declare(BEGIN, ty), ty, &[local, bytes]);
    }
    // Two that are never in use at once may be given one place.
    for (local, bytes) in locals {
        let starts = |user: &Value<'m>| {
            user.opcode() == Some(Opcode::LLVMCall)
                && user.callee().intrinsic() == Some("llvm.lifetime.start")
        };
        for at in local.users().filter(starts).collect::<Vec<_>>() {
            builder.after(at);
            builder.call(ir.declare(BEGIN, ty), ty, &[local, bytes]);
        }
    }
}

/// Logs a check of `count` places.
pub fn check<'m>(
    ir: Ir<'m>,
    builder: &Builder<'m>,
    address: Value<'m>,
    [count, stride, bytes]: [Value<'m>; 3],
    write: bool,
) {
    let number = ir.integer(64);
    let parameters = [ir.pointer(), number, number, number, ir.integer(32)];
    let ty = ir.function_type(ir.void(), &parameters);
    let hook = ir.declare(CHECK, ty);
    builder.call(hook, ty, &[address, count, stride, bytes, ir.small(write.into())]);
}

/// Logs what is done behind a loop.
pub fn sweep<'m>(ir: Ir<'m>, builder: &Builder<'m>, sweep: &Sweep<'m>) {
    let (pointer, number) = (ir.pointer(), ir.integer(64));
    let call = |name: &str, parameters: &[_], arguments: &[Value<'m>]| {
        let ty = ir.function_type(ir.void(), parameters);
        builder.call(ir.declare(name, ty), ty, arguments);
    };
    match sweep.work {
        Work::Check {
            address,
            count,
            stride,
            size,
        } => check(
            ir,
            builder,
            address,
            [count, stride, ir.number(size)],
            sweep.write,
        ),
        Work::Gather {
            footprint,
            address,
            len,
        } => call(
            GATHER,
            &[pointer, pointer, number, ir.integer(32)],
            &[footprint, address, len, ir.small(sweep.write.into())],
        ),
        Work::Column {
            footprint,
            address,
            count,
            stride,
            size,
        } => call(
            COLUMN,
            &[pointer, pointer, number, number, number, ir.integer(32)],
            &[
                footprint,
                address,
                count,
                stride,
                ir.number(size),
                ir.small(sweep.write.into()),
            ],
        ),
        Work::Commit { footprint } => call(COMMIT, &[pointer], &[footprint]),
        // None if the batch is not full.
        Work::Batch {
            state,
            now,
            count,
            stride,
            size,
            ..
        } => {
            let limit = builder.load(builder.offset(state, batches::LIMIT * 8));
            let full = builder.below(builder.xor(now, limit), ir.number(1));
            let count = builder.select(full, count, ir.number(0));
            let address = builder.pointer(builder.load(state), pointer);
            check(
                ir,
                builder,
                address,
                [count, stride, ir.number(size)],
                sweep.write,
            );
        }
    }
}

/// Logs a write that may go on with a stretch: it waits until its loop is left.
pub fn stretch<'m>(ir: Ir<'m>, builder: &Builder<'m>, state: Value<'m>, (address, size): (Value<'m>, u64)) {
    let ty = ir.function_type(
        ir.void(),
        &[ir.pointer(), ir.pointer(), ir.integer(64), ir.integer(32)],
    );
    let arguments = [state, address, ir.number(size), ir.small(1)];
    builder.call(ir.declare(GATHER, ty), ty, &arguments);
}

/// Logs that the loop is left.
pub fn stretches<'m>(ir: Ir<'m>, builder: &Builder<'m>, state: Value<'m>) {
    let ty = ir.function_type(ir.void(), &[ir.pointer()]);
    builder.call(ir.declare(COMMIT, ty), ty, &[state]);
}

/// Logs what an atomic operation or a fence does to other threads.
pub fn atomic<'m>(ir: Ir<'m>, builder: &Builder<'m>, at: Value<'m>) {
    use Order::*;
    let orders = match at.opcode() {
        Some(Opcode::LLVMAtomicCmpXchg) => {
            let (success, failure) = at.exchange_orderings();
            [success, failure]
        }
        _ => [at.ordering(); 2],
    };
    let mut what = 0;
    for order in orders {
        what |= match order {
            LLVMAtomicOrderingAcquire => ACQUIRE,
            LLVMAtomicOrderingRelease => RELEASE,
            LLVMAtomicOrderingAcquireRelease | LLVMAtomicOrderingSequentiallyConsistent => ACQUIRE | RELEASE,
            _ => 0,
        };
    }
    // A load releases nothing, a store acquires nothing.
    what &= match at.opcode() {
        Some(Opcode::LLVMLoad) => ACQUIRE,
        Some(Opcode::LLVMStore) => RELEASE,
        _ => ACQUIRE | RELEASE,
    };
    builder.after(at);
    sync(ir, builder, what);
}

/// Logs what a call of libc does to other threads.
pub fn call<'m>(ir: Ir<'m>, builder: &Builder<'m>, call: Value<'m>) {
    let callee = call.callee();
    if !callee.is_function() || !callee.is_declaration() {
        return;
    }
    let name = callee.name();
    if RELEASING.contains(&name) {
        builder.before(call);
        let start = if name == "pthread_create" { START } else { 0 };
        sync(ir, builder, RELEASE | start);
    }
    if FREEING.contains(&name) {
        builder.before(call);
        let ty = ir.function_type(ir.void(), &[ir.pointer()]);
        builder.call(ir.declare(FREE, ty), ty, &[call.operand(0)]);
    }
    if ACQUIRING.contains(&name) {
        // Nothing can stand behind a call that ends its block; and nothing of this thread is logged while it runs.
        match call.opcode() {
            Some(Opcode::LLVMInvoke) => builder.before(call),
            _ => builder.after(call),
        }
        sync(ir, builder, ACQUIRE);
    }
}

fn sync<'m>(ir: Ir<'m>, builder: &Builder<'m>, what: u32) {
    if what != 0 {
        let ty = ir.function_type(ir.void(), &[ir.integer(32)]);
        builder.call(ir.declare(SYNC, ty), ty, &[ir.small(what)]);
    }
}
