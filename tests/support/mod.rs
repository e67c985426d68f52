//! What the tests on whole scenarios share: running one through the library or the program, and
//! reading its tables.
//!
//! Each test binary uses its part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fleetmem::observe::results::RunResult;
use fleetmem::report;
use fleetmem::scenario::{self, Scenario};
use fleetmem::simulate::{self, Prepared, Watch};

/// One second in ns.
pub const S: u64 = 1_000_000_000;
/// One hour in ns.
pub const HOUR: u64 = 3600 * S;

/// A file below `tests/data`.
pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// The scenario file `path` after `sets`.
#[track_caller]
pub fn load(path: &Path, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    scenario::load(path, &sets).unwrap_or_else(|e| panic!("{e}"))
}

/// The scenario in `text`; files that it names are below `tests/data`.
#[track_caller]
pub fn parse(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    scenario::parse(text, "test.yaml", &data(""), &sets).unwrap_or_else(|e| panic!("{e}"))
}

/// What the command line does with a scenario, without files.
#[track_caller]
pub fn simulate(scenario: &Scenario) -> RunResult {
    let warmup_ns = scenario.warmup_ns.unwrap_or_else(|| {
        let samples = Prepared::new(scenario, 0).unwrap().sample(simulate::SAMPLE);
        simulate::default_warmup(scenario, &samples)
    });
    let prepared = Prepared::new(scenario, warmup_ns).unwrap();
    simulate::run(scenario, &prepared, &Watch::default()).unwrap()
}

/// The tables of a run, as they would be written.
pub struct Tables {
    pub summary: String,
    pub timeline: String,
    pub agents: String,
}

/// Runs a scenario and makes its tables.
#[track_caller]
pub fn tables(scenario: &Scenario) -> Tables {
    let result = simulate(scenario);
    Tables {
        summary: report::summary::csv(scenario, &result),
        timeline: report::timeline::csv(&result),
        agents: report::agents::csv(&result),
    }
}

/// A CSV line by column name.
pub type Row = BTreeMap<String, String>;

/// The lines of a CSV text.
#[track_caller]
pub fn rows(csv: &str) -> Vec<Row> {
    csv::Reader::from_reader(csv.as_bytes())
        .deserialize()
        .map(|row| row.expect("every line has every column"))
        .collect()
}

/// One cell of `summary.csv`.
#[track_caller]
pub fn cell(summary: &[Row], model: &str, metric: &str, column: &str) -> String {
    let row = summary
        .iter()
        .find(|r| r["model"] == model && r["metric"] == metric)
        .unwrap_or_else(|| panic!("no {metric} of {model}"));
    row[column].clone()
}

/// Names in a folder, sorted.
pub fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(dir)
        .unwrap()
        .map(|e| e.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Every file below a folder, by path from it.
pub fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut out = BTreeMap::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(dir).unwrap().to_path_buf();
                out.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    out
}
