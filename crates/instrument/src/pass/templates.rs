//! The inline tests of [`deadheat_abi::shadow`], as functions in LLVM's text form.
//!
//! The pass only puts calls of these functions into the code. A module that defines the ones it used is then linked to
//! it, and LLVM's own inliner puts them in place: it splits blocks, mends phis and keeps source lines right. A test has no
//! source lines of its own, so that all of it, the call of the hook above all, has the line of the access.

use super::ir::{Ir, Type, Value};
use super::{also, batches};
use deadheat_abi::{hooks, shadow, stretches, tls};
use std::fmt::Write;

/// The words of so many cells may be looked at twice: those of more would have to be stored in between.
const IN_REGISTERS: u64 = 4;

/// What kind of test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Shape {
    /// 1, 2, 4 or 8 bytes, aligned to their size; where they are in their granule, if that is known.
    Exact { size: u64, offset: Option<u64> },
    /// 2, 4 or 8 bytes at any address. Most such addresses are aligned after all; those that reach into the next granule
    /// ask the runtime.
    Loose { size: u64 },
    /// Whole granules, up to [`shadow::TESTED`] of them; `aligned` if two, and their address is a multiple of 16.
    Granules { count: u64, aligned: bool },
    /// Any bytes; asks the runtime, unless nothing needs to be checked now.
    Range,
    /// The same if a condition holds.
    RangeIf,
    /// 1, 2, 4 or 8 bytes, aligned to their size, in a loop that may fill stretches ([`super::stretches`]).
    Stretch { size: u64 },
    /// Such a loop is left.
    Stretches,
    /// What a loop has accessed, once a batch of rounds is full ([`super::batches`]).
    Batch,
}

impl Shape {
    /// The inline test for so many bytes, if there is one. `place` is where in its granule the access is, if known.
    pub fn of(bytes: u64, alignment: u64, place: Option<u64>) -> Option<Self> {
        match bytes {
            1 | 2 | 4 | 8 if alignment >= bytes => Some(Shape::Exact {
                size: bytes,
                // Always 0 for whole granules: one test for all of them.
                offset: place.filter(|_| bytes < shadow::GRANULE),
            }),
            2 | 4 | 8 => Some(Shape::Loose { size: bytes }),
            _ if bytes.is_multiple_of(shadow::GRANULE)
                && alignment >= shadow::GRANULE
                && bytes <= shadow::TESTED * shadow::GRANULE =>
            {
                Some(Shape::Granules {
                    count: bytes / shadow::GRANULE,
                    aligned: bytes == 16 && alignment >= 16,
                })
            }
            _ => None,
        }
    }
}

/// An inline test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Template {
    /// A write or a read.
    pub write: bool,
    /// What of.
    pub shape: Shape,
    /// In a function that does not store its context value: it is computed where it is needed.
    pub leaf: bool,
    /// In a program that is to be recorded: the runtime is always asked.
    pub record: bool,
    /// With other lines than its own, whose number is its last argument ([`super::also`]).
    pub also: bool,
}

impl Template {
    /// The function's name.
    pub fn name(self) -> String {
        let access = if self.write { "write" } else { "read" };
        let shape = match self.shape {
            Shape::Exact { size, offset: None } => format!("{size}"),
            Shape::Exact {
                size,
                offset: Some(offset),
            } => format!("{size}.at{offset}"),
            Shape::Granules {
                count,
                aligned: false,
            } => format!("{count}x8"),
            Shape::Granules { count, aligned: true } => format!("{count}x8.aligned"),
            Shape::Loose { size } => format!("{size}.loose"),
            Shape::Range => "range".into(),
            Shape::RangeIf => "range.if".into(),
            Shape::Stretch { size } => format!("{size}.stretch"),
            Shape::Stretches => "stretches".into(),
            Shape::Batch => "batch".into(),
        };
        let leaf = if self.leaf { ".leaf" } else { "" };
        let record = if self.record { ".record" } else { "" };
        let also = if self.also { ".also" } else { "" };
        format!("{}inline.{access}.{shape}{leaf}{record}{also}", hooks::PREFIX)
    }

    /// The function's type: address, length where it is not fixed, condition or state if there is one, the thread's variable, and
    /// the number of further lines.
    pub fn ty<'m>(self, ir: Ir<'m>) -> Type<'m> {
        let pointer = ir.pointer();
        let mut parameters = match self.shape {
            Shape::Exact { .. } | Shape::Loose { .. } | Shape::Granules { .. } => vec![pointer, pointer],
            Shape::Stretch { .. } => vec![pointer, pointer, pointer],
            Shape::Stretches => vec![pointer, pointer],
            Shape::Range => vec![pointer, ir.integer(64), pointer],
            Shape::RangeIf => vec![pointer, ir.integer(64), ir.integer(1), pointer],
            Shape::Batch => [vec![pointer], vec![ir.integer(64); 5], vec![pointer]].concat(),
        };
        parameters.extend(self.also.then(|| ir.integer(64)));
        ir.function_type(ir.void(), &parameters)
    }

    /// The function as it is called; its definition comes later.
    pub fn declare(self, ir: Ir<'_>) -> Value<'_> {
        ir.declare(&self.name(), self.ty(ir))
    }

    /// The runtime's function behind it, and what stands for the length if it has a parameter for one.
    fn hook(self) -> (&'static str, Option<String>) {
        let exact = match self.shape {
            Shape::Exact { size, .. } => Some(size),
            Shape::Granules { count, aligned: true } => Some(count * shadow::GRANULE),
            _ => None,
        };
        let table = if self.write { hooks::WRITE } else { hooks::READ };
        if let Some(&(_, name)) = table.iter().find(|row| Some(u64::from(row.0)) == exact) {
            return (name, None);
        }
        let name = if self.write {
            hooks::WRITE_RANGE
        } else {
            hooks::READ_RANGE
        };
        let len = match self.shape {
            Shape::Exact { size, .. } | Shape::Loose { size } => size.to_string(),
            Shape::Granules { count, .. } => (count * shadow::GRANULE).to_string(),
            _ => "%len".into(),
        };
        (name, Some(len))
    }

    /// The function's definition.
    fn define(self, text: &mut String) -> std::fmt::Result {
        let parameters = match self.shape {
            Shape::Exact { .. } | Shape::Loose { .. } | Shape::Granules { .. } => "ptr %addr, ptr %tls",
            Shape::Stretch { .. } => "ptr %addr, ptr %state, ptr %tls",
            Shape::Stretches => "ptr %state, ptr %tls",
            Shape::Range => "ptr %addr, i64 %len, ptr %tls",
            Shape::RangeIf => "ptr %addr, i64 %len, i1 %active, ptr %tls",
            Shape::Batch => "ptr %state, i64 %now, i64 %far, i64 %count, i64 %stride, i64 %size, ptr %tls",
        };
        let also = if self.also { ", i64 %also" } else { "" };
        let name = self.name();
        writeln!(
            text,
            "define linkonce_odr hidden void @{name}({parameters}{also}) alwaysinline mustprogress nounwind {{"
        )?;
        match self.shape {
            Shape::Exact { size, offset } => {
                let turned = offset.is_none() && size < shadow::GRANULE;
                self.test(text, 1, ((1 << size) - 1) << offset.unwrap_or(0), turned)?;
                writeln!(text, "  %need = icmp ne i64 %new, 0")?;
                if self.write {
                    writeln!(text, "  br i1 %need, label %call, label %done, !prof !0")?;
                } else {
                    writeln!(text, "  br i1 %need, label %ask, label %done, !prof !0")?;
                    self.look_at_shared(text, 1)?;
                }
            }
            Shape::Loose { size } => {
                self.test(text, 1, (1 << size) - 1, size < shadow::GRANULE)?;
                // Bit 3 of the place of the last byte: whether that is in the next granule.
                writeln!(text, "  %first = and i64 %address, {}", shadow::GRANULE - 1)?;
                writeln!(text, "  %last = add i64 %first, {}", size - 1)?;
                writeln!(text, "  %crosses = and i64 %last, {}", shadow::GRANULE)?;
                writeln!(text, "  %both = or i64 %new, %crosses")?;
                writeln!(text, "  %may.need = icmp ne i64 %both, 0")?;
                writeln!(text, "  br i1 %may.need, label %ask, label %done, !prof !0")?;
                // Crossing alone needs nothing while nothing needs to be checked.
                writeln!(text, "ask:")?;
                writeln!(text, "  %need = icmp ne i64 %epoch, 0")?;
                writeln!(text, "  br i1 %need, label %call, label %done")?;
            }
            Shape::Granules { count, .. } => {
                self.test(text, count, 0xff, false)?;
                writeln!(text, "  %need = icmp ne i64 %new, 0")?;
                if self.write || count > IN_REGISTERS {
                    writeln!(text, "  br i1 %need, label %call, label %done, !prof !0")?;
                } else {
                    writeln!(text, "  br i1 %need, label %ask, label %done, !prof !0")?;
                    self.look_at_shared(text, count)?;
                }
            }
            Shape::Range if self.record => writeln!(text, "  br label %call")?,
            Shape::RangeIf if self.record => {
                writeln!(text, "  br i1 %active, label %call, label %done")?;
            }
            Shape::Range => {
                writeln!(text, "  %epoch = load i64, ptr %tls, align 8")?;
                writeln!(text, "  %need = icmp ne i64 %epoch, 0")?;
                writeln!(text, "  br i1 %need, label %call, label %done")?;
            }
            Shape::RangeIf => {
                writeln!(text, "  %epoch = load i64, ptr %tls, align 8")?;
                writeln!(text, "  %checked = icmp ne i64 %epoch, 0")?;
                writeln!(text, "  %need = and i1 %checked, %active")?;
                writeln!(text, "  br i1 %need, label %call, label %done")?;
            }
            Shape::Stretch { size } => {
                self.go_on(text, size)?;
                self.test(text, 1, (1 << size) - 1, size < shadow::GRANULE)?;
                writeln!(text, "  %need = icmp ne i64 %new, 0")?;
                writeln!(text, "  br i1 %need, label %call, label %done")?;
            }
            Shape::Stretches => {
                writeln!(text, "  %table = load ptr, ptr %state, align 8")?;
                writeln!(text, "  %need = icmp ne ptr %table, @{}", stretches::NOTHING)?;
                writeln!(text, "  br i1 %need, label %call, label %done")?;
            }
            Shape::Batch => {
                let at = batches::LIMIT * 8;
                writeln!(text, "  %limit.at = getelementptr i8, ptr %state, i64 {at}")?;
                writeln!(text, "  %limit = load i64, ptr %limit.at, align 8")?;
                writeln!(text, "  %need = icmp eq i64 %now, %limit")?;
                writeln!(text, "  br i1 %need, label %call, label %done, !prof !0")?;
            }
        }
        writeln!(text, "call:")?;
        writeln!(
            text,
            "  %context.at = getelementptr i8, ptr %tls, i64 {}",
            tls::CONTEXT
        )?;
        if self.leaf {
            writeln!(text, "  %caller = load i64, ptr %context.at, align 8")?;
            writeln!(text, "  %return = call ptr @llvm.returnaddress(i32 0)")?;
            writeln!(text, "  %return.number = ptrtoint ptr %return to i64")?;
            writeln!(text, "  %mixed = xor i64 %caller, %return.number")?;
            writeln!(
                text,
                "  %context = mul i64 %mixed, {}",
                tls::CONTEXT_FACTOR as i64
            )?;
        } else {
            writeln!(text, "  %context = load i64, ptr %context.at, align 8")?;
        }
        if self.shape == Shape::Batch {
            return self.end_batch(text);
        }
        let (hook, arguments) = match self.shape {
            Shape::Stretch { size } => (
                hooks::WRITE_STRETCH,
                format!("ptr %state, ptr %addr, i64 {size}, "),
            ),
            Shape::Stretches => (hooks::WRITE_STRETCHES, "ptr %state, ".into()),
            _ => {
                let (hook, len) = self.hook();
                let len = len.map(|len| format!("i64 {len}, ")).unwrap_or_default();
                (hook, format!("ptr %addr, {len}"))
            }
        };
        writeln!(
            text,
            "  call preserve_mostcc void @{hook}({arguments}i64 %context)"
        )?;
        if self.also {
            writeln!(text, "  call void @{}(i64 %also)", also::FUNCTION)?;
        }
        writeln!(text, "  br label %done\ndone:\n  ret void\n}}")
    }

    /// Looks whether a write goes on with a stretch of its loop; if so, that is all.
    fn go_on(self, text: &mut String, size: u64) -> std::fmt::Result {
        writeln!(text, "  %table = load ptr, ptr %state, align 8")?;
        writeln!(text, "  %begins = ptrtoint ptr %addr to i64")?;
        writeln!(text, "  %page = lshr i64 %begins, {}", stretches::PAGE_SHIFT - 3)?;
        writeln!(text, "  %slot0 = and i64 %page, {}", stretches::BYTES - 8)?;
        writeln!(text, "  %slot1 = xor i64 %slot0, 8")?;
        for (slot, next) in ["look", "test"].iter().enumerate() {
            writeln!(
                text,
                "  %end{slot}.at = getelementptr i8, ptr %table, i64 %slot{slot}"
            )?;
            writeln!(text, "  %end{slot} = load i64, ptr %end{slot}.at, align 8")?;
            writeln!(text, "  %goes.on{slot} = icmp eq i64 %end{slot}, %begins")?;
            writeln!(text, "  br i1 %goes.on{slot}, label %move{slot}, label %{next}")?;
            writeln!(text, "move{slot}:")?;
            writeln!(text, "  %later{slot} = add i64 %begins, {size}")?;
            writeln!(text, "  store i64 %later{slot}, ptr %end{slot}.at, align 8")?;
            writeln!(text, "  br label %done")?;
            writeln!(text, "{next}:")?;
        }
        Ok(())
    }

    /// A batch is full: it is checked, and the next one begins where it ends.
    fn end_batch(self, text: &mut String) -> std::fmt::Result {
        let hook = match self.write {
            true => hooks::WRITE_STRIDED,
            false => hooks::READ_STRIDED,
        };
        writeln!(text, "  %from = load ptr, ptr %state, align 8")?;
        writeln!(
            text,
            "  call preserve_mostcc void @{hook}(ptr %from, i64 %count, i64 %stride, i64 %size, i64 %context)"
        )?;
        if self.also {
            writeln!(text, "  call void @{}(i64 %also)", also::FUNCTION)?;
        }
        writeln!(text, "  %way = mul i64 %stride, {}", batches::ROUNDS)?;
        writeln!(text, "  %next = getelementptr i8, ptr %from, i64 %way")?;
        writeln!(text, "  store ptr %next, ptr %state, align 8")?;
        writeln!(text, "  %later = add i64 %limit, %far")?;
        writeln!(text, "  store i64 %later, ptr %limit.at, align 8")?;
        let at = batches::DONE * 8;
        writeln!(text, "  %done.at = getelementptr i8, ptr %state, i64 {at}")?;
        writeln!(text, "  %rounds = load i64, ptr %done.at, align 8")?;
        writeln!(text, "  %more = add i64 %rounds, {}", batches::ROUNDS)?;
        writeln!(text, "  store i64 %more, ptr %done.at, align 8")?;
        writeln!(text, "  br label %done\ndone:\n  ret void\n}}")
    }

    /// Whether the thread has met the read word, which all of the cells have, and found itself behind it.
    fn look_at_shared(self, text: &mut String, count: u64) -> std::fmt::Result {
        writeln!(text, "ask:")?;
        writeln!(text, "  %place = lshr i64 %word0, {}", tls::SHARED_SHIFT)?;
        writeln!(text, "  %which = and i64 %place, {}", tls::SHARED_MASK)?;
        writeln!(
            text,
            "  %all.shared = getelementptr i8, ptr %tls, i64 {}",
            tls::SHARED
        )?;
        writeln!(
            text,
            "  %shared.at = getelementptr i8, ptr %all.shared, i64 %which"
        )?;
        writeln!(text, "  %shared = load i64, ptr %shared.at, align 8")?;
        writeln!(text, "  %other = xor i64 %shared, %word0")?;
        writeln!(text, "  %untouched = and i64 %new, 255")?;
        writeln!(text, "  %unknown0 = or i64 %other, %untouched")?;
        for i in 1..count {
            writeln!(text, "  %apart{i} = xor i64 %word0, %word{i}")?;
            writeln!(text, "  %unknown{i} = or i64 %unknown{}, %apart{i}", i - 1)?;
        }
        writeln!(text, "  %is.unknown = icmp ne i64 %unknown{}, 0", count - 1)?;
        writeln!(text, "  br i1 %is.unknown, label %call, label %done")
    }

    /// The test of `bytes` in the words of `count` cells: `%new` is not 0 if the runtime must be asked. If `turned`, `bytes` are seen from where the access begins.
    fn test(self, text: &mut String, count: u64, bytes: u64, turned: bool) -> std::fmt::Result {
        let word = if self.write {
            shadow::WRITE_WORD
        } else {
            shadow::READ_WORD
        };
        writeln!(text, "  %address = ptrtoint ptr %addr to i64")?;
        writeln!(text, "  %mask.at = getelementptr i8, ptr %tls, i64 {}", tls::MASK)?;
        writeln!(text, "  %mask = load i64, ptr %mask.at, align 8")?;
        writeln!(text, "  %base.at = getelementptr i8, ptr %tls, i64 {}", tls::BASE)?;
        writeln!(text, "  %base = load ptr, ptr %base.at, align 8")?;
        writeln!(
            text,
            "  %epoch.at = getelementptr i8, ptr %tls, i64 {}",
            tls::EPOCH
        )?;
        writeln!(text, "  %epoch = load i64, ptr %epoch.at, align 8")?;
        writeln!(text, "  %granule = and i64 %address, %mask")?;
        writeln!(text, "  %distance = shl i64 %granule, 1")?;
        writeln!(text, "  %cell = getelementptr i8, ptr %base, i64 %distance")?;
        for i in 0..count {
            let at = i * shadow::CELL + word;
            writeln!(text, "  %word{i}.at = getelementptr i8, ptr %cell, i64 {at}")?;
            writeln!(text, "  %word{i} = load i64, ptr %word{i}.at, align 8")?;
            writeln!(text, "  %differs{i} = xor i64 %word{i}, %epoch")?;
            match i {
                0 => writeln!(text, "  %all0 = or i64 %differs0, 0")?,
                _ => writeln!(text, "  %all{i} = or i64 %all{}, %differs{i}", i - 1)?,
            }
        }
        let last = count - 1;
        let bits = (shadow::EPOCH | bytes) as i64;
        if turned {
            // The processor turns a byte by the low three bits of the count: by where the access is in its granule.
            // LLVM knows the instruction, but not that the rest of the word may stay where it is.
            writeln!(
                text,
                "  %turned = call i64 asm \"rorb %cl, ${{0:b}}\", \"=q,0,{{cx}},~{{flags}}\"(i64 %all{last}, i64 %address)"
            )?;
            writeln!(text, "  %new = and i64 %turned, {bits}")?;
        } else {
            writeln!(text, "  %new = and i64 %all{last}, {bits}")?;
        }
        Ok(())
    }
}

/// A module that defines the tests used. `head` has the data layout and the target.
pub fn module(head: &str, used: impl Iterator<Item = Template>) -> String {
    let mut text = format!("{head}\ndeclare ptr @llvm.returnaddress(i32)\n");
    // Bound when the program is loaded: the resolver of lazy binding spoils r10, which these hooks must preserve.
    for (read, write) in hooks::READ.iter().zip(&hooks::WRITE) {
        for hook in [read.1, write.1] {
            let _ = writeln!(
                text,
                "declare preserve_mostcc void @{hook}(ptr, i64) cold nounwind nonlazybind"
            );
        }
    }
    for hook in [hooks::READ_RANGE, hooks::WRITE_RANGE] {
        let _ = writeln!(
            text,
            "declare preserve_mostcc void @{hook}(ptr, i64, i64) nounwind nonlazybind"
        );
    }
    let used: Vec<Template> = used.collect();
    if used.iter().any(|template| template.shape == Shape::Batch) {
        for hook in [hooks::READ_STRIDED, hooks::WRITE_STRIDED] {
            let _ = writeln!(
                text,
                "declare preserve_mostcc void @{hook}(ptr, i64, i64, i64, i64) nounwind nonlazybind"
            );
        }
    }
    if used.iter().any(|template| template.shape == Shape::Stretches) {
        let _ = writeln!(
            text,
            "@{} = linkonce_odr hidden global [{} x i8] zeroinitializer, align 64",
            stretches::NOTHING,
            stretches::BYTES
        );
        for (hook, more) in [(hooks::WRITE_STRETCH, ", ptr, i64"), (hooks::WRITE_STRETCHES, "")] {
            let _ = writeln!(
                text,
                "declare preserve_mostcc void @{hook}(ptr{more}, i64) nounwind nonlazybind"
            );
        }
    }
    if used.iter().any(|template| template.also) {
        let _ = writeln!(text, "declare void @{}(i64) nounwind", also::FUNCTION);
    }
    for template in used {
        template
            .define(&mut text)
            .expect("a string takes all that is written");
    }
    text.push_str("!0 = !{!\"branch_weights\", i32 1, i32 100000}\n");
    text
}
