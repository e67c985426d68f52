//! Laws compiled for fast draws: one uniform 64-bit word in, one value out.

use crate::scenario::{Law, LawKind};

/// A compiled law.
#[derive(Clone, Debug)]
pub struct Sampler {
    law: Law,
}

impl Sampler {
    /// Compiles a law.
    pub fn new(law: &Law) -> Sampler {
        Sampler { law: law.clone() }
    }

    /// The value at the uniform word `bits`: monotone in `bits`, clamped to the law's bounds.
    #[inline]
    pub fn value(&self, bits: u64) -> f64 {
        match &self.law.kind {
            LawKind::Constant(v) => *v,
            LawKind::IntegerRange { low, high } => {
                let n = (high - low + 1) as u128;
                (*low + ((u128::from(bits) * n) >> 64) as i64) as f64
            }
            _ => unimplemented!("sampler.rs is completed elsewhere"),
        }
    }

    /// [`Sampler::value`] rounded half up to an integer; negative values become 0.
    #[inline]
    pub fn integer(&self, bits: u64) -> u64 {
        round_half_up(self.value(bits))
    }
}

/// Rounds half up; negative values become 0.
#[inline]
pub fn round_half_up(value: f64) -> u64 {
    // `as` saturates: negatives to 0, beyond the range to the largest.
    (value + 0.5).floor() as u64
}
