//! `fleetmem check`: whether scenarios are right, and what they say.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;

use super::Common;
use super::exit::BadInput;
use crate::scenario::{self, Arrivals, Scenario};

/// Arguments of `check`.
#[derive(Clone, Debug, Args)]
pub struct CheckArgs {
    /// Scenario files (YAML)
    #[arg(required = true, value_name = "SCENARIO")]
    scenarios: Vec<PathBuf>,
    #[command(flatten)]
    common: Common,
}

/// Reads every scenario and prints a summary with its warnings; the mistakes of all files are
/// reported together at the end.
pub fn run(args: &CheckArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let sets = args.common.sets();
    let mut errors = Vec::new();
    for path in &args.scenarios {
        match scenario::load(path, &sets) {
            Ok(scenario) => {
                writeln!(out, "{}: ok", path.display())?;
                write!(out, "{}", summary(&scenario))?;
            }
            Err(error) => errors.push(error.to_string().trim_end().to_owned()),
        }
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(BadInput(errors.join("\n\n")).into())
    }
}

fn summary(scenario: &Scenario) -> String {
    let names = |list: Vec<&str>| {
        if list.is_empty() {
            "none".to_owned()
        } else {
            list.join(", ")
        }
    };
    let mut rows = vec![("name", scenario.name.clone())];
    let baseline = scenario
        .models
        .get(scenario.baseline)
        .map_or("", |m| m.label.as_str());
    let models = scenario
        .models
        .iter()
        .map(|m| format!("{} ({})", m.label, m.dtypes));
    rows.push(("models", models.collect::<Vec<_>>().join("; ")));
    rows.push(("baseline", baseline.to_owned()));
    if !scenario.fixed_models.is_empty() {
        rows.push((
            "fixed models",
            names(
                scenario
                    .fixed_models
                    .iter()
                    .map(|m| m.label.as_str())
                    .collect(),
            ),
        ));
    }
    rows.push((
        "agents",
        names(scenario.agents.iter().map(|a| a.name.as_str()).collect()),
    ));
    for entry in &scenario.workload {
        let agent = scenario
            .agents
            .get(entry.agent)
            .map_or("", |a| a.name.as_str());
        rows.push((
            "workload",
            format!("{}: {agent}, {}", entry.name, arrivals(&entry.arrivals)),
        ));
    }
    let warmup = scenario
        .warmup_ns
        .map_or("the longest session".to_owned(), time);
    rows.push((
        "window",
        format!("{} after a warm-up of {warmup}", time(scenario.measure_ns)),
    ));
    rows.push((
        "replications",
        format!("{} from seed {}", scenario.replications, scenario.seed),
    ));
    let mut text = String::new();
    for (name, value) in rows {
        text += &format!("  {name:<13} {value}\n");
    }
    for warning in &scenario.warnings {
        text += &format!("  warning: {warning}\n");
    }
    text
}

fn arrivals(arrivals: &Arrivals) -> String {
    match arrivals {
        Arrivals::At(times) => format!("{} sessions at given times", times.len()),
        Arrivals::Renewal {
            per_hour,
            cv,
            profile,
        } => {
            let days = profile.weekdays.iter().filter(|d| **d).count();
            let shape = if profile.hourly == [1.0; 24] {
                ""
            } else {
                ", daily profile"
            };
            let days = if days == 7 {
                String::new()
            } else {
                format!(", {days} days a week")
            };
            format!(
                "{} sessions an hour (cv {cv}){shape}{days}",
                round(*per_hour)
            )
        }
    }
}

/// At most four decimals.
fn round(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

/// A time in the largest unit that keeps it whole, else in seconds.
fn time(ns: u64) -> String {
    for (unit, size) in [
        ("d", 86_400_000_000_000),
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
    ] {
        if ns >= size && ns.is_multiple_of(size) {
            return format!("{}{unit}", ns / size);
        }
    }
    format!("{}s", ns as f64 / 1e9)
}
