//! The life of an agent run, event by event: rules 1 to 12 of docs/rules.md.
//!
//! This is the one definition of what an agent does. It says what happens at an instant and when
//! the run acts next; who calls it, and whether memory is finite, is the caller's.

use super::run::{NEVER, NO_PROMPT, Opening, Phase, Run};
use super::session::Session;
use super::world::World;
use crate::observe::{Activity, Role, Vector};
use crate::scenario::{AtLimit, Rate, SpawnMode, SpawnStart, SystemPrompt};
use crate::workload::{RunDraws, RunKey, Template};

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

/// Whether `tokens` passes the share `at_ppb` of a context limit, exactly.
fn passes(tokens: u64, at_ppb: u64, limit: u32) -> bool {
    u128::from(tokens) * 1_000_000_000 > u128::from(at_ppb) * u128::from(limit)
}

/// What a step starts with.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    /// Own system prompt, and anything else that is new to the context.
    new: u64,
    /// Tokens of the context that were released and are prefilled again.
    lost: u64,
    /// Tokens that a model with checkpointed state prefills again after a rewind.
    gap: u64,
    output: u32,
    sequence: bool,
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

    /// Rules 1, 2, 6, 10 and 11: a step starts, unless a limit says otherwise.
    fn start_step<const N: usize>(&mut self, place: u32, at: u64, world: &mut World<'_, '_, N>) {
        let template = world.template(self.run(place).agent);
        let opening = self.run(place).opening;
        let mut prompt = 0;
        let mut new = match opening {
            Opening::Run => {
                let draws = self.begin_run(place, at, template, world);
                prompt = self.own_prompt(place, &draws);
                self.first_tokens(place, &draws, world)
            }
            Opening::Turn => {
                let run = self.run_mut(place);
                run.turn += 1;
                run.step = 0;
                run.steps = template.steps(run.key, run.turn);
                template.prompt(run.key, run.turn)
            }
            Opening::Tool => {
                let run = self.run_mut(place);
                run.step += 1;
                template.tool_tokens(run.key, run.turn, run.step - 1, run.factor)
            }
            Opening::Results => {
                let run = self.run_mut(place);
                run.step += 1;
                std::mem::take(&mut run.carry)
            }
        };
        new += std::mem::take(&mut self.run_mut(place).inbox);
        let (before, gap) = if opening == Opening::Run {
            (None, 0)
        } else {
            self.maybe_rewind(place, at, template, world)
        };
        let forks = opening == Opening::Run && self.run(place).fork;
        let context = if forks {
            self.run(self.run(place).parent).tokens
        } else {
            self.run(place).tokens
        };
        if let Some(limit) = &template.agent.limit {
            let tokens = self.run(place).limit;
            let shared = if context == 0 {
                u64::from(self.run(place).shared_tokens())
            } else {
                0
            };
            if passes(
                u64::from(context) + shared + prompt + new,
                limit.at_ppb,
                tokens,
            ) {
                match (&limit.then, context) {
                    (AtLimit::End, _) => {
                        if let Some(before) = before {
                            self.post_idle(place, at, &before, world);
                        }
                        return self.finish(place, at, world);
                    }
                    (AtLimit::Compact { .. }, 0) => {
                        new = cut(new, shared + prompt, limit.at_ppb, tokens, world)
                    }
                    (AtLimit::Compact { .. }, _) => {
                        let run = self.run_mut(place);
                        run.compacting = true;
                        run.carry = new;
                        new = 0;
                        world
                            .books
                            .counts(self.run(place).agent, at)
                            .counts
                            .compactions += 1;
                    }
                }
            }
        }
        if forks {
            let parent = self.run(place).parent;
            self.fork(parent, place, world.basis);
        }
        let run = self.run(place);
        let lost = if run.held || opening == Opening::Run {
            0
        } else {
            run.tokens - run.shared_tokens()
        };
        let output = if run.compacting {
            let to = template.run_draws(run.key).compact_to.unwrap_or(0.0);
            let to = if to < 1.0 {
                to * f64::from(run.tokens)
            } else {
                to
            };
            ((to + 0.5).floor() as u64).max(1)
        } else {
            template.output(run.key, run.turn, run.step)
        };
        let start = Start {
            new: prompt + new,
            lost: u64::from(lost),
            gap,
            output: u32::try_from(output).unwrap_or(u32::MAX),
            sequence: opening == Opening::Run,
        };
        self.prefill(place, at, start, before, world);
    }

    /// Draws what is drawn once a run.
    fn begin_run<const N: usize>(
        &mut self,
        place: u32,
        at: u64,
        template: &Template,
        world: &mut World<'_, '_, N>,
    ) -> RunDraws {
        let draws = template.run_draws(self.run(place).key);
        let root = self.key();
        let run = self.run_mut(place);
        run.factor = draws.factor;
        run.turns = draws.turns;
        run.steps = template.steps(run.key, 0);
        run.deadline = draws
            .max_duration_ns
            .map_or(NEVER, |d| at.saturating_add(d));
        run.limit = draws
            .limit_tokens
            .map_or(u32::MAX, |l| u32::try_from(l).unwrap_or(u32::MAX));
        if place == 0 {
            world.books.counts(run.agent, at).counts.sessions_started += 1;
        }
        if let SystemPrompt::Shared { tokens, variants } = &template.agent.system_prompt
            && !run.fork
        {
            run.shared =
                world.prompt_base[usize::from(run.agent)] + Template::variant(root, *variants);
            run.prompt = *tokens as u32;
        }
        draws
    }

    /// Tokens of an own system prompt; a fork has its parent's instead.
    fn own_prompt(&mut self, place: u32, draws: &RunDraws) -> u64 {
        let run = self.run_mut(place);
        if run.fork || run.shared != NO_PROMPT {
            return 0;
        }
        run.prompt = u32::try_from(draws.own_prompt).unwrap_or(u32::MAX);
        u64::from(run.prompt)
    }

    /// The first prompt of a root agent, or the task of a subagent (rule 9).
    fn first_tokens<const N: usize>(
        &self,
        place: u32,
        draws: &RunDraws,
        world: &World<'_, '_, N>,
    ) -> u64 {
        if place == 0 {
            return draws.first_prompt;
        }
        let run = self.run(place);
        world
            .template(self.run(run.parent).agent)
            .task(run.key, usize::from(run.spawn))
    }

    /// Rule 10. Returns what was held before it, if that changed, and how many tokens a model with
    /// checkpointed state prefills again.
    fn maybe_rewind<const N: usize>(
        &mut self,
        place: u32,
        at: u64,
        template: &Template,
        world: &mut World<'_, '_, N>,
    ) -> (Option<Vector<N>>, u64) {
        let run = self.run(place);
        let Some(depth) = template.rewind_depth(run.key, run.turn, run.step) else {
            return (None, 0);
        };
        world.books.counts(run.agent, at).counts.rewinds += 1;
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        let to = run
            .tokens
            .saturating_sub(depth)
            .max(run.prompt)
            .min(run.tokens);
        if to == run.tokens {
            return (None, 0);
        }
        if !run.held {
            self.run_mut(place).tokens = to;
            return (None, 0);
        }
        let before = self.held(place, world.basis);
        let mut handovers = std::mem::take(&mut world.handovers);
        let base = self.rewind(place, to, world.basis, &mut handovers);
        self.post_handovers(at, handovers, world);
        (Some(before), u64::from(to - base))
    }

    /// Rule 2: allocates all new tokens, and the lost ones, and starts the prefill.
    fn prefill<const N: usize>(
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
    fn pause<const N: usize>(
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

    /// Rule 4: starts the children of a tool call; whether the parent waits for any.
    fn tool_call<const N: usize>(
        &mut self,
        place: u32,
        at: u64,
        template: &Template,
        world: &mut World<'_, '_, N>,
    ) -> bool {
        let run = self.run(place);
        let (key, turn, step, depth) = (run.key, run.turn, run.step, run.depth + 1);
        let mut waiting = 0;
        let mut children = 0;
        let mut forked = false;
        for (index, spawn) in template.agent.spawns.iter().enumerate() {
            if spawn.max_depth.is_some_and(|most| u32::from(depth) > most) {
                continue;
            }
            let count = template.spawn_count(key, turn, step, index);
            let fork = spawn.start == SpawnStart::Fork;
            if fork && count > 0 && !forked {
                forked = true;
                if template.agent.snapshots.fork {
                    let tokens = self.run(place).tokens;
                    self.snapshot_at(place, tokens, at, world);
                }
            }
            let role = match spawn.mode {
                SpawnMode::Sync => Role::Sync,
                SpawnMode::Async => Role::Async,
            };
            for number in 0..count {
                let child_key: RunKey = key.child(template.spawns[index].hash, turn, step, number);
                let mut child = Run::new(child_key, spawn.agent as u16, role, at);
                child.parent = place;
                child.depth = depth;
                child.spawn = index as u16;
                child.fork = fork;
                self.add(child);
            }
            children += count;
            if role == Role::Sync {
                waiting += count;
            }
        }
        let run = self.run_mut(place);
        run.children += children;
        run.waiting = waiting;
        run.carry = 0;
        waiting > 0
    }

    /// The agent ends: its parent hears of it, and its memory stays for a while (rules 5, 7, 8).
    fn finish<const N: usize>(&mut self, place: u32, at: u64, world: &mut World<'_, '_, N>) {
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

    /// A child returns: its result goes to the waiting call, or to the inbox.
    fn report_back<const N: usize>(
        &mut self,
        place: u32,
        parent: u32,
        at: u64,
        world: &World<'_, '_, N>,
    ) {
        let (key, spawn, role) = {
            let run = self.run(place);
            (run.key, usize::from(run.spawn), run.role)
        };
        let result = world.template(self.run(parent).agent).result(key, spawn);
        let run = self.run_mut(parent);
        run.children -= 1;
        match run.phase {
            Phase::Gone if run.children == 0 => self.forget(parent),
            Phase::Gone | Phase::Finished => {}
            _ if role == Role::Async => run.inbox += result,
            _ => {
                run.carry += result;
                run.waiting -= 1;
                if run.waiting == 0 && at <= run.deadline {
                    run.wake_at = at;
                    run.wake_ends = false;
                    run.release_at = NEVER;
                    self.schedule(parent, at);
                }
            }
        }
    }

    /// Rule 11, second half: the summary opens a new sequence.
    fn compacted<const N: usize>(&mut self, place: u32, at: u64, world: &mut World<'_, '_, N>) {
        let template = world.template(self.run(place).agent);
        self.drop_sequence(place, at, world);
        let run = self.run_mut(place);
        run.compacting = false;
        run.activity = Activity::Tool;
        let summary = u64::from(run.output);
        let waiting = std::mem::take(&mut run.carry) + std::mem::take(&mut run.inbox);
        run.tokens = 0;
        let agent = run.agent;
        self.post_running_end(place, at, world);
        let run = self.run(place);
        if at > run.deadline {
            return self.finish(place, at, world);
        }
        let own_prompt = if run.shared == NO_PROMPT {
            u64::from(run.prompt)
        } else {
            0
        };
        let fixed = u64::from(run.prompt) + summary;
        let at_ppb = template
            .agent
            .limit
            .as_ref()
            .map_or(1_000_000_000, |l| l.at_ppb);
        let new = if passes(fixed + waiting, at_ppb, run.limit) {
            cut(waiting, fixed, at_ppb, run.limit, world)
        } else {
            waiting
        };
        let output = template.output(run.key, run.turn, run.step);
        let start = Start {
            new: own_prompt + summary + new,
            lost: 0,
            gap: 0,
            output: u32::try_from(output).unwrap_or(u32::MAX),
            sequence: true,
        };
        debug_assert_eq!(usize::from(agent), usize::from(self.run(place).agent));
        self.run_mut(place).fork = false;
        self.prefill(place, at, start, None, world);
    }

    /// Nothing of the run is held any more, and nothing will be.
    fn end<const N: usize>(&mut self, place: u32, world: &mut World<'_, '_, N>) {
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

    /// Releases a held sequence and posts it.
    fn drop_sequence<const N: usize>(&mut self, place: u32, at: u64, world: &mut World<'_, '_, N>) {
        if !self.run(place).held {
            return;
        }
        let before = self.held(place, world.basis);
        let mut handovers = std::mem::take(&mut world.handovers);
        self.release(place, world.basis, &mut handovers);
        let run = self.run(place);
        let activity = run.activity;
        if run.shared != NO_PROMPT {
            world.books.post_prompt(at, run.agent, run.shared, false);
        }
        self.post(place, at, activity, &before, &[0; N], 0, world);
        self.post_handovers(at, handovers, world);
    }

    /// Rule 12: every multiple of `every` in (from, to].
    fn snapshots_between<const N: usize>(
        &mut self,
        place: u32,
        from: u32,
        to: u32,
        at: u64,
        world: &mut World<'_, '_, N>,
    ) {
        let Some(every) = world.template(self.run(place).agent).agent.snapshots.every else {
            return;
        };
        let mut position = (u64::from(from) / every + 1) * every;
        while position <= u64::from(to) {
            self.snapshot_at(place, position as u32, at, world);
            position += every;
        }
    }

    fn snapshot_at<const N: usize>(
        &mut self,
        place: u32,
        position: u32,
        at: u64,
        world: &mut World<'_, '_, N>,
    ) {
        let agent = self.run(place).agent;
        let keep = world.template(agent).agent.snapshots.keep;
        let track = world.track[usize::from(agent)];
        let mut handovers = std::mem::take(&mut world.handovers);
        let taken = self.take_snapshot(place, position, keep, track, world.basis, &mut handovers);
        if taken {
            world.taken += 1;
            world.books.counts(agent, at).counts.snapshots_taken += 1;
        }
        self.post_handovers(at, handovers, world);
    }
}

/// New tokens cut so that they fit the limit beside `fixed` tokens (rule 11), with a warning.
fn cut<const N: usize>(
    new: u64,
    fixed: u64,
    at_ppb: u64,
    limit: u32,
    world: &mut World<'_, '_, N>,
) -> u64 {
    world.cut_prompts += 1;
    let most = (u128::from(at_ppb) * u128::from(limit) / 1_000_000_000) as u64;
    new.min(most.saturating_sub(fixed))
}
