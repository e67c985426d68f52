//! Whether a scenario's expected load fits this machine, before it is run.

use crate::scenario::{Arrivals, Scenario};
use crate::simulate::EntrySample;
use crate::workload::arrivals;

/// What a run is expected to take.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Live sessions in the busiest hour, one replication.
    pub live_sessions: f64,
    /// Sessions of all replications, warm-up included.
    pub sessions: f64,
    /// Events of all replications, warm-up included.
    pub events: f64,
    /// Bytes of this machine's memory, `threads` replications at once.
    pub memory_bytes: f64,
    /// The entry that takes most of it.
    pub heaviest: String,
}

/// Estimates the load of a scenario from sampled sessions.
pub fn estimate(
    scenario: &Scenario,
    samples: &[EntrySample],
    warmup_ns: u64,
    threads: usize,
) -> Load {
    let at_once = f64::from(scenario.replications).min(threads as f64);
    let span_s = (warmup_ns + scenario.measure_ns) as f64 / 1e9;
    let mut load = Load::default();
    let mut most = -1.0;
    for (entry, sample) in scenario.workload.iter().zip(samples) {
        // A session cannot be alive for longer than the run lasts.
        let length_s = (sample.mean_ns() / 1e9).min(span_s);
        let (sessions, live) = match &entry.arrivals {
            Arrivals::At(at) => (at.len() as f64, at.len() as f64),
            renewal @ Arrivals::Renewal { .. } => {
                let mean = arrivals::mean_rate_per_s(renewal);
                (mean * span_s, arrivals::peak_rate_per_s(renewal) * length_s)
            }
        };
        let bytes = live * sample.mean_footprint * at_once;
        load.live_sessions += live;
        load.sessions += sessions * f64::from(scenario.replications);
        load.events += sessions * sample.mean_events * f64::from(scenario.replications);
        load.memory_bytes += bytes;
        if bytes > most {
            most = bytes;
            load.heaviest.clone_from(&entry.name);
        }
    }
    load
}

/// Bytes of memory that this machine can still give, if it says so.
pub fn available_bytes() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024.0)
}

/// Why the load does not fit, if it does not.
pub fn refusal(load: &Load, available: Option<f64>) -> Option<String> {
    let available = available?;
    // The rest of the program and the allocator want their share.
    if load.memory_bytes <= available * 0.8 {
        return None;
    }
    Some(format!(
        "workload.{}: the load does not fit this machine: about {:.3e} sessions alive at once would take about \
         {:.1} GB of the {:.1} GB that are free\n  help: lower the rate, shorten the sessions, or simulate a tenth \
         of the fleet and scale its memory",
        load.heaviest,
        load.live_sessions,
        load.memory_bytes / 1e9,
        available / 1e9,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_beyond_memory_is_refused_with_the_estimate() {
        let load = Load {
            live_sessions: 2e9,
            memory_bytes: 6e11,
            heaviest: "batch".into(),
            ..Load::default()
        };
        let text = refusal(&load, Some(24e9)).unwrap_or_default();
        assert!(
            text.contains("workload.batch")
                && text.contains("600.0 GB")
                && text.contains("24.0 GB"),
            "{text}"
        );
        assert_eq!(refusal(&load, Some(1e12)), None);
        assert_eq!(refusal(&load, None), None);
    }
}
