//! Synthetic results for tests: a diurnal fleet with bursts.

use std::time::{Duration, UNIX_EPOCH};

use super::RunMeta;
use super::number::DAY_NS;
use crate::memory::{Entry, Footprint, MemoryModel};
use crate::observe::results::{AgentRow, Bin, Counts, ModelRow, RowReplication, RunResult};
use crate::scenario::{
    Agent, AtLimit, Law, Limit, Rate, Scenario, SnapshotPolicy, SystemPrompt, Ttl,
};
use crate::workload::draws::mix64;

const LABELS: [(&str, &str); 10] = [
    ("all-mla-93", "bf16 KV"),
    ("kimi-k3", "bf16 KV, fp32 state"),
    ("deepseek-v4-pro", "fp8 KV, bf16 windows, fp32 tails"),
    ("qwen3-next", "bf16 KV, fp32 state"),
    ("minimax-m2", "bf16 KV"),
    ("gpt-oss-120b", "bf16 KV"),
    ("llama-3.1-405b", "fp8 KV"),
    ("jamba-1.5-large", "bf16 KV, bf16 state"),
    ("glm-4.5", "bf16 KV"),
    ("gemma-3-27b", "bf16 KV"),
];

fn footprint(model: usize) -> Footprint {
    let factor = [1.0, 0.26, 0.12, 0.3, 0.8, 0.5, 1.4, 0.2, 0.9, 0.6][model % 10];
    let hybrid = [1, 2, 3, 7].contains(&model);
    let state = if hybrid { 217_055_232 } else { 0 };
    Footprint {
        entries: vec![Entry {
            ratio: 1,
            bytes: (107_136.0 * factor) as u64,
        }],
        windows: vec![],
        state_bytes: state,
        tail_bytes: 0,
        snapshot_state_bytes: state,
    }
}

fn agent(name: &str, limit: f64, shared: Option<u64>) -> Agent {
    let law = Law::constant;
    Agent {
        name: name.into(),
        fixed_model: None,
        system_prompt: match shared {
            Some(tokens) => SystemPrompt::Shared {
                tokens,
                variants: 40,
            },
            None => SystemPrompt::Own(law(0.0)),
        },
        first_prompt: law(0.0),
        prompt: law(0.0),
        turns: law(1.0),
        steps: law(1.0),
        tool_tokens: law(0.0),
        tool_time: law(0.0),
        output: law(1.0),
        think: law(0.0),
        session_factor: law(1.0),
        max_duration: None,
        limit: Some(Limit {
            tokens: law(limit),
            at_ppb: 900_000_000,
            then: AtLimit::End,
        }),
        rewind: None,
        spawns: vec![],
        ttl: Ttl {
            tool: None,
            blocked: None,
            user: None,
            finished: None,
        },
        snapshots: SnapshotPolicy {
            every: None,
            prompt_end: false,
            output_end: false,
            fork: false,
            keep: None,
        },
        prefill: Rate {
            micro_tokens_per_s: 1,
        },
        decode: Rate {
            micro_tokens_per_s: 1,
        },
        decode_block: 256,
    }
}

/// A scenario of two agents that nothing starts.
pub fn scenario(models: usize) -> Scenario {
    let models: Vec<MemoryModel> = (0..models)
        .map(|m| MemoryModel {
            label: LABELS[m % 10].0.to_string(),
            dtypes: LABELS[m % 10].1.to_string(),
            weights_bytes: 1_000_000_000_000 + m as u64,
            footprint: footprint(m),
        })
        .collect();
    Scenario {
        name: "coding-agents".into(),
        description: Some("Coding agents under several memory models".into()),
        seed: 7,
        measure_ns: 7 * DAY_NS,
        warmup_ns: None,
        replications: 1,
        models,
        baseline: 0,
        fixed_models: vec![],
        agents: vec![
            agent("coder", 1e6, Some(15_000)),
            agent("explorer", 200_000.0, None),
        ],
        workload: vec![],
        warnings: vec![],
        digest: "0123abcd".into(),
    }
}

/// Metadata of a run of two seconds.
pub fn meta() -> RunMeta {
    RunMeta {
        command: ["fleetmem", "run", "coding.yaml"]
            .map(str::to_string)
            .to_vec(),
        started: UNIX_EPOCH + Duration::from_secs(1_774_101_909),
        wall_ns: 2_000_000_000,
        threads: 2,
    }
}

/// A week in bins of five minutes.
pub fn week(models: usize, replications: usize) -> (Scenario, RunResult) {
    fleet(models, replications, 7 * DAY_NS, 300_000_000_000, 3000.0)
}

/// Nothing ran.
pub fn empty(models: usize) -> (Scenario, RunResult) {
    fleet(models, 1, DAY_NS, 60_000_000_000, 0.0)
}

/// Sequences held at `bin` in replication `rep`.
fn held(hour: f64, bin: u64, rep: u64, size: f64) -> f64 {
    let day = (hour / 24.0).floor() as u64 % 7;
    let work = if day < 5 { 1.0 } else { 0.15 };
    let shape = (-((hour % 24.0 - 14.0) / 4.5).powi(2)).exp();
    let noise = |salt: u64| mix64(salt ^ (rep << 40)) as f64 / u64::MAX as f64 - 0.5;
    let burst = if mix64(bin ^ (rep << 20) ^ 77) % 300 == 0 {
        0.35
    } else {
        0.0
    };
    size * (0.08 + work * shape + burst) * (1.0 + 0.06 * noise(bin) + 0.05 * noise(bin / 40))
}

/// A fleet whose sequences hold 60,000 tokens each on average, `size` at the daily peak.
pub fn fleet(
    models: usize,
    replications: usize,
    measure_ns: u64,
    bin_ns: u64,
    size: f64,
) -> (Scenario, RunResult) {
    let scenario = Scenario {
        measure_ns,
        ..scenario(models)
    };
    let rows = scenario.models.iter().map(|model| ModelRow {
        model: model.clone(),
        fixed: false,
        replications: (0..replications as u64)
            .map(|rep| replication(&model.footprint, rep, measure_ns, bin_ns, size))
            .collect(),
    });
    let result = RunResult {
        measure_ns,
        warmup_ns: DAY_NS / 2,
        bin_ns,
        events: 123_456_788,
        rows: rows.collect(),
        agent_names: ["coder", "explorer", "watcher"]
            .map(str::to_string)
            .to_vec(),
        warnings: vec![],
    };
    (scenario, result)
}

/// Splits `amount` by `weights`, exactly.
fn split<const N: usize>(amount: u128, weights: [u64; N]) -> [u128; N] {
    let total: u64 = weights.iter().sum();
    let mut left = amount;
    let mut out = [0; N];
    for i in 0..N {
        out[i] = amount * u128::from(weights[i]) / u128::from(total);
        left -= out[i];
    }
    out[0] += left;
    out
}

fn replication(f: &Footprint, rep: u64, measure_ns: u64, bin_ns: u64, size: f64) -> RowReplication {
    let mut out = RowReplication::default();
    let mut averages = Vec::new();
    for i in 0..measure_ns.div_ceil(bin_ns) {
        let start = i * bin_ns;
        let length = u128::from(bin_ns.min(measure_ns - start));
        let sequences = held(start as f64 / 3.6e12, i, rep, size) as u64;
        let (kv, state) = (f.kv_bytes(60_000) * sequences, f.state_bytes * sequences);
        let snapshot = f.snapshot_bytes(60_000) * sequences * 3 / 2;
        let shared = if sequences > 0 {
            40 * f.bytes(15_000)
        } else {
            0
        };
        let average = kv + state + snapshot + shared;
        let own = u128::from(average - shared) * length;
        let wobble = average / 50;
        let bin = Bin {
            total: u128::from(average) * length,
            min: average - wobble,
            max: average + wobble * 2,
            shared: u128::from(shared) * length,
            kind: [kv, state, snapshot].map(|v| u128::from(v) * length),
            owner: split(own, [62, 30 + i % 7, 8]),
            activity: split(own, [14, 22 + i % 5, 9, 43, 12]),
        };
        out.byte_ns += bin.total;
        out.shared_byte_ns += bin.shared;
        (0..3).for_each(|k| out.kind_byte_ns[k] += bin.kind[k]);
        (0..3).for_each(|k| out.owner_byte_ns[k] += bin.owner[k]);
        (0..5).for_each(|k| out.activity_byte_ns[k] += bin.activity[k]);
        if bin.max > out.peak_bytes {
            (out.peak_bytes, out.peak_ns) = (bin.max, start + bin_ns / 3);
        }
        out.sequence_ns += u128::from(sequences) * length;
        out.running_ns += u128::from(sequences) * length / 7;
        out.token_ns += u128::from(sequences * 60_000) * length;
        out.peak_sequences = out.peak_sequences.max(sequences);
        averages.push(average);
        out.bins.push(bin);
    }
    averages.sort_unstable();
    let quantile = |q: usize| averages[(averages.len() - 1) * q / 100];
    out.quantile_bytes = [quantile(50), quantile(95), quantile(99)];
    out.p99_running = out.peak_sequences / 6;
    out.session_peak_bytes = [f.bytes(60_000), f.bytes(300_000), f.bytes(900_000)];
    out.counts = Counts {
        sessions_started: 25_210 + rep * 13,
        sequences_started: 60_127,
        steps: 812_345 + rep,
        tokens_prefilled: 3_456_789_012,
        tokens_decoded: 212_345_678 + rep * 4_321,
        tokens_recomputed: 345_678_901,
        snapshots_taken: if f.is_checkpointed() { 912_345 } else { 0 },
        compactions: 321,
        rewinds: 4_567,
    };
    out.agents = (0..3)
        .map(|agent| AgentRow {
            agent,
            ..AgentRow::default()
        })
        .collect();
    out
}
