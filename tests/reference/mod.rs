//! A brute-force reference of a demand run: what the engine must equal, to the integer.
//!
//! Here live: [`context`] (what one sequence holds, every token range by identity), [`run`] (one
//! run of an agent), [`timeline`] (the event rules, one global sorted list of events, no bytes),
//! [`measure`] (bytes from the held sets, recomputed from nothing at every instant), [`fleets`] (the
//! fixed fleets with known values), [`worked`] (single rules worked by hand), [`strategies`] (random
//! small scenarios) and [`properties`] (what is true of any run). Written from the event rules
//! alone, as simply as possible: nothing here may use `fleetmem::simulate` or the accumulators of
//! `fleetmem::observe`, and nothing here may be clever.

pub mod context;
pub mod fleets;
pub mod measure;
pub mod properties;
pub mod run;
pub mod strategies;
pub mod timeline;
pub mod worked;

use fleetmem::observe::results::RowReplication;
use fleetmem::scenario::Scenario;

use measure::Meter;
use timeline::Timeline;

/// Simulates one replication. `arrivals` has, for each workload entry, (session number, ns since
/// the start of the warm-up); `bin_ns` is the width of a timeline bin. Gives one row per model:
/// the compared ones, then the fixed ones. Quantiles are exact.
pub fn simulate(
    scenario: &Scenario,
    warmup_ns: u64,
    replication: u32,
    arrivals: &[Vec<(u64, u64)>],
    bin_ns: u64,
) -> Vec<RowReplication> {
    let end_ns = warmup_ns + scenario.measure_ns;
    let mut timeline = Timeline::new(scenario, warmup_ns, replication, arrivals);
    let mut meter = Meter::new(scenario, warmup_ns, bin_ns);
    while let Some(now) = timeline.next_instant() {
        if now >= end_ns {
            break;
        }
        timeline.run_instant(now);
        meter.observe(now, &timeline);
    }
    meter.finish(&timeline)
}

/// Arrivals of a scenario whose entries are all `at: [...]`, in the form [`simulate`] takes.
pub fn listed_arrivals(scenario: &Scenario, warmup_ns: u64) -> Vec<Vec<(u64, u64)>> {
    let times = |entry: &fleetmem::scenario::WorkloadEntry| match &entry.arrivals {
        fleetmem::scenario::Arrivals::At(times) => times.clone(),
        other => panic!("the reference takes listed arrivals only, not {other:?}"),
    };
    let numbered = |times: Vec<u64>| {
        (0..)
            .zip(times.into_iter().map(|t| t + warmup_ns))
            .collect()
    };
    scenario
        .workload
        .iter()
        .map(|entry| numbered(times(entry)))
        .collect()
}
