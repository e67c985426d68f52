//! Draws against an independent library's, and counting laws against their probabilities.

use super::*;
use crate::workload::draws::mix64;
use rand_distr::Distribution;

const DRAWS: u32 = 100_000;

/// A generator unrelated to the keyed draws, for the other library.
struct Counter(u64);

impl rand::TryRng for Counter {
    type Error = std::convert::Infallible;
    fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
        self.try_next_u64().map(|word| (word >> 32) as u32)
    }
    fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        Ok(mix64(self.0))
    }
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Self::Error> {
        for chunk in bytes.chunks_mut(8) {
            let word = self.try_next_u64()?.to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
        Ok(())
    }
}

/// Largest distance of two samples' distribution functions.
fn kolmogorov_smirnov(mut a: Vec<f64>, mut b: Vec<f64>) -> f64 {
    a.sort_by(f64::total_cmp);
    b.sort_by(f64::total_cmp);
    let (mut i, mut j, mut worst) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        let x = a[i].min(b[j]);
        i += a[i..].iter().take_while(|&&v| v <= x).count();
        j += b[j..].iter().take_while(|&&v| v <= x).count();
        let gap = i as f64 / a.len() as f64 - j as f64 / b.len() as f64;
        worst = worst.max(gap.abs());
    }
    worst
}

fn agrees_with(kind: LawKind, mut other: impl FnMut(&mut Counter) -> f64) {
    let mut rng = Counter(42);
    let theirs = (0..DRAWS).map(|_| other(&mut rng)).collect();
    let distance = kolmogorov_smirnov(keyed_draws(&sampler(kind.clone()), DRAWS), theirs);
    // Two samples of n: probability 10^-3 beyond 1.95 sqrt(2 / n).
    let limit = 1.95 * (2.0 / f64::from(DRAWS)).sqrt();
    assert!(
        distance < limit,
        "{kind:?}: Kolmogorov-Smirnov distance {distance}"
    );
}

#[test]
fn continuous_laws_agree_with_rand_distr() {
    use rand_distr::{Exp, Gamma, LogNormal, Pareto, Uniform, Weibull};
    let exp = Exp::new(0.25).unwrap();
    agrees_with(LawKind::Exponential { mean: 4.0 }, |rng| exp.sample(rng));
    for (mu, sigma) in [(1.0, 0.3), (9.0, 2.0)] {
        let other = LogNormal::new(mu, sigma).unwrap();
        agrees_with(LawKind::Lognormal { mu, sigma }, |rng| other.sample(rng));
    }
    for (shape, scale) in [(0.2, 3.0), (1.0, 2.0), (7.0, 0.5), (2000.0, 1.0)] {
        let other = Gamma::new(shape, scale).unwrap();
        agrees_with(LawKind::Gamma { shape, scale }, |rng| other.sample(rng));
    }
    for (shape, scale) in [(0.5, 3.0), (2.0, 2.0)] {
        let other = Weibull::new(scale, shape).unwrap();
        agrees_with(LawKind::Weibull { shape, scale }, |rng| other.sample(rng));
        let other = Pareto::new(scale, shape).unwrap();
        agrees_with(LawKind::Pareto { shape, scale }, |rng| other.sample(rng));
        // A log-logistic number is a power of the ratio of two exponential ones.
        agrees_with(LawKind::Loglogistic { shape, scale }, |rng| {
            let ratio: f64 = exp.sample(rng) / exp.sample(rng);
            scale * ratio.powf(1.0 / shape)
        });
    }
    let other = Uniform::new(-2.0, 5.0).unwrap();
    agrees_with(
        LawKind::Uniform {
            low: -2.0,
            high: 5.0,
        },
        |rng| other.sample(rng),
    );
}

#[test]
fn counting_laws_agree_with_rand_distr() {
    use rand_distr::{Geometric, Poisson, Uniform};
    // Exact thresholds, then tables rounded up.
    for mean in [1.5, 20.0, 300.0] {
        let other = Geometric::new(1.0 / mean).unwrap();
        agrees_with(LawKind::Geometric { mean }, |rng| {
            1.0 + other.sample(rng) as f64
        });
    }
    for mean in [0.7, 40.0, 20_000.0] {
        let other = Poisson::new(mean).unwrap();
        agrees_with(LawKind::Poisson { mean }, |rng| other.sample(rng));
    }
    let other = Uniform::new_inclusive(-3_i64, 9).unwrap();
    agrees_with(LawKind::IntegerRange { low: -3, high: 9 }, |rng| {
        other.sample(rng) as f64
    });
}

#[test]
fn laws_of_given_values_agree_with_rand_distr() {
    use rand_distr::{Exp, Uniform, weighted::WeightedAliasIndex};
    let (values, weights) = ([5.0, 1.0, 40.0, 7.0], vec![0.1, 2.0, 0.9, 1.0]);
    let index = WeightedAliasIndex::new(weights.clone()).unwrap();
    let pairs = values.iter().copied().zip(weights).collect();
    agrees_with(LawKind::Choice(pairs), |rng| values[index.sample(rng)]);

    let place = Uniform::new(0, 4).unwrap();
    agrees_with(LawKind::Empirical(vec![1.0, 2.0, 2.0, 8.0]), |rng| {
        [1.0, 2.0, 2.0, 8.0][place.sample(rng)]
    });

    let (index, exp) = (
        WeightedAliasIndex::new(vec![1.0, 3.0, 0.5]).unwrap(),
        Exp::new(0.1).unwrap(),
    );
    let uniform = Uniform::new(0.0, 20.0).unwrap();
    let parts = vec![
        (1.0, law(LawKind::Exponential { mean: 10.0 })),
        (
            3.0,
            law(LawKind::Uniform {
                low: 0.0,
                high: 20.0,
            }),
        ),
        (0.5, law(LawKind::Constant(15.0))),
    ];
    agrees_with(LawKind::Mixture(parts), |rng| match index.sample(rng) {
        0 => exp.sample(rng),
        1 => uniform.sample(rng),
        _ => 15.0,
    });
}

/// Share of the words that give at most `value`, by bisection.
fn share_up_to(sampler: &Sampler, value: f64) -> f64 {
    let (mut low, mut high) = (0_u64, u64::MAX);
    if sampler.value(high) <= value {
        return 1.0;
    }
    // The first word above.
    while low < high {
        let middle = low + (high - low) / 2;
        if sampler.value(middle) > value {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low as f64 / 2.0_f64.powi(64)
}

#[test]
fn counting_laws_have_exact_probabilities() {
    for mean in [1.01, 4.0, 46.0] {
        let sampler = sampler(LawKind::Geometric { mean });
        for k in 1..200 {
            let expected = 1.0 - (1.0 - 1.0 / mean).powi(k);
            let share = share_up_to(&sampler, f64::from(k));
            assert!(
                (share - expected).abs() < 1e-13,
                "mean {mean}, {k}: {share} for {expected}"
            );
        }
    }
    for mean in [0.01, 3.0, 250.0, 10_000.0] {
        let sampler = sampler(LawKind::Poisson { mean });
        for i in -5..=5 {
            let k = (mean + f64::from(i) * mean.sqrt()).floor().max(0.0);
            let expected = statrs::function::gamma::gamma_ur(k + 1.0, mean);
            let share = share_up_to(&sampler, k);
            assert!(
                (share - expected).abs() < 1e-10,
                "mean {mean}, {k}: {share} for {expected}"
            );
        }
    }
}

#[test]
fn large_counting_laws_stay_close_to_their_probabilities() {
    for mean in [47.0, 3000.0] {
        let sampler = sampler(LawKind::Geometric { mean });
        for k in [1, 2, 10, 40, 300, 9000] {
            let expected = 1.0 - (1.0 - 1.0 / mean).powi(k);
            let share = share_up_to(&sampler, f64::from(k));
            assert!(
                (share - expected).abs() < 5e-5,
                "mean {mean}, {k}: {share} for {expected}"
            );
        }
    }
    for mean in [13_000.0_f64, 4e6] {
        let sampler = sampler(LawKind::Poisson { mean });
        for i in -4..=4 {
            let k = (mean + f64::from(i) * mean.sqrt()).floor();
            let expected = statrs::function::gamma::gamma_ur(k + 1.0, mean);
            let share = share_up_to(&sampler, k);
            assert!(
                (share - expected).abs() < 5e-5,
                "mean {mean}, {k}: {share} for {expected}"
            );
        }
    }
}
