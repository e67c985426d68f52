//! Agents: defaults filled in, overrides merged field by field, spawns resolved.

use super::law::{law, quantity_or};
use super::models::Fixed;
use super::{Env, Names, graph};
use crate::memory::MemoryModel;
use crate::scenario::file::{
    AgentFile, AgentModelFile, Cx, LimitFile, Moment, Quantity, RewindFile, ScenarioFile,
    ServingFile, SnapshotsFile, Spanned, SpawnFile, Start, Summary, SystemPromptFile, Then,
    TtlFile,
};
use crate::scenario::text::{Key, Report};
use crate::scenario::{
    Agent, AtLimit, Law, LawKind, Limit, Rate, Rewind, SnapshotPolicy, Spawn, SpawnMode,
    SpawnStart, SystemPrompt, Ttl,
};

const MINUTE_NS: u64 = 60_000_000_000;

/// All agents and the models that they are pinned to.
pub fn agents(
    file: &ScenarioFile,
    compared: Option<&[MemoryModel]>,
    env: &mut Env,
    cx: &mut Cx,
) -> Option<(Vec<Agent>, Vec<MemoryModel>)> {
    let spanned = file.agents.as_ref()?;
    let named = &spanned.value;
    if named.0.is_empty() {
        return cx.error(Report::new(spanned.span, "no agents").label("at least one is needed"));
    }
    let mut fixed = Fixed::default();
    let fixed_of: Vec<Option<Option<usize>>> = named
        .0
        .iter()
        .map(|(_, agent)| match agent.as_ref()?.model.as_ref() {
            None => Some(None),
            Some(model) => match &model.value {
                AgentModelFile::Compared => Some(None),
                AgentModelFile::Fixed(entry) => {
                    let entry = Spanned {
                        value: entry,
                        span: model.span,
                    };
                    fixed
                        .index(&entry, compared.unwrap_or(&[]), env, cx)
                        .map(Some)
                }
            },
        })
        .collect();
    let names = Names::new("agent", named.names());
    graph::check(named, &names, cx);
    let agents: Vec<Option<Agent>> = named
        .0
        .iter()
        .enumerate()
        .map(|(index, (key, agent))| {
            let place = Place {
                file,
                agent: agent.as_ref()?,
                index,
                names: &names,
                fixed_of: &fixed_of,
            };
            one(&place, key, env, cx)
        })
        .collect();
    let fixed = fixed.into_models();
    Some((agents.into_iter().collect::<Option<_>>()?, fixed))
}

/// An agent and what surrounds it.
struct Place<'a> {
    file: &'a ScenarioFile,
    agent: &'a AgentFile,
    index: usize,
    names: &'a Names<'a>,
    /// Of each agent, its fixed model (`None`: compared), unless that could not be read.
    fixed_of: &'a [Option<Option<usize>>],
}

fn one(place: &Place, key: &Key, env: &mut Env, cx: &mut Cx) -> Option<Agent> {
    let Place { file, agent, .. } = place;
    let tool = agent.tool.as_ref();
    let none = None;
    let none_time = None;
    // Each is checked before any failure ends this, so that all mistakes are reported.
    let system_prompt = system_prompt(agent.system_prompt.as_ref(), env, cx);
    let first_prompt = quantity_or(&agent.first_prompt, 0.0, env, cx);
    let prompt = quantity_or(&agent.prompt, 0.0, env, cx);
    let turns = quantity_or(&agent.turns, 1.0, env, cx);
    let steps = quantity_or(&agent.steps, 1.0, env, cx);
    let tool_tokens = quantity_or(tool.map_or(&none, |t| &t.tokens), 0.0, env, cx);
    let tool_time = quantity_or(tool.map_or(&none_time, |t| &t.time), 0.0, env, cx);
    let output = quantity_or(&agent.output, 1.0, env, cx);
    let think = quantity_or(&agent.think, 0.0, env, cx);
    let session_factor = quantity_or(&agent.session_factor, 1.0, env, cx);
    let max_duration = match &agent.max_duration {
        None => Some(None),
        Some(quantity) => law(quantity, env, cx).map(Some),
    };
    let limit = match &agent.limit {
        None => Some(None),
        Some(limit) => self::limit(limit, env, cx).map(Some),
    };
    let rewind = match &agent.rewind {
        None => Some(None),
        Some(rewind) => self::rewind(rewind, env, cx).map(Some),
    };
    let spawns: Vec<Option<Spawn>> = agent
        .spawns
        .iter()
        .flat_map(|s| &s.0)
        .map(|(spawn_key, spawn)| self::spawn(spawn_key, spawn.as_ref()?, place, env, cx))
        .collect();
    let decode_block = agent.decode_block.as_ref().or(file.decode_block.as_ref());
    let serving = |pick: fn(&ServingFile) -> Option<u64>, default: u64| {
        let own = agent.serving.as_ref().and_then(pick);
        let micro = own
            .or_else(|| file.serving.as_ref().and_then(pick))
            .unwrap_or(default * 1_000_000);
        Rate {
            micro_tokens_per_s: micro,
        }
    };
    Some(Agent {
        name: key.text.clone(),
        fixed_model: place.fixed_of[place.index]?,
        system_prompt: system_prompt?,
        first_prompt: first_prompt?,
        prompt: prompt?,
        turns: turns?,
        steps: steps?,
        tool_tokens: tool_tokens?,
        tool_time: tool_time?,
        output: output?,
        think: think?,
        session_factor: session_factor?,
        max_duration: max_duration?,
        limit: limit?,
        rewind: rewind?,
        spawns: spawns.into_iter().collect::<Option<_>>()?,
        ttl: ttl([agent.ttl.as_ref(), file.ttl.as_ref()]),
        snapshots: snapshots([agent.snapshots.as_ref(), file.snapshots.as_ref()]),
        prefill: serving(|s| Some(s.prefill.as_ref()?.0), 8000),
        decode: serving(|s| Some(s.decode.as_ref()?.0), 60),
        decode_block: decode_block.map_or(256, |d| u64::from(d.0)),
    })
}

/// Lifetimes: the agent's, else the scenario's, else the defaults.
fn ttl(files: [Option<&TtlFile>; 2]) -> Ttl {
    let pick = |field: fn(&TtlFile) -> Option<Option<u64>>, minutes: u64| {
        files
            .into_iter()
            .flatten()
            .find_map(field)
            .unwrap_or(Some(minutes * MINUTE_NS))
    };
    Ttl {
        tool: pick(|t| Some(t.tool.as_ref()?.0), 60),
        blocked: pick(|t| Some(t.blocked.as_ref()?.0), 60),
        user: pick(|t| Some(t.user.as_ref()?.0), 5),
        finished: pick(|t| Some(t.finished.as_ref()?.0), 5),
    }
}

/// Snapshots: the agent's, else the scenario's, else the defaults.
fn snapshots(files: [Option<&SnapshotsFile>; 2]) -> SnapshotPolicy {
    let files = || files.into_iter().flatten();
    let at = files().find_map(|s| s.at.as_ref());
    let has = |moment, default| at.map_or(default, |list| list.contains(&moment));
    SnapshotPolicy {
        every: files()
            .find_map(|s| Some(s.every.as_ref()?.0))
            .unwrap_or(Some(20_000)),
        prompt_end: has(Moment::PromptEnd, false),
        output_end: has(Moment::OutputEnd, true),
        fork: has(Moment::Fork, true),
        keep: files()
            .find_map(|s| Some(s.keep.as_ref()?.0))
            .unwrap_or(None),
    }
}

fn system_prompt(
    file: Option<&SystemPromptFile>,
    env: &mut Env,
    cx: &mut Cx,
) -> Option<SystemPrompt> {
    let map = match file {
        None => return Some(SystemPrompt::Own(Law::constant(0.0))),
        Some(SystemPromptFile::Own(quantity)) => {
            return law(quantity, env, cx).map(SystemPrompt::Own);
        }
        Some(SystemPromptFile::Map(map)) => map,
    };
    let quantity = map.tokens.as_ref()?;
    let tokens = law(quantity, env, cx);
    if !map.shared.as_ref().is_some_and(|s| s.0) {
        if let Some(variants) = &map.variants {
            return cx.error(
                Report::new(variants.span, "`variants` of a prompt that is not shared")
                    .label("every sequence has its own copy")
                    .help("write `shared: true`, or remove `variants`"),
            );
        }
        return tokens.map(SystemPrompt::Own);
    }
    match tokens?.kind {
        LawKind::Constant(tokens) if tokens >= 1.0 && tokens.fract() == 0.0 => {
            Some(SystemPrompt::Shared {
                tokens: tokens as u64,
                variants: map.variants.as_ref().map_or(1, |v| v.value.0),
            })
        }
        LawKind::Constant(_) => cx.error(
            Report::new(quantity.span, "a shared prompt of no tokens")
                .label("at least 1 token is needed"),
        ),
        _ => cx.error(
            Report::new(quantity.span, "a shared prompt has one length")
                .label("a constant such as `15K` is needed")
                .help("`variants: N` makes N different prompts of this length"),
        ),
    }
}

fn limit(file: &LimitFile, env: &mut Env, cx: &mut Cx) -> Option<Limit> {
    let tokens = law(file.tokens.as_ref()?, env, cx);
    if matches!(
        &tokens,
        Some(Law {
            kind: LawKind::Constant(0.0),
            ..
        })
    ) {
        cx.errors.push(
            Report::new(file.tokens.as_ref()?.span, "a context limit of 0 tokens")
                .label("at least 1 token is needed"),
        );
    }
    let to: Option<&Quantity<Summary>> = file.to.as_ref();
    let compact = match &file.then {
        Some(then) => then.value == Then::Compact,
        None => to.is_some(),
    };
    let then = match (compact, to) {
        (false, None) => Some(AtLimit::End),
        (true, Some(to)) => law(to, env, cx).map(|to| AtLimit::Compact { to }),
        (false, Some(to)) => cx.error(
            Report::new(to.span, "`to` without `then: compact`")
                .label("an agent that ends makes no summary")
                .help("write `then: compact`, or remove `to`"),
        ),
        (true, None) => cx.error(
            Report::new(
                file.then.as_ref().map_or(file.span, |t| t.span),
                "`then: compact` needs `to`",
            )
            .label("how long is the summary?")
            .help("for example `to: 20K`, or `to: 0.3` for a fraction of the context"),
        ),
    };
    Some(Limit {
        tokens: tokens?,
        at_ppb: file.at.as_ref().map_or(900_000_000, |a| a.0),
        then: then?,
    })
}

fn rewind(file: &RewindFile, env: &mut Env, cx: &mut Cx) -> Option<Rewind> {
    let depth = law(file.depth.as_ref()?, env, cx);
    Some(Rewind {
        probability: file.probability.as_ref()?.0,
        depth: depth?,
    })
}

fn spawn(key: &Key, file: &SpawnFile, place: &Place, env: &mut Env, cx: &mut Cx) -> Option<Spawn> {
    let (agent, span) = graph::target(key, file);
    let agent = place.names.find(agent, span, cx);
    let count = quantity_or(&file.count, 1.0, env, cx);
    let task = quantity_or(&file.task, 0.0, env, cx);
    let result = quantity_or(&file.result, 0.0, env, cx);
    let agent = agent?;
    let fork = file.start.as_ref().filter(|s| s.value == Start::Fork);
    if let Some(start) = fork
        && let (Some(own), Some(child)) = (place.fixed_of[place.index], place.fixed_of[agent])
        && own != child
    {
        cx.errors.push(
            Report::new(start.span, format!("`{}` forks across models", key.text))
                .label(format!(
                    "`{}` and `{}` have different models, so the child cannot use the parent's context",
                    place.names.list[place.index], place.names.list[agent]
                ))
                .help("write `start: fresh`, or give both agents the same `model`"),
        );
    }
    Some(Spawn {
        name: key.text.clone(),
        agent,
        mode: match file.mode? {
            crate::scenario::file::Mode::Sync => SpawnMode::Sync,
            crate::scenario::file::Mode::Async => SpawnMode::Async,
        },
        probability: file.probability.as_ref().map_or(1.0, |p| p.0),
        count: count?,
        start: if fork.is_some() {
            SpawnStart::Fork
        } else {
            SpawnStart::Fresh
        },
        task: task?,
        result: result?,
        max_depth: file
            .max_depth
            .as_ref()
            .or(place.agent.max_depth.as_ref())
            .map(|d| d.0),
    })
}

/// Whether any of the agents draws anything.
pub fn anything_drawn(agents: &[Agent]) -> bool {
    let law = |l: &Law| !matches!(l.kind, LawKind::Constant(_));
    let chance = |p: f64| p > 0.0 && p < 1.0;
    agents.iter().any(|a| {
        let laws = [
            &a.first_prompt,
            &a.prompt,
            &a.turns,
            &a.steps,
            &a.tool_tokens,
            &a.tool_time,
            &a.output,
            &a.think,
            &a.session_factor,
        ];
        laws.into_iter().any(law)
            || match &a.system_prompt {
                SystemPrompt::Own(tokens) => law(tokens),
                SystemPrompt::Shared { variants, .. } => *variants > 1,
            }
            || a.max_duration.as_ref().is_some_and(law)
            || a.limit.as_ref().is_some_and(|l| {
                law(&l.tokens) || matches!(&l.then, AtLimit::Compact { to } if law(to))
            })
            || a.rewind
                .as_ref()
                .is_some_and(|r| chance(r.probability) || law(&r.depth))
            || a.spawns.iter().any(|s| {
                chance(s.probability) || [&s.count, &s.task, &s.result].into_iter().any(law)
            })
    })
}
