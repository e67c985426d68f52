//! Levels and integrals of the features by category. Order of posting does not matter, so this
//! half of the books needs no sorting.

use super::basis::Vector;

/// Feature levels now, and their integrals over the current bin, by category.
#[derive(Clone, Debug)]
pub struct Ledger<const N: usize> {
    level: Vec<[i64; N]>,
    /// Integral over the bin in feature-ns, as if each level stayed to the bin's end.
    integral: Vec<[i128; N]>,
    bin_end: u64,
}

impl<const N: usize> Ledger<N> {
    /// An empty ledger of so many categories.
    pub fn new(categories: usize) -> Ledger<N> {
        Ledger {
            level: vec![[0; N]; categories],
            integral: vec![[0; N]; categories],
            bin_end: 0,
        }
    }

    /// Starts the bin `start..end`: what is held now is carried in.
    pub fn open_bin(&mut self, start: u64, end: u64) {
        self.bin_end = end;
        let width = i128::from(end - start);
        for (integral, level) in self
            .integral
            .as_flattened_mut()
            .iter_mut()
            .zip(self.level.as_flattened())
        {
            *integral = i128::from(*level) * width;
        }
    }

    /// Adds `sign * features` to a category at an instant of the open bin.
    #[inline]
    pub fn add(&mut self, category: usize, at: u64, features: &Vector<N>, sign: i64) {
        // Both factors fit 64 bits, which is one multiplication.
        let left = (self.bin_end - at) as i64;
        let (Some(levels), Some(integrals)) = (
            self.level.get_mut(category),
            self.integral.get_mut(category),
        ) else {
            return;
        };
        for feature in 0..N {
            // Most changes touch few features.
            if features[feature] != 0 {
                let change = sign * features[feature];
                levels[feature] += change;
                integrals[feature] += i128::from(change) * i128::from(left);
            }
        }
    }

    /// Integrals of a category over the closed bin.
    pub fn integrals(&self, category: usize) -> &[i128; N] {
        &self.integral[category]
    }
}
