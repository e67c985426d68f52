//! Stationary theory: with Poisson arrivals and independent sessions the number of live sessions
//! is Poisson, with mean rate × mean length, whatever the law of the lengths (M/G/∞; Takács,
//! *Introduction to the Theory of Queues*, 1962, ch. 3).

use fleetmem::memory::{Footprint, MemoryModel};
use fleetmem::observe::results::RunResult;
use fleetmem::scenario::{self, Scenario};
use fleetmem::simulate::{self, Prepared, Watch};
use std::path::Path;

/// Standard errors that a measured figure may be off: a right program fails once in 16,000 tries.
const Z: f64 = 4.0;

/// Sessions of one-token contexts that last as long as one tool call.
fn sessions_lasting(length: &str) -> Scenario {
    let text = format!(
        "name: live\nseed: 1\nmeasure: 1s\nwarmup: 12h\nreplications: 2000\nmodels: [all-mla-93]\n\
         agents:\n  worker:\n    first_prompt: 1\n    steps: 2\n    tool: {{time: {length}}}\n    \
         ttl: {{tool: never, finished: 0s}}\n\
         serving: {{prefill: 1000000 tok/s, decode: 1000000 tok/s}}\n\
         workload: {{jobs: {{agent: worker, rate: 30/h}}}}\n"
    );
    let mut scenario =
        scenario::parse(&text, "live.yaml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"));
    // A byte for each live sequence: the bytes held are the number of live sessions.
    let footprint = Footprint {
        state_bytes: 1,
        ..Footprint::default()
    };
    scenario.models = vec![MemoryModel {
        label: "live".into(),
        dtypes: String::new(),
        weights_bytes: 0,
        footprint,
    }];
    scenario
}

fn run(scenario: &Scenario) -> RunResult {
    let prepared =
        Prepared::new(scenario, scenario.warmup_ns.expect("a warm-up")).expect("one model");
    simulate::run(scenario, &prepared, &Watch::default()).expect("a run")
}

/// Mean and variance over replications of the number alive in a window of one second, which is
/// the number at one instant but for a thousandth of a session.
fn live_sessions(scenario: &Scenario) -> (f64, f64, f64) {
    let result = run(scenario);
    let window = result.measure_ns as f64;
    let counts: Vec<f64> = result.rows[0]
        .replications
        .iter()
        .map(|r| r.byte_ns as f64 / window)
        .collect();
    let n = counts.len() as f64;
    let mean = counts.iter().sum::<f64>() / n;
    let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (n, mean, variance)
}

fn is_poisson(length: &str, mean_length_h: f64) {
    let (n, mean, variance) = live_sessions(&sessions_lasting(length));
    let expected = 30.0 * mean_length_h;
    // Var of a Poisson sample's mean: m / n; of its variance: (m + 2 m² n / (n - 1)) / n.
    let mean_error = (expected / n).sqrt();
    let variance_error = ((expected + 2.0 * expected * expected * n / (n - 1.0)) / n).sqrt();
    assert!(
        (mean - expected).abs() < Z * mean_error,
        "{length}: mean {mean}, expected {expected} ± {mean_error}"
    );
    assert!(
        (variance - expected).abs() < Z * variance_error,
        "{length}: variance {variance}, expected {expected} ± {variance_error}"
    );
}

#[test]
fn constant_lengths_give_a_poisson_number_of_live_sessions() {
    is_poisson("20m", 1.0 / 3.0);
}

#[test]
fn lognormal_lengths_give_a_poisson_number_of_live_sessions() {
    is_poisson("{lognormal: {mean: 30m, cv: 0.8}}", 0.5);
}

#[test]
fn bounded_pareto_lengths_give_a_poisson_number_of_live_sessions() {
    // E[min(X, b)] of Pareto(shape a, scale s) is s + s^a (s^(1-a) - b^(1-a)) / (a - 1).
    let (a, s, b) = (1.5_f64, 10.0_f64 / 60.0, 6.0_f64);
    let mean = s + s.powf(a) * (s.powf(1.0 - a) - b.powf(1.0 - a)) / (a - 1.0);
    is_poisson("{pareto: {shape: 1.5, scale: 10m, max: 6h}}", mean);
}

#[test]
fn bursty_arrivals_are_not_poisson() {
    let mut scenario = sessions_lasting("20m");
    let scenario::Arrivals::Renewal { cv, .. } = &mut scenario.workload[0].arrivals else {
        panic!("renewal")
    };
    *cv = 3.0;
    let (_, mean, variance) = live_sessions(&scenario);
    assert!(variance > 2.0 * mean, "variance {variance}, mean {mean}");
}

/// Little's law: mean running = rate × mean time in a step, exactly for constants but for chance.
#[test]
fn running_sequences_follow_littles_law() {
    let text = "name: little\nseed: 4\nmeasure: 20d\nwarmup: 2h\nreplications: 4\nmodels: [all-mla-93]\n\
                agents: {worker: {first_prompt: 8000, output: 600, steps: 3, tool: {tokens: 4000, time: 10s}}}\n\
                serving: {prefill: 8000 tok/s, decode: 60 tok/s}\n\
                workload: {jobs: {agent: worker, rate: 120/h}}\n";
    let scenario =
        scenario::parse(text, "little.yaml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"));
    let result = run(&scenario);
    // Three steps: 1 s + 0.5 s + 0.5 s of prefill and 10 s of decode each.
    let (rate, busy_s) = (120.0 / 3600.0, 32.0);
    let span_s = result.measure_ns as f64 / 1e9 * result.rows[0].replications.len() as f64;
    let running: f64 = result.rows[0]
        .replications
        .iter()
        .map(|r| r.running_ns as f64 / 1e9)
        .sum();
    let mean = running / span_s;
    let error = rate * busy_s / (rate * span_s).sqrt();
    assert!(
        (mean - rate * busy_s).abs() < Z * error,
        "{mean} against {} ± {error}",
        rate * busy_s
    );
}

#[test]
fn nothing_is_recomputed_where_nothing_is_let_go() {
    let text = "name: never\nseed: 2\nmeasure: 24h\nwarmup: 6h\nreplications: 2\nmodels: [all-mla-93, kimi-k3]\n\
                ttl: {tool: never, blocked: never, user: never, finished: 1h}\n\
                agents:\n  a:\n    first_prompt: 3K\n    turns: 1..5\n    steps: 1..6\n    tool: {tokens: 500, time: {median: 9s, p90: 20m}}\n    \
                think: {median: 5m, p90: 1h}\n    output: 300\n    spawns: {b: {mode: sync, probability: 0.2}, c: {mode: async, start: fork, probability: 0.2}}\n  \
                b: {steps: 3, tool: {time: 5m}}\n  c: {steps: 4, tool: {time: 20m}}\n\
                workload: {w: {agent: a, rate: 20/h}}\n";
    let scenario =
        scenario::parse(text, "never.yaml", Path::new("."), &[]).unwrap_or_else(|e| panic!("{e}"));
    for row in run(&scenario).rows {
        for replication in row.replications {
            assert_eq!(replication.counts.tokens_recomputed, 0);
            assert!(replication.counts.steps > 1000);
        }
    }
}
