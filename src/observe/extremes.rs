//! Levels in time order: true extremes of every bin, the peak and its instant, quantiles.
//!
//! All changes of one instant are netted before a level counts (rule 14): a level is
//! looked at only when time moves on from it.

use super::books::{LANES, Lanes, Plan};
use super::histogram::TimeHistogram;
use super::order::TimeOrder;
use super::results::Bin;

/// [`Record::first`] of a record without byte changes.
pub const NO_BYTES: u32 = u32::MAX;

/// Half of what 64 bits hold, 4.6 EB: no slice of time gets from here to the other half.
const MOST_BYTES: i64 = i64::MAX / 2;

/// A change of totals at an instant.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub at: u64,
    /// First of this record's byte changes, one per row of its scope.
    pub first: u32,
    pub agent: u16,
    pub sequences: i32,
    pub running: i32,
    /// A shared prompt that gains (`+`) or loses (`-`) a sequence: its index plus 1; 0: none.
    pub prompt: i64,
}

/// The current levels of one scope (the compared models, or one fixed model) and what was seen.
#[derive(Clone, Debug)]
pub struct ScopeLevels {
    total: Vec<Lanes>,
    shared: Vec<i64>,
    shared_tokens: i64,
    sequences: i64,
    running: i64,
    /// Since when the totals, and the numbers of sequences, are what they are.
    since: u64,
    numbers_since: u64,
    groups: Vec<GroupExtremes>,
    pub running_time: TimeHistogram,
    pub peak_sequences: u64,
    /// Over the current bin.
    shared_integral: Vec<i128>,
    pub shared_token_integral: i128,
    pub running_integral: i128,
}

/// What was seen of a group of rows.
#[derive(Clone, Debug, Default)]
struct GroupExtremes {
    bin_min: Lanes,
    bin_max: Lanes,
    bin_max_at: [u64; LANES],
    peak: Lanes,
    peak_at: [u64; LANES],
    time: [TimeHistogram; LANES],
}

#[derive(Clone, Debug)]
struct AgentLevels {
    total: Vec<Lanes>,
    peak: Vec<Lanes>,
    since: u64,
}

/// All scopes and agents.
#[derive(Clone, Debug)]
pub struct Extremes {
    pub scopes: Vec<ScopeLevels>,
    agents: Vec<AgentLevels>,
    prompt_holders: Vec<u64>,
    bin: (u64, u64),
    measuring: bool,
    /// A total came near what 64 bits hold: what follows cannot be trusted.
    pub overflow: bool,
    order: TimeOrder,
}

impl Extremes {
    pub fn new(plan: &Plan) -> Extremes {
        let scopes = plan.scope_rows.iter().map(|rows| ScopeLevels {
            total: vec![[0; LANES]; rows.len().div_ceil(LANES)],
            shared: vec![0; rows.len()],
            shared_tokens: 0,
            sequences: 0,
            running: 0,
            since: 0,
            numbers_since: 0,
            groups: vec![GroupExtremes::default(); rows.len().div_ceil(LANES)],
            running_time: TimeHistogram::default(),
            peak_sequences: 0,
            shared_integral: vec![0; rows.len()],
            shared_token_integral: 0,
            running_integral: 0,
        });
        let agents = plan.agent_scope.iter().map(|scope| {
            let groups = plan.scope_groups[*scope].len();
            AgentLevels {
                total: vec![[0; LANES]; groups],
                peak: vec![[0; LANES]; groups],
                since: 0,
            }
        });
        Extremes {
            scopes: scopes.collect(),
            agents: agents.collect(),
            prompt_holders: vec![0; plan.prompts.len()],
            bin: (0, 0),
            measuring: false,
            overflow: false,
            order: TimeOrder::default(),
        }
    }

    /// Starts the bin `start..end`; `measuring`: whether it is inside the measured window.
    pub fn open_bin(&mut self, start: u64, end: u64, measuring: bool) {
        self.bin = (start, end);
        self.measuring = measuring;
        let width = i128::from(end - start);
        for scope in &mut self.scopes {
            scope.since = start;
            scope.numbers_since = start;
            for group in &mut scope.groups {
                group.bin_min = [i64::MAX; LANES];
                group.bin_max = [-1; LANES];
            }
            for (integral, level) in scope.shared_integral.iter_mut().zip(&scope.shared) {
                *integral = i128::from(*level) * width;
            }
            scope.shared_token_integral = i128::from(scope.shared_tokens) * width;
            scope.running_integral = i128::from(scope.running) * width;
        }
        for agent in &mut self.agents {
            agent.since = start;
        }
    }

    /// Applies the records of a slice of time in time order.
    pub fn apply(&mut self, plan: &Plan, records: &[Record], changes: &[Lanes]) {
        let mut order = std::mem::take(&mut self.order);
        order.sort(records.iter().map(|r| r.at));
        for (at, index) in order.sorted() {
            self.change(plan, *at, &records[*index as usize], changes);
        }
        self.order = order;
    }

    #[inline]
    fn change(&mut self, plan: &Plan, at: u64, record: &Record, changes: &[Lanes]) {
        let scope_index = plan.agent_scope[usize::from(record.agent)];
        let scope = &mut self.scopes[scope_index];
        if record.sequences != 0 || record.running != 0 {
            if at > scope.numbers_since {
                scope.settle_numbers(at, self.measuring);
            }
            scope.sequences += i64::from(record.sequences);
            scope.running += i64::from(record.running);
            scope.running_integral += i128::from(record.running) * i128::from(self.bin.1 - at);
        }
        if record.first != NO_BYTES {
            if at > scope.since {
                scope.settle(at, self.measuring);
            }
            let agent = &mut self.agents[usize::from(record.agent)];
            if at > agent.since {
                agent.settle(at, self.measuring);
            }
            let changes = &changes[record.first as usize..];
            for ((total, held), change) in scope.total.iter_mut().zip(&mut agent.total).zip(changes)
            {
                for lane in 0..LANES {
                    total[lane] += change[lane];
                    held[lane] += change[lane];
                }
            }
        }
        if record.prompt != 0 {
            self.prompt(plan, at, record.prompt);
        }
    }

    fn prompt(&mut self, plan: &Plan, at: u64, signed: i64) {
        let id = (signed.unsigned_abs() - 1) as usize;
        let holders = &mut self.prompt_holders[id];
        let sign = if signed > 0 {
            *holders += 1;
            if *holders > 1 {
                return;
            }
            1
        } else {
            *holders -= 1;
            if *holders > 0 {
                return;
            }
            -1
        };
        let prompt = &plan.prompts[id];
        let scope = &mut self.scopes[prompt.scope];
        if at > scope.since {
            scope.settle(at, self.measuring);
        }
        let left = i128::from(self.bin.1 - at);
        let tokens = sign * i64::from(prompt.tokens);
        scope.shared_tokens += tokens;
        scope.shared_token_integral += i128::from(tokens) * left;
        for (row, bytes) in prompt.bytes.iter().enumerate() {
            scope.total[row / LANES][row % LANES] += sign * bytes;
            scope.shared[row] += sign * bytes;
            scope.shared_integral[row] += i128::from(sign * bytes) * left;
        }
    }

    /// Ends the bin: the levels it ends with lasted until its end.
    pub fn close_bin(&mut self) {
        for scope in &mut self.scopes {
            scope.settle(self.bin.1, self.measuring);
            scope.settle_numbers(self.bin.1, self.measuring);
            for group in &mut scope.groups {
                for lane in 0..LANES {
                    self.overflow |= group.bin_max[lane] > MOST_BYTES;
                    if group.bin_max[lane] > group.peak[lane] {
                        group.peak[lane] = group.bin_max[lane];
                        group.peak_at[lane] = group.bin_max_at[lane];
                    }
                }
            }
        }
        for agent in &mut self.agents {
            agent.settle(self.bin.1, self.measuring);
        }
    }

    /// Writes extremes and shared bytes of the closed bin.
    pub fn fill(&self, scope: usize, row: usize, bin: &mut Bin) {
        let scope = &self.scopes[scope];
        let (group, lane) = (&scope.groups[row / LANES], row % LANES);
        bin.min = group.bin_min[lane] as u64;
        bin.max = group.bin_max[lane] as u64;
        bin.shared = scope.shared_integral[row] as u128;
    }

    /// Most bytes that an agent's sequences held at once, under row `row` of its scope.
    pub fn agent_peak(&self, agent: usize, row: usize) -> u64 {
        self.agents[agent].peak[row / LANES][row % LANES] as u64
    }
}

impl ScopeLevels {
    /// The most bytes that lasted, and since when.
    pub fn peak(&self, row: usize) -> (u64, u64) {
        let group = &self.groups[row / LANES];
        (group.peak[row % LANES] as u64, group.peak_at[row % LANES])
    }

    /// A time-weighted quantile of the bytes.
    pub fn quantile(&mut self, row: usize, percent: u8) -> u64 {
        let group = &mut self.groups[row / LANES];
        group.time[row % LANES].quantile(percent, group.peak[row % LANES] as u64)
    }

    /// The totals lasted from `since` until `at`.
    #[inline]
    fn settle(&mut self, at: u64, measuring: bool) {
        if measuring && at > self.since {
            let ns = at - self.since;
            for (group, total) in self.groups.iter_mut().zip(&self.total) {
                for (lane, level) in total.iter().copied().enumerate() {
                    group.bin_min[lane] = group.bin_min[lane].min(level);
                    if level > group.bin_max[lane] {
                        group.bin_max[lane] = level;
                        group.bin_max_at[lane] = self.since;
                    }
                    group.time[lane].add(level, ns);
                }
            }
        }
        self.since = at;
    }

    /// The numbers of sequences lasted until `at`.
    fn settle_numbers(&mut self, at: u64, measuring: bool) {
        if measuring && at > self.numbers_since {
            self.running_time.add(self.running, at - self.numbers_since);
            self.peak_sequences = self.peak_sequences.max(self.sequences as u64);
        }
        self.numbers_since = at;
    }
}

impl AgentLevels {
    #[inline]
    fn settle(&mut self, at: u64, measuring: bool) {
        if measuring && at > self.since {
            for (peak, total) in self.peak.iter_mut().zip(&self.total) {
                for lane in 0..LANES {
                    peak[lane] = peak[lane].max(total[lane]);
                }
            }
        }
        self.since = at;
    }
}
