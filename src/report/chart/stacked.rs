//! `by-kind`, `by-owner`, `by-activity`: what the bytes are, stacked over time, a panel per model.

use super::Context;
use super::axis::{ByteAxis, TimeAxis};
use super::canvas::{Align, Area, Canvas};
use super::columns::{Column, columns, extreme, upper};
use super::frame::{self, Entry, LABEL, SMALL, STRONG, Swatch};
use super::palette::{self, INK, Rgb};
use crate::report::timeline::MergedBin;

/// How a chart splits the bytes.
pub struct Split {
    heading: &'static str,
    names: &'static [&'static str],
    colors: &'static [Rgb],
    parts: fn(&MergedBin) -> &[u64],
}

/// By what the bytes are.
pub const KIND: Split = Split {
    heading: "Memory by kind",
    names: &["KV entries and windows", "recurrent state", "snapshots"],
    colors: &palette::KIND,
    parts: |b| &b.kind,
};

/// By whose they are.
pub const OWNER: Split = Split {
    heading: "Memory by owner",
    names: &["main agents", "sync subagents", "async subagents"],
    colors: &palette::OWNER,
    parts: |b| &b.owner,
};

/// By what their sequence is doing.
pub const ACTIVITY: Split = Split {
    heading: "Memory by activity of its sequence",
    names: &[
        "running",
        "waiting for a tool",
        "blocked on subagents",
        "user thinks",
        "finished",
    ],
    colors: &palette::ACTIVITY,
    parts: |b| &b.activity,
};

/// Panels whose highest value is at least this part of the highest of all share one scale.
const SHARE_SCALE: f64 = 0.15;

pub fn draw(context: &Context, canvas: &mut Canvas, split: &Split) {
    let tops: Vec<f64> = context
        .timelines
        .iter()
        .map(|bins| bins.iter().map(|b| b.max).max().unwrap_or(0) as f64)
        .collect();
    let highest = tops.iter().copied().fold(0.0, f64::max);
    let shared = tops
        .iter()
        .all(|t| *t == 0.0 || *t >= highest * SHARE_SCALE);
    let scale = match (tops.len(), shared) {
        (0 | 1, _) => "",
        (_, true) => "; all panels share the vertical scale",
        (_, false) => "; each panel has its own vertical scale",
    };
    let note = format!("areas: mean over replications{scale}");
    let area = frame::header(context, canvas, split.heading, &note);
    let top = legend(canvas, area, split);
    let area = Area { y0: top, ..area };
    let title_gap = canvas.u(48.0);
    let bottom = Area {
        y1: area.y1 - title_gap,
        ..area
    };
    let mut title = "";
    for (row, (panel, last)) in grid(canvas, bottom, tops.len()).into_iter().enumerate() {
        let top = if shared { highest } else { tops[row] };
        title = self::panel(context, canvas, split, row, panel, top, last);
    }
    let under = ((area.x0 + area.x1) / 2.0, area.y1);
    canvas.text(title, under, Align::Center, LABEL);
}

fn legend(canvas: &mut Canvas, area: Area, split: &Split) -> f64 {
    let shared = ("shared prompts (held once)", palette::SHARED);
    let parts = split
        .names
        .iter()
        .copied()
        .zip(split.colors.iter().copied());
    let mut entries: Vec<Entry> = std::iter::once(shared)
        .chain(parts)
        .map(|(name, color)| Entry {
            swatch: Swatch::Fill(color),
            name: name.to_string(),
            details: vec![],
        })
        .collect();
    let line = Entry {
        swatch: Swatch::Rule,
        name: "highest instant of any replication".to_string(),
        details: vec![],
    };
    entries.push(line);
    frame::row_legend(canvas, area, &entries)
}

/// Boxes for `count` panels, row by row, and whether a panel is the lowest of its column.
fn grid(canvas: &Canvas, area: Area, count: usize) -> Vec<(Area, bool)> {
    let across = match count {
        0..=3 => 1,
        4..=8 => 2,
        _ => 3,
    };
    let down = count.div_ceil(across).max(1);
    let gap = canvas.u(28.0);
    let width = (area.width() - gap * (across - 1) as f64) / across as f64;
    let height = area.height() / down as f64;
    (0..count)
        .map(|i| {
            let (column, row) = (i % across, i / across);
            let x0 = area.x0 + column as f64 * (width + gap);
            let y0 = area.y0 + row as f64 * height;
            (
                Area {
                    x0,
                    y0,
                    x1: x0 + width,
                    y1: y0 + height,
                },
                i + across >= count,
            )
        })
        .collect()
}

/// Draws one panel and returns the title of its time axis.
fn panel(
    context: &Context,
    canvas: &mut Canvas,
    split: &Split,
    row: usize,
    area: Area,
    top: f64,
    last: bool,
) -> &'static str {
    let measure = context.result.measure_ns;
    let name_y = area.y0 + canvas.u(26.0);
    let intervals = if area.height() < canvas.u(200.0) {
        2
    } else {
        4
    };
    let axis = ByteAxis::new(top, intervals).with_units();
    let plot = Area {
        x0: (area.x0 + canvas.u(104.0)).round(),
        y0: (name_y + canvas.u(16.0)).round(),
        x1: (area.x1 - canvas.u(14.0)).round(),
        y1: (area.y1 - canvas.u(if last { 30.0 } else { 12.0 })).round(),
    };
    name(context, canvas, row, (plot.x0, name_y), plot.x1);
    let fits = frame::time_labels(canvas, plot.width());
    let time = TimeAxis::new(measure, fits);
    frame::byte_grid(canvas, plot, &axis, LABEL);
    frame::time_grid(canvas, plot, &time, measure, last);

    let bins = &context.timelines[row];
    let x = |i: usize| plot.x0 + plot.width() * bins[i].start_ns as f64 / measure.max(1) as f64;
    let columns = columns(bins.len(), x, plot.x1);
    let y_of = |v: f64| plot.y1 - plot.height() * v / axis.top;
    layers(canvas, split, bins, &columns, &y_of);
    let highest = upper(&columns, |i| bins[i].max as f64);
    let highest: Vec<(f64, f64)> = highest.into_iter().map(|(x, v)| (x, y_of(v))).collect();
    canvas.line(&highest, INK, 1.0, 0.8);
    canvas.rule((plot.x0, plot.y1), (plot.x1, plot.y1), INK, 1.5);
    time.title
}

fn name(context: &Context, canvas: &mut Canvas, row: usize, at: (f64, f64), right: f64) {
    let text = frame::row_name(context, row);
    let text = canvas.fit(&text, right - at.0, STRONG);
    let width = canvas.text_width(&text, STRONG) + canvas.u(16.0);
    canvas.text(&text, at, Align::Left, STRONG);
    let left = right - at.0 - width;
    if left > canvas.u(60.0) {
        let dtypes = canvas.fit(&context.result.rows[row].model.dtypes, left, SMALL);
        canvas.text(&dtypes, (at.0 + width, at.1), Align::Left, SMALL);
    }
}

/// The stack, shared prompts at the bottom. Where bins are narrower than a pixel, a column shows
/// the state of its highest bin, so that parts still belong together and no peak is lost.
fn layers(
    canvas: &mut Canvas,
    split: &Split,
    bins: &[MergedBin],
    columns: &[Column],
    y_of: &dyn Fn(f64) -> f64,
) {
    let chosen = |c: &Column| {
        let highest = c
            .bins
            .clone()
            .max_by_key(|i| (bins[*i].total, std::cmp::Reverse(*i)));
        &bins[highest.unwrap_or(c.bins.start)]
    };
    let sum = |b: &MergedBin, layers: usize| {
        let parts: u64 = (split.parts)(b)[..layers].iter().sum();
        (b.shared + parts) as f64
    };
    let edge =
        |level: Option<usize>| extreme(columns, |c| y_of(level.map_or(0.0, |n| sum(chosen(c), n))));
    let colors = std::iter::once(palette::SHARED).chain(split.colors.iter().copied());
    let mut below = edge(None);
    for (level, color) in colors.enumerate() {
        let above = edge(Some(level));
        let outline: Vec<(f64, f64)> = above.iter().chain(below.iter().rev()).copied().collect();
        canvas.polygon(&outline, color, 1.0);
        below = above;
    }
}
