//! `run.json`: where a run's numbers came from. The only file that depends on wall time.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use super::{BASIS, LAYOUT, PLAN, RunMeta};
use crate::observe::results::RunResult;
use crate::scenario::Scenario;

/// `run.json`, indented, ending in a newline. Times ending in `_s` are seconds.
pub fn json(scenario: &Scenario, result: &RunResult, meta: &RunMeta) -> String {
    let wall_s = meta.wall_ns as f64 / 1e9;
    let rate = if meta.wall_ns == 0 {
        0.0
    } else {
        result.events as f64 / wall_s
    };
    let replications = result
        .rows
        .first()
        .map_or(scenario.replications as usize, |r| r.replications.len());
    let models: Vec<Value> = result
        .rows
        .iter()
        .map(|row| {
            json!({
                "label": row.model.label,
                "dtypes": row.model.dtypes,
                "weights_bytes": (row.model.weights_bytes > 0).then_some(row.model.weights_bytes),
                "fixed": row.fixed,
            })
        })
        .collect();
    let baseline = scenario
        .models
        .get(scenario.baseline)
        .map(|m| m.label.as_str());
    let warnings: Vec<&String> = scenario.warnings.iter().chain(&result.warnings).collect();
    let mut out = Map::new();
    let mut put = |key: &str, value: Value| {
        out.insert(key.to_string(), value);
    };
    put("fleetmem_version", json!(env!("CARGO_PKG_VERSION")));
    put("name", json!(scenario.name));
    put("description", json!(scenario.description));
    put("seed", json!(scenario.seed));
    put("scenario_digest", json!(scenario.digest));
    put("command", json!(meta.command));
    put("plan", json!(PLAN));
    put("basis", json!(BASIS));
    put("layout", json!(LAYOUT));
    put("replications", json!(replications));
    put("measure_s", exact_seconds(result.measure_ns));
    put("warmup_s", exact_seconds(result.warmup_ns));
    put("bin_s", exact_seconds(result.bin_ns));
    put("baseline", json!(baseline));
    put("models", json!(models));
    put("agents", json!(result.agent_names));
    put("events", json!(result.events));
    put("started", json!(rfc3339(meta.started)));
    put("wall_time_s", json!(wall_s));
    put("events_per_second", json!(rate.round() as u64));
    put("threads", json!(meta.threads));
    put("warnings", json!(warnings));
    let mut text = serde_json::to_string_pretty(&Value::Object(out)).unwrap_or_default();
    text.push('\n');
    text
}

/// Seconds as a JSON number: whole where they are whole.
fn exact_seconds(ns: u64) -> Value {
    match ns % 1_000_000_000 {
        0 => json!(ns / 1_000_000_000),
        _ => json!(ns as f64 / 1e9),
    }
}

/// UTC, to the second: `2026-03-21T14:05:09Z`. Times before 1970 count as 1970.
fn rfc3339(time: SystemTime) -> String {
    let s = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (year, month, day) = civil(s / 86_400);
    let (h, m, s) = (s / 3600 % 24, s / 60 % 60, s % 60);
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}Z")
}

/// Days since 1970-01-01 as a date of the Gregorian calendar (algorithm `civil_from_days`,
/// H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", 2013).
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468; // days since 0000-03-01
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use std::time::Duration;

    #[test]
    fn dates_follow_the_calendar() {
        let at = |s| rfc3339(UNIX_EPOCH + Duration::from_secs(s));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_774_101_909), "2026-03-21T14:05:09Z");
    }

    #[test]
    fn the_manifest_says_where_the_numbers_came_from() {
        let (mut scenario, result) = sample::week(2, 3);
        scenario.warnings = vec!["first".into()];
        let text = json(&scenario, &result, &sample::meta());
        let v: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(v["seed"], 7);
        assert_eq!(v["replications"], 3);
        assert_eq!(v["measure_s"], 604_800);
        assert_eq!(v["scenario_digest"], scenario.digest);
        assert_eq!(v["models"][0]["dtypes"], result.rows[0].model.dtypes);
        assert_eq!(v["events_per_second"], result.events / 2);
        assert_eq!(v["warnings"][0], "first");
        assert_eq!(v["command"][0], "fleetmem");
    }
}
