//! What all replications of a run share, worked out once.

use super::SimulateError;
use super::world::World;
use crate::memory::MemoryModel;
use crate::observe::{Basis, Books, Plan, RowPlan, SharedPrompt};
use crate::scenario::{Agent, Scenario, SpawnStart, SystemPrompt, WorkloadEntry};
use crate::workload::arrivals::ArrivalStream;
use crate::workload::{RunKey, Template};

/// Most bins of a timeline: more than a chart's pixels can show.
const MOST_BINS: u64 = 720;

/// About as many bins the warm-up has at most.
const MOST_WARMUP_BINS: u64 = 4096;

/// A scenario ready to simulate.
#[derive(Debug)]
pub struct Prepared {
    pub seed: u64,
    pub entries: Vec<WorkloadEntry>,
    pub templates: Vec<Template>,
    pub plan: Plan,
    /// Simulated time before the warm-up starts, so that time 0 falls on a bin's edge.
    pub lead_ns: u64,
    /// Length of a bin of the warm-up: a multiple of the window's bins.
    pub warmup_bin_ns: u64,
    pub warmup_ns: u64,
    pub measure_ns: u64,
    prompt_base: Vec<u32>,
    track: Vec<bool>,
    /// Numbers of slices a bin may be cut into, ascending.
    cuts: Vec<u64>,
}

impl Prepared {
    /// Prepares a scenario with a warm-up of `warmup_ns`.
    ///
    /// # Errors
    /// If the models together need more features than the engine tracks.
    pub fn new(scenario: &Scenario, warmup_ns: u64) -> Result<Prepared, SimulateError> {
        let models: Vec<&MemoryModel> = scenario
            .models
            .iter()
            .chain(&scenario.fixed_models)
            .collect();
        let footprints = models.iter().map(|m| &m.footprint);
        let basis = Basis::new(footprints.clone()).ok_or(SimulateError::TooManyShapes)?;
        let compared = scenario.models.len();
        let fixed = (compared..models.len()).map(|row| row..row + 1);
        let scope_rows: Vec<_> = std::iter::once(0..compared).chain(fixed).collect();
        let agent_scope = scenario
            .agents
            .iter()
            .map(|a| a.fixed_model.map_or(0, |m| m + 1))
            .collect::<Vec<_>>();
        let rows = footprints.map(|f| RowPlan {
            weights: basis.coefficients(f),
            checkpointed: f.is_checkpointed(),
        });
        let mut prompts = Vec::new();
        let mut prompt_base = Vec::new();
        for (agent, scope) in scenario.agents.iter().zip(&agent_scope) {
            prompt_base.push(prompts.len() as u32);
            if let SystemPrompt::Shared { tokens, variants } = agent.system_prompt {
                let models = &models[scope_rows[*scope].clone()];
                let bytes = models
                    .iter()
                    .map(|m| SharedPrompt::bytes_of(&m.footprint, tokens))
                    .collect();
                let prompt = SharedPrompt {
                    tokens: tokens as u32,
                    scope: *scope,
                    bytes,
                };
                prompts.extend(std::iter::repeat_n(prompt, variants as usize));
            }
        }
        let bin_ns = bin_width(scenario.measure_ns);
        // A warm-up far longer than the window is not cut as finely: nobody sees its bins.
        let warmup_bin_ns = bin_ns * (warmup_ns / bin_ns / MOST_WARMUP_BINS).max(1);
        let origin = warmup_ns.div_ceil(warmup_bin_ns) * warmup_bin_ns;
        Ok(Prepared {
            seed: scenario.seed,
            entries: scenario.workload.clone(),
            templates: scenario.agents.iter().map(Template::new).collect(),
            plan: Plan {
                rows: rows.collect(),
                basis,
                agent_scope,
                scope_groups: Plan::groups(&scope_rows),
                scope_rows,
                prompts,
                window: (origin, origin + scenario.measure_ns),
                bin_ns,
            },
            lead_ns: origin - warmup_ns,
            warmup_bin_ns,
            warmup_ns,
            measure_ns: scenario.measure_ns,
            prompt_base,
            track: scenario
                .agents
                .iter()
                .map(|a| needs_positions(a, &scenario.agents))
                .collect(),
            cuts: cuts(bin_ns),
        })
    }

    /// The world of one replication, posting to `books`.
    pub fn world<'p, 'b, const N: usize>(
        &'p self,
        books: &'b mut Books<'p, N>,
    ) -> World<'p, 'b, N> {
        World {
            templates: &self.templates,
            basis: &self.plan.basis,
            prompt_base: &self.prompt_base,
            track: &self.track,
            books,
            taken: 0,
            events: 0,
            cut_prompts: 0,
            overflow: false,
            handovers: Vec::new(),
        }
    }

    /// Length of the bin that starts at `at`, simulated ns.
    pub fn bin_at(&self, at: u64) -> u64 {
        if at < self.plan.window.0 {
            self.warmup_bin_ns
        } else {
            self.plan.bin_ns
        }
    }

    /// The arrivals of an entry: session number and ns since the start of the warm-up.
    pub fn arrivals(&self, entry: &WorkloadEntry, key: RunKey) -> ArrivalStream {
        ArrivalStream::new(entry, key, self.warmup_ns, self.measure_ns)
    }

    /// A better number of slices per bin, if the busiest slice of `now` is far off `target`.
    pub fn better_slices(&self, now: u64, busiest: usize, target: usize) -> Option<u64> {
        if busiest <= target * 2 && (busiest >= target / 8 || now == 1) {
            return None;
        }
        let wanted = (now as u128 * busiest as u128 / target as u128).max(1) as u64;
        let best = self
            .cuts
            .iter()
            .copied()
            .take_while(|c| *c <= wanted)
            .last()
            .unwrap_or(1);
        (best != now).then_some(best)
    }
}

/// Whether every snapshot position of an agent's sequences is needed: it drops old ones, rewinds,
/// or shares them by forking.
fn needs_positions(agent: &Agent, agents: &[Agent]) -> bool {
    let forks = |a: &Agent| a.spawns.iter().any(|s| s.start == SpawnStart::Fork);
    let forked = agents.iter().any(|a| {
        let mut forking = a.spawns.iter().filter(|s| s.start == SpawnStart::Fork);
        forking.any(|s| agents[s.agent].name == agent.name)
    });
    agent.snapshots.keep.is_some() || agent.rewind.is_some() || forks(agent) || forked
}

/// A round bin width that gives at most [`MOST_BINS`] bins.
fn bin_width(measure_ns: u64) -> u64 {
    const MS: u64 = 1_000_000;
    const S: u64 = 1000 * MS;
    const MINUTE: u64 = 60 * S;
    const HOUR: u64 = 60 * MINUTE;
    let round = [
        MS,
        2 * MS,
        5 * MS,
        10 * MS,
        20 * MS,
        50 * MS,
        100 * MS,
        200 * MS,
        500 * MS,
        S,
        2 * S,
        5 * S,
        10 * S,
        15 * S,
        30 * S,
        MINUTE,
        2 * MINUTE,
        5 * MINUTE,
        10 * MINUTE,
        15 * MINUTE,
        30 * MINUTE,
        HOUR,
        2 * HOUR,
        3 * HOUR,
        6 * HOUR,
        12 * HOUR,
        24 * HOUR,
    ];
    let fits = |w: &u64| measure_ns.div_ceil(*w) <= MOST_BINS;
    let day = 24 * HOUR;
    round
        .into_iter()
        .find(fits)
        .unwrap_or_else(|| measure_ns.div_ceil(MOST_BINS).div_ceil(day) * day)
}

/// Divisors of a bin's width that have only the factors 2, 3 and 5, up to a million.
fn cuts(bin_ns: u64) -> Vec<u64> {
    let mut out = vec![1];
    for factor in [2, 3, 5] {
        let mut at = 0;
        while at < out.len() {
            let next = out[at] * factor;
            if next <= 1_000_000 && bin_ns.is_multiple_of(next) && !out.contains(&next) {
                out.push(next);
            }
            at += 1;
        }
    }
    out.sort_unstable();
    out
}
