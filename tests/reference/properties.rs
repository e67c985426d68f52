//! What must be true of the rows of any run, whoever simulated it. Each takes the simulator.

use fleetmem::observe::results::RowReplication;
use fleetmem::scenario::{Scenario, SystemPrompt};

use super::fleets::S;
use super::listed_arrivals;

/// Gives one row per model for replication 0 of a scenario with listed arrivals, no warm-up, and
/// bins of this many ns.
pub type Simulator = fn(&Scenario, u64) -> Vec<RowReplication>;

/// The same, for these arrivals, in one bin.
pub type SimulatorOfArrivals = fn(&Scenario, &[Vec<(u64, u64)>]) -> Vec<RowReplication>;

/// [`super::simulate`] as a [`Simulator`].
pub fn reference(scenario: &Scenario, bin_ns: u64) -> Vec<RowReplication> {
    super::simulate(scenario, 0, 0, &listed_arrivals(scenario, 0), bin_ns)
}

fn sum(parts: &[u128]) -> u128 {
    parts.iter().sum()
}

/// Each split adds up, in the whole and in every bin; the bins add up to the whole; extremes and
/// quantiles are in order.
pub fn splits_add_up(scenario: &Scenario, rows: &[RowReplication], bin_ns: u64) {
    for row in rows {
        let unshared = row.byte_ns - row.shared_byte_ns;
        assert_eq!(sum(&row.kind_byte_ns), unshared, "kinds");
        assert_eq!(sum(&row.owner_byte_ns), unshared, "owners");
        assert_eq!(sum(&row.activity_byte_ns), unshared, "activities");
        assert_eq!(
            row.agents.iter().map(|a| a.byte_ns).sum::<u128>(),
            unshared,
            "agents"
        );
        for bin in &row.bins {
            let unshared = bin.total - bin.shared;
            assert_eq!(sum(&bin.kind), unshared, "kinds of a bin");
            assert_eq!(sum(&bin.owner), unshared, "owners of a bin");
            assert_eq!(sum(&bin.activity), unshared, "activities of a bin");
        }
        assert_eq!(
            row.bins.iter().map(|b| b.total).sum::<u128>(),
            row.byte_ns,
            "bins"
        );
        assert_eq!(
            row.bins.iter().map(|b| b.shared).sum::<u128>(),
            row.shared_byte_ns
        );
        for (i, bin) in row.bins.iter().enumerate() {
            let start = i as u64 * bin_ns;
            let ns = u128::from(bin_ns.min(scenario.measure_ns - start));
            assert!(
                u128::from(bin.min) * ns <= bin.total,
                "the least is at most the average"
            );
            assert!(
                bin.total <= u128::from(bin.max) * ns,
                "the average is at most the most"
            );
        }
        assert_eq!(row.bins.iter().map(|b| b.max).max(), Some(row.peak_bytes));
        let first = row.bins.iter().position(|b| b.max == row.peak_bytes);
        if row.peak_bytes > 0 {
            assert_eq!(
                first,
                Some((row.peak_ns / bin_ns) as usize),
                "the first peak's bin"
            );
        }
        assert!(row.quantile_bytes.is_sorted() && row.session_peak_bytes.is_sorted());
        assert!(row.quantile_bytes[2] <= row.peak_bytes);
        assert!(row.running_ns <= row.sequence_ns);
        assert!(row.counts.tokens_recomputed <= row.counts.tokens_prefilled);
        assert!(row.counts.sequences_started <= row.counts.steps);
    }
    // The first model of the random scenarios holds 107,136 bytes for each token and no more.
    assert_eq!(rows[0].token_ns * 107_136, rows[0].byte_ns);
    assert_eq!(sum(&rows[0].kind_byte_ns[1..]), 0);
    let (first, rest) = rows[..scenario.models.len()].split_first().expect("models");
    for row in rest {
        assert_eq!(
            (row.token_ns, row.sequence_ns, row.running_ns),
            (first.token_ns, first.sequence_ns, first.running_ns),
            "one timeline under every model"
        );
    }
}

/// With finite lifetimes and a window that outlasts every session, all that was allocated is
/// released.
pub fn all_is_released(scenario: &Scenario, simulate: Simulator) {
    let mut scenario = scenario.clone();
    for agent in &mut scenario.agents {
        let ttl = &mut agent.ttl;
        for ttl in [
            &mut ttl.tool,
            &mut ttl.blocked,
            &mut ttl.user,
            &mut ttl.finished,
        ] {
            *ttl = Some(ttl.unwrap_or(S));
        }
    }
    scenario.measure_ns = 10_000_000 * S;
    for row in simulate(&scenario, 1_000_000 * S) {
        let last = row.bins.last().expect("ten bins");
        assert_eq!((last.total, last.max), (0, 0), "nothing is left");
    }
}

/// Keeping the latest N snapshots never holds more than keeping all.
pub fn keeping_some_holds_no_more(scenario: &Scenario, simulate: Simulator, bin_ns: u64) {
    let mut all = scenario.clone();
    all.agents
        .iter_mut()
        .for_each(|agent| agent.snapshots.keep = None);
    for (some, all) in simulate(scenario, bin_ns)
        .iter()
        .zip(simulate(&all, bin_ns))
    {
        assert!(some.byte_ns <= all.byte_ns && some.peak_bytes <= all.peak_bytes);
        for (some, all) in some.bins.iter().zip(all.bins) {
            assert!(some.total <= all.total && some.max <= all.max && some.min <= all.min);
            assert_eq!((some.kind[0], some.kind[1]), (all.kind[0], all.kind[1]));
        }
    }
}

/// With lifetimes that never end, nothing is lost; only rewinds of checkpointed models recompute.
pub fn never_released_is_never_recomputed(scenario: &Scenario, simulate: Simulator) {
    let mut scenario = scenario.clone();
    for agent in &mut scenario.agents {
        let ttl = &mut agent.ttl;
        (ttl.tool, ttl.blocked, ttl.user) = (None, None, None);
    }
    let models = scenario.models.iter().chain(&scenario.fixed_models);
    for (row, model) in simulate(&scenario, 1_000 * S).iter().zip(models) {
        if !model.footprint.is_checkpointed() {
            assert_eq!(row.counts.tokens_recomputed, 0);
        }
    }
    scenario
        .agents
        .iter_mut()
        .for_each(|agent| agent.rewind = None);
    for row in simulate(&scenario, 1_000 * S) {
        assert_eq!(row.counts.tokens_recomputed, 0);
    }
}

/// Sessions do not interact, and a shared prompt is held once: what is not shared is the sum of
/// the sessions simulated alone; what is shared is no more than every prompt and variant once.
pub fn sessions_add_up(scenario: &Scenario, simulate_with: SimulatorOfArrivals) {
    let arrivals = listed_arrivals(scenario, 0);
    let together = simulate_with(scenario, &arrivals);
    let mut apart = vec![(0, 0, 0); together.len()];
    for (entry, times) in arrivals.iter().enumerate() {
        for &time in times {
            let mut one = vec![Vec::new(); arrivals.len()];
            one[entry].push(time);
            for (sum, row) in apart.iter_mut().zip(simulate_with(scenario, &one)) {
                sum.0 += row.byte_ns - row.shared_byte_ns;
                sum.1 += row.shared_byte_ns;
                sum.2 += row.counts.steps;
            }
        }
    }
    let prompts = scenario
        .agents
        .iter()
        .map(|agent| match agent.system_prompt {
            SystemPrompt::Shared { tokens, variants } => (tokens, u128::from(variants)),
            SystemPrompt::Own(_) => (0, 0),
        });
    let prompts: Vec<(u64, u128)> = prompts.collect();
    let models = scenario.models.iter().chain(&scenario.fixed_models);
    for ((row, apart), model) in together.iter().zip(apart).zip(models) {
        assert_eq!(row.byte_ns - row.shared_byte_ns, apart.0);
        assert!(row.shared_byte_ns <= apart.1);
        assert_eq!(row.counts.steps, apart.2);
        let footprint = &model.footprint;
        let bytes = |tokens: u64| {
            let entries = footprint
                .entries
                .iter()
                .map(|e| e.bytes * (tokens / e.ratio));
            u128::from(entries.sum::<u64>() + footprint.snapshot_bytes(tokens))
        };
        let most: u128 = prompts
            .iter()
            .map(|&(tokens, variants)| variants * bytes(tokens))
            .sum();
        assert!(row.shared_byte_ns <= most * u128::from(scenario.measure_ns));
    }
}
