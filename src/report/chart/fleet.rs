//! `fleet-memory`: bytes held over time, a line per model with its range.

use super::Context;
use super::axis::{ByteAxis, TimeAxis};
use super::canvas::{Align, Area, Canvas, Font};
use super::columns::{Column, columns, lower, steps, upper};
use super::frame::{self, Entry, LABEL, STRONG, Swatch};
use super::palette;
use crate::report::number::{bytes, duration, instant};
use crate::report::timeline::MergedBin;

/// The highest instant of a row in any replication: bytes and ns.
fn peak(context: &Context, row: usize) -> (u64, u64) {
    let replications = &context.result.rows[row].replications;
    let highest = replications
        .iter()
        .max_by_key(|r| (r.peak_bytes, std::cmp::Reverse(r.peak_ns)));
    highest.map_or((0, 0), |r| (r.peak_bytes, r.peak_ns))
}

pub fn draw(context: &Context, canvas: &mut Canvas) {
    let measure = context.result.measure_ns;
    let bin = duration(context.result.bin_ns);
    let note = match context.replications() {
        1 => format!("line: average of each {bin} bin; band: lowest to highest instant in it"),
        _ => format!(
            "line: mean over replications, by bins of {bin}; band: lowest to highest instant of \
             any replication"
        ),
    };
    let area = frame::header(
        context,
        canvas,
        "Memory that the fleet holds over time",
        &note,
    );
    let legend_width = (area.width() * 0.27).min(canvas.u(430.0));
    let rows = context.result.rows.len();
    let highest = (0..rows).map(|r| peak(context, r).0).max().unwrap_or(0) as f64;
    let axis = ByteAxis::new(highest, 6);
    let labels = axis
        .ticks
        .iter()
        .map(|t| canvas.text_width(&t.label, LABEL))
        .fold(0.0, f64::max);
    let plot = Area {
        x0: (area.x0 + canvas.u(48.0) + labels).round(),
        y0: (area.y0 + canvas.u(22.0)).round(),
        x1: (area.x1 - legend_width - canvas.u(36.0)).round(),
        y1: (area.y1 - canvas.u(62.0)).round(),
    };
    let fits = frame::time_labels(canvas, plot.width());
    let time = TimeAxis::new(measure, fits);
    frame::byte_grid(canvas, plot, &axis, LABEL);
    frame::time_grid(canvas, plot, &time, measure, true);
    let middle = (plot.y0 + plot.y1) / 2.0;
    let title = format!("memory held ({})", axis.unit);
    canvas.text_up(&title, (area.x0 + canvas.u(16.0), middle), LABEL);
    let under = ((plot.x0 + plot.x1) / 2.0, area.y1);
    canvas.text(time.title, under, Align::Center, LABEL);

    let y_of = |v: f64| plot.y1 - plot.height() * v / axis.top;
    let lines: Vec<(usize, Vec<Column>)> = (0..rows)
        .map(|row| {
            let bins = &context.timelines[row];
            let x = |i: usize| plot.x0 + plot.width() * share(bins[i].start_ns, measure);
            (row, columns(bins.len(), x, plot.x1))
        })
        .collect();
    for (row, columns) in &lines {
        band(
            canvas,
            &context.timelines[*row],
            columns,
            palette::model(*row),
            &y_of,
        );
    }
    for (row, columns) in &lines {
        let bins = &context.timelines[*row];
        let line = steps(columns, |i| y_of(bins[i].total as f64));
        frame::model_line(canvas, &line, *row, 3.0);
    }
    canvas.rule((plot.x0, plot.y1), (plot.x1, plot.y1), palette::INK, 1.5);
    mark_peaks(context, canvas, plot, &y_of);
    if highest == 0.0 {
        frame::message(canvas, plot, "No memory was held in the window.");
    }
    let side = Area {
        x0: area.x1 - legend_width,
        y0: plot.y0,
        x1: area.x1,
        y1: area.y1,
    };
    legend(context, canvas, side);
}

fn share(ns: u64, measure_ns: u64) -> f64 {
    (ns as f64 / measure_ns.max(1) as f64).min(1.0)
}

fn band(
    canvas: &mut Canvas,
    bins: &[MergedBin],
    columns: &[Column],
    color: palette::Rgb,
    y_of: &dyn Fn(f64) -> f64,
) {
    // Screen y grows downwards: the greatest bytes are the least y, so the edges are computed in
    // bytes first.
    let edge = |line: Vec<(f64, f64)>| line.into_iter().map(|(x, v)| (x, y_of(v)));
    let top: Vec<(f64, f64)> = edge(upper(columns, |i| bins[i].max as f64)).collect();
    let bottom: Vec<(f64, f64)> = edge(lower(columns, |i| bins[i].min as f64)).collect();
    let outline: Vec<(f64, f64)> = top.iter().chain(bottom.iter().rev()).copied().collect();
    canvas.polygon(&outline, color, 0.2);
    canvas.line(&top, color, 1.0, 0.75);
}

/// Rings each row's highest instant and writes its value where no other label is.
fn mark_peaks(context: &Context, canvas: &mut Canvas, plot: Area, y_of: &dyn Fn(f64) -> f64) {
    let mut peaks: Vec<(usize, u64, u64)> = (0..context.result.rows.len())
        .map(|row| (row, peak(context, row)))
        .map(|(row, (value, at))| (row, value, at))
        .filter(|p| p.1 > 0)
        .collect();
    peaks.sort_by_key(|p| std::cmp::Reverse(p.1));
    let mut taken: Vec<Area> = Vec::new();
    for (row, value, at) in peaks {
        let x = (plot.x0 + plot.width() * share(at, context.result.measure_ns)).min(plot.x1 - 1.0);
        let y = y_of(value as f64);
        canvas.ring((x, y), 6.0, palette::model(row));
        let font = Font {
            color: palette::model(row),
            size: 20.0,
            ..STRONG
        };
        let text = bytes(value as f64);
        let (w, h) = (canvas.text_width(&text, font), canvas.u(font.size));
        let gap = canvas.u(10.0);
        let places = [
            (x - w / 2.0, y - gap - h),
            (x + gap, y - h / 2.0),
            (x - gap - w, y - h / 2.0),
            (x + gap, y - gap - h),
            (x - gap - w, y - gap - h),
        ];
        let boxes = places.map(|(x0, y0)| Area {
            x0,
            y0,
            x1: x0 + w,
            y1: y0 + h,
        });
        let free = boxes.iter().find(|b| {
            let inside = b.x0 >= plot.x0 && b.x1 <= plot.x1 && b.y0 >= plot.y0 - gap * 2.2;
            inside && taken.iter().all(|t| !t.overlaps(b))
        });
        taken.push(Area {
            x0: x - gap,
            y0: y - gap,
            x1: x + gap,
            y1: y + gap,
        });
        // Without a free place the legend alone says it.
        if let Some(place) = free.copied() {
            taken.push(place);
            canvas.text(&text, (place.x0, place.y1 - h * 0.12), Align::Left, font);
        }
    }
}

fn legend(context: &Context, canvas: &mut Canvas, area: Area) {
    let mut rows: Vec<usize> = (0..context.result.rows.len()).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(peak(context, *row).0));
    let entries: Vec<Entry> = rows
        .into_iter()
        .map(|row| {
            let (value, at) = peak(context, row);
            let mut details = vec![context.result.rows[row].model.dtypes.clone()];
            if value > 0 {
                let at = instant(at, context.result.measure_ns);
                details.push(format!("peak {}, {at}", bytes(value as f64)));
            }
            Entry {
                swatch: Swatch::Line(row),
                name: frame::row_name(context, row),
                details,
            }
        })
        .collect();
    frame::side_legend(canvas, area, &entries);
}
