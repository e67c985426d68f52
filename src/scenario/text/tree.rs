//! YAML events to a [`Node`] tree. Uses the event parser below serde-saphyr directly, because it
//! hands over every scalar as written and every position, and does not stop at the first
//! duplicate key.

use super::{Entry, Key, Kind, Node, Report, Span};
use granit_parser::{Event, Marker, Options, Parser, ScalarStyle};
use std::collections::HashMap;

/// Values at most, aliases expanded: an alias bomb ends here.
const MAX_NODES: usize = 250_000;
/// Nesting at most; a scenario needs about ten levels.
const MAX_DEPTH: usize = 64;

struct Open {
    start: Span,
    anchor: usize,
    depth_below: usize,
    nodes_before: usize,
    content: Content,
}

enum Content {
    Seq(Vec<Node>),
    Map {
        entries: Vec<Entry>,
        key: Option<Key>,
        merged: Vec<Node>,
        index: HashMap<String, usize>,
    },
}

struct Anchored {
    node: Node,
    nodes: usize,
    depth: usize,
}

struct Builder<'a> {
    text: &'a str,
    source: u32,
    offset: usize,
    stack: Vec<Open>,
    anchors: HashMap<usize, Anchored>,
    nodes: usize,
    root: Option<Node>,
    reports: &'a mut Vec<Report>,
}

/// Parses YAML `text`, which starts at byte `offset` of source `source`, into a tree. `None` if
/// there is no value or the text is not YAML; findings go to `reports`.
pub fn parse(text: &str, source: u32, offset: usize, reports: &mut Vec<Report>) -> Option<Node> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    // Above what the scanner looks ahead, so that nesting is refused here, with its own message.
    options.flow_nesting_limit = 4096;
    options.block_nesting_limit = 4096;
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder {
        text,
        source,
        offset,
        stack: Vec::new(),
        anchors: HashMap::new(),
        nodes: 0,
        root: None,
        reports,
    };
    while let Some(next) = parser.next_event() {
        let result = match next {
            Ok((event, span)) => {
                let tag_span = span.tag_span().map(|t| builder.span(&t.start, &t.end));
                let span = builder.span(&span.start, &span.end);
                builder.event(event, span, tag_span)
            }
            Err(error) => {
                let at = builder.span(error.marker(), error.marker());
                Err(Report::new(at, format!("not valid YAML: {}", error.info())))
            }
        };
        if let Err(report) = result {
            builder.reports.push(report);
            return None;
        }
    }
    builder.root
}

impl Builder<'_> {
    fn span(&self, start: &Marker, end: &Marker) -> Span {
        let byte = |m: &Marker| {
            m.byte_offset().unwrap_or_else(|| {
                self.text
                    .char_indices()
                    .nth(m.index())
                    .map_or(self.text.len(), |(i, _)| i)
            })
        };
        let (start, end) = (byte(start), byte(end));
        // A span that ends on a later line would claim the white space before it.
        let end = start + self.text.get(start..end).map_or(0, |t| t.trim_end().len());
        let at = |n: usize| (n + self.offset) as u32;
        Span {
            source: self.source,
            start: at(start),
            end: at(end),
        }
    }

    fn event(
        &mut self,
        event: Event<'_>,
        span: Span,
        tag_span: Option<Span>,
    ) -> Result<(), Report> {
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                Err(Report::new(span, "a second YAML document")
                    .label("a scenario is one document")
                    .help("remove this `---` and what follows, or make it a file of its own"))
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), tag_span.unwrap_or(span))?;
                self.count(1, span)?;
                let kind = Kind::Scalar {
                    text: text.into_owned(),
                    plain: style == ScalarStyle::Plain,
                };
                self.value(Node { span, kind }, anchor, 1, 0)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_tag(tag.is_some(), tag_span.unwrap_or(span))?;
                self.open(span, anchor, Content::Seq(Vec::new()))
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_tag(tag.is_some(), tag_span.unwrap_or(span))?;
                let content = Content::Map {
                    entries: Vec::new(),
                    key: None,
                    merged: Vec::new(),
                    index: HashMap::new(),
                };
                self.open(span, anchor, content)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(id) => {
                let Some(anchored) = self.anchors.get(&id) else {
                    return Err(Report::new(span, "an alias inside the value that it names"));
                };
                let (nodes, depth) = (anchored.nodes, anchored.depth);
                if self.stack.len() + depth > MAX_DEPTH {
                    return Err(too_deep(span));
                }
                self.count(nodes, span)?;
                let node = Node {
                    span,
                    kind: self.anchors[&id].node.kind.clone(),
                };
                self.value(node, 0, nodes, depth)
            }
            _ => Ok(()),
        }
    }

    fn refuse_tag(&self, tagged: bool, span: Span) -> Result<(), Report> {
        if tagged {
            return Err(
                Report::new(span, "YAML tags (`!...`) have no meaning here").help("remove the tag")
            );
        }
        Ok(())
    }

    fn count(&mut self, nodes: usize, span: Span) -> Result<(), Report> {
        self.nodes += nodes;
        if self.nodes > MAX_NODES {
            return Err(Report::new(span, format!("more than {MAX_NODES} values"))
                .label("aliases count as what they stand for")
                .help("put recorded data in a CSV file beside the scenario"));
        }
        Ok(())
    }

    fn open(&mut self, start: Span, anchor: usize, content: Content) -> Result<(), Report> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(too_deep(start));
        }
        let nodes_before = self.nodes;
        self.count(1, start)?;
        self.stack.push(Open {
            start,
            anchor,
            depth_below: 0,
            nodes_before,
            content,
        });
        Ok(())
    }

    fn close(&mut self, end: Span) -> Result<(), Report> {
        let Some(open) = self.stack.pop() else {
            return Ok(());
        };
        let nodes = self.nodes - open.nodes_before;
        let mut span = open.start;
        let kind = match open.content {
            Content::Seq(items) => {
                span.start = span
                    .start
                    .min(items.first().map_or(u32::MAX, |n| n.span.start));
                span.end = span.end.max(items.last().map_or(0, |n| n.span.end));
                Kind::Seq(items)
            }
            Content::Map {
                mut entries,
                merged,
                mut index,
                ..
            } => {
                if let (Some(first), Some(last)) = (entries.first(), entries.last()) {
                    span.start = span.start.min(first.key.span.start);
                    span.end = span.end.max(last.value.span.end).max(last.key.span.end);
                }
                // Merged entries come after the map's own, which win.
                for Entry { key, value } in merged.into_iter().flat_map(into_entries) {
                    if !index.contains_key(&key.text) {
                        index.insert(key.text.clone(), entries.len());
                        entries.push(Entry { key, value });
                    }
                }
                Kind::Map(entries)
            }
        };
        span.end = span.end.max(end.end.min(end.start.saturating_add(1)));
        // The end of a block collection is where the next line starts: not part of it.
        let from = span.start as usize - self.offset;
        let to = (span.end as usize - self.offset).min(self.text.len());
        let kept = self.text.get(from..to).map_or(0, |t| t.trim_end().len());
        span.end = span.start + kept as u32;
        self.value(
            Node { span, kind },
            open.anchor,
            nodes,
            open.depth_below + 1,
        )
    }

    /// Puts a finished value where it belongs.
    fn value(
        &mut self,
        node: Node,
        anchor: usize,
        nodes: usize,
        depth: usize,
    ) -> Result<(), Report> {
        if anchor > 0 {
            self.anchors.insert(
                anchor,
                Anchored {
                    node: node.clone(),
                    nodes,
                    depth,
                },
            );
        }
        let Some(open) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        open.depth_below = open.depth_below.max(depth);
        match &mut open.content {
            Content::Seq(items) => items.push(node),
            Content::Map {
                entries,
                key,
                merged,
                index,
            } => match key.take() {
                None => {
                    let span = node.span;
                    let Kind::Scalar { text, .. } = node.kind else {
                        return Err(Report::new(
                            span,
                            "a key must be a name, not a list or a map",
                        ));
                    };
                    *key = Some(Key { text, span });
                }
                Some(key) if key.text == "<<" => match &node.kind {
                    Kind::Map(_) => merged.push(node),
                    Kind::Seq(items) if items.iter().all(|n| matches!(n.kind, Kind::Map(_))) => {
                        merged.extend(items.iter().cloned());
                    }
                    _ => {
                        let found = node.describe();
                        return Err(Report::new(
                            node.span,
                            format!("`<<` merges maps, found {found}"),
                        ));
                    }
                },
                Some(key) => match index.get(&key.text) {
                    Some(&first) => self.reports.push(
                        Report::new(key.span, format!("`{}` is given twice", key.text))
                            .label("given again here")
                            .other(entries[first].key.span, "first given here")
                            .help("keep one of the two"),
                    ),
                    None => {
                        index.insert(key.text.clone(), entries.len());
                        entries.push(Entry { key, value: node });
                    }
                },
            },
        }
        Ok(())
    }
}

fn into_entries(node: Node) -> Vec<Entry> {
    match node.kind {
        Kind::Map(entries) => entries,
        _ => Vec::new(),
    }
}

fn too_deep(span: Span) -> Report {
    Report::new(span, format!("more than {MAX_DEPTH} levels of nesting"))
        .label("a scenario needs about ten")
}
