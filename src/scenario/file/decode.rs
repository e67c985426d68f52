//! From a tree to typed fields. Every mistake is reported and reading goes on, so that all of
//! them are shown together.

use crate::scenario::text::{Key, Kind, Node, Report, Span, nearest};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Findings so far.
#[derive(Debug, Default)]
pub struct Cx {
    /// Mistakes.
    pub errors: Vec<Report>,
    /// Things to know.
    pub warnings: Vec<Report>,
    /// Help for a field that is missing: its name, the help.
    pub hints: Vec<(&'static str, String)>,
}

impl Cx {
    /// Reports a mistake; `None` so that it can end a function.
    pub fn error<T>(&mut self, report: Report) -> Option<T> {
        self.errors.push(report);
        None
    }

    /// Reports something to know.
    pub fn warn(&mut self, report: Report) {
        self.warnings.push(report);
    }
}

/// A type that can be read from a tree.
pub trait Decode: Sized {
    /// Reads `node`; `None` if it is wrong, which has then been reported.
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self>;
}

/// A value and where it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where.
    pub span: Span,
}

impl<T: Decode> Decode for Spanned<T> {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        Some(Spanned {
            value: T::decode(node, cx)?,
            span: node.span,
        })
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

impl<T: Decode> Decode for Box<T> {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        T::decode(node, cx).map(Box::new)
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        let Kind::Seq(items) = &node.kind else {
            let found = node.describe();
            let mut report = Report::new(node.span, format!("expected a list, found {found}"));
            if let Kind::Scalar { text, .. } = &node.kind
                && !node.is_null()
            {
                report = report.help(format!("write `[{text}]`"));
            }
            return cx.error(report);
        };
        // All items are read, so that all their mistakes are reported.
        let read: Vec<Option<T>> = items.iter().map(|item| T::decode(item, cx)).collect();
        read.into_iter().collect()
    }
}

/// Things that the user named, in file order. An item that is wrong keeps its name, so that
/// references to it are not reported too.
#[derive(Clone, Debug)]
pub struct Named<T>(pub Vec<(Key, Option<T>)>);

impl<T> Named<T> {
    /// The names in file order.
    pub fn names(&self) -> Vec<&str> {
        self.0.iter().map(|(key, _)| key.text.as_str()).collect()
    }
}

impl<T: Decode> Decode for Named<T> {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        let Some(entries) = node.entries() else {
            return cx.error(Report::new(
                node.span,
                format!("expected a map of names, found {}", node.describe()),
            ));
        };
        for entry in entries {
            let name = &entry.key.text;
            let bad = name.trim().is_empty() || name.trim() != name;
            if bad || name.chars().any(char::is_control) || name.chars().count() > 100 {
                cx.errors.push(
                    Report::new(entry.key.span, "not a usable name")
                        .label("a name has 1 to 100 visible characters"),
                );
            }
        }
        let read = |e: &crate::scenario::text::Entry, cx: &mut Cx| {
            (
                e.key.clone(),
                not_null(&e.key, &e.value, cx).and_then(|n| T::decode(n, cx)),
            )
        };
        Some(Named(entries.iter().map(|e| read(e, cx)).collect()))
    }
}

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Named{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<T>() })
    }
}

fn not_null<'a>(key: &Key, value: &'a Node, cx: &mut Cx) -> Option<&'a Node> {
    if value.is_null() {
        return cx.error(
            Report::new(key.span, format!("`{}` has no value", key.text))
                .help("give it one, or remove it"),
        );
    }
    Some(value)
}

/// What is fixed about a map: see [`record!`].
pub struct Shape {
    /// What it is, with an article.
    pub what: &'static str,
    /// Its fields.
    pub fields: &'static [&'static str],
    /// Those that must be there.
    pub required: &'static [&'static str],
    /// Sets of fields of which exactly one must be there; empty if there is no such choice.
    pub one_of: &'static [&'static [&'static str]],
    /// Fields of later versions.
    pub later: &'static [&'static str],
}

/// The fields of a map that were found.
pub struct Fields<'a> {
    found: Vec<(&'static str, &'a Node)>,
}

impl<'a> Fields<'a> {
    /// Reads a field if it is there.
    pub fn read<T: Decode>(&self, key: &str, cx: &mut Cx) -> Option<T> {
        self.node(key).and_then(|node| T::decode(node, cx))
    }

    fn node(&self, key: &str) -> Option<&'a Node> {
        self.found
            .iter()
            .find(|(k, _)| *k == key)
            .map(|(_, node)| *node)
    }
}

impl Shape {
    /// The fields of `node`. Unknown, empty and missing ones are reported.
    pub fn fields<'a>(&self, node: &'a Node, cx: &mut Cx) -> Option<Fields<'a>> {
        let Some(entries) = node.entries() else {
            let found = node.describe();
            return cx.error(
                Report::new(node.span, format!("expected {}, found {found}", self.what))
                    .label("a map is needed here")
                    .allowed(self.fields),
            );
        };
        let before = cx.errors.len();
        let mut found = Vec::new();
        let mut present = Vec::new();
        for entry in entries {
            let key = &entry.key;
            if let Some(field) = self.fields.iter().find(|f| **f == key.text) {
                present.push(*field);
                found.extend(not_null(key, &entry.value, cx).map(|value| (*field, value)));
            } else if self.later.contains(&key.text.as_str()) {
                cx.errors.push(
                    Report::new(key.span, format!("`{}` is not supported yet", key.text))
                        .label("a later version will read it")
                        .help("remove it: ignoring it would change what the scenario means"),
                );
            } else {
                cx.errors.push(
                    Report::new(key.span, format!("unknown field `{}`", key.text))
                        .label(format!("not a field of {}", self.what))
                        .names(&key.text, self.fields),
                );
            }
        }
        let misspelt = |field: &str| {
            entries.iter().any(|e| {
                !self.fields.contains(&e.key.text.as_str())
                    && nearest(&e.key.text, self.fields) == Some(field)
            })
        };
        for field in self.required {
            if !present.contains(field) && !misspelt(field) {
                let report = Report::new(node.span, format!("missing field `{field}`")).label(
                    format!("{} needs `{}`", self.what, self.required.join("`, `")),
                );
                let hint = cx.hints.iter().find(|(f, _)| f == field);
                cx.errors.push(match hint {
                    Some((_, help)) => report.help(help),
                    None => report,
                });
            }
        }
        let later = entries
            .iter()
            .any(|e| self.later.contains(&e.key.text.as_str()));
        if !self.one_of.is_empty() && !later {
            let given: Vec<&str> = present
                .iter()
                .copied()
                .filter(|f| self.one_of.iter().any(|set| set.contains(f)))
                .collect();
            let fits = self
                .one_of
                .iter()
                .any(|set| set.len() == given.len() && given.iter().all(|f| set.contains(f)));
            if !fits {
                // An unknown field that was meant as one of these says more.
                if cx.errors.len() == before {
                    let found = if given.is_empty() {
                        "none".into()
                    } else {
                        given.join(" + ")
                    };
                    let sets: Vec<String> = self.one_of.iter().map(|s| s.join(" + ")).collect();
                    cx.errors.push(
                        Report::new(
                            node.span,
                            format!("{} takes one of these sets of fields", self.what),
                        )
                        .label(format!("found {found}"))
                        .note(format!("allowed: {}", sets.join("; or "))),
                    );
                }
            }
        }
        Some(Fields { found })
    }
}

/// Builds the schema of a map.
pub fn object_schema(
    shape: &Shape,
    docs: &[&str],
    properties: Vec<(&'static str, Schema, Vec<&'static str>)>,
) -> Schema {
    let mut fields = Map::new();
    for (name, mut schema, docs) in properties {
        schema.insert("description".into(), Value::String(text(&docs)));
        fields.insert(name.to_owned(), schema.to_value());
    }
    let mut schema = json_schema!({ "type": "object", "additionalProperties": false });
    schema.insert("description".into(), Value::String(text(docs)));
    schema.insert("properties".into(), Value::Object(fields));
    if !shape.required.is_empty() {
        schema.insert("required".into(), shape.required.into());
    }
    if !shape.one_of.is_empty() {
        let others = |set: &[&str]| -> Vec<Value> {
            let mut names: Vec<&str> = shape
                .one_of
                .iter()
                .flat_map(|s| s.iter().copied())
                .collect();
            names.sort_unstable();
            names.dedup();
            names.retain(|n| !set.contains(n));
            names
                .iter()
                .map(|n| serde_json::json!({ "required": [n] }))
                .collect()
        };
        let sets: Vec<Value> = shape
            .one_of
            .iter()
            .map(|set| {
                let mut one = serde_json::json!({ "required": set });
                let others = others(set);
                if !others.is_empty() {
                    one["not"] = serde_json::json!({ "anyOf": others });
                }
                one
            })
            .collect();
        schema.insert("oneOf".into(), Value::Array(sets));
    }
    schema
}

/// Doc comments as one paragraph.
pub fn text(docs: &[&str]) -> String {
    docs.iter()
        .map(|d| d.trim())
        .collect::<Vec<_>>()
        .join(" ")
        .replace(['[', ']'], "")
        .trim()
        .to_owned()
}

/// Declares a map of the scenario file: a struct of optional fields, how it is read, and its
/// schema. `@required` fields must be there; `one_of` lists sets of fields of which exactly one
/// is given; `later` lists fields of later versions.
macro_rules! record {
    (
        $(#[doc = $doc:literal])*
        pub struct $name:ident $(<$unit:ident>)? ($what:literal) {
            $( $(#[doc = $field_doc:literal])* $(@$required:ident)? $field:ident $(= $key:literal)? : $type:ty, )*
        }
        $(one_of { $([$($alternative:literal),*]),* })?
        $(later { $($later:literal),* })?
    ) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        pub struct $name $(<$unit: $crate::scenario::file::Unit>)? {
            $( $(#[doc = $field_doc])* pub $field: Option<$type>, )*
            /// Where it was written.
            // Not every check needs it.
            #[allow(dead_code)]
            pub span: $crate::scenario::text::Span,
        }

        impl $(<$unit: $crate::scenario::file::Unit>)? $name $(<$unit>)? {
            /// Its fields.
            pub const SHAPE: $crate::scenario::file::decode::Shape =
                $crate::scenario::file::decode::Shape {
                    what: $what,
                    fields: &[$( record!(@key $field $($key)?) ),*],
                    required: {
                        const ALL: &[(&str, bool)] =
                            &[$( (record!(@key $field $($key)?), record!(@flag $($required)?)) ),*];
                        const COUNT: usize = $crate::scenario::file::decode::count(ALL);
                        const NAMES: [&str; COUNT] = $crate::scenario::file::decode::pick(ALL);
                        &NAMES
                    },
                    one_of: &[$($( &[$($alternative),*] ),*)?],
                    later: &[$($($later),*)?],
                };
        }

        impl $(<$unit: $crate::scenario::file::Unit>)? $crate::scenario::file::Decode for $name $(<$unit>)? {
            fn decode(
                node: &$crate::scenario::text::Node,
                cx: &mut $crate::scenario::file::Cx,
            ) -> Option<Self> {
                let fields = Self::SHAPE.fields(node, cx)?;
                // What is missing has been reported; the rest is checked all the same.
                Some($name {
                    $( $field: fields.read(record!(@key $field $($key)?), cx), )*
                    span: node.span,
                })
            }
        }

        impl $(<$unit: $crate::scenario::file::Unit>)? schemars::JsonSchema for $name $(<$unit>)? {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                let parts: &[&str] = &[
                    $(<$unit as $crate::scenario::file::Unit>::NAME,)?
                    stringify!($name).trim_end_matches("File"),
                ];
                parts.concat().into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let properties = vec![$((
                    record!(@key $field $($key)?),
                    generator.subschema_for::<$type>(),
                    vec![$($field_doc),*],
                )),*];
                $crate::scenario::file::decode::object_schema(&Self::SHAPE, &[$($doc),*], properties)
            }
        }
    };
    (@key $field:ident) => { stringify!($field) };
    (@key $field:ident $key:literal) => { $key };
    (@flag) => { false };
    (@flag required) => { true };
}
pub(super) use record;

/// How many are flagged.
pub const fn count(all: &[(&str, bool)]) -> usize {
    let (mut i, mut n) = (0, 0);
    while i < all.len() {
        n += all[i].1 as usize;
        i += 1;
    }
    n
}

/// The flagged names.
pub const fn pick<const N: usize>(all: &[(&'static str, bool)]) -> [&'static str; N] {
    let mut names = [""; N];
    let (mut i, mut n) = (0, 0);
    while i < all.len() {
        if all[i].1 {
            names[n] = all[i].0;
            n += 1;
        }
        i += 1;
    }
    names
}
