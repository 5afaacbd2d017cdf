//! A sentence on what is likely wrong, where it is obvious.

use crate::model::{Access, Finding, Lock, Operation};

/// The hint for a finding, if there is an obvious one.
pub fn hint(finding: &Finding) -> Option<String> {
    let [earlier, later] = finding.accesses.as_slice() else {
        return None;
    };
    if later.op == Operation::Free || earlier.op == Operation::Free {
        return Some(freed(earlier, later));
    }
    if earlier.atomic != later.atomic {
        return Some(
            "One access is atomic, the other is not. Both must be, or a lock must be held at both."
                .to_owned(),
        );
    }
    let (first, second) = (earlier.locks.as_deref()?, later.locks.as_deref()?);
    // Of some it is not known which they are.
    if first.iter().chain(second).any(|lock| lock.address.is_none())
        && !(first.is_empty() || second.is_empty())
    {
        return None;
    }
    let shared = |lock: &&Lock| second.iter().any(|other| other.address == lock.address);
    if let Some(lock) = first.iter().find(shared) {
        return Some(format!(
            "{} is held at both, but only for reading: writers need it exclusively.",
            capital(&named(lock))
        ));
    }
    match (first, second) {
        ([], []) => None,
        ([one, ..], [other, ..]) => Some(format!(
            "Different locks are held: {} and {}. Only a lock that both hold keeps them apart.",
            named(one),
            named(other)
        )),
        ([only], []) | ([], [only]) => Some(format!("Only one side holds {}.", named(only))),
        _ => Some("Only one side holds locks.".to_owned()),
    }
}

fn freed(earlier: &Access, later: &Access) -> String {
    match (earlier.op, later.op) {
        (Operation::Free, Operation::Free) => "The memory is freed twice, and nothing orders the two.",
        (Operation::Free, _) => "The memory was freed by another thread: this is a use after free.",
        _ => "The memory is freed while another thread may still use it.",
    }
    .to_owned()
}

fn named(lock: &Lock) -> String {
    let kind = lock.kind.as_deref().unwrap_or("lock");
    let kind = kind.split('-').next().unwrap_or(kind);
    match lock.name.as_ref().or(lock.address.as_ref()) {
        Some(name) => format!("{kind} {name}"),
        None => format!("a {kind}"),
    }
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars
        .next()
        .map(|first| first.to_uppercase().chain(chars).collect())
        .unwrap_or_default()
}
