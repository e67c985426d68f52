//! Charts.
use super::{OutputFile, ReportError, ReportOptions};
use crate::observe::results::RunResult;
use crate::scenario::Scenario;

/// Least width and height of a chart, px.
pub const MIN_SIDE: u32 = 300;
/// Greatest width and height of a chart, px.
pub const MAX_SIDE: u32 = 8192;

/// All charts.
pub fn render_all(
    _scenario: &Scenario,
    _result: &RunResult,
    _options: &ReportOptions,
) -> Result<Vec<OutputFile>, ReportError> {
    Ok(Vec::new())
}
