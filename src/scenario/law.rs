//! The law of a quantity, checked and with its units resolved (tokens, counts, nanoseconds).

/// A quantity: a law, clamped to optional bounds (values beyond are moved to the bound).
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// The law before clamping.
    pub kind: LawKind,
    /// Lower bound, in the quantity's unit.
    pub min: Option<f64>,
    /// Upper bound, in the quantity's unit.
    pub max: Option<f64>,
}

/// The laws a quantity may follow. Parameters are in the quantity's unit.
#[derive(Clone, Debug, PartialEq)]
pub enum LawKind {
    /// Always this value.
    Constant(f64),
    /// Integers from `low` to `high`, both included, equally likely.
    IntegerRange { low: i64, high: i64 },
    /// Uniform on [low, high].
    Uniform { low: f64, high: f64 },
    /// Exponential with this mean.
    Exponential { mean: f64 },
    /// exp(N(mu, sigma²)).
    Lognormal { mu: f64, sigma: f64 },
    /// Quantile function `scale * (u / (1 - u))^(1 / shape)`.
    Loglogistic { shape: f64, scale: f64 },
    /// Gamma with mean `shape * scale`.
    Gamma { shape: f64, scale: f64 },
    /// Quantile function `scale * (-ln(1 - u))^(1 / shape)`.
    Weibull { shape: f64, scale: f64 },
    /// Pareto type I: quantile function `scale * (1 - u)^(-1 / shape)`.
    Pareto { shape: f64, scale: f64 },
    /// Number of trials to the first success: 1, 2, ... with this mean (>= 1).
    Geometric { mean: f64 },
    /// Poisson with this mean.
    Poisson { mean: f64 },
    /// One of these values, with these weights (positive; need not sum to 1).
    Choice(Vec<(f64, f64)>),
    /// One of these laws, with these weights (positive; need not sum to 1): `(weight, law)`.
    Mixture(Vec<(f64, Law)>),
    /// A recorded sample, ascending, each value equally likely.
    Empirical(Vec<f64>),
}

impl Law {
    /// A law that always gives `value`.
    pub fn constant(value: f64) -> Law {
        Law {
            kind: LawKind::Constant(value),
            min: None,
            max: None,
        }
    }
}
