//! Normal, gamma and large-mean Poisson quantiles, over `libm` so that every platform gets the
//! same bits. A tail is always given by its own probability, so that it keeps full precision.

use libm::{exp, lgamma, log, sqrt};

/// `z >= 0` with `P(Z > z) = tail` for a standard normal Z and `tail` in (0, 1/2].
///
/// M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied
/// Statistics 37 (1988), 477-484, routine PPND16: relative error about 1e-16.
pub(super) fn normal_upper(tail: f64) -> f64 {
    const A: [f64; 8] = [
        3.387_132_872_796_366_608,
        1.331_416_678_917_843_774_5e2,
        1.971_590_950_306_551_442_7e3,
        1.373_169_376_550_946_112_5e4,
        4.592_195_393_154_987_145_7e4,
        6.726_577_092_700_870_085_3e4,
        3.343_057_558_358_812_810_5e4,
        2.509_080_928_730_122_672_7e3,
    ];
    const B: [f64; 8] = [
        1.0,
        4.231_333_070_160_091_125_2e1,
        6.871_870_074_920_579_083e2,
        5.394_196_021_424_751_107_7e3,
        2.121_379_430_158_659_586_7e4,
        3.930_789_580_009_271_061e4,
        2.872_908_573_572_194_267_4e4,
        5.226_495_278_852_854_561e3,
    ];
    const C: [f64; 8] = [
        1.423_437_110_749_683_577_34,
        4.630_337_846_156_545_295_9,
        5.769_497_221_460_691_405_5,
        3.647_848_324_763_204_605_04,
        1.270_458_252_452_368_382_58,
        2.417_807_251_774_506_117_7e-1,
        2.272_384_498_926_918_458_33e-2,
        7.745_450_142_783_414_076_4e-4,
    ];
    const D: [f64; 8] = [
        1.0,
        2.053_191_626_637_758_821_87,
        1.676_384_830_183_803_849_4,
        6.897_673_349_851_000_045_5e-1,
        1.481_039_764_274_800_745_9e-1,
        1.519_866_656_361_645_719_66e-2,
        5.475_938_084_995_344_946e-4,
        1.050_750_071_644_416_843_24e-9,
    ];
    const E: [f64; 8] = [
        6.657_904_643_501_103_777_2,
        5.463_784_911_164_114_369_9,
        1.784_826_539_917_291_335_8,
        2.965_605_718_285_048_912_3e-1,
        2.653_218_952_657_612_309_3e-2,
        1.242_660_947_388_078_438_6e-3,
        2.711_555_568_743_487_578_15e-5,
        2.010_334_399_292_288_132_65e-7,
    ];
    const F: [f64; 8] = [
        1.0,
        5.998_322_065_558_879_376_9e-1,
        1.369_298_809_227_358_053_1e-1,
        1.487_536_129_085_061_485_25e-2,
        7.868_691_311_456_132_591e-4,
        1.846_318_317_510_054_681_8e-5,
        1.421_511_758_316_445_888_7e-7,
        2.044_263_103_389_939_785_64e-15,
    ];
    // Lowest power first.
    fn ratio(top: &[f64; 8], bottom: &[f64; 8], x: f64) -> f64 {
        let at = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, c| sum * x + c);
        at(top) / at(bottom)
    }
    let q = 0.5 - tail;
    if q <= 0.425 {
        return q * ratio(&A, &B, 0.180_625 - q * q);
    }
    let r = sqrt(-log(tail));
    if r <= 5.0 {
        ratio(&C, &D, r - 1.6)
    } else {
        ratio(&E, &F, r - 5.0)
    }
}

/// Above this shape the gamma quantile comes from an asymptotic series.
const LARGE_SHAPE: f64 = 1000.0;

/// Quantiles of the gamma law with this shape and scale 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gamma {
    shape: f64,
    /// ln Γ(shape + 1).
    ln_factorial: f64,
}

impl Gamma {
    pub(super) fn new(shape: f64) -> Gamma {
        Gamma {
            shape,
            ln_factorial: lgamma(shape + 1.0),
        }
    }

    /// x with `P(X <= x) = p`, for p in (0, 1/2].
    pub(super) fn lower(&self, p: f64) -> f64 {
        if self.shape >= LARGE_SHAPE {
            return cornish_fisher(self.shape, -normal_upper(p));
        }
        self.solve_below(p, || -normal_upper(p))
    }

    /// x with `P(X > x) = tail`, for `tail` in (0, 1/2].
    pub(super) fn upper(&self, tail: f64) -> f64 {
        if self.shape >= LARGE_SHAPE {
            return cornish_fisher(self.shape, normal_upper(tail));
        }
        // Near the middle `1 - tail` loses nothing, and the other equation is better behaved.
        if tail > 0.05 {
            return self.solve_below(1.0 - tail, || normal_upper(tail));
        }
        self.solve_above(tail)
    }

    /// Solves `ln P(e^y) = ln p` for y by Halley's method. ln P is concave in y and lies below its
    /// asymptote, whose root is a lower bound.
    fn solve_below(&self, p: f64, z: impl Fn() -> f64) -> f64 {
        let a = self.shape;
        let target = log(p);
        let bound = (target + self.ln_factorial) / a;
        // Below e^-37 the power series of P ends after its first term.
        if bound < -37.0 {
            return exp(bound);
        }
        let mut y = match wilson_hilferty(a, z()) {
            x if a > 0.5 && x > 0.1 * a => log(x).max(bound),
            _ => bound,
        };
        for _ in 0..50 {
            let x = exp(y);
            let (below, _, density) = self.cdf(x, y);
            let slope = density / below;
            let newton = (log(below) - target) / slope;
            let step = newton / (1.0 - 0.5 * newton * (a - x - slope)).clamp(0.5, 2.0);
            y = (y - step).max(bound);
            if step.abs() < 1e-6 {
                break;
            }
        }
        exp(y)
    }

    /// Solves `ln Q(e^y) = ln tail` for y, likewise; ln Q is concave in y too.
    fn solve_above(&self, tail: f64) -> f64 {
        let a = self.shape;
        let target = log(tail);
        let mut y = match wilson_hilferty(a, normal_upper(tail)) {
            x if a > 0.5 && x > 0.0 => log(x),
            // Small shapes: Q(x) is about a E1(x), and E1(x) < exp(-x) ln(1 + 1/x).
            _ => log((log(a) - target).max(0.01)),
        };
        for _ in 0..50 {
            let x = exp(y);
            let (_, above, density) = self.cdf(x, y);
            if above <= 0.0 {
                y -= 0.5;
                continue;
            }
            let slope = density / above;
            let newton = (target - log(above)) / slope;
            let step = newton / (1.0 - 0.5 * newton * (a - x + slope)).clamp(0.5, 2.0);
            y -= step.clamp(-1.0, 1.0);
            if step.abs() < 1e-6 {
                break;
            }
        }
        exp(y)
    }

    /// `(P(X <= x), P(X > x), x f(x))`, with `y = ln x`. Power series below the shape, Lentz's
    /// continued fraction above it: DLMF 8.11.4 and 8.9.2, <https://dlmf.nist.gov/8>.
    fn cdf(&self, x: f64, y: f64) -> (f64, f64, f64) {
        let a = self.shape;
        // x^a e^-x / Γ(a + 1)
        let front = exp(a * y - x - self.ln_factorial);
        let density = front * a;
        if x < a + 1.0 {
            let (mut term, mut sum, mut n) = (1.0, 1.0, a);
            for _ in 0..2000 {
                n += 1.0;
                term *= x / n;
                sum += term;
                if term < sum * 1e-17 {
                    break;
                }
            }
            let below = front * sum;
            return (below, 1.0 - below, density);
        }
        let mut b = x + 1.0 - a;
        let (mut c, mut d) = (1e300, 1.0 / b);
        let mut fraction = d;
        for i in 1..2000 {
            let n = f64::from(i);
            let an = n * (a - n);
            b += 2.0;
            d = 1.0 / (an * d + b);
            c = b + an / c;
            let change = c * d;
            fraction *= change;
            if (change - 1.0).abs() < 1e-16 {
                break;
            }
        }
        let above = density * fraction;
        (1.0 - above, above, density)
    }
}

/// E. B. Wilson and M. M. Hilferty, "The distribution of chi-square", PNAS 17 (1931), 684-688.
fn wilson_hilferty(shape: f64, z: f64) -> f64 {
    let third = 1.0 / (9.0 * shape);
    let root = 1.0 - third + z * sqrt(third);
    shape * root * root * root
}

/// Gamma quantile at the normal quantile z for a large shape: H. Goldberg and H. Levine,
/// "Approximate formulas for the percentage points and normalization of t and chi-square", Annals
/// of Mathematical Statistics 17 (1946), 216-225, written for a gamma law (chi-square / 2).
fn cornish_fisher(shape: f64, z: f64) -> f64 {
    let (s, z2) = (sqrt(shape), z * z);
    shape + s * z + (z2 - 1.0) / 3.0 + z * (z2 - 7.0) / (36.0 * s)
        - (3.0 * z2 * z2 + 7.0 * z2 - 16.0) / (810.0 * shape)
        + z * (9.0 * z2 * z2 + 256.0 * z2 - 433.0) / (38_880.0 * shape * s)
}

/// The real k whose `P(N <= k)` is the normal probability of z, for a Poisson N of a large mean:
/// `P(N <= k) = P(G > mean)` with G gamma of shape k + 1, solved for the shape.
pub(super) fn poisson_large(mean: f64, z: f64) -> f64 {
    let mut shape = mean + z * sqrt(mean);
    for _ in 0..6 {
        let slope = 1.0 - 0.5 * z / sqrt(shape);
        shape -= (cornish_fisher(shape, -z) - mean) / slope;
    }
    shape - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use libm::pow;

    #[test]
    fn normal_quantile_inverts_erfc() {
        for i in 0..2000 {
            let tail = 0.5 * pow(2.0, -0.03 * f64::from(i));
            let back = 0.5 * libm::erfc(normal_upper(tail) / std::f64::consts::SQRT_2);
            let error = (back / tail - 1.0).abs();
            // An error of z shows z^2 times as large in its tail.
            assert!(error < 1e-13, "tail {tail:e}: relative error {error:e}");
        }
    }

    #[test]
    fn gamma_quantile_inverts_an_independent_cdf() {
        use statrs::function::gamma::{gamma_lr, gamma_ur};
        for shape in [
            0.02, 0.1, 0.5, 0.99, 1.0, 1.5, 4.0, 25.0, 333.0, 999.0, 1001.0, 3e4,
        ] {
            let gamma = Gamma::new(shape);
            // In probability; in the quantile it is less by z times the root of the shape.
            let limit = if shape < LARGE_SHAPE { 1e-8 } else { 1e-5 };
            for i in 0..40 {
                let p = 0.5 * pow(2.0, -f64::from(i));
                let (low, high) = (gamma.lower(p), gamma.upper(p));
                assert!(low <= high, "shape {shape}, p {p:e}: {low} above {high}");
                if low > 1e-280 {
                    let back = gamma_lr(shape, low);
                    assert!(
                        (back / p - 1.0).abs() < limit,
                        "shape {shape}, p {p:e}: {back:e}"
                    );
                }
                // The other library's upper tail is 1 - lower below the shape.
                let back = gamma_ur(shape, high);
                let close = (back / p - 1.0).abs() < limit || (back - p).abs() < 1e-12;
                assert!(close, "shape {shape}, upper {p:e}: {back:e}");
            }
        }
    }

    #[test]
    fn gamma_quantile_agrees_on_both_sides_of_the_series_threshold() {
        let (newton, series) = (Gamma::new(999.999_999), Gamma::new(1000.0));
        for i in 0..60 {
            let p = 0.5 * pow(2.0, -f64::from(i));
            for (a, b) in [
                (newton.lower(p), series.lower(p)),
                (newton.upper(p), series.upper(p)),
            ] {
                assert!((a / b - 1.0).abs() < 1e-7, "p {p:e}: {a} and {b}");
            }
        }
    }

    #[test]
    fn exponential_is_the_gamma_of_shape_one() {
        let gamma = Gamma::new(1.0);
        for i in 0..60 {
            let p = 0.5 * pow(2.0, -f64::from(i));
            assert!((gamma.lower(p) / -libm::log1p(-p) - 1.0).abs() < 1e-12);
            assert!((gamma.upper(p) / -log(p) - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn large_poisson_quantile_inverts_an_independent_cdf() {
        for mean in [13_000.0, 2e6] {
            for z in [-5.0, -2.0, -0.3, 0.0, 0.7, 3.0, 5.0] {
                let k = poisson_large(mean, z);
                let below = statrs::function::gamma::gamma_ur(k + 1.0, mean);
                let expected = 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
                let error = (below / expected - 1.0).abs();
                assert!(error < 1e-5, "mean {mean}, z {z}: {below} for {expected}");
            }
        }
    }
}
