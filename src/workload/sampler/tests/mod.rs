//! Tests of compiled laws, and the laws they share.

mod accuracy;
mod agreement;
mod behaviour;

use super::*;
use crate::workload::{Field, RunKey};

fn law(kind: LawKind) -> Law {
    Law {
        kind,
        min: None,
        max: None,
    }
}

fn sampler(kind: LawKind) -> Sampler {
    Sampler::new(&law(kind))
}

fn keyed_draws(sampler: &Sampler, count: u32) -> Vec<f64> {
    let key = RunKey::entry(7, 0, "sampler tests");
    (0..count)
        .map(|i| sampler.value(key.draw(Field::Think, i >> 8, i & 255, 0)))
        .collect()
}

fn lognormal_mean_cv(mean: f64, cv: f64) -> LawKind {
    let variance = (1.0 + cv * cv).ln();
    LawKind::Lognormal {
        mu: mean.ln() - variance / 2.0,
        sigma: variance.sqrt(),
    }
}

/// Every continuous law with light, usual and heavy parameters, and its mean.
fn continuous() -> Vec<(LawKind, f64)> {
    use LawKind::*;
    let gamma = libm::tgamma;
    let mut laws = vec![
        (Exponential { mean: 3e9 }, 3e9),
        (lognormal_mean_cv(1.0, 0.8), 1.0),
    ];
    for sigma in [0.05, 0.8, 1.64, 2.02, 3.0] {
        let mean = (9.0 + sigma * sigma / 2.0_f64).exp();
        laws.push((Lognormal { mu: 9.0, sigma }, mean));
    }
    for shape in [1.1, 1.5, 3.0, 40.0] {
        let angle = std::f64::consts::PI / shape;
        laws.push((
            Loglogistic { shape, scale: 20.0 },
            20.0 * angle / angle.sin(),
        ));
        laws.push((Pareto { shape, scale: 20.0 }, 20.0 * shape / (shape - 1.0)));
    }
    for shape in [0.05, 0.4, 1.0, 2.5, 70.0, 5000.0] {
        laws.push((Gamma { shape, scale: 5.0 }, shape * 5.0));
    }
    for shape in [0.3, 0.7, 1.0, 5.0] {
        laws.push((
            Weibull { shape, scale: 4.0 },
            4.0 * gamma(1.0 + 1.0 / shape),
        ));
    }
    laws
}
