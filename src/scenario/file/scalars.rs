//! Scalars of a scenario file: text, numbers with units, and words of a fixed list.

use super::decode::{Cx, Decode};
use super::number::{Wrong, plain};
use super::{rates, units};
use crate::scenario::text::{Kind, Node, Report};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

/// Reads a scalar node with `parse`, reporting what is wrong with its text.
pub fn scalar<T>(
    node: &Node,
    what: &str,
    cx: &mut Cx,
    parse: impl FnOnce(&str) -> Result<T, Wrong>,
) -> Option<T> {
    let Kind::Scalar { text, plain } = &node.kind else {
        return cx.error(
            Report::new(
                node.span,
                format!("expected {what}, found {}", node.describe()),
            )
            .label(format!("{what} is needed here")),
        );
    };
    match parse(text) {
        Ok(value) => Some(value),
        Err(wrong) => {
            let quote = usize::from(!plain);
            let span = match wrong.part {
                Some(part) => node.span.part(part.start + quote..part.end + quote),
                None => node.span,
            };
            let mut report = Report::new(span, wrong.title).label(wrong.label);
            if let Some(help) = wrong.help {
                report = report.help(help);
            }
            cx.error(report)
        }
    }
}

/// Declares a scalar: its value, how it is read, and its schema.
macro_rules! scalar_type {
    ($(#[$meta:meta])* $name:ident($value:ty), $what:literal, $parse:expr, $schema:expr) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(pub $value);

        impl Decode for $name {
            fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
                scalar(node, $what, cx, $parse).map($name)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    };
}

scalar_type!(
    /// A text.
    Text(String),
    "a text",
    |text| Ok(text.to_owned()),
    json_schema!({ "type": ["string", "number"] })
);

scalar_type!(
    /// `true` or `false`.
    Switch(bool),
    "true or false",
    |text| match text {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => {
            let wrong = Wrong::new(format!("`{text}` is not true or false"), "allowed: true, false");
            Err(match text.to_ascii_lowercase().as_str() {
                "yes" | "on" | "y" | "true" | "1" => wrong.help("write `true`"),
                "no" | "off" | "n" | "false" | "0" => wrong.help("write `false`"),
                _ => wrong,
            })
        }
    },
    json_schema!({ "type": "boolean" })
);

scalar_type!(
    /// A whole number of 64 bits.
    Seed(u64),
    "a whole number",
    |text| text.trim().parse().map_err(|_| Wrong::new(
        format!("`{text}` is not a whole number"),
        "a whole number from 0 to 2^64 - 1"
    )),
    json_schema!({ "type": "integer", "minimum": 0 })
);

scalar_type!(
    /// A whole number of at least 1.
    Positive(u32),
    "a whole number of at least 1",
    |text| match units::count(text)? {
        0 => Err(Wrong::new("`0` is too small", "at least 1 is needed")),
        n => Ok(n as u32),
    },
    json_schema!({ "type": ["integer", "string"], "minimum": 1, "pattern": units::TOKENS_PATTERN })
);

scalar_type!(
    /// A whole number.
    Whole(u32),
    "a whole number",
    |text| units::count(text).map(|n| n as u32),
    json_schema!({ "type": ["integer", "string"], "minimum": 0, "pattern": units::TOKENS_PATTERN })
);

scalar_type!(
    /// A finite number.
    Number(f64),
    "a number",
    plain,
    json_schema!({ "type": "number" })
);

scalar_type!(
    /// A probability in [0, 1].
    Probability(f64),
    "a probability",
    |text| match plain(text)? {
        p if (0.0..=1.0).contains(&p) => Ok(p),
        _ => Err(Wrong::new(format!("`{text}` is not a probability"), "a number from 0 to 1")),
    },
    json_schema!({ "type": "number", "minimum": 0, "maximum": 1 })
);

scalar_type!(
    /// A fraction in (0, 1], in billionths.
    Share(u64),
    "a fraction",
    |text| {
        let wrong = || Wrong::new(
            format!("`{text}` is not a fraction in (0, 1]"),
            "above 0, at most 1 and at most 9 decimals",
        );
        let value = plain(text)?;
        if !(value > 0.0 && value <= 1.0) {
            return Err(wrong());
        }
        let (number, _) = super::number::Decimal::take(text.trim()).ok_or_else(wrong)?;
        number.times(1_000_000_000).map_err(|_| wrong())
    },
    json_schema!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 })
);

scalar_type!(
    /// A time such as `90s`, in ns.
    Duration(u64),
    "a time",
    units::time_ns,
    json_schema!({ "type": "string", "pattern": units::TIME_PATTERN })
);

scalar_type!(
    /// A token rate such as `60 tok/s`, in micro-tokens per second.
    TokenRate(u64),
    "a token rate",
    rates::token_rate,
    json_schema!({ "type": "string", "pattern": r"^\s*[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*([kKMG]|[KMG]i)?\s*(tok|token|tokens)/s\s*$" })
);

scalar_type!(
    /// A rate such as `1200/h`, per hour.
    PerTime(f64),
    "a rate",
    rates::per_hour,
    json_schema!({ "type": "string", "pattern": r"^\s*[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*([kKMG]|[KMG]i)?\s*/\s*[smhd]\s*$" })
);

scalar_type!(
    /// A time in ns, or `never` (`None`).
    Lifetime(Option<u64>),
    "a time or `never`",
    |text| match text {
        "never" => Ok(None),
        _ => units::time_ns(text).map(Some).map_err(|mut wrong| {
            wrong.label = format!("{}, or `never`", wrong.label);
            wrong
        }),
    },
    json_schema!({ "anyOf": [
        { "const": "never" },
        { "type": "string", "pattern": units::TIME_PATTERN },
    ] })
);

scalar_type!(
    /// Tokens between snapshots, or `none`.
    Every(Option<u64>),
    "a token count or `none`",
    |text| match text {
        "none" => Ok(None),
        _ => match units::tokens(text) {
            Ok(0) => Err(Wrong::new("a snapshot every 0 tokens", "at least 1 token, or `none`")),
            Ok(n) => Ok(Some(n)),
            Err(mut wrong) => {
                wrong.label = format!("{}, or `none`", wrong.label);
                Err(wrong)
            }
        },
    },
    json_schema!({ "anyOf": [
        { "const": "none" },
        { "type": "integer", "minimum": 1 },
        { "type": "string", "pattern": units::TOKENS_PATTERN },
    ] })
);

scalar_type!(
    /// How many snapshots are kept, or `all` (`None`).
    Keep(Option<u64>),
    "`all` or a number",
    |text| match text {
        "all" => Ok(None),
        _ => match units::count(text) {
            Ok(0) => Err(Wrong::new("`keep: 0` keeps no snapshot", "`all`, or at least 1")
                .help("`every: none` and `at: []` turn snapshots off")),
            Ok(n) => Ok(Some(n)),
            Err(_) => Err(Wrong::new(
                format!("`{text}` is not a number of snapshots"),
                "allowed: `all`, or a whole number of at least 1"
            )),
        },
    },
    json_schema!({ "anyOf": [{ "const": "all" }, { "type": "integer", "minimum": 1 }] })
);

scalar_type!(
    /// Hours ahead of the scenario's clock.
    Timezone(f64),
    "hours",
    |text| {
        let wrong = || Wrong::new(
            format!("`{text}` is not a number of hours"),
            "hours ahead of the scenario's clock, from -24 to +24",
        ).help("for example `+9`, `-5` or `+5:30`");
        let bare = text.trim().trim_start_matches("UTC");
        let (hours, minutes) = bare.split_once(':').unwrap_or((bare, "0"));
        let hours = if bare.is_empty() { 0.0 } else { plain(hours).map_err(|_| wrong())? };
        let part: u8 = minutes.parse().map_err(|_| wrong())?;
        let part = f64::from(part) / 60.0;
        let value = if bare.starts_with('-') { hours - part } else { hours + part };
        if part < 1.0 && (-24.0..=24.0).contains(&value) { Ok(value) } else { Err(wrong()) }
    },
    json_schema!({ "type": ["number", "string"], "minimum": -24, "maximum": 24 })
);

/// Declares a choice between words: `default` or not, each with its documentation.
macro_rules! words {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[doc = $doc:literal])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[doc = $doc])* $variant),* }

        impl $name {
            /// The words.
            pub const WORDS: &[&str] = &[$($word),*];
        }

        impl Decode for $name {
            fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
                let word = scalar(node, $what, cx, |text| Ok(text.to_owned()))?;
                match word.as_str() {
                    $($word => Some($name::$variant),)*
                    _ => cx.error(
                        Report::new(node.span, format!("`{word}` is not {}", $what))
                            .label("not one of the allowed words")
                            .names(&word, Self::WORDS),
                    ),
                }
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "oneOf": [$({
                    "const": $word,
                    "description": super::decode::text(&[$($doc),*]),
                }),*] })
            }
        }
    };
}

words!(
    /// Whether a parent waits.
    Mode, "a spawn mode" {
        /// The parent blocks until the children return.
        Sync = "sync",
        /// The parent goes on; results wait for its next step.
        Async = "async",
    }
);

words!(
    /// What a child's context starts from.
    Start, "a start of a spawn" {
        /// Its own system prompt.
        Fresh = "fresh",
        /// The parent's tokens, shared with it.
        Fork = "fork",
    }
);

words!(
    /// What happens at the limit.
    Then, "an action at the limit" {
        /// A summary is decoded and a new sequence goes on from it.
        Compact = "compact",
        /// The agent finishes.
        End = "end",
    }
);

words!(
    /// When snapshots are taken, besides `every`.
    Moment, "a moment of snapshots" {
        /// After a step's prefill.
        PromptEnd = "prompt_end",
        /// After a step's decode.
        OutputEnd = "output_end",
        /// When children fork.
        Fork = "fork",
    }
);

words!(
    /// A named daily profile.
    ProfileName, "a profile" {
        /// The same rate at all hours.
        Flat = "flat",
        /// A 12-hour working day.
        BusinessHours = "business-hours",
        /// The small swing of a service used around the world.
        Global = "global",
    }
);
