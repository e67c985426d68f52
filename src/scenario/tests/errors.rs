//! What is said of wrong scenarios: place, field, what was found, what is allowed, the nearest name.

use super::{SMALL, bad, line, one, parse};

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
        shown.contains("a0 -> a1 -> a2 -> a3 -> a4 -> a5 -> a6 -> a7 -> ... -> a0"),
        "{shown}"
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
