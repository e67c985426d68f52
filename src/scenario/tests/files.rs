//! Files: what is no scenario, what is too large, and files that scenarios name.

use super::{SMALL, bad, good};
use crate::scenario::{LawKind, ScenarioErrors, load, parse};
use std::path::Path;
use std::time::{Duration, Instant};

fn load_bytes(bytes: &[u8]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.yaml");
    std::fs::write(&path, bytes).unwrap();
    let started = Instant::now();
    let errors = load(&path, &[]).unwrap_err();
    // Generous: these take a few hundredths of a second.
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        1,
        "wrote something"
    );
    errors.to_string()
}

#[test]
fn empty_and_not_yaml() {
    for text in ["", "\n", "# nothing\n", "---\n", "~\n"] {
        let shown = bad(text, &[]);
        assert!(
            shown.contains("`s.yaml` is empty") && shown.contains("s.yaml:1:1"),
            "{shown}"
        );
        assert!(
            shown.contains("`measure`, `models`, `agents` and `workload`"),
            "{shown}"
        );
    }
    let shown = bad("a: [1\nb: 2", &[]);
    assert!(
        shown.contains("not valid YAML") && shown.contains("s.yaml:"),
        "{shown}"
    );
    let shown = bad("just some words", &[]);
    assert!(
        shown.contains("s.yaml:1:1")
            && shown.contains("expected a scenario, found `just some words`"),
        "{shown}"
    );
    let shown = bad("- 1\n- 2\n", &[]);
    assert!(
        shown.contains("expected a scenario, found a list"),
        "{shown}"
    );
    let shown = bad("measure: 1d\n---\nmeasure: 2d\n", &[]);
    assert!(
        shown.contains("s.yaml:2:1") && shown.contains("a second YAML document"),
        "{shown}"
    );
    let shown = bad("measure: !duration 1d\n", &[]);
    assert!(
        shown.contains("s.yaml:1:10") && shown.contains("YAML tags"),
        "{shown}"
    );
    let shown = bad("measure: *day\n", &[]);
    assert!(
        shown.contains("s.yaml:1:10") && shown.contains("not valid YAML"),
        "{shown}"
    );
    let shown = bad("? [a]\n: 3\n", &[]);
    assert!(
        shown.contains("s.yaml:1:3") && shown.contains("a key must be a name"),
        "{shown}"
    );
}

#[test]
fn duplicate_keys() {
    let shown = bad(&format!("{SMALL}measure: 1d\nmeasure: 2d\n"), &[]);
    assert!(
        shown.contains("error: measure: `measure` is given twice")
            || shown.contains("error: `measure` is given twice"),
        "{shown}"
    );
    assert!(
        shown.contains("s.yaml:7:1")
            && shown.contains("s.yaml:8:1")
            && shown.contains("::: s.yaml:1:1"),
        "{shown}"
    );
    let shown = bad(&SMALL.replace("turns: 3", "turns: 3, turns: 4"), &[]);
    assert!(
        shown.contains("s.yaml:4:21") && shown.contains("::: s.yaml:4:11"),
        "{shown}"
    );
}

#[test]
fn binary_files() {
    let shown = load_bytes(b"\x7fELF\x02\x01\x01\x00\x00\xff\xfe");
    assert!(
        shown.contains("x.yaml:1:1") && shown.contains("is not a text file"),
        "{shown}"
    );
    let shown = load_bytes(b"measure: 1d\nmodels: \xff\xfe\n");
    assert!(
        shown.contains("x.yaml:2:9") && shown.contains("not valid UTF-8"),
        "{shown}"
    );
    let shown = load_bytes(b"measure: 1d\nseed: \x003\n");
    assert!(
        shown.contains("x.yaml:2:7") && shown.contains("control character U+0000"),
        "{shown}"
    );
    let mut noise: Vec<u8> = (0..10_000_000u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    assert!(load_bytes(&noise).contains("is not a text file"));
    noise.truncate(100);
    assert!(load_bytes(&noise).contains("is not a text file"));
}

#[test]
fn large_files() {
    for unit in ["# a long comment\n", "- x\n", "x", "é"] {
        let shown = load_bytes(unit.repeat(10_000_000 / unit.len()).as_bytes());
        assert!(
            shown.contains("is larger than 4 MiB") && shown.contains("x.yaml:"),
            "{}",
            &shown[..300]
        );
        assert!(shown.len() < 2000);
    }
    let shown = load_bytes("- x\n".repeat(900_000).as_bytes());
    assert!(
        shown.contains("x.yaml:250000:3") && shown.contains("more than 250000 values"),
        "{}",
        &shown[..300]
    );
    let shown = load_bytes(format!("a: {}", "x".repeat(3_000_000)).as_bytes());
    assert!(shown.contains("unknown field `a`") && shown.len() < 2000);
}

#[test]
fn deep_nesting() {
    for text in [
        "[".repeat(100_000),
        "{a: ".repeat(100_000),
        "- ".repeat(100_000),
        "[".repeat(70) + &"]".repeat(70),
    ] {
        let shown = load_bytes(text.as_bytes());
        assert!(
            shown.contains("x.yaml:1:") && shown.contains("more than 64 levels of nesting"),
            "{shown}"
        );
    }
    let mut nested = String::from("5");
    for _ in 0..25 {
        nested = format!("{{mixture: [{{weight: 1, law: {nested}}}]}}");
    }
    let shown = bad(SMALL, &[&format!("agents.coder.output={nested}")]);
    assert!(
        shown.contains("levels of nesting") && shown.contains("--set:1:"),
        "{shown}"
    );
}

#[test]
fn alias_bombs() {
    let mut text = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for i in 1..30 {
        let items = vec![format!("*a{}", i - 1); 9].join(", ");
        text += &format!("a{i}: &a{i} [{items}]\n");
    }
    let shown = load_bytes(text.as_bytes());
    assert!(
        shown.contains("x.yaml:6:") && shown.contains("more than 250000 values"),
        "{shown}"
    );
    let mut text = String::from("a0: &a0 [x]\n");
    for i in 1..100 {
        text += &format!("a{i}: &a{i} [*a{}]\n", i - 1);
    }
    assert!(load_bytes(text.as_bytes()).contains("levels of nesting"));
    assert!(bad("a: &a [*a]\n", &[]).contains("s.yaml:1:8"));
}

#[test]
fn files_that_cannot_be_read() {
    let shown = load(Path::new("no/such.yaml"), &[])
        .unwrap_err()
        .to_string();
    assert!(
        shown.contains("cannot read `no/such.yaml`: No such file"),
        "{shown}"
    );
    let dir = tempfile::tempdir().unwrap();
    let shown = load(dir.path(), &[]).unwrap_err().to_string();
    assert!(shown.contains("cannot read"), "{shown}");
}

#[test]
fn windows_line_ends_and_marks() {
    let s = good(&format!("\u{feff}{}", SMALL.replace('\n', "\r\n")), &[]);
    assert_eq!(s.agents[0].name, "coder");
    let shown = bad(
        &format!(
            "\u{feff}{}",
            SMALL.replace("24h", "24").replace('\n', "\r\n")
        ),
        &[],
    );
    assert!(shown.contains("s.yaml:1:10"), "{shown}");
}

fn in_dir(files: &[(&str, &str)], text: &str) -> Result<crate::scenario::Scenario, ScenarioErrors> {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(dir.path().join(name), content).unwrap();
    }
    parse(text, "s.yaml", dir.path(), &[])
}

#[test]
fn samples_from_csv() {
    let csv = "id,gap,when\n1, 2.5,9s\n2,1,1m\n";
    let think = |law: &str| {
        in_dir(
            &[("gaps.csv", csv)],
            &SMALL.replace("turns: 3", &format!("think: {{empirical: {law}}}")),
        )
    };
    let scenario = think("{file: gaps.csv, column: gap, unit: s}").unwrap();
    assert_eq!(
        scenario.agents[0].think.kind,
        LawKind::Empirical(vec![1e9, 2.5e9])
    );
    let other = think("{file: gaps.csv, column: when}").unwrap();
    assert_eq!(
        other.agents[0].think.kind,
        LawKind::Empirical(vec![9e9, 60e9])
    );
    for (law, says) in [
        (
            "{file: gaps.csv, column: gap}",
            "gaps.csv:2: column `gap`: `2.5` has no unit",
        ),
        ("{file: gaps.csv, column: gaps}", "did you mean `gap`?"),
        ("{file: gap.csv, column: gap}", "cannot read"),
        (
            "{file: gaps.csv, column: when, unit: s}",
            "gaps.csv:2: column `when`",
        ),
        ("{file: gaps.csv}", "takes one of these sets of fields"),
        (
            "{values: [1s], unit: s}",
            "`unit` belongs to a column of a file",
        ),
    ] {
        let shown = think(law).unwrap_err().to_string();
        assert!(
            shown.contains(says) && shown.contains("s.yaml:4:"),
            "{shown}"
        );
    }
    let tokens = SMALL.replace("turns: 3", "output: {empirical: {file: x.csv, column: n}}");
    assert_eq!(
        in_dir(&[("x.csv", "n\n2K\n5\n")], &tokens).unwrap().agents[0]
            .output
            .kind,
        LawKind::Empirical(vec![5.0, 2000.0])
    );
    for (csv, says) in [
        ("n\n", "a sample of no values"),
        ("n\n-5\n", "x.csv:2: column `n`: `-5` is negative"),
        ("n\nnan\n", "not a finite number"),
        ("n,m\n1\n", "x.csv"),
        ("", "no column `n`"),
    ] {
        let shown = in_dir(&[("x.csv", csv)], &tokens).unwrap_err().to_string();
        assert!(shown.contains(says), "{csv:?}: {shown}");
    }
    // The data is part of the digest.
    let digest = |csv| in_dir(&[("x.csv", csv)], &tokens).unwrap().digest;
    assert_ne!(digest("n\n1\n"), digest("n\n2\n"));
}

#[test]
fn models_from_files() {
    let text = SMALL.replace("kimi-k3]", "{file: mine.yaml, as: Mine}]");
    let model = include_str!("../../memory/catalogue/kimi-k3.yaml");
    let scenario = in_dir(&[("mine.yaml", model)], &text).unwrap();
    assert_eq!(scenario.models[1].label, "Mine");
    assert_eq!(
        scenario.models[1].footprint,
        good(SMALL, &[]).models[1].footprint
    );
    let shown = in_dir(&[("mine.yaml", "name: [")], &text)
        .unwrap_err()
        .to_string();
    assert!(
        shown.contains("s.yaml:2:29") && shown.contains("mine.yaml"),
        "{shown}"
    );
    let shown = in_dir(&[("mine.yaml", "")], &text).unwrap_err().to_string();
    assert!(shown.contains("mine.yaml"), "{shown}");
}

#[test]
fn names_come_from_the_file() {
    let name = |file: &str| parse(SMALL, file, Path::new("."), &[]).unwrap().name;
    assert_eq!(name("a/b/my-fleet.yaml"), "my-fleet");
    assert_eq!(name("what? now.yml"), "what- now");
    assert_eq!(name(".yaml"), "yaml");
    assert_eq!(name(""), "scenario");
}

#[test]
fn many_mistakes_take_no_time() {
    use std::fmt::Write;
    let mut fields = String::from("measure: 1d\n");
    let mut agents = String::from(
        "measure: 1d\nmodels: [kimi-k3]\nworkload: {main: {agent: a, at: [0s]}}\nagents:\n",
    );
    for i in 0..100_000 {
        let _ = writeln!(fields, "x{i}: {i}");
    }
    for i in 0..12_000 {
        let _ = writeln!(
            agents,
            "  a{i}: {{spawns: {{b{i}: {{mode: sync}}, a0: {{mode: sync}}, a{}: {{mode: sync}}}}}}",
            i + 1
        );
    }
    for text in [fields, agents] {
        let shown = load_bytes(text.as_bytes());
        assert!(shown.contains("more errors"), "{shown}");
        assert!(shown.len() < 100_000);
    }
}

/// Texts near a right scenario: none may end in a panic, nor be refused without a place.
#[test]
fn damaged_scenarios_are_refused_or_read() {
    use proptest::prelude::*;
    let original = include_str!("contract.yaml");
    let pieces = [
        "", ":", "{", "}", "[", "]", ",", "- ", "\n", "\n\n", " ", "  ", "\t", "#", "&a ", "*a",
        "<<: ", "!t ", "'", "\"", "|\n", ">\n", "?", "..", "%", "é", "日本", "\u{feff}", "\r", "-",
        "1e999", "-1", "0", ".nan", "never", "1..3", "null", "~", "10", "x: 1", "---\n",
    ];
    let edit = (0..original.len(), 0usize..12, 0..pieces.len());
    proptest!(ProptestConfig::with_cases(1500), |(edits in proptest::collection::vec(edit, 1..5))| {
        let mut text = original.to_owned();
        for (at, delete, piece) in edits {
            let mut start = at.min(text.len());
            while !text.is_char_boundary(start) {
                start -= 1;
            }
            let mut end = (start + delete).min(text.len());
            while !text.is_char_boundary(end) {
                end += 1;
            }
            text.replace_range(start..end, pieces[piece]);
        }
        if let Err(errors) = parse(&text, "s.yaml", Path::new("."), &[]) {
            let shown = errors.to_string();
            prop_assert!(shown.contains("--> s.yaml:"), "{}\n{}", shown, text);
        }
    });
}
