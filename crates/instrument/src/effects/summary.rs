//! What the functions of one module do themselves, and whom they call.

use super::Effects;

/// A module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Its functions, also those that it only calls.
    pub functions: Vec<Function>,
    /// The numbers of functions that run before `main`.
    pub constructors: Vec<u32>,
    /// Whether it has other code run before `main`, or calls `main` itself.
    pub starts_otherwise: bool,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// As the linker knows it.
    pub name: String,
    /// Who can see it.
    pub reach: Reach,
    /// What its own instructions do; for one that is only declared, nothing.
    pub own: Effects,
    /// Whether it has loops that end unless they do something that can be observed.
    pub loops: bool,
    /// No more than this is possible, by its attributes.
    pub limit: Effects,
    /// The numbers of functions that it calls, each with the most that the call can do by its attributes.
    pub calls: Vec<(u32, Effects)>,
    /// What it does with the addresses that it is given, for each parameter; none for one that is only declared.
    pub parameters: Vec<Parameter>,
}

/// What a function does with an address that it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parameter {
    /// A copy of it may stay when the function returns, or be seen by others meanwhile.
    pub kept: bool,
    /// The numbers of functions that it is handed to, and as which parameter.
    pub given: Vec<(u32, u32)>,
}

/// Who can see a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nobody outside of the module.
    Module,
    /// Nobody outside of the program or library.
    Output,
    /// Everybody.
    All,
    /// It is only declared here.
    Declared,
}

const REACHES: [Reach; 4] = [Reach::Module, Reach::Output, Reach::All, Reach::Declared];

impl Summary {
    /// As bytes.
    pub fn write(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.starts_otherwise)];
        bytes.extend((self.constructors.len() as u32).to_le_bytes());
        for constructor in &self.constructors {
            bytes.extend(constructor.to_le_bytes());
        }
        for function in &self.functions {
            let reach = REACHES.iter().position(|&reach| reach == function.reach);
            bytes.extend([
                reach.unwrap_or_default() as u8,
                function.own.bits(),
                u8::from(function.loops),
                function.limit.bits(),
            ]);
            bytes.extend((function.name.len() as u32).to_le_bytes());
            bytes.extend(function.name.bytes());
            bytes.extend((function.calls.len() as u32).to_le_bytes());
            for (callee, limit) in &function.calls {
                bytes.extend(callee.to_le_bytes());
                bytes.push(limit.bits());
            }
            bytes.extend((function.parameters.len() as u32).to_le_bytes());
            for parameter in &function.parameters {
                bytes.push(parameter.kept.into());
                bytes.extend((parameter.given.len() as u32).to_le_bytes());
                for (callee, index) in &parameter.given {
                    bytes.extend(callee.to_le_bytes());
                    bytes.extend(index.to_le_bytes());
                }
            }
        }
        bytes
    }

    /// From those bytes; none if they are no summary.
    pub fn read(mut bytes: &[u8]) -> Option<Summary> {
        let starts_otherwise = *bytes.split_off_first()? != 0;
        let mut constructors = Vec::new();
        for _ in 0..take_number(&mut bytes)? {
            constructors.push(take_number(&mut bytes)?);
        }
        let mut functions = Vec::new();
        while !bytes.is_empty() {
            let &[reach, own, loops, limit] = bytes.split_off(..4)?.first_chunk()?;
            let name = take_number(&mut bytes)? as usize;
            let name = String::from_utf8(bytes.split_off(..name)?.to_vec()).ok()?;
            let count = take_number(&mut bytes)?;
            let mut calls = Vec::new();
            for _ in 0..count {
                let callee = take_number(&mut bytes)?;
                calls.push((callee, Effects::from_bits(*bytes.split_off_first()?)));
            }
            let mut parameters = Vec::new();
            for _ in 0..take_number(&mut bytes)? {
                let kept = *bytes.split_off_first()? != 0;
                let mut given = Vec::new();
                for _ in 0..take_number(&mut bytes)? {
                    given.push((take_number(&mut bytes)?, take_number(&mut bytes)?));
                }
                parameters.push(Parameter { kept, given });
            }
            functions.push(Function {
                name,
                reach: *REACHES.get(usize::from(reach))?,
                own: Effects::from_bits(own),
                loops: loops != 0,
                limit: Effects::from_bits(limit),
                calls,
                parameters,
            });
        }
        let given = functions
            .iter()
            .flat_map(|function| &function.parameters)
            .flat_map(|parameter| &parameter.given);
        let whole = functions
            .iter()
            .flat_map(|function| &function.calls)
            .map(|&(callee, _)| callee)
            .chain(constructors.iter().copied())
            .chain(given.map(|&(callee, _)| callee))
            .all(|callee| (callee as usize) < functions.len());
        whole.then_some(Summary {
            functions,
            constructors,
            starts_otherwise,
        })
    }
}

fn take_number(bytes: &mut &[u8]) -> Option<u32> {
    bytes.split_off(..4)?.try_into().ok().map(u32::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let function = |name: &str, reach, calls: &[(u32, Effects)]| Function {
            name: name.into(),
            reach,
            own: Effects::from_bits(5),
            loops: true,
            limit: Effects::UNKNOWN,
            calls: calls.to_vec(),
            parameters: vec![
                Parameter {
                    kept: true,
                    given: Vec::new(),
                },
                Parameter {
                    kept: false,
                    given: vec![(1, 0), (0, 7)],
                },
            ],
        };
        let summary = Summary {
            functions: vec![
                function("a", Reach::Module, &[(1, Effects::NONE), (0, Effects::UNKNOWN)]),
                function("", Reach::Declared, &[]),
            ],
            constructors: vec![1],
            starts_otherwise: true,
        };
        let bytes = summary.write();
        assert_eq!(Summary::read(&bytes), Some(summary));
        for end in 1..bytes.len() {
            let cut = Summary::read(&bytes[..end]);
            assert!(cut.is_none_or(|cut| cut.functions.len() < 2), "{end}");
        }
    }
}
