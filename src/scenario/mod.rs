//! Scenario files: text to checked types. [`Scenario`] is what a run means, with names resolved
//! to indices and units to tokens, bytes and nanoseconds.
//!
//! `text` turns YAML into a tree with positions, applies `--set`, and shows mistakes; `file` holds
//! what a user may write, one type per map, and the JSON Schema made from them; `check` turns that
//! into a [`Scenario`]; `load` joins them. Nothing here draws, simulates or writes files.

mod check;
mod file;
mod law;
mod load;
#[cfg(test)]
mod tests;
mod text;

pub use law::{Law, LawKind};
pub use load::{STARTER, load, parse, schema};
pub use text::{Report, ScenarioErrors};

use crate::memory::MemoryModel;

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Name of the run and of its output folder; default: the file's stem.
    pub name: String,
    /// One sentence for titles.
    pub description: Option<String>,
    /// Seed of every draw.
    pub seed: u64,
    /// Length of the measured window in ns.
    pub measure_ns: u64,
    /// Simulated time before the window in ns; `None`: long enough for the longest session.
    pub warmup_ns: Option<u64>,
    /// Independent repetitions, at least 1.
    pub replications: u32,
    /// The compared models in file order; labels are unique.
    pub models: Vec<MemoryModel>,
    /// Index into `models` that savings are measured against.
    pub baseline: usize,
    /// Models that agents are pinned to (`model:` of an agent); labels unique, and distinct from
    /// those in `models` (a collision gets the suffix ` (fixed)`).
    pub fixed_models: Vec<MemoryModel>,
    /// All agents, in file order.
    pub agents: Vec<Agent>,
    /// Who starts sessions.
    pub workload: Vec<WorkloadEntry>,
    /// Things the user should know, that do not stop the run.
    pub warnings: Vec<String>,
    /// blake3 of the scenario text after `--set`, in hex.
    pub digest: String,
}

/// An agent template with defaults filled in.
#[derive(Clone, Debug)]
pub struct Agent {
    /// Its key in `agents`.
    pub name: String,
    /// Index into [`Scenario::fixed_models`], or `None` for the compared models.
    pub fixed_model: Option<usize>,
    /// Its system prompt.
    pub system_prompt: SystemPrompt,
    /// Tokens that open the first turn of a root agent. Default 0.
    pub first_prompt: Law,
    /// Tokens that open a later turn. Default 0.
    pub prompt: Law,
    /// Turns in a session. Default 1.
    pub turns: Law,
    /// Steps in a turn. Default 1.
    pub steps: Law,
    /// Tokens of a tool result. Default 0.
    pub tool_tokens: Law,
    /// Duration of a tool call, ns. Default 0.
    pub tool_time: Law,
    /// Output tokens of a step. Default 1.
    pub output: Law,
    /// Pause between turns, ns. Default 0.
    pub think: Law,
    /// One draw a run, multiplies its turns and tool tokens. Default 1.
    pub session_factor: Law,
    /// Latest start of a step after the first step's start, ns.
    pub max_duration: Option<Law>,
    /// Context limit.
    pub limit: Option<Limit>,
    /// Dropping of the last tokens before a step.
    pub rewind: Option<Rewind>,
    /// What a tool call may start, in file order.
    pub spawns: Vec<Spawn>,
    /// How long an idle sequence is held.
    pub ttl: Ttl,
    /// When snapshots are taken.
    pub snapshots: SnapshotPolicy,
    /// Prefill rate of one sequence.
    pub prefill: Rate,
    /// Decode rate of one sequence.
    pub decode: Rate,
    /// Tokens per decode allocation, at least 1.
    pub decode_block: u64,
}

/// An agent's system prompt.
#[derive(Clone, Debug, PartialEq)]
pub enum SystemPrompt {
    /// Each sequence holds its own copy; the length (tokens) is drawn once a run. Default 0.
    Own(Law),
    /// Held once per pool and variant; `tokens` long (constant, > 0), `variants` of them (>= 1).
    Shared { tokens: u64, variants: u32 },
}

/// A rate in tokens per second, held as micro-tokens per second so that decimals are exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Micro-tokens per second, at least 1.
    pub micro_tokens_per_s: u64,
}

/// A context limit (rule 11).
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The context length, tokens; drawn once a run.
    pub tokens: Law,
    /// `at` in billionths: 0.9 is 900_000_000. In (0, 1].
    pub at_ppb: u64,
    /// What happens when the next prefill would pass `at * tokens`.
    pub then: AtLimit,
}

/// What happens at the context limit.
#[derive(Clone, Debug, PartialEq)]
pub enum AtLimit {
    /// Decode a summary and go on in a new sequence. `to`: tokens, or a fraction of the context
    /// where the draw is below 1; drawn once a run.
    Compact { to: Law },
    /// The agent finishes.
    End,
}

/// Dropping the last `depth` tokens before a step, with `probability`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rewind {
    /// In [0, 1].
    pub probability: f64,
    /// Tokens.
    pub depth: Law,
}

/// One entry of `spawns`.
#[derive(Clone, Debug, PartialEq)]
pub struct Spawn {
    /// Its key in `spawns`; also the default agent.
    pub name: String,
    /// Index into [`Scenario::agents`].
    pub agent: usize,
    /// Whether the parent waits.
    pub mode: SpawnMode,
    /// In [0, 1]; default 1.
    pub probability: f64,
    /// Children per spawn; default 1.
    pub count: Law,
    /// Whether children inherit the parent's context.
    pub start: SpawnStart,
    /// Tokens given to the child in place of a first prompt. Default 0.
    pub task: Law,
    /// Tokens the parent receives when the child returns. Default 0.
    pub result: Law,
    /// Deepest level at which this spawn may put a child (a root agent is at 0).
    pub max_depth: Option<u32>,
}

/// Whether a parent waits for the children of a spawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnMode {
    /// The parent blocks until they return.
    Sync,
    /// The parent goes on; results arrive in its inbox.
    Async,
}

/// What a child's context starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpawnStart {
    /// Its own system prompt.
    Fresh,
    /// The parent's tokens.
    Fork,
}

/// How long an idle sequence is held, ns, by activity; `None`: never released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ttl {
    /// While a tool runs.
    pub tool: Option<u64>,
    /// While blocked on sync children.
    pub blocked: Option<u64>,
    /// While the user thinks.
    pub user: Option<u64>,
    /// After the agent's end.
    pub finished: Option<u64>,
}

/// When snapshots of checkpointed state are taken and how many are kept (rule 12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotPolicy {
    /// At every multiple of this many tokens.
    pub every: Option<u64>,
    /// After a step's prefill.
    pub prompt_end: bool,
    /// After a step's decode.
    pub output_end: bool,
    /// When children fork.
    pub fork: bool,
    /// The latest N of a sequence's own; `None`: all.
    pub keep: Option<u64>,
}

/// An entry of `workload`.
#[derive(Clone, Debug)]
pub struct WorkloadEntry {
    /// Its key.
    pub name: String,
    /// Index into [`Scenario::agents`].
    pub agent: usize,
    /// When its sessions arrive.
    pub arrivals: Arrivals,
}

/// When sessions arrive.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrivals {
    /// At these instants, ns since time 0, ascending.
    At(Vec<u64>),
    /// A gamma renewal process run on the clock of a weekly profile.
    Renewal {
        /// Mean arrivals per hour where the profile is 1.
        per_hour: f64,
        /// Coefficient of variation of the gaps; 1 is Poisson.
        cv: f64,
        /// How the rate varies over the week.
        profile: Profile,
    },
}

/// Rate multipliers over the week.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// One multiplier per local hour from midnight, mean 1.
    pub hourly: [f64; 24],
    /// Which days are active, Monday first; the others have no arrivals.
    pub weekdays: [bool; 7],
    /// What the entry's local clock shows at the scenario's time 0 (Monday 00:00), in hours ahead.
    pub utc_offset_hours: f64,
}
