//! `fleetmem run`: scenarios in; CSV files, charts and a summary out.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime};

use anyhow::Context;
use clap::Args;

use super::exit::BadInput;
use super::{Common, Format, load, progress};
use crate::report::{self, ReportOptions, RunMeta};
use crate::scenario::{self, Scenario};
use crate::simulate::{self, EntrySample, Prepared, SimulateError, Watch};

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// Scenario files (YAML)
    #[arg(required = true, value_name = "SCENARIO")]
    scenarios: Vec<PathBuf>,
    #[command(flatten)]
    common: Common,
    /// Folder for the results; default: a folder of its name in output/. With several scenarios: one folder each
    /// inside it
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Threads to use; default: all cores. Results do not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// How the summary is printed
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// Write every chart as SVG too
    #[arg(long)]
    svg: bool,
    /// Print nothing but errors
    #[arg(short, long)]
    quiet: bool,
    /// Show no progress
    #[arg(long)]
    no_progress: bool,
}

/// Runs every scenario in turn. All are read before the first is run.
pub fn run(args: &RunArgs, out: &mut dyn Write) -> anyhow::Result<()> {
    let scenarios = load_all(&args.scenarios, &args.common.sets())?;
    let targets = targets(args, &scenarios)?;
    let threads = args
        .threads
        .map(usize::from)
        .or_else(|| std::thread::available_parallelism().ok().map(Into::into));
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(1))
        .build()?;
    let watch = watch_for_interrupt()?;
    for (scenario, target) in scenarios.iter().zip(&targets) {
        report::check_target(target)?;
        let (started, clock) = (SystemTime::now(), Instant::now());
        let samples = sample(scenario)?;
        let warmup_ns = scenario
            .warmup_ns
            .unwrap_or_else(|| simulate::default_warmup(scenario, &samples));
        let expected = load::estimate(scenario, &samples, warmup_ns, pool.current_num_threads());
        if let Some(refusal) = load::refusal(&expected, load::available_bytes()) {
            return Err(BadInput(refusal).into());
        }
        let prepared = Prepared::new(scenario, warmup_ns)?;
        let shown = !args.quiet && !args.no_progress;
        let total_ns = (prepared.plan.window.1).saturating_mul(u64::from(scenario.replications));
        let result = progress::with_progress(shown, &scenario.name, total_ns, &watch, || {
            pool.install(|| simulate::run(scenario, &prepared, &watch))
        });
        let mut result = result?;
        let mut warnings = scenario.warnings.clone();
        warnings.extend(short_warmup(scenario, &samples, warmup_ns));
        warnings.append(&mut result.warnings);
        result.warnings = warnings;
        if !args.quiet {
            for warning in &result.warnings {
                writeln!(std::io::stderr(), "warning: {warning}")?;
            }
        }
        let meta = RunMeta {
            command: std::env::args().collect(),
            started,
            threads: pool.current_num_threads(),
            wall_ns: u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX),
        };
        let options = ReportOptions {
            svg: args.svg,
            ..ReportOptions::default()
        };
        let files =
            pool.install(|| report::write_run(scenario, &result, &meta, target, &options))?;
        if watch.cancel.load(Ordering::Relaxed) {
            return Err(SimulateError::Cancelled.into());
        }
        if !args.quiet {
            let format = match args.format {
                Format::Table => report::Format::Table,
                Format::Json => report::Format::Json,
                Format::Csv => report::Format::Csv,
            };
            write!(out, "{}", report::summary_table(scenario, &result, format))?;
            if args.format == Format::Table {
                writeln!(out, "{}", report::written_line(target, &files))?;
            }
        }
    }
    Ok(())
}

/// Reads all scenarios; the errors of all files are reported together.
fn load_all(paths: &[PathBuf], sets: &[String]) -> anyhow::Result<Vec<Scenario>> {
    let mut scenarios = Vec::new();
    let mut errors = Vec::new();
    for path in paths {
        match scenario::load(path, sets) {
            Ok(scenario) => scenarios.push(scenario),
            Err(error) => errors.push(error.to_string().trim_end().to_owned()),
        }
    }
    if errors.is_empty() {
        Ok(scenarios)
    } else {
        Err(BadInput(errors.join("\n\n")).into())
    }
}

/// Where each scenario's results go.
fn targets(args: &RunArgs, scenarios: &[Scenario]) -> anyhow::Result<Vec<PathBuf>> {
    let targets: Vec<PathBuf> = scenarios
        .iter()
        .map(|s| match &args.out {
            Some(out) if scenarios.len() == 1 => out.clone(),
            Some(out) => out.join(&s.name),
            None => Path::new("output").join(&s.name),
        })
        .collect();
    for (index, target) in targets.iter().enumerate() {
        if targets[..index].contains(target) {
            let name = &scenarios[index].name;
            return Err(BadInput(format!(
                "two scenarios are named `{name}`: the second would replace the first's results"
            ))
            .into());
        }
    }
    Ok(targets)
}

/// Walks some sessions alone to see how long they last.
pub fn sample(scenario: &Scenario) -> anyhow::Result<Vec<EntrySample>> {
    Ok(Prepared::new(scenario, 0)?.sample(simulate::SAMPLE))
}

/// A warning if the scenario's own warm-up is shorter than most sessions last.
pub fn short_warmup(
    scenario: &Scenario,
    samples: &[EntrySample],
    warmup_ns: u64,
) -> Option<String> {
    let needed = simulate::default_warmup(scenario, samples);
    (scenario.warmup_ns.is_some() && warmup_ns < needed).then(|| {
        format!(
            "the warm-up of {} is shorter than sessions last (up to {}): the window starts before the fleet is full",
            hours(warmup_ns),
            hours(needed)
        )
    })
}

fn hours(ns: u64) -> String {
    format!("{:.1} h", ns as f64 / 3.6e12)
}

/// The first Ctrl-C stops the run between two slices of time; a second one ends the process.
fn watch_for_interrupt() -> anyhow::Result<Arc<Watch>> {
    let watch = Arc::new(Watch::default());
    let handle = Arc::clone(&watch);
    ctrlc::set_handler(move || {
        if handle.cancel.swap(true, Ordering::Relaxed) {
            report::abandon_writes();
            std::process::exit(i32::from(super::Exit::Interrupted as u8));
        }
        if std::io::stderr().is_terminal() {
            // A terminal that has gone away is no reason not to stop.
            let _ = writeln!(
                std::io::stderr(),
                "\nstopping; earlier results stay as they are"
            );
        }
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(watch)
}
