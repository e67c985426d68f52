//! Random small checked scenarios: every feature of an agent, constants and integer ranges only.
//! Times lie on a coarse grid and arrivals repeat, so that instants coincide often.

use fleetmem::memory::{Entry, Footprint, MemoryModel, Window};
use fleetmem::scenario::{
    Agent, Arrivals, AtLimit, Law, LawKind, Limit, Profile, Rate, Rewind, Scenario, SnapshotPolicy,
    Spawn, SpawnMode, SpawnStart, SystemPrompt, Ttl, WorkloadEntry,
};
use proptest::collection::vec;
use proptest::option::{of, weighted};
use proptest::prelude::*;
use proptest::sample::select;

use super::fleets::{S, model, plain_agent};

/// One tenth of a second in ns: the grid of pauses, lifetimes and arrivals.
const TICK: u64 = S / 10;
/// Most runs that a session may have, so that a case takes milliseconds.
const MOST_RUNS: u64 = 80;

fn constant(value: f64) -> Law {
    Law::constant(value)
}

/// A constant or an integer range within [low, high], times `unit`.
fn law(low: i64, high: i64, unit: u64) -> BoxedStrategy<Law> {
    let unit = unit as i64;
    let range = (low..=high, low..=high).prop_map(move |(a, b)| Law {
        kind: LawKind::IntegerRange {
            low: a.min(b) * unit,
            high: a.max(b) * unit,
        },
        min: None,
        max: None,
    });
    prop_oneof![
        (low..=high).prop_map(move |v| constant((v * unit) as f64)),
        range,
    ]
    .boxed()
}

/// A length of time on the grid; 0 is likely.
fn time_law() -> BoxedStrategy<Law> {
    prop_oneof![1 => Just(constant(0.0)), 2 => law(0, 60, TICK), 2 => law(0, 3, 10 * TICK)].boxed()
}

/// Round rates that keep instants on the grid, odd ones that need rounding up, and one so fast
/// that several blocks fall on one nanosecond.
fn rate() -> BoxedStrategy<Rate> {
    let per_s = [
        10.0,
        20.0,
        100.0,
        100.0,
        1_000.0,
        1_000.0,
        7.3,
        333.333_333,
        3e9,
    ];
    select(per_s.to_vec())
        .prop_map(|tokens| Rate {
            micro_tokens_per_s: (tokens * 1e6) as u64,
        })
        .boxed()
}

fn lifetime() -> BoxedStrategy<Option<u64>> {
    prop_oneof![
        2 => Just(Some(0)),
        3 => (0..40_u64).prop_map(|ticks| Some(ticks * TICK)),
        1 => Just(Some(1_000 * S)),
        2 => Just(None),
    ]
    .boxed()
}

fn ttl() -> BoxedStrategy<Ttl> {
    let any = (lifetime(), lifetime(), lifetime(), lifetime());
    any.prop_map(|(tool, blocked, user, finished)| Ttl {
        tool,
        blocked,
        user,
        finished,
    })
    .boxed()
}

fn snapshots() -> BoxedStrategy<SnapshotPolicy> {
    let at = (any::<bool>(), any::<bool>(), any::<bool>());
    (weighted(0.7, 1..40_u64), at, of(1..4_u64))
        .prop_map(
            |(every, (prompt_end, output_end, fork), keep)| SnapshotPolicy {
                every,
                prompt_end,
                output_end,
                fork,
                keep,
            },
        )
        .boxed()
}

fn limit() -> BoxedStrategy<Limit> {
    let to = prop_oneof![
        select(vec![0.0, 0.1, 0.25, 0.5, 0.99]).prop_map(constant),
        law(0, 30, 1),
    ];
    let then = prop_oneof![
        1 => Just(AtLimit::End),
        3 => to.prop_map(|to| AtLimit::Compact { to }),
    ];
    let at = select(vec![
        1_000_000_000,
        900_000_000,
        500_000_000,
        333_333_333_u64,
    ]);
    (law(10, 200, 1), at, then)
        .prop_map(|(tokens, at_ppb, then)| Limit {
            tokens,
            at_ppb,
            then,
        })
        .boxed()
}

fn system_prompt() -> BoxedStrategy<SystemPrompt> {
    prop_oneof![
        law(0, 30, 1).prop_map(SystemPrompt::Own),
        (1..40_u64, 1..4_u32)
            .prop_map(|(tokens, variants)| SystemPrompt::Shared { tokens, variants }),
    ]
    .boxed()
}

fn probability() -> BoxedStrategy<f64> {
    select(vec![1.0, 1.0, 0.5, 0.2]).boxed()
}

/// A spawn of any of `agents` agents; [`repair`] makes it one that a check accepts.
fn spawn(agents: usize) -> BoxedStrategy<Spawn> {
    let mode = select(vec![SpawnMode::Sync, SpawnMode::Async]);
    let start = select(vec![SpawnStart::Fresh, SpawnStart::Fork, SpawnStart::Fork]);
    let who = (0..agents, mode, start, of(1..4_u32));
    (
        who,
        probability(),
        law(0, 2, 1),
        law(0, 30, 1),
        law(0, 30, 1),
    )
        .prop_map(
            |((agent, mode, start, max_depth), probability, count, task, result)| Spawn {
                name: String::new(),
                agent,
                mode,
                probability,
                count,
                start,
                task,
                result,
                max_depth,
            },
        )
        .boxed()
}

/// One agent of `agents`, whose fixed model is one of `fixed_models`.
fn agent(agents: usize, fixed_models: usize) -> BoxedStrategy<Agent> {
    let fixed = if fixed_models == 0 {
        Just(None).boxed()
    } else {
        weighted(0.4, 0..fixed_models).boxed()
    };
    let tokens = (
        system_prompt(),
        law(0, 60, 1),
        law(0, 40, 1),
        law(0, 40, 1),
        law(0, 40, 1),
    );
    let steps = prop_oneof![law(0, 3, 1), law(2, 4, 1)];
    let shape = (law(0, 3, 1), steps, time_law(), time_law());
    let factor = prop_oneof![
        3 => Just(constant(1.0)),
        1 => select(vec![0.0, 0.5, 1.5]).prop_map(constant),
        1 => law(0, 2, 1),
    ];
    let rewind = (probability(), law(0, 80, 1))
        .prop_map(|(probability, depth)| Rewind { probability, depth });
    let ends = (
        weighted(0.25, time_law()),
        weighted(0.4, limit()),
        weighted(0.4, rewind),
    );
    let spawns = prop_oneof![1 => Just(Vec::new()), 3 => vec(spawn(agents), 1..3)];
    let engine = (ttl(), snapshots(), rate(), rate(), 1..50_u64);
    (fixed, tokens, shape, factor, ends, spawns, engine)
        .prop_map(
            |(fixed_model, tokens, shape, session_factor, ends, spawns, engine)| Agent {
                fixed_model,
                system_prompt: tokens.0,
                first_prompt: tokens.1,
                prompt: tokens.2,
                tool_tokens: tokens.3,
                output: tokens.4,
                turns: shape.0,
                steps: shape.1,
                tool_time: shape.2,
                think: shape.3,
                session_factor,
                max_duration: ends.0,
                limit: ends.1,
                rewind: ends.2,
                spawns,
                ttl: engine.0,
                snapshots: engine.1,
                prefill: engine.2,
                decode: engine.3,
                decode_block: engine.4,
                ..plain_agent("")
            },
        )
        .boxed()
}

/// Any footprint with small numbers; a snapshot stores the recurrent state always, windows and
/// tails by choice.
fn any_footprint() -> BoxedStrategy<Footprint> {
    let ratios = proptest::sample::subsequence(vec![1, 3, 4, 16_u64], 0..=3);
    let windows = proptest::sample::subsequence(vec![5, 8, 64_u64], 0..=2);
    let bytes = (1..100_u64, 1..100_u64);
    let state = (select(vec![0, 1_009_u64]), select(vec![0, 53_u64]));
    (ratios, windows, bytes, state, any::<bool>(), any::<bool>())
        .prop_map(
            |(ratios, windows, bytes, (state, tail), keep_windows, keep_tails)| Footprint {
                entries: ratios
                    .iter()
                    .map(|&ratio| Entry {
                        ratio,
                        bytes: bytes.0 + ratio,
                    })
                    .collect(),
                windows: windows
                    .iter()
                    .map(|&tokens| Window {
                        tokens,
                        bytes: bytes.1 + tokens,
                        snapshot_bytes: if keep_windows { bytes.1 + tokens } else { 0 },
                    })
                    .collect(),
                state_bytes: state,
                tail_bytes: tail,
                snapshot_state_bytes: state + if keep_tails { tail } else { 0 },
            },
        )
        .prop_filter("a model holds something", |footprint| {
            footprint.bytes(64) > 0
        })
        .boxed()
}

/// The shapes of real models, scaled down: All-MLA, a recurrent hybrid, compressed entries with a
/// window; the first is always All-MLA with 107,136 bytes a token.
fn compared_models() -> BoxedStrategy<Vec<MemoryModel>> {
    let entry = |ratio, bytes| Entry { ratio, bytes };
    let all_mla = model(
        "all-mla",
        Footprint {
            entries: vec![entry(1, 107_136)],
            ..Footprint::default()
        },
    );
    let recurrent = model(
        "recurrent",
        Footprint {
            entries: vec![entry(1, 27_648)],
            state_bytes: 2_000_003,
            snapshot_state_bytes: 2_000_003,
            ..Footprint::default()
        },
    );
    let compressed = move |label: &str, kept: u64| {
        let window = Window {
            tokens: 8,
            bytes: 577,
            snapshot_bytes: 577 * kept,
        };
        model(
            label,
            Footprint {
                entries: vec![entry(4, 1_301), entry(16, 271)],
                windows: vec![window],
                state_bytes: 0,
                tail_bytes: 4_999,
                snapshot_state_bytes: 4_999 * kept,
            },
        )
    };
    (any::<bool>(), any_footprint())
        .prop_map(move |(kept, other)| {
            let compressed = compressed("compressed", u64::from(kept));
            let other = model("other", other);
            vec![all_mla.clone(), recurrent.clone(), compressed, other]
        })
        .boxed()
}

fn listed_arrivals(measure_ticks: u64) -> BoxedStrategy<Arrivals> {
    let ticks = prop_oneof![
        1 => Just(0),
        2 => (0..4_u64).prop_map(move |quarter| quarter * measure_ticks / 4),
        2 => 0..measure_ticks + 10,
    ];
    vec(ticks, 1..4)
        .prop_map(|mut ticks| {
            ticks.sort_unstable();
            Arrivals::At(ticks.iter().map(|t| t * TICK).collect())
        })
        .boxed()
}

/// A gamma renewal process of a few sessions; who uses these must bring the arrivals.
fn renewal_arrivals(window_ticks: u64) -> BoxedStrategy<Arrivals> {
    (1..4_u32, select(vec![0.5, 1.0, 1.5]))
        .prop_map(move |(sessions, cv)| Arrivals::Renewal {
            per_hour: f64::from(sessions) * 36_000.0 / window_ticks as f64,
            cv,
            profile: Profile {
                hourly: [1.0; 24],
                weekdays: [true; 7],
                utc_offset_hours: 0.0,
            },
        })
        .boxed()
}

/// The highest value of a count, as a law of this module gives it.
fn highest(law: &Law) -> u64 {
    match law.kind {
        LawKind::Constant(value) => value.ceil() as u64,
        LawKind::IntegerRange { high, .. } => high as u64,
        _ => unreachable!("constants and integer ranges only"),
    }
}

/// Most runs below (and with) a run of `agent` at `depth`.
fn most_runs(agents: &[Agent], agent: usize, depth: u32) -> u64 {
    let a = &agents[agent];
    let turns = (highest(&a.turns).max(1) * highest(&a.session_factor).max(1)).max(1);
    let calls = turns * (highest(&a.steps).max(1) - 1);
    let below = a
        .spawns
        .iter()
        .filter(|s| s.max_depth.is_none_or(|max| depth < max));
    let each = |s: &Spawn| highest(&s.count).saturating_mul(most_runs(agents, s.agent, depth + 1));
    1 + calls.saturating_mul(below.map(each).fold(0, u64::saturating_add))
}

/// Makes random agents what a check accepts: names, no cycle without `max_depth`, no fork across
/// models; then drops spawns until a session is small.
fn repair(agents: &mut [Agent]) {
    let models: Vec<Option<usize>> = agents.iter().map(|a| a.fixed_model).collect();
    for (i, agent) in agents.iter_mut().enumerate() {
        agent.name = format!("agent{i}");
        for (k, spawn) in agent.spawns.iter_mut().enumerate() {
            spawn.name = format!("spawn{k}");
            if spawn.agent <= i {
                spawn.max_depth = Some(spawn.max_depth.unwrap_or(2));
            }
            if models[spawn.agent] != models[i] {
                spawn.start = SpawnStart::Fresh;
            }
        }
    }
    while (0..agents.len()).any(|i| most_runs(agents, i, 0) > MOST_RUNS) {
        let last = agents.iter_mut().rfind(|a| !a.spawns.is_empty());
        last.expect("a session without spawns is one run")
            .spawns
            .pop();
    }
}

fn scenarios(renewals: bool) -> BoxedStrategy<Scenario> {
    let sizes = (1..5_usize, 0..3_usize, 5..1_000_u64, 1..3_usize);
    sizes
        .prop_flat_map(move |(agents, fixed, measure_ticks, entries)| {
            let warmup_ticks = if renewals { measure_ticks } else { 0 };
            let arrivals = if renewals {
                renewal_arrivals(measure_ticks + warmup_ticks)
            } else {
                listed_arrivals(measure_ticks)
            };
            (
                vec(agent(agents, fixed), agents),
                compared_models(),
                vec(any_footprint(), fixed),
                vec(
                    (prop_oneof![2 => Just(0), 1 => 0..agents], arrivals),
                    entries,
                ),
                any::<u64>(),
                Just((measure_ticks * TICK, warmup_ticks * TICK)),
            )
        })
        .prop_map(
            |(mut agents, models, fixed, entries, seed, (measure_ns, warmup_ns))| {
                repair(&mut agents);
                let fixed = fixed.into_iter().enumerate();
                let entries = entries.into_iter().enumerate();
                Scenario {
                    name: "random".to_string(),
                    description: None,
                    seed,
                    measure_ns,
                    warmup_ns: Some(warmup_ns),
                    replications: 1,
                    models,
                    baseline: 0,
                    fixed_models: fixed.map(|(i, f)| model(&format!("fixed{i}"), f)).collect(),
                    agents,
                    workload: entries
                        .map(|(i, (agent, arrivals))| WorkloadEntry {
                            name: format!("entry{i}"),
                            agent,
                            arrivals,
                        })
                        .collect(),
                    warnings: Vec::new(),
                    digest: String::new(),
                }
            },
        )
        .boxed()
}

/// Scenarios of 0.5 to 100 s without a warm-up, whose arrivals are listed.
pub fn small_scenarios() -> BoxedStrategy<Scenario> {
    scenarios(false)
}

/// Scenarios with a warm-up as long as the window, whose arrivals are renewal processes.
pub fn small_scenarios_with_warmup() -> BoxedStrategy<Scenario> {
    scenarios(true)
}

/// Sometimes a bin of the whole window, else one that need not divide it.
pub fn bin_ns() -> BoxedStrategy<u64> {
    prop_oneof![Just(1_000 * S), (1..60_u64).prop_map(|n| n * 7 * TICK + 1)].boxed()
}
