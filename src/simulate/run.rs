//! The state of one agent run: a session's root agent or a subagent, and the sequence it holds.

use crate::observe::{Activity, Role};
use crate::workload::RunKey;

/// "No such instant": later than every event.
pub const NEVER: u64 = u64::MAX;

/// Where a run is in its life; with `next` it says what happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// A step starts at `next`.
    Starting,
    /// In a step: at `next` a block is allocated, or the step ends.
    Decoding,
    /// Between steps: released at `release_at`, woken at `wake_at`.
    Pausing,
    /// After its end, still holding memory until `release_at`.
    Finished,
    /// Ended, holding nothing.
    Gone,
}

/// What opens a run's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Opening {
    /// The run itself: system prompt and first prompt or task.
    Run,
    /// A new turn's prompt.
    Turn,
    /// A tool result.
    Tool,
    /// The results of sync children.
    Results,
}

/// Snapshots of a sequence that shares none: counts, and the positions that are needed.
#[derive(Clone, Debug, Default)]
pub struct Snapshots {
    /// How many are held.
    pub count: u32,
    /// Position of the latest (0: none).
    pub last: u32,
    /// Ascending positions: all of them if the agent may rewind, fork or drop old ones, else only
    /// those short of the longest window (whose bytes differ).
    pub positions: Vec<u32>,
}

/// One agent run. Times are ns of simulated time; token counts are of the whole context.
#[derive(Clone, Debug)]
pub struct Run {
    pub key: RunKey,
    /// The next instant at which something happens to this run alone.
    pub next: u64,
    /// When it started: the older holder of a shared part is the one that started first.
    pub started: u64,
    /// No step may start after this (first step + `max_duration`).
    pub deadline: u64,
    /// When the current step's decode starts.
    pub decode_start: u64,
    pub release_at: u64,
    pub wake_at: u64,
    /// Tokens waiting in the inbox (rule 5).
    pub inbox: u64,
    /// Results of sync children (rule 4), or the new tokens that wait for a compaction (rule 11).
    pub carry: u64,
    /// Context length, held or not.
    pub tokens: u32,
    /// Length of the system prompt in this context.
    pub prompt: u32,
    /// Tokens that are a fork's parent's (0 once they are its own).
    pub inherited: u32,
    /// Index of the shared prompt in this context, or [`NO_PROMPT`].
    pub shared: u32,
    /// Context limit in tokens.
    pub limit: u32,
    /// Output of the current step, and how much of it is allocated.
    pub output: u32,
    pub decoded: u32,
    pub turn: u32,
    pub turns: u32,
    pub step: u32,
    pub steps: u32,
    /// Sync children still out.
    pub waiting: u32,
    /// Children that have not returned.
    pub children: u32,
    /// Place among the session's runs (0: the root).
    pub parent: u32,
    /// Creation order in the session.
    pub order: u32,
    pub agent: u16,
    pub depth: u16,
    /// Index of the spawn of the parent's agent that made it.
    pub spawn: u16,
    pub role: Role,
    pub phase: Phase,
    pub activity: Activity,
    pub opening: Opening,
    /// Whether the sequence is in memory.
    pub held: bool,
    pub fork: bool,
    pub compacting: bool,
    /// Whether `wake_at` ends the agent (rule 8) instead of starting a step.
    pub wake_ends: bool,
    pub factor: f64,
    pub snapshots: Snapshots,
}

/// [`Run::shared`] of a context without a shared prompt.
pub const NO_PROMPT: u32 = u32::MAX;

impl Run {
    /// A run that starts at `at` and has drawn nothing yet.
    pub fn new(key: RunKey, agent: u16, role: Role, at: u64) -> Run {
        Run {
            key,
            next: at,
            started: at,
            deadline: NEVER,
            decode_start: 0,
            release_at: NEVER,
            wake_at: NEVER,
            inbox: 0,
            carry: 0,
            tokens: 0,
            prompt: 0,
            inherited: 0,
            shared: NO_PROMPT,
            limit: u32::MAX,
            output: 0,
            decoded: 0,
            turn: 0,
            turns: 1,
            step: 0,
            steps: 1,
            waiting: 0,
            children: 0,
            parent: 0,
            order: 0,
            agent,
            depth: 0,
            spawn: 0,
            role,
            phase: Phase::Starting,
            activity: Activity::Running,
            opening: Opening::Run,
            held: false,
            fork: false,
            compacting: false,
            wake_ends: false,
            factor: 1.0,
            snapshots: Snapshots::default(),
        }
    }

    /// Order of age for owning shared parts: earlier start, then higher in the tree, then earlier
    /// made.
    pub fn age(&self) -> (u64, u16, u32) {
        (self.started, self.depth, self.order)
    }
}
