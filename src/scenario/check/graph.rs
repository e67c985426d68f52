//! Who spawns whom: a cycle in which nothing bounds the depth would never end.

use super::Names;
use crate::scenario::file::{AgentFile, Cx, Named, SpawnFile};
use crate::scenario::text::{Key, Report, Span};

/// The agent that a spawn starts, and where it is named.
pub fn target<'a>(key: &'a Key, spawn: &'a SpawnFile) -> (&'a str, Span) {
    match &spawn.agent {
        Some(agent) => (&agent.value.0, agent.span),
        None => (&key.text, key.span),
    }
}

/// Reports every spawn that closes a cycle of which no spawn has a `max_depth`.
pub fn check(named: &Named<AgentFile>, names: &Names, cx: &mut Cx) {
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
                    Some((*names.index.get(target(key, spawn).0)?, key.span))
                })
                .collect()
        })
        .collect();
    // Depth-first with an explicit stack: chains may be long. 0 new, 1 on the path, 2 done.
    let mut state = vec![0u8; edges.len()];
    let mut depth = vec![0usize; edges.len()];
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
                    depth[to] = path.len();
                    path.push((to, 0));
                }
                1 => {
                    let cycle = shown(&path[depth[to]..], names);
                    cx.errors.push(
                        Report::new(span, format!("a spawn cycle with no `max_depth`: {}", cycle))
                            .label("closes the cycle: the tree of agents would never end")
                            .help("give one of its spawns (or its agent) a `max_depth`, for example `max_depth: 2`"),
                    );
                }
                _ => {}
            }
        }
    }
}

/// A cycle as `a -> b -> a`; the middle of a long one is left out.
fn shown(path: &[(usize, usize)], names: &Names) -> String {
    const MOST: usize = 8;
    let mut words: Vec<&str> = path
        .iter()
        .take(MOST)
        .map(|(node, _)| names.list[*node])
        .collect();
    if path.len() > MOST {
        words.push("...");
    }
    words.extend(path.first().map(|(node, _)| names.list[*node]));
    words.join(" -> ")
}
