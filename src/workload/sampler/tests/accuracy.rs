//! Quantiles and means against exact ones.

use super::*;
use crate::workload::draws::mix64;
use crate::workload::sampler::smooth::Smooth;

#[test]
fn quantiles_are_within_the_promised_error() {
    for (kind, _) in continuous() {
        let (exact, compiled) = (Smooth::new(&kind).unwrap(), sampler(kind.clone()));
        let floor = 1e-6 * exact.upper(1.0 / 16.0);
        let mut worst = (0.0, 0.0);
        for i in 0..40_000_u64 {
            let bits = mix64(i);
            // A third each: everywhere, lower tail, upper tail.
            let bits = match i % 3 {
                0 => bits,
                1 => bits >> (bits % 20),
                _ => !(bits >> (bits % 20)),
            };
            let u = unit(bits).max(1e-300);
            if !(1e-6..=1.0 - 1e-6).contains(&u) {
                continue;
            }
            let truth = if u <= 0.5 {
                exact.lower(u)
            } else {
                exact.upper(unit(!bits) + f64::EPSILON / 2.0)
            };
            let error = (compiled.value(bits) - truth).abs() / truth.max(floor);
            if error > worst.0 {
                worst = (error, u);
            }
        }
        println!("{kind:?}: {worst:?}, {} bytes", compiled.table_bytes());
        assert!(
            worst.0 < 1.7e-4,
            "{kind:?}: error {:e} at {}",
            worst.0,
            worst.1
        );
        assert!(
            compiled.table_bytes() < 36_000,
            "{kind:?}: {} bytes",
            compiled.table_bytes()
        );
    }
}

#[test]
fn quantiles_match_closed_forms_computed_apart() {
    let near = |kind: LawKind, u: f64, expected: f64| {
        let value = sampler(kind.clone()).value((u * 2.0_f64.powi(64)) as u64);
        let error = (value / expected - 1.0).abs();
        assert!(error < 1.7e-4, "{kind:?} at {u}: {value} for {expected}");
    };
    // z(0.9) = 1.2815515655446004
    let p90 = LawKind::Lognormal {
        mu: 9e3_f64.ln(),
        sigma: (120e3_f64 / 9e3).ln() / 1.281_551_565_544_600_4,
    };
    near(p90.clone(), 0.5, 9e3);
    near(p90.clone(), 0.9, 120e3);
    near(p90, 0.1, 9e3 * 9e3 / 120e3);
    near(LawKind::Exponential { mean: 2.0 }, 0.75, 2.0 * 4_f64.ln());
    near(
        LawKind::Loglogistic {
            shape: 2.0,
            scale: 3.0,
        },
        0.8,
        6.0,
    );
    near(
        LawKind::Weibull {
            shape: 0.5,
            scale: 3.0,
        },
        0.5,
        3.0 * 2_f64.ln().powi(2),
    );
    near(
        LawKind::Pareto {
            shape: 2.0,
            scale: 3.0,
        },
        0.99,
        30.0,
    );
    // Chi-square of 10 degrees of freedom: 95% quantile 18.30704 (any printed table).
    near(
        LawKind::Gamma {
            shape: 5.0,
            scale: 2.0,
        },
        0.95,
        18.307_038,
    );
}

#[test]
fn means_match_closed_forms() {
    for (kind, mean) in continuous() {
        let error = sampler(kind.clone()).mean() / mean - 1.0;
        println!("{kind:?}: {error:e}");
        assert!(error.abs() < 4e-5, "{kind:?}: mean off by {error:e}");
    }
}

#[test]
fn means_of_exact_laws_match_closed_forms() {
    let near = |kind: LawKind, mean: f64| {
        let got = sampler(kind.clone()).mean();
        assert!(
            (got / mean - 1.0).abs() < 1e-12,
            "{kind:?}: {got} for {mean}"
        );
    };
    near(LawKind::Constant(3.5), 3.5);
    near(LawKind::IntegerRange { low: 1, high: 4 }, 2.5);
    near(
        LawKind::Uniform {
            low: -1.0,
            high: 5.0,
        },
        2.0,
    );
    near(LawKind::Choice(vec![(10.0, 1.0), (1.0, 3.0)]), 13.0 / 4.0);
    near(LawKind::Empirical(vec![1.0, 2.0, 6.0]), 3.0);
    near(LawKind::Geometric { mean: 4.0 }, 4.0);
    near(LawKind::Poisson { mean: 0.3 }, 0.3);
    near(LawKind::Poisson { mean: 5e3 }, 5e3);
    let parts = vec![
        (1.0, law(LawKind::Constant(4.0))),
        (3.0, law(LawKind::IntegerRange { low: 0, high: 16 })),
    ];
    near(LawKind::Mixture(parts), 7.0);
}

/// Mean over evenly spaced words: independent of the tables' own integral.
fn mean_by_words(sampler: &Sampler) -> f64 {
    let n = 1_u64 << 21;
    let word = |i: u64| (i << 43) | (1 << 42);
    (0..n).map(|i| sampler.value(word(i))).sum::<f64>() / n as f64
}

#[test]
fn mean_counts_the_bounds() {
    use LawKind::*;
    let kinds = [
        Exponential { mean: 10.0 },
        Lognormal {
            mu: 2.0,
            sigma: 2.0,
        },
        Pareto {
            shape: 0.5,
            scale: 2.0,
        },
        Gamma {
            shape: 0.4,
            scale: 20.0,
        },
        Uniform {
            low: -3.0,
            high: 30.0,
        },
        IntegerRange { low: -3, high: 30 },
        Geometric { mean: 8.0 },
        Geometric { mean: 200.0 },
        Poisson { mean: 9.0 },
        Choice(vec![(1.0, 1.0), (9.0, 1.0), (33.0, 1.0)]),
        Empirical(vec![-1.0, 1.0, 9.0, 33.0]),
        Mixture(vec![
            (
                1.0,
                Law {
                    kind: Exponential { mean: 10.0 },
                    min: Some(3.0),
                    max: None,
                },
            ),
            (2.0, law(Poisson { mean: 9.0 })),
        ]),
    ];
    for kind in kinds {
        for (min, max) in [
            (Some(4.0), Some(20.0)),
            (Some(5.5), Some(6.5)),
            (Some(7.2), Some(7.9)),
        ] {
            let sampler = Sampler::new(&Law {
                kind: kind.clone(),
                min,
                max,
            });
            let (mean, expected) = (sampler.mean(), mean_by_words(&sampler));
            let error = (mean / expected - 1.0).abs();
            assert!(
                error < 2e-5,
                "{kind:?} in {min:?}..{max:?}: {mean} for {expected}"
            );
        }
    }
}
