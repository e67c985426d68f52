//! An agent as samplers: every quantity that a run of it draws, in one place (docs/scenario.md: which
//! are drawn once a run, once a turn, or at each use).

use super::draws::{Field, RunKey, hash_name};
use super::sampler::{Sampler, Tables, round_half_up};
use crate::scenario::{Agent, AtLimit, Law, SystemPrompt};

/// An agent's laws, compiled.
#[derive(Clone, Debug)]
pub struct Template {
    /// The checked agent: policies, rates, names.
    pub agent: Agent,
    /// One per entry of `agent.spawns`.
    pub spawns: Vec<SpawnTemplate>,
    own_prompt: Option<Sampler>,
    first_prompt: Sampler,
    prompt: Sampler,
    turns: Sampler,
    steps: Sampler,
    tool_tokens: Sampler,
    tool_time: Sampler,
    output: Sampler,
    think: Sampler,
    session_factor: Sampler,
    max_duration: Option<Sampler>,
    limit_tokens: Option<Sampler>,
    compact_to: Option<Sampler>,
    rewind_below: u64,
    rewind_depth: Option<Sampler>,
}

/// A spawn's laws, compiled.
#[derive(Clone, Debug)]
pub struct SpawnTemplate {
    /// [`hash_name`] of the spawn's name: part of its children's keys.
    pub hash: u64,
    happens_below: u64,
    count: Sampler,
    task: Sampler,
    result: Sampler,
}

/// What is drawn once a run (a session's root, or a subagent).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunDraws {
    /// Multiplies turns and tool tokens.
    pub factor: f64,
    /// Turns, at least 1.
    pub turns: u32,
    /// Latest start of a step after the first step's start, ns.
    pub max_duration_ns: Option<u64>,
    /// Context limit in tokens.
    pub limit_tokens: Option<u64>,
    /// `limit.to`: tokens, or a fraction of the context if below 1.
    pub compact_to: Option<f64>,
    /// Tokens that open the first turn of a root agent.
    pub first_prompt: u64,
    /// Tokens of an own (not shared) system prompt.
    pub own_prompt: u64,
}

/// The words below which an event of `probability` happens.
fn threshold(probability: f64) -> u64 {
    // 2^64 * p; p = 1 must always happen, which `happens` treats apart.
    (probability * 18_446_744_073_709_551_616.0) as u64
}

#[inline]
fn happens(bits: u64, below: u64) -> bool {
    bits < below || below == u64::MAX
}

/// Token draws stop here: a context beyond it is refused by the engine, and sums of draws stay far
/// from overflow.
const MOST_TOKENS: u64 = u32::MAX as u64;

fn at_least_one(value: f64) -> u32 {
    u32::try_from(round_half_up(value).max(1)).unwrap_or(u32::MAX)
}

impl Template {
    /// Compiles an agent. Equal laws of it share a table.
    pub fn new(agent: &Agent) -> Template {
        let mut tables = Tables::default();
        let mut compile = |law: &Law| Sampler::with_tables(law, &mut tables);
        let spawns = agent.spawns.iter().map(|s| SpawnTemplate {
            hash: hash_name(&s.name),
            happens_below: threshold(s.probability),
            count: compile(&s.count),
            task: compile(&s.task),
            result: compile(&s.result),
        });
        Template {
            spawns: spawns.collect(),
            own_prompt: match &agent.system_prompt {
                SystemPrompt::Own(law) => Some(compile(law)),
                SystemPrompt::Shared { .. } => None,
            },
            first_prompt: compile(&agent.first_prompt),
            prompt: compile(&agent.prompt),
            turns: compile(&agent.turns),
            steps: compile(&agent.steps),
            tool_tokens: compile(&agent.tool_tokens),
            tool_time: compile(&agent.tool_time),
            output: compile(&agent.output),
            think: compile(&agent.think),
            session_factor: compile(&agent.session_factor),
            max_duration: agent.max_duration.as_ref().map(&mut compile),
            limit_tokens: agent.limit.as_ref().map(|l| compile(&l.tokens)),
            compact_to: agent.limit.as_ref().and_then(|l| match &l.then {
                AtLimit::Compact { to } => Some(compile(to)),
                AtLimit::End => None,
            }),
            rewind_below: agent
                .rewind
                .as_ref()
                .map_or(0, |r| threshold(r.probability)),
            rewind_depth: agent.rewind.as_ref().map(|r| compile(&r.depth)),
            agent: agent.clone(),
        }
    }

    /// What a run draws once.
    pub fn run_draws(&self, key: RunKey) -> RunDraws {
        let once = |field| key.draw(field, 0, 0, 0);
        let factor = self
            .session_factor
            .value(once(Field::SessionFactor))
            .max(0.0);
        RunDraws {
            factor,
            turns: at_least_one(self.turns.value(once(Field::Turns)) * factor),
            max_duration_ns: self
                .max_duration
                .as_ref()
                .map(|s| s.integer(once(Field::MaxDuration))),
            limit_tokens: self
                .limit_tokens
                .as_ref()
                .map(|s| s.integer(once(Field::LimitTokens))),
            compact_to: self
                .compact_to
                .as_ref()
                .map(|s| s.value(once(Field::CompactTo)).max(0.0)),
            first_prompt: self
                .first_prompt
                .integer(once(Field::FirstPrompt))
                .min(MOST_TOKENS),
            own_prompt: self
                .own_prompt
                .as_ref()
                .map_or(0, |s| s.integer(once(Field::SystemPrompt)).min(MOST_TOKENS)),
        }
    }

    /// A session's variant of a shared prompt with `variants` of them; `root` is the session's key.
    pub fn variant(root: RunKey, variants: u32) -> u32 {
        ((u128::from(root.draw(Field::Variant, 0, 0, 0)) * u128::from(variants)) >> 64) as u32
    }

    /// Steps of turn `turn`, at least 1.
    pub fn steps(&self, key: RunKey, turn: u32) -> u32 {
        at_least_one(self.steps.value(key.draw(Field::Steps, turn, 0, 0)))
    }

    /// Tokens that open turn `turn` (not the first).
    pub fn prompt(&self, key: RunKey, turn: u32) -> u64 {
        self.prompt
            .integer(key.draw(Field::Prompt, turn, 0, 0))
            .min(MOST_TOKENS)
    }

    /// Tokens of the tool result after step `step` of turn `turn`; `factor` is the run's.
    pub fn tool_tokens(&self, key: RunKey, turn: u32, step: u32, factor: f64) -> u64 {
        round_half_up(
            self.tool_tokens
                .value(key.draw(Field::ToolTokens, turn, step, 0))
                * factor,
        )
        .min(MOST_TOKENS)
    }

    /// Duration of the tool call after step `step` of turn `turn`, ns.
    pub fn tool_time_ns(&self, key: RunKey, turn: u32, step: u32) -> u64 {
        self.tool_time
            .integer(key.draw(Field::ToolTime, turn, step, 0))
    }

    /// Output tokens of a step, at least 1 (before the limit's cut).
    pub fn output(&self, key: RunKey, turn: u32, step: u32) -> u64 {
        self.output
            .integer(key.draw(Field::Output, turn, step, 0))
            .clamp(1, MOST_TOKENS)
    }

    /// The user's pause after turn `turn`, ns.
    pub fn think_ns(&self, key: RunKey, turn: u32) -> u64 {
        self.think.integer(key.draw(Field::Think, turn, 0, 0))
    }

    /// How many tokens are dropped before step `step` of turn `turn`, if it rewinds.
    pub fn rewind_depth(&self, key: RunKey, turn: u32, step: u32) -> Option<u64> {
        let depth = self.rewind_depth.as_ref()?;
        happens(
            key.draw(Field::RewindHappens, turn, step, 0),
            self.rewind_below,
        )
        .then(|| depth.integer(key.draw(Field::RewindDepth, turn, step, 0)))
    }

    /// How many children spawn `spawn` starts at the tool call after step `step` of turn `turn`.
    pub fn spawn_count(&self, key: RunKey, turn: u32, step: u32, spawn: usize) -> u32 {
        let s = &self.spawns[spawn];
        // Keyed by the spawn's name, so that adding a spawn changes no other's draws.
        let at = RunKey(key.0 ^ s.hash);
        if happens(at.draw(Field::SpawnHappens, turn, step, 0), s.happens_below) {
            u32::try_from(s.count.integer(at.draw(Field::SpawnCount, turn, step, 0)))
                .unwrap_or(u32::MAX)
        } else {
            0
        }
    }

    /// Task tokens of a child of spawn `spawn`; `child` is the child's key.
    pub fn task(&self, child: RunKey, spawn: usize) -> u64 {
        self.spawns[spawn]
            .task
            .integer(child.draw(Field::Task, 0, 0, 0))
            .min(MOST_TOKENS)
    }

    /// Result tokens of a child of spawn `spawn`; `child` is the child's key.
    pub fn result(&self, child: RunKey, spawn: usize) -> u64 {
        self.spawns[spawn]
            .result
            .integer(child.draw(Field::Result, 0, 0, 0))
            .min(MOST_TOKENS)
    }
}

#[cfg(test)]
mod tests;
