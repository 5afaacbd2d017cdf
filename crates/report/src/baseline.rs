//! A baseline: an earlier JSON report whose findings are known and not reported again.
//!
//! Findings are compared by [`Finding::id`], which is made of functions, files, lines and kinds of access. A race that
//! has moved to another line is reported again: a baseline must not hide a new race. For what is to stay hidden while
//! the code changes there are suppressions.

use crate::{Error, Finding};
use std::collections::HashSet;

/// The findings of an earlier report.
#[derive(Clone, Debug, Default)]
pub struct Baseline {
    ids: HashSet<String>,
}

impl Baseline {
    /// Reads the text of a JSON report.
    pub fn parse(text: &str) -> Result<Baseline, Error> {
        let report = crate::json::read(text)?;
        Ok(Baseline {
            ids: report.races.into_iter().map(|race| race.id).collect(),
        })
    }

    /// Whether a finding is known.
    pub fn has(&self, finding: &Finding) -> bool {
        self.ids.contains(&finding.id)
    }
}
