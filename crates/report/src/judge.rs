//! Which findings are reported.

use crate::{Baseline, Finding, Suppressions};

/// Decides which findings are reported.
#[derive(Clone, Debug, Default)]
pub struct Judge {
    /// Rules for what not to report.
    pub suppressions: Suppressions,
    /// What is known.
    pub baseline: Baseline,
    /// Report only the finding with this id.
    pub only: Option<String>,
}

/// Why a finding is not in the report, or that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is.
    Reported,
    /// A suppression matches.
    Suppressed,
    /// The baseline has it.
    Known,
    /// Another one was asked for.
    NotAsked,
}

impl Judge {
    /// Looks at a finding.
    pub fn verdict(&self, finding: &Finding) -> Verdict {
        if self.only.as_ref().is_some_and(|id| *id != finding.id) {
            Verdict::NotAsked
        } else if self.suppressions.matches(finding) {
            Verdict::Suppressed
        } else if self.baseline.has(finding) {
            Verdict::Known
        } else {
            Verdict::Reported
        }
    }
}
