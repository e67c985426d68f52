//! Levels and integrals of the features by category. Order of posting does not matter, so this
//! half of the books needs no sorting.

use super::basis::{MAX_FEATURES, Vector};

/// Feature levels now, and their integrals over the current bin, by category.
#[derive(Clone, Debug)]
pub struct Ledger {
    features: usize,
    level: Vec<i64>,
    /// Integral over the bin in feature-ns, as if each level stayed to the bin's end.
    integral: Vec<i128>,
    bin_end: u64,
}

impl Ledger {
    /// Empty books of `categories` x `features`.
    pub fn new(categories: usize, features: usize) -> Ledger {
        debug_assert!(features <= MAX_FEATURES);
        let cells = categories * features;
        Ledger { features, level: vec![0; cells], integral: vec![0; cells], bin_end: 0 }
    }

    /// Starts the bin `start..end`: what is held now is carried in.
    pub fn open_bin(&mut self, start: u64, end: u64) {
        self.bin_end = end;
        let width = i128::from(end - start);
        for (integral, level) in self.integral.iter_mut().zip(&self.level) {
            *integral = i128::from(*level) * width;
        }
    }

    /// Adds `sign * features` to a category at an instant of the open bin.
    #[inline]
    pub fn add(&mut self, category: usize, at: u64, features: &Vector, sign: i64) {
        let left = i128::from(self.bin_end - at);
        let cells = category * self.features..(category + 1) * self.features;
        let levels = &mut self.level[cells.clone()];
        let integrals = &mut self.integral[cells];
        for ((level, integral), value) in levels.iter_mut().zip(integrals).zip(features) {
            if *value != 0 {
                let change = sign * value;
                *level += change;
                *integral += i128::from(change) * left;
            }
        }
    }

    /// Integrals of a category over the closed bin.
    pub fn integrals(&self, category: usize) -> &[i128] {
        &self.integral[category * self.features..(category + 1) * self.features]
    }
}
