//! Levels in time order: true extremes of every bin, the peak and its instant, quantiles.
//!
//! All changes of one instant are netted before a level counts (design rule 14): a level is
//! looked at only when time moves on from it.

use super::books::Plan;
use super::histogram::TimeHistogram;
use super::results::Bin;

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
    pub total: Vec<i64>,
    pub shared: Vec<i64>,
    pub shared_tokens: i64,
    pub sequences: i64,
    pub running: i64,
    /// Since when these levels last.
    since: u64,
    pub rows: Vec<RowExtremes>,
    pub running_time: TimeHistogram,
    pub peak_sequences: u64,
    /// Over the current bin.
    pub shared_integral: Vec<i128>,
    pub shared_token_integral: i128,
    pub running_integral: i128,
}

/// What was seen of one row.
#[derive(Clone, Debug, Default)]
pub struct RowExtremes {
    pub bin_min: u64,
    pub bin_max: u64,
    pub peak: u64,
    pub peak_at: u64,
    pub time: TimeHistogram,
}

#[derive(Clone, Debug)]
struct AgentLevels {
    total: Vec<i64>,
    peak: Vec<u64>,
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
    order: Vec<(u64, u32)>,
}

impl Extremes {
    pub fn new(plan: &Plan) -> Extremes {
        let scopes = plan.scope_rows.iter().map(|rows| ScopeLevels {
            total: vec![0; rows.len()],
            shared: vec![0; rows.len()],
            shared_tokens: 0,
            sequences: 0,
            running: 0,
            since: 0,
            rows: vec![RowExtremes::default(); rows.len()],
            running_time: TimeHistogram::default(),
            peak_sequences: 0,
            shared_integral: vec![0; rows.len()],
            shared_token_integral: 0,
            running_integral: 0,
        });
        let agents = plan.agent_scope.iter().map(|scope| {
            let rows = plan.scope_rows[*scope].len();
            AgentLevels { total: vec![0; rows], peak: vec![0; rows], since: 0 }
        });
        Extremes {
            scopes: scopes.collect(),
            agents: agents.collect(),
            prompt_holders: vec![0; plan.prompts.len()],
            bin: (0, 0),
            measuring: false,
            order: Vec::new(),
        }
    }

    /// Starts the bin `start..end`; `measuring`: whether it is inside the measured window.
    pub fn open_bin(&mut self, start: u64, end: u64, measuring: bool) {
        self.bin = (start, end);
        self.measuring = measuring;
        let width = i128::from(end - start);
        for scope in &mut self.scopes {
            scope.since = start;
            for row in &mut scope.rows {
                row.bin_min = u64::MAX;
                row.bin_max = 0;
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
    pub fn apply(&mut self, plan: &Plan, records: &[Record], changes: &[i64]) {
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(records.iter().enumerate().map(|(i, r)| (r.at, i as u32)));
        // Records of one instant are netted, so their order among themselves does not matter.
        order.sort_unstable_by_key(|o| o.0);
        for (at, index) in &order {
            self.change(plan, *at, &records[*index as usize], changes);
        }
        self.order = order;
    }

    #[inline]
    fn change(&mut self, plan: &Plan, at: u64, record: &Record, changes: &[i64]) {
        let scope_index = plan.agent_scope[usize::from(record.agent)];
        let scope = &mut self.scopes[scope_index];
        if at > scope.since {
            scope.settle(at, self.measuring);
        }
        let left = i128::from(self.bin.1 - at);
        scope.sequences += i64::from(record.sequences);
        scope.running += i64::from(record.running);
        scope.running_integral += i128::from(record.running) * left;
        let rows = scope.total.len();
        let bytes = &changes[record.first as usize..record.first as usize + rows];
        let agent = &mut self.agents[usize::from(record.agent)];
        if at > agent.since {
            agent.settle(at, self.measuring);
        }
        for ((total, held), change) in scope.total.iter_mut().zip(&mut agent.total).zip(bytes) {
            *total += change;
            *held += change;
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
            scope.total[row] += sign * bytes;
            scope.shared[row] += sign * bytes;
            scope.shared_integral[row] += i128::from(sign * bytes) * left;
        }
    }

    /// Ends the bin: the levels it ends with lasted until its end.
    pub fn close_bin(&mut self) {
        for scope in &mut self.scopes {
            scope.settle(self.bin.1, self.measuring);
        }
        for agent in &mut self.agents {
            agent.settle(self.bin.1, self.measuring);
        }
    }

    /// Writes extremes and shared bytes of the closed bin.
    pub fn fill(&self, scope: usize, row: usize, bin: &mut Bin) {
        let scope = &self.scopes[scope];
        bin.min = scope.rows[row].bin_min;
        bin.max = scope.rows[row].bin_max;
        bin.shared = scope.shared_integral[row] as u128;
    }

    /// Most bytes that an agent's sequences held at once, under row `row` of its scope.
    pub fn agent_peak(&self, agent: usize, row: usize) -> u64 {
        self.agents[agent].peak[row]
    }
}

impl ScopeLevels {
    /// The levels lasted from `since` until `at`.
    #[inline]
    fn settle(&mut self, at: u64, measuring: bool) {
        if measuring && at > self.since {
            let ns = at - self.since;
            for (row, total) in self.rows.iter_mut().zip(&self.total) {
                let level = *total as u64;
                row.bin_min = row.bin_min.min(level);
                row.bin_max = row.bin_max.max(level);
                if level > row.peak {
                    row.peak = level;
                    row.peak_at = self.since;
                }
                row.time.add(level, ns);
            }
            self.running_time.add(self.running as u64, ns);
            self.peak_sequences = self.peak_sequences.max(self.sequences as u64);
        }
        self.since = at;
    }
}

impl AgentLevels {
    #[inline]
    fn settle(&mut self, at: u64, measuring: bool) {
        if measuring && at > self.since {
            for (peak, total) in self.peak.iter_mut().zip(&self.total) {
                *peak = (*peak).max(*total as u64);
            }
        }
        self.since = at;
    }
}
