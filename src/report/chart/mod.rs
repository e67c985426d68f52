//! The seven charts of a run, as SVG and PNG.
//!
//! plotters draws shapes and text into SVG (`canvas`); resvg turns that into PNG with the
//! embedded DejaVu font (`png`). Axes, legends and panels are laid out here rather than by
//! plotters' chart builder, which knows neither byte and weekday ticks nor legends beside the
//! plot. What charts share: `axis` (scales and ticks), `columns` (bins to pixel columns
//! without losing a peak), `palette` and `frame` (title, legend). Charts read results only
//! through `Context`.

mod axis;
mod bridge;
mod canvas;
mod columns;
mod fleet;
mod footprint;
mod frame;
mod palette;
mod peaks;
mod png;
mod stacked;

#[cfg(test)]
mod tests;

use rayon::prelude::*;

use super::timeline::{MergedBin, merge};
use super::{OutputFile, ReportError, ReportOptions};
use crate::observe::results::{ModelRow, RunResult};
use crate::scenario::Scenario;
use canvas::Canvas;

/// Least width and height of a chart, px: below, text would be too small to read.
pub const MIN_SIZE: (u32, u32) = (640, 360);
/// Greatest width and height of a chart, px.
pub const MAX_SIZE: (u32, u32) = (8192, 8192);

/// What charts are drawn from.
struct Context<'a> {
    scenario: &'a Scenario,
    result: &'a RunResult,
    /// One merged timeline per row.
    timelines: Vec<Vec<MergedBin>>,
}

impl Context<'_> {
    fn replications(&self) -> usize {
        self.result.rows.first().map_or(0, |r| r.replications.len())
    }

    /// The compared row that savings are measured against, with its index.
    fn baseline(&self) -> Option<(usize, &ModelRow)> {
        let compared = self
            .result
            .rows
            .iter()
            .enumerate()
            .filter(|(_, r)| !r.fixed);
        compared.into_iter().nth(self.scenario.baseline)
    }
}

/// Draws one chart.
type Draw = fn(&Context, &mut Canvas);

/// File stems and how to draw them, in the order of docs/outputs.md.
const CHARTS: [(&str, Draw); 7] = [
    ("fleet-memory", fleet::draw),
    ("by-kind", |c, k| stacked::draw(c, k, &stacked::KIND)),
    ("by-owner", |c, k| stacked::draw(c, k, &stacked::OWNER)),
    ("by-activity", |c, k| {
        stacked::draw(c, k, &stacked::ACTIVITY)
    }),
    ("peaks", peaks::draw),
    ("bytes-per-sequence", footprint::draw),
    ("savings-bridge", bridge::draw),
];

/// All charts as PNG files, each followed by its SVG if asked for.
///
/// # Errors
/// [`ReportError::Size`], [`ReportError::Chart`].
pub fn render_all(
    scenario: &Scenario,
    result: &RunResult,
    options: &ReportOptions,
) -> Result<Vec<OutputFile>, ReportError> {
    let (w, h) = options.size;
    let wide = (MIN_SIZE.0..=MAX_SIZE.0).contains(&w);
    if !wide || !(MIN_SIZE.1..=MAX_SIZE.1).contains(&h) {
        return Err(ReportError::Size(options.size));
    }
    let timelines = result.rows.iter().map(|row| merge(row, result)).collect();
    let context = Context {
        scenario,
        result,
        timelines,
    };
    let files: Result<Vec<Vec<OutputFile>>, ReportError> = CHARTS
        .par_iter()
        .map(|&(name, draw)| {
            let failed = |reason| ReportError::Chart {
                chart: name,
                reason,
            };
            let svg = svg(&context, options.size, draw).map_err(failed)?;
            let bytes = png::render(&svg).map_err(failed)?;
            let mut files = vec![OutputFile {
                name: format!("{name}.png"),
                bytes,
            }];
            if options.svg {
                files.push(OutputFile::text(&format!("{name}.svg"), svg));
            }
            Ok(files)
        })
        .collect();
    Ok(files?.into_iter().flatten().collect())
}

fn svg(context: &Context, size: (u32, u32), draw: Draw) -> Result<String, String> {
    canvas::svg(size, |canvas| draw(context, canvas))
}
