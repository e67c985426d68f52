//! Order, bounds, extremes, sharing, and draws that must never change.

use super::*;
use crate::workload::draws::mix64;
use proptest::prelude::*;

/// A continuous or counting law with any usual parameters.
fn any_law() -> impl Strategy<Value = LawKind> {
    use LawKind::*;
    let (shape, scale) = (0.2..50.0_f64, 1e-3..1e12_f64);
    prop_oneof![
        scale.clone().prop_map(|mean| Exponential { mean }),
        (-5.0..30.0_f64, 0.0..4.0_f64).prop_map(|(mu, sigma)| Lognormal { mu, sigma }),
        (shape.clone(), scale.clone()).prop_map(|(shape, scale)| Loglogistic { shape, scale }),
        (shape.clone(), scale.clone()).prop_map(|(shape, scale)| Gamma { shape, scale }),
        (shape.clone(), scale.clone()).prop_map(|(shape, scale)| Weibull { shape, scale }),
        (shape, scale.clone()).prop_map(|(shape, scale)| Pareto { shape, scale }),
        (1.0..200.0_f64).prop_map(|mean| Geometric { mean }),
        (0.0..30_000.0_f64).prop_map(|mean| Poisson { mean }),
        (-1e6..0.0_f64, 0.0..1e6_f64).prop_map(|(low, high)| Uniform { low, high }),
        (-100..0_i64, 0..100_i64).prop_map(|(low, high)| IntegerRange { low, high }),
        prop::collection::vec((-1e3..1e3_f64, 0.1..9.0_f64), 1..40).prop_map(Choice),
        prop::collection::vec(-1e3..1e3_f64, 1..40).prop_map(Empirical),
    ]
}

/// Words near the seams of tables: multiples of powers of two and their complements.
fn seams() -> impl Iterator<Item = u64> {
    let powers = (0..64).flat_map(|p| (1..8_u64).map(move |m| m << p));
    let rows = (0..2048_u64).map(|i| i << 53);
    powers.chain(rows).flat_map(|w| {
        [
            w.wrapping_sub(1),
            w,
            w.wrapping_add(1),
            !w,
            !w.wrapping_sub(1),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn values_are_monotone_and_finite(kind in any_law(), seed in any::<u64>()) {
        let sampler = sampler(kind);
        let random = (0..3000).map(|i| mix64(seed.wrapping_add(i)));
        let near = (0..3000).map(|i| seed.wrapping_add(i));
        let mut words: Vec<u64> = seams().chain(random).chain(near).collect();
        words.sort_unstable();
        let mut last = f64::NEG_INFINITY;
        for word in words {
            let value = sampler.value(word);
            prop_assert!(value.is_finite());
            prop_assert!(value >= last, "{last} then {value} at {word:#x}");
            last = value;
        }
    }

    #[test]
    fn bounds_are_respected(kind in any_law(), a in -10.0..1e6_f64, b in 0.0..1e6_f64, seed in any::<u64>()) {
        let sampler = Sampler::new(&Law { kind, min: Some(a), max: Some(a + b) });
        for word in seams().chain((0..1000).map(|i| mix64(seed.wrapping_add(i)))) {
            let value = sampler.value(word);
            prop_assert!((a..=a + b).contains(&value));
        }
        let mean = sampler.mean();
        prop_assert!(mean >= a - 1e-9 * a.abs() && mean <= (a + b) * (1.0 + 1e-9) + 1e-9);
    }

    #[test]
    fn a_mixture_gives_each_component_its_own_quantiles(
        weights in prop::collection::vec(1e-3..1e3_f64, 2..6), word in any::<u64>()
    ) {
        // Component i is uniform on [10 i, 10 i + 1], so a value tells both choices.
        let parts = weights.iter().enumerate().map(|(i, &w)| {
            let low = 10.0 * i as f64;
            (w, law(LawKind::Uniform { low, high: low + 1.0 }))
        });
        let value = sampler(LawKind::Mixture(parts.collect())).value(word);
        let total: f64 = weights.iter().sum();
        let u = word as f64 / 2.0_f64.powi(64);
        let i = (value / 10.0) as usize;
        let before: f64 = weights[..i].iter().sum::<f64>() / total;
        let share = weights[i] / total;
        let within = value - 10.0 * i as f64;
        prop_assert!((before + within * share - u).abs() < 1e-12);
    }
}

#[test]
fn extreme_words_give_finite_values() {
    let heavy = [
        LawKind::Pareto {
            shape: 0.01,
            scale: 1e9,
        },
        LawKind::Lognormal {
            mu: 30.0,
            sigma: 80.0,
        },
        LawKind::Loglogistic {
            shape: 0.01,
            scale: 1e9,
        },
        LawKind::Weibull {
            shape: 0.01,
            scale: 1e9,
        },
        LawKind::Gamma {
            shape: 1e-6,
            scale: 1e9,
        },
        LawKind::Gamma {
            shape: 1e12,
            scale: 1e-3,
        },
        LawKind::Poisson { mean: 1e15 },
        LawKind::Poisson { mean: 1e-12 },
        LawKind::Geometric { mean: 1e15 },
        LawKind::Geometric { mean: 1.0 + 1e-12 },
        LawKind::Exponential { mean: 1e300 },
        LawKind::IntegerRange {
            low: i64::MIN,
            high: i64::MAX,
        },
    ];
    let usual = continuous().into_iter().map(|(kind, _)| kind);
    for kind in heavy.into_iter().chain(usual) {
        let unbounded = sampler(kind.clone());
        let bounded = Sampler::new(&Law {
            kind: kind.clone(),
            min: Some(1.0),
            max: Some(1e12),
        });
        for word in [0, 1, 2, 3, u64::MAX - 2, u64::MAX - 1, u64::MAX] {
            assert!(unbounded.value(word).is_finite(), "{kind:?} at {word:#x}");
            assert!(
                (1.0..=1e12).contains(&bounded.value(word)),
                "{kind:?} at {word:#x}"
            );
        }
        assert!(bounded.mean().is_finite(), "{kind:?}");
    }
}

#[test]
fn laws_without_a_usable_part_give_a_constant() {
    assert_eq!(sampler(LawKind::Empirical(vec![])).value(5), 0.0);
    assert_eq!(sampler(LawKind::Choice(vec![(3.0, 0.0)])).value(5), 0.0);
    assert_eq!(sampler(LawKind::Mixture(vec![])).value(5), 0.0);
    assert_eq!(
        sampler(LawKind::Lognormal {
            mu: 0.0,
            sigma: 0.0
        })
        .value(5),
        1.0
    );
    // A weight too small for a word of its own leaves all words to the other.
    let tiny = |a, b| {
        let parts = vec![
            (a, law(LawKind::Constant(1.0))),
            (b, law(LawKind::Constant(2.0))),
        ];
        sampler(LawKind::Mixture(parts))
    };
    for word in [0, 1, 1 << 63, u64::MAX - 1] {
        assert_eq!(tiny(1e-30, 1.0).value(word), 2.0);
        assert_eq!(tiny(1.0, 1e-30).value(word), 1.0);
    }
}

#[test]
fn integer_range_gives_each_value_the_same_words() {
    let sampler = sampler(LawKind::IntegerRange { low: -1, high: 2 });
    for (quarter, value) in [(0_u64, -1.0), (1, 0.0), (2, 1.0), (3, 2.0)] {
        let first = quarter << 62;
        assert_eq!(sampler.value(first), value);
        assert_eq!(sampler.value(first + ((1 << 62) - 1)), value);
    }
    assert_eq!((sampler.integer(0), sampler.integer(u64::MAX)), (0, 2));
}

#[test]
fn rounding_is_half_up_and_saturates() {
    let cases = [
        (-1e300, 0),
        (-0.5, 0),
        (0.499_999_999_999_999_94, 0),
        (0.5, 1),
        (1.5, 2),
        (2.499, 2),
        (4_503_599_627_370_495.5, 4_503_599_627_370_496),
        (4_503_599_627_370_497.0, 4_503_599_627_370_497),
        (1e300, u64::MAX),
        (f64::NAN, 0),
    ];
    for (value, expected) in cases {
        assert_eq!(round_half_up(value), expected, "{value}");
    }
}

#[test]
fn equal_laws_share_a_table() {
    let mut tables = Tables::default();
    let first = Sampler::with_tables(&law(LawKind::Exponential { mean: 2.0 }), &mut tables);
    let bounded = Law {
        kind: LawKind::Exponential { mean: 2.0 },
        min: None,
        max: Some(1.0),
    };
    let second = Sampler::with_tables(&bounded, &mut tables);
    let (Form::Table(a), Form::Table(b)) = (&first.form, &second.form) else {
        panic!("an exponential law is a table");
    };
    assert!(Arc::ptr_eq(a, b));
    assert!(second.value(u64::MAX) <= 1.0 && first.value(u64::MAX) > 40.0);
}

/// A change here changes every result of every scenario: it needs a line in the changelog.
#[test]
fn draws_never_change() {
    use LawKind::*;
    let mixed = vec![
        (1.0, law(Exponential { mean: 10.0 })),
        (2.0, law(Poisson { mean: 9.0 })),
    ];
    let golden = [
        (Constant(2.5), "1a55599286813433"),
        (IntegerRange { low: 1, high: 3 }, "01757fa2a48fa96a"),
        (
            Uniform {
                low: -1.0,
                high: 3.0,
            },
            "a98ac653734e12a1",
        ),
        (Exponential { mean: 9e9 }, "11200b17ac7b63a2"),
        (
            Lognormal {
                mu: 9.0,
                sigma: 2.0,
            },
            "ed799963ccba0bed",
        ),
        (
            Loglogistic {
                shape: 1.5,
                scale: 400.0,
            },
            "90e15cd95a29fcf0",
        ),
        (
            Gamma {
                shape: 0.4,
                scale: 2.5,
            },
            "59e211e4aa59cee4",
        ),
        (
            Gamma {
                shape: 4.0,
                scale: 0.25,
            },
            "c48b665571cc421e",
        ),
        (
            Gamma {
                shape: 4000.0,
                scale: 1.0,
            },
            "375a5161289669f4",
        ),
        (
            Weibull {
                shape: 0.7,
                scale: 30.0,
            },
            "188b0b6e99652cba",
        ),
        (
            Pareto {
                shape: 1.2,
                scale: 5.0,
            },
            "cbf2f4964f7ce64f",
        ),
        (Geometric { mean: 4.0 }, "446b259cec38ff53"),
        (Geometric { mean: 400.0 }, "834c94eb1f34ab28"),
        (Poisson { mean: 3.0 }, "ba94c441b14dc20b"),
        (Poisson { mean: 30_000.0 }, "8876d9d2dad5617f"),
        (Choice(vec![(5.0, 1.0), (1.0, 3.0), (9.0, 0.5)]), "80d264658e983d44"),
        (Empirical(vec![1.0, 2.0, 2.0, 8.0, 40.0]), "3253e1bd87c240ec"),
        (Mixture(mixed), "b3d88824d9b18583"),
    ];
    let digest = |kind: &LawKind| {
        let mut hasher = blake3::Hasher::new();
        for value in keyed_draws(&sampler(kind.clone()), 100_000) {
            hasher.update(&value.to_bits().to_le_bytes());
        }
        hasher.finalize().to_hex()[..16].to_owned()
    };
    let found: Vec<String> = golden.iter().map(|(kind, _)| digest(kind)).collect();
    let expected: Vec<&str> = golden.iter().map(|(_, digest)| *digest).collect();
    assert_eq!(found, expected);
}
