//! One run of an agent: what it is, what it does, and what it still has to do.

use fleetmem::observe::results::Counts;
use fleetmem::scenario::SpawnMode;
use fleetmem::workload::{RunDraws, RunKey};

use super::context::Context;

/// What a run does between two events, in the order of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    Running,
    Tool,
    Blocked,
    User,
    Finished,
}

/// Place of a child below its parent: (turn, step, spawn, index).
pub type Place = (u32, u32, usize, u32);

/// The step that a run is in.
#[derive(Clone, Copy, Debug, Default)]
pub struct Step {
    /// Tokens to decode.
    pub output: u64,
    /// `Some(new tokens)`: this is a compaction step, and these wait for the new sequence.
    pub compaction: Option<u64>,
}

/// One run of an agent.
#[derive(Clone, Debug)]
pub struct Run {
    pub session: usize,
    pub agent: usize,
    /// 0 main, 1 sync, 2 async.
    pub owner: usize,
    pub activity: Activity,
    pub context: Context,
    pub start: u64,
    /// Starts of its parent, its parent's parent, and so on.
    pub ancestor_starts: Vec<u64>,
    pub path: Vec<Place>,
    pub root: RunKey,
    pub key: RunKey,
    pub draws: RunDraws,
    /// Parent run, mode, and the tokens it will get back.
    pub parent: Option<(usize, SpawnMode, u64)>,
    pub turn: u32,
    pub step: u32,
    pub steps: u32,
    /// Tokens that open the first turn.
    pub opening: u64,
    /// Tokens of async children that have returned.
    pub inbox: u64,
    /// Tokens of the sync children of the last call, if it had any.
    pub results: Option<u64>,
    /// Sync children of the last call that are out.
    pub waiting: u32,
    /// Number of the current pause: what was planned for an earlier one is void.
    pub pause: u64,
    pub current: Step,
    /// Tokens that a model with checkpointed state prefills again after the last rewind.
    pub gap: u64,
}

impl Run {
    /// Order of age: the start, then the depth, then the parent's age, then the place below it.
    pub fn age(&self) -> (u64, usize, &[u64], &[Place]) {
        (
            self.start,
            self.path.len(),
            &self.ancestor_starts,
            &self.path,
        )
    }

    /// The last instant at which a step may start.
    pub fn deadline(&self) -> u64 {
        self.draws
            .max_duration_ns
            .map_or(u64::MAX, |max| self.start.saturating_add(max))
    }
}

/// What an agent did inside the window. `gap` are the tokens that models with checkpointed state
/// prefill again after rewinds.
#[derive(Clone, Copy, Debug, Default)]
pub struct AgentCounts {
    pub counts: Counts,
    pub gap: u64,
}
