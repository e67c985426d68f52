//! Time-weighted quantiles of a level, within 0.05%, without keeping the level's history.

/// Mantissa bits that select a cell: cells are 2^-10 wide relative to their lower edge.
const BITS: u32 = 10;

/// How long a non-negative level stayed in each log-linear cell.
#[derive(Clone, Debug, Default)]
pub struct TimeHistogram {
    /// Nanoseconds per cell; the cell of a level is the top bits of its floating-point form,
    /// which order as the levels do.
    cells: Vec<u64>,
    zero: u64,
    /// The cell being filled and the time not yet added to it: levels change little.
    current: usize,
    pending: u64,
}

#[inline]
fn cell(level: i64) -> usize {
    // 1.0 has the biased exponent 1023; levels below 1 are kept apart.
    (((level as f64).to_bits() >> (52 - BITS)) - (1023 << BITS)) as usize
}

/// The middle of a cell: half a cell from its edges at most.
fn middle(cell: usize) -> u64 {
    let edge = |c: usize| f64::from_bits(((c as u64) + (1023 << BITS)) << (52 - BITS));
    let (low, high) = (edge(cell), edge(cell + 1));
    // Levels up to 2^11 have cells of one integer at most: the lower edge is exact.
    if high - low <= 1.0 {
        low.ceil() as u64
    } else {
        (low + (high - low) / 2.0) as u64
    }
}

impl TimeHistogram {
    /// The level was `level` for `ns`.
    #[inline]
    pub fn add(&mut self, level: i64, ns: u64) {
        if level <= 0 {
            self.zero += ns;
            return;
        }
        let cell = cell(level);
        if cell != self.current {
            self.flush();
            self.current = cell;
        }
        self.pending += ns;
    }

    fn flush(&mut self) {
        if self.pending > 0 {
            if self.cells.len() <= self.current {
                self.cells.resize(self.current + 1, 0);
            }
            self.cells[self.current] += self.pending;
            self.pending = 0;
        }
    }

    /// The least level at or below which the level stayed for `percent` of the time; never above
    /// `most`, the true maximum.
    pub fn quantile(&mut self, percent: u8, most: u64) -> u64 {
        self.flush();
        let total: u128 =
            self.cells.iter().map(|c| u128::from(*c)).sum::<u128>() + u128::from(self.zero);
        let target = (total * u128::from(percent)).div_ceil(100);
        let mut seen = u128::from(self.zero);
        if seen >= target {
            return 0;
        }
        for (cell, ns) in self.cells.iter().enumerate() {
            seen += u128::from(*ns);
            if seen >= target {
                return middle(cell).min(most);
            }
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_tenth_of_a_percent() {
        for level in [
            1_u64,
            2,
            7,
            1000,
            2047,
            13_713_408_000,
            107_136_000_000,
            1 << 53,
            u64::MAX >> 1,
        ] {
            let mut h = TimeHistogram::default();
            h.add(level as i64, 10);
            let got = h.quantile(50, u64::MAX);
            let error = (got as f64 - level as f64).abs() / level as f64;
            assert!(error <= 0.0005, "{level} came back as {got}");
        }
    }

    #[test]
    fn quantiles_weigh_by_time() {
        let mut h = TimeHistogram::default();
        h.add(0, 50);
        h.add(100, 45);
        h.add(900, 4);
        h.add(100, 1);
        assert_eq!(h.quantile(50, 900), 0);
        assert_eq!(h.quantile(51, 900), 100);
        assert_eq!(h.quantile(96, 900), 100);
        assert_eq!(h.quantile(97, 900), 900);
    }
}
