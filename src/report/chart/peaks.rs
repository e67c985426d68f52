//! `peaks`: mean, p99 and peak of each model as bars.

use super::Context;
use super::axis::ByteAxis;
use super::canvas::{Align, Area, Canvas};
use super::frame::{self, LABEL, SMALL, STRONG};
use super::palette::{self, GRID, INK};
use crate::observe::results::RowReplication;
use crate::report::number::bytes;

/// A bar: its name, how strong its colour is, and its value in a replication.
type Bar = (&'static str, f64, fn(&RowReplication, u64) -> f64);

const BARS: [Bar; 3] = [
    ("mean", 1.0, |r, window| {
        r.byte_ns as f64 / window.max(1) as f64
    }),
    ("p99", 0.6, |r, _| r.quantile_bytes[2] as f64),
    ("peak", 0.3, |r, _| r.peak_bytes as f64),
];

/// Mean, least and greatest over replications.
fn summary(context: &Context, row: usize, bar: &Bar) -> (f64, f64, f64) {
    let reps = &context.result.rows[row].replications;
    let values = || reps.iter().map(|r| bar.2(r, context.result.measure_ns));
    let mean = values().sum::<f64>() / reps.len().max(1) as f64;
    let low = values().fold(f64::INFINITY, f64::min).min(mean);
    (mean, low, values().fold(mean, f64::max))
}

pub fn draw(context: &Context, canvas: &mut Canvas) {
    let note = match context.replications() {
        1 => "p99: exceeded 1% of the time",
        _ => {
            "bars: means over replications; whiskers: lowest to highest replication; p99: \
             exceeded 1% of the time"
        }
    };
    let area = frame::header(
        context,
        canvas,
        "Mean, p99 and peak of the memory held",
        note,
    );
    let rows = context.result.rows.len();
    let highest = (0..rows)
        .flat_map(|row| BARS.map(|bar| summary(context, row, &bar).2))
        .fold(0.0, f64::max);
    let axis = ByteAxis::new(highest, 6);
    let names = (area.width() * 0.25).min(canvas.u(400.0));
    let values = canvas.u(230.0);
    let plot = Area {
        x0: (area.x0 + names + canvas.u(90.0)).round(),
        y0: area.y0.round(),
        x1: (area.x1 - values).round(),
        y1: (area.y1 - canvas.u(62.0)).round(),
    };
    for tick in &axis.ticks {
        let x = plot.x0 + plot.width() * tick.at / axis.top;
        canvas.rule((x, plot.y0), (x, plot.y1), GRID, 1.0);
        canvas.text(
            &tick.label,
            (x, plot.y1 + canvas.u(28.0)),
            Align::Center,
            LABEL,
        );
    }
    let title = format!("memory held ({})", axis.unit);
    canvas.text(
        &title,
        ((plot.x0 + plot.x1) / 2.0, area.y1),
        Align::Center,
        LABEL,
    );
    // Bars of few models need not fill the page.
    let slot = (plot.height() / rows.max(1) as f64).min(canvas.u(210.0));
    for row in 0..rows {
        let y0 = plot.y0 + slot * row as f64;
        let band = Area {
            x0: area.x0,
            y0,
            x1: area.x0 + names,
            y1: y0 + slot,
        };
        group(context, canvas, row, band, plot, axis.top);
    }
    canvas.rule((plot.x0, plot.y0), (plot.x0, plot.y1), INK, 1.5);
}

fn group(context: &Context, canvas: &mut Canvas, row: usize, names: Area, plot: Area, top: f64) {
    let slot = names.height();
    let thickness = slot * 0.8 / 3.0;
    // Text is at most as high as its bar.
    let scale = (thickness / canvas.u(LABEL.size * 1.15)).min(1.0);
    let (label, strong) = (
        frame::scaled(LABEL, scale),
        frame::scaled(STRONG, scale.max(0.8)),
    );
    let small = frame::scaled(SMALL, scale.max(0.8));
    let top_y = names.y0 + slot * 0.1;
    let mut y = top_y + canvas.u(strong.size);
    let roomy = slot > canvas.u(110.0);
    let name = frame::row_name(context, row);
    let dtypes = &context.result.rows[row].model.dtypes;
    for (text, font) in [(&name, strong), (dtypes, small)] {
        for line in canvas.wrap(text, names.width(), if roomy { 2 } else { 1 }, font) {
            canvas.text(&line, (names.x0, y), Align::Left, font);
            y += canvas.u(font.size * 1.25);
        }
    }
    let x_of = |v: f64| plot.x0 + plot.width() * v / top;
    for (i, bar) in BARS.iter().enumerate() {
        let (mean, low, high) = summary(context, row, bar);
        let y0 = top_y + thickness * i as f64;
        let y1 = y0 + thickness * 0.86;
        let area = Area {
            x0: plot.x0,
            y0,
            x1: x_of(mean),
            y1,
        };
        canvas.rect(area, palette::tint(palette::model(row), bar.1));
        let middle = ((y0 + y1) / 2.0).round();
        let baseline = middle + canvas.u(label.size * 0.36);
        let gap = canvas.u(10.0);
        canvas.text(bar.0, (plot.x0 - gap, baseline), Align::Right, label);
        if high > low {
            canvas.rule((x_of(low), middle), (x_of(high), middle), INK, 2.0);
            let cap = thickness * 0.2;
            for x in [x_of(low), x_of(high)] {
                canvas.rule((x, middle - cap), (x, middle + cap), INK, 2.0);
            }
        }
        let text = match context.replications() > 1 && bar.0 == "peak" {
            true => format!("{} (max {})", bytes(mean), bytes(high)),
            false => bytes(mean),
        };
        canvas.text(&text, (x_of(high) + gap, baseline), Align::Left, label);
    }
}
