//! Blocks of the heap that only one variable leads to.
//!
//! A program that reads its input before it starts threads keeps it in such blocks: `table = malloc(...)`. If the variable's own address goes
//! nowhere, all that is ever put into it is new memory, and what is read from it is only used to get at that memory, then
//! all who have a pointer into the blocks are known, and so is all that is written there. To give a block back is to write to it.

use super::ir::{Opcode, Value};
use super::private::{GLOBAL_STEPS, Private, Use, may_write, underlying_objects};
use super::whole::is_fresh;

/// The blocks behind a variable.
pub struct Behind<'m> {
    /// Where pointers to them come from: what allocates them, and loads of the variable.
    pub pointers: Vec<Value<'m>>,
    /// What may write there.
    pub writes: Vec<Value<'m>>,
}

/// What is behind a variable that is a pointer, or an array of them; none if somebody else may lead there. If other modules can name it,
/// that is so as far as this one goes.
pub fn behind<'m>(private: &Private<'m>, global: Value<'m>) -> Option<Behind<'m>> {
    if global.initializer().is_some_and(|first| !first.is_no_memory()) {
        return None;
    }
    // Whole pointers go in and come out, by addresses that are no other's, and nothing else.
    let mut pointers = Vec::new();
    let mut put = Vec::new();
    let known = private.follow(global, GLOBAL_STEPS, |address, user, used| {
        let value = match user.opcode() {
            Some(Opcode::LLVMLoad) => {
                pointers.push(user);
                user
            }
            Some(Opcode::LLVMStore) => {
                put.push(user.operand(0));
                user.operand(0)
            }
            opcode => return used == Use::Becomes || opcode == Some(Opcode::LLVMICmp),
        };
        let whole = value.ty().is_plain_pointer() && user.alignment() >= 8;
        used == Use::Stays && whole && leads_to(address, global)
    });
    if !known {
        return None;
    }
    for value in put {
        for object in underlying_objects(value)? {
            if is_fresh(object) {
                pointers.push(object);
            } else if !object.is_no_memory() && !is_load_of(object, global) {
                return None;
            }
        }
    }
    let mut writes = Vec::new();
    for &pointer in &pointers {
        let known = private.follow(pointer, GLOBAL_STEPS, |pointer, user, used| {
            if used == Use::Stays && may_write(pointer, user) {
                writes.push(user);
            }
            used != Use::Leaves || is_store_to(user, pointer, global)
        });
        if !known {
            return None;
        }
    }
    Some(Behind { pointers, writes })
}

fn leads_to<'m>(address: Value<'m>, global: Value<'m>) -> bool {
    underlying_objects(address).is_some_and(|objects| objects == [global])
}

fn is_load_of<'m>(value: Value<'m>, global: Value<'m>) -> bool {
    value.opcode() == Some(Opcode::LLVMLoad) && leads_to(value.operand(0), global)
}

/// Whether a pointer is put into the variable, and that is all.
fn is_store_to<'m>(user: Value<'m>, pointer: Value<'m>, global: Value<'m>) -> bool {
    user.opcode() == Some(Opcode::LLVMStore)
        && user.operand(0) == pointer
        && leads_to(user.operand(1), global)
}
