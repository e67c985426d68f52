//! The event rules (design section 3) on one global sorted list of events. Knows no bytes: time
//! and tokens are the same under every model.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use fleetmem::scenario::{AtLimit, Rate, Scenario, SpawnMode, SpawnStart, SystemPrompt};
use fleetmem::workload::{RunDraws, RunKey, Template};

use super::context::{Context, Prompt, Snapshot};
use super::run::{Activity, AgentCounts, Place, Run, Step};

/// Key of an event: time, session, releases last, deepest run first, path order, order of posting.
type EventKey = (u64, usize, bool, Reverse<usize>, Vec<Place>, u64);

#[derive(Clone, Copy, Debug)]
enum Event {
    /// The step at the run's (turn, step) starts.
    StepStart,
    PrefillEnd,
    /// Decode block number `.0` is allocated.
    Block(u64),
    StepEnd,
    /// The agent finishes, unless pause number `.0` is over.
    Finish(u64),
    /// The sequence is released, unless pause number `.0` is over.
    Release(u64),
}

/// All sessions of one replication.
pub struct Timeline<'a> {
    scenario: &'a Scenario,
    templates: Vec<Template>,
    warmup_ns: u64,
    now: u64,
    events: BTreeMap<EventKey, (usize, Event)>,
    posted: u64,
    last_id: u64,
    pub runs: Vec<Run>,
    pub counts: Vec<AgentCounts>,
}

/// `ceil(n tokens / rate)` in ns (design section 3).
fn duration(n: u64, rate: Rate) -> u64 {
    let ns = (u128::from(n) * 1_000_000_000_000_000).div_ceil(u128::from(rate.micro_tokens_per_s));
    u64::try_from(ns).expect("small scenarios only")
}

fn round_half_up(value: f64) -> u64 {
    (value + 0.5).floor() as u64
}

impl<'a> Timeline<'a> {
    /// Posts the arrivals of all entries.
    pub fn new(
        scenario: &'a Scenario,
        warmup_ns: u64,
        replication: u32,
        arrivals: &[Vec<(u64, u64)>],
    ) -> Timeline<'a> {
        let mut timeline = Timeline {
            scenario,
            templates: scenario.agents.iter().map(Template::new).collect(),
            warmup_ns,
            now: 0,
            events: BTreeMap::new(),
            posted: 0,
            last_id: 0,
            runs: Vec::new(),
            counts: vec![AgentCounts::default(); scenario.agents.len()],
        };
        let mut session = 0;
        for (entry, times) in scenario.workload.iter().zip(arrivals) {
            for &(number, time) in times {
                let key = RunKey::entry(scenario.seed, replication, &entry.name).session(number);
                let draws = timeline.templates[entry.agent].run_draws(key);
                let prompt = timeline.prompt_of(entry.agent, &draws, key);
                let opening = draws.first_prompt;
                let context = Context::new(prompt);
                let run = timeline.add_run(session, entry.agent, key, key, context, opening);
                timeline.runs[run].start = time;
                timeline.post(time, run, Event::StepStart);
                session += 1;
            }
        }
        timeline
    }

    /// The scenario that this is a replication of.
    pub fn scenario(&self) -> &'a Scenario {
        self.scenario
    }

    /// The next instant at which something happens.
    pub fn next_instant(&self) -> Option<u64> {
        self.events.first_key_value().map(|(key, _)| key.0)
    }

    /// Does everything that happens at `now`.
    pub fn run_instant(&mut self, now: u64) {
        self.now = now;
        while self.next_instant() == Some(now) {
            let (_, (run, event)) = self.events.pop_first().expect("an event is due");
            match event {
                Event::StepStart => self.step_start(run),
                Event::PrefillEnd => self.prefill_end(run),
                Event::Block(j) => self.block(run, j),
                Event::StepEnd => self.step_end(run),
                Event::Finish(pause) if pause == self.runs[run].pause => self.finish(run),
                Event::Release(pause) if pause == self.runs[run].pause => {
                    self.runs[run].context.release()
                }
                Event::Finish(_) | Event::Release(_) => {}
            }
        }
    }

    fn post(&mut self, time: u64, run: usize, event: Event) {
        assert!(time >= self.now, "time never runs back");
        let r = &self.runs[run];
        let last = matches!(event, Event::Release(_));
        self.posted += 1;
        let key = (
            time,
            r.session,
            last,
            Reverse(r.path.len()),
            r.path.clone(),
            self.posted,
        );
        self.events.insert(key, (run, event));
    }

    fn new_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    fn count(&mut self, run: usize, what: impl FnOnce(&mut AgentCounts)) {
        if self.now >= self.warmup_ns {
            what(&mut self.counts[self.runs[run].agent]);
        }
    }

    fn prompt_of(&self, agent: usize, draws: &RunDraws, root: RunKey) -> Prompt {
        match self.scenario.agents[agent].system_prompt {
            SystemPrompt::Own(_) => Prompt {
                tokens: draws.own_prompt,
                shared: None,
            },
            SystemPrompt::Shared { tokens, variants } => Prompt {
                tokens,
                shared: Some((agent, Template::variant(root, variants))),
            },
        }
    }

    /// A main agent's run; the caller makes a child of it.
    fn add_run(
        &mut self,
        session: usize,
        agent: usize,
        root: RunKey,
        key: RunKey,
        context: Context,
        opening: u64,
    ) -> usize {
        let template = &self.templates[agent];
        self.runs.push(Run {
            session,
            agent,
            owner: 0,
            activity: Activity::Running,
            context,
            start: self.now,
            ancestor_starts: Vec::new(),
            path: Vec::new(),
            root,
            key,
            draws: template.run_draws(key),
            parent: None,
            turn: 0,
            step: 0,
            steps: template.steps(key, 0),
            opening,
            inbox: 0,
            results: None,
            waiting: 0,
            pause: 0,
            current: Step::default(),
            gap: 0,
        });
        self.runs.len() - 1
    }

    /// Rules 1, 6, 8, 10, 11: what happens at a step's start before its prefill.
    fn step_start(&mut self, run: usize) {
        let now = self.now;
        let r = &mut self.runs[run];
        r.pause += 1;
        let first_of_run = !r.context.begun && r.turn == 0 && r.step == 0;
        if first_of_run && r.parent.is_none() {
            self.count(run, |c| c.counts.sessions_started += 1);
        }
        if now > self.runs[run].deadline() {
            return self.finish(run);
        }
        if self.runs[run].context.begun {
            self.rewind(run);
        }
        let r = &mut self.runs[run];
        let template = &self.templates[r.agent];
        let asked = match (r.turn, r.step) {
            (0, 0) => r.opening,
            (turn, 0) => template.prompt(r.key, turn),
            (turn, step) => match r.results.take() {
                Some(results) => results,
                None => template.tool_tokens(r.key, turn, step - 1, r.draws.factor),
            },
        };
        let new = asked + std::mem::take(&mut r.inbox);

        let Some(room) = self.room(run) else {
            return self.start_step(run, new, None);
        };
        let r = &self.runs[run];
        let unbegun_prompt = Self::missing_prompt(&r.context);
        if r.context.tokens + unbegun_prompt + new <= room {
            return self.start_step(run, new, None);
        }
        let limit = template
            .agent
            .limit
            .as_ref()
            .expect("there is room, so there is a limit");
        match limit.then {
            AtLimit::End => {
                if !r.context.begun {
                    self.runs[run].context.release();
                }
                self.finish(run);
            }
            AtLimit::Compact { .. } if r.context.tokens == 0 => {
                self.start_step(run, room.saturating_sub(unbegun_prompt), None);
            }
            AtLimit::Compact { .. } => {
                self.count(run, |c| c.counts.compactions += 1);
                self.start_step(run, 0, Some(new));
            }
        }
    }

    /// `at * tokens` in whole tokens, if the run has a limit.
    fn room(&self, run: usize) -> Option<u64> {
        let r = &self.runs[run];
        let limit = self.templates[r.agent].agent.limit.as_ref()?;
        let tokens = r.draws.limit_tokens.expect("a limit has tokens");
        Some((u128::from(tokens) * u128::from(limit.at_ppb) / 1_000_000_000) as u64)
    }

    /// The system prompt, if the sequence has still to begin with it (a fork has its parent's).
    fn missing_prompt(context: &Context) -> u64 {
        if context.begun || context.held {
            0
        } else {
            context.prompt.tokens
        }
    }

    /// Rule 10. The gap is prefilled by the step that follows, if the limit lets one follow.
    fn rewind(&mut self, run: usize) {
        let r = &mut self.runs[run];
        let Some(depth) = self.templates[r.agent].rewind_depth(r.key, r.turn, r.step) else {
            return;
        };
        let context = &mut r.context;
        let to = context
            .tokens
            .saturating_sub(depth)
            .max(context.prompt.tokens);
        let mut gap = 0;
        if !context.held {
            context.tokens = to;
        } else if to < context.tokens {
            context.truncate(to);
            gap = to - context.resume_point(to);
        }
        r.gap = gap;
        self.count(run, |c| c.counts.rewinds += 1);
    }

    /// Rule 2: allocates a step's new tokens (and what was lost) and starts its prefill.
    /// `compaction`: this is the step that decodes a summary; these tokens wait.
    fn start_step(&mut self, run: usize, new: u64, compaction: Option<u64>) {
        let first_of_sequence = !self.runs[run].context.begun;
        let context = &self.runs[run].context;
        let before = if context.held { context.tokens } else { 0 };
        let cached = if context.held {
            0
        } else {
            context.prompt.shared_tokens()
        };
        let lost = if context.held {
            0
        } else {
            context.tokens.saturating_sub(cached)
        };
        let own_prompt = Self::missing_prompt(context).saturating_sub(cached);
        let prefill = lost + own_prompt + new;
        let id = self.new_id();

        let r = &mut self.runs[run];
        r.activity = Activity::Running;
        r.current = Step {
            compaction,
            ..Step::default()
        };
        r.context.held = true;
        r.context.begun = true;
        r.context.append(id, prefill);
        r.context.tokens = before + cached + prefill;
        let after = r.context.tokens;
        let gap = std::mem::take(&mut r.gap);
        self.count(run, |c| {
            c.gap += gap;
            c.counts.sequences_started += u64::from(first_of_sequence);
            c.counts.steps += 1;
            c.counts.tokens_prefilled += prefill;
            c.counts.tokens_recomputed += lost;
        });
        self.every_snapshot(run, before, after);
        let rate = self.templates[self.runs[run].agent].agent.prefill;
        self.post(self.now + duration(prefill, rate), run, Event::PrefillEnd);
    }

    /// Rule 3, and the cut of rule 11: decode starts.
    fn prefill_end(&mut self, run: usize) {
        if self.policy(run).prompt_end {
            self.snapshot(run, self.runs[run].context.tokens);
        }
        let now = self.now;
        let r = &mut self.runs[run];
        let template = &self.templates[r.agent];
        let tokens = r.context.tokens;
        let wanted = match (r.current.compaction, r.draws.compact_to) {
            (Some(_), Some(to)) if to < 1.0 => round_half_up(to * tokens as f64).max(1),
            (Some(_), Some(to)) => round_half_up(to).max(1),
            _ => template.output(r.key, r.turn, r.step),
        };
        let output = match r.draws.limit_tokens {
            Some(limit) => wanted.min(limit.saturating_sub(tokens)),
            None => wanted,
        };
        r.current.output = output;
        let (block, rate) = (template.agent.decode_block, template.agent.decode);
        // Posted in order, so that a block at the instant of the step's end comes before it.
        for j in 0..output.div_ceil(block) {
            self.post(now + duration(block * j, rate), run, Event::Block(j));
        }
        self.post(now + duration(output, rate), run, Event::StepEnd);
    }

    fn block(&mut self, run: usize, j: u64) {
        let id = self.new_id();
        let r = &mut self.runs[run];
        let block = self.templates[r.agent].agent.decode_block;
        let n = block.min(r.current.output - block * j);
        let before = r.context.tokens;
        r.context.append(id, n);
        r.context.tokens += n;
        self.count(run, |c| c.counts.tokens_decoded += n);
        self.every_snapshot(run, before, before + n);
    }

    /// Rules 4, 6, 8: what follows a step.
    fn step_end(&mut self, run: usize) {
        if self.policy(run).output_end {
            self.snapshot(run, self.runs[run].context.tokens);
        }
        if let Some(new) = self.runs[run].current.compaction {
            return self.new_sequence(run, new);
        }
        let r = &self.runs[run];
        let template = &self.templates[r.agent];
        let (key, turn, step) = (r.key, r.turn, r.step);
        if step + 1 < r.steps {
            let sync_children = self.tool_call(run);
            self.runs[run].step += 1;
            if sync_children > 0 {
                self.runs[run].waiting = sync_children;
                self.runs[run].results = Some(0);
                self.pause(run, Activity::Blocked, None);
            } else {
                let time = self.templates[self.runs[run].agent].tool_time_ns(key, turn, step);
                self.pause(run, Activity::Tool, Some(time));
            }
        } else if turn + 1 < r.draws.turns {
            let think = template.think_ns(key, turn);
            let steps = template.steps(key, turn + 1);
            let r = &mut self.runs[run];
            (r.turn, r.step, r.steps) = (turn + 1, 0, steps);
            self.pause(run, Activity::User, Some(think));
        } else {
            self.finish(run);
        }
    }

    /// Rule 11: a new sequence begins with the summary, unless it is too late.
    fn new_sequence(&mut self, run: usize, waiting: u64) {
        let now = self.now;
        let r = &mut self.runs[run];
        let summary = r.current.output;
        r.context.release();
        r.context = Context::new(r.context.prompt);
        if now > r.deadline() {
            return self.finish(run);
        }
        let new = waiting + std::mem::take(&mut r.inbox);
        let begins_with = r.context.prompt.tokens + summary;
        let room = self.room(run).expect("only a limit compacts");
        self.start_step(
            run,
            summary + new.min(room.saturating_sub(begins_with)),
            None,
        );
    }

    /// Rules 4 and 9: starts children; gives the number of sync ones.
    fn tool_call(&mut self, run: usize) -> u32 {
        let r = &self.runs[run];
        let (agent, session, root, key) = (r.agent, r.session, r.root, r.key);
        let (turn, step, path) = (r.turn, r.step, r.path.clone());
        let spawns = self.templates[agent].agent.spawns.clone();
        let depth = path.len() as u32 + 1;
        let mut children = Vec::new();
        for (s, spawn) in spawns.iter().enumerate() {
            if spawn.max_depth.is_none_or(|max| depth <= max) {
                let count = self.templates[agent].spawn_count(key, turn, step, s);
                children.extend((0..count).map(|index| (s, index)));
            }
        }
        let forks = children
            .iter()
            .any(|&(s, _)| spawns[s].start == SpawnStart::Fork);
        if forks && self.policy(run).fork {
            self.snapshot(run, self.runs[run].context.tokens);
        }
        let mut sync_children = 0;
        for (s, index) in children {
            let spawn = &spawns[s];
            let template = &self.templates[agent];
            let child_key = key.child(template.spawns[s].hash, turn, step, index);
            let (task, result) = (template.task(child_key, s), template.result(child_key, s));
            let context = match spawn.start {
                SpawnStart::Fork => self.runs[run].context.fork(),
                SpawnStart::Fresh => {
                    let draws = self.templates[spawn.agent].run_draws(child_key);
                    Context::new(self.prompt_of(spawn.agent, &draws, root))
                }
            };
            let child = self.add_run(session, spawn.agent, root, child_key, context, task);
            let parent = &self.runs[run];
            let mut ancestor_starts = parent.ancestor_starts.clone();
            ancestor_starts.insert(0, parent.start);
            let c = &mut self.runs[child];
            c.parent = Some((run, spawn.mode, result));
            c.ancestor_starts = ancestor_starts;
            c.path = path.clone();
            c.path.push((turn, step, s, index));
            c.owner = match spawn.mode {
                SpawnMode::Sync => 1,
                SpawnMode::Async => 2,
            };
            sync_children += u32::from(spawn.mode == SpawnMode::Sync);
            self.post(self.now, child, Event::StepStart);
        }
        sync_children
    }

    /// Rules 7 and 8: idles until the next step after `length` ns (`None`: until the children are
    /// back), or until `max_duration` ends the agent.
    fn pause(&mut self, run: usize, activity: Activity, length: Option<u64>) {
        let now = self.now;
        let deadline = self.runs[run].deadline();
        self.idle(run, activity);
        let pause = self.runs[run].pause;
        match length {
            Some(ns) if now + ns <= deadline => self.post(now + ns, run, Event::StepStart),
            None if deadline == u64::MAX => {}
            _ => self.post(deadline.max(now), run, Event::Finish(pause)),
        }
    }

    fn idle(&mut self, run: usize, activity: Activity) {
        let r = &mut self.runs[run];
        r.activity = activity;
        r.pause += 1;
        let pause = r.pause;
        let ttl = &self.templates[r.agent].agent.ttl;
        let ttl = match activity {
            Activity::Tool => ttl.tool,
            Activity::Blocked => ttl.blocked,
            Activity::User => ttl.user,
            Activity::Finished => ttl.finished,
            Activity::Running => unreachable!("running is not idle"),
        };
        if let Some(ttl) = ttl {
            self.post(self.now.saturating_add(ttl), run, Event::Release(pause));
        }
    }

    /// Rules 5 and 8: the agent ends and its parent gets the result.
    fn finish(&mut self, run: usize) {
        self.idle(run, Activity::Finished);
        let Some((parent, mode, result)) = self.runs[run].parent else {
            return;
        };
        let p = &mut self.runs[parent];
        if p.activity == Activity::Finished {
            return;
        }
        match mode {
            SpawnMode::Async => p.inbox += result,
            SpawnMode::Sync => {
                p.results = p.results.map(|sum| sum + result);
                p.waiting -= 1;
                if p.waiting == 0 {
                    p.pause += 1;
                    self.post(self.now, parent, Event::StepStart);
                }
            }
        }
    }

    fn policy(&self, run: usize) -> fleetmem::scenario::SnapshotPolicy {
        self.templates[self.runs[run].agent].agent.snapshots
    }

    /// Rule 12: the multiples of `every` in (before, after].
    fn every_snapshot(&mut self, run: usize, before: u64, after: u64) {
        let Some(every) = self.policy(run).every else {
            return;
        };
        for position in before + 1..=after {
            if position % every == 0 {
                self.snapshot(run, position);
            }
        }
    }

    fn snapshot(&mut self, run: usize, position: u64) {
        if !self.runs[run].context.wants_snapshot(position) {
            return;
        }
        let id = self.new_id();
        let keep = self.policy(run).keep;
        let context = &mut self.runs[run].context;
        context
            .snapshots
            .insert(position, Snapshot { id, own: true });
        context.trim_snapshots(keep);
        self.count(run, |c| c.counts.snapshots_taken += 1);
    }
}
