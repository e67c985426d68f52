//! The summary table on the terminal: at most 80 columns.

use super::number::{ByteUnit, clip, count, display_width, duration, instant, percent};
use super::summary::{Metric, baseline_row, metrics};
use super::{BASIS, LAYOUT, PLAN};
use crate::observe::results::{ModelRow, RunResult};
use crate::scenario::Scenario;

/// Columns of a terminal.
const WIDTH: usize = 80;

/// The table with its facts, ending in a newline.
pub fn table(scenario: &Scenario, result: &RunResult) -> String {
    let baseline = baseline_row(scenario, result);
    let rows: Vec<(&ModelRow, Vec<Metric>)> = result
        .rows
        .iter()
        .map(|row| (row, metrics(row, baseline, result.measure_ns)))
        .collect();
    let reps = result.rows.first().map_or(1, |r| r.replications.len());
    let mut out = clip(&scenario.name, WIDTH) + "\n";
    out += &format!(
        "{PLAN}, {BASIS} bytes, {LAYOUT} layout; {} after {} warm-up; {reps} replication{}\n\n",
        duration(result.measure_ns),
        duration(result.warmup_ns),
        if reps == 1 { "" } else { "s" },
    );
    out += &grid(&rows, baseline, result.measure_ns);
    if let Some((_, first)) = rows.first() {
        out.push('\n');
        out += &facts(first);
    }
    out
}

/// Value of a metric over replications: mean, and half the 95% interval's width.
fn value(metrics: &[Metric], name: &str) -> Option<(f64, Option<f64>)> {
    let m = metrics.iter().find(|m| m.name == name)?;
    Some((m.values.mean()?, m.values.half_width()))
}

fn grid(rows: &[(&ModelRow, Vec<Metric>)], baseline: Option<&ModelRow>, measure_ns: u64) -> String {
    let bytes = |m: &[Metric], name: &str| value(m, name).map_or(0.0, |v| v.0);
    let largest = rows
        .iter()
        .map(|(_, m)| bytes(m, "peak_bytes"))
        .fold(0.0, f64::max);
    let unit = ByteUnit::for_max(largest);
    let smallest = rows
        .iter()
        .map(|(_, m)| bytes(m, "mean_bytes") / unit.bytes)
        .filter(|v| *v > 0.0)
        .fold(f64::INFINITY, f64::min);
    // Enough decimals for two or three digits of the smallest model, the same in every row.
    let decimals = match smallest {
        _ if unit.bytes == 1.0 => 0,
        s if s >= 100.0 => 1,
        s if s >= 1.0 || s.is_infinite() => 2,
        s if s >= 0.1 => 3,
        _ => 4,
    };
    let number = |v: f64| format!("{:.decimals$}", v / unit.bytes);
    let intervals = rows.iter().any(|(row, _)| row.replications.len() > 1);
    let mut cells: Vec<Vec<String>> = header(intervals, unit.name);
    for (row, m) in rows {
        let mean = value(m, "mean_bytes").unwrap_or((0.0, None));
        let mut line = vec![label(row, baseline), number(mean.0)];
        if intervals {
            line.push(
                mean.1
                    .map_or(String::new(), |half| format!("±{}", number(half))),
            );
        }
        line.push(number(bytes(m, "p99_bytes")));
        line.push(number(bytes(m, "peak_bytes")));
        line.push(peak_instant(row, measure_ns));
        let is_baseline = baseline.is_some_and(|b| std::ptr::eq(b, *row));
        for name in ["savings_mean", "savings_peak"] {
            let text = value(m, name)
                .filter(|_| !is_baseline)
                .map(|v| percent(v.0));
            line.push(text.unwrap_or_else(|| "-".to_string()));
        }
        cells.push(line);
    }
    align(&cells) + &notes(rows, intervals)
}

/// Two header lines: the quantity, then its unit.
fn header(intervals: bool, unit: &str) -> Vec<Vec<String>> {
    let mut columns = vec![("model", ""), ("mean", unit)];
    if intervals {
        columns.push(("±95%", unit));
    }
    columns.extend([("p99", unit), ("peak", unit), ("peak", "at")]);
    columns.extend([("saved", "mean"), ("saved", "peak")]);
    let line = |text: fn(&(&str, &str)) -> String| columns.iter().map(text).collect();
    vec![line(|c| c.0.to_string()), line(|c| c.1.to_string())]
}

fn label(row: &ModelRow, baseline: Option<&ModelRow>) -> String {
    let mark = match (baseline.is_some_and(|b| std::ptr::eq(b, row)), row.fixed) {
        (true, _) => " *",
        (_, true) => " +",
        _ => "",
    };
    format!("{}{mark}", row.model.label)
}

/// When the highest replication peaked.
fn peak_instant(row: &ModelRow, measure_ns: u64) -> String {
    let top = row
        .replications
        .iter()
        .max_by_key(|r| (r.peak_bytes, std::cmp::Reverse(r.peak_ns)));
    top.filter(|r| r.peak_bytes > 0)
        .map_or("-".to_string(), |r| instant(r.peak_ns, measure_ns))
}

fn notes(rows: &[(&ModelRow, Vec<Metric>)], intervals: bool) -> String {
    let mut notes = vec!["* baseline of the savings"];
    if rows.iter().any(|(row, _)| row.fixed) {
        notes.push("+ agents on a fixed model");
    }
    if intervals {
        notes.push("means over replications, peak time of the highest");
    }
    format!("{}\n", notes.join("; "))
}

/// Right-aligned columns two blanks apart; the first is left-aligned and gives way so that the
/// line fits.
fn align(rows: &[Vec<String>]) -> String {
    let columns = rows[0].len();
    let widths: Vec<usize> = (0..columns)
        .map(|c| rows.iter().map(|r| display_width(&r[c])).max().unwrap_or(0))
        .collect();
    let mut gap = 2;
    let needed = |gap: usize| widths[1..].iter().map(|w| w + gap).sum::<usize>();
    if needed(gap) + widths[0].min(16) > WIDTH {
        gap = 1;
    }
    let first = widths[0].min(WIDTH.saturating_sub(needed(gap)).max(8));
    let mut out = String::new();
    for row in rows {
        let label = clip_label(&row[0], first);
        out += &label;
        out += &" ".repeat(first - display_width(&label).min(first));
        for (cell, width) in row[1..].iter().zip(&widths[1..]) {
            out += &" ".repeat(gap + width - display_width(cell));
            out += cell;
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

/// Cuts a label but keeps its mark.
fn clip_label(label: &str, width: usize) -> String {
    match label
        .strip_suffix(" *")
        .map(|l| (l, " *"))
        .or(label.strip_suffix(" +").map(|l| (l, " +")))
    {
        Some((name, mark)) => clip(name, width.saturating_sub(2)) + mark,
        None => clip(label, width),
    }
}

/// Facts that hold for the whole fleet, from the first row, wrapped to the terminal.
fn facts(metrics: &[Metric]) -> String {
    let items = [
        ("mean_sequences", "sequences held"),
        ("mean_running", "running"),
        ("sessions_started", "sessions"),
        ("steps", "steps"),
        ("tokens_prefilled", "tokens prefilled"),
        ("tokens_recomputed", "of them recomputed"),
        ("tokens_decoded", "decoded"),
        ("compactions", "compactions"),
    ];
    let texts = items.iter().filter_map(|(name, words)| {
        let (mean, half) = value(metrics, name)?;
        let half = half.map_or(String::new(), |h| format!(" ±{}", count(h)));
        Some(format!("{}{half} {words}", count(mean)))
    });
    let mut lines = vec![String::from("fleet:")];
    for (i, text) in texts.enumerate() {
        let last = lines.last_mut().expect("starts with one line");
        let joined = if i == 0 {
            format!("{last} {text}")
        } else {
            format!("{last}, {text}")
        };
        if display_width(&joined) < WIDTH {
            *last = joined;
        } else {
            last.push(',');
            lines.push(format!("  {text}"));
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    #[test]
    fn tables_fit_eighty_columns() {
        for (models, reps) in [(1, 1), (3, 1), (3, 5), (10, 3)] {
            let (mut scenario, mut result) = sample::week(models, reps);
            scenario.name = "a very long scenario name ".repeat(6);
            result.rows[0].model.label = "模型 with an exceedingly long label, bf16".into();
            let text = table(&scenario, &result);
            for line in text.lines() {
                assert!(
                    display_width(line) <= WIDTH,
                    "{}: {line}",
                    display_width(line)
                );
            }
            let baseline = text
                .lines()
                .find(|l| l.contains(" * "))
                .expect("baseline is marked");
            assert!(baseline.ends_with('-'), "{baseline}");
        }
    }

    #[test]
    fn decimals_line_up() {
        let (scenario, result) = sample::week(3, 5);
        let text = table(&scenario, &result);
        let column: Vec<Option<usize>> = text
            .lines()
            .skip(5)
            .take(3)
            .map(|l| {
                l.char_indices()
                    .filter(|(_, c)| *c == '.')
                    .map(|(i, _)| i)
                    .nth(0)
            })
            .collect();
        assert!(column[0].is_some());
        assert!(column.iter().all(|c| *c == column[0]), "{text}");
    }

    #[test]
    fn an_empty_fleet_prints_zeros_and_no_savings() {
        let (scenario, result) = sample::empty(2);
        let text = table(&scenario, &result);
        assert!(
            text.lines().nth(4).is_some_and(|l| l.contains(" B ")),
            "{text}"
        );
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }
}
