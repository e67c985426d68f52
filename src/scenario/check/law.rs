//! Laws in base units. Formulas are those of the laws' moments and quantiles as on their pages
//! in Johnson, Kotz and Balakrishnan, "Continuous Univariate Distributions" (2nd ed., 1994).

use super::Env;
use super::sample::sample;
use crate::scenario::file::{Bare, Cx, LawFile, Param, Quantity, QuantityKind, Unit};
use crate::scenario::text::{Report, Span};
use crate::scenario::{Law, LawKind};

/// 90% quantile of the standard normal law (Wichura 1988, algorithm AS 241).
const Z90: f64 = 1.281_551_565_544_600_4;

/// A quantity's law in base units, or `default` if none is given.
pub fn quantity_or<U: Unit>(
    quantity: &Option<Quantity<U>>,
    default: f64,
    env: &mut Env,
    cx: &mut Cx,
) -> Option<Law> {
    match quantity {
        None => Some(Law::constant(default)),
        Some(quantity) => law(quantity, env, cx),
    }
}

/// A quantity's law in base units (tokens, ns, counts).
pub fn law<U: Unit>(quantity: &Quantity<U>, env: &mut Env, cx: &mut Cx) -> Option<Law> {
    lower(quantity, false, env, cx)
}

fn lower<U: Unit>(
    quantity: &Quantity<U>,
    bounded: bool,
    env: &mut Env,
    cx: &mut Cx,
) -> Option<Law> {
    let span = quantity.span;
    let (kind, min, max) = match &quantity.kind {
        QuantityKind::Constant(value) => return Some(Law::constant(*value)),
        QuantityKind::Range(low, high) if low == high => return Some(Law::constant(*low)),
        QuantityKind::Range(low, high) => {
            // Whole numbers below 2^62 (units and their limits see to it).
            (
                Some(LawKind::IntegerRange {
                    low: *low as i64,
                    high: *high as i64,
                }),
                None,
                None,
            )
        }
        QuantityKind::MedianP90(m) => (
            by_quantiles(&m.median, &m.p90, cx),
            m.min.as_ref(),
            m.max.as_ref(),
        ),
        QuantityKind::Law { law, min, max } => {
            let (inner_min, inner_max) = bounds(law);
            let (min, max) = (min.as_ref().or(inner_min), max.as_ref().or(inner_max));
            (
                named(law, span, bounded || max.is_some(), env, cx),
                min,
                max,
            )
        }
    };
    if let (Some(min), Some(max)) = (min, max)
        && min.value > max.value
    {
        cx.errors.push(
            Report::new(max.span, "`max` is below `min`")
                .label("the upper bound")
                .other(min.span, "the lower bound"),
        );
    }
    let kind = kind?;
    if !is_finite(&kind) {
        return cx.error(
            Report::new(span, "a law whose parameters are out of range")
                .label("its mean cannot be counted"),
        );
    }
    check_tail(&kind, span, bounded || max.is_some(), cx)?;
    Some(Law {
        kind,
        min: min.map(|m| m.value),
        max: max.map(|m| m.value),
    })
}

/// An infinite mean without `max` is an error, an infinite variance a warning.
fn check_tail(kind: &LawKind, span: Span, bounded: bool, cx: &mut Cx) -> Option<()> {
    let (law, shape) = match kind {
        LawKind::Pareto { shape, .. } => ("pareto", *shape),
        LawKind::Loglogistic { shape, .. } => ("loglogistic", *shape),
        _ => return Some(()),
    };
    if bounded || shape > 2.0 {
        return Some(());
    }
    if shape <= 1.0 {
        return cx.error(
            Report::new(
                span,
                format!("a {law} law of shape {shape} has an infinite mean"),
            )
            .label("no average of a run would settle")
            .help("add `max`, or take a shape above 1"),
        );
    }
    cx.warn(
        Report::new(
            span,
            format!("a {law} law of shape {shape} has an infinite variance"),
        )
        .label("averages settle slowly; consider `max`"),
    );
    Some(())
}

/// Whether every parameter that was computed is a number to go on with.
fn is_finite(kind: &LawKind) -> bool {
    // Above any context, count or time (100 years in ns).
    let fine = |x: f64| x.is_finite() && x.abs() <= 4e18;
    match kind {
        LawKind::Exponential { mean } | LawKind::Geometric { mean } | LawKind::Poisson { mean } => {
            fine(*mean)
        }
        LawKind::Lognormal { mu, sigma } => {
            fine((mu + sigma * sigma / 2.0).exp()) && mu.is_finite()
        }
        LawKind::Gamma { shape, scale } => {
            fine(shape * scale) && *shape > 0.0 && *scale > 0.0 && fine(*scale)
        }
        LawKind::Loglogistic { shape, scale }
        | LawKind::Pareto { shape, scale }
        | LawKind::Weibull { shape, scale } => shape.is_finite() && fine(*scale),
        _ => true,
    }
}

type Bounds<'a, U> = (Option<&'a Param<U>>, Option<&'a Param<U>>);

/// Bounds that stand inside a law's map.
fn bounds<U: Unit>(law: &LawFile<U>) -> Bounds<'_, U> {
    macro_rules! of {
        ($($variant:ident),*) => {
            match law {
                $(LawFile::$variant(l) => (l.min.as_ref(), l.max.as_ref()),)*
                LawFile::Empirical(l) => (l.0.min.as_ref(), l.0.max.as_ref()),
                LawFile::Choice(_) | LawFile::Mixture(_) => (None, None),
            }
        };
    }
    of!(
        Uniform,
        Exponential,
        Lognormal,
        Loglogistic,
        Gamma,
        Weibull,
        Pareto,
        Geometric,
        Poisson
    )
}

fn positive<U>(param: &Option<Param<U>>, name: &str, cx: &mut Cx) -> Option<f64> {
    let param = param.as_ref()?;
    if param.value > 0.0 {
        return Some(param.value);
    }
    cx.error(
        Report::new(param.span, format!("`{name}` is not above 0"))
            .label("a number above 0 is needed"),
    )
}

fn not_negative(param: &Option<Bare>, name: &str, cx: &mut Cx) -> Option<f64> {
    let param = param.as_ref()?;
    if param.value >= 0.0 {
        return Some(param.value);
    }
    cx.error(Report::new(param.span, format!("`{name}` is negative")).label("0 or more is needed"))
}

fn by_quantiles<U>(
    median: &Option<Param<U>>,
    p90: &Option<Param<U>>,
    cx: &mut Cx,
) -> Option<LawKind> {
    let (m, p) = quantiles(median, p90, cx)?;
    if m == p {
        return Some(LawKind::Constant(m));
    }
    Some(LawKind::Lognormal {
        mu: m.ln(),
        sigma: (p / m).ln() / Z90,
    })
}

/// A median and a 90th percentile that is not below it.
fn quantiles<U>(
    median: &Option<Param<U>>,
    p90: &Option<Param<U>>,
    cx: &mut Cx,
) -> Option<(f64, f64)> {
    let m = positive(median, "median", cx);
    let p = positive(p90, "p90", cx);
    let (m, p) = (m?, p?);
    if p < m {
        let (median, p90) = (median.as_ref()?, p90.as_ref()?);
        return cx.error(
            Report::new(p90.span, "`p90` is below `median`")
                .label("nine tenths of the values are below it, so it cannot be less")
                .other(median.span, "half of the values are below this"),
        );
    }
    Some((m, p))
}

/// Mean and coefficient of variation of a lognormal law.
fn by_moments(mean: f64, cv: f64) -> LawKind {
    if cv == 0.0 {
        return LawKind::Constant(mean);
    }
    // sigma² = ln(1 + cv²); mean = exp(mu + sigma²/2).
    let variance = (cv * cv).ln_1p();
    LawKind::Lognormal {
        mu: mean.ln() - variance / 2.0,
        sigma: variance.sqrt(),
    }
}

fn named<U: Unit>(
    law: &LawFile<U>,
    span: Span,
    bounded: bool,
    env: &mut Env,
    cx: &mut Cx,
) -> Option<LawKind> {
    let counts = |name: &str, cx: &mut Cx| {
        if U::COUNTS {
            return Some(());
        }
        cx.error(
            Report::new(
                span,
                format!("a {name} law counts things; {} is not a count", U::WHAT),
            )
            .help("`exponential` and `gamma` are laws of times"),
        )
    };
    match law {
        LawFile::Uniform(l) => {
            let (low, high) = (l.low.as_ref()?, l.high.as_ref()?);
            if low.value > high.value {
                return cx.error(
                    Report::new(high.span, "`high` is below `low`")
                        .label("the largest value")
                        .other(low.span, "the smallest value"),
                );
            }
            Some(if low.value == high.value {
                LawKind::Constant(low.value)
            } else {
                LawKind::Uniform {
                    low: low.value,
                    high: high.value,
                }
            })
        }
        LawFile::Exponential(l) => {
            let mean = if l.mean.is_some() {
                positive(&l.mean, "mean", cx)?
            } else if l.median.is_some() {
                positive(&l.median, "median", cx)? / std::f64::consts::LN_2
            } else {
                let per_hour = l.rate.as_ref()?.0;
                if U::MU_SCALE == 1.0 {
                    return cx.error(
                        Report::new(span, format!("`rate` makes a time; {} is needed", U::WHAT))
                            .help("give `mean` or `median`"),
                    );
                }
                3600.0 * U::MU_SCALE / per_hour
            };
            Some(LawKind::Exponential { mean })
        }
        LawFile::Lognormal(l) => {
            if l.mean.is_some() {
                let (mean, cv) = (positive(&l.mean, "mean", cx), not_negative(&l.cv, "cv", cx));
                return Some(by_moments(mean?, cv?));
            }
            if l.p90.is_some() {
                return by_quantiles(&l.median, &l.p90, cx);
            }
            let sigma = not_negative(&l.sigma, "sigma", cx);
            let mu = match &l.mu {
                Some(mu) => Some(mu.value + U::MU_SCALE.ln()),
                None => positive(&l.median, "median", cx).map(f64::ln),
            };
            let (mu, sigma) = (mu?, sigma?);
            Some(if sigma == 0.0 {
                LawKind::Constant(mu.exp())
            } else {
                LawKind::Lognormal { mu, sigma }
            })
        }
        LawFile::Loglogistic(l) => {
            if l.p90.is_some() {
                let (median, p90) = quantiles(&l.median, &l.p90, cx)?;
                if median == p90 {
                    return Some(LawKind::Constant(median));
                }
                // The quantile function at 0.9 is scale * 9^(1 / shape).
                return Some(LawKind::Loglogistic {
                    shape: 9f64.ln() / (p90 / median).ln(),
                    scale: median,
                });
            }
            let scale = if l.median.is_some() {
                positive(&l.median, "median", cx)
            } else {
                positive(&l.scale, "scale", cx)
            };
            let shape = positive(&l.shape, "shape", cx);
            Some(LawKind::Loglogistic {
                shape: shape?,
                scale: scale?,
            })
        }
        LawFile::Gamma(l) => {
            if l.mean.is_some() {
                let (mean, cv) = (positive(&l.mean, "mean", cx), not_negative(&l.cv, "cv", cx));
                let (mean, cv) = (mean?, cv?);
                if cv == 0.0 {
                    return Some(LawKind::Constant(mean));
                }
                // mean = shape * scale, cv² = 1 / shape.
                return Some(LawKind::Gamma {
                    shape: 1.0 / (cv * cv),
                    scale: mean * cv * cv,
                });
            }
            let (shape, scale) = (
                positive(&l.shape, "shape", cx),
                positive(&l.scale, "scale", cx),
            );
            Some(LawKind::Gamma {
                shape: shape?,
                scale: scale?,
            })
        }
        LawFile::Weibull(l) => {
            let (shape, scale) = (
                positive(&l.shape, "shape", cx),
                positive(&l.scale, "scale", cx),
            );
            Some(LawKind::Weibull {
                shape: shape?,
                scale: scale?,
            })
        }
        LawFile::Pareto(l) => {
            let (shape, scale) = (
                positive(&l.shape, "shape", cx),
                positive(&l.scale, "scale", cx),
            );
            Some(LawKind::Pareto {
                shape: shape?,
                scale: scale?,
            })
        }
        LawFile::Geometric(l) => {
            counts("geometric", cx)?;
            let (param, mean) = match (&l.p, &l.mean) {
                (Some(p), _) => (
                    p.span,
                    (p.value > 0.0 && p.value <= 1.0).then(|| 1.0 / p.value),
                ),
                (None, Some(mean)) => (mean.span, (mean.value >= 1.0).then_some(mean.value)),
                (None, None) => return None,
            };
            let Some(mean) = mean else {
                return cx.error(
                    Report::new(param, "a geometric law counts trials: 1, 2, ...")
                        .label("its mean is at least 1, its `p` above 0 and at most 1"),
                );
            };
            Some(if mean == 1.0 {
                LawKind::Constant(1.0)
            } else {
                LawKind::Geometric { mean }
            })
        }
        LawFile::Poisson(l) => {
            counts("poisson", cx)?;
            positive(&l.mean, "mean", cx).map(|mean| LawKind::Poisson { mean })
        }
        LawFile::Choice(values) => {
            let mut list = Vec::new();
            for value in values {
                list.push((value.value, weight(&value.weight, cx)?));
            }
            not_empty(list.len(), span, "choice", cx)?;
            Some(LawKind::Choice(list))
        }
        LawFile::Mixture(components) => {
            let mut list = Vec::new();
            for component in components {
                let weight = weight(&component.weight, cx);
                let law = component
                    .law
                    .as_ref()
                    .and_then(|law| lower(law, bounded, env, cx));
                list.push((weight, law));
            }
            not_empty(list.len(), span, "mixture", cx)?;
            list.into_iter()
                .map(|(w, l)| Some((w?, l?)))
                .collect::<Option<_>>()
                .map(LawKind::Mixture)
        }
        LawFile::Empirical(file) => sample(&file.0, env, cx).map(LawKind::Empirical),
    }
}

fn weight(weight: &Option<Bare>, cx: &mut Cx) -> Option<f64> {
    match weight {
        None => Some(1.0),
        Some(_) => positive(weight, "weight", cx),
    }
}

fn not_empty(len: usize, span: Span, what: &str, cx: &mut Cx) -> Option<()> {
    if len > 0 {
        return Some(());
    }
    cx.error(Report::new(span, format!("a {what} of nothing")).label("at least one item is needed"))
}
