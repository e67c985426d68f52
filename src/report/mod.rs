//! Tables, CSV files and charts from [`crate::observe::results`]. Knows no events.
//!
//! Everything here returns text or bytes; only [`output`] touches the file system. Each file of
//! a run has its module: [`summary`], [`timeline`], [`agents`], [`manifest`], [`chart`]. What
//! they share: [`number`] (exact decimals, units for readers) and `stats` (replications).

pub mod agents;
pub mod chart;
pub mod manifest;
pub mod number;
pub mod output;
mod stats;
pub mod summary;
pub mod terminal;
pub mod timeline;

#[cfg(test)]
mod sample;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::observe::results::RunResult;
use crate::scenario::Scenario;

pub use output::{OutputFile, abandon_writes, check_target};
pub use summary::{Format, summary_table};

/// What the first columns of every table say: a run without plans reports demand.
pub const PLAN: &str = "demand";
/// Bytes are counted once, without rounding to an engine's blocks.
pub const BASIS: &str = "logical";
/// How an engine would allocate those bytes: `ideal` means no rounding.
pub const LAYOUT: &str = "ideal";

/// Facts about a run that are not results: they go to `run.json` only.
#[derive(Clone, Debug)]
pub struct RunMeta {
    /// The command line, program first.
    pub command: Vec<String>,
    /// When the run started.
    pub started: SystemTime,
    /// How long the simulation took, ns of wall time.
    pub wall_ns: u64,
    /// Worker threads.
    pub threads: usize,
}

/// How reports are written.
#[derive(Clone, Debug)]
pub struct ReportOptions {
    /// Keep each chart as SVG too.
    pub svg: bool,
    /// Chart width and height, px; within [`chart::MIN_SIZE`] and [`chart::MAX_SIZE`].
    pub size: (u32, u32),
}

impl Default for ReportOptions {
    fn default() -> Self {
        ReportOptions {
            svg: false,
            size: (1600, 900),
        }
    }
}

/// Why a report could not be made. Nothing is left half-written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The target exists and is not a directory.
    #[error("{} is a file: results need a directory; choose another with --out", .0.display())]
    TargetIsFile(PathBuf),
    /// The path has no last component to name the directory.
    #[error("{} cannot be a results directory: give it a name with --out", .0.display())]
    TargetUnnamed(PathBuf),
    /// The target holds files that no run wrote.
    #[error(
        "{} holds files but no run.json, so it is not a results directory: it is left alone; \
         choose another with --out", .0.display()
    )]
    TargetNotOurs(PathBuf),
    /// The file system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// On which path.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The new results are in place, but the old ones, moved aside, could not be deleted.
    #[error(
        "the results are written, but the earlier ones could not be deleted; they are in {}",
         path.display()
    )]
    OldLeft {
        /// Where the old results are.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A chart could not be drawn.
    #[error("cannot draw chart {chart}: {reason}")]
    Chart {
        /// Its file stem.
        chart: &'static str,
        /// Why.
        reason: String,
    },
    /// The chart size is outside the supported range.
    #[error(
        "charts of {} x {} px are not supported: {} x {} to {} x {} px",
        .0.0, .0.1, chart::MIN_SIZE.0, chart::MIN_SIZE.1, chart::MAX_SIZE.0, chart::MAX_SIZE.1
    )]
    Size((u32, u32)),
}

/// Writes every file of a run into `target`, replacing the results of an earlier run.
///
/// All files are made in memory, written to a temporary directory beside `target`, and renamed
/// into place at the end. Returns the paths of the files, in the order of docs/outputs.md.
///
/// # Errors
/// [`ReportError`]; `target` is then as it was, except after [`ReportError::OldLeft`].
pub fn write_run(
    scenario: &Scenario,
    result: &RunResult,
    meta: &RunMeta,
    target: &Path,
    options: &ReportOptions,
) -> Result<Vec<PathBuf>, ReportError> {
    let files = run_files(scenario, result, meta, options)?;
    output::write_dir(target, &files)
}

/// The files of a run, in memory.
///
/// # Errors
/// [`ReportError::Chart`] and [`ReportError::Size`].
pub fn run_files(
    scenario: &Scenario,
    result: &RunResult,
    meta: &RunMeta,
    options: &ReportOptions,
) -> Result<Vec<OutputFile>, ReportError> {
    let mut files = vec![
        OutputFile::text("summary.csv", summary::csv(scenario, result)),
        OutputFile::text("timeline.csv", timeline::csv(result)),
        OutputFile::text("agents.csv", agents::csv(result)),
        OutputFile::text("run.json", manifest::json(scenario, result, meta)),
    ];
    files.extend(chart::render_all(scenario, result, options)?);
    Ok(files)
}

/// Closing lines that say which files were written, for the command line.
pub fn written_line(target: &Path, files: &[PathBuf]) -> String {
    let count = |end: &str| {
        files
            .iter()
            .filter(|f| f.extension().is_some_and(|e| e == end))
            .count()
    };
    let names: Vec<String> = files
        .iter()
        .filter(|f| f.extension().is_some_and(|e| e == "csv" || e == "json"))
        .filter_map(|f| f.file_name().map(|n| n.to_string_lossy().into_owned()))
        .collect();
    let svg = count("svg");
    let pictures = match svg {
        0 => format!("{} charts (PNG)", count("png")),
        _ => format!("{} charts (PNG and SVG)", count("png")),
    };
    format!(
        "Wrote {} and {pictures}\nto {}",
        names.join(", "),
        target.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_writes_every_file_of_the_contract() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("run");
        let (scenario, result) = sample::week(2, 2);
        let options = ReportOptions {
            svg: true,
            size: (640, 360),
        };
        check_target(&target).unwrap();
        let files = write_run(&scenario, &result, &sample::meta(), &target, &options).unwrap();
        assert_eq!(files.len(), 4 + 7 * 2);
        for file in &files {
            assert!(
                std::fs::metadata(file).unwrap().len() > 200,
                "{}",
                file.display()
            );
        }
        let line = written_line(&target, &files);
        let expected = "Wrote summary.csv, timeline.csv, agents.csv, run.json and 7 charts (PNG \
                        and SVG)\nto ";
        assert!(line.starts_with(expected), "{line}");
    }

    #[test]
    fn only_the_manifest_depends_on_wall_time() {
        let (scenario, result) = sample::week(2, 2);
        let options = ReportOptions {
            svg: true,
            size: (640, 360),
        };
        let first = run_files(&scenario, &result, &sample::meta(), &options).unwrap();
        let later = RunMeta {
            wall_ns: 5,
            started: SystemTime::now(),
            ..sample::meta()
        };
        let second = run_files(&scenario, &result, &later, &options).unwrap();
        for (a, b) in first.iter().zip(&second) {
            assert_eq!(a.name == "run.json", a.bytes != b.bytes, "{}", a.name);
        }
    }
}
