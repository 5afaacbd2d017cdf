//! Loads of whole vectors that were loads of some elements.
//!
//! Where LLVM knows that all of the memory is there, it makes a masked load a plain one and selects the elements that were
//! asked for. It does so in spite of `sanitize_thread`, and reads what the program does not read: a check of all elements
//! could report a race that is not there. LLVM names such loads, and so they are known.

use super::ir::{Opcode, Value};

/// What LLVM calls them; a number may follow.
const NAME: &str = "unmaskedload";

/// Of a load that LLVM widened: the instruction that selects from it, by which mask, and which bits of it mean "read".
pub struct Selection<'m> {
    /// In the same block, and nothing that could synchronise comes between: the check can stand before it.
    pub at: Value<'m>,
    /// The mask.
    pub mask: Value<'m>,
    /// Whether the elements whose bits are set were asked for, or those whose bits are not.
    pub set: bool,
}

/// Whether a load is such, and if so, which elements were asked for.
///
/// What can be missed: where the other elements were undefined, LLVM drops the selection, and which elements were asked
/// for cannot be told any more. Such a load is not checked: rather that than an alarm about what the program does not
/// read. (Only code for processors with AVX has masked loads, and only those of known addresses get here.)
pub fn find<'m>(load: Value<'m>, behind: &[Value<'m>]) -> Option<Option<Selection<'m>>> {
    if load.opcode() != Some(Opcode::LLVMLoad)
        || load.ty().vector().is_none()
        || !load.name().starts_with(NAME)
    {
        return None;
    }
    let mut users = load.users();
    let (Some(user), None) = (users.next(), users.next()) else {
        return Some(None);
    };
    let mask = match user.opcode() {
        Some(Opcode::LLVMSelect) => user.operand(0),
        _ => return Some(None),
    };
    let near = behind
        .iter()
        .take_while(|at| !at.is_call() || at.callee().intrinsic().is_some());
    let near = near.into_iter().any(|&at| at == user);
    let found = near && mask.ty().vector().is_some() && mask != load;
    Some(found.then(|| Selection {
        at: user,
        mask,
        set: user.operand(1) == load,
    }))
}
