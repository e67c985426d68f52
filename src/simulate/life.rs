//! The life of an agent run, event by event: rules 1 to 12 of docs/rules.md. How a step opens is
//! in [`super::opening`], subagents in [`super::children`], snapshots and releases in
//! [`super::keeping`].
//!
//! This is the one definition of what an agent does. It says what happens at an instant and when
//! the run acts next; who calls it, and whether memory is finite, is the caller's.

use super::run::{NEVER, NO_PROMPT, Opening, Phase};
use super::session::Session;
use super::world::World;
use crate::observe::{Activity, Vector};
use crate::scenario::Rate;

/// `ceil(tokens * 1e9 / rate)`: ns that a phase of `tokens` tokens takes.
#[inline]
pub fn duration_ns(tokens: u64, rate: Rate) -> u64 {
    const MICRO: u64 = 1_000_000;
    if rate.micro_tokens_per_s.is_multiple_of(MICRO) && tokens <= u64::MAX / 1_000_000_000 {
        return (tokens * 1_000_000_000).div_ceil(rate.micro_tokens_per_s / MICRO);
    }
    let ns =
        (u128::from(tokens) * 1_000_000_000_000_000).div_ceil(u128::from(rate.micro_tokens_per_s));
    u64::try_from(ns).unwrap_or(NEVER)
}

/// What a step starts with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    /// Own system prompt, and anything else that is new to the context.
    pub new: u64,
    /// Tokens of the context that were released and are prefilled again.
    pub lost: u64,
    /// Tokens that a model with checkpointed state prefills again after a rewind.
    pub gap: u64,
    pub output: u32,
    pub sequence: bool,
}

impl Session {
    /// Lets the run at `place` act at `at`, which is its `next`.
    pub fn act<const N: usize>(&mut self, place: u32, at: u64, world: &mut World<'_, '_, N>) {
        world.events += 1;
        let run = self.run(place);
        match run.phase {
            Phase::Starting => self.start_step(place, at, world),
            Phase::Decoding => self.decode(place, at, world),
            Phase::Pausing if run.release_at < run.wake_at => {
                self.drop_sequence(place, at, world);
                let run = self.run_mut(place);
                run.release_at = NEVER;
                let wake_at = run.wake_at;
                self.schedule(place, wake_at);
            }
            Phase::Pausing if run.wake_ends => self.finish(place, at, world),
            Phase::Pausing => self.start_step(place, at, world),
            Phase::Finished => {
                self.drop_sequence(place, at, world);
                self.end(place, world);
            }
            Phase::Gone => {}
        }
    }

    /// Rule 2: allocates all new tokens, and the lost ones, and starts the prefill.
    pub(super) fn prefill<const N: usize>(
        &mut self,
        place: u32,
        at: u64,
        start: Start,
        before: Option<Vector<N>>,
        world: &mut World<'_, '_, N>,
    ) {
        let template = world.template(self.run(place).agent);
        let before = before.unwrap_or_else(|| {
            // A fork's first step holds its inheritance only from now on.
            if start.sequence {
                [0; N]
            } else {
                self.held(place, world.basis)
            }
        });
        let was = self.run(place).activity;
        let run = self.run_mut(place);
        let mut from = run.tokens;
        if !run.held {
            run.held = true;
            if run.fork && start.sequence {
                // The inherited tokens and their snapshots are there.
            } else {
                from = run.shared_tokens();
                run.tokens = run.tokens.max(from);
            }
            if run.shared != NO_PROMPT {
                let (agent, shared) = (run.agent, run.shared);
                world.books.post_prompt(at, agent, shared, true);
            }
        }
        let run = self.run(place);
        let tokens = world.context(u64::from(run.tokens) + start.new);
        let limit = run.limit;
        self.grow(place, tokens, world.basis);
        let run = self.run_mut(place);
        run.activity = Activity::Running;
        run.phase = Phase::Decoding;
        run.release_at = NEVER;
        run.output = start.output.min(limit.saturating_sub(tokens));
        run.decoded = 0;
        run.decode_start =
            at.saturating_add(duration_ns(start.new + start.lost, template.agent.prefill));
        let (agent, decode_start) = (run.agent, run.decode_start);
        self.snapshots_between(place, from, tokens, at, world);
        let counts = world.books.counts(agent, at);
        counts.counts.steps += 1;
        counts.counts.sequences_started += u64::from(start.sequence);
        counts.counts.tokens_prefilled += start.new + start.lost;
        counts.counts.tokens_recomputed += start.lost;
        counts.gap += start.gap;
        let after = self.held(place, world.basis);
        self.post(place, at, was, &before, &after, 1, world);
        self.schedule(place, decode_start);
    }

    /// Rule 3: the prefill's end, a block, or the step's end.
    fn decode<const N: usize>(&mut self, place: u32, at: u64, world: &mut World<'_, '_, N>) {
        let template = world.template(self.run(place).agent);
        let run = self.run(place);
        let prompt_end = run.decoded == 0 && template.agent.snapshots.prompt_end;
        if run.decoded >= run.output {
            return self.end_step(place, at, prompt_end, world);
        }
        let run = self.run(place);
        let from = run.tokens;
        let block = (run.output - run.decoded)
            .min(template.agent.decode_block.min(u64::from(u32::MAX)) as u32);
        let to = world.context(u64::from(from) + u64::from(block));
        let run = self.run_mut(place);
        run.decoded += block;
        let next = run
            .decode_start
            .saturating_add(duration_ns(u64::from(run.decoded), template.agent.decode));
        let agent = run.agent;
        world.books.counts(agent, at).counts.tokens_decoded += u64::from(block);
        let snapshots = &template.agent.snapshots;
        let crosses = snapshots
            .every
            .is_some_and(|e| u64::from(from) / e != u64::from(to) / e);
        if !prompt_end && !crosses && from > 0 {
            // The common block only grows its sequence, which owns what it adds. The first token
            // of a context that was empty brings the sequence itself.
            let role = run.role;
            self.grow(place, to, world.basis);
            let mut delta = [0; N];
            world.basis.add_entries(&mut delta, from, to, 1);
            world.basis.add_window_growth(&mut delta, from, to);
            world.books.post_growth(at, self.slot, agent, role, &delta);
            return self.schedule(place, next);
        }
        let before = self.held(place, world.basis);
        if prompt_end {
            self.snapshot_at(place, from, at, world);
        }
        self.grow(place, to, world.basis);
        self.snapshots_between(place, from, to, at, world);
        let after = self.held(place, world.basis);
        self.post(place, at, Activity::Running, &before, &after, 0, world);
        self.schedule(place, next);
    }

    /// A step ends: tool call, think, end (rules 4, 6, 8), or the rest of a compaction (rule 11).
    fn end_step<const N: usize>(
        &mut self,
        place: u32,
        at: u64,
        prompt_end: bool,
        world: &mut World<'_, '_, N>,
    ) {
        let template = world.template(self.run(place).agent);
        let before = self.held(place, world.basis);
        let taken = world.taken;
        if prompt_end || template.agent.snapshots.output_end {
            let tokens = self.run(place).tokens;
            self.snapshot_at(place, tokens, at, world);
        }
        if self.run(place).compacting {
            let after = self.held(place, world.basis);
            self.post(place, at, Activity::Running, &before, &after, 0, world);
            return self.compacted(place, at, world);
        }
        let run = self.run(place);
        let last_step = run.step + 1 >= run.steps;
        let last_turn = run.turn + 1 >= run.turns;
        let (activity, wake_at) = match (last_step, last_turn) {
            (true, true) => (Activity::Finished, NEVER),
            (true, false) => {
                let think = template.think_ns(run.key, run.turn);
                self.run_mut(place).opening = Opening::Turn;
                (Activity::User, at.saturating_add(think))
            }
            (false, _) => {
                let run = self.run(place);
                let (key, turn, step) = (run.key, run.turn, run.step);
                if self.tool_call(place, at, template, world) {
                    self.run_mut(place).opening = Opening::Results;
                    (Activity::Blocked, NEVER)
                } else {
                    self.run_mut(place).opening = Opening::Tool;
                    (
                        Activity::Tool,
                        at.saturating_add(template.tool_time_ns(key, turn, step)),
                    )
                }
            }
        };
        let after = if world.taken == taken {
            before
        } else {
            self.held(place, world.basis)
        };
        self.run_mut(place).activity = activity;
        self.post(place, at, Activity::Running, &before, &after, -1, world);
        if activity == Activity::Finished {
            return self.finish(place, at, world);
        }
        self.pause(place, at, activity, wake_at, world);
    }

    /// Rules 7 and 8: what ends a pause that starts at `at`, and whether memory goes before.
    pub(super) fn pause<const N: usize>(
        &mut self,
        place: u32,
        at: u64,
        activity: Activity,
        wake_at: u64,
        world: &World<'_, '_, N>,
    ) {
        let ttl = world.ttl(self.run(place).agent, activity);
        let run = self.run_mut(place);
        run.phase = Phase::Pausing;
        run.wake_ends = wake_at > run.deadline;
        run.wake_at = if run.wake_ends {
            run.deadline.max(at)
        } else {
            wake_at
        };
        run.release_at = ttl.map_or(NEVER, |t| at.saturating_add(t));
        if run.release_at >= run.wake_at {
            run.release_at = NEVER;
        }
        let next = run.release_at.min(run.wake_at);
        self.schedule(place, next);
    }

    /// The agent ends: its parent hears of it, and its memory stays for a while (rules 5, 7, 8).
    pub(super) fn finish<const N: usize>(
        &mut self,
        place: u32,
        at: u64,
        world: &mut World<'_, '_, N>,
    ) {
        let held = self.held(place, world.basis);
        let ttl = world.ttl(self.run(place).agent, Activity::Finished);
        let run = self.run_mut(place);
        let was = run.activity;
        run.activity = Activity::Finished;
        run.phase = Phase::Finished;
        let (is_held, parent) = (run.held, run.parent);
        if place > 0 {
            self.report_back(place, parent, at, world);
        }
        if !is_held {
            return self.end(place, world);
        }
        if was != Activity::Finished {
            self.post(place, at, was, &held, &held, 0, world);
        }
        self.schedule(place, ttl.map_or(NEVER, |t| at.saturating_add(t)));
    }

    /// Nothing of the run is held any more, and nothing will be.
    pub(super) fn end<const N: usize>(&mut self, place: u32, world: &mut World<'_, '_, N>) {
        let run = self.run_mut(place);
        run.phase = Phase::Gone;
        run.next = NEVER;
        let children = run.children;
        self.lose();
        if children == 0 {
            self.forget(place);
        }
        if self.live == 0 {
            world.books.close_session(self.slot);
        }
    }
}
