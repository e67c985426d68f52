//! Laws of a few values, exact: cumulative thresholds on the 64-bit word.

use libm::{exp, expm1, lgamma, log, log1p};

/// 2^64.
const WORDS: f64 = 18_446_744_073_709_551_616.0;
/// A counting law with more values than this above 2^-64 is compiled to a table instead.
const MOST_VALUES: usize = 2048;

/// Values with cumulative thresholds.
#[derive(Debug)]
pub(super) struct Steps {
    /// Value i is taken below word `ends[i]`, unless an earlier one is; the last one has no end.
    ends: Box<[u64]>,
    values: Values,
    /// The first value whose end is beyond the words with these top bits.
    guide: Box<[u32]>,
    guide_shift: u32,
}

#[derive(Debug)]
enum Values {
    /// Consecutive integers from here.
    From(f64),
    /// As many as there are thresholds and one more.
    List(Box<[f64]>),
}

impl Steps {
    /// The value at the uniform word `bits`.
    #[inline]
    pub(super) fn value(&self, bits: u64) -> f64 {
        let mut i = self.guide[(bits >> self.guide_shift) as usize] as usize;
        while self.ends.get(i).is_some_and(|&end| bits >= end) {
            i += 1;
        }
        self.nth(i)
    }

    #[inline]
    fn nth(&self, i: usize) -> f64 {
        match &self.values {
            Values::From(first) => first + i as f64,
            Values::List(list) => list[i],
        }
    }

    /// Mean of `map(value)`.
    pub(super) fn mean(&self, map: impl Fn(f64) -> f64) -> f64 {
        let mut from = 0;
        let mut sum = 0.0;
        for (i, &end) in self.ends.iter().enumerate() {
            sum += (end - from) as f64 / WORDS * map(self.nth(i));
            from = end;
        }
        // 2^64 - from; at least one value has words.
        let rest = if from == 0 {
            WORDS
        } else {
            from.wrapping_neg() as f64
        };
        sum + rest / WORDS * map(self.nth(self.ends.len()))
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let list = match &self.values {
            Values::From(_) => 0,
            Values::List(list) => list.len(),
        };
        size_of::<Steps>() + 8 * (self.ends.len() + list) + 4 * self.guide.len()
    }

    fn new(ends: Vec<u64>, values: Values) -> Steps {
        // About one value per entry of the guide.
        let bits = (usize::BITS - ends.len().leading_zeros()).clamp(4, 12);
        let guide_shift = 64 - bits;
        let guide = (0..1_u64 << bits).map(|top| {
            let word = top << guide_shift;
            ends.partition_point(|&end| end <= word) as u32
        });
        Steps {
            guide: guide.collect(),
            guide_shift,
            ends: ends.into(),
            values,
        }
    }

    /// `(value, weight)` pairs in any order; `None` without a positive weight.
    pub(super) fn choice(pairs: &[(f64, f64)]) -> Option<Steps> {
        let mut pairs: Vec<(f64, f64)> = pairs.iter().copied().filter(|p| p.1 > 0.0).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut ends = cumulative(pairs.iter().map(|p| p.1));
        ends.pop()?;
        let values = pairs.iter().map(|p| p.0).collect();
        Some(Steps::new(ends, Values::List(values)))
    }

    /// Trials to the first success, mean > 1: `P(N <= k) = 1 - (1 - p)^k`, p = 1 / mean. `None` if
    /// it has too many values.
    pub(super) fn geometric(mean: f64) -> Option<Steps> {
        // ln(1 - p)
        let ln_fail = log1p(-1.0 / mean);
        let mut ends = Vec::new();
        for k in 1..=MOST_VALUES {
            let exponent = k as f64 * ln_fail;
            match end(-expm1(exponent), exp(exponent)) {
                Some(end) => ends.push(end),
                None => return Some(Steps::new(ends, Values::From(1.0))),
            }
        }
        None
    }

    /// Counts of this mean > 0; `None` if it has too many values.
    pub(super) fn poisson(mean: f64) -> Option<Steps> {
        // Nine and a half standard deviations to each side reach 2^-64, with room for skewness.
        let reach = 9.5 * mean.sqrt() + 50.0;
        if 2.0 * reach > MOST_VALUES as f64 {
            return None;
        }
        let mode = mean.floor();
        let first = (mode - reach).max(0.0).floor();
        let count = (mode + reach - first) as usize + 1;
        let at_mode = exp(mode * log(mean) - mean - lgamma(mode + 1.0));
        let mut share = vec![0.0; count];
        let m = (mode - first) as usize;
        share[m] = at_mode;
        for i in m + 1..count {
            share[i] = share[i - 1] * mean / (first + i as f64);
        }
        for i in (0..m).rev() {
            share[i] = share[i + 1] * (first + (i + 1) as f64) / mean;
        }
        let total: f64 = share.iter().sum();
        let mut above = vec![0.0; count + 1];
        for i in (0..count).rev() {
            above[i] = above[i + 1] + share[i] / total;
        }
        let (mut ends, mut below) = (Vec::new(), 0.0);
        for i in 0..count {
            below += share[i] / total;
            match end(below, above[i + 1]) {
                Some(end) => ends.push(end),
                None => break,
            }
        }
        // The least values may have no word of their own.
        let unseen = ends.iter().take_while(|&&end| end == 0).count();
        ends.drain(..unseen);
        Some(Steps::new(ends, Values::From(first + unseen as f64)))
    }
}

/// The first word above a value, from the shares at or below and above it (the smaller is the
/// precise one); `None` where no word is above.
fn end(below: f64, above: f64) -> Option<u64> {
    if below <= 0.5 {
        return Some((below * WORDS) as u64);
    }
    match (above * WORDS) as u64 {
        0 => None,
        words => Some(words.wrapping_neg()),
    }
}

/// Exclusive ends of the words of each weight; the last one, which is 2^64, as 0.
pub(super) fn cumulative(weights: impl Iterator<Item = f64> + Clone) -> Vec<u64> {
    let total: f64 = weights.clone().sum();
    let mut sum = 0.0;
    let mut ends: Vec<u64> = weights
        .map(|w| {
            sum += w;
            (sum / total * WORDS) as u64
        })
        .collect();
    if let Some(last) = ends.last_mut() {
        *last = 0;
    }
    ends
}
