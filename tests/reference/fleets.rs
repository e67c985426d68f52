//! Three fixed fleets whose values were worked out elsewhere, and the parts they are built from.

use fleetmem::memory::{Entry, Footprint, MemoryModel};
use fleetmem::scenario::{
    Agent, Arrivals, AtLimit, Law, Limit, Rate, Rewind, Scenario, SnapshotPolicy, Spawn, SpawnMode,
    SpawnStart, SystemPrompt, Ttl, WorkloadEntry,
};

/// One second in ns.
pub const S: u64 = 1_000_000_000;

fn constant(value: u64) -> Law {
    Law::constant(value as f64)
}

/// A model of this name.
pub fn model(label: &str, footprint: Footprint) -> MemoryModel {
    MemoryModel {
        label: label.to_string(),
        dtypes: String::new(),
        weights_bytes: 0,
        footprint,
    }
}

fn attention(entry_bytes: u64, state_bytes: u64) -> Footprint {
    Footprint {
        entries: vec![Entry {
            ratio: 1,
            bytes: entry_bytes,
        }],
        state_bytes,
        snapshot_state_bytes: state_bytes,
        ..Footprint::default()
    }
}

/// The three models of the fixed fleets.
pub fn models() -> Vec<MemoryModel> {
    vec![
        model("all-mla-93", attention(107_136, 0)),
        model("kimi-k3-article", attention(27_648, 217_055_232)),
        model("kimi-k3", attention(27_648, 449_372_160)),
    ]
}

/// An agent of one step with nothing in it.
pub fn plain_agent(name: &str) -> Agent {
    Agent {
        name: name.to_string(),
        fixed_model: None,
        system_prompt: SystemPrompt::Own(constant(0)),
        first_prompt: constant(0),
        prompt: constant(0),
        turns: constant(1),
        steps: constant(1),
        tool_tokens: constant(0),
        tool_time: constant(0),
        output: constant(1),
        think: constant(0),
        session_factor: constant(1),
        max_duration: None,
        limit: None,
        rewind: None,
        spawns: Vec::new(),
        ttl: Ttl {
            tool: None,
            blocked: None,
            user: None,
            finished: Some(0),
        },
        snapshots: SnapshotPolicy {
            every: None,
            prompt_end: false,
            output_end: false,
            fork: false,
            keep: None,
        },
        prefill: Rate {
            micro_tokens_per_s: 8_000_000_000,
        },
        decode: Rate {
            micro_tokens_per_s: 64_000_000,
        },
        decode_block: 256,
    }
}

fn spawn(name: &str, agent: usize, mode: SpawnMode, count: u64, start: SpawnStart) -> Spawn {
    Spawn {
        name: name.to_string(),
        agent,
        mode,
        probability: 1.0,
        count: constant(count),
        start,
        task: constant(0),
        result: constant(0),
        max_depth: None,
    }
}

/// A scenario of one replication whose only entry starts `agents[0]` at these seconds.
pub fn scenario(name: &str, measure_s: u64, agents: Vec<Agent>, at_s: &[u64]) -> Scenario {
    Scenario {
        name: name.to_string(),
        description: None,
        seed: 7,
        measure_ns: measure_s * S,
        warmup_ns: Some(0),
        replications: 1,
        models: models(),
        baseline: 0,
        fixed_models: Vec::new(),
        agents,
        workload: vec![WorkloadEntry {
            name: "main".to_string(),
            agent: 0,
            arrivals: Arrivals::At(at_s.iter().map(|s| s * S).collect()),
        }],
        warnings: Vec::new(),
        digest: String::new(),
    }
}

/// Fleet 1: trees, no lifetimes.
pub fn trees() -> Scenario {
    let snapshots = SnapshotPolicy {
        every: Some(20_000),
        ..plain_agent("").snapshots
    };
    let agent = |name: &str| Agent {
        snapshots,
        ..plain_agent(name)
    };
    let finished = |s: u64| Ttl {
        finished: Some(s * S),
        ..plain_agent("").ttl
    };
    let coder = Agent {
        system_prompt: SystemPrompt::Own(constant(15_000)),
        first_prompt: constant(400),
        prompt: constant(400),
        turns: constant(3),
        steps: constant(4),
        tool_tokens: constant(6_000),
        tool_time: constant(9 * S),
        output: constant(640),
        think: constant(120 * S),
        limit: Some(Limit {
            tokens: constant(1_000_000),
            at_ppb: 1_000_000_000,
            then: AtLimit::End,
        }),
        ttl: finished(3_600),
        spawns: vec![
            Spawn {
                task: constant(800),
                result: constant(1_200),
                ..spawn("explorer", 1, SpawnMode::Sync, 2, SpawnStart::Fresh)
            },
            Spawn {
                task: constant(500),
                result: constant(500),
                ..spawn("watcher", 2, SpawnMode::Async, 1, SpawnStart::Fresh)
            },
        ],
        ..agent("coder")
    };
    let explorer = Agent {
        system_prompt: SystemPrompt::Own(constant(10_000)),
        steps: constant(3),
        tool_tokens: constant(20_000),
        tool_time: constant(4 * S),
        output: constant(256),
        ..agent("explorer")
    };
    let watcher = Agent {
        system_prompt: SystemPrompt::Own(constant(5_000)),
        steps: constant(5),
        tool_tokens: constant(2_000),
        tool_time: constant(300 * S),
        output: constant(128),
        ttl: finished(30 * 60),
        ..agent("watcher")
    };
    scenario("trees", 7_200, vec![coder, explorer, watcher], &[0, 30])
}

/// Fleet 2: lifetimes, shared prompt, forks, async results, keep N.
pub fn lifetimes() -> Scenario {
    let policy = SnapshotPolicy {
        every: Some(20_000),
        output_end: true,
        keep: Some(3),
        ..plain_agent("").snapshots
    };
    let ttl = Ttl {
        tool: Some(60 * S),
        blocked: Some(3_600 * S),
        user: Some(300 * S),
        finished: Some(600 * S),
    };
    let agent = |name: &str| Agent {
        snapshots: policy,
        ttl,
        ..plain_agent(name)
    };
    let lead = Agent {
        system_prompt: SystemPrompt::Shared {
            tokens: 12_000,
            variants: 1,
        },
        first_prompt: constant(9_000),
        prompt: constant(1_500),
        turns: constant(4),
        steps: constant(3),
        tool_tokens: constant(7_000),
        tool_time: constant(45 * S),
        output: constant(700),
        think: constant(400 * S),
        max_duration: Some(constant(5_000 * S)),
        limit: Some(Limit {
            tokens: constant(90_000),
            at_ppb: 900_000_000,
            then: AtLimit::Compact {
                to: constant(6_000),
            },
        }),
        spawns: vec![
            Spawn {
                task: constant(900),
                result: constant(1_100),
                ..spawn("scout", 1, SpawnMode::Sync, 2, SpawnStart::Fresh)
            },
            Spawn {
                task: constant(300),
                result: constant(450),
                ..spawn("fork1", 2, SpawnMode::Async, 1, SpawnStart::Fork)
            },
        ],
        ..agent("lead")
    };
    let scout = Agent {
        system_prompt: SystemPrompt::Own(constant(5_000)),
        steps: constant(2),
        tool_tokens: constant(4_000),
        tool_time: constant(90 * S),
        output: constant(300),
        ttl: Ttl {
            finished: Some(0),
            ..ttl
        },
        ..agent("scout")
    };
    let fork1 = Agent {
        steps: constant(4),
        tool_tokens: constant(2_500),
        tool_time: constant(50 * S),
        output: constant(260),
        ttl: Ttl {
            finished: Some(120 * S),
            ..ttl
        },
        ..agent("fork1")
    };
    scenario(
        "lifetimes",
        14_400,
        vec![lead, scout, fork1],
        &[0, 100, 250],
    )
}

/// Fleet 3: fleet 2 with rewinds, and every snapshot kept.
pub fn rewinds() -> Scenario {
    let mut scenario = Scenario {
        name: "rewinds".to_string(),
        ..lifetimes()
    };
    scenario.agents[0].rewind = Some(Rewind {
        probability: 1.0,
        depth: constant(2_600),
    });
    scenario
        .agents
        .iter_mut()
        .for_each(|agent| agent.snapshots.keep = None);
    scenario
}
