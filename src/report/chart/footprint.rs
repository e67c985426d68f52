//! `bytes-per-sequence`: what one sequence holds against its context, with the scenario's
//! contexts marked.

use super::Context;
use super::axis::{byte_label, log_ticks, token_label};
use super::canvas::{Align, Area, Canvas};
use super::frame::{self, Entry, LABEL, SMALL, Swatch};
use super::palette::{GREY, GRID, INK};
use crate::report::number::{bytes, count};
use crate::scenario::{Agent, Law, LawKind, SystemPrompt};

/// The axis starts here, tokens.
const FIRST_TOKENS: f64 = 1e3;
/// Contexts to show when no agent has a limit, tokens.
const DEFAULT_LAST: f64 = 1e6;
/// No context is longer than this, tokens: bytes stay far from overflow.
const LAST_TOKENS: f64 = 1e9;
/// Most marks that are drawn.
const MARKS: usize = 6;

/// A context of the scenario.
struct Mark {
    tokens: f64,
    text: String,
}

pub fn draw(context: &Context, canvas: &mut Canvas) {
    let note = "one sequence, snapshots and shared prompts not included; both axes logarithmic";
    let area = frame::header(
        context,
        canvas,
        "Memory of one sequence by context length",
        note,
    );
    let marks = marks(context);
    let farthest = marks.iter().map(|m| m.tokens).fold(0.0, f64::max);
    let limited = context.scenario.agents.iter().any(|a| a.limit.is_some());
    let last = if limited {
        farthest
    } else {
        farthest.max(DEFAULT_LAST)
    };
    let (x_low, x_high) = (FIRST_TOKENS, last.clamp(FIRST_TOKENS * 10.0, LAST_TOKENS));
    let curves: Vec<Vec<(f64, f64)>> = context
        .result
        .rows
        .iter()
        .map(|row| curve(|t| row.model.footprint.bytes(t), x_low, x_high))
        .collect();
    let all = || curves.iter().flatten().map(|p| p.1);
    let (low, high) = (
        all().fold(f64::INFINITY, f64::min),
        all().fold(0.0, f64::max),
    );
    if high == 0.0 {
        return frame::message(canvas, area, "No model holds memory at these contexts.");
    }
    let (y_low, y_high) = (low / 1.3, (high * 1.3).max(low * 2.0));

    let legend_width = (area.width() * 0.27).min(canvas.u(430.0));
    let strip = canvas.u(26.0) * marks.len().min(3) as f64;
    let plot = Area {
        x0: (area.x0 + canvas.u(140.0)).round(),
        y0: (area.y0 + strip + canvas.u(8.0)).round(),
        x1: (area.x1 - legend_width - canvas.u(36.0)).round(),
        y1: (area.y1 - canvas.u(62.0)).round(),
    };
    let x_of = |t: f64| plot.x0 + plot.width() * (t / x_low).ln() / (x_high / x_low).ln();
    let y_of = |b: f64| plot.y1 - plot.height() * (b / y_low).ln() / (y_high / y_low).ln();
    for tick in log_ticks(x_low, x_high, token_label) {
        let x = x_of(tick.at);
        canvas.rule((x, plot.y0), (x, plot.y1), GRID, 1.0);
        canvas.text(
            &tick.label,
            (x, plot.y1 + canvas.u(28.0)),
            Align::Center,
            LABEL,
        );
    }
    for tick in log_ticks(y_low, y_high, byte_label) {
        let y = y_of(tick.at);
        canvas.rule((plot.x0, y), (plot.x1, y), GRID, 1.0);
        let at = (plot.x0 - canvas.u(10.0), y + canvas.u(LABEL.size * 0.36));
        canvas.text(&tick.label, at, Align::Right, LABEL);
    }
    canvas.rule((plot.x0, plot.y1), (plot.x1, plot.y1), INK, 1.5);
    let middle = (plot.y0 + plot.y1) / 2.0;
    canvas.text_up(
        "bytes of one sequence",
        (area.x0 + canvas.u(16.0), middle),
        LABEL,
    );
    let under = ((plot.x0 + plot.x1) / 2.0, area.y1);
    canvas.text(
        "context length (tokens, 1K = 1000)",
        under,
        Align::Center,
        LABEL,
    );
    draw_marks(canvas, &marks, plot, area.y0, &x_of);
    for (row, curve) in curves.iter().enumerate() {
        let line: Vec<(f64, f64)> = curve.iter().map(|p| (x_of(p.0), y_of(p.1))).collect();
        frame::model_line(canvas, &line, row, 4.0);
    }
    let side = Area {
        x0: area.x1 - legend_width,
        y0: plot.y0,
        x1: area.x1,
        y1: area.y1,
    };
    legend(context, canvas, side, x_high);
}

/// Points of a model's curve where it holds anything.
fn curve(bytes: impl Fn(u64) -> u64, low: f64, high: f64) -> Vec<(f64, f64)> {
    const POINTS: usize = 120;
    (0..=POINTS)
        .map(|i| low * (high / low).powf(i as f64 / POINTS as f64))
        .map(|tokens| tokens.round())
        .map(|tokens| (tokens, bytes(tokens as u64) as f64))
        .filter(|p| p.1 > 0.0)
        .collect()
}

/// Mean tokens per held sequence of the compared models; tokens of shared prompts count once.
fn mean_context(context: &Context) -> Option<f64> {
    let row = context.result.rows.first()?;
    let sum = |get: fn(&crate::observe::results::RowReplication) -> u128| {
        row.replications.iter().map(|r| get(r) as f64).sum::<f64>()
    };
    let (tokens, sequences) = (sum(|r| r.token_ns), sum(|r| r.sequence_ns));
    (sequences > 0.0 && tokens > 0.0).then_some(tokens / sequences)
}

/// The largest value of a law, where it has one.
fn largest(law: &Law) -> Option<f64> {
    let natural = match &law.kind {
        LawKind::Constant(v) => Some(*v),
        LawKind::IntegerRange { high, .. } => Some(*high as f64),
        LawKind::Uniform { high, .. } => Some(*high),
        LawKind::Empirical(values) => values.last().copied(),
        LawKind::Choice(values) => values.iter().map(|v| v.1).reduce(f64::max),
        _ => None,
    };
    match (natural, law.max) {
        (Some(v), Some(max)) => Some(v.min(max)),
        (v, max) => v.or(max),
    }
}

/// The mean context, the agents' limits, and their shared prompts; agents of equal value share
/// a mark.
fn marks(context: &Context) -> Vec<Mark> {
    let mut marks: Vec<Mark> = mean_context(context)
        .map(|tokens| Mark {
            tokens,
            text: format!("mean held {}", count(tokens)),
        })
        .into_iter()
        .collect();
    let mut add = |what: &str, value: &dyn Fn(&Agent) -> Option<f64>| {
        let mut found: Vec<(f64, Vec<&str>)> = Vec::new();
        for agent in &context.scenario.agents {
            let Some(tokens) = value(agent).filter(|t| *t > 0.0) else {
                continue;
            };
            match found.iter_mut().find(|f| f.0 == tokens) {
                Some(same) => same.1.push(&agent.name),
                None => found.push((tokens, vec![&agent.name])),
            }
        }
        for (tokens, names) in found {
            let who = match names.len() {
                1 => names[0].to_string(),
                n if n == context.scenario.agents.len() => "all agents".to_string(),
                n => format!("{n} agents"),
            };
            marks.push(Mark {
                tokens,
                text: format!("{what} {} ({who})", count(tokens)),
            });
        }
    };
    add("limit", &|a| {
        a.limit.as_ref().and_then(|l| largest(&l.tokens))
    });
    add("shared prompt", &|a| match &a.system_prompt {
        SystemPrompt::Shared { tokens, .. } => Some(*tokens as f64),
        SystemPrompt::Own(_) => None,
    });
    marks.truncate(MARKS);
    marks.retain(|m| (FIRST_TOKENS..=LAST_TOKENS).contains(&m.tokens));
    marks.sort_by(|a, b| a.tokens.total_cmp(&b.tokens));
    marks
}

/// Dashed verticals with their texts in the strip above the plot, on rows that do not collide.
fn draw_marks(
    canvas: &mut Canvas,
    marks: &[Mark],
    plot: Area,
    strip_top: f64,
    x_of: &dyn Fn(f64) -> f64,
) {
    let font = frame::scaled(SMALL, 1.0);
    let height = canvas.u(26.0);
    let rows = marks.len().min(3);
    let mut ends = vec![f64::NEG_INFINITY; rows];
    for mark in marks {
        let x = x_of(mark.tokens);
        let text = canvas.fit(&mark.text, plot.width() * 0.6, font);
        let width = canvas.text_width(&text, font);
        let left = (x - width / 2.0).clamp(plot.x0, (plot.x1 - width).max(plot.x0));
        canvas.dashed(&[(x, plot.y0), (x, plot.y1)], GREY, 1.5, [6.0, 6.0]);
        let free = (0..rows).rev().find(|r| ends[*r] + canvas.u(14.0) < left);
        let Some(row) = free else { continue };
        ends[row] = left + width;
        let y = strip_top + height * row as f64 + canvas.u(19.0);
        canvas.text(&text, (left, y), Align::Left, font);
        canvas.rule((x, y + canvas.u(6.0)), (x, plot.y0), GREY, 1.0);
    }
}

fn legend(context: &Context, canvas: &mut Canvas, area: Area, last: f64) {
    let mean = mean_context(context).map(|m| m.round().min(LAST_TOKENS));
    let rows = &context.result.rows;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    let at_last = |row: usize| rows[row].model.footprint.bytes(last as u64);
    order.sort_by_key(|row| std::cmp::Reverse(at_last(*row)));
    let entries: Vec<Entry> = order
        .into_iter()
        .map(|row| {
            let footprint = &rows[row].model.footprint;
            let value = |tokens: f64| {
                format!(
                    "{} at {}",
                    bytes(footprint.bytes(tokens as u64) as f64),
                    count(tokens)
                )
            };
            let values: Vec<String> = mean.iter().chain([&last]).map(|t| value(*t)).collect();
            Entry {
                swatch: Swatch::Line(row),
                name: frame::row_name(context, row),
                details: vec![rows[row].model.dtypes.clone(), values.join(", ")],
            }
        })
        .collect();
    frame::side_legend(canvas, area, &entries);
}
