//! Laws by their parameters.

use super::{SMALL, good};
use crate::scenario::{Law, LawKind};

fn law(text: &str) -> Law {
    good(SMALL, &[&format!("agents.coder.output={text}")]).agents[0]
        .output
        .clone()
}

fn time_law(text: &str) -> Law {
    good(SMALL, &[&format!("agents.coder.think={text}")]).agents[0]
        .think
        .clone()
}

#[test]
fn laws_by_their_parameters() {
    let close = |a: f64, b: f64| assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} {b}");
    assert_eq!(
        law("{uniform: {low: 1K, high: 2K}}").kind,
        LawKind::Uniform {
            low: 1000.0,
            high: 2000.0
        }
    );
    assert_eq!(
        law("{exponential: {mean: 239.5}}").kind,
        LawKind::Exponential { mean: 239.5 }
    );
    let LawKind::Exponential { mean } = law("{exponential: {median: 100}}").kind else {
        panic!()
    };
    close(mean, 100.0 / 2f64.ln());
    assert_eq!(
        time_law("{exponential: {rate: 3/h}}").kind,
        LawKind::Exponential { mean: 1200e9 }
    );
    assert_eq!(
        law("{lognormal: {mu: 5, sigma: 0.5}}").kind,
        LawKind::Lognormal {
            mu: 5.0,
            sigma: 0.5
        }
    );
    let LawKind::Lognormal { mu, sigma } = time_law("{lognormal: {mu: 4.906, sigma: 1.740}}").kind
    else {
        panic!()
    };
    close(mu, 4.906 + 1e9f64.ln());
    assert_eq!(sigma, 1.74);
    let LawKind::Lognormal { mu, sigma } = time_law("{lognormal: {mean: 2m, cv: 0.5}}").kind else {
        panic!()
    };
    close(sigma * sigma, 1.25f64.ln());
    close((mu + sigma * sigma / 2.0).exp() / 120e9, 1.0);
    let LawKind::Lognormal { mu, .. } = time_law("{lognormal: {median: 9s, sigma: 1}}").kind else {
        panic!()
    };
    close(mu, 9e9f64.ln());
    assert_eq!(
        law("{median: 400, p90: 4K}"),
        law("{lognormal: {median: 400, p90: 4K}}")
    );
    assert_eq!(
        law("{loglogistic: {shape: 2.03, scale: 239.5}}").kind,
        LawKind::Loglogistic {
            shape: 2.03,
            scale: 239.5
        }
    );
    assert_eq!(
        time_law("{loglogistic: {shape: 2.5, median: 10.4s}}").kind,
        LawKind::Loglogistic {
            shape: 2.5,
            scale: 10.4e9
        }
    );
    let LawKind::Loglogistic { shape, scale } = law("{loglogistic: {median: 100, p90: 300}}").kind
    else {
        panic!()
    };
    close(scale * 9f64.powf(1.0 / shape), 300.0);
    assert_eq!(
        law("{gamma: {shape: 2, scale: 50}}").kind,
        LawKind::Gamma {
            shape: 2.0,
            scale: 50.0
        }
    );
    assert_eq!(
        law("{gamma: {mean: 100, cv: 0.5}}").kind,
        LawKind::Gamma {
            shape: 4.0,
            scale: 25.0
        }
    );
    assert_eq!(
        law("{weibull: {shape: 0.993, scale: 68.3}}").kind,
        LawKind::Weibull {
            shape: 0.993,
            scale: 68.3
        }
    );
    assert_eq!(
        law("{pareto: {shape: 2.5, scale: 10}}").kind,
        LawKind::Pareto {
            shape: 2.5,
            scale: 10.0
        }
    );
    assert_eq!(
        law("{geometric: {p: 0.25}}").kind,
        LawKind::Geometric { mean: 4.0 }
    );
    assert_eq!(
        law("{geometric: {mean: 4}}").kind,
        LawKind::Geometric { mean: 4.0 }
    );
    assert_eq!(
        law("{poisson: {mean: 4.5}}").kind,
        LawKind::Poisson { mean: 4.5 }
    );
    assert_eq!(
        law("{choice: [1K, {value: 2K, weight: 3}]}").kind,
        LawKind::Choice(vec![(1000.0, 1.0), (2000.0, 3.0)])
    );
    assert_eq!(
        law("{empirical: [3, 1, 2K]}").kind,
        LawKind::Empirical(vec![1.0, 3.0, 2000.0])
    );
    assert_eq!(
        law("{empirical: {values: [3, 1]}}").kind,
        LawKind::Empirical(vec![1.0, 3.0])
    );
    let mixture =
        law("{mixture: [{weight: 0.3, law: 5}, {weight: 0.7, law: {poisson: {mean: 4}, max: 9}}]}");
    let poisson = Law {
        kind: LawKind::Poisson { mean: 4.0 },
        min: None,
        max: Some(9.0),
    };
    assert_eq!(
        mixture.kind,
        LawKind::Mixture(vec![(0.3, Law::constant(5.0)), (0.7, poisson)])
    );
    // Laws without spread are constants.
    assert_eq!(law("{median: 5, p90: 5}").kind, LawKind::Constant(5.0));
    assert_eq!(
        law("{lognormal: {mean: 5, cv: 0}}").kind,
        LawKind::Constant(5.0)
    );
    assert_eq!(law("3..3").kind, LawKind::Constant(3.0));
    assert_eq!(
        law("1K..2K").kind,
        LawKind::IntegerRange {
            low: 1000,
            high: 2000
        }
    );
}

#[test]
fn bounds_stand_inside_or_beside() {
    for text in [
        "{median: 400, p90: 4K, min: 10, max: 9K}",
        "{lognormal: {median: 400, p90: 4K, min: 10, max: 9K}}",
        "{lognormal: {median: 400, p90: 4K, min: 10}, max: 9K}",
        "{lognormal: {median: 400, p90: 4K}, min: 10, max: 9K}",
    ] {
        let law = law(text);
        assert_eq!((law.min, law.max), (Some(10.0), Some(9000.0)), "{text}");
    }
    let bounded = time_law("{pareto: {shape: 0.9, scale: 1s, max: 1h}}");
    assert_eq!(bounded.max, Some(3600e9));
    // The outer bound holds for the parts of a mixture.
    law("{mixture: [{weight: 1, law: {pareto: {shape: 0.9, scale: 1}}}], max: 1M}");
}
