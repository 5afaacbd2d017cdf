//! The causal models, by name.

use std::fmt;
use std::str::FromStr;

/// What a schedule may change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Model {
    /// Happens-before: accesses that the observed synchronisation leaves unordered.
    Hb,
    /// Causally-precedes: critical sections without conflict may change places.
    Cp,
    /// Maximal causality: everything may change that leaves the values read as they were.
    Mc,
    /// Maximal causality with calls into untraced code: RDIT.
    #[default]
    Rdit,
}

impl Model {
    /// All of them, from the weakest to the strongest but for RDIT, which sees calls.
    pub const ALL: [Model; 4] = [Model::Hb, Model::Cp, Model::Mc, Model::Rdit];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Model::Hb => "hb",
            Model::Cp => "cp",
            Model::Mc => "mc",
            Model::Rdit => "rdit",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Model {
    type Err = String;

    fn from_str(name: &str) -> Result<Model, String> {
        let model = Model::ALL.into_iter().find(|model| model.as_str() == name);
        model.ok_or_else(|| format!("there is no model `{name}`"))
    }
}

/// What decides whether there is a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SolverName {
    /// The own one: a SAT solver with a theory of orders.
    #[default]
    Order,
    /// Z3's difference logic, to compare with.
    #[cfg(feature = "z3")]
    Z3,
}

impl SolverName {
    /// All that this build has.
    pub const ALL: [SolverName; 1 + cfg!(feature = "z3") as usize] = [
        SolverName::Order,
        #[cfg(feature = "z3")]
        SolverName::Z3,
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            SolverName::Order => "order",
            #[cfg(feature = "z3")]
            SolverName::Z3 => "z3",
        }
    }
}

impl fmt::Display for SolverName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for SolverName {
    type Err = String;

    fn from_str(name: &str) -> Result<SolverName, String> {
        let solver = SolverName::ALL.into_iter().find(|solver| solver.as_str() == name);
        solver.ok_or_else(|| format!("there is no solver `{name}`"))
    }
}
