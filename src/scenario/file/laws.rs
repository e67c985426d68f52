//! Named laws as written: `{lognormal: {mean: 1, cv: 0.8}}`. Parameters of scale are in the
//! quantity's unit with the unit written; `shape`, `sigma`, `cv`, `p` and `mu` are plain numbers.
//! `mu` is the logarithm of tokens, counts, or seconds.

use super::decode::{Cx, Decode, object_schema, record, text};
use super::quantity::Quantity;
use super::scalars::{PerTime, Text, scalar};
use super::units::{Plain, Unit};
use crate::scenario::text::{Kind, Node, Report, Span};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;
use std::marker::PhantomData;

/// A parameter in the quantity's unit.
#[derive(Clone, Debug)]
pub struct Param<U> {
    /// In base units.
    pub value: f64,
    /// Where it was written.
    pub span: Span,
    unit: PhantomData<U>,
}

impl<U: Unit> Decode for Param<U> {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        let value = scalar(node, U::WHAT, cx, U::real)?;
        Some(Param {
            value,
            span: node.span,
            unit: PhantomData,
        })
    }
}

/// A parameter without a unit.
pub type Bare = Param<Plain>;

impl<U: Unit> JsonSchema for Param<U> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Parameter", U::NAME).into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let pattern = json_schema!({ "type": "string", "pattern": U::PATTERN });
        if U::PLAIN {
            let mut number = json_schema!({ "type": "number" });
            if !U::SIGNED {
                number.insert("minimum".into(), 0.into());
            }
            json_schema!({ "anyOf": [number, pattern] })
        } else {
            pattern
        }
    }
}

record! {
    /// Lognormal with this median and 90th percentile.
    pub struct MedianP90File<U> ("a quantity by median and p90") {
        /// Half of the values are below it.
        @required median: Param<U>,
        /// Nine tenths of the values are below it.
        @required p90: Param<U>,
        /// Values below are moved up to it.
        min: Param<U>,
        /// Values above are moved down to it.
        max: Param<U>,
    }
}

record! {
    /// Every value between `low` and `high` is equally likely.
    pub struct UniformFile<U> ("a uniform law") {
        /// Smallest value.
        @required low: Param<U>,
        /// Largest value.
        @required high: Param<U>,
        /// Values below are moved up to it.
        min: Param<U>,
        /// Values above are moved down to it.
        max: Param<U>,
    }
}

record! {
    /// Exponential, by its mean, its median, or (times only) its rate.
    pub struct ExponentialFile<U> ("an exponential law") {
        /// Mean.
        mean: Param<U>,
        /// Median.
        median: Param<U>,
        /// Events per time, such as `3/h`.
        rate: PerTime,
        /// Values below are moved up to it.
        min: Param<U>,
        /// Values above are moved down to it.
        max: Param<U>,
    }
    one_of { ["mean"], ["median"], ["rate"] }
}

record! {
    /// Lognormal, by `mean` + `cv`, `mu` + `sigma`, `median` + `p90`, or `median` + `sigma`.
    pub struct LognormalFile<U> ("a lognormal law") {
        /// Mean.
        mean: Param<U>,
        /// Standard deviation over mean.
        cv: Bare,
        /// Mean of the logarithm (of tokens, counts, or seconds).
        mu: Bare,
        /// Standard deviation of the logarithm.
        sigma: Bare,
        /// Median.
        median: Param<U>,
        /// 90th percentile.
        p90: Param<U>,
        /// Values below are moved up to it.
        min: Param<U>,
        /// Values above are moved down to it.
        max: Param<U>,
    }
    one_of { ["mean", "cv"], ["mu", "sigma"], ["median", "p90"], ["median", "sigma"] }
}

record! {
    /// Log-logistic, by `shape` + `scale` (the median), `shape` + `median`, or `median` + `p90`.
    pub struct LoglogisticFile<U> ("a loglogistic law") {
        /// Tail exponent: a shape of 1 or less has no mean.
        shape: Bare,
        /// Scale: the median.
        scale: Param<U>,
        /// Median.
        median: Param<U>,
        /// 90th percentile.
        p90: Param<U>,
        /// Values below are moved up to it.
        min: Param<U>,
        /// Values above are moved down to it.
        max: Param<U>,
    }
    one_of { ["shape", "scale"], ["shape", "median"], ["median", "p90"] }
}

record! {
    /// Gamma, by `shape` + `scale`, or `mean` + `cv`.
    pub struct GammaFile<U> ("a gamma law") {
        /// Shape.
        shape: Bare,
        /// Scale: mean over shape.
        scale: Param<U>,
        /// Mean.
        mean: Param<U>,
        /// Standard deviation over mean.
        cv: Bare,
        /// Values below are moved up to it.
        min: Param<U>,
        /// Values above are moved down to it.
        max: Param<U>,
    }
    one_of { ["shape", "scale"], ["mean", "cv"] }
}

record! {
    /// Weibull.
    pub struct WeibullFile<U> ("a weibull law") {
        /// Shape.
        @required shape: Bare,
        /// Scale: 63.2% of the values are below it.
        @required scale: Param<U>,
        /// Values below are moved up to it.
        min: Param<U>,
        /// Values above are moved down to it.
        max: Param<U>,
    }
}

record! {
    /// Pareto (type I).
    pub struct ParetoFile<U> ("a pareto law") {
        /// Tail exponent: a shape of 1 or less has no mean.
        @required shape: Bare,
        /// Scale: the smallest value.
        @required scale: Param<U>,
        /// Values below are moved up to it.
        min: Param<U>,
        /// Values above are moved down to it.
        max: Param<U>,
    }
}

record! {
    /// Geometric: 1, 2, ..., the trials until the first success; by its mean or the probability.
    pub struct GeometricFile<U> ("a geometric law") {
        /// Mean, at least 1.
        mean: Param<U>,
        /// Probability of success, above 0 and at most 1.
        p: Bare,
        /// Values below are moved up to it.
        min: Param<U>,
        /// Values above are moved down to it.
        max: Param<U>,
    }
    one_of { ["mean"], ["p"] }
}

record! {
    /// Poisson.
    pub struct PoissonFile<U> ("a poisson law") {
        /// Mean.
        @required mean: Param<U>,
        /// Values below are moved up to it.
        min: Param<U>,
        /// Values above are moved down to it.
        max: Param<U>,
    }
}

record! {
    /// A value of a choice and how often it is taken.
    pub struct ValueFile<U> ("a weighted value") {
        /// The value.
        @required value: Param<U>,
        /// How often, against the other weights.
        @required weight: Bare,
    }
}

/// A value with a weight; a bare value weighs 1.
#[derive(Clone, Debug)]
pub struct Weighted<U> {
    /// The value, in base units.
    pub value: f64,
    /// Its weight; `None` weighs 1.
    pub weight: Option<Bare>,
    unit: PhantomData<U>,
}

impl<U: Unit> Decode for Weighted<U> {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        let (value, weight) = match &node.kind {
            Kind::Map(_) => {
                let item = ValueFile::<U>::decode(node, cx)?;
                (item.value?.value, Some(item.weight?))
            }
            _ => (Param::<U>::decode(node, cx)?.value, None),
        };
        Some(Weighted {
            value,
            weight,
            unit: PhantomData,
        })
    }
}

impl<U: Unit> JsonSchema for Weighted<U> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Weighted", U::NAME).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            generator.subschema_for::<Param<U>>(),
            generator.subschema_for::<ValueFile<U>>(),
        ] })
    }
}

record! {
    /// A law of a mixture and how often it is taken.
    pub struct ComponentFile<U> ("a component of a mixture") {
        /// How often, against the other weights.
        @required weight: Bare,
        /// The law: any quantity.
        @required law: Quantity<U>,
    }
}

record! {
    /// A recorded sample: `values`, or a `column` of a CSV `file` (relative to the scenario).
    pub struct SampleFile<U> ("a recorded sample") {
        /// The values.
        values: Vec<Param<U>>,
        /// A CSV file with a header line.
        file: super::decode::Spanned<Text>,
        /// The column's name.
        column: super::decode::Spanned<Text>,
        /// The unit of the column's plain numbers, such as `s`.
        unit: super::decode::Spanned<Text>,
        /// Values below are moved up to it.
        min: Param<U>,
        /// Values above are moved down to it.
        max: Param<U>,
    }
    one_of { ["values"], ["file", "column"] }
}

/// A recorded sample: a list of values, or [`SampleFile`].
#[derive(Clone, Debug)]
pub struct EmpiricalFile<U: Unit>(pub SampleFile<U>);

impl<U: Unit> Decode for EmpiricalFile<U> {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        if let Kind::Seq(_) = node.kind {
            return Some(EmpiricalFile(SampleFile {
                values: Some(Vec::decode(node, cx)?),
                file: None,
                column: None,
                unit: None,
                min: None,
                max: None,
                span: node.span,
            }));
        }
        SampleFile::decode(node, cx).map(EmpiricalFile)
    }
}

impl<U: Unit> JsonSchema for EmpiricalFile<U> {
    fn schema_name() -> Cow<'static, str> {
        format!("{}Empirical", U::NAME).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            generator.subschema_for::<Vec<Param<U>>>(),
            generator.subschema_for::<SampleFile<U>>(),
        ] })
    }
}

macro_rules! laws {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal: $type:ty),* $(,)?) => {
        /// A named law.
        #[derive(Clone, Debug)]
        pub enum LawFile<U: Unit> { $($(#[doc = $doc])* $variant($type)),* }

        impl<U: Unit> LawFile<U> {
            /// Reads the law `name`.
            pub fn read(name: &str, node: &Node, cx: &mut Cx) -> Option<Self> {
                match name {
                    $($name => <$type>::decode(node, cx).map(LawFile::$variant),)*
                    _ => None,
                }
            }

            /// A schema for each law, as a map of its name and optional bounds.
            pub fn schemas(generator: &mut SchemaGenerator) -> Vec<Schema> {
                vec![$({
                    let law = generator.subschema_for::<$type>();
                    let bound = generator.subschema_for::<Param<U>>();
                    let shape = super::decode::Shape {
                        what: $name, fields: &[], required: &[$name], one_of: &[], later: &[],
                    };
                    let properties = vec![
                        ($name, law, vec![$($doc),*]),
                        ("min", bound.clone(), vec!["Values below are moved up to it."]),
                        ("max", bound, vec!["Values above are moved down to it."]),
                    ];
                    object_schema(&shape, &[$($doc),*], properties)
                }),*]
            }
        }

        /// The laws' names.
        pub const LAWS: &[&str] = &[$($name),*];
    };
}

laws! {
    /// Every value between two is equally likely.
    Uniform = "uniform": UniformFile<U>,
    /// Exponential.
    Exponential = "exponential": ExponentialFile<U>,
    /// Lognormal.
    Lognormal = "lognormal": LognormalFile<U>,
    /// Log-logistic.
    Loglogistic = "loglogistic": LoglogisticFile<U>,
    /// Gamma.
    Gamma = "gamma": GammaFile<U>,
    /// Weibull.
    Weibull = "weibull": WeibullFile<U>,
    /// Pareto.
    Pareto = "pareto": ParetoFile<U>,
    /// Geometric.
    Geometric = "geometric": GeometricFile<U>,
    /// Poisson.
    Poisson = "poisson": PoissonFile<U>,
    /// One of a list of values.
    Choice = "choice": Vec<Weighted<U>>,
    /// One of a list of laws.
    Mixture = "mixture": Vec<ComponentFile<U>>,
    /// A recorded sample.
    Empirical = "empirical": EmpiricalFile<U>,
}

/// The report of a map that is no quantity.
pub fn not_a_law<U: Unit>(node: &Node, key: &str) -> Report {
    let parameters = [
        "mean", "cv", "mu", "sigma", "shape", "scale", "p", "low", "high", "rate",
    ];
    let mut allowed = vec!["median + p90"];
    allowed.extend(LAWS);
    let span = node
        .entries()
        .and_then(|e| e.iter().find(|e| e.key.text == key))
        .map(|e| e.key.span);
    let report =
        Report::new(span.unwrap_or(node.span), format!("`{key}` is not a law")).label(format!(
            "{} by median and p90, or a law's name, is needed here",
            U::WHAT
        ));
    if parameters.contains(&key) {
        return report
            .allowed(&allowed)
            .help("parameters stand inside their law: `{lognormal: {mean: ..., cv: ...}}`");
    }
    report.names(key, &allowed)
}

/// Documentation of quantities, for the schema.
pub fn quantity_text<U: Unit>() -> String {
    text(&[
        U::WHAT,
        "as a constant (",
        U::EXAMPLE,
        "), an integer range `1..3`, `{median, p90}` (lognormal), or a named law.",
    ])
}
