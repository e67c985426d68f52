//! Exact quantile functions of the laws that are compiled to a table.

use super::special::{Gamma, normal_upper, poisson_large};
use crate::scenario::LawKind;
use libm::{exp, log, log1p, pow};

/// A law with a continuous quantile function.
#[derive(Clone, Copy, Debug)]
pub(super) enum Smooth {
    Exponential {
        mean: f64,
    },
    Lognormal {
        mu: f64,
        sigma: f64,
    },
    Loglogistic {
        power: f64,
        scale: f64,
    },
    Gamma {
        gamma: Gamma,
        scale: f64,
    },
    Weibull {
        power: f64,
        scale: f64,
    },
    Pareto {
        power: f64,
        scale: f64,
    },
    /// Real k whose rounding up is the count; `rate` is -ln(1 - p).
    Geometric {
        rate: f64,
    },
    /// Likewise.
    Poisson {
        mean: f64,
    },
}

impl Smooth {
    /// The quantile function of a law that has one; `None` for laws of a few values.
    pub(super) fn new(kind: &LawKind) -> Option<Smooth> {
        Some(match *kind {
            LawKind::Exponential { mean } => Smooth::Exponential { mean },
            LawKind::Lognormal { mu, sigma } => Smooth::Lognormal { mu, sigma },
            LawKind::Loglogistic { shape, scale } => Smooth::Loglogistic {
                power: 1.0 / shape,
                scale,
            },
            LawKind::Gamma { shape, scale } => Smooth::Gamma {
                gamma: Gamma::new(shape),
                scale,
            },
            LawKind::Weibull { shape, scale } => Smooth::Weibull {
                power: 1.0 / shape,
                scale,
            },
            LawKind::Pareto { shape, scale } => Smooth::Pareto {
                power: 1.0 / shape,
                scale,
            },
            LawKind::Geometric { mean } => Smooth::Geometric {
                rate: -log1p(-1.0 / mean),
            },
            LawKind::Poisson { mean } => Smooth::Poisson { mean },
            LawKind::Constant(_)
            | LawKind::IntegerRange { .. }
            | LawKind::Uniform { .. }
            | LawKind::Choice(_)
            | LawKind::Mixture(_)
            | LawKind::Empirical(_) => return None,
        })
    }

    /// The value that a share `p` of the draws is at or below, for p in (0, 1/2].
    pub(super) fn lower(&self, p: f64) -> f64 {
        match *self {
            Smooth::Exponential { mean } => -mean * log1p(-p),
            Smooth::Lognormal { mu, sigma } => exp(mu - sigma * normal_upper(p)),
            Smooth::Loglogistic { power, scale } => scale * pow(p / (1.0 - p), power),
            Smooth::Gamma { gamma, scale } => scale * gamma.lower(p),
            Smooth::Weibull { power, scale } => scale * pow(-log1p(-p), power),
            Smooth::Pareto { power, scale } => scale * exp(-power * log1p(-p)),
            Smooth::Geometric { rate } => -log1p(-p) / rate,
            Smooth::Poisson { mean } => poisson_large(mean, -normal_upper(p)),
        }
    }

    /// The value that a share `tail` of the draws is above, for `tail` in (0, 1/2].
    pub(super) fn upper(&self, tail: f64) -> f64 {
        match *self {
            Smooth::Exponential { mean } => -mean * log(tail),
            Smooth::Lognormal { mu, sigma } => exp(mu + sigma * normal_upper(tail)),
            Smooth::Loglogistic { power, scale } => scale * pow((1.0 - tail) / tail, power),
            Smooth::Gamma { gamma, scale } => scale * gamma.upper(tail),
            Smooth::Weibull { power, scale } => scale * pow(-log(tail), power),
            Smooth::Pareto { power, scale } => scale * exp(-power * log(tail)),
            Smooth::Geometric { rate } => -log(tail) / rate,
            Smooth::Poisson { mean } => poisson_large(mean, normal_upper(tail)),
        }
    }

    /// The least value of the law.
    pub(super) fn least(&self) -> f64 {
        match *self {
            Smooth::Pareto { scale, .. } => scale,
            _ => 0.0,
        }
    }
}
