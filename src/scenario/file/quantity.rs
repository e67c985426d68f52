//! A quantity as written: a constant, a range, `{median, p90}`, or a named law.

use super::decode::{Cx, Decode};
use super::laws::{LAWS, LawFile, MedianP90File, Param, not_a_law, quantity_text};
use super::number::Wrong;
use super::scalars::scalar;
use super::units::Unit;
use crate::scenario::text::{Kind, Node, Report, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;
use std::borrow::Cow;

/// A quantity and where it was written.
#[derive(Clone, Debug)]
pub struct Quantity<U: Unit> {
    /// How it was written.
    pub kind: QuantityKind<U>,
    /// Where.
    pub span: Span,
}

/// How a quantity was written. Numbers are in base units (tokens, ns, ...).
#[derive(Clone, Debug)]
pub enum QuantityKind<U: Unit> {
    /// Always this value.
    Constant(f64),
    /// Whole numbers from the first to the last, equally likely.
    Range(f64, f64),
    /// Lognormal by two quantiles.
    MedianP90(MedianP90File<U>),
    /// A named law, with bounds written beside it.
    Law {
        /// The law.
        law: LawFile<U>,
        /// Lower bound.
        min: Option<Param<U>>,
        /// Upper bound.
        max: Option<Param<U>>,
    },
}

fn constant_or_range<U: Unit>(text: &str) -> Result<QuantityKind<U>, Wrong> {
    let Some((low, high)) = text.split_once("..") else {
        return U::constant(text).map(QuantityKind::Constant);
    };
    let end = |text: &str| {
        let value = U::constant(text.trim())?;
        if value.fract() != 0.0 {
            return Err(Wrong::new(
                format!("`{text}` is not a whole number"),
                "a range is of whole numbers",
            )
            .help("`{uniform: {low: ..., high: ...}}` takes fractions"));
        }
        Ok(value)
    };
    let (low, high) = (end(low)?, end(high.trim_start_matches('='))?);
    if low > high {
        return Err(Wrong::new(
            format!("`{text}` is an empty range"),
            "the first number is above the last",
        ));
    }
    Ok(QuantityKind::Range(low, high))
}

impl<U: Unit> Decode for Quantity<U> {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        let kind = match &node.kind {
            Kind::Scalar { .. } => scalar(node, U::WHAT, cx, constant_or_range::<U>)?,
            Kind::Seq(_) => {
                return cx.error(
                    Report::new(node.span, format!("expected {}, found a list", U::WHAT)).help(
                        "`{choice: [...]}` takes one of a list, `{empirical: [...]}` is a sample",
                    ),
                );
            }
            Kind::Map(entries) => {
                let mut laws = entries
                    .iter()
                    .filter(|e| LAWS.contains(&e.key.text.as_str()));
                match (laws.next(), laws.next()) {
                    (Some(law), None) => read_law(law, node, cx)?,
                    (Some(first), Some(second)) => {
                        return cx.error(
                            Report::new(second.key.span, "a second law")
                                .label("a quantity has one law")
                                .other(first.key.span, "the first is here")
                                .help("`{mixture: [{weight: 1, law: ...}, ...]}` mixes laws"),
                        );
                    }
                    (None, _) => {
                        let fields = MedianP90File::<U>::SHAPE.fields;
                        let other = entries
                            .iter()
                            .find(|e| !fields.contains(&e.key.text.as_str()));
                        let median = entries.iter().any(|e| e.key.text == "median");
                        if let Some(other) = other
                            && (!median || other.key.text == "sigma")
                        {
                            return cx.error(not_a_law::<U>(node, &other.key.text));
                        }
                        QuantityKind::MedianP90(MedianP90File::decode(node, cx)?)
                    }
                }
            }
        };
        Some(Quantity {
            kind,
            span: node.span,
        })
    }
}

fn read_law<U: Unit>(
    law: &crate::scenario::text::Entry,
    node: &Node,
    cx: &mut Cx,
) -> Option<QuantityKind<U>> {
    let name = law.key.text.as_str();
    let mut ok = true;
    let (mut min, mut max) = (None, None);
    for entry in node.entries().unwrap_or(&[]) {
        let key = entry.key.text.as_str();
        if key == name {
            continue;
        }
        let bound = match key {
            "min" => &mut min,
            "max" => &mut max,
            _ => {
                cx.errors.push(
                    Report::new(
                        entry.key.span,
                        format!("unknown field `{key}` beside `{name}`"),
                    )
                    .label("only bounds stand beside a law; its parameters stand inside")
                    .names(key, &["min", "max"]),
                );
                ok = false;
                continue;
            }
        };
        if law.value.get(key).is_some() {
            cx.errors.push(
                Report::new(entry.key.span, format!("`{key}` is given twice"))
                    .label(format!("`{name}` has a `{key}` inside too")),
            );
            ok = false;
        }
        match Param::<U>::decode(&entry.value, cx) {
            Some(value) => *bound = Some(value),
            None => ok = false,
        }
    }
    let law = LawFile::read(name, &law.value, cx)?;
    ok.then_some(QuantityKind::Law { law, min, max })
}

impl<U: Unit> JsonSchema for Quantity<U> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Quantity", U::NAME).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut any: Vec<Value> = Vec::new();
        any.push(generator.subschema_for::<Param<U>>().to_value());
        let one = U::PATTERN.trim_start_matches('^').trim_end_matches('$');
        any.push(serde_json::json!({
            "type": "string",
            "pattern": format!("^{one}\\.\\.{one}$"),
            "description": "Whole numbers from the first to the last, equally likely.",
        }));
        any.push(generator.subschema_for::<MedianP90File<U>>().to_value());
        any.extend(
            LawFile::<U>::schemas(generator)
                .into_iter()
                .map(Schema::to_value),
        );
        json_schema!({ "description": quantity_text::<U>(), "anyOf": any })
    }
}
