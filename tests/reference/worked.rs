//! Single rules on the smallest fleets, with every state worked by hand. The rates are 1,000 tokens
//! a second for prefill and 100 for decode: a token takes 1 ms, or 10 ms.

use fleetmem::memory::{Entry, Footprint, Window};
use fleetmem::observe::results::RowReplication;
use fleetmem::scenario::{
    Agent, AtLimit, Law, Limit, Rate, Rewind, Scenario, Spawn, SpawnMode, SpawnStart, SystemPrompt,
    Ttl,
};

use super::fleets::{S, model, plain_agent, scenario};
use super::properties::Simulator;

const MS: u128 = 1_000_000;

fn constant(value: u64) -> Law {
    Law::constant(value as f64)
}

fn agent(name: &str) -> Agent {
    Agent {
        prefill: Rate {
            micro_tokens_per_s: 1_000_000_000,
        },
        decode: Rate {
            micro_tokens_per_s: 100_000_000,
        },
        decode_block: 10,
        ..plain_agent(name)
    }
}

/// 100 B for 4 tokens, 10 B for each of the last 8 tokens, a tail of 1 B, nothing checkpointed.
fn compressed() -> Footprint {
    Footprint {
        entries: vec![Entry {
            ratio: 4,
            bytes: 100,
        }],
        windows: vec![Window {
            tokens: 8,
            bytes: 10,
            snapshot_bytes: 0,
        }],
        tail_bytes: 1,
        ..Footprint::default()
    }
}

/// 1 B a token, a state of 1,000 B that is checkpointed.
fn recurrent() -> Footprint {
    Footprint {
        entries: vec![Entry { ratio: 1, bytes: 1 }],
        state_bytes: 1_000,
        snapshot_state_bytes: 1_000,
        ..Footprint::default()
    }
}

fn run(agents: Vec<Agent>, footprint: Footprint, simulate: Simulator) -> RowReplication {
    let mut scenario: Scenario = scenario("worked", 100, agents, &[0]);
    scenario.models = vec![model("worked", footprint)];
    simulate(&scenario, 100 * S).remove(0)
}

/// Two steps; after the first an async child forks. `tool`: the parent's lifetime in its pause.
fn fork(tool: Option<u64>) -> Vec<Agent> {
    let parent = Agent {
        first_prompt: constant(10),
        steps: constant(2),
        tool_time: constant(S),
        ttl: Ttl {
            tool,
            ..plain_agent("").ttl
        },
        spawns: vec![Spawn {
            name: "fork".to_string(),
            agent: 1,
            mode: SpawnMode::Async,
            probability: 1.0,
            count: constant(1),
            start: SpawnStart::Fork,
            task: constant(5),
            result: constant(7),
            max_depth: None,
        }],
        ..agent("parent")
    };
    vec![parent, agent("child")]
}

/// Two steps of 20 then `second` new tokens and 10 of output, after a system prompt of 6.
fn limited(second: u64, then: AtLimit) -> Vec<Agent> {
    vec![Agent {
        system_prompt: SystemPrompt::Own(constant(6)),
        first_prompt: constant(20),
        tool_tokens: constant(second),
        steps: constant(2),
        output: constant(10),
        limit: Some(Limit {
            tokens: constant(100),
            at_ppb: 500_000_000,
            then,
        }),
        ..agent("limited")
    }]
}

/// Runs every case on `simulate`.
pub fn check(simulate: Simulator) {
    forks(simulate);
    limits(simulate);
    max_duration(simulate);
    rewind(simulate);
}

fn forks(simulate: Simulator) {
    // Parent: 10 tokens at 0, 11 from 10 ms to the call at 20 ms. Child: 16 tokens from 20 ms, 17
    // from 25 to 35 ms. Parent: the 7 of the result at 1,020 ms, 18 tokens, 19 from 1,027 ms (its
    // 11 tokens lost: from 1,038) for 10 ms.
    let held = run(fork(None), compressed(), simulate);
    // The fork shares 2 entries with the parent (8 tokens); its entries 3 and 4 are its own.
    let main = 281 * 1_020 + (400 + 81) * 7 + (400 + 81) * 10;
    assert_eq!(held.owner_byte_ns, [main * MS, 0, (200 + 81) * 15 * MS]);
    assert_eq!((held.peak_bytes, held.peak_ns), (281 + 281, 20_000_000));
    assert_eq!(
        held.token_ns,
        (10 * 10 + 11 * 1_010 + 5 * 5 + 6 * 10 + 18 * 7 + 19 * 10) * MS
    );
    assert_eq!(
        (held.counts.tokens_prefilled, held.counts.tokens_recomputed),
        (10 + 5 + 7, 0)
    );

    let lost = run(fork(Some(0)), compressed(), simulate);
    let main = 281 * 20 + (400 + 81) * 18 + (400 + 81) * 10;
    assert_eq!(lost.owner_byte_ns, [main * MS, 0, (400 + 81) * 15 * MS]);
    assert_eq!(
        lost.token_ns,
        (10 * 10 + 11 * 10 + 16 * 5 + 17 * 10 + 18 * 18 + 19 * 10) * MS
    );
    assert_eq!(
        (lost.counts.tokens_prefilled, lost.counts.tokens_recomputed),
        (10 + 5 + 18, 11)
    );
}

fn limits(simulate: Simulator) {
    // Step 1: 26 tokens, then 36, 26 + 100 ms. 36 + 40 > 50: the summary of 4 takes 40 ms. The new
    // sequence: 6 + 4 + 40 tokens for 50 ms, then 60 for 100 ms.
    let to = Law::constant(4.0);
    let row = run(limited(40, AtLimit::Compact { to }), recurrent(), simulate);
    let tokens = 26 * 26 + 36 * 100 + 40 * 40 + 50 * 50 + 60 * 100;
    assert_eq!(row.token_ns, tokens * MS);
    assert_eq!(row.kind_byte_ns, [tokens * MS, 316 * 1_000 * MS, 0]);
    let counts = row.counts;
    assert_eq!(
        (counts.steps, counts.sequences_started, counts.compactions),
        (3, 2, 1)
    );
    assert_eq!(
        (counts.tokens_prefilled, counts.tokens_decoded),
        (26 + 50, 24)
    );
    assert_eq!(counts.tokens_recomputed, 0);

    // A quarter of 36 is 9; 6 + 9 + 45 > 50, so that 35 of the 45 are left.
    let to = Law::constant(0.25);
    let counts = run(limited(45, AtLimit::Compact { to }), recurrent(), simulate).counts;
    assert_eq!(
        (counts.tokens_prefilled, counts.tokens_decoded),
        (26 + 50, 10 + 9 + 10)
    );

    // 36 + 14 = 50 does not pass the limit, 51 does.
    let fits = run(limited(14, AtLimit::End), recurrent(), simulate);
    assert_eq!((fits.counts.steps, fits.peak_bytes), (2, 1_060));
    let ends = run(limited(15, AtLimit::End), recurrent(), simulate);
    assert_eq!(
        (ends.counts.steps, ends.byte_ns),
        (1, (1_026 * 26 + 1_036 * 100) * MS)
    );
}

fn max_duration(simulate: Simulator) {
    // The step ends at 110 ms with 20 tokens; the next would start at 1,110 ms. The agent finishes
    // at 500 ms and is released at 1,500 ms.
    let agent = Agent {
        first_prompt: constant(10),
        output: constant(10),
        steps: constant(3),
        tool_time: constant(S),
        max_duration: Some(constant(S / 2)),
        ttl: Ttl {
            finished: Some(S),
            ..plain_agent("").ttl
        },
        ..agent("short")
    };
    let row = run(vec![agent.clone()], recurrent(), simulate);
    let running = 1_010 * 10 + 1_020 * 100;
    assert_eq!(
        row.activity_byte_ns,
        [running, 1_020 * 390, 0, 0, 1_020 * 1_000].map(|b| b * MS)
    );
    assert_eq!(row.counts.steps, 1);

    // With 1,110 ms the second step starts just in time; with 1 ns less it does not.
    for (max_ns, steps) in [(1_110_000_000, 2), (1_109_999_999, 1)] {
        let max_duration = Some(constant(max_ns));
        let row = run(
            vec![Agent {
                max_duration,
                ..agent.clone()
            }],
            recurrent(),
            simulate,
        );
        assert_eq!(row.counts.steps, steps);
    }
}

fn rewind(simulate: Simulator) {
    // Snapshots at 15 and 30 of 36 tokens. A rewind by 3 to 33 falls back to 30, by 10 to 26 falls
    // back to 15, by 99 to the system prompt of 6, prefilled from 0.
    for (depth, to, gap) in [(3, 33, 3), (10, 26, 11), (99, 6, 6), (0, 36, 0)] {
        let mut agents = limited(5, AtLimit::End);
        agents[0].limit = None;
        agents[0].snapshots.every = Some(15);
        agents[0].rewind = Some(Rewind {
            probability: 1.0,
            depth: constant(depth),
        });
        let row = run(agents, recurrent(), simulate);
        let counts = row.counts;
        assert_eq!((counts.rewinds, counts.tokens_recomputed), (1, gap));
        assert_eq!(counts.tokens_prefilled, 26 + 5 + gap);
        let (snapshots, now) = (|t: u64| u128::from(t / 15), u128::from(to));
        assert_eq!(
            row.token_ns,
            (26 * 26 + 36 * 100 + (now + 5) * 5 + (now + 15) * 100) * MS
        );
        let held = snapshots(26) * 26 + snapshots(36) * 100;
        let held = held + snapshots(to + 5) * 5 + snapshots(to + 15) * 100;
        assert_eq!(row.kind_byte_ns[2], held * 1_000 * MS);
    }
}
