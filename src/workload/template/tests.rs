use super::*;
use crate::scenario::{
    LawKind, Limit, Rate, Rewind, SnapshotPolicy, Spawn, SpawnMode, SpawnStart, Ttl,
};

fn spawn(name: &str, probability: f64) -> Spawn {
    Spawn {
        name: name.to_owned(),
        agent: 0,
        mode: SpawnMode::Sync,
        probability,
        count: range(1, 3),
        start: SpawnStart::Fresh,
        task: range(100, 200),
        result: range(10, 20),
        max_depth: Some(1),
    }
}

fn range(low: i64, high: i64) -> Law {
    Law {
        kind: LawKind::IntegerRange { low, high },
        min: None,
        max: None,
    }
}

fn exponential(mean: f64) -> Law {
    Law {
        kind: LawKind::Exponential { mean },
        min: None,
        max: None,
    }
}

fn agent() -> Agent {
    let rate = Rate {
        micro_tokens_per_s: 1_000_000,
    };
    Agent {
        name: "coder".to_owned(),
        fixed_model: None,
        system_prompt: SystemPrompt::Own(range(1000, 2000)),
        first_prompt: exponential(9000.0),
        prompt: exponential(400.0),
        turns: range(1, 9),
        steps: range(-3, 2),
        tool_tokens: exponential(655.0),
        tool_time: exponential(9e9),
        output: exponential(0.5),
        think: exponential(127e9),
        session_factor: Law::constant(1.0),
        max_duration: Some(exponential(3.6e12)),
        limit: Some(Limit {
            tokens: range(90_000, 110_000),
            at_ppb: 900_000_000,
            then: AtLimit::Compact {
                to: Law::constant(0.25),
            },
        }),
        rewind: Some(Rewind {
            probability: 0.25,
            depth: exponential(15e3),
        }),
        spawns: vec![
            spawn("explorer", 0.3),
            spawn("watcher", 1.0),
            spawn("never", 0.0),
        ],
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
        prefill: rate,
        decode: rate,
        decode_block: 256,
    }
}

fn keys() -> impl Iterator<Item = RunKey> {
    let entry = RunKey::entry(3, 0, "developers");
    (0..20_000).map(move |session| entry.session(session))
}

#[test]
fn events_happen_with_their_probability() {
    let template = Template::new(&agent());
    let share = |happens: &dyn Fn(RunKey) -> bool| {
        keys().filter(|&key| happens(key)).count() as f64 / 20_000.0
    };
    // Four standard errors of 20,000 trials: 0.013 and 0.012.
    let spawned = share(&|key| template.spawn_count(key, 0, 1, 0) > 0);
    assert!((spawned - 0.3).abs() < 0.013, "{spawned}");
    let rewound = share(&|key| template.rewind_depth(key, 0, 1).is_some());
    assert!((rewound - 0.25).abs() < 0.0123, "{rewound}");
    assert_eq!(share(&|key| template.spawn_count(key, 0, 1, 1) > 0), 1.0);
    assert_eq!(share(&|key| template.spawn_count(key, 0, 1, 2) > 0), 0.0);
    assert!(happens(u64::MAX, threshold(1.0)) && happens(0, threshold(1.0)));
    assert!(!happens(0, threshold(0.0)));
}

#[test]
fn turns_steps_and_output_are_at_least_one() {
    let template = Template::new(&agent());
    for key in keys().take(2000) {
        assert!(template.run_draws(key).turns >= 1);
        assert!((1..=2).contains(&template.steps(key, 0)));
        assert!(template.output(key, 0, 0) >= 1);
    }
}

#[test]
fn session_factor_multiplies_turns_and_tool_tokens_only() {
    let (plain, mut doubled) = (agent(), agent());
    doubled.session_factor = Law::constant(2.0);
    let (plain, doubled) = (Template::new(&plain), Template::new(&doubled));
    for key in keys().take(2000) {
        let (a, b) = (plain.run_draws(key), doubled.run_draws(key));
        assert_eq!((a.factor, b.factor), (1.0, 2.0));
        assert_eq!(
            RunDraws {
                factor: 1.0,
                turns: a.turns,
                ..b
            },
            a
        );
        assert_eq!(b.turns, 2 * a.turns);
        let (once, twice) = (
            plain.tool_tokens(key, 0, 0, 1.0),
            plain.tool_tokens(key, 0, 0, 2.0),
        );
        assert!(twice.abs_diff(2 * once) <= 1);
    }
}

#[test]
fn adding_a_spawn_or_changing_another_law_changes_no_draw() {
    let before = Template::new(&agent());
    let mut changed = agent();
    changed.spawns.insert(0, spawn("reviewer", 0.9));
    changed.think = range(1, 9);
    changed.rewind = None;
    let after = Template::new(&changed);
    for key in keys().take(2000) {
        assert_eq!(before.run_draws(key), after.run_draws(key));
        assert_eq!(
            before.tool_time_ns(key, 2, 1),
            after.tool_time_ns(key, 2, 1)
        );
        for (old, new) in [(0, 1), (1, 2)] {
            assert_eq!(
                before.spawn_count(key, 1, 1, old),
                after.spawn_count(key, 1, 1, new)
            );
            assert_eq!(before.spawns[old].hash, after.spawns[new].hash);
            assert_eq!(before.task(key, old), after.task(key, new));
            assert_eq!(before.result(key, old), after.result(key, new));
        }
    }
}

#[test]
fn variants_are_even() {
    let mut counts = [0; 40];
    for key in keys() {
        counts[Template::variant(key, 40) as usize] += 1;
    }
    // 500 each, standard deviation 22.
    assert!(
        counts.iter().all(|&n: &i32| (n - 500).abs() < 100),
        "{counts:?}"
    );
}

#[test]
fn spawns_of_one_step_are_independent() {
    let mut two = agent();
    two.spawns = vec![spawn("a", 0.5), spawn("b", 0.5)];
    let template = Template::new(&two);
    let both = keys().filter(|&key| {
        template.spawn_count(key, 0, 0, 0) > 0 && template.spawn_count(key, 0, 0, 1) > 0
    });
    let share = both.count() as f64 / 20_000.0;
    assert!((share - 0.25).abs() < 0.0123, "{share}");
}
