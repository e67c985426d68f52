//! A quantile function as a table that is linear between its nodes.
//!
//! The body, shares 1/16 to 15/16, has equal cells and is found by the word's top bits. Each tail
//! is cut into octaves (distance to its end in [2^-(j+1), 2^-j), j = 4 to 63) of equal cells. How
//! many cells a part gets follows from the law's curvature there and [`tolerance`], so smooth laws
//! have small tables and heavy tails keep their quantiles and mean.

use super::clamp;
use super::smooth::Smooth;

/// Words within this distance of either end belong to a tail: a share of 1/16.
const EDGE: u64 = 1 << 60;
const FIRST_OCTAVE: u32 = 4;
const LAST_OCTAVE: u32 = 63;
/// Finite stand-in for values beyond the range of f64.
const LARGEST: f64 = 1e300;
/// At most 2^11 cells in the body and 2^8 in an octave.
const MOST_BODY_BITS: u32 = 11;
const MOST_OCTAVE_BITS: u32 = 8;

/// A monotone piecewise linear quantile function.
#[derive(Debug)]
pub(super) struct Table {
    /// Values at shares 1/16, 1/16 + 2^-body_bits, ..., 15/16.
    body: Box<[f64]>,
    body_bits: u32,
    tails: Tails,
}

/// Nodes by ascending distance from the tail's end: the low tail's, then the high one's.
#[derive(Debug)]
struct Tails {
    /// By number of leading zeros of the distance; the high tail's from 64.
    octaves: [Octave; 128],
    nodes: Box<[f64]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Octave {
    /// Its first node.
    first: u32,
    /// It has 2^bits cells.
    bits: u32,
}

/// The value at `fraction` (in 2^-64) of cell `cell`.
///
/// Never beyond the cell's ends, in spite of rounding, so the table is monotone: the difference is
/// rounded up by at most 1 + e (e = 2^-53), the fraction is at most 1 - 2e, the product is rounded
/// up by at most 1 + e, and (1 + e)² (1 - 2e) < 1.
#[inline]
fn interpolate(nodes: &[f64], cell: usize, fraction: u64) -> f64 {
    const ONE: u64 = 0x3ff << 52;
    let t = f64::from_bits(ONE | (fraction >> 12)) - 1.0;
    let (from, to) = (nodes[cell], nodes[cell + 1]);
    from + t * (to - from)
}

impl Tails {
    /// The value at a word within [`EDGE`] of either end.
    #[inline]
    fn value(&self, bits: u64) -> f64 {
        // All ones in the high tail: both tails take the same path.
        let high = ((bits as i64) >> 63) as u64;
        let distance = (bits ^ high) | 1;
        let zeros = distance.leading_zeros();
        let octave = self.octaves[zeros as usize | (high & 64) as usize];
        let mantissa = (distance << zeros) << 1;
        let cell = (mantissa >> 1) >> (63 - octave.bits);
        interpolate(
            &self.nodes,
            octave.first as usize + cell as usize,
            mantissa << octave.bits,
        )
    }

    /// Calls `visit(share, value at one side, value at the other)` for every cell.
    fn visit(&self, visit: &mut impl FnMut(f64, f64, f64)) {
        for side in [0, 64] {
            // Distances 0 and 1 both give the first node.
            let end = self.nodes[self.octaves[side + LAST_OCTAVE as usize].first as usize];
            visit(2.0 * power_of_half(64), end, end);
            for zeros in FIRST_OCTAVE..LAST_OCTAVE {
                let Octave { first, bits } = self.octaves[side + zeros as usize];
                let cells = 1 << bits;
                let share = power_of_half(zeros + 1 + bits);
                for pair in self.nodes[first as usize..=first as usize + cells].windows(2) {
                    visit(share, pair[0], pair[1]);
                }
            }
        }
    }

    /// From the octaves' bits and all nodes of each tail, ascending by distance.
    fn new(low: (&[u32; 64], Vec<f64>), high: (&[u32; 64], Vec<f64>)) -> Tails {
        let mut octaves = [Octave::default(); 128];
        let mut nodes = Vec::with_capacity(low.1.len() + high.1.len());
        for (side, (bits, side_nodes)) in [(0, low), (64, high)] {
            let mut first = nodes.len() as u32;
            for zeros in (FIRST_OCTAVE..=LAST_OCTAVE).rev() {
                let bits = bits[zeros as usize];
                octaves[side + zeros as usize] = Octave { first, bits };
                first += 1 << bits;
            }
            nodes.extend(side_nodes);
        }
        Tails {
            octaves,
            nodes: nodes.into(),
        }
    }
}

impl Table {
    /// The value at the uniform word `bits`.
    #[inline]
    pub(super) fn value(&self, bits: u64) -> f64 {
        let from_edge = bits.wrapping_sub(EDGE);
        // One comparison for both tails: they wrap round to the top.
        if from_edge >= EDGE.wrapping_mul(14) {
            return self.tails.value(bits);
        }
        let cell = (from_edge >> (64 - self.body_bits)) as usize;
        interpolate(&self.body, cell, from_edge << self.body_bits)
    }

    /// Mean of the values, rounded up to an integer if `up`, then clamped to [min, max].
    pub(super) fn mean(&self, up: bool, min: f64, max: f64) -> f64 {
        let mut sum = 0.0;
        let mut add = |share: f64, a: f64, b: f64| {
            sum += share * segment_mean(a.min(b), a.max(b), up, min, max);
        };
        self.tails.visit(&mut add);
        for pair in self.body.windows(2) {
            add(power_of_half(self.body_bits), pair[0], pair[1]);
        }
        sum
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let nodes = self.body.len() + self.tails.nodes.len();
        size_of::<Table>() + nodes * size_of::<f64>()
    }

    /// Compiles a quantile function.
    pub(super) fn new(law: &Smooth) -> Table {
        let shape = Shape::new(law);
        let low_bits = octave_bits(&shape, |p| law.lower(p));
        let high_bits = octave_bits(&shape, |p| law.upper(p));
        let body_bits = body_bits(&shape, law);

        // All cells, by ascending value.
        let mut cells = Cells::default();
        for zeros in (FIRST_OCTAVE..=LAST_OCTAVE).rev() {
            let width = power_of_half(zeros + 1);
            cells.push_row(width, 1 << low_bits[zeros as usize], |x| {
                law.lower(width * (1.0 + x))
            });
        }
        let edge = power_of_half(FIRST_OCTAVE);
        let body_cells = 14 << (body_bits - FIRST_OCTAVE);
        cells.push_row(14.0 * edge, body_cells, |x| {
            let share = edge * (1.0 + 14.0 * x);
            if share <= 0.5 {
                law.lower(share)
            } else {
                law.upper(1.0 - share)
            }
        });
        for zeros in FIRST_OCTAVE..=LAST_OCTAVE {
            let width = power_of_half(zeros + 1);
            cells.push_row(width, 1 << high_bits[zeros as usize], |x| {
                law.upper(width * (2.0 - x))
            });
        }

        let mut nodes = cells.nodes(law.least());
        let last = nodes.len() - 1;
        nodes[last] = nodes[last].max(mean_beyond(law));
        let low_len = 1 + low_bits.iter().map(|b| 1 << b).sum::<usize>() - FIRST_OCTAVE as usize;
        let body = nodes[low_len - 1..low_len + body_cells].into();
        let high: Vec<f64> = nodes.drain(low_len - 1 + body_cells..).rev().collect();
        nodes.truncate(low_len);
        Table {
            body,
            body_bits,
            tails: Tails::new((&low_bits, nodes), (&high_bits, high)),
        }
    }
}

/// 2^-n, exactly.
fn power_of_half(n: u32) -> f64 {
    f64::from_bits(u64::from(1023 - n) << 52)
}

/// Mean of the values beyond a share of 2^-63, from the quantiles at 2^-63 and 2^-64 as if the
/// tail were Pareto's (whose mean beyond q is q / (1 - slope)): this keeps the mean of laws such as
/// a Pareto of shape 1.1, which has a fiftieth of it there.
fn mean_beyond(law: &Smooth) -> f64 {
    let (at_63, at_64) = (law.upper(power_of_half(63)), law.upper(power_of_half(64)));
    let slope = libm::log2(at_64 / at_63);
    // An infinite mean is only legal under a maximum, which any large value reaches.
    if slope < 1.0 {
        (at_63 / (1.0 - slope)).min(LARGEST)
    } else {
        LARGEST
    }
}

/// Scales that errors are compared with.
struct Shape {
    median: f64,
    /// From quartile to quartile.
    spread: f64,
    /// Values below this do not matter.
    floor: f64,
}

impl Shape {
    fn new(law: &Smooth) -> Shape {
        Shape {
            median: law.lower(0.5),
            spread: law.upper(0.25) - law.lower(0.25),
            floor: 1e-6 * law.upper(power_of_half(FIRST_OCTAVE)).abs(),
        }
    }

    /// log2 of the number of cells that keeps a piece of a quantile function within `tolerance`,
    /// from values at equal steps of which `steps` make up the piece. The error at a node, after
    /// [`Cells::nodes`], is width² / 12 times the second derivative. It is measured against the
    /// value, or the distance to the median of a narrow law.
    fn bits(&self, values: &[f64], steps: f64, tolerance: f64) -> u32 {
        let mut worst: f64 = 0.0;
        for v in values.windows(3) {
            let scale = v[1]
                .abs()
                .max(self.floor)
                .min((v[1] - self.median).abs() + self.spread);
            let bend = (v[0] - 2.0 * v[1] + v[2]).abs() / scale;
            if bend.is_finite() {
                worst = worst.max(bend);
            }
        }
        let cells = steps * libm::sqrt(worst / (12.0 * tolerance));
        (0..16)
            .find(|&bits| f64::from(1 << bits) >= cells)
            .unwrap_or(16)
    }
}

/// Largest relative error of a node in the octave of this many leading zeros: 4e-5 at the body,
/// 1.3e-4 beyond the 99.8% quantile, and beyond 10^-6 looser by as much as it matters less.
fn tolerance(zeros: u32) -> f64 {
    let outer = 1_u64 << zeros.saturating_sub(20).min(8);
    let inner = libm::cbrt(f64::from(1 << (zeros - FIRST_OCTAVE).min(5)));
    4e-5 * inner * (outer as f64).min(20.0)
}

fn octave_bits(shape: &Shape, quantile: impl Fn(f64) -> f64) -> [u32; 64] {
    let mut bits = [0; 64];
    for zeros in FIRST_OCTAVE..=LAST_OCTAVE {
        let at = |i: u32| quantile(power_of_half(zeros + 1) * (1.0 + 0.25 * f64::from(i)));
        let wanted = shape.bits(&[at(0), at(1), at(2), at(3), at(4)], 4.0, tolerance(zeros));
        bits[zeros as usize] = wanted.min(MOST_OCTAVE_BITS);
    }
    // One word.
    bits[LAST_OCTAVE as usize] = 0;
    bits
}

fn body_bits(shape: &Shape, law: &Smooth) -> u32 {
    let probes: Vec<f64> = (4..=60)
        .map(|i| f64::from(i) / 64.0)
        .map(|p| {
            if p <= 0.5 {
                law.lower(p)
            } else {
                law.upper(1.0 - p)
            }
        })
        .collect();
    shape
        .bits(&probes, 64.0, tolerance(FIRST_OCTAVE))
        .clamp(FIRST_OCTAVE, MOST_BODY_BITS)
}

/// Cells by ascending value, while a table is built.
#[derive(Default)]
struct Cells {
    /// Share of the draws, and by how much the chord's mean is above the law's.
    cells: Vec<(f64, f64)>,
    /// The law's values at the cells' ends.
    ends: Vec<f64>,
}

impl Cells {
    /// Adds `count` equal cells that share `width`; `value` is the law at a fraction of the row.
    fn push_row(&mut self, width: f64, count: usize, value: impl Fn(f64) -> f64) {
        let value = |x: f64| value(x).clamp(-LARGEST, LARGEST);
        let step = 1.0 / count as f64;
        let mut from = match self.ends.last() {
            Some(&end) => end,
            None => {
                let first = value(0.0);
                self.ends.push(first);
                first
            }
        };
        for i in 0..count {
            let middle = value((i as f64 + 0.5) * step);
            let to = value((i + 1) as f64 * step);
            // Simpson's rule for the law's mean over the cell.
            self.cells
                .push((width * step, (from + to - 2.0 * middle) / 3.0));
            self.ends.push(to);
            from = to;
        }
    }

    /// The values at the cells' ends, moved so that the table has the law's mean: a chord of a
    /// convex function lies above it, so each end moves by the mean excess of its two cells. This
    /// also spreads the error to both sides and so takes a third off its maximum.
    fn nodes(&self, least: f64) -> Vec<f64> {
        let mut last = least;
        let node = |(i, &end): (usize, &f64)| {
            let left = if i > 0 { self.cells[i - 1] } else { (0.0, 0.0) };
            let right = self.cells.get(i).copied().unwrap_or((0.0, 0.0));
            let excess = (left.0 * left.1 + right.0 * right.1) / (left.0 + right.0);
            // Also skips what is not a number.
            if end - excess > last {
                last = end - excess;
            }
            last
        };
        self.ends.iter().enumerate().map(node).collect()
    }
}

/// Mean of x, rounded up if `up`, then clamped to [min, max], for x uniform on [a, b].
pub(super) fn segment_mean(a: f64, b: f64, up: bool, min: f64, max: f64) -> f64 {
    let value = |x: f64| clamp(if up { x.ceil() } else { x }, min, max);
    if a >= b {
        return value(a);
    }
    // Below `from` all values are `min`, above `to` all are `max`.
    let (from, to) = if up {
        (min.ceil() - 1.0, max.floor())
    } else {
        (min, max)
    };
    let (p, q) = (clamp(from, a, b), clamp(to, a, b));
    let inner = if !up {
        0.5 * (p + q)
    } else if p.ceil() == q.ceil() {
        p.ceil()
    } else {
        let integral = |x: f64| {
            let n = x.ceil();
            n * (x - 0.5 * (n - 1.0))
        };
        (integral(q) - integral(p)) / (q - p)
    };
    let width = b - a;
    let mut sum = inner * ((q - p) / width);
    if p > a {
        sum += min * ((p - a) / width);
    }
    if b > q {
        sum += max * ((b - q) / width);
    }
    sum
}
