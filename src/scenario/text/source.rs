//! Texts and positions in them.

/// A range of bytes in one of the [`Sources`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// Index of the text in [`Sources`].
    pub source: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Whether `other` lies inside.
    pub fn contains(self, other: Span) -> bool {
        self.source == other.source && self.start <= other.start && other.end <= self.end
    }

    /// The part of this span between two byte offsets counted from its start.
    pub fn part(self, range: std::ops::Range<usize>) -> Span {
        let at = |n: usize| self.start.saturating_add(n as u32).min(self.end);
        Span {
            start: at(range.start),
            end: at(range.end),
            ..self
        }
    }
}

/// The texts that a scenario is read from: its file, then one per `--set`.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    items: Vec<(String, String)>,
}

/// One line of a text and where a span lies in it.
pub struct Place<'a> {
    /// Name of the text: a path, or `--set`.
    pub name: &'a str,
    /// Line number from 1.
    pub line: usize,
    /// Column in characters from 1.
    pub column: usize,
    /// The line without its end.
    pub text: &'a str,
    /// The span's bytes inside `text`, clipped to the line.
    pub range: std::ops::Range<usize>,
}

impl Sources {
    /// Adds a text and returns its index.
    pub fn add(&mut self, name: &str, text: &str) -> u32 {
        self.items.push((name.to_owned(), text.to_owned()));
        (self.items.len() - 1) as u32
    }

    /// The text that a span covers.
    pub fn slice(&self, span: Span) -> &str {
        self.items
            .get(span.source as usize)
            .and_then(|(_, text)| text.get(span.start as usize..span.end as usize))
            .unwrap_or("")
    }

    /// The line on which a span starts.
    pub fn place(&self, span: Span) -> Option<Place<'_>> {
        let (name, text) = self.items.get(span.source as usize)?;
        let start = floor_char(text, span.start as usize);
        let end = floor_char(text, span.end as usize).max(start);
        let head = &text[..start];
        let line_start = head.rfind('\n').map_or(0, |i| i + 1);
        let rest = &text[line_start..];
        let line_text = rest[..rest.find('\n').unwrap_or(rest.len())].trim_end_matches('\r');
        let from = (start - line_start).min(line_text.len());
        let to = (end - line_start).clamp(from, line_text.len());
        // The byte-order mark is not a column.
        let bom = usize::from(line_text[..from].starts_with('\u{feff}'));
        Some(Place {
            name,
            line: head.matches('\n').count() + 1,
            column: line_text[..from].chars().count() + 1 - bom,
            text: line_text,
            range: from..to,
        })
    }
}

fn floor_char(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
