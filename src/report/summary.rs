//! `summary.csv`: every metric of every model over replications (docs/outputs.md), and the same
//! numbers as JSON or a terminal table.

use super::stats::Values;
use super::{BASIS, PLAN, terminal};
use crate::observe::results::{Counts, ModelRow, RowReplication, RunResult};
use crate::scenario::Scenario;

/// One metric of one model.
#[derive(Clone, Debug)]
pub(super) struct Metric {
    /// Its name in `summary.csv`.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// One value per replication.
    pub values: Values,
}

/// How a summary is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// For a reader: at most 80 columns.
    Table,
    /// The rows of `summary.csv`, by model and metric.
    Json,
    /// `summary.csv` itself.
    Csv,
}

/// The summary of a run as text, ending in a newline.
pub fn summary_table(scenario: &Scenario, result: &RunResult, format: Format) -> String {
    match format {
        Format::Table => terminal::table(scenario, result),
        Format::Json => json(scenario, result),
        Format::Csv => csv(scenario, result),
    }
}

/// The row that savings are measured against, if it is there.
pub(super) fn baseline_row<'a>(scenario: &Scenario, result: &'a RunResult) -> Option<&'a ModelRow> {
    result
        .rows
        .iter()
        .filter(|r| !r.fixed)
        .nth(scenario.baseline)
}

/// Metrics of `row` in the order of docs/outputs.md. `savings_*` are paired: replication i of the model
/// against replication i of the baseline; they are left out for fixed models, and where the
/// baseline held nothing.
///
/// `active_mean_bytes` is what running sequences held, `idle_mean_bytes` what the other four
/// activities held; shared prompts are in neither.
pub(super) fn metrics(row: &ModelRow, baseline: Option<&ModelRow>, window_ns: u64) -> Vec<Metric> {
    let window = u128::from(window_ns).max(1);
    let reps = &row.replications;
    let over = |den: u128, get: &dyn Fn(&RowReplication) -> u128| Values::Exact {
        values: reps.iter().map(get).collect(),
        den,
    };
    let exact = |get: &dyn Fn(&RowReplication) -> u64| Values::integers(reps.iter().map(get));
    let count =
        |get: &dyn Fn(&Counts) -> u64| Values::integers(reps.iter().map(|r| get(&r.counts)));
    let weights = match row.model.weights_bytes {
        0 => Values::Unknown,
        known => Values::integers(reps.iter().map(|_| known)),
    };
    let idle = |r: &RowReplication| r.activity_byte_ns[1..].iter().sum::<u128>();
    let list: Vec<(&'static str, &'static str, Values)> = vec![
        ("mean_bytes", "bytes", over(window, &|r| r.byte_ns)),
        ("peak_bytes", "bytes", exact(&|r| r.peak_bytes)),
        ("p50_bytes", "bytes", exact(&|r| r.quantile_bytes[0])),
        ("p95_bytes", "bytes", exact(&|r| r.quantile_bytes[1])),
        ("p99_bytes", "bytes", exact(&|r| r.quantile_bytes[2])),
        (
            "peak_time",
            "s",
            over(1_000_000_000, &|r| u128::from(r.peak_ns)),
        ),
        ("byte_ns", "byte-ns", over(1, &|r| r.byte_ns)),
        (
            "active_mean_bytes",
            "bytes",
            over(window, &|r| r.activity_byte_ns[0]),
        ),
        ("idle_mean_bytes", "bytes", over(window, &idle)),
        ("weights_bytes", "bytes", weights),
        (
            "mean_sequences",
            "sequences",
            over(window, &|r| r.sequence_ns),
        ),
        ("peak_sequences", "sequences", exact(&|r| r.peak_sequences)),
        ("mean_running", "sequences", over(window, &|r| r.running_ns)),
        ("p99_running", "sequences", exact(&|r| r.p99_running)),
        ("mean_tokens", "tokens", over(window, &|r| r.token_ns)),
        (
            "sessions_started",
            "sessions",
            count(&|c| c.sessions_started),
        ),
        (
            "sequences_started",
            "sequences",
            count(&|c| c.sequences_started),
        ),
        ("steps", "steps", count(&|c| c.steps)),
        ("tokens_prefilled", "tokens", count(&|c| c.tokens_prefilled)),
        ("tokens_decoded", "tokens", count(&|c| c.tokens_decoded)),
        (
            "tokens_recomputed",
            "tokens",
            count(&|c| c.tokens_recomputed),
        ),
        (
            "snapshots_taken",
            "snapshots",
            count(&|c| c.snapshots_taken),
        ),
        ("compactions", "compactions", count(&|c| c.compactions)),
        ("rewinds", "rewinds", count(&|c| c.rewinds)),
        (
            "session_peak_bytes_p50",
            "bytes",
            exact(&|r| r.session_peak_bytes[0]),
        ),
        (
            "session_peak_bytes_p95",
            "bytes",
            exact(&|r| r.session_peak_bytes[1]),
        ),
        (
            "session_peak_bytes_p99",
            "bytes",
            exact(&|r| r.session_peak_bytes[2]),
        ),
    ];
    let mut out: Vec<Metric> = list
        .into_iter()
        .map(|(name, unit, values)| Metric { name, unit, values })
        .collect();
    if let (false, Some(base)) = (row.fixed, baseline) {
        out.extend(savings(row, base, window_ns));
    }
    out
}

fn savings(row: &ModelRow, base: &ModelRow, window_ns: u64) -> Vec<Metric> {
    let window = window_ns.max(1) as f64;
    let paired = |get: &dyn Fn(&RowReplication, &ModelRow) -> f64| {
        let pairs = row.replications.iter().zip(&base.replications);
        let fractions: Vec<f64> = pairs
            .map(|(m, b)| 1.0 - get(m, row) / get(b, base))
            .collect();
        fractions.iter().all(|f| f.is_finite()).then_some(fractions)
    };
    let total =
        |r: &RowReplication, m: &ModelRow| r.byte_ns as f64 / window + m.model.weights_bytes as f64;
    let weights_known = row.model.weights_bytes > 0 && base.model.weights_bytes > 0;
    let list = [
        ("savings_mean", paired(&|r, _| r.byte_ns as f64)),
        ("savings_peak", paired(&|r, _| r.peak_bytes as f64)),
        ("savings_total", paired(&total).filter(|_| weights_known)),
    ];
    let known = list
        .into_iter()
        .filter_map(|(name, values)| Some((name, values?)));
    known
        .map(|(name, v)| Metric {
            name,
            unit: "fraction",
            values: Values::Fraction(v),
        })
        .collect()
}

/// `summary.csv`. Integers and their means are exact; intervals are empty for one replication.
pub fn csv(scenario: &Scenario, result: &RunResult) -> String {
    let mut out = String::from("plan,model,basis,metric,unit,mean,ci95_low,ci95_high,min,max\n");
    let baseline = baseline_row(scenario, result);
    for row in &result.rows {
        let model = csv_field(&row.model.label);
        for metric in metrics(row, baseline, result.measure_ns) {
            let c = metric.values.cells();
            let (name, unit) = (metric.name, metric.unit);
            out += &format!("{PLAN},{model},{BASIS},{name},{unit},");
            out += &format!(
                "{},{},{},{},{}\n",
                c.mean, c.ci95_low, c.ci95_high, c.min, c.max
            );
        }
    }
    out
}

/// A text as a CSV field (RFC 4180): quoted if it holds a comma, a quote or a line break.
pub(super) fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", text.replace('"', "\"\""));
    }
    text.to_string()
}

/// The summary as one JSON object. Numbers keep all their digits; missing ones are `null`.
fn json(scenario: &Scenario, result: &RunResult) -> String {
    let baseline = baseline_row(scenario, result);
    let text = |s: &str| serde_json::Value::from(s).to_string();
    let number = |s: &str| {
        if s.is_empty() {
            "null".to_string()
        } else {
            s.to_string()
        }
    };
    let models =
        result.rows.iter().map(|row| {
            let metrics = metrics(row, baseline, result.measure_ns).into_iter().map(|m| {
            let c = m.values.cells();
            format!(
                "      {}: {{\"unit\": {}, \"mean\": {}, \"ci95_low\": {}, \"ci95_high\": {}, \
                 \"min\": {}, \"max\": {}}}",
                text(m.name),
                text(m.unit),
                number(&c.mean),
                number(&c.ci95_low),
                number(&c.ci95_high),
                number(&c.min),
                number(&c.max),
            )
        });
            let is_baseline = baseline.is_some_and(|b| std::ptr::eq(b, row));
            format!(
                "    {{\"model\": {}, \"dtypes\": {}, \"fixed\": {}, \"baseline\": {is_baseline}, \
             \"metrics\": {{\n{}\n    }}}}",
                text(&row.model.label),
                text(&row.model.dtypes),
                row.fixed,
                metrics.collect::<Vec<_>>().join(",\n"),
            )
        });
    format!(
        "{{\n  \"name\": {},\n  \"plan\": {},\n  \"basis\": {},\n  \"layout\": {},\n  \
         \"replications\": {},\n  \"models\": [\n{}\n  ]\n}}\n",
        text(&scenario.name),
        text(PLAN),
        text(BASIS),
        text(super::LAYOUT),
        result.rows.first().map_or(0, |r| r.replications.len()),
        models.collect::<Vec<_>>().join(",\n"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn cells(csv: &str, model: &str, metric: &str) -> Option<Vec<String>> {
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let rows: Vec<_> = reader.records().map(|r| r.unwrap()).collect();
        let row = rows.iter().find(|r| &r[1] == model && &r[3] == metric)?;
        Some(row.iter().map(str::to_string).collect())
    }

    #[test]
    fn metrics_are_those_of_the_contract_in_its_order() {
        let (scenario, result) = sample::week(3, 2);
        let names: Vec<_> = metrics(&result.rows[1], baseline_row(&scenario, &result), 1)
            .iter()
            .map(|m| m.name)
            .collect();
        let contract = "mean_bytes peak_bytes p50_bytes p95_bytes p99_bytes peak_time byte_ns \
            active_mean_bytes idle_mean_bytes weights_bytes mean_sequences peak_sequences \
            mean_running p99_running mean_tokens sessions_started sequences_started steps \
            tokens_prefilled tokens_decoded tokens_recomputed snapshots_taken compactions rewinds \
            session_peak_bytes_p50 session_peak_bytes_p95 session_peak_bytes_p99 savings_mean \
            savings_peak savings_total";
        assert_eq!(names, contract.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn integers_print_exactly_and_means_in_decimals() {
        let (scenario, mut result) = sample::week(1, 2);
        result.measure_ns = 7_200_000_000_000;
        for (i, rep) in result.rows[0].replications.iter_mut().enumerate() {
            rep.byte_ns = 111_599_818_493_760_000_000_000 + i as u128;
            rep.peak_ns = 584_862_500_000;
        }
        let csv = csv(&scenario, &result);
        let label = &result.rows[0].model.label;
        let integral = cells(&csv, label, "byte_ns").unwrap();
        assert_eq!(integral[5], "111599818493760000000000.5");
        assert_eq!(integral[8], "111599818493760000000000");
        assert_eq!(
            cells(&csv, label, "mean_bytes").unwrap()[8],
            "15499974790.8"
        );
        assert_eq!(cells(&csv, label, "peak_time").unwrap()[5], "584.8625");
    }

    #[test]
    fn savings_are_paired_by_replication() {
        let (scenario, mut result) = sample::week(2, 2);
        for (row, values) in [(0, [100u128, 1000]), (1, [50, 100])] {
            for (rep, v) in result.rows[row].replications.iter_mut().zip(values) {
                rep.byte_ns = v;
            }
        }
        let csv = csv(&scenario, &result);
        let savings = cells(&csv, &result.rows[1].model.label, "savings_mean").unwrap();
        // Mean of 0.5 and 0.9; the ratio of the means would say 0.864.
        assert_eq!(
            (&savings[5][..], &savings[8][..], &savings[9][..]),
            ("0.7", "0.5", "0.9")
        );
    }

    #[test]
    fn savings_need_a_baseline_that_held_something_and_known_weights() {
        let (scenario, mut result) = sample::week(3, 1);
        result.rows[2].fixed = true;
        result.rows[1].model.weights_bytes = 0;
        let text = csv(&scenario, &result);
        let labels: Vec<String> = result.rows.iter().map(|r| r.model.label.clone()).collect();
        let label = |i: usize| labels[i].clone();
        assert!(cells(&text, &label(2), "savings_mean").is_none());
        assert!(cells(&text, &label(1), "savings_mean").is_some());
        assert!(cells(&text, &label(1), "savings_total").is_none());
        assert_eq!(cells(&text, &label(1), "weights_bytes").unwrap()[5], "");
        result.rows[0].replications[0].byte_ns = 0;
        assert!(cells(&csv(&scenario, &result), &label(1), "savings_mean").is_none());
    }

    #[test]
    fn json_says_the_same_as_the_csv() {
        let (scenario, result) = sample::week(2, 3);
        let json = summary_table(&scenario, &result, Format::Json);
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let rows = csv(&scenario, &result);
        for (m, row) in result.rows.iter().enumerate() {
            let metrics = value["models"][m]["metrics"].as_object().unwrap();
            for (name, metric) in metrics {
                let expected: f64 = cells(&rows, &row.model.label, name).unwrap()[5]
                    .parse()
                    .unwrap();
                let got = metric["mean"].as_f64().unwrap();
                assert!((got - expected).abs() <= expected.abs() * 1e-14, "{name}");
            }
        }
    }
}
