//! Whole scenarios: what they mean, and what is said of wrong ones.

mod errors;
mod files;
mod laws;
mod meaning;
mod schema;
mod values;

use super::{Scenario, ScenarioErrors};
use std::path::Path;

/// The shortest scenario; `{}` in tests stands where they differ.
const SMALL: &str = "measure: 24h
models: [all-mla-93, kimi-k3]
agents:
  coder: {turns: 3}
workload:
  main: {agent: coder, at: [0s]}
";

fn parse(text: &str, sets: &[&str]) -> Result<Scenario, ScenarioErrors> {
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    super::parse(text, "s.yaml", Path::new("."), &sets)
}

fn good(text: &str, sets: &[&str]) -> Scenario {
    parse(text, sets).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn bad(text: &str, sets: &[&str]) -> String {
    match parse(text, sets) {
        Ok(_) => panic!("accepted:\n{text} {sets:?}"),
        Err(errors) => errors.to_string(),
    }
}

/// Asserts that a text is refused with one finding that says all of `says`.
#[track_caller]
fn one(text: &str, sets: &[&str], says: &[&str]) {
    let shown = bad(text, sets);
    for part in says {
        assert!(shown.contains(part), "no {part:?} in:\n{shown}");
    }
    assert_eq!(shown.matches("error: ").count(), 1, "{shown}");
    assert!(shown.contains('^'), "{shown}");
}

/// The same for [`SMALL`] with one line in place of another.
#[track_caller]
fn line(old: &str, new: &str, says: &[&str]) {
    assert!(SMALL.contains(old));
    one(&SMALL.replace(old, new), &[], says);
}
