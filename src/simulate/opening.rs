//! How a step opens: its new tokens, a rewind before them, and the context limit (rules 1, 6, 9 to
//! 11 of docs/rules.md).

use super::life::Start;
use super::run::{NEVER, NO_PROMPT, Opening};
use super::session::Session;
use super::world::World;
use crate::observe::{Activity, Vector};
use crate::scenario::{AtLimit, SystemPrompt};
use crate::workload::{RunDraws, Template};

/// Whether `tokens` passes the share `at_ppb` of a context limit, exactly.
fn passes(tokens: u64, at_ppb: u64, limit: u32) -> bool {
    u128::from(tokens) * 1_000_000_000 > u128::from(at_ppb) * u128::from(limit)
}

impl Session {
    /// Rules 1, 2, 6, 10 and 11: a step starts, unless a limit says otherwise.
    pub(super) fn start_step<const N: usize>(
        &mut self,
        place: u32,
        at: u64,
        world: &mut World<'_, '_, N>,
    ) {
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

    /// Rule 11, second half: the summary opens a new sequence.
    pub(super) fn compacted<const N: usize>(
        &mut self,
        place: u32,
        at: u64,
        world: &mut World<'_, '_, N>,
    ) {
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
