//! `savings-bridge`: from the baseline's mean bytes to a model's, by kind.
//!
//! The steps are differences of exact integrals, so they add up: baseline + KV + state +
//! snapshots = model. Shared prompts (with their snapshots) count as KV.

use super::Context;
use super::axis::ByteAxis;
use super::canvas::{Align, Area, Canvas, Font};
use super::frame::{self, LABEL, SMALL, STRONG};
use super::palette::{self, GREY, GRID, INK, Rgb};
use crate::observe::results::{ModelRow, RowReplication};
use crate::report::number::{bytes, percent};

/// Mean bytes of a row by kind: KV with shared prompts, state, snapshots.
fn kinds(row: &ModelRow, window: u64) -> [f64; 3] {
    let mean = |get: &dyn Fn(&RowReplication) -> u128| {
        let sum: u128 = row.replications.iter().map(get).sum();
        sum as f64 / (row.replications.len().max(1) as f64 * window.max(1) as f64)
    };
    [
        mean(&|r| r.kind_byte_ns[0] + r.shared_byte_ns),
        mean(&|r| r.kind_byte_ns[1]),
        mean(&|r| r.kind_byte_ns[2]),
    ]
}

/// One bar of a bridge, from `from` to `to` bytes.
#[derive(Debug)]
struct Step {
    name: String,
    from: f64,
    to: f64,
    color: Rgb,
    /// A total starts at 0; a change starts where the last bar ended.
    total: bool,
}

fn steps(context: &Context, base: (usize, &ModelRow), row: usize) -> Vec<Step> {
    let window = context.result.measure_ns;
    let model = &context.result.rows[row];
    let (b, m) = (kinds(base.1, window), kinds(model, window));
    let start: f64 = b.iter().sum();
    let total = |name: &str, to: f64, index: usize| Step {
        name: name.to_string(),
        from: 0.0,
        to,
        color: palette::model(index),
        total: true,
    };
    let mut out = vec![total("baseline", start, base.0)];
    let mut at = start;
    for (i, name) in ["KV", "state", "snapshots"].into_iter().enumerate() {
        let to = at + m[i] - b[i];
        let step = Step {
            name: name.into(),
            from: at,
            to,
            color: palette::KIND[i],
            total: false,
        };
        out.push(step);
        at = to;
    }
    out.push(total("net", m.iter().sum(), row));
    out
}

pub fn draw(context: &Context, canvas: &mut Canvas) {
    let note = "mean bytes over the window; KV includes shared prompts and their snapshots; \
                percentages are of the baseline";
    let heading = match context.baseline() {
        Some((_, row)) => format!(
            "From {} to each model: what saves and what costs",
            row.model.label
        ),
        None => "Savings".to_string(),
    };
    let area = frame::header(context, canvas, &heading, note);
    let Some(base) = context.baseline() else {
        return frame::message(canvas, area, "There is no baseline to compare with.");
    };
    let others: Vec<usize> = (0..context.result.rows.len())
        .filter(|row| *row != base.0 && !context.result.rows[*row].fixed)
        .collect();
    if others.is_empty() {
        return frame::message(
            canvas,
            area,
            "Only one model is compared: nothing to save against.",
        );
    }
    let bridges: Vec<Vec<Step>> = others
        .iter()
        .map(|row| steps(context, base, *row))
        .collect();
    let highest = bridges
        .iter()
        .flatten()
        .map(|s| s.from.max(s.to))
        .fold(0.0, f64::max);
    if highest <= 0.0 {
        return frame::message(canvas, area, "No memory was held in the window.");
    }
    for (area, (row, steps)) in panels(canvas, area, others.len())
        .into_iter()
        .zip(others.iter().zip(&bridges))
    {
        panel(context, canvas, area, *row, steps, highest);
    }
}

fn panels(canvas: &Canvas, area: Area, count: usize) -> Vec<Area> {
    let across = match count {
        1 => 1,
        2..=4 => 2,
        _ => 3,
    };
    let down = count.div_ceil(across);
    let gap = canvas.u(36.0);
    let width = (area.width() - gap * (across - 1) as f64) / across as f64;
    let height = (area.height() - gap * 0.5 * (down - 1) as f64) / down as f64;
    (0..count)
        .map(|i| {
            let x0 = area.x0 + (i % across) as f64 * (width + gap);
            let y0 = area.y0 + (i / across) as f64 * (height + gap * 0.5);
            // One or two bridges need not fill the page.
            Area {
                x0,
                y0,
                x1: x0 + width,
                y1: y0 + height.min(canvas.u(520.0)),
            }
        })
        .collect()
}

fn panel(
    context: &Context,
    canvas: &mut Canvas,
    area: Area,
    row: usize,
    steps: &[Step],
    highest: f64,
) {
    let model = &context.result.rows[row].model;
    let scale = (area.height() / canvas.u(330.0)).clamp(0.72, 1.0);
    let (label, strong) = (frame::scaled(LABEL, scale), frame::scaled(STRONG, scale));
    let small = frame::scaled(SMALL, scale);
    let mut y = area.y0 + canvas.u(strong.size);
    for (text, font) in [(&model.label, strong), (&model.dtypes, small)] {
        let text = canvas.fit(text, area.width(), font);
        canvas.text(&text, (area.x0, y), Align::Left, font);
        y += canvas.u(font.size * 1.3);
    }
    let axis = ByteAxis::new(highest, 3).with_units();
    let names = canvas.text_width("snapshots", label) + canvas.u(14.0);
    let widest = steps
        .iter()
        .map(|s| canvas.text_width(&value(s, steps[0].to), label))
        .fold(0.0, f64::max);
    let plot = Area {
        x0: (area.x0 + names).round(),
        y0: (y - canvas.u(strong.size * 0.4)).round(),
        x1: (area.x1 - widest.min(area.width() * 0.5) - canvas.u(12.0)).round(),
        y1: (area.y1 - canvas.u(34.0 * scale)).round(),
    };
    let x_of = |v: f64| plot.x0 + plot.width() * v / axis.top;
    for tick in &axis.ticks {
        let x = x_of(tick.at);
        canvas.rule((x, plot.y0), (x, plot.y1), GRID, 1.0);
        let at = (x, plot.y1 + canvas.u(25.0 * scale));
        canvas.text(
            &tick.label,
            at,
            Align::Center,
            Font {
                color: GREY,
                ..label
            },
        );
    }
    let slot = plot.height() / steps.len() as f64;
    for (i, step) in steps.iter().enumerate() {
        let y0 = plot.y0 + slot * i as f64 + slot * 0.14;
        let y1 = y0 + slot * 0.72;
        let (left, right) = (step.from.min(step.to), step.from.max(step.to));
        // A change too small to see is still a hairline.
        let x1 = x_of(right).max(x_of(left) + 2.0);
        canvas.rect(
            Area {
                x0: x_of(left),
                y0,
                x1,
                y1,
            },
            step.color,
        );
        if i + 1 < steps.len() {
            let x = x_of(step.to);
            canvas.rule((x, y1), (x, y0 + slot), GREY, 1.5);
        }
        let baseline = (y0 + y1) / 2.0 + canvas.u(label.size * 0.36);
        let font = if step.total { strong } else { label };
        canvas.text(
            &step.name,
            (plot.x0 - canvas.u(12.0), baseline),
            Align::Right,
            label,
        );
        let text = value(step, steps[0].to);
        canvas.text(&text, (x1 + canvas.u(10.0), baseline), Align::Left, font);
    }
    canvas.rule((plot.x0, plot.y0), (plot.x0, plot.y1), INK, 1.5);
}

/// What stands beside a bar: a total, or a signed change with its part of the baseline.
fn value(step: &Step, baseline: f64) -> String {
    let part = |v: f64| {
        if baseline > 0.0 {
            percent(v / baseline)
        } else {
            "n/a".to_string()
        }
    };
    if step.total {
        return match step.name.as_str() {
            "net" => format!("{} ({})", bytes(step.to), part(step.to)),
            _ => bytes(step.to),
        };
    }
    let change = step.to - step.from;
    let sign = match change {
        c if c > 0.0 => "+",
        c if c < 0.0 => "−",
        _ => "±",
    };
    format!(
        "{sign}{} ({sign}{})",
        bytes(change.abs()),
        part(change.abs())
    )
}
