//! From what was written to what it means: names resolved, defaults filled in, laws and units
//! in base units, and everything that cannot be seen in one field checked.

mod agents;
mod graph;
mod law;
mod models;
mod sample;
mod workload;

pub use models::hint as models_hint;

use super::file::{Cx, Duration, ScenarioFile, Spanned};
use super::text::{Node, Report, Span};
use super::{Arrivals, Scenario};
use std::collections::HashMap;
use std::path::Path;

/// What checking needs besides the file.
pub struct Env<'a> {
    /// Folder that file names are relative to.
    pub base_dir: &'a Path,
    /// The scenario's name if it gives none.
    pub stem: &'a str,
    /// Digest of the scenario and of every file that it names.
    pub digest: blake3::Hasher,
}

/// Checks a scenario; `None` if something is wrong, which has then been reported.
pub fn check(file: &ScenarioFile, root: &Node, env: &mut Env, cx: &mut Cx) -> Option<Scenario> {
    let mut canonical = String::new();
    root.canonical(&mut canonical);
    env.digest.update(canonical.as_bytes());
    let name = name(file, env, cx);
    if let Some(measure) = file.measure.as_ref().filter(|m| m.value.0 == 0) {
        cx.errors.push(
            Report::new(measure.span, "a window of no length").label("a time above 0s is needed"),
        );
    }
    let models = models::compared(file, env, cx);
    let baseline = baseline(file, models.as_deref(), cx);
    let agents = agents::agents(file, models.as_deref(), env, cx);
    let workload = workload::workload(file, cx);
    let (agents, fixed_models) = agents?;
    let workload = workload?;
    warn_unused(file, &agents, &workload, cx);
    let measure = file.measure.as_ref()?;
    warn_window(measure, &workload, cx);
    if let Some(warmup) = &file.warmup {
        warn_warmup(warmup, &agents, cx);
    }
    let drawn = agents::anything_drawn(&agents)
        || workload
            .iter()
            .any(|w| matches!(w.arrivals, Arrivals::Renewal { .. }));
    Some(Scenario {
        name: name?,
        description: file.description.as_ref().map(|d| d.0.clone()),
        seed: file.seed.as_ref().map_or(0, |s| s.0),
        measure_ns: measure.value.0,
        warmup_ns: file.warmup.as_ref().map(|w| w.value.0),
        replications: file
            .replications
            .as_ref()
            .map_or(if drawn { 5 } else { 1 }, |r| r.0),
        models: models?,
        baseline: baseline?,
        fixed_models,
        agents,
        workload,
        warnings: Vec::new(),
        digest: env.digest.finalize().to_hex().to_string(),
    })
}

fn name(file: &ScenarioFile, env: &Env, cx: &mut Cx) -> Option<String> {
    let unsafe_char = |c: char| c.is_control() || r#"/\:*?"<>|"#.contains(c);
    let Some(name) = &file.name else {
        // A file name that is no folder name elsewhere is made one.
        let name: String = env
            .stem
            .chars()
            .map(|c| if unsafe_char(c) { '-' } else { c })
            .take(100)
            .collect();
        let name = name.trim_matches(|c: char| c == '.' || c.is_whitespace());
        return Some(if name.is_empty() {
            "scenario".to_owned()
        } else {
            name.to_owned()
        });
    };
    let text = &name.value.0;
    let bad = text.is_empty()
        || text.starts_with('.')
        || text.ends_with('.')
        || text.trim() != text
        || text.chars().count() > 100
        || text.chars().any(unsafe_char);
    if bad {
        return cx.error(
            Report::new(
                name.span,
                format!("`{text}` cannot be the name of an output folder"),
            )
            .label("1 to 100 characters, none of / \\ : * ? \" < > |, no dot at either end"),
        );
    }
    Some(text.clone())
}

fn baseline(
    file: &ScenarioFile,
    models: Option<&[crate::memory::MemoryModel]>,
    cx: &mut Cx,
) -> Option<usize> {
    let models = models?;
    let Some(wanted) = &file.baseline else {
        return Some(0);
    };
    let labels: Vec<&str> = models.iter().map(|m| m.label.as_str()).collect();
    labels
        .iter()
        .position(|l| *l == wanted.value.0)
        .or_else(|| {
            cx.error(
                Report::new(
                    wanted.span,
                    format!("no compared model is named `{}`", wanted.value.0),
                )
                .label("the baseline is one of `models`, by its name or `as`")
                .names(&wanted.value.0, &labels),
            )
        })
}

fn warn_unused(
    file: &ScenarioFile,
    agents: &[super::Agent],
    workload: &[super::WorkloadEntry],
    cx: &mut Cx,
) {
    let mut used = vec![false; agents.len()];
    let mut open: Vec<usize> = workload.iter().map(|w| w.agent).collect();
    while let Some(agent) = open.pop() {
        if !std::mem::replace(&mut used[agent], true) {
            open.extend(agents[agent].spawns.iter().map(|s| s.agent));
        }
    }
    for ((key, _), used) in file.agents.iter().flat_map(|a| &a.value.0).zip(used) {
        if !used {
            cx.warn(
                Report::new(key.span, format!("agent `{}` is never started", key.text))
                    .label("no workload entry starts it, and no agent that is started spawns it"),
            );
        }
    }
}

fn warn_window(measure: &Spanned<Duration>, workload: &[super::WorkloadEntry], cx: &mut Cx) {
    const DAY_NS: u64 = 86_400_000_000_000;
    let daily = |w: &&super::WorkloadEntry| match &w.arrivals {
        Arrivals::At(_) => false,
        Arrivals::Renewal { profile, .. } => {
            profile.hourly.iter().any(|h| *h != 1.0) || profile.weekdays.contains(&false)
        }
    };
    if !measure.value.0.is_multiple_of(DAY_NS)
        && let Some(entry) = workload.iter().find(daily)
    {
        cx.warn(
            Report::new(
                measure.span,
                "the window is not whole days under a daily profile",
            )
            .label(format!(
                "`{}` has one: the part of the day that is measured decides the means",
                entry.name
            )),
        );
    }
}

fn warn_warmup(warmup: &Spanned<Duration>, agents: &[super::Agent], cx: &mut Cx) {
    let ttls = agents
        .iter()
        .flat_map(|a| [a.ttl.tool, a.ttl.blocked, a.ttl.user, a.ttl.finished]);
    let longest = ttls.flatten().max().unwrap_or(0);
    if warmup.value.0 < longest {
        cx.warn(
            Report::new(warmup.span, "the warm-up is shorter than the longest ttl").label(format!(
                "{:.1} h is less than {:.1} h: the window starts before the fleet is full",
                hours(warmup.value.0),
                hours(longest)
            )),
        );
    }
}

fn hours(ns: u64) -> f64 {
    ns as f64 / 3.6e12
}

/// Findings beyond this many get no suggestions: nobody reads so far, and each takes a search.
const SUGGESTED: usize = 100;

/// Things that the user named, to be found by name.
struct Names<'a> {
    what: &'static str,
    list: Vec<&'a str>,
    index: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    fn new(what: &'static str, list: Vec<&'a str>) -> Names<'a> {
        let index = list
            .iter()
            .enumerate()
            .map(|(i, name)| (*name, i))
            .collect();
        Names { what, list, index }
    }

    /// The index of `wanted`, which is written at `span`.
    fn find(&self, wanted: &str, span: Span, cx: &mut Cx) -> Option<usize> {
        if let Some(index) = self.index.get(wanted) {
            return Some(*index);
        }
        let what = self.what;
        let report = Report::new(span, format!("unknown {what} `{wanted}`"))
            .label(format!("no {what} has this name"));
        let many = cx.errors.len() >= SUGGESTED;
        cx.error(if many {
            report
        } else {
            report.names(wanted, &self.list)
        })
    }
}
