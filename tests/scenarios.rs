//! The shipped scenarios: each loads, and what its comments claim holds.

use fleetmem::memory::{Entry, Footprint, MemoryModel};
use fleetmem::observe::results::{AgentRow, RowReplication, RunResult};
use fleetmem::scenario::{self, Arrivals, Scenario, SystemPrompt};
use fleetmem::simulate::{self, Prepared, Watch, replicate};
use fleetmem::workload::{RunKey, Template};
use std::path::Path;

const HOUR: u64 = 3_600_000_000_000;

fn load(name: &str, sets: &[&str]) -> Scenario {
    let path = Path::new("scenarios").join(format!("{name}.yaml"));
    let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
    scenario::load(&path, &sets).unwrap_or_else(|e| panic!("{e}"))
}

fn run(name: &str, sets: &[&str]) -> RunResult {
    let scenario = load(name, sets);
    let samples = Prepared::new(&scenario, 0)
        .expect("few shapes")
        .sample(simulate::SAMPLE);
    let warmup = simulate::default_warmup(&scenario, &samples);
    let prepared = Prepared::new(&scenario, warmup).expect("few shapes");
    simulate::run(&scenario, &prepared, &Watch::default()).expect("a run")
}

fn replications<'a>(result: &'a RunResult, model: &str) -> &'a [RowReplication] {
    let row = result.rows.iter().find(|r| r.model.label == model);
    &row.unwrap_or_else(|| panic!("no {model}")).replications
}

/// Byte-ns over all replications.
fn byte_ns(result: &RunResult, model: &str) -> f64 {
    replications(result, model)
        .iter()
        .map(|r| r.byte_ns as f64)
        .sum()
}

/// An agent's rows under a model, over replications.
fn agent(result: &RunResult, model: &str, name: &str) -> Vec<AgentRow> {
    let index = result
        .agent_names
        .iter()
        .position(|n| n == name)
        .expect("an agent");
    let rows = replications(result, model).iter().flat_map(|r| &r.agents);
    rows.filter(|a| a.agent == index).copied().collect()
}

fn agent_byte_ns(result: &RunResult, model: &str, name: &str) -> f64 {
    agent(result, model, name)
        .iter()
        .map(|a| a.byte_ns as f64)
        .sum()
}

fn agent_recomputed(result: &RunResult, model: &str, name: &str) -> u64 {
    agent(result, model, name)
        .iter()
        .map(|a| a.counts.tokens_recomputed)
        .sum()
}

#[test]
fn every_shipped_scenario_loads_and_points_to_the_schema() {
    let mut seen = 0;
    for entry in std::fs::read_dir("scenarios").expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "yaml") {
            scenario::load(&path, &[]).unwrap_or_else(|e| panic!("{e}"));
            let text = std::fs::read_to_string(&path).expect("text");
            assert!(
                text.starts_with("# yaml-language-server: $schema=schema.json\n"),
                "{path:?}"
            );
            seen += 1;
        }
    }
    assert!(seen >= 7, "only {seen}");
}

#[test]
fn the_saving_survives_sparse_snapshots_and_not_dense_ones() {
    let saving = |sets: &[&str], model: &str| {
        let result = run("kimi-k3-vs-all-mla", sets);
        1.0 - byte_ns(&result, model) / byte_ns(&result, "all-mla-93")
    };
    let one = "replications=2";
    assert!(saving(&[one], "kimi-k3") > 0.4);
    assert!(saving(&[one], "kimi-k3-article") > saving(&[one], "kimi-k3"));
    assert!(saving(&[one, "snapshots.every=5K"], "kimi-k3") < 0.0);
    // Without snapshots only the state is paid: 1 - 24/93 less a little.
    let none = saving(&[one, "snapshots.every=none"], "kimi-k3");
    assert!((0.70..0.742).contains(&none), "{none}");
    assert!(saving(&[one, "snapshots.keep=3"], "kimi-k3") > saving(&[one], "kimi-k3"));
}

#[test]
fn coding_agents_with_dense_snapshots_hold_more_under_k3() {
    let result = run("coding-agents", &["replications=1", "snapshots.every=5K"]);
    assert!(byte_ns(&result, "kimi-k3") > byte_ns(&result, "all-mla-93"));
}

#[test]
fn a_swarm_makes_the_peak() {
    let result = run("subagent-swarm", &["replications=2"]);
    for row in replications(&result, "all-mla-93") {
        let mean = row.byte_ns as f64 / result.measure_ns as f64;
        assert!(
            row.peak_bytes as f64 > 5.0 * mean,
            "{} against {mean}",
            row.peak_bytes
        );
        let peak = row.bins.iter().max_by_key(|b| b.max).expect("bins");
        let [main, sync, _] = peak.owner;
        assert!(sync > main, "sync {sync}, main {main} where the peak is");
    }
}

#[test]
fn async_helpers_hold_more_for_the_same_work() {
    let result = run("sync-vs-async", &["replications=2"]);
    let model = "all-mla-93";
    let held = |name| agent_byte_ns(&result, model, name);
    assert!(held("left_running") > 2.0 * held("waited_for"));
    assert!(held("waits") > held("goes_on"));
    let steps = |name| {
        agent(&result, model, name)
            .iter()
            .map(|a| a.counts.steps)
            .sum::<u64>() as f64
    };
    let ratio = steps("left_running") / steps("waited_for");
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
}

#[test]
fn snapshot_policies_trade_memory_for_recomputing() {
    let result = run("snapshot-policy", &["replications=2"]);
    let held = |name| agent_byte_ns(&result, "kimi-k3", name);
    let again = |name| agent_recomputed(&result, "kimi-k3", name);
    let sparse_to_dense = ["never", "every_80k", "every_20k", "every_5k"];
    for pair in sparse_to_dense.windows(2) {
        assert!(held(pair[0]) < held(pair[1]), "{pair:?}");
        assert!(again(pair[0]) > again(pair[1]), "{pair:?}");
    }
    assert!(held("output_end") > held("every_5k"));
    assert!(again("output_end") > again("every_5k"));
    assert!(held("latest_3") < held("every_20k") && again("latest_3") > again("every_20k"));
    for name in sparse_to_dense {
        assert_eq!(agent_recomputed(&result, "all-mla-93", name), 0, "{name}");
    }
}

#[test]
fn lifetimes_trade_memory_for_recomputing() {
    let result = run("cache-ttl", &["replications=2"]);
    let model = "all-mla-93";
    let lifetimes = ["keep_0s", "keep_1m", "keep_5m", "keep_20m", "keep_1h"];
    for pair in lifetimes.windows(2) {
        assert!(
            agent_recomputed(&result, model, pair[0]) > agent_recomputed(&result, model, pair[1]),
            "{pair:?}"
        );
    }
    for pair in lifetimes[1..].windows(2) {
        assert!(
            agent_byte_ns(&result, model, pair[0]) < agent_byte_ns(&result, model, pair[1]),
            "{pair:?}"
        );
    }
    assert!(agent_byte_ns(&result, model, "keep_0s") > agent_byte_ns(&result, model, "keep_1m"));
}

#[test]
fn office_hours_peak_higher_for_the_same_mean() {
    let result = run("office-hours", &[]);
    let model = "all-mla-93";
    let mean = |name| agent_byte_ns(&result, model, name);
    let peak = |name| {
        agent(&result, model, name)
            .iter()
            .map(|a| a.peak_bytes)
            .sum::<u64>() as f64
    };
    let ratio = mean("office") / mean("world");
    assert!((0.75..1.33).contains(&ratio), "{ratio}");
    assert!(peak("office") > 1.3 * peak("world"));
}

fn quantile(values: &mut [f64], q: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((q * values.len() as f64).ceil() as usize).max(1) - 1]
}

fn within_15_percent(what: &str, got: f64, recorded: f64) {
    let error = got / recorded - 1.0;
    assert!(
        error.abs() <= 0.15,
        "{what}: {got:.1}, recorded {recorded} ({:+.1}%)",
        error * 100.0
    );
}

/// Sessions of `coding-agents.yaml` one at a time, main agents only, against the quantiles of 710
/// recorded sessions (callanjfox/kv-cache-tester).
#[test]
fn coding_agents_are_calibrated_on_recorded_sessions() {
    let mut scenario = load("coding-agents", &["replications=1"]);
    let per_token = Footprint {
        entries: vec![Entry { ratio: 1, bytes: 1 }],
        ..Footprint::default()
    };
    scenario.models = vec![MemoryModel {
        label: "tokens".into(),
        dtypes: String::new(),
        weights_bytes: 0,
        footprint: per_token,
    }];
    scenario.workload.truncate(1);
    scenario.workload[0].arrivals = Arrivals::At(vec![0]);
    scenario.measure_ns = 400 * HOUR;
    let coder = scenario.workload[0].agent;
    for spawn in &mut scenario.agents[coder].spawns {
        spawn.probability = 0.0;
    }
    let SystemPrompt::Shared { tokens: shared, .. } = scenario.agents[coder].system_prompt else {
        panic!("a shared prompt")
    };
    let prepared = Prepared::new(&scenario, 0).expect("few shapes");
    let (mut requests, mut peaks, mut compacted) = (Vec::new(), Vec::new(), 0);
    let sessions = 1500;
    for session in 0..sessions {
        let outcome = replicate(&prepared, session, &Watch::default()).expect("a session");
        let row = &outcome.rows[0];
        requests.push((row.counts.steps - row.counts.compactions) as f64);
        peaks.push((row.session_peak_bytes[0] + shared) as f64);
        compacted += u32::from(row.counts.compactions > 0);
    }
    within_15_percent("requests p50", quantile(&mut requests, 0.5), 45.0);
    within_15_percent("requests p90", quantile(&mut requests, 0.9), 155.0);
    within_15_percent("peak context p50", quantile(&mut peaks, 0.5), 148_500.0);
    within_15_percent("peak context p90", quantile(&mut peaks, 0.9), 341_000.0);
    let share = f64::from(compacted) / f64::from(sessions);
    within_15_percent("sessions with a compaction", share, 147.0 / 710.0);

    let template = Template::new(&scenario.agents[coder]);
    let key = RunKey::entry(1, 0, "calibration");
    let draws = |draw: &dyn Fn(u32) -> u64| (0..20_000).map(|i| draw(i) as f64).collect::<Vec<_>>();
    let mut outputs = draws(&|i| template.output(key, 0, i));
    within_15_percent("output p50", quantile(&mut outputs, 0.5), 216.0);
    within_15_percent("output p90", quantile(&mut outputs, 0.9), 899.0);
    let mut tools = draws(&|i| template.tool_time_ns(key, 0, i));
    within_15_percent("tool pause p50, s", quantile(&mut tools, 0.5) / 1e9, 9.0);
    within_15_percent("tool pause p90, s", quantile(&mut tools, 0.9) / 1e9, 74.0);
    let mut thinks = draws(&|i| template.think_ns(key, i));
    within_15_percent("user pause p50, s", quantile(&mut thinks, 0.5) / 1e9, 127.0);
    within_15_percent(
        "user pause p90, s",
        quantile(&mut thinks, 0.9) / 1e9,
        1541.0,
    );
}

/// What a compaction leaves: the recorded context falls to 0.276 of itself at the median. Here:
/// the system prompt, the summary (`to`), and the median new tokens, at the limit that binds most.
#[test]
fn coding_agents_keep_what_recorded_compactions_keep() {
    let scenario = load("coding-agents", &[]);
    let coder = &scenario.agents[scenario.workload[0].agent];
    let template = Template::new(coder);
    let to = template.run_draws(RunKey(1)).compact_to.expect("a summary");
    let full = 0.9 * 200_000.0;
    within_15_percent(
        "context after a compaction",
        (15_000.0 + to * full + 655.0) / full,
        0.276,
    );
}
