//! What every chart has: title, subtitle, grid, legend beside the plot.

use super::Context;
use super::axis::{ByteAxis, TimeAxis};
use super::canvas::{Align, Area, Canvas, Font};
use super::palette::{self, GREY, GRID, INK, Rgb};
use crate::report::number::duration;
use crate::report::{BASIS, LAYOUT, PLAN};

/// Blank border, design units.
pub const MARGIN: f64 = 36.0;

pub const TITLE: Font = Font {
    size: 34.0,
    bold: true,
    color: INK,
};
pub const HEADING: Font = Font {
    size: 25.0,
    bold: false,
    color: INK,
};
pub const NOTE: Font = Font {
    size: 20.0,
    bold: false,
    color: GREY,
};
pub const LABEL: Font = Font {
    size: 22.0,
    bold: false,
    color: INK,
};
pub const STRONG: Font = Font {
    size: 22.0,
    bold: true,
    color: INK,
};
pub const SMALL: Font = Font {
    size: 19.0,
    bold: false,
    color: GREY,
};

/// Writes the title (the scenario's), the heading (the chart's) and a note on how to read it.
/// Returns the box that is left.
pub fn header(context: &Context, canvas: &mut Canvas, heading: &str, note: &str) -> Area {
    let m = canvas.u(MARGIN);
    let bounds = canvas.bounds();
    let width = bounds.width() - 2.0 * m;
    let scenario = context.scenario;
    let title = scenario
        .description
        .as_deref()
        .filter(|d| !d.trim().is_empty());
    let title = title
        .unwrap_or(&scenario.name)
        .trim()
        .trim_end_matches('.')
        .to_string();
    let facts = format!(
        "{PLAN}, {BASIS} bytes, {LAYOUT} layout · {} of {}",
        match context.replications() {
            1 => "one replication".to_string(),
            n => format!("{n} replications"),
        },
        duration(context.result.measure_ns),
    );
    let mut y = m;
    let mut put = |canvas: &mut Canvas, text: &str, lines: usize, font: Font| {
        for line in canvas.wrap(text, width, lines, font) {
            y += canvas.u(font.size);
            canvas.text(&line, (m, y), Align::Left, font);
            y += canvas.u(font.size * 0.32);
        }
    };
    put(canvas, &title, 2, TITLE);
    put(canvas, heading, 1, HEADING);
    put(canvas, &format!("{facts} · {note}"), 2, NOTE);
    y += canvas.u(18.0);
    Area {
        x0: m,
        y0: y,
        x1: bounds.x1 - m,
        y1: bounds.y1 - m,
    }
}

/// A sentence in place of data.
pub fn message(canvas: &mut Canvas, area: Area, text: &str) {
    let font = Font {
        color: GREY,
        ..HEADING
    };
    let at = ((area.x0 + area.x1) / 2.0, (area.y0 + area.y1) / 2.0);
    let text = canvas.fit(text, area.width(), font);
    canvas.text(&text, at, Align::Center, font);
}

/// The name of row `index`, with its role.
pub fn row_name(context: &Context, index: usize) -> String {
    let row = &context.result.rows[index];
    match context.baseline() {
        Some((b, _)) if b == index && compared(context) > 1 => {
            format!("{} (baseline)", row.model.label)
        }
        _ => row.model.label.clone(),
    }
}

/// How many rows are compared.
pub fn compared(context: &Context) -> usize {
    context.result.rows.iter().filter(|r| !r.fixed).count()
}

/// How a legend entry is drawn.
pub enum Swatch {
    /// The line of a row.
    Line(usize),
    /// A filled box.
    Fill(Rgb),
    /// A thin dark line.
    Rule,
}

impl Swatch {
    fn draw(&self, canvas: &mut Canvas, x: f64, baseline: f64) {
        let (w, y) = (canvas.u(34.0), baseline - canvas.u(7.0));
        match self {
            Swatch::Line(row) => {
                let ends = [(x, y), (x + w, y)];
                model_line(canvas, &ends, *row, 5.0);
            }
            Swatch::Rule => canvas.line(&[(x, y), (x + w, y)], INK, 2.0, 0.8),
            Swatch::Fill(color) => {
                let h = canvas.u(9.0);
                canvas.rect(
                    Area {
                        x0: x,
                        y0: y - h,
                        x1: x + w,
                        y1: y + h,
                    },
                    *color,
                );
            }
        }
    }
}

/// A line in the colour and dash of row `index`.
pub fn model_line(canvas: &mut Canvas, points: &[(f64, f64)], index: usize, width: f64) {
    let color = palette::model(index);
    match palette::dash(index) {
        Some(dash) => canvas.dashed(points, color, width, dash),
        None => canvas.line(points, color, width, 1.0),
    }
}

/// An entry of a legend: name, then lines of detail.
pub struct Entry {
    pub swatch: Swatch,
    pub name: String,
    pub details: Vec<String>,
}

/// Draws entries below each other in `area`, smaller if they would not fit.
pub fn side_legend(canvas: &mut Canvas, area: Area, entries: &[Entry]) {
    let text_x = area.x0 + canvas.u(46.0);
    let width = area.x1 - text_x;
    let layout = |canvas: &mut Canvas, scale: f64, wrap: usize| {
        let (strong, small) = (scaled(STRONG, scale), scaled(SMALL, scale));
        let lines: Vec<(usize, Vec<(String, Font)>)> = entries
            .iter()
            .enumerate()
            .map(|(i, entry)| {
                let mut lines = Vec::new();
                let name = canvas.wrap(&entry.name, width, wrap, strong);
                lines.extend(name.into_iter().map(|l| (l, strong)));
                for detail in &entry.details {
                    let detail = canvas.wrap(detail, width, wrap, small);
                    lines.extend(detail.into_iter().map(|l| (l, small)));
                }
                (i, lines)
            })
            .collect();
        let heights = lines.iter().flat_map(|(_, l)| l).map(|(_, f)| f.size * 1.3);
        let total = canvas.u(heights.sum::<f64>() + 16.0 * scale * entries.len() as f64);
        (lines, total)
    };
    let mut best = layout(canvas, 1.0, 2);
    let mut scale = 1.0;
    for (s, wrap) in [(1.0, 1), (0.9, 1), (0.8, 1), (0.7, 1)] {
        if best.1 <= area.height() {
            break;
        }
        (best, scale) = (layout(canvas, s, wrap), s);
    }
    let mut y = area.y0;
    for (i, lines) in best.0 {
        for (n, (line, font)) in lines.into_iter().enumerate() {
            y += canvas.u(font.size);
            if n == 0 {
                entries[i].swatch.draw(canvas, area.x0, y);
            }
            canvas.text(&line, (text_x, y), Align::Left, font);
            y += canvas.u(font.size * 0.3);
        }
        y += canvas.u(16.0 * scale);
    }
}

/// Draws entries side by side from `(x, y)` (top), in as many rows as `width` asks for, and
/// returns the bottom.
pub fn row_legend(canvas: &mut Canvas, area: Area, entries: &[Entry]) -> f64 {
    let mut x = area.x0;
    let mut y = area.y0 + canvas.u(LABEL.size);
    for entry in entries {
        let width = canvas.u(46.0) + canvas.text_width(&entry.name, LABEL);
        if x > area.x0 && x + width > area.x1 {
            (x, y) = (area.x0, y + canvas.u(LABEL.size * 1.4));
        }
        entry.swatch.draw(canvas, x, y);
        canvas.text(&entry.name, (x + canvas.u(46.0), y), Align::Left, LABEL);
        x += width + canvas.u(34.0);
    }
    y + canvas.u(16.0)
}

pub fn scaled(font: Font, scale: f64) -> Font {
    Font {
        size: font.size * scale,
        ..font
    }
}

/// Horizontal grid lines of `plot` with their labels on the left.
pub fn byte_grid(canvas: &mut Canvas, plot: Area, axis: &ByteAxis, font: Font) {
    for tick in &axis.ticks {
        let y = plot.y1 - plot.height() * tick.at / axis.top;
        canvas.rule((plot.x0, y), (plot.x1, y), GRID, 1.0);
        let at = (plot.x0 - canvas.u(10.0), y + canvas.u(font.size * 0.36));
        canvas.text(&tick.label, at, Align::Right, font);
    }
}

/// The time axis of `plot`: grid lines, and labels below if `labels`.
pub fn time_grid(canvas: &mut Canvas, plot: Area, axis: &TimeAxis, measure_ns: u64, labels: bool) {
    let x_of = |ns: f64| plot.x0 + plot.width() * (ns / measure_ns.max(1) as f64).min(1.0);
    for (i, tick) in axis.ticks.iter().enumerate() {
        let x = x_of(tick.at);
        canvas.rule((x, plot.y0), (x, plot.y1), GRID, 1.0);
        if !labels {
            continue;
        }
        let next = axis.ticks.get(i + 1).map_or(measure_ns as f64, |t| t.at);
        let at = if axis.names_intervals {
            (x + x_of(next)) / 2.0
        } else {
            x
        };
        // A short last day has no room for its name.
        if axis.names_intervals
            && canvas.text_width(&tick.label, LABEL) > x_of(next) - x + canvas.u(8.0)
        {
            continue;
        }
        canvas.text(
            &tick.label,
            (at, plot.y1 + canvas.u(28.0)),
            Align::Center,
            LABEL,
        );
    }
    canvas.rule((plot.x0, plot.y1), (plot.x1, plot.y1), INK, 1.5);
}

/// How many time labels fit across `width` px.
pub fn time_labels(canvas: &mut Canvas, width: f64) -> usize {
    (width / canvas.u(62.0)).floor().clamp(2.0, 25.0) as usize
}
