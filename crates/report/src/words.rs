//! How things are called, for all renderers that people read.
//!
//! Names come out of traces and programs: control characters in them are replaced, so that they cannot drive a terminal.

use crate::model::{Finding, Frame, Lock, What};
use std::borrow::Cow;

/// What the bytes belong to, as in `global balance (8 bytes at 0x…)`. None if no more is known than the accesses say.
pub fn location(finding: &Finding) -> Option<String> {
    let location = &finding.location;
    let name = location.name.as_deref().map(clean);
    if finding.event.is_some() {
        return match (location.what, name, &location.address, location.size) {
            (What::Memory, Some(name), Some(address), Some(size)) => {
                Some(format!("{name} ({} at {})", bytes(size), clean(address)))
            }
            (What::Array, Some(name), ..) => Some(name.into_owned()),
            _ => None,
        };
    }
    let by = thread(finding, location.thread);
    let block = location.block.as_ref();
    let block = block.map(|block| (block, bytes(block.size), clean(&block.address)));
    Some(match (location.what, block) {
        (What::Heap, Some((block, size, at))) => {
            let freed = if block.freed { ", now freed" } else { "" };
            let offset = match block.offset {
                0 => String::new(),
                offset => format!("at offset {offset} in "),
            };
            format!("{offset}a heap block of {size} at {at}{freed}, allocated by {by}")
        }
        (What::Global, Some((_, size, at))) => {
            let declared = match &location.declared_at {
                Some(frame) => format!(", declared at{}", position(frame)),
                None => String::new(),
            };
            let name = name.unwrap_or("variable".into());
            format!("global {name} ({size} at {at}){declared}")
        }
        (What::Global, None) => "a global variable without a name".to_owned(),
        (What::Stack, _) => format!("on the stack of {by}"),
        (What::Tls, _) => format!("thread-local memory of {by}"),
        (What::Map, Some((_, size, at))) => format!("in mapped memory of {size} at {at}"),
        _ => return None,
    })
}

/// `mutex balance_lock`, `rwlock for reading 0x…`.
pub fn lock(lock: &Lock) -> String {
    let kind = lock.kind.as_deref().unwrap_or("lock").replace('-', " for ");
    let kind = kind
        .replace("for read", "for reading")
        .replace("for write", "for writing");
    let name = match (&lock.name, &lock.address) {
        (Some(name), _) => name,
        (None, Some(address)) => address,
        (None, None) => "(one of very many)",
    };
    format!("{} {}", clean(&kind), clean(name))
}

/// A thread, if it is known.
pub fn thread(finding: &Finding, id: Option<u32>) -> String {
    match id {
        Some(id) => thread_name(finding, id),
        None => "an unknown thread".to_owned(),
    }
}

/// A thread, by number and name; that of a trace by its name, which is what a trace has in the place of a number.
pub fn thread_name(finding: &Finding, id: u32) -> String {
    if id == 0 && finding.event.is_none() {
        return "main thread".to_owned();
    }
    let known = finding.threads.iter().find(|thread| thread.id == id);
    match known.and_then(|thread| thread.name.as_deref()) {
        Some(name) if finding.event.is_some() => format!("thread {}", clean(name)),
        Some(name) => format!("thread T{id} '{}'", clean(name)),
        None => format!("thread T{id}"),
    }
}

fn bytes(size: u64) -> String {
    match size {
        1 => "1 byte".to_owned(),
        size => format!("{size} bytes"),
    }
}

/// `function file:line:column`, or with addresses where lines are not known.
pub fn place(frame: &Frame) -> String {
    format!("{}{}", function(frame), position(frame))
}

/// The function, with how far behind its start where that is all that is known.
pub fn function(frame: &Frame) -> String {
    match (&frame.function, frame.function_offset) {
        (Some(function), Some(offset)) => format!("{}+{offset:#x}", clean(function)),
        (Some(function), None) => clean(function).into_owned(),
        (None, _) => "<unknown function>".to_owned(),
    }
}

/// ` file:line:column`, or the address where lines are not known.
pub fn position(frame: &Frame) -> String {
    match (&frame.file, &frame.module, &frame.offset) {
        (Some(file), ..) => {
            let mut text = format!(" {}", clean(file));
            for number in [frame.line, frame.column].into_iter().flatten() {
                text.push_str(&format!(":{number}"));
            }
            text
        }
        (None, Some(module), Some(offset)) => format!(" ({}+{})", clean(module), clean(offset)),
        (None, None, Some(offset)) => format!(" ({})", clean(offset)),
        (None, ..) => String::new(),
    }
}

/// With its first letter as a capital.
pub fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}

/// Without characters that a terminal would obey.
pub fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    text.chars()
        .map(|c| match c {
            '\t' => ' ',
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            c => c,
        })
        .collect::<String>()
        .into()
}
