//! The same seed gives the same bytes, and what has nothing to do with a draw does not change it
//! (rule 15 of docs/rules.md).

mod support;

use std::collections::BTreeMap;
use std::path::Path;

use assert_cmd::Command;
use fleetmem::observe::results::{Counts, RowReplication, RunResult};
use fleetmem::scenario::Scenario;
use support::{HOUR, Row, contents, data, load, parse, rows, simulate, tables};

/// The scenario with every feature, after `sets`.
fn everything(sets: &[&str]) -> Scenario {
    load(&data("everything.yaml"), sets)
}

/// The same with its text changed: each `(old, new)` replaces the one place where `old` stands.
#[track_caller]
fn edited(edits: &[(&str, &str)]) -> Scenario {
    let mut text = std::fs::read_to_string(data("everything.yaml")).unwrap();
    for (old, new) in edits {
        assert_eq!(text.matches(old).count(), 1, "{old:?}");
        text = text.replace(old, new);
    }
    parse(&text, &[])
}

/// The files of a run by the program, but for the manifest, which has wall times.
fn files_of_run(dir: &Path, name: &str, args: &[&str]) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let out = dir.join(name);
    let mut command = Command::cargo_bin("fleetmem").unwrap();
    command.arg("run").arg(data("everything.yaml")).args(args);
    command.args(["-q", "--svg", "--out"]).arg(&out);
    command.assert().success();
    let mut files = contents(&out);
    assert!(files.remove(Path::new("run.json")).is_some());
    assert!(files.len() >= 3 + 7, "{:?}", files.keys());
    files
}

#[test]
fn threads_change_no_byte_of_any_file() {
    let dir = tempfile::tempdir().unwrap();
    let one = files_of_run(dir.path(), "one", &["--threads", "1"]);
    for (name, threads) in [("two", "2"), ("again", "2"), ("many", "7")] {
        let more = files_of_run(dir.path(), name, &["--threads", threads]);
        assert_eq!(
            one.keys().collect::<Vec<_>>(),
            more.keys().collect::<Vec<_>>()
        );
        for (file, bytes) in &one {
            assert!(
                *bytes == more[file],
                "{} with {threads} threads",
                file.display()
            );
        }
    }
}

#[test]
fn the_seed_changes_results_and_both_ways_of_giving_it_are_one() {
    let dir = tempfile::tempdir().unwrap();
    let summary = |name: &str, args: &[&str]| {
        files_of_run(dir.path(), name, args)[Path::new("summary.csv")].clone()
    };
    let seven = summary("seven", &[]);
    let same = summary("same", &["--set", "seed=7"]);
    assert!(seven == same, "7 is the file's own seed");
    let option = summary("option", &["--seed", "8"]);
    let set = summary("set", &["--set", "seed=8"]);
    assert!(option == set);
    assert!(seven != option);
    // Not a permutation of the replications either: no value of one is a value of the other.
    let ends = |csv: &[u8]| {
        let rows = rows(std::str::from_utf8(csv).unwrap());
        let of = |r: &Row| [r["min"].clone(), r["max"].clone()];
        rows.iter()
            .filter(|r| r["metric"] == "byte_ns")
            .flat_map(of)
            .collect::<Vec<_>>()
    };
    let (a, b) = (ends(&seven), ends(&option));
    assert!(
        a.len() >= 8 && a.iter().all(|v| !b.contains(v)),
        "{a:?} {b:?}"
    );
}

#[test]
fn replications_are_independent_of_how_many_there_are() {
    let four = simulate(&everything(&[]));
    let two = simulate(&everything(&["replications=2"]));
    for (four, two) in four.rows.iter().zip(&two.rows) {
        assert_eq!(four.replications[..2], two.replications[..]);
        assert_ne!(four.replications[0].byte_ns, four.replications[1].byte_ns);
    }
}

/// All lines of a table about `model`.
fn about<'a>(csv: &'a str, model: &str) -> Vec<&'a str> {
    let lines: Vec<&str> = csv
        .lines()
        .filter(|l| l.split(',').nth(1) == Some(model))
        .collect();
    assert!(!lines.is_empty(), "{model}");
    lines
}

#[test]
fn adding_models_changes_no_other_models_numbers() {
    let before = tables(&everything(&[]));
    // In front, between and behind; one with windows, one with recurrent state, one of attention.
    let models = "models=[gemma-3-27b, all-mla-93, {model: kimi-k3, state: bf16}, minimax-m1, \
                  {model: deepseek-v4-pro, as: V4-Pro}, gpt-oss-120b, mha-93x96]";
    let after = tables(&everything(&[models]));
    for model in [
        "all-mla-93",
        "kimi-k3",
        "V4-Pro",
        "gpt-oss-120b",
        "llama-3.1-70b",
    ] {
        assert_eq!(about(&before.summary, model), about(&after.summary, model));
        assert_eq!(
            about(&before.timeline, model),
            about(&after.timeline, model)
        );
        assert_eq!(about(&before.agents, model), about(&after.agents, model));
    }
    assert!(!about(&after.summary, "minimax-m1").is_empty());
}

/// What a change that means nothing must leave as it is.
#[track_caller]
fn assert_same_tables(changed: &Scenario) {
    let (before, after) = (tables(&everything(&[])), tables(changed));
    assert!(before.summary == after.summary, "{}", after.summary);
    assert!(before.timeline == after.timeline);
    assert!(before.agents == after.agents, "{}", after.agents);
}

#[test]
fn an_agent_that_nothing_uses_changes_nothing() {
    let unused = "agents:
  idle: {system_prompt: {tokens: 20K, shared: true}, turns: 9, output: {median: 1K, p90: 9K}}
  coder:
";
    // First, so that the indices of all others move.
    assert_same_tables(&edited(&[("agents:\n  coder:\n", unused)]));
}

#[test]
fn a_spawn_of_probability_zero_changes_nothing() {
    let spawns = "    spawns:
      never: {agent: watcher, mode: sync, probability: 0, count: 1..9, start: fork, task: {median: 1K, p90: 9K}}
      explorer:";
    assert_same_tables(&edited(&[("    spawns:\n      explorer:", spawns)]));
}

#[test]
fn the_order_and_layout_of_a_file_change_nothing() {
    let moved = "workload:
  planned: {at: [0s, 10s, 1h], agent: coder}
  batch: {cv: 1.5, rate: 40/h, agent: clerk}
  developers: {agent: coder, users: 300, sessions_per_day: 2, profile: global, timezone: \"+2\"}
";
    let text = std::fs::read_to_string(data("everything.yaml")).unwrap();
    let (head, _) = text.split_once("workload:\n").unwrap();
    assert_same_tables(&parse(&format!("{head}{moved}"), &[]));
}

#[test]
fn a_workload_entry_changes_no_other_entrys_draws() {
    // `late` runs an agent of its own; all other agents are as they were.
    let agents = "agents:
  night: {first_prompt: {median: 2K, p90: 9K}, turns: 1..5, think: {exponential: {mean: 60s}}}
  coder:
";
    let entry = "workload:
  late: {agent: night, rate: 30/h, cv: 2}
  developers:";
    let before = tables(&everything(&[]));
    let after = tables(&edited(&[
        ("agents:\n  coder:\n", agents),
        ("workload:\n  developers:", entry),
    ]));
    let (old, new) = (rows(&before.agents), rows(&after.agents));
    let others: Vec<&Row> = new.iter().filter(|r| r["agent"] != "night").collect();
    assert_eq!(old.iter().collect::<Vec<_>>(), others);
    let added: Vec<&Row> = new.iter().filter(|r| r["agent"] == "night").collect();
    assert_eq!(added.len(), 4, "a line for each compared model");
    assert!(added.iter().all(|r| r["sessions_started"] != "0"));
}

#[test]
fn removing_an_entry_leaves_the_others_sessions() {
    let whole = simulate(&everything(&[]));
    let rest = simulate(&edited(&[(
        "  batch: {agent: clerk, rate: 40/h, cv: 1.5}\n",
        "",
    )]));
    let of = |result: &RunResult, name: &str| {
        let agent = result.agent_names.iter().position(|n| n == name).unwrap();
        let rows = result.rows.iter().flat_map(|r| &r.replications);
        rows.filter_map(|r| r.agents.iter().find(|a| a.agent == agent).copied())
            .collect::<Vec<_>>()
    };
    for name in ["coder", "explorer", "watcher", "helper"] {
        let rows = of(&rest, name);
        assert!(!rows.is_empty());
        assert_eq!(of(&whole, name), rows, "{name}");
    }
    assert!(of(&rest, "clerk").is_empty());
}

#[test]
fn another_agents_numbers_do_not_depend_on_an_unrelated_agents_laws() {
    // The clerk works apart from the coder's tree.
    let before = rows(&tables(&everything(&[])).agents);
    let slower = [
        "agents.clerk.think={exponential: {mean: 200s}}",
        "agents.clerk.turns=2..6",
    ];
    let after = rows(&tables(&everything(&slower)).agents);
    let apart = |rows: &[Row], clerk: bool| {
        let rows = rows.iter().filter(|r| (r["agent"] == "clerk") == clerk);
        rows.cloned().collect::<Vec<_>>()
    };
    assert_eq!(apart(&before, false), apart(&after, false));
    assert_ne!(apart(&before, true), apart(&after, true));
}

fn add(a: &Counts, b: &Counts) -> Counts {
    Counts {
        sessions_started: a.sessions_started + b.sessions_started,
        sequences_started: a.sequences_started + b.sequences_started,
        steps: a.steps + b.steps,
        tokens_prefilled: a.tokens_prefilled + b.tokens_prefilled,
        tokens_decoded: a.tokens_decoded + b.tokens_decoded,
        tokens_recomputed: a.tokens_recomputed + b.tokens_recomputed,
        snapshots_taken: a.snapshots_taken + b.snapshots_taken,
        compactions: a.compactions + b.compactions,
        rewinds: a.rewinds + b.rewinds,
    }
}

/// Everything in one window that adds up over its parts.
fn integrals(r: &RowReplication) -> Vec<u128> {
    let mut all = vec![
        r.byte_ns,
        r.shared_byte_ns,
        r.sequence_ns,
        r.running_ns,
        r.token_ns,
    ];
    all.extend(r.kind_byte_ns);
    all.extend(r.owner_byte_ns);
    all.extend(r.activity_byte_ns);
    all
}

#[test]
fn a_shorter_window_is_the_longer_one_cut_off() {
    // The second half, as a window of its own: the same arrivals, two hours more before it. Both
    // profiles are flat, as time 0 moves; nothing else may change.
    let flat = "workload={developers: {agent: coder, rate: 25/h}, batch: {agent: clerk, rate: 40/h, cv: 1.5}}";
    let run = |measure: &str, warmup: &str| {
        let sets = [
            flat,
            &format!("measure={measure}"),
            &format!("warmup={warmup}"),
        ];
        simulate(&everything(&sets))
    };
    let (whole, first, second) = (run("4h", "2h"), run("2h", "2h"), run("2h", "4h"));
    for (model, row) in whole.rows.iter().enumerate() {
        for (number, whole) in row.replications.iter().enumerate() {
            let what = format!("{} in replication {number}", row.model.label);
            let (first, second) = (
                &first.rows[model].replications[number],
                &second.rows[model].replications[number],
            );
            let sums = integrals(first).into_iter().zip(integrals(second));
            let sums: Vec<u128> = sums.map(|(a, b)| a + b).collect();
            assert_eq!(integrals(whole), sums, "{what}");
            assert_eq!(whole.counts, add(&first.counts, &second.counts), "{what}");
            let peak = first.peak_bytes.max(second.peak_bytes);
            assert_eq!(whole.peak_bytes, peak, "{what}");
            let at = if first.peak_bytes == peak {
                first.peak_ns
            } else {
                second.peak_ns + 2 * HOUR
            };
            assert_eq!(whole.peak_ns, at, "{what}");
            let sequences = first.peak_sequences.max(second.peak_sequences);
            assert_eq!(whole.peak_sequences, sequences, "{what}");
            // The long run's bins of the first half are the short run.
            let half = whole.bins.len() / 2;
            let total: u128 = whole.bins[..half].iter().map(|b| b.total).sum();
            assert_eq!(total, first.byte_ns, "{what}");
            let most = whole.bins[..half].iter().map(|b| b.max).max();
            assert_eq!(most, Some(first.peak_bytes), "{what}");
        }
    }
}
