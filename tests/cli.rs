//! `run` and the program as a whole, as a user's shell sees them: exit codes, what is printed
//! where, and that earlier results are never lost.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A fleet that runs in a moment.
const SMALL: &str = "\
name: small
measure: 1h
warmup: 0s
replications: 2
models: [all-mla-93, kimi-k3]
agents:
  coder: {first_prompt: 20K, steps: 5, tool: {tokens: 2K, time: 20s}, output: 300}
workload:
  main: {agent: coder, rate: 30/h}
";

/// The same with so many sessions that it does not end by itself within a test.
fn endless() -> String {
    SMALL
        .replace("measure: 1h", "measure: 365d")
        .replace("replications: 2", "replications: 500")
        .replace("30/h", "500/h")
}

struct Folder(tempfile::TempDir);

impl Folder {
    /// A folder with `small.yaml` in it.
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        folder.write("small.yaml", SMALL);
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fleetmem"));
        command.current_dir(self.0.path()).args(args);
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().unwrap())
    }

    /// All files below the folder, with their contents.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut out = BTreeMap::new();
        collect(self.0.path(), &mut out);
        out
    }
}

fn collect(dir: &Path, out: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, out);
        } else {
            let bytes = std::fs::read(&path).unwrap();
            out.insert(path, bytes);
        }
    }
}

#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

const FILES: [&str; 4] = ["summary.csv", "timeline.csv", "agents.csv", "run.json"];

#[test]
fn a_run_writes_its_folder_and_prints_a_table() {
    let folder = Folder::new();
    let ran = folder.run(&["run", "small.yaml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for file in FILES {
        assert!(folder.path("output/small").join(file).is_file(), "{file}");
    }
    let charts = folder.files();
    let charts = charts
        .keys()
        .filter(|p| p.extension().is_some_and(|e| e == "png"));
    assert!(charts.count() >= 5);
    assert!(ran.out.contains("kimi-k3") && ran.out.contains("output/small"));
    // A terminal of 80 columns shows it unbroken.
    assert!(ran.out.lines().all(|l| l.chars().count() <= 80), "{ran:?}");

    let quiet = folder.run(&["run", "-q", "small.yaml", "--out", "elsewhere"]);
    assert_eq!(
        (quiet.code, quiet.out.as_str(), quiet.err.as_str()),
        (Some(0), "", "")
    );
    assert!(folder.path("elsewhere/summary.csv").is_file());
}

#[test]
fn formats_for_programs_stand_alone_on_stdout() {
    let folder = Folder::new();
    let csv = folder.run(&["run", "small.yaml", "--format", "csv", "--no-progress"]);
    assert_eq!(csv.code, Some(0));
    let written = std::fs::read_to_string(folder.path("output/small/summary.csv")).unwrap();
    assert_eq!(csv.out, written);
    let json = folder.run(&["run", "small.yaml", "--format", "json", "--no-progress"]);
    serde_json::from_str::<serde_json::Value>(&json.out).expect("nothing but JSON");
}

#[test]
fn several_scenarios_have_a_folder_each() {
    let folder = Folder::new();
    folder.write("b.yaml", &SMALL.replace("name: small", "name: other"));
    let ran = folder.run(&["run", "-q", "small.yaml", "b.yaml", "--out", "both"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(folder.path("both/small/summary.csv").is_file());
    assert!(folder.path("both/other/summary.csv").is_file());

    let before = folder.files();
    let ran = folder.run(&["run", "small.yaml", "small.yaml"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.err.contains("two scenarios are named `small`"),
        "{ran:?}"
    );
    assert_eq!(folder.files(), before);
}

/// Everything that is wrong before a run starts: exit 2, and not a byte written or lost.
#[test]
fn bad_input_exits_2_and_changes_nothing() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["run", "-q", "small.yaml"]).code, Some(0));
    folder.write("typo.yaml", &SMALL.replace("steps:", "stepz:"));
    folder.write("empty.yaml", "");
    folder.write("binary.yaml", "\u{0}\u{1}");
    folder.write("trace.yaml", &SMALL.replace("rate: 30/h", "trace: t.csv"));
    folder.write("plans.yaml", &format!("{SMALL}plans: {{one: {{}}}}\n"));
    folder.write("closed.yaml", &SMALL.replace("rate: 30/h", "closed: 5"));
    folder.write(
        "huge.yaml",
        &SMALL
            .replace("30/h", "400000000000/h")
            .replace("20s", "20h"),
    );
    let before = folder.files();
    for (args, said) in [
        (&["run", "typo.yaml"][..], "typo.yaml:7:30"),
        (&["run", "typo.yaml"], "steps"),
        (&["run", "small.yaml", "typo.yaml"], "typo.yaml:7:30"),
        (&["run", "empty.yaml"], "empty.yaml"),
        (&["run", "binary.yaml"], "binary.yaml"),
        (&["run", "missing.yaml"], "missing.yaml"),
        (&["run", "."], "directory"),
        (&["run", "trace.yaml"], "not supported yet"),
        (&["run", "plans.yaml"], "not supported yet"),
        (&["run", "closed.yaml"], "not supported yet"),
        (&["run", "huge.yaml"], "does not fit this machine"),
        (&["run", "small.yaml", "--set", "no.such=1"], "no"),
        (&["run", "small.yaml", "--set", "replications"], "="),
        (&["run", "small.yaml", "--threads", "0"], "threads"),
        (&["run"], "SCENARIO"),
        (&["models", "no-such-model"], "no-such-model"),
        (&["models", "kimi-k3", "--tokens", "12Q"], "12Q"),
        (&["nonsense"], "nonsense"),
    ] {
        let ran = folder.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
        assert!(
            ran.err.contains(said),
            "{args:?} wants `{said}`: {}",
            ran.err
        );
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        assert_eq!(ran.out, "", "{args:?}");
        assert!(folder.files() == before, "{args:?} changed files");
    }
}

#[test]
fn results_that_cannot_be_written_exit_1_and_lose_nothing() {
    let folder = Folder::new();
    folder.write("a-file", "mine");
    std::fs::create_dir(folder.path("foreign")).unwrap();
    folder.write("foreign/notes.txt", "mine");
    let before = folder.files();
    for target in ["a-file", "foreign", "a-file/below"] {
        let ran = folder.run(&["run", "-q", "small.yaml", "--out", target]);
        assert!(matches!(ran.code, Some(1 | 2)), "{target}: {ran:?}");
        let name = target.split('/').next().unwrap();
        assert!(ran.err.contains(name), "{target}: {ran:?}");
        assert!(folder.files() == before, "{target} changed files");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_loses_nothing() {
    let folder = Folder::new();
    let mount = folder.path("disk");
    std::fs::create_dir(&mount).unwrap();
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=64k", "tmpfs"])
        .arg(&mount)
        .stderr(Stdio::null())
        .status();
    if !mounted.is_ok_and(|s| s.success()) {
        eprintln!("skipped: a small disk cannot be mounted without privileges");
        return;
    }
    let before = folder.files();
    let ran = folder.run(&["run", "-q", "small.yaml", "--out", "disk/results"]);
    let after = folder.files();
    Command::new("umount").arg(&mount).status().unwrap();
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let said = "cannot write disk/results/";
    assert!(ran.err.contains(said), "{ran:?}");
    assert_eq!(ran.err.matches("No space left").count(), 1, "{ran:?}");
    assert!(after == before);
}

#[cfg(unix)]
fn interrupt(child: &std::process::Child) {
    let sent = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_exits_130_and_keeps_earlier_results() {
    let folder = Folder::new();
    assert_eq!(folder.run(&["run", "-q", "small.yaml"]).code, Some(0));
    folder.write("endless.yaml", &endless());
    let before = folder.files();
    let child = folder
        .command(&["run", "endless.yaml"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Long enough to be in the simulation, or at least past the handler's start.
    std::thread::sleep(Duration::from_secs(2));
    interrupt(&child);
    let clock = Instant::now();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{ran:?}");
    assert!(clock.elapsed() < Duration::from_secs(60));
    assert_eq!(ran.out, "");
    assert!(folder.files() == before, "files changed");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    let mut child = folder
        .command(&["models", "--sources"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
}

#[test]
fn help_fits_a_terminal_and_names_every_option() {
    let folder = Folder::new();
    for command in ["run", "models", "check", "schema", "init"] {
        let ran = folder.run(&[command, "--help"]);
        assert_eq!(ran.code, Some(0));
        assert!(
            ran.out.lines().all(|l| l.chars().count() <= 100),
            "{command}: {}",
            ran.out
        );
    }
    let ran = folder.run(&["--help"]);
    for command in ["run", "models", "check", "schema", "init"] {
        assert!(ran.out.contains(command), "{command}");
    }
}
