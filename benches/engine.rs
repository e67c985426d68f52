//! How fast the engine is and how much memory it takes, on one thread.
//!
//! `cargo bench --bench engine` times `coding-agents.yaml` with 1, 3 and 6 memory models, runs
//! interleaved. `cargo bench --bench engine -- simple [--scale K]` runs `simple-agents.yaml` once
//! and prints one line of JSON for `compare.sh`.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::time::Instant;

use fleetmem::scenario::{self, Scenario};
use fleetmem::simulate::{Outcome, Prepared, Watch, replicate};
use fleetmem::workload::RunKey;

/// Runs per variant; the median is reported.
const RUNS: usize = 5;

/// The 3 models of the scenario first: 1, 3 or 6 of these are simulated.
const MODELS: [&str; 6] = [
    "all-mla-93",
    "kimi-k3",
    "deepseek-v4-pro",
    "gqa-93",
    "csa-hca-93",
    "qwen3-next-80b",
];

type Failure = Box<dyn std::error::Error>;

/// Counts bytes while [`COUNTING`] is set, so that timed runs pay one load and a branch.
struct Counter;

static COUNTING: AtomicBool = AtomicBool::new(false);
/// Bytes allocated since counting began; negative once older memory has been freed.
static LIVE: AtomicIsize = AtomicIsize::new(0);
static PEAK: AtomicIsize = AtomicIsize::new(0);

#[global_allocator]
static ALLOCATOR: Counter = Counter;

fn count(change: isize) {
    if COUNTING.load(Ordering::Relaxed) {
        let live = LIVE.fetch_add(change, Ordering::Relaxed) + change;
        PEAK.fetch_max(live, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed to the system's allocator unchanged; counting allocates nothing.
unsafe impl GlobalAlloc for Counter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // A move holds both copies for a moment.
        count(size as isize);
        let moved = unsafe { System.realloc(place, layout, size) };
        count(-(layout.size() as isize));
        moved
    }
}

/// Most bytes that `work` held at once beyond what was held before.
fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, usize) {
    LIVE.store(0, Ordering::Relaxed);
    PEAK.store(0, Ordering::Relaxed);
    COUNTING.store(true, Ordering::Relaxed);
    let out = work();
    COUNTING.store(false, Ordering::Relaxed);
    (out, PEAK.load(Ordering::Relaxed).max(0) as usize)
}

/// CPU time of this thread in seconds where Linux tells it, else `None`.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let ns: f64 = text.split_whitespace().next()?.parse().ok()?;
    Some(ns / 1e9)
}

/// Seconds that `work` took: CPU time if known (others use this machine too), else wall time.
fn seconds<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let (clock, before) = (Instant::now(), cpu_seconds());
    let out = work();
    let wall = clock.elapsed().as_secs_f64();
    let cpu = before.and_then(|b| Some(cpu_seconds()? - b));
    (out, cpu.unwrap_or(wall))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn load(file: &str, sets: &[String]) -> Result<Scenario, Failure> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("benches")
        .join(file);
    Ok(scenario::load(&path, sets)?)
}

fn prepare(scenario: &Scenario) -> Result<Prepared, Failure> {
    let warmup_ns = scenario
        .warmup_ns
        .ok_or("a benchmark fixes its own `warmup`")?;
    Ok(Prepared::new(scenario, warmup_ns)?)
}

fn simulate(prepared: &Prepared) -> Result<Outcome, Failure> {
    Ok(replicate(prepared, 0, &Watch::default())?)
}

struct Variant {
    models: usize,
    prepared: Prepared,
    outcome: Outcome,
    peak_bytes: usize,
    seconds: Vec<f64>,
}

fn engine() -> Result<(), Failure> {
    let mut variants = Vec::new();
    for models in [3, 1, 6] {
        let set = format!("models=[{}]", MODELS[..models].join(", "));
        let prepared = prepare(&load("coding-agents.yaml", &[set])?)?;
        // The first run warms up, and counts allocations.
        let (outcome, peak_bytes) = peak_bytes(|| simulate(&prepared));
        variants.push(Variant {
            models,
            prepared,
            outcome: outcome?,
            peak_bytes,
            seconds: Vec::new(),
        });
    }
    for _ in 0..RUNS {
        for variant in &mut variants {
            let (outcome, seconds) = seconds(|| simulate(&variant.prepared));
            let outcome = outcome?;
            if outcome.events != variant.outcome.events || outcome.rows != variant.outcome.rows {
                return Err("two runs of one scenario differ".into());
            }
            variant.seconds.push(seconds);
        }
    }
    let first = &variants[0].outcome;
    for other in &variants[1..] {
        // More models must not change what agents do, nor another model's bytes.
        if other.outcome.events != first.events
            || other.outcome.rows[0].byte_ns != first.rows[0].byte_ns
        {
            return Err("the number of models changes the simulation".into());
        }
    }
    println!("coding-agents.yaml, one replication, one thread, median of {RUNS} interleaved runs");
    println!(
        "{:>6} {:>12} {:>8} {:>8} {:>12} {:>9} {:>7} {:>10} {:>10} {:>10}",
        "models",
        "events",
        "s",
        "spread",
        "events/s",
        "ns/event",
        "ratio",
        "peak seqs",
        "peak sess",
        "peak MB"
    );
    let mut base = 0.0;
    for variant in &mut variants {
        let spread = {
            let most = variant.seconds.iter().copied().fold(0.0, f64::max);
            let least = variant
                .seconds
                .iter()
                .copied()
                .fold(f64::INFINITY, f64::min);
            most / least
        };
        let seconds = median(&mut variant.seconds);
        if base == 0.0 {
            base = seconds;
        }
        let outcome = &variant.outcome;
        let events = outcome.events as f64;
        let sequences = outcome.rows[0].peak_sequences;
        println!(
            "{:>6} {:>12} {:>8.3} {:>7.2}x {:>12.0} {:>9.1} {:>6.2}x {:>10} {:>10} {:>10.2}",
            variant.models,
            outcome.events,
            seconds,
            spread,
            events / seconds,
            seconds * 1e9 / events,
            seconds / base,
            sequences,
            outcome.peak_sessions,
            variant.peak_bytes as f64 / 1e6,
        );
    }
    marginal_bytes()
}

/// What one more live sequence takes of this machine's memory: two fleets, one ten times as large.
fn marginal_bytes() -> Result<(), Failure> {
    let sets = |scale: u64| {
        [
            (
                "coding-agents.yaml",
                vec![
                    "measure=1h".to_owned(),
                    format!("workload.developers.users={}", 1500 * scale),
                    format!("workload.batch.rate={}/h", 350 * scale),
                ],
            ),
            (
                "simple-agents.yaml",
                vec![format!("workload.workers.rate={}/h", 9000 * scale)],
            ),
        ]
    };
    for (small, large) in sets(1).into_iter().zip(sets(10)) {
        let measure = |sets: &[String]| -> Result<(f64, f64, f64), Failure> {
            let prepared = prepare(&load(small.0, sets)?)?;
            let (outcome, bytes) = peak_bytes(|| simulate(&prepared));
            let outcome = outcome?;
            let sequences = outcome.rows[0].peak_sequences as f64;
            Ok((sequences, outcome.peak_sessions as f64, bytes as f64))
        };
        let (few, many) = (measure(&small.1)?, measure(&large.1)?);
        let more = many.2 - few.2;
        println!(
            "{}: from {} to {} live sequences, {:.0} bytes for each; {:.0} for each session alive at once",
            small.0,
            few.0,
            many.0,
            more / (many.0 - few.0),
            more / (many.1 - few.1),
        );
    }
    Ok(())
}

/// Arrivals of the whole run, warm-up included.
fn arrivals(prepared: &Prepared) -> usize {
    let entries = prepared.entries.iter();
    let counts = entries.map(|entry| {
        let key = RunKey::entry(prepared.seed, 0, &entry.name);
        prepared.arrivals(entry, key).count()
    });
    counts.sum()
}

fn simple(scale: u64) -> Result<(), Failure> {
    let rate = 9000_u64.checked_mul(scale).ok_or("--scale is too large")?;
    let set = format!("workload.workers.rate={rate}/h");
    let prepared = prepare(&load("simple-agents.yaml", &[set])?)?;
    let (outcome, seconds) = seconds(|| simulate(&prepared));
    let outcome = outcome?;
    let mean: Vec<f64> = outcome
        .rows
        .iter()
        .map(|r| r.byte_ns as f64 / prepared.measure_ns as f64)
        .collect();
    let peak: Vec<u64> = outcome.rows.iter().map(|r| r.peak_bytes).collect();
    let line = serde_json::json!({
        "program": "fleetmem",
        "seconds": seconds,
        "events": outcome.events,
        "sessions": arrivals(&prepared),
        "mean_bytes": mean,
        "peak_bytes": peak,
        "peak_sequences": outcome.rows[0].peak_sequences,
    });
    println!("{line}");
    Ok(())
}

/// The argument after `--scale`, default 1.
fn scale(arguments: &[String]) -> Result<u64, Failure> {
    let Some(at) = arguments.iter().position(|a| a == "--scale") else {
        return Ok(1);
    };
    let value = arguments.get(at + 1).and_then(|v| v.parse().ok());
    Ok(value
        .filter(|v| *v > 0)
        .ok_or("--scale wants a whole number above 0")?)
}

fn main() -> ExitCode {
    // Cargo adds `--bench`; `cargo test --benches` does not, and must not take a minute.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = if arguments.iter().any(|a| a == "simple") {
        scale(&arguments).and_then(simple)
    } else if arguments.iter().any(|a| a == "--bench") {
        engine()
    } else {
        println!("run with `cargo bench --bench engine`");
        Ok(())
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
