//! The books of one replication: where the simulation posts, and what it adds up to.

use super::basis::{Basis, Vector};
use super::category::{ACTIVITIES, Activity, ROLES, Role, category};
use super::extremes::{Extremes, NO_BYTES, Record};
use super::ledger::Ledger;
use super::results::{AgentRow, Bin, Counts, RowReplication};
use super::sessions::SessionPeaks;
use crate::memory::Footprint;

/// Rows that are worked on together.
pub const LANES: usize = 4;

/// Bytes of a group of rows.
pub type Lanes = [i64; LANES];

/// What all replications of a run share: which rows there are and how they weigh features.
#[derive(Clone, Debug)]
pub struct Plan {
    pub basis: Basis,
    /// Which scope each agent belongs to: 0 for the compared models, then one per fixed model.
    pub agent_scope: Vec<usize>,
    /// Rows of each scope, as indices into `rows`.
    pub scope_rows: Vec<std::ops::Range<usize>>,
    /// Groups of a few rows of each scope: a scope's rows are worked on in such groups, so
    /// that the loops have a fixed width.
    pub scope_groups: Vec<std::ops::Range<usize>>,
    /// All rows: compared models, then fixed ones.
    pub rows: Vec<RowPlan>,
    /// Shared prompts, one per agent and variant.
    pub prompts: Vec<SharedPrompt>,
    /// Time 0 of the measured window and its end, in simulated ns.
    pub window: (u64, u64),
    /// Width of a bin, ns.
    pub bin_ns: u64,
}

impl Plan {
    /// Groups of rows for these scopes.
    pub fn groups(scope_rows: &[std::ops::Range<usize>]) -> Vec<std::ops::Range<usize>> {
        let mut first = 0;
        let group = |rows: &std::ops::Range<usize>| {
            let start = first;
            first += rows.len().div_ceil(LANES);
            start..first
        };
        scope_rows.iter().map(group).collect()
    }
}

/// How one row weighs the features.
#[derive(Clone, Debug)]
pub struct RowPlan {
    /// Bytes per feature.
    pub weights: Vec<i64>,
    /// Whether the model has state to checkpoint.
    pub checkpointed: bool,
}

/// A shared system prompt in one variant.
#[derive(Clone, Debug)]
pub struct SharedPrompt {
    pub tokens: u32,
    pub scope: usize,
    /// Bytes per row of the scope: whole entries, and one snapshot at its end.
    pub bytes: Vec<i64>,
}

impl SharedPrompt {
    /// Bytes of a shared prompt of `tokens` tokens under a model (rule 13).
    pub fn bytes_of(footprint: &Footprint, tokens: u64) -> i64 {
        let entries: u64 = footprint
            .entries
            .iter()
            .map(|e| e.bytes * (tokens / e.ratio))
            .sum();
        (entries + footprint.snapshot_bytes(tokens)) as i64
    }
}

/// Event counts of one agent; what differs by model is kept apart.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgentCounts {
    pub counts: Counts,
    /// Tokens prefilled again after a rewind by models with checkpointed state.
    pub gap: u64,
}

/// A change of what one run holds, at an instant.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a, const N: usize> {
    pub at: u64,
    /// The session's slot.
    pub session: u32,
    pub agent: u16,
    pub role: Role,
    pub from: Activity,
    pub to: Activity,
    pub before: &'a Vector<N>,
    pub after: &'a Vector<N>,
    /// Running sequences gained or lost.
    pub running: i32,
}

/// The books of one replication.
#[derive(Debug)]
pub struct Books<'p, const N: usize> {
    plan: &'p Plan,
    /// Bytes per feature, for each group of rows.
    weights: Vec<[Lanes; N]>,
    ledger: Ledger<N>,
    extremes: Extremes,
    records: Vec<Record>,
    changes: Vec<Lanes>,
    /// [before the window, inside it] per agent.
    counts: [Vec<AgentCounts>; 2],
    sessions: SessionPeaks,
    bin_start: u64,
    bin_end: u64,
    out: Vec<RowReplication>,
    agent_byte_ns: Vec<u128>,
    silent: bool,
}

impl<'p, const N: usize> Books<'p, N> {
    /// Empty books.
    pub fn new(plan: &'p Plan) -> Books<'p, N> {
        let agents = plan.agent_scope.len();
        Books {
            plan,
            weights: weights(plan),
            ledger: Ledger::new(agents * ROLES * ACTIVITIES),
            extremes: Extremes::new(plan),
            records: Vec::new(),
            changes: Vec::new(),
            counts: [
                vec![AgentCounts::default(); agents],
                vec![AgentCounts::default(); agents],
            ],
            sessions: SessionPeaks::new(plan),
            bin_start: 0,
            bin_end: 0,
            out: vec![RowReplication::default(); plan.rows.len()],
            agent_byte_ns: vec![0; agents * plan.rows.len()],
            silent: false,
        }
    }

    /// Books that only count: for walking sessions without asking what they hold.
    pub fn silent(plan: &'p Plan) -> Books<'p, N> {
        Books {
            silent: true,
            ..Books::new(plan)
        }
    }

    /// The plan these books follow.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// A session that arrives at `at` takes a slot.
    pub fn open_session(&mut self, slot: u32, at: u64) {
        self.sessions.open(slot, at);
    }

    /// A session is over: nothing of it is held, and nothing will be.
    pub fn close_session(&mut self, slot: u32) {
        if !self.silent {
            self.sessions.close(slot, self.plan);
        }
    }

    /// Starts the bin `start..end`; bins of the warm-up are not reported.
    pub fn open_bin(&mut self, start: u64, end: u64) {
        (self.bin_start, self.bin_end) = (start, end);
        self.ledger.open_bin(start, end);
        self.extremes
            .open_bin(start, end, start >= self.plan.window.0);
    }

    /// Counters of an agent for something that happens at `at`.
    #[inline]
    pub fn counts(&mut self, agent: u16, at: u64) -> &mut AgentCounts {
        &mut self.counts[usize::from(at >= self.plan.window.0)][usize::from(agent)]
    }

    /// Posts a change.
    #[inline]
    pub fn post(&mut self, change: Change<'_, N>) {
        if self.silent {
            return;
        }
        let from = category(change.agent, change.role, change.from);
        let to = category(change.agent, change.role, change.to);
        let mut delta = [0; N];
        let mut any = 0;
        let pairs = change.after.iter().zip(change.before);
        for (delta, (after, before)) in delta.iter_mut().zip(pairs) {
            *delta = after - before;
            any |= *delta;
        }
        if from == to {
            self.ledger.add(to, change.at, &delta, 1);
        } else {
            self.ledger.add(from, change.at, change.before, -1);
            self.ledger.add(to, change.at, change.after, 1);
        }
        if any != 0 {
            self.record(
                change.at,
                change.session,
                change.agent,
                &delta,
                change.running,
            );
        } else if change.running != 0 {
            let Change {
                at, agent, running, ..
            } = change;
            self.records.push(Record {
                at,
                first: NO_BYTES,
                agent,
                sequences: 0,
                running,
                prompt: 0,
            });
        }
    }

    /// Posts that a running sequence grew by `delta`.
    #[inline]
    pub fn post_growth(
        &mut self,
        at: u64,
        session: u32,
        agent: u16,
        role: Role,
        delta: &Vector<N>,
    ) {
        if self.silent {
            return;
        }
        self.ledger
            .add(category(agent, role, Activity::Running), at, delta, 1);
        self.record(at, session, agent, delta, 0);
    }

    #[inline]
    fn record(&mut self, at: u64, session: u32, agent: u16, delta: &Vector<N>, running: i32) {
        let groups = self.plan.scope_groups[self.plan.agent_scope[usize::from(agent)]].clone();
        let first = self.changes.len() as u32;
        let sequences = delta[self.plan.basis.sequences()] as i32;
        self.records.push(Record {
            at,
            first,
            agent,
            sequences,
            running,
            prompt: 0,
        });
        for group in groups {
            let weights = &self.weights[group];
            let mut bytes = [0; LANES];
            for feature in 0..N {
                // Most changes touch few features.
                if delta[feature] != 0 {
                    for lane in 0..LANES {
                        bytes[lane] += weights[feature][lane] * delta[feature];
                    }
                }
            }
            self.changes.push(bytes);
            self.sessions.change(session, group, at, &bytes);
        }
    }

    /// A sequence of `agent` that contains a shared prompt appears (`gained`) or goes.
    #[inline]
    pub fn post_prompt(&mut self, at: u64, agent: u16, prompt: u32, gained: bool) {
        if self.silent {
            return;
        }
        let signed = i64::from(prompt) + 1;
        let prompt = if gained { signed } else { -signed };
        self.records.push(Record {
            at,
            first: NO_BYTES,
            agent,
            sequences: 0,
            running: 0,
            prompt,
        });
    }

    /// All that will be posted for the past is posted: puts it in time order.
    pub fn settle(&mut self) -> usize {
        let count = self.records.len();
        self.extremes.apply(self.plan, &self.records, &self.changes);
        self.records.clear();
        self.changes.clear();
        count
    }

    /// Ends the open bin and, inside the window, adds it to the results.
    pub fn close_bin(&mut self) {
        self.extremes.close_bin();
        if self.bin_start < self.plan.window.0 {
            return;
        }
        for (scope, rows) in self.plan.scope_rows.iter().enumerate() {
            let tokens =
                self.scope_feature(scope, 0) + self.extremes.scopes[scope].shared_token_integral;
            let sequences = self.scope_feature(scope, self.plan.basis.sequences());
            for row in rows.clone() {
                let bin = self.bin(scope, row);
                let out = &mut self.out[row];
                out.byte_ns += bin.total;
                out.shared_byte_ns += bin.shared;
                out.token_ns += tokens as u128;
                out.sequence_ns += sequences as u128;
                out.running_ns += self.extremes.scopes[scope].running_integral as u128;
                for (sum, part) in out.kind_byte_ns.iter_mut().zip(bin.kind) {
                    *sum += part;
                }
                for (sum, part) in out.owner_byte_ns.iter_mut().zip(bin.owner) {
                    *sum += part;
                }
                for (sum, part) in out.activity_byte_ns.iter_mut().zip(bin.activity) {
                    *sum += part;
                }
                out.bins.push(bin);
            }
        }
    }

    fn scope_feature(&self, scope: usize, feature: usize) -> i128 {
        let agents = self
            .plan
            .agent_scope
            .iter()
            .enumerate()
            .filter(|(_, s)| **s == scope);
        let categories =
            agents.flat_map(|(a, _)| a * ROLES * ACTIVITIES..(a + 1) * ROLES * ACTIVITIES);
        categories.map(|c| self.ledger.integrals(c)[feature]).sum()
    }

    fn bin(&mut self, scope: usize, row: usize) -> Bin {
        let mut bin = Bin::default();
        self.extremes
            .fill(scope, row - self.plan.scope_rows[scope].start, &mut bin);
        let weights = &self.plan.rows[row].weights;
        let (state, snapshot) = (self.plan.basis.sequences(), self.plan.basis.snapshots());
        for (agent, s) in self.plan.agent_scope.iter().enumerate() {
            if *s != scope {
                continue;
            }
            for place in 0..ROLES * ACTIVITIES {
                let integrals = self.ledger.integrals(agent * ROLES * ACTIVITIES + place);
                let mut kinds = [0_i128; 3];
                for (feature, (weight, integral)) in weights.iter().zip(integrals).enumerate() {
                    let kind = usize::from(feature >= state) + usize::from(feature >= snapshot);
                    kinds[kind] += i128::from(*weight) * integral;
                }
                let bytes: i128 = kinds.iter().sum();
                debug_assert!(kinds.iter().all(|k| *k >= 0));
                for (sum, part) in bin.kind.iter_mut().zip(kinds) {
                    *sum += part as u128;
                }
                bin.owner[place / ACTIVITIES] += bytes as u128;
                bin.activity[place % ACTIVITIES] += bytes as u128;
                self.agent_byte_ns[agent * self.plan.rows.len() + row] += bytes as u128;
            }
        }
        bin.total = bin.shared + bin.kind.iter().sum::<u128>();
        bin
    }

    /// Whether a total has come near what 64 bits hold (4.6 EB): the books are void.
    pub fn overflow(&self) -> bool {
        self.extremes.overflow
    }

    /// Closes the books: one result per row. `open`: the slots of sessions that hold memory.
    pub fn finish(mut self, open: impl Iterator<Item = u32>) -> Vec<RowReplication> {
        let mut out = std::mem::take(&mut self.out);
        let rows = self.plan.rows.len();
        let session_peaks = std::mem::replace(&mut self.sessions, SessionPeaks::new(self.plan))
            .quantiles(self.plan, open);
        for (scope, range) in self.plan.scope_rows.iter().enumerate() {
            for row in range.clone() {
                let levels = &mut self.extremes.scopes[scope];
                let result = &mut out[row];
                result.peak_sequences = levels.peak_sequences;
                result.p99_running = levels.running_time.quantile(99, u64::MAX);
                let (peak, peak_at) = levels.peak(row - range.start);
                result.peak_bytes = peak;
                result.peak_ns = peak_at.saturating_sub(self.plan.window.0);
                result.quantile_bytes =
                    [50, 95, 99].map(|percent| levels.quantile(row - range.start, percent));
                result.session_peak_bytes = session_peaks[row];
                for (agent, s) in self.plan.agent_scope.iter().enumerate() {
                    if *s == scope {
                        let row_counts = self.row_counts(agent, row);
                        add_counts(&mut out[row].counts, &row_counts);
                        let agent_row = AgentRow {
                            agent,
                            counts: row_counts,
                            byte_ns: self.agent_byte_ns[agent * rows + row],
                            peak_bytes: self.extremes.agent_peak(agent, row - range.start),
                        };
                        if agent_row.counts != Counts::default() || agent_row.peak_bytes > 0 {
                            out[row].agents.push(agent_row);
                        }
                    }
                }
            }
        }
        out
    }

    fn row_counts(&self, agent: usize, row: usize) -> Counts {
        let AgentCounts { mut counts, gap } = self.counts[1][agent];
        if self.plan.rows[row].checkpointed {
            counts.tokens_recomputed += gap;
            counts.tokens_prefilled += gap;
        } else {
            counts.snapshots_taken = 0;
        }
        counts
    }
}

/// The weights of all groups of rows, features first.
fn weights<const N: usize>(plan: &Plan) -> Vec<[Lanes; N]> {
    let mut out = Vec::new();
    for rows in &plan.scope_rows {
        for group in plan.rows[rows.clone()].chunks(LANES) {
            let mut weights = [[0; LANES]; N];
            for (lane, row) in group.iter().enumerate() {
                for (feature, weight) in row.weights.iter().enumerate() {
                    weights[feature][lane] = *weight;
                }
            }
            out.push(weights);
        }
    }
    out
}

fn add_counts(sum: &mut Counts, part: &Counts) {
    sum.sessions_started += part.sessions_started;
    sum.sequences_started += part.sequences_started;
    sum.steps += part.steps;
    sum.tokens_prefilled += part.tokens_prefilled;
    sum.tokens_decoded += part.tokens_decoded;
    sum.tokens_recomputed += part.tokens_recomputed;
    sum.snapshots_taken += part.snapshots_taken;
    sum.compactions += part.compactions;
    sum.rewinds += part.rewinds;
}
