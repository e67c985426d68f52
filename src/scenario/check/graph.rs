//! Who spawns whom: a cycle in which nothing bounds the depth would never end.

use crate::scenario::file::{AgentFile, Cx, Named, SpawnFile};
use crate::scenario::text::{Key, Report, Span};
use std::collections::HashMap;

/// The agent that a spawn starts, and where it is named.
pub fn target<'a>(key: &'a Key, spawn: &'a SpawnFile) -> (&'a str, Span) {
    match &spawn.agent {
        Some(agent) => (&agent.value.0, agent.span),
        None => (&key.text, key.span),
    }
}

/// Reports every spawn that closes a cycle of which no spawn has a `max_depth`.
pub fn check(named: &Named<AgentFile>, cx: &mut Cx) {
    let index: HashMap<&str, usize> = named
        .0
        .iter()
        .enumerate()
        .map(|(i, (k, _))| (k.text.as_str(), i))
        .collect();
    let edges: Vec<Vec<(usize, Span)>> = named
        .0
        .iter()
        .map(|(_, agent)| {
            let Some(agent) = agent.as_ref().filter(|a| a.max_depth.is_none()) else {
                return Vec::new();
            };
            let spawns = agent.spawns.iter().flat_map(|s| &s.0);
            spawns
                .filter_map(|(key, spawn)| {
                    let spawn = spawn.as_ref().filter(|s| s.max_depth.is_none())?;
                    Some((*index.get(target(key, spawn).0)?, key.span))
                })
                .collect()
        })
        .collect();
    // Depth-first with an explicit stack: chains may be long. 0 new, 1 on the path, 2 done.
    let mut state = vec![0u8; edges.len()];
    for root in 0..edges.len() {
        if state[root] != 0 {
            continue;
        }
        let mut path = vec![(root, 0)];
        state[root] = 1;
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            let Some(&(to, span)) = edges[node].get(*next) else {
                state[node] = 2;
                path.pop();
                continue;
            };
            *next += 1;
            match state[to] {
                0 => {
                    state[to] = 1;
                    path.push((to, 0));
                }
                1 => {
                    let from = path.iter().position(|(n, _)| *n == to).unwrap_or(0);
                    let names = path[from..].iter().map(|(n, _)| *n).chain([to]);
                    let cycle: Vec<&str> = names.map(|n| named.0[n].0.text.as_str()).collect();
                    cx.errors.push(
                        Report::new(span, format!("a spawn cycle with no `max_depth`: {}", cycle.join(" -> ")))
                            .label("closes the cycle: the tree of agents would never end")
                            .help("give one of its spawns (or its agent) a `max_depth`, for example `max_depth: 2`"),
                    );
                }
                _ => {}
            }
        }
    }
}
