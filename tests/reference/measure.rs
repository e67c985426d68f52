//! Bytes from the held sets, recomputed from nothing at every instant, and exact integrals.

use std::collections::{BTreeMap, BTreeSet};

use fleetmem::memory::{Footprint, MemoryModel};
use fleetmem::observe::results::{AgentRow, Bin, Counts, RowReplication};
use fleetmem::scenario::Scenario;

use super::run::{Activity, Run};
use super::timeline::Timeline;

/// What the runs of one row hold at an instant; each thing with its oldest holder.
#[derive(Default)]
struct Held {
    /// (run, T) of every sequence that holds memory.
    sequences: Vec<(usize, u64)>,
    /// (oldest holder, first position, end position) of every stretch of tokens, each once.
    tokens: Vec<(usize, u64, u64)>,
    /// (oldest holder, position) of every snapshot, each once.
    snapshots: Vec<(usize, u64)>,
    /// (agent, variant, tokens) of every shared prompt.
    prompts: BTreeSet<(usize, u32, u64)>,
    /// Sequences in a step.
    running: u64,
}

/// Bytes of one row at an instant.
#[derive(Clone, Default)]
struct State {
    total: u64,
    shared: u64,
    kind: [u64; 3],
    owner: [u64; 3],
    activity: [u64; 5],
    sequences: u64,
    running: u64,
    tokens: u64,
    agents: BTreeMap<usize, u64>,
    sessions: BTreeMap<usize, u64>,
}

/// Everything one row gathers.
struct Row {
    model: MemoryModel,
    /// The fixed model whose agents are this row's.
    fixed: Option<usize>,
    result: RowReplication,
    agents: BTreeMap<usize, AgentRow>,
    /// Time that each number of bytes, and of running sequences, lasted.
    bytes_lasted: BTreeMap<u64, u64>,
    running_lasted: BTreeMap<u64, u64>,
    /// Per session: most bytes.
    peaks: BTreeMap<usize, u64>,
    state: State,
}

/// Watches a timeline.
pub struct Meter {
    warmup_ns: u64,
    end_ns: u64,
    bin_ns: u64,
    since: u64,
    rows: Vec<Row>,
    /// Sessions that hold memory under any model now, and all that ever did with the last instant
    /// at which one came to hold nothing.
    holding: BTreeSet<usize>,
    emptied: BTreeMap<usize, u64>,
}

fn oldest<'r>(runs: &[Run], holders: impl Iterator<Item = &'r usize>) -> usize {
    *holders
        .min_by_key(|&&run| runs[run].age())
        .expect("what is held has a holder")
}

/// What the runs of row `fixed` hold now.
fn held(runs: &[Run], fixed: Option<usize>, scenario: &Scenario) -> Held {
    let mut held = Held::default();
    // Who holds how much of each range of tokens, and where it starts; who holds each snapshot.
    let mut ranges: BTreeMap<u64, (u64, Vec<(u64, usize)>)> = BTreeMap::new();
    let mut snapshots: BTreeMap<u64, (u64, Vec<usize>)> = BTreeMap::new();
    for (i, run) in runs.iter().enumerate() {
        let context = &run.context;
        if scenario.agents[run.agent].fixed_model != fixed || !context.held || context.tokens == 0 {
            continue;
        }
        held.sequences.push((i, context.tokens));
        held.running += u64::from(run.activity == Activity::Running);
        if let Some((agent, variant)) = context.prompt.shared {
            held.prompts.insert((agent, variant, context.prompt.tokens));
        }
        let mut position = context.prompt.shared_tokens();
        for range in &context.ranges {
            let (start, holders) = ranges.entry(range.id).or_insert((position, Vec::new()));
            assert_eq!(*start, position, "a token has one position");
            holders.push((range.len, i));
            position += range.len;
        }
        assert_eq!(position, context.tokens, "T is the number of tokens");
        for (&position, snapshot) in &context.snapshots {
            let (at, holders) = snapshots
                .entry(snapshot.id)
                .or_insert((position, Vec::new()));
            assert_eq!(*at, position, "a snapshot has one position");
            holders.push(i);
        }
    }
    for (start, holders) in ranges.values() {
        let lengths: BTreeSet<u64> = holders.iter().map(|h| h.0).collect();
        let mut from = 0;
        for to in lengths {
            let long_enough = holders.iter().filter(|h| h.0 >= to).map(|h| &h.1);
            held.tokens
                .push((oldest(runs, long_enough), start + from, start + to));
            from = to;
        }
    }
    for (position, holders) in snapshots.values() {
        held.snapshots
            .push((oldest(runs, holders.iter()), *position));
    }
    held
}

/// Bytes of what is held, under one model.
fn weigh(held: &Held, runs: &[Run], footprint: &Footprint) -> State {
    let mut state = State {
        running: held.running,
        ..State::default()
    };
    let add = |state: &mut State, run: usize, kind: usize, bytes: u64| {
        let run = &runs[run];
        state.total += bytes;
        state.kind[kind] += bytes;
        state.owner[run.owner] += bytes;
        state.activity[run.activity as usize] += bytes;
        *state.agents.entry(run.agent).or_default() += bytes;
        *state.sessions.entry(run.session).or_default() += bytes;
    };
    for &(run, from, to) in &held.tokens {
        state.tokens += to - from;
        for entry in &footprint.entries {
            // The entries whose last token lies in the stretch.
            add(
                &mut state,
                run,
                0,
                entry.bytes * (to / entry.ratio - from / entry.ratio),
            );
        }
    }
    for &(run, tokens) in &held.sequences {
        state.sequences += 1;
        for window in &footprint.windows {
            add(&mut state, run, 0, window.bytes * tokens.min(window.tokens));
        }
        add(
            &mut state,
            run,
            1,
            footprint.state_bytes + footprint.tail_bytes,
        );
    }
    for &(run, position) in &held.snapshots {
        add(&mut state, run, 2, snapshot_bytes(footprint, position));
    }
    for &(_, _, tokens) in &held.prompts {
        state.tokens += tokens;
        let entries: u64 = footprint
            .entries
            .iter()
            .map(|e| e.bytes * (tokens / e.ratio))
            .sum();
        state.shared += entries + snapshot_bytes(footprint, tokens);
    }
    state.total += state.shared;
    state
}

/// Checkpointed state, and the checkpointed part of windows, at a position above 0.
fn snapshot_bytes(footprint: &Footprint, position: u64) -> u64 {
    let windows = footprint
        .windows
        .iter()
        .map(|w| w.snapshot_bytes * position.min(w.tokens));
    footprint.snapshot_state_bytes + windows.sum::<u64>()
}

/// The least value that at least `percent` of the time is at or below.
fn time_quantile(lasted: &BTreeMap<u64, u64>, percent: u128) -> u64 {
    let all: u128 = lasted.values().map(|&ns| u128::from(ns)).sum();
    let mut below = 0;
    for (&value, &ns) in lasted {
        below += u128::from(ns);
        if below * 100 >= all * percent {
            return value;
        }
    }
    0
}

/// The value at rank `ceil(percent * n)` of ascending values, 0 if there are none.
fn rank_quantile(ascending: &[u64], percent: usize) -> u64 {
    let rank = (ascending.len() * percent).div_ceil(100);
    if rank == 0 { 0 } else { ascending[rank - 1] }
}

fn add_products<const N: usize>(sums: &mut [u128; N], bytes: &[u64; N], ns: u64) {
    for (sum, &b) in sums.iter_mut().zip(bytes) {
        *sum += u128::from(b) * u128::from(ns);
    }
}

impl Row {
    fn new(model: &MemoryModel, fixed: Option<usize>, bins: u64) -> Row {
        let bin = Bin {
            min: u64::MAX,
            ..Bin::default()
        };
        Row {
            model: model.clone(),
            fixed,
            result: RowReplication {
                bins: vec![bin; bins as usize],
                ..RowReplication::default()
            },
            agents: BTreeMap::new(),
            bytes_lasted: BTreeMap::new(),
            running_lasted: BTreeMap::new(),
            peaks: BTreeMap::new(),
            state: State::default(),
        }
    }

    /// The current state lasted over [from, to), in ns since the start of the warm-up.
    fn last(&mut self, from: u64, to: u64, warmup_ns: u64, bin_ns: u64) {
        if from == to {
            return;
        }
        let state = &self.state;
        for (&session, &bytes) in &state.sessions {
            let peak = self.peaks.entry(session).or_default();
            *peak = bytes.max(*peak);
        }
        let (from, to) = (from.max(warmup_ns), to.max(warmup_ns));
        let ns = to - from;
        if ns == 0 {
            return;
        }
        let result = &mut self.result;
        if state.total > result.peak_bytes {
            result.peak_bytes = state.total;
            result.peak_ns = from - warmup_ns;
        }
        result.peak_sequences = result.peak_sequences.max(state.sequences);
        let product = |value: u64| u128::from(value) * u128::from(ns);
        result.byte_ns += product(state.total);
        result.shared_byte_ns += product(state.shared);
        result.sequence_ns += product(state.sequences);
        result.running_ns += product(state.running);
        result.token_ns += product(state.tokens);
        add_products(&mut result.kind_byte_ns, &state.kind, ns);
        add_products(&mut result.owner_byte_ns, &state.owner, ns);
        add_products(&mut result.activity_byte_ns, &state.activity, ns);
        *self.bytes_lasted.entry(state.total).or_default() += ns;
        *self.running_lasted.entry(state.running).or_default() += ns;
        for (&agent, &bytes) in &state.agents {
            let row = self.agents.entry(agent).or_default();
            row.byte_ns += product(bytes);
            row.peak_bytes = row.peak_bytes.max(bytes);
        }
        for (i, bin) in result.bins.iter_mut().enumerate() {
            let start = warmup_ns + i as u64 * bin_ns;
            let inside = to.min(start + bin_ns).saturating_sub(from.max(start));
            if inside > 0 {
                bin.total += u128::from(state.total) * u128::from(inside);
                bin.shared += u128::from(state.shared) * u128::from(inside);
                add_products(&mut bin.kind, &state.kind, inside);
                add_products(&mut bin.owner, &state.owner, inside);
                add_products(&mut bin.activity, &state.activity, inside);
                bin.min = bin.min.min(state.total);
                bin.max = bin.max.max(state.total);
            }
        }
    }

    fn finish(
        mut self,
        timeline: &Timeline,
        scenario: &Scenario,
        sessions: &[usize],
    ) -> RowReplication {
        let checkpointed = self.model.footprint.is_checkpointed();
        let mut all = Counts::default();
        for (agent, counted) in timeline.counts.iter().enumerate() {
            if scenario.agents[agent].fixed_model != self.fixed {
                continue;
            }
            let mut counts = counted.counts;
            if checkpointed {
                counts.tokens_prefilled += counted.gap;
                counts.tokens_recomputed += counted.gap;
            } else {
                counts.snapshots_taken = 0;
            }
            all.sessions_started += counts.sessions_started;
            all.sequences_started += counts.sequences_started;
            all.steps += counts.steps;
            all.tokens_prefilled += counts.tokens_prefilled;
            all.tokens_decoded += counts.tokens_decoded;
            all.tokens_recomputed += counts.tokens_recomputed;
            all.snapshots_taken += counts.snapshots_taken;
            all.compactions += counts.compactions;
            all.rewinds += counts.rewinds;
            let row = self.agents.entry(agent).or_default();
            row.agent = agent;
            row.counts = counts;
        }
        // A session that ran on other models only held nothing here.
        let peak = |session| self.peaks.get(session).copied().unwrap_or(0);
        let mut peaks: Vec<u64> = sessions.iter().map(peak).collect();
        peaks.sort_unstable();

        let mut result = self.result;
        result.counts = all;
        result.quantile_bytes =
            [50, 95, 99].map(|percent| time_quantile(&self.bytes_lasted, percent));
        result.p99_running = time_quantile(&self.running_lasted, 99);
        result.session_peak_bytes = [50, 95, 99].map(|percent| rank_quantile(&peaks, percent));
        // An agent that did and held nothing inside the window is no row.
        let empty = |row: &AgentRow| {
            *row == AgentRow {
                agent: row.agent,
                ..AgentRow::default()
            }
        };
        result.agents = self
            .agents
            .into_values()
            .filter(|row| !empty(row))
            .collect();
        result
    }
}

impl Meter {
    /// Empty rows: the compared models, then the fixed ones.
    pub fn new(scenario: &Scenario, warmup_ns: u64, bin_ns: u64) -> Meter {
        let bins = scenario.measure_ns.div_ceil(bin_ns);
        let compared = scenario
            .models
            .iter()
            .map(|model| Row::new(model, None, bins));
        let fixed = scenario.fixed_models.iter().enumerate();
        let fixed = fixed.map(|(i, model)| Row::new(model, Some(i), bins));
        Meter {
            warmup_ns,
            end_ns: warmup_ns + scenario.measure_ns,
            bin_ns,
            since: 0,
            rows: compared.chain(fixed).collect(),
            holding: BTreeSet::new(),
            emptied: BTreeMap::new(),
        }
    }

    /// Everything of instant `now` has happened.
    pub fn observe(&mut self, now: u64, timeline: &Timeline) {
        let scenario = timeline.scenario();
        for row in &mut self.rows {
            row.last(self.since, now, self.warmup_ns, self.bin_ns);
            let held = held(&timeline.runs, row.fixed, scenario);
            row.state = weigh(&held, &timeline.runs, &row.model.footprint);
        }
        let holds = |run: &&Run| run.context.held && run.context.tokens > 0;
        let holding = timeline
            .runs
            .iter()
            .filter(holds)
            .map(|run| run.session)
            .collect();
        for &session in self.holding.difference(&holding) {
            self.emptied.insert(session, now);
        }
        self.holding = holding;
        self.since = now;
    }

    /// The sessions that are over and whose last memory was released inside the window (one that
    /// never held memory has no last); if there are none, those that hold memory at its end.
    fn measured_sessions(&self, timeline: &Timeline) -> Vec<usize> {
        let over = |session: usize| {
            let mut runs = timeline.runs.iter().filter(|run| run.session == session);
            !self.holding.contains(&session) && runs.all(|run| run.activity == Activity::Finished)
        };
        let inside = self.emptied.iter().filter(|(_, at)| **at >= self.warmup_ns);
        let released: Vec<usize> = inside.map(|(&s, _)| s).filter(|&s| over(s)).collect();
        if released.is_empty() {
            self.holding.iter().copied().collect()
        } else {
            released
        }
    }

    /// The results, after the last instant.
    pub fn finish(mut self, timeline: &Timeline) -> Vec<RowReplication> {
        for row in &mut self.rows {
            row.last(self.since, self.end_ns, self.warmup_ns, self.bin_ns);
        }
        let sessions = self.measured_sessions(timeline);
        let scenario = timeline.scenario();
        self.rows
            .into_iter()
            .map(|row| row.finish(timeline, scenario, &sessions))
            .collect()
    }
}
