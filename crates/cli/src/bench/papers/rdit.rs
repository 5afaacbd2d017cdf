//! RDIT, Tables 5.3 and 5.4. Their parts are not there yet.

use super::Sources;
use anyhow::{Result, bail};

/// Races of four models on traces without synchronisation.
pub fn table_5_3(sources: &Sources<'_>) -> Result<String> {
    sources.traces()?;
    bail!("this table needs prediction by the models HB, CP, MC and RDIT, which deadheat does not have yet")
}

/// Recording with and without BarrierPairs.
pub fn table_5_4(_: &Sources<'_>) -> Result<String> {
    bail!("this table needs recording of running programs, which deadheat does not have yet")
}
