//! `--set path=value`: replaces values in the tree before it is read.

use super::{Entry, Key, Kind, Node, Report, Sources, Span, parse_tree};

/// A place in the tree where `--set` may not invent a name: the children of a map of named things.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    Agents,
    Agent,
    Spawns,
    Workload,
    Other,
}

impl Level {
    /// What the map's children are, if the user named them.
    fn children(self) -> Option<&'static str> {
        match self {
            Level::Agents => Some("agent"),
            Level::Spawns => Some("spawn"),
            Level::Workload => Some("workload entry"),
            Level::Root | Level::Agent | Level::Other => None,
        }
    }

    fn below(self, key: &str) -> Level {
        match (self, key) {
            (Level::Root, "agents") => Level::Agents,
            (Level::Root, "workload") => Level::Workload,
            (Level::Agents, _) => Level::Agent,
            (Level::Agent, "spawns") => Level::Spawns,
            _ => Level::Other,
        }
    }
}

/// Applies each `path=value` of `sets` in order. The path's names are joined by `.`, list items
/// are addressed by number from 0, and the value is YAML.
pub fn apply(root: &mut Node, sets: &[String], sources: &mut Sources, reports: &mut Vec<Report>) {
    for set in sets {
        let source = sources.add("--set", set);
        if let Err(report) = apply_one(root, set, source, reports) {
            reports.push(report);
        }
    }
}

fn apply_one(
    root: &mut Node,
    set: &str,
    source: u32,
    reports: &mut Vec<Report>,
) -> Result<(), Report> {
    let whole = Span {
        source,
        start: 0,
        end: set.len() as u32,
    };
    let Some(equals) = set.find('=') else {
        return Err(Report::new(whole, "`--set` needs `path=value`")
            .label("no `=` here")
            .help("for example `--set replications=3` or `--set agents.coder.turns=5`"));
    };
    let path = set[..equals].trim_end();
    let found = reports.len();
    let Some(value) = parse_tree(&set[equals + 1..], source, equals + 1, reports) else {
        if reports.len() > found {
            return Ok(()); // The value's own error says more.
        }
        return Err(Report::new(whole, "`--set` needs `path=value`").label("no value after `=`"));
    };
    assign(root, path, value, source)
}

fn assign(root: &mut Node, path: &str, value: Node, source: u32) -> Result<(), Report> {
    let mut node = root;
    let mut level = Level::Root;
    let mut at = 0;
    loop {
        let rest = &path[at..];
        let segment = segment(node, rest);
        let span = Span {
            source,
            start: at as u32,
            end: (at + segment.len()) as u32,
        };
        let last = segment.len() == rest.len();
        if segment.is_empty() {
            return Err(Report::new(
                Span {
                    end: span.start + 1,
                    ..span
                },
                "an empty name in the path",
            ));
        }
        let so_far = if at == 0 {
            "the scenario"
        } else {
            &path[..at - 1]
        };
        let found = node.describe();
        let child = match &mut node.kind {
            Kind::Scalar { .. } => {
                return Err(
                    Report::new(span, format!("`{so_far}` is {found}, not a map"))
                        .label(format!("so it has no `{segment}`"))
                        .help(format!("set `{so_far}` as a whole")),
                );
            }
            Kind::Seq(items) => {
                let len = items.len();
                segment
                    .parse()
                    .ok()
                    .and_then(|i: usize| items.get_mut(i))
                    .ok_or_else(|| {
                        Report::new(
                            span,
                            format!("`{so_far}` is a list of {len}, it has no `{segment}`"),
                        )
                        .label(format!("a number from 0 to {}", len.saturating_sub(1)))
                    })?
            }
            Kind::Map(entries) => {
                let position = entries.iter().position(|e| e.key.text == segment);
                let position = match (position, level.children()) {
                    (Some(i), _) => i,
                    (None, Some(what)) => {
                        let names: Vec<&str> =
                            entries.iter().map(|e| e.key.text.as_str()).collect();
                        return Err(Report::new(
                            span,
                            format!("`{so_far}` has no {what} `{segment}`"),
                        )
                        .label("not in the file")
                        .names(segment, &names));
                    }
                    // Reading the tree reports a name that is no field, with the nearest ones.
                    (None, None) => {
                        let key = Key {
                            text: segment.to_owned(),
                            span,
                        };
                        entries.push(Entry {
                            key,
                            value: Node {
                                span,
                                kind: Kind::Map(Vec::new()),
                            },
                        });
                        entries.len() - 1
                    }
                };
                &mut entries[position].value
            }
        };
        if last {
            *child = value;
            return Ok(());
        }
        level = level.below(segment);
        at += segment.len() + 1;
        node = child;
    }
}

/// The first name of a path: the longest key of `node` that fits (keys may hold dots), or else
/// what stands before the first dot.
fn segment<'a>(node: &Node, rest: &'a str) -> &'a str {
    let known = node
        .entries()
        .unwrap_or(&[])
        .iter()
        .map(|e| e.key.text.len());
    known
        .filter(|&n| {
            rest.get(..n).is_some_and(|head| {
                node.get(head).is_some() && (n == rest.len() || rest[n..].starts_with('.'))
            })
        })
        .max()
        .map_or_else(|| rest.split('.').next().unwrap_or(rest), |n| &rest[..n])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(text: &str, sets: &[&str]) -> (String, Vec<Report>) {
        let mut sources = Sources::default();
        let mut reports = Vec::new();
        let source = sources.add("s.yaml", text);
        let mut root = parse_tree(text, source, 0, &mut reports).expect("valid YAML");
        let sets: Vec<String> = sets.iter().map(|s| (*s).to_owned()).collect();
        apply(&mut root, &sets, &mut sources, &mut reports);
        let mut out = String::new();
        root.canonical(&mut out);
        (out, reports)
    }

    #[test]
    fn replaces_and_adds() {
        let (tree, reports) = set(
            "agents: {a.b: {turns: 3, spawns: {x: {count: 1}}}}",
            &[
                "agents.a.b.turns=5",
                "agents.a.b.ttl.user=1m",
                "models=[m, n]",
                "models.1=k",
                "agents.a.b.spawns.x.count=1..3",
            ],
        );
        assert_eq!(reports, []);
        assert_eq!(
            tree,
            r#"{"agents":{"a.b":{"turns":"5","spawns":{"x":{"count":"1..3",},},"ttl":{"user":"1m",},},},"models":["m","k",],}"#
        );
    }

    #[test]
    fn wrong_paths_are_refused() {
        let text = "agents: {coder: {turns: 3}}\nmodels: [a]\n";
        for (arg, says) in [
            ("agents.codr.turns=5", "did you mean `coder`?"),
            (
                "agents.coder.turns.median=5",
                "`agents.coder.turns` is `3`, not a map",
            ),
            ("models.1=x", "a number from 0 to 0"),
            ("turns", "no `=` here"),
            ("agents..x=1", "an empty name in the path"),
            ("seed=", "no value after `=`"),
            ("seed=[", "not valid YAML"),
        ] {
            let (_, reports) = set(text, &[arg]);
            let shown = format!("{reports:?}");
            assert!(reports.len() == 1, "{arg}: {shown}");
            assert!(shown.contains(says), "{arg}: {shown}");
        }
    }
}
