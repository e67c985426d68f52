//! `check`, `schema`, `init` and bad input from the command line: exit codes, and nothing written.

use assert_cmd::Command;
use std::path::Path;

fn fleetmem(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::cargo_bin("fleetmem")
        .unwrap()
        .current_dir(dir)
        .args(args)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn files(dir: &Path) -> usize {
    std::fs::read_dir(dir).unwrap().count()
}

#[test]
fn init_writes_a_right_scenario_once() {
    let dir = tempfile::tempdir().unwrap();
    let (code, out, _) = fleetmem(dir.path(), &["init"]);
    assert_eq!(
        (code, out.starts_with("wrote scenario.yaml")),
        (Some(0), true),
        "{out}"
    );
    let (code, out, err) = fleetmem(dir.path(), &["check", "scenario.yaml"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    assert!(
        out.starts_with("scenario.yaml: ok\n")
            && out.contains("all-mla-93")
            && !out.contains("warning"),
        "{out}"
    );
    std::fs::write(dir.path().join("scenario.yaml"), "mine").unwrap();
    let (code, _, err) = fleetmem(dir.path(), &["init"]);
    assert_eq!(code, Some(2));
    assert!(
        err.contains("scenario.yaml exists and is left as it is"),
        "{err}"
    );
    assert_eq!(
        std::fs::read_to_string(dir.path().join("scenario.yaml")).unwrap(),
        "mine"
    );
    let (code, _, err) = fleetmem(dir.path(), &["init", "no/such/folder.yaml"]);
    assert_eq!(code, Some(2), "{err}");
    assert_eq!(files(dir.path()), 1);
}

#[test]
fn bad_input_exits_2_and_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("s.yaml"),
        "measure: 24\nmodels: [kimi-k3]\nagents: {a: {turn: 3}}\n",
    )
    .unwrap();
    std::fs::write(dir.path().join("b.yaml"), b"\xff\xfe\x00").unwrap();
    std::fs::write(dir.path().join("e.yaml"), "").unwrap();
    for command in ["check", "run"] {
        let (code, out, err) = fleetmem(
            dir.path(),
            &[command, "s.yaml", "b.yaml", "e.yaml", "none.yaml"],
        );
        assert_eq!((code, out.as_str()), (Some(2), ""));
        for says in [
            "s.yaml:1:10",
            "measure: `24` has no unit",
            "s.yaml:3:14",
            "did you mean `turns`?",
            "missing field `workload`",
            "b.yaml:1:1",
            "is not a text file",
            "`e.yaml` is empty",
            "cannot read `none.yaml`",
        ] {
            assert!(err.contains(says), "no {says:?} in:\n{err}");
        }
        assert_eq!(files(dir.path()), 3);
    }
}

#[test]
fn check_prints_warnings_and_takes_overrides() {
    let dir = tempfile::tempdir().unwrap();
    let text = "measure: 24h\nmodels: [kimi-k3]\nagents: {a: {}}\nworkload: {w: {agent: a, at: [0s, 1h]}}\n";
    std::fs::write(dir.path().join("s.yaml"), text).unwrap();
    let (code, out, _) = fleetmem(
        dir.path(),
        &[
            "check",
            "s.yaml",
            "--set",
            "warmup=1m",
            "--set",
            "name=other",
            "--seed",
            "9",
        ],
    );
    assert_eq!(code, Some(0));
    for says in [
        "s.yaml: ok",
        "other",
        "w: a, 2 sessions at given times",
        "1d after a warm-up of 1m",
        "1 from seed 9",
        "warning: --set:1:8: warmup: ",
    ] {
        assert!(out.contains(says), "no {says:?} in:\n{out}");
    }
}

#[test]
fn schema_prints_the_committed_schema() {
    let (code, out, _) = fleetmem(Path::new("."), &["schema"]);
    assert_eq!(code, Some(0));
    assert_eq!(out, include_str!("../scenarios/schema.json"));
}
