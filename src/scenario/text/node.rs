//! A YAML tree with positions. Scalars are kept as written: units and `1e6` are not guessed.

use super::Span;

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: Kind,
}

/// What a [`Node`] is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A scalar, verbatim; `plain` if it was not quoted.
    Scalar { text: String, plain: bool },
    /// A list.
    Seq(Vec<Node>),
    /// A map in file order, keys unique.
    Map(Vec<Entry>),
}

/// A key and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The key.
    pub text: String,
    /// Where.
    pub span: Span,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Key,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The entries of a map.
    pub fn entries(&self) -> Option<&[Entry]> {
        match &self.kind {
            Kind::Map(entries) => Some(entries),
            _ => None,
        }
    }

    /// The value of `key` in a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entries()?
            .iter()
            .find(|e| e.key.text == key)
            .map(|e| &e.value)
    }

    /// Whether nothing (or an unquoted `~` or `null`) was written.
    pub fn is_null(&self) -> bool {
        matches!(&self.kind, Kind::Scalar { text, plain: true }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The value in words, for "found ...".
    pub fn describe(&self) -> String {
        match &self.kind {
            _ if self.is_null() => "nothing".to_owned(),
            Kind::Scalar { text, .. } => format!("`{}`", shorten(text)),
            Kind::Seq(_) => "a list".to_owned(),
            Kind::Map(_) => "a map".to_owned(),
        }
    }

    /// Where in the tree (`agents.coder.turns`) the key or value at `span` is.
    pub fn path_of(&self, span: Span) -> Option<String> {
        if self.span == span {
            return Some(String::new());
        }
        let join = |head: &str, tail: String| match tail.as_str() {
            "" => head.to_owned(),
            _ if tail.starts_with('[') => format!("{head}{tail}"),
            _ => format!("{head}.{tail}"),
        };
        match &self.kind {
            // A unit, say, is a part of a scalar.
            Kind::Scalar { .. } => self.span.contains(span).then(String::new),
            Kind::Seq(items) => items
                .iter()
                .enumerate()
                .find_map(|(i, item)| Some(join(&format!("[{i}]"), item.path_of(span)?))),
            Kind::Map(entries) => entries.iter().find_map(|e| {
                let tail = if e.key.span == span {
                    String::new()
                } else {
                    e.value.path_of(span)?
                };
                Some(join(&e.key.text, tail))
            }),
        }
    }

    /// The tree in one line that depends on its meaning only: comments, quotes, spacing and
    /// where it was written play no part.
    pub fn canonical(&self, out: &mut String) {
        use std::fmt::Write;
        match &self.kind {
            Kind::Scalar { text, .. } => {
                let _ = write!(out, "{text:?}");
            }
            Kind::Seq(items) => {
                out.push('[');
                for item in items {
                    item.canonical(out);
                    out.push(',');
                }
                out.push(']');
            }
            Kind::Map(entries) => {
                out.push('{');
                for entry in entries {
                    let _ = write!(out, "{:?}:", entry.key.text);
                    entry.value.canonical(out);
                    out.push(',');
                }
                out.push('}');
            }
        }
    }
}

/// The first 60 characters of a text.
pub fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
