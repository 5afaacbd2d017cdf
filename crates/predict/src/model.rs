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
