//! What right scenarios mean.

use super::{SMALL, bad, good};
use crate::scenario::{
    Agent, Arrivals, AtLimit, Law, LawKind, Limit, Profile, Rate, Rewind, Scenario, SnapshotPolicy,
    Spawn, SpawnMode, SpawnStart, SystemPrompt, Ttl,
};

const S: u64 = 1_000_000_000;

const FLEET_1: &str = "
measure: 7200s
ttl: {tool: never, blocked: never, user: never, finished: 0s}
snapshots: {every: 20000, at: [], keep: all}
decode_block: 256
serving: {prefill: 8000 tok/s, decode: 64 tok/s}
agents:
  coder:
    system_prompt: {tokens: 15000, shared: false}
    first_prompt: 400
    prompt: 400
    turns: 3
    steps: 4
    tool: {tokens: 6000, time: 9s}
    output: 640
    think: 120s
    limit: {tokens: 1M, at: 1.0, then: end}
    ttl: {finished: 1h}
    spawns:
      explorer: {mode: sync, count: 2, start: fresh, task: 800, result: 1200}
      watcher: {mode: async, count: 1, start: fresh, task: 500, result: 500}
  explorer: {system_prompt: {tokens: 10000, shared: false}, turns: 1, steps: 3, tool: {tokens: 20000, time: 4s}, output: 256}
  watcher: {system_prompt: {tokens: 5000, shared: false}, turns: 1, steps: 5, tool: {tokens: 2000, time: 300s}, output: 128, ttl: {finished: 30m}}
workload: {main: {agent: coder, at: [0s, 30s]}}
";

const FLEET_2: &str = "
measure: 14400s
ttl: {tool: 60s, blocked: 3600s, user: 300s, finished: 600s}
snapshots: {every: 20000, at: [output_end], keep: 3}
decode_block: 256
serving: {prefill: 8000 tok/s, decode: 64 tok/s}
agents:
  lead:
    system_prompt: {tokens: 12000, shared: true, variants: 1}
    first_prompt: 9000
    prompt: 1500
    turns: 4
    steps: 3
    tool: {tokens: 7000, time: 45s}
    output: 700
    think: 400s
    max_duration: 5000s
    limit: {tokens: 90000, at: 0.9, then: compact, to: 6000}
    spawns:
      scout: {mode: sync, count: 2, start: fresh, task: 900, result: 1100}
      fork1: {mode: async, count: 1, start: fork, task: 300, result: 450}
  scout: {system_prompt: {tokens: 5000, shared: false}, turns: 1, steps: 2, tool: {tokens: 4000, time: 90s}, output: 300, ttl: {finished: 0s, tool: 60s}}
  fork1: {turns: 1, steps: 4, tool: {tokens: 2500, time: 50s}, output: 260, ttl: {finished: 120s}}
workload: {main: {agent: lead, at: [0s, 100s, 250s]}}
";

const FLEET: &[&str] = &[
    "models=[all-mla-93, kimi-k3-article, kimi-k3]",
    "replications=1",
    "warmup=0s",
];

fn constant(value: u64) -> Law {
    Law::constant(value as f64)
}

fn agent<'a>(scenario: &'a Scenario, name: &str) -> &'a Agent {
    scenario.agents.iter().find(|a| a.name == name).unwrap()
}

#[test]
fn fleet_1() {
    let s = good(FLEET_1, FLEET);
    assert_eq!(
        (s.measure_ns, s.warmup_ns, s.replications, s.baseline),
        (7200 * S, Some(0), 1, 0)
    );
    let labels: Vec<&str> = s.models.iter().map(|m| m.label.as_str()).collect();
    assert_eq!(labels, ["all-mla-93", "kimi-k3-article", "kimi-k3"]);
    assert_eq!(s.models[0].footprint.bytes(1), 107_136);
    assert_eq!(s.models[2].footprint.state_bytes, 449_372_160);
    let names: Vec<&str> = s.agents.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["coder", "explorer", "watcher"]);
    let coder = &s.agents[0];
    assert_eq!(coder.system_prompt, SystemPrompt::Own(constant(15_000)));
    assert_eq!(coder.tool_tokens, constant(6000));
    assert_eq!(coder.tool_time, constant(9 * S));
    assert_eq!(coder.think, constant(120 * S));
    assert_eq!(coder.turns, constant(3));
    assert_eq!(
        coder.limit,
        Some(Limit {
            tokens: constant(1_000_000),
            at_ppb: 1_000_000_000,
            then: AtLimit::End
        })
    );
    // The agent's `ttl` changes one field of four.
    assert_eq!(
        coder.ttl,
        Ttl {
            tool: None,
            blocked: None,
            user: None,
            finished: Some(3600 * S)
        }
    );
    assert_eq!(
        s.agents[1].ttl,
        Ttl {
            tool: None,
            blocked: None,
            user: None,
            finished: Some(0)
        }
    );
    let snapshots = SnapshotPolicy {
        every: Some(20_000),
        prompt_end: false,
        output_end: false,
        fork: false,
        keep: None,
    };
    assert_eq!(coder.snapshots, snapshots);
    assert_eq!(
        coder.prefill,
        Rate {
            micro_tokens_per_s: 8_000_000_000
        }
    );
    assert_eq!(
        coder.decode,
        Rate {
            micro_tokens_per_s: 64_000_000
        }
    );
    assert_eq!(coder.decode_block, 256);
    let spawn = |name: &str, agent, mode, count, task, result| Spawn {
        name: name.into(),
        agent,
        mode,
        probability: 1.0,
        count: constant(count),
        start: SpawnStart::Fresh,
        task: constant(task),
        result: constant(result),
        max_depth: None,
    };
    assert_eq!(
        coder.spawns,
        [
            spawn("explorer", 1, SpawnMode::Sync, 2, 800, 1200),
            spawn("watcher", 2, SpawnMode::Async, 1, 500, 500)
        ]
    );
    assert_eq!(s.workload[0].agent, 0);
    assert_eq!(s.workload[0].arrivals, Arrivals::At(vec![0, 30 * S]));
    // The warm-up of 0 is shorter than the ttl of 1h.
    assert_eq!(s.warnings.len(), 1, "{:?}", s.warnings);
}

#[test]
fn fleets_2_and_3() {
    let s = good(FLEET_2, FLEET);
    let lead = agent(&s, "lead");
    assert_eq!(
        lead.system_prompt,
        SystemPrompt::Shared {
            tokens: 12_000,
            variants: 1
        }
    );
    assert_eq!(lead.max_duration, Some(constant(5000 * S)));
    assert_eq!(
        lead.limit,
        Some(Limit {
            tokens: constant(90_000),
            at_ppb: 900_000_000,
            then: AtLimit::Compact { to: constant(6000) }
        })
    );
    assert_eq!(lead.snapshots.keep, Some(3));
    assert!(lead.snapshots.output_end && !lead.snapshots.fork);
    assert_eq!(lead.spawns[1].start, SpawnStart::Fork);
    assert_eq!(agent(&s, "scout").ttl.user, Some(300 * S));
    assert_eq!(
        agent(&s, "fork1").system_prompt,
        SystemPrompt::Own(constant(0))
    );
    assert_eq!(lead.rewind, None);
    let mut sets = FLEET.to_vec();
    sets.extend([
        "agents.lead.rewind={probability: 1, depth: 2600}",
        "snapshots.keep=all",
    ]);
    let s = good(FLEET_2, &sets);
    assert_eq!(
        agent(&s, "lead").rewind,
        Some(Rewind {
            probability: 1.0,
            depth: constant(2600)
        })
    );
    assert_eq!(agent(&s, "lead").snapshots.keep, None);
}

/// A scenario with nearly every field.
#[test]
fn the_contracts_example() {
    let s = good(include_str!("contract.yaml"), &[]);
    assert_eq!(
        (s.name.as_str(), s.seed, s.replications),
        ("coding-agents", 7, 5)
    );
    assert_eq!(s.models[2].label, "V4-Pro");
    assert!(
        s.models[1].dtypes.contains("bf16 state"),
        "{}",
        s.models[1].dtypes
    );
    assert_eq!(
        (s.measure_ns, s.warmup_ns),
        (24 * 3600 * S, Some(12 * 3600 * S))
    );
    let coder = agent(&s, "coder");
    assert_eq!(
        coder.system_prompt,
        SystemPrompt::Shared {
            tokens: 15_000,
            variants: 40
        }
    );
    let LawKind::Lognormal { mu, sigma } = coder.first_prompt.kind else {
        panic!()
    };
    assert!(
        (mu - 9000f64.ln()).abs() < 1e-12
            && (sigma - (120f64 / 9.0).ln() / 1.2815515655446004).abs() < 1e-12
    );
    let LawKind::Lognormal { mu, .. } = coder.think.kind else {
        panic!()
    };
    assert!((mu - 127e9f64.ln()).abs() < 1e-12);
    // Mean 1: mu = -sigma²/2.
    let LawKind::Lognormal { mu, sigma } = coder.session_factor.kind else {
        panic!()
    };
    assert!(
        (mu + sigma * sigma / 2.0).abs() < 1e-15 && (sigma * sigma - 1.64f64.ln()).abs() < 1e-15
    );
    assert_eq!(
        coder.spawns[0].count.kind,
        LawKind::IntegerRange { low: 1, high: 3 }
    );
    assert_eq!(coder.spawns[0].probability, 0.05);
    let Arrivals::Renewal {
        per_hour,
        cv,
        profile,
    } = &s.workload[0].arrivals
    else {
        panic!()
    };
    assert_eq!((*per_hour, *cv), (1250.0, 1.0));
    assert_eq!(
        profile.weekdays,
        [true, true, true, true, true, false, false]
    );
    assert_eq!(profile.hourly[12], 2.0);
    let Arrivals::Renewal {
        per_hour,
        cv,
        profile,
    } = &s.workload[1].arrivals
    else {
        panic!()
    };
    assert_eq!((*per_hour, *cv), (1200.0, 1.5));
    assert_eq!(
        *profile,
        Profile {
            hourly: [1.0; 24],
            weekdays: [true; 7],
            utc_offset_hours: 0.0
        }
    );
}

#[test]
fn defaults() {
    let s = good(SMALL, &[]);
    assert_eq!(
        (
            s.name.as_str(),
            s.seed,
            s.warmup_ns,
            s.replications,
            s.baseline
        ),
        ("s", 0, None, 1, 0)
    );
    let a = &s.agents[0];
    let minutes = |m: u64| Some(m * 60 * S);
    assert_eq!(
        a.ttl,
        Ttl {
            tool: minutes(60),
            blocked: minutes(60),
            user: minutes(5),
            finished: minutes(5)
        }
    );
    let snapshots = SnapshotPolicy {
        every: Some(20_000),
        prompt_end: false,
        output_end: true,
        fork: true,
        keep: None,
    };
    assert_eq!(a.snapshots, snapshots);
    assert_eq!(a.prefill.micro_tokens_per_s, 8_000_000_000);
    assert_eq!(a.decode.micro_tokens_per_s, 60_000_000);
    assert_eq!((a.decode_block, a.fixed_model), (256, None));
    assert_eq!((&a.steps, &a.output), (&constant(1), &constant(1)));
    assert_eq!(
        (&a.first_prompt, &a.tool_time),
        (&constant(0), &constant(0))
    );
    // A partial map keeps the other defaults.
    let s = good(
        SMALL,
        &[
            "snapshots.every=5K",
            "agents.coder.snapshots.keep=2",
            "ttl.user=never",
        ],
    );
    let a = &s.agents[0];
    assert_eq!(
        a.snapshots,
        SnapshotPolicy {
            every: Some(5000),
            keep: Some(2),
            ..snapshots
        }
    );
    assert_eq!((a.ttl.user, a.ttl.tool), (None, minutes(60)));
    let off = good(SMALL, &["snapshots={every: none, at: []}"]);
    assert_eq!(off.agents[0].snapshots.every, None);
    assert!(!off.agents[0].snapshots.output_end);
    // Anything drawn asks for replications.
    assert_eq!(good(SMALL, &["agents.coder.turns=1..3"]).replications, 5);
    assert_eq!(
        good(SMALL, &["workload.main={agent: coder, rate: 1/h}"]).replications,
        5
    );
}

#[test]
fn limits_choose_their_end() {
    let limit = |text: &str| {
        good(SMALL, &[&format!("agents.coder.limit={text}")]).agents[0]
            .limit
            .clone()
            .unwrap()
    };
    assert_eq!(limit("{tokens: 1Mi}").then, AtLimit::End);
    assert_eq!(limit("{tokens: 1Mi}").tokens, constant(1 << 20));
    assert_eq!(
        limit("{tokens: 1M, to: 20K}").then,
        AtLimit::Compact {
            to: constant(20_000)
        }
    );
    assert_eq!(
        limit("{tokens: 1M, to: 0.276}").then,
        AtLimit::Compact {
            to: Law::constant(0.276)
        }
    );
    assert_eq!(limit("{tokens: 1M, at: 0.85}").at_ppb, 850_000_000);
}

#[test]
fn fixed_models() {
    let text = "measure: 1d
models: [all-mla-93, kimi-k3]
agents:
  a: {model: kimi-k3, spawns: {b: {mode: sync}, c: {mode: sync, start: fork}}}
  b: {model: {model: kimi-k2}}
  c: {model: kimi-k3}
  d: {model: compared}
workload: {x: {agent: a, at: [0s]}, y: {agent: d, at: [0s]}}
";
    let s = good(text, &[]);
    let labels: Vec<&str> = s.fixed_models.iter().map(|m| m.label.as_str()).collect();
    assert_eq!(labels, ["kimi-k3 (fixed)", "kimi-k2"]);
    let fixed: Vec<_> = s.agents.iter().map(|a| a.fixed_model).collect();
    assert_eq!(fixed, [Some(0), Some(1), Some(0), None]);
    let shown = bad(text, &["agents.c.model={model: kimi-k3, state: bf16}"]);
    assert!(
        shown.contains("two different fixed models are named `kimi-k3 (fixed)`"),
        "{shown}"
    );
}

#[test]
fn spawns_keep_their_order_and_depth() {
    let s = good(
        SMALL,
        &[
            "agents.coder.spawns={z: {agent: coder, mode: sync}, a: {agent: coder, mode: async, max_depth: 3}}",
            "agents.coder.max_depth=1",
        ],
    );
    let spawns: Vec<_> = s.agents[0]
        .spawns
        .iter()
        .map(|s| (s.name.as_str(), s.max_depth))
        .collect();
    assert_eq!(spawns, [("z", Some(1)), ("a", Some(3))]);
}

#[test]
fn anchors_and_merges() {
    let s = good(
        "measure: &day 24h
warmup: *day
models: [all-mla-93]
agents:
  coder: &base
    turns: 3
    output: 500
  other:
    <<: *base
    turns: 5
workload: {main: {agent: coder, at: [0s]}, more: {agent: other, at: [0s]}}
",
        &["agents.coder.output=7"],
    );
    assert_eq!(s.warmup_ns, Some(s.measure_ns));
    assert_eq!(agent(&s, "other").turns, constant(5));
    // `--set` changes what it names, not what shares its text.
    assert_eq!(agent(&s, "other").output, constant(500));
    assert_eq!(agent(&s, "coder").output, constant(7));
}

#[test]
fn workloads() {
    let arrivals = |text: &str| {
        good(SMALL, &[&format!("workload.main={text}")]).workload[0]
            .arrivals
            .clone()
    };
    let profile = |text: &str| match arrivals(text) {
        Arrivals::Renewal { profile, .. } => profile,
        Arrivals::At(_) => panic!(),
    };
    assert_eq!(
        arrivals("{agent: coder, at: [30s, 0s, 10s]}"),
        Arrivals::At(vec![0, 10 * S, 30 * S])
    );
    let zone =
        |z: &str| profile(&format!("{{agent: coder, rate: 1/h, timezone: {z}}}")).utc_offset_hours;
    assert_eq!(
        (
            zone("+9"),
            zone("-5"),
            zone("5.5"),
            zone("'-3:30'"),
            zone("UTC+1")
        ),
        (9.0, -5.0, 5.5, -3.5, 1.0)
    );
    let days = |d: &str| profile(&format!("{{agent: coder, rate: 1/h, weekdays: {d}}}")).weekdays;
    assert_eq!(
        days("[mon, sat-sun]"),
        [true, false, false, false, false, true, true]
    );
    assert_eq!(
        days("sat-mon"),
        [true, false, false, false, false, true, true]
    );
    assert_eq!(days("all"), [true; 7]);
    let hours = profile(
        "{agent: coder, rate: 1/h, profile: [0,0,0,0,0,0,0,0,0,0,0,0,2,2,2,2,2,2,2,2,2,2,2,2]}",
    );
    assert_eq!(hours.hourly[11..13], [0.0, 2.0]);
    let global = profile("{agent: coder, rate: 1/h, profile: global}").hourly;
    assert!((global[19] / global[8] - 1.14 / 0.79).abs() < 1e-12);
}

#[test]
fn the_digest_is_of_the_meaning() {
    let digest = good(SMALL, &[]).digest;
    assert_eq!(digest.len(), 64);
    assert_eq!(
        digest,
        good(
            &format!("# a comment\n{}", SMALL.replace("24h", "\"24h\"")),
            &[]
        )
        .digest
    );
    assert_ne!(digest, good(SMALL, &["seed=8"]).digest);
    assert_eq!(
        good(SMALL, &["seed=8"]).digest,
        good(&format!("{SMALL}seed: 8\n"), &[]).digest
    );
}

#[test]
fn warnings() {
    let warned = |sets: &[&str]| good(SMALL, sets).warnings;
    assert_eq!(warned(&[]), [""; 0]);
    let list = warned(&["models=[all-mla-93, {model: kimi-k3, kv: fp8, as: K3}]"]);
    assert!(
        list[0].contains("models are compared at different KV data types"),
        "{list:?}"
    );
    let list = warned(&[
        "measure=36h",
        "workload.main={agent: coder, rate: 1/h, profile: business-hours}",
    ]);
    assert!(
        list[0].contains("measure: the window is not whole days under a daily profile"),
        "{list:?}"
    );
    let list = warned(&["warmup=30m"]);
    assert!(
        list[0].contains("warmup: the warm-up is shorter than the longest ttl"),
        "{list:?}"
    );
    let list = warned(&["agents.spare={turns: 1}"; 0]);
    assert_eq!(list, [""; 0]);
    let list = good(&SMALL.replace("workload", "  spare: {}\nworkload"), &[]).warnings;
    assert!(
        list[0].starts_with("s.yaml:5:3: agents.spare: agent `spare` is never started"),
        "{list:?}"
    );
    let list = warned(&["agents.coder.output={loglogistic: {shape: 1.52, scale: 40K}}"]);
    assert!(
        list[0].contains(
            "agents.coder.output: a loglogistic law of shape 1.52 has an infinite variance"
        ),
        "{list:?}"
    );
}
