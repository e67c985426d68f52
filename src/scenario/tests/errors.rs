//! What is said of wrong scenarios: place, field, what was found, what is allowed, the nearest name.

use super::{SMALL, bad, parse};

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

#[test]
fn unknown_field_agent_and_model() {
    line(
        "{turns: 3}",
        "{turn: 3}",
        &[
            "s.yaml:4:11",
            "agents.coder.turn: unknown field `turn`",
            "first_prompt, prompt, turns, steps",
            "did you mean `turns`?",
        ],
    );
    line(
        "agent: coder",
        "agent: codr",
        &[
            "s.yaml:6:17",
            "workload.main.agent: unknown agent `codr`",
            "allowed: coder",
            "did you mean `coder`?",
        ],
    );
    line(
        "all-mla-93,",
        "all-mla-39,",
        &[
            "s.yaml:2:10",
            "models[0]: unknown model `all-mla-39`",
            "kimi-k3-article",
            "did you mean `all-mla-93`?",
        ],
    );
    line(
        "kimi-k3]",
        "{model: kimi-k3, kv: fp61}]",
        &[
            "s.yaml:2:43",
            "models[1].kv: `fp61` is not a data type",
            "allowed: ",
            "bf16",
            "did you mean `fp16`?",
        ],
    );
    one(
        SMALL,
        &["baseline=kimi-k2"],
        &[
            "--set:1:10",
            "baseline: no compared model is named `kimi-k2`",
            "allowed: all-mla-93, kimi-k3",
            "did you mean `kimi-k3`?",
        ],
    );
    line(
        "measure: 24h",
        "measure: 24h\nseeds: 3",
        &[
            "s.yaml:2:1",
            "unknown field `seeds`",
            "did you mean `seed`?",
        ],
    );
    one(
        SMALL,
        &["agents.coder.spawns={x: {agent: coder, mode: snc, max_depth: 1}}"],
        &[
            "--set:1:46",
            "agents.coder.spawns.x.mode: `snc`",
            "allowed: sync, async",
            "did you mean `sync`?",
        ],
    );
}

#[test]
fn missing_and_wrong_units() {
    line(
        "24h",
        "24",
        &[
            "s.yaml:1:10",
            "measure: `24` has no unit",
            "ns, us, ms, s, m, h, d",
            "write `24s`",
        ],
    );
    line(
        "24h",
        "24hours",
        &[
            "s.yaml:1:12",
            "measure: `hours` is not a unit of time",
            "^^^^^ a time needs one of ns",
        ],
    );
    line("24h", "24K", &["s.yaml:1:12", "`K` is not a unit of time"]);
    line(
        "turns: 3",
        "output: 5s",
        &[
            "s.yaml:4:20",
            "agents.coder.output: `s` is not a unit of tokens",
            "K (1e3), M (1e6)",
        ],
    );
    line(
        "turns: 3",
        "output: 20KB",
        &[
            "s.yaml:4:21",
            "`KB` is not a unit of tokens",
            "write `20`, `20K` or `20M`",
        ],
    );
    line(
        "turns: 3",
        "think: {median: 9, p90: 74s}",
        &["s.yaml:4:27", "agents.coder.think.median: `9` has no unit"],
    );
    line(
        "turns: 3",
        "serving: {decode: 60}",
        &[
            "s.yaml:4:29",
            "agents.coder.serving.decode: `60` has no unit",
            "write `60 tok/s`",
        ],
    );
    line(
        "turns: 3",
        "serving: {decode: 60 tok/m}",
        &["s.yaml:4:32", "`tok/m` is not a unit of token rates"],
    );
    line(
        "at: [0s]",
        "rate: 1200",
        &[
            "s.yaml:6:30",
            "workload.main.rate: `1200` has no unit",
            "/s, /m, /h, /d",
            "write `1200/h`",
        ],
    );
    line(
        "turns: 3",
        "ttl: {user: 0}",
        &[
            "s.yaml:4:23",
            "agents.coder.ttl.user: `0` has no unit",
            "or `never`",
            "write `0s`",
        ],
    );
    line(
        "turns: 3",
        "output: 1.5",
        &["s.yaml:4:19", "`1.5` is not a whole number of tokens"],
    );
    line(
        "turns: 3",
        "limit: {tokens: 5G}",
        &[
            "s.yaml:4:27",
            "agents.coder.limit.tokens: `5G` is too large for a context",
            "4294967295",
        ],
    );
}

#[test]
fn numbers_out_of_range() {
    line(
        "24h",
        "-24h",
        &["s.yaml:1:10", "measure: `-24h` is a negative time"],
    );
    line(
        "24h",
        "0s",
        &["s.yaml:1:10", "measure: a window of no length"],
    );
    line("24h", "999999d", &["s.yaml:1:10", "too long", "36500d"]);
    line(
        "24h",
        ".nan",
        &["s.yaml:1:10", "measure: `.nan` is not a finite time"],
    );
    line(
        "turns: 3",
        "turns: .nan",
        &[
            "s.yaml:4:18",
            "agents.coder.turns: `.nan` is not a finite number",
        ],
    );
    line(
        "turns: 3",
        "turns: .inf",
        &["agents.coder.turns: `.inf` is not a finite number"],
    );
    line(
        "turns: 3",
        "output: -5",
        &["agents.coder.output: `-5` is negative"],
    );
    line(
        "turns: 3",
        "limit: {tokens: 1M, at: 0}",
        &[
            "s.yaml:4:35",
            "agents.coder.limit.at: `0` is not a fraction in (0, 1]",
        ],
    );
    line(
        "turns: 3",
        "limit: {tokens: 1M, at: 1.1}",
        &["`1.1` is not a fraction in (0, 1]"],
    );
    line(
        "turns: 3",
        "rewind: {probability: 1.5, depth: 3}",
        &[
            "rewind.probability: `1.5` is not a probability",
            "from 0 to 1",
        ],
    );
    line(
        "turns: 3",
        "rewind: {probability: .nan, depth: 3}",
        &["`.nan` is not a finite number"],
    );
    line(
        "at: [0s]",
        "rate: 0/h",
        &["workload.main.rate: a rate of 0"],
    );
    line(
        "turns: 3",
        "serving: {prefill: 0 tok/s}",
        &["serving.prefill: a rate of 0"],
    );
    line(
        "at: [0s]",
        "users: 0, sessions_per_day: 3",
        &["workload.main.users: `0` is too small", "at least 1"],
    );
    line(
        "at: [0s]",
        "users: 5, sessions_per_day: 0",
        &["workload.main.sessions_per_day: 0 sessions a day"],
    );
    line(
        "at: [0s]",
        "rate: 1/h, cv: 0",
        &["workload.main.cv", "1 is Poisson"],
    );
    line(
        "at: [0s]",
        "at: [0s, 24h]",
        &[
            "s.yaml:6:33",
            "workload.main.at[1]: an arrival after the window",
        ],
    );
    line(
        "24h\n",
        "24h\nreplications: 0\n",
        &["replications: `0` is too small"],
    );
    line(
        "24h\n",
        "24h\nseed: -1\n",
        &["seed: `-1` is not a whole number"],
    );
    line(
        "turns: 3",
        "decode_block: 0",
        &["agents.coder.decode_block: `0` is too small"],
    );
    line(
        "turns: 3",
        "snapshots: {every: 0}",
        &["snapshots.every: a snapshot every 0 tokens"],
    );
    line(
        "turns: 3",
        "snapshots: {keep: 0}",
        &["snapshots.keep: `keep: 0` keeps no snapshot", "every: none"],
    );
    line(
        "at: [0s]",
        "rate: 1/h, profile: [1, 2, 3]",
        &[
            "workload.main.profile: a profile of 3 numbers",
            "24 are needed",
        ],
    );
    line(
        "at: [0s]",
        "rate: 1/h, profile: [2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2]",
        &["the multipliers have a mean of 2.0000"],
    );
    line(
        "at: [0s]",
        "rate: 1/h, timezone: Asia/Tokyo",
        &["workload.main.timezone", "for example `+9`"],
    );
    line(
        "at: [0s]",
        "rate: 1/h, weekdays: [monday]",
        &["weekdays[0]: `monday` is not a day", "did you mean `mon`?"],
    );
}

#[test]
fn laws_that_make_no_sense() {
    line(
        "turns: 3",
        "output: {median: 9K, p90: 400}",
        &[
            "s.yaml:4:37",
            "agents.coder.output.p90: `p90` is below `median`",
            "s.yaml:4:28",
        ],
    );
    line(
        "turns: 3",
        "output: {median: 0, p90: 400}",
        &["agents.coder.output.median: `median` is not above 0"],
    );
    line(
        "turns: 3",
        "output: {median: 9}",
        &["agents.coder.output: missing field `p90`"],
    );
    line(
        "turns: 3",
        "output: {pareto: {shape: 1, scale: 10}}",
        &[
            "s.yaml:4:19",
            "agents.coder.output: a pareto law of shape 1 has an infinite mean",
            "add `max`",
        ],
    );
    line(
        "turns: 3",
        "output: {loglogistic: {shape: 0.9, scale: 10}}",
        &["has an infinite mean"],
    );
    line(
        "turns: 3",
        "output: {mixture: [{weight: 1, law: {pareto: {shape: 0.5, scale: 1}}}]}",
        &["agents.coder.output.mixture[0].law: a pareto law of shape 0.5 has an infinite mean"],
    );
    line(
        "turns: 3",
        "output: {lognormal: {mean: 5, sigma: 2}}",
        &[
            "agents.coder.output.lognormal: a lognormal law takes one of these sets",
            "found mean + sigma",
            "mean + cv; or mu + sigma",
        ],
    );
    line(
        "turns: 3",
        "output: {mean: 5, cv: 2}",
        &["`mean` is not a law", "{lognormal: {mean: ..., cv: ...}}"],
    );
    line(
        "turns: 3",
        "output: {weibul: {shape: 1, scale: 2}}",
        &["`weibul` is not a law", "did you mean `weibull`?"],
    );
    line(
        "turns: 3",
        "output: {normal: {mean: 1}}",
        &["`normal` is not a law", "did you mean `lognormal`?"],
    );
    line(
        "turns: 3",
        "output: {gamma: {shape: 1, scal: 2}}",
        &["unknown field `scal`", "did you mean `scale`?"],
    );
    line(
        "turns: 3",
        "output: {weibull: {shape: 0, scale: 2}}",
        &["weibull.shape: `shape` is not above 0"],
    );
    line(
        "turns: 3",
        "output: {uniform: {low: 5, high: 2}}",
        &["`high` is below `low`"],
    );
    line(
        "turns: 3",
        "output: {poisson: {mean: 5, min: 5, max: 2}}",
        &["`max` is below `min`"],
    );
    line(
        "turns: 3",
        "output: {poisson: {mean: 5, max: 2}, max: 3}",
        &["`max` is given twice"],
    );
    line(
        "turns: 3",
        "output: {poisson: {mean: 5}, median: 3}",
        &[
            "unknown field `median` beside `poisson`",
            "allowed: min, max",
        ],
    );
    line(
        "turns: 3",
        "output: {poisson: {mean: 5}, gamma: {mean: 5, cv: 1}}",
        &["a second law", "mixture"],
    );
    line(
        "turns: 3",
        "think: {poisson: {mean: 5s}}",
        &["a poisson law counts things; a time is not a count"],
    );
    line(
        "turns: 3",
        "output: {exponential: {rate: 5/s}}",
        &["`rate` makes a time; a token count is needed"],
    );
    line(
        "turns: 3",
        "output: {geometric: {mean: 0.5}}",
        &["a geometric law counts trials"],
    );
    line(
        "turns: 3",
        "output: {geometric: {p: 1.5}}",
        &["a geometric law counts trials"],
    );
    line(
        "turns: 3",
        "output: {geometric: {p: 1e-300}}",
        &["parameters are out of range"],
    );
    line(
        "turns: 3",
        "output: {gamma: {mean: 5, cv: 1e200}}",
        &["parameters are out of range"],
    );
    line(
        "turns: 3",
        "output: {lognormal: {mu: 1000, sigma: 1}}",
        &["parameters are out of range"],
    );
    line("turns: 3", "output: {choice: []}", &["a choice of nothing"]);
    line(
        "turns: 3",
        "output: {choice: [{value: 3, weight: 0}]}",
        &["`weight` is not above 0"],
    );
    line(
        "turns: 3",
        "output: {empirical: []}",
        &["a sample of no values"],
    );
    line(
        "turns: 3",
        "output: [1, 2]",
        &["expected a token count, found a list", "{choice: [...]}"],
    );
    line("turns: 3", "output: 3..1", &["`3..1` is an empty range"]);
    line(
        "turns: 3",
        "session_factor: 0.5..2",
        &["is not a whole number", "uniform"],
    );
}

#[test]
fn spawns_that_cannot_be() {
    let text = "measure: 1d
models: [all-mla-93, kimi-k3]
agents:
  a: {spawns: {b: {mode: sync}}}
  b: {spawns: {deeper: {agent: c, mode: async}}}
  c: {spawns: {a: {mode: sync, start: fork}}}
workload: {main: {agent: a, at: [0s]}}
";
    one(
        text,
        &[],
        &[
            "s.yaml:6:16",
            "agents.c.spawns.a: a spawn cycle with no `max_depth`: a -> b -> c -> a",
            "max_depth: 2",
        ],
    );
    // One bound in the cycle is enough.
    for set in [
        "agents.b.max_depth=2",
        "agents.c.spawns.a.max_depth=0",
        "agents.a.spawns.b.max_depth=4",
    ] {
        assert!(parse(text, &[set]).is_ok(), "{set}");
    }
    one(
        text,
        &["agents.b.max_depth=2", "agents.c.model=kimi-k2"],
        &[
            "s.yaml:6:39",
            "agents.c.spawns.a.start: `a` forks across models",
            "start: fresh",
        ],
    );
    line(
        "turns: 3",
        "spawns: {helper: {mode: sync}}",
        &["s.yaml:4:20", "unknown agent `helper`", "allowed: coder"],
    );
    line(
        "turns: 3",
        "spawns: {coder: {max_depth: 1}}",
        &["agents.coder.spawns.coder: missing field `mode`"],
    );
}

#[test]
fn long_spawn_chains_do_not_overflow() {
    use std::fmt::Write;
    let mut text = String::from(
        "measure: 1d\nmodels: [kimi-k3]\nworkload: {main: {agent: a0, at: [0s]}}\nagents:\n",
    );
    for i in 0..12_000 {
        let _ = writeln!(
            text,
            "  a{i}: {{spawns: {{a{}: {{mode: sync}}}}}}",
            (i + 1) % 12_000
        );
    }
    let shown = bad(&text, &[]);
    assert!(
        shown.contains("a spawn cycle with no `max_depth`: a0 -> a1 -> a2"),
        "{}",
        &shown[..200]
    );
}

#[test]
fn fields_that_do_not_go_together() {
    line(
        "turns: 3",
        "limit: {tokens: 1M, then: compact}",
        &["s.yaml:4:37", "`then: compact` needs `to`"],
    );
    line(
        "turns: 3",
        "limit: {tokens: 1M, then: end, to: 5K}",
        &["`to` without `then: compact`"],
    );
    line(
        "turns: 3",
        "limit: {tokens: 1M, to: 0}",
        &["a summary of 0 tokens"],
    );
    line(
        "turns: 3",
        "limit: {at: 0.5}",
        &["agents.coder.limit: missing field `tokens`"],
    );
    line(
        "turns: 3",
        "system_prompt: {tokens: 15K, variants: 4}",
        &["`variants` of a prompt that is not shared"],
    );
    line(
        "turns: 3",
        "system_prompt: {tokens: 0, shared: true}",
        &["a shared prompt of no tokens"],
    );
    line(
        "turns: 3",
        "system_prompt: {tokens: 1..5, shared: true}",
        &["system_prompt.tokens: a shared prompt has one length"],
    );
    line(
        "turns: 3",
        "system_prompt: {tokens: 5, shared: yes}",
        &["`yes` is not true or false", "write `true`"],
    );
    line(
        "turns: 3",
        "system_prompt: {token: 5}",
        &["unknown field `token`", "did you mean `tokens`?"],
    );
    line(
        "at: [0s]",
        "at: [0s], cv: 2",
        &["workload.main.cv: `cv` beside `at`"],
    );
    line(
        "at: [0s]",
        "at: [0s], rate: 2/h",
        &[
            "workload.main: a workload entry takes one of these sets",
            "found at + rate",
        ],
    );
    line(
        "at: [0s]",
        "users: 5",
        &["found users", "users + sessions_per_day"],
    );
    line(
        ", at: [0s]",
        "",
        &[
            "workload.main: a workload entry takes one of these sets",
            "found none",
        ],
    );
    line(
        "kimi-k3]",
        "all-mla-93]",
        &[
            "s.yaml:2:22",
            "models[1]: two models are named `all-mla-93`",
            "as: ...",
        ],
    );
    line(
        "[all-mla-93, kimi-k3]",
        "[]",
        &["models: no models to compare", "all-mla-93"],
    );
    line(
        "[all-mla-93, kimi-k3]",
        "kimi-k3",
        &[
            "models: expected a list, found `kimi-k3`",
            "write `[kimi-k3]`",
        ],
    );
    line(
        "kimi-k3]",
        "{file: nope.yaml}]",
        &["models[1].file: cannot read `./nope.yaml`"],
    );
    line(
        "kimi-k3]",
        "{model: kimi-k3, checkpoint: tials}]",
        &["did you mean `tails`?"],
    );
    line(
        "kimi-k3]",
        "{model: kimi-k3, file: x}]",
        &[
            "a model entry takes one of these sets",
            "found model + file",
        ],
    );
    line(
        "kimi-k3]",
        "{model: all-mla-93, as: x, state: bf16}]",
        &["models[1].state", "has no recurrent state"],
    );
    for name in ["a/b", "..", ".x", "'a '", "'a:b'"] {
        one(
            SMALL,
            &[&format!("name={name}")],
            &["cannot be the name of an output folder"],
        );
    }
}

#[test]
fn missing_fields() {
    line(
        "models: [all-mla-93, kimi-k3]\n",
        "",
        &[
            "s.yaml:1:1",
            "missing field `models`",
            "for example `models: [all-mla-93",
        ],
    );
    line("measure: 24h\n", "", &["missing field `measure`"]);
    line(
        "{turns: 3}",
        "",
        &["s.yaml:4:3", "agents.coder: `coder` has no value"],
    );
    line(
        "turns: 3",
        "turns:",
        &["agents.coder.turns: `turns` has no value"],
    );
    let text = SMALL
        .replace("  coder: {turns: 3}\n", "")
        .replace("agents:", "agents: {}");
    assert!(bad(&text, &[]).contains("agents: no agents"));
    one(
        "measure: 1d\nmodels: [kimi-k3]\nagents: {a: {}}\nworkload: {}",
        &[],
        &["workload: an empty workload"],
    );
}

#[test]
fn parts_of_later_versions_are_refused() {
    one(
        &format!("{SMALL}plans: {{x: 1}}\n"),
        &[],
        &["s.yaml:7:1", "plans: `plans` is not supported yet"],
    );
    line(
        "at: [0s]",
        "closed: {users: 5}",
        &[
            "s.yaml:6:24",
            "workload.main.closed: `closed` is not supported yet",
        ],
    );
    line(
        "at: [0s]",
        "trace: x.csv",
        &["workload.main.trace: `trace` is not supported yet"],
    );
    line(
        "kimi-k3]",
        "{model: kimi-k3, layout: paged}]",
        &["models[1].layout: `layout` is not supported yet"],
    );
    line(
        "kimi-k3]",
        "{hf_config: config.json}]",
        &["models[1].hf_config: `hf_config` is not supported yet"],
    );
}

#[test]
fn all_mistakes_are_reported_together_in_order() {
    let shown = bad(
        "measure: 24\nmodels: [kimi]\nseeds: 3\nagents:\n  coder: {turn: 3, think: 9, spawns: {x: {mode: no, agent: y}}}\nworkload:\n  main: {agent: codr, rate: 12}\n",
        &["seed=-1", "agents.codr.turns=3", "serivng.prefill=5 tok/s"],
    );
    let order = [
        "s.yaml:1:10",
        "s.yaml:2:10",
        "s.yaml:3:1",
        "s.yaml:5:11",
        "s.yaml:5:27",
        "s.yaml:5:49",
        "s.yaml:5:60",
        "s.yaml:7:17",
        "s.yaml:7:29",
        "--set:1:6",
        "--set:1:8",
        "--set:1:1",
        "12 errors",
    ];
    let mut rest = shown.as_str();
    for part in order {
        let at = rest
            .find(part)
            .unwrap_or_else(|| panic!("no {part} in order in:\n{shown}"));
        rest = &rest[at..];
    }
}

#[test]
fn a_wrong_part_hides_no_name() {
    // The agent is wrong inside, but it is there.
    line(
        "turns: 3",
        "turns: x",
        &["agents.coder.turns: `x` is not a number"],
    );
}

#[test]
fn set_paths() {
    one(
        SMALL,
        &["agents.codr.turns=3"],
        &[
            "--set:1:8",
            "`agents` has no agent `codr`",
            "allowed: coder",
            "did you mean `coder`?",
        ],
    );
    one(
        SMALL,
        &["agents.coder.turn=3"],
        &[
            "--set:1:14",
            "agents.coder.turn: unknown field `turn`",
            "did you mean `turns`?",
        ],
    );
    one(
        SMALL,
        &["workload.mian.at=[0s]"],
        &[
            "--set:1:10",
            "`workload` has no workload entry `mian`",
            "did you mean `main`?",
        ],
    );
    one(
        SMALL,
        &["agents.coder.turns.median=3"],
        &["--set:1:20", "`agents.coder.turns` is `3`, not a map"],
    );
    one(
        SMALL,
        &["models.7=x"],
        &["--set:1:8", "`models` is a list of 2, it has no `7`"],
    );
    one(
        SMALL,
        &["measure"],
        &["--set:1:1", "`--set` needs `path=value`"],
    );
    one(
        SMALL,
        &["measure=9"],
        &["--set:1:9", "measure: `9` has no unit"],
    );
    one(SMALL, &["=9"], &["an empty name in the path"]);
}

#[test]
fn rendering() {
    let shown = bad(
        &SMALL.replace("turns: 3", "turns: 3, think: {time: 9}"),
        &[],
    );
    assert!(
        shown.contains("agents.coder.think.time: `time` is not a law"),
        "{shown}"
    );
    let shown = bad(&SMALL.replace("24h", "24"), &[]);
    assert_eq!(
        shown,
        "error: measure: `24` has no unit
  --> s.yaml:1:10
  |
1 | measure: 24
  |          ^^ a time needs one of ns, us, ms, s, m, h, d
  = help: write `24s` for seconds
"
    );
    // Wide characters take two columns on a terminal, one in the position.
    let shown = bad(
        &SMALL.replace("measure: 24h", "{\"説明\": 3}: 4\nmeasure: 24h"),
        &[],
    );
    assert!(shown.contains("a key must be a name"), "{shown}");
    let shown = bad(&format!("{SMALL}description: {{日本語: 3}}\n"), &[]);
    assert!(shown.contains("s.yaml:7:14"), "{shown}");
    let shown = bad(&format!("{SMALL}ttl: {{日本: 3s, user: 5}}\n"), &[]);
    assert!(
        shown.contains("s.yaml:7:21\n") && shown.contains(&format!("|{}^ a time", " ".repeat(23))),
        "{shown}"
    );
    // A long line is shown around the place.
    let shown = bad(
        &SMALL
            .replace("24h", &format!("24{}h", " ".repeat(50_000)))
            .replace("turns", "turn"),
        &[],
    );
    assert!(shown.lines().all(|l| l.len() < 400), "{shown}");
}
