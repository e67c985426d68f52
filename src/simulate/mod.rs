//! Events → token changes: what agents do over time, posted to [`crate::observe`]. Knows no
//! files, no terminal, no YAML, and no model's bytes.
//!
//! `life` has the rules of an agent's life (docs/rules.md), with `opening`, `children` and
//! `keeping`; `holding` and `sharing` have what its sequence holds, `session` the order in which a session's runs act, and `fleet` walks all
//! sessions through time.

mod calendar;
mod children;
mod fleet;
mod holding;
mod keeping;
mod life;
mod opening;
mod prepare;
mod run;
mod sample;
mod session;
mod sharing;
mod world;

use rayon::prelude::*;

use crate::observe::results::{ModelRow, RunResult};
use crate::scenario::{Arrivals, Scenario};

pub use fleet::{Outcome, Watch, replicate};
pub use life::duration_ns;
pub use prepare::Prepared;
pub use sample::EntrySample;

/// Sessions sampled per workload entry to see how long they last.
pub const SAMPLE: u64 = 400;

/// A warm-up that is long enough for the longest of `samples` (ttl included), rounded up to whole
/// minutes, or whole hours beyond one. Entries whose arrivals are listed need none.
pub fn default_warmup(scenario: &Scenario, samples: &[EntrySample]) -> u64 {
    const MINUTE: u64 = 60_000_000_000;
    let entries = scenario.workload.iter().zip(samples);
    let renewing = entries.filter(|(e, _)| matches!(e.arrivals, Arrivals::Renewal { .. }));
    let longest = renewing.map(|(_, s)| s.longest_ns()).max().unwrap_or(0);
    let unit = if longest > 60 * MINUTE {
        60 * MINUTE
    } else {
        MINUTE
    };
    longest.div_ceil(unit) * unit
}

/// Simulates every replication of a scenario on the current thread pool; the result does not
/// depend on its size.
///
/// # Errors
/// If it is cancelled, or a context passes what the engine counts.
pub fn run(
    scenario: &Scenario,
    prepared: &Prepared,
    watch: &Watch,
) -> Result<RunResult, SimulateError> {
    let outcomes = (0..scenario.replications)
        .into_par_iter()
        .map(|replication| replicate(prepared, replication, watch))
        .collect::<Result<Vec<Outcome>, SimulateError>>()?;
    let models = scenario
        .models
        .iter()
        .map(|m| (m, false))
        .chain(scenario.fixed_models.iter().map(|m| (m, true)));
    let mut warnings = Vec::new();
    let cut: u64 = outcomes.iter().map(|o| o.cut_prompts).sum();
    if cut > 0 {
        warnings.push(format!(
            "new tokens were cut {cut} times because they did not fit the context limit even in a new sequence"
        ));
    }
    let mut result = RunResult {
        measure_ns: prepared.measure_ns,
        warmup_ns: prepared.warmup_ns,
        bin_ns: prepared.plan.bin_ns,
        events: outcomes.iter().map(|o| o.events).sum(),
        rows: models
            .map(|(m, fixed)| ModelRow {
                model: m.clone(),
                fixed,
                replications: Vec::new(),
            })
            .collect(),
        agent_names: scenario.agents.iter().map(|a| a.name.clone()).collect(),
        warnings,
    };
    for outcome in outcomes {
        for (row, replication) in result.rows.iter_mut().zip(outcome.rows) {
            row.replications.push(replication);
        }
    }
    Ok(result)
}

/// Why a simulation gave no result.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The watcher asked it to stop.
    #[error("the run was stopped")]
    Cancelled,
    /// A context passed what the engine counts.
    #[error("a context grew beyond 4,294,967,295 tokens; give the agent a `limit`")]
    ContextOverflow,
    /// The fleet holds more than the engine counts.
    #[error("the fleet holds more than 4.6 EB under a model; simulate a part of it and scale up")]
    BytesOverflow,
    /// Too many different compression ratios and windows at once.
    #[error(
        "the models together have too many different windows and compression ratios; compare fewer at once"
    )]
    TooManyShapes,
}
