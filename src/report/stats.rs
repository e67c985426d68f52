//! A metric over replications: mean, 95% interval, range.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::number::{Ratio, decimal};

/// A metric's values, one per replication.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `values / den`, exact.
    Exact { values: Vec<u128>, den: u128 },
    /// Fractions of two measured values.
    Fraction(Vec<f64>),
    /// Not known (weights of a model that states none).
    Unknown,
}

/// The cells of a summary row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// Mean over replications.
    pub mean: String,
    /// Lower end of the 95% interval of the mean; empty for one replication.
    pub ci95_low: String,
    /// Upper end.
    pub ci95_high: String,
    /// Least replication.
    pub min: String,
    /// Greatest replication.
    pub max: String,
}

impl Values {
    /// Integers, as they are.
    pub fn integers(values: impl IntoIterator<Item = u64>) -> Values {
        Values::Exact {
            values: values.into_iter().map(u128::from).collect(),
            den: 1,
        }
    }

    /// The values as doubles.
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Values::Exact { values, den } => values
                .iter()
                .map(|&v| Ratio::new(v, *den).to_f64())
                .collect(),
            Values::Fraction(values) => values.clone(),
            Values::Unknown => Vec::new(),
        }
    }

    /// Mean over replications; `None` if unknown.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Values::Exact { values, den } => {
                Some(Ratio::mean(values.iter().copied(), *den).to_f64())
            }
            Values::Fraction(values) => Some(mean(values)),
            Values::Unknown => None,
        }
    }

    /// Half the width of the 95% interval of the mean; `None` with fewer than two replications.
    pub fn half_width(&self) -> Option<f64> {
        half_width(&self.to_f64())
    }

    /// The cells of the summary.
    pub fn cells(&self) -> Cells {
        let (mean_text, min, max) = match self {
            Values::Unknown => return Cells::default(),
            Values::Exact { values, den } => {
                let cell = |v: Option<&u128>| Ratio::new(*v.unwrap_or(&0), *den).decimal();
                let mean = Ratio::mean(values.iter().copied(), *den).decimal();
                (mean, cell(values.iter().min()), cell(values.iter().max()))
            }
            Values::Fraction(v) => {
                let min = v.iter().copied().fold(f64::INFINITY, f64::min);
                let max = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                (decimal(mean(v)), decimal(min), decimal(max))
            }
        };
        let (ci95_low, ci95_high) = match (self.half_width(), self.mean()) {
            // Equal replications: the interval is the mean itself, to its last digit.
            (Some(0.0), _) => (mean_text.clone(), mean_text.clone()),
            (Some(half), Some(mean)) => (decimal(mean - half), decimal(mean + half)),
            _ => (String::new(), String::new()),
        };
        Cells {
            mean: mean_text,
            ci95_low,
            ci95_high,
            min,
            max,
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Half the width of the two-sided 95% Student t interval of the mean, `t(0.975, n-1) * s /
/// sqrt(n)` with the sample standard deviation `s` (NIST/SEMATECH e-Handbook of Statistical
/// Methods, 1.3.5.2). `None` for fewer than two values.
pub fn half_width(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    if values.iter().all(|v| *v == values[0]) {
        return Some(0.0);
    }
    let mean = mean(values);
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let deviation = (squares / (n - 1) as f64).sqrt();
    let t = StudentsT::new(0.0, 1.0, (n - 1) as f64)
        .ok()?
        .inverse_cdf(0.975);
    Some(t * deviation / (n as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_use_student_t() {
        // t(0.975) for 1, 2, 4, 9, 29 degrees: NIST e-Handbook table 1.3.6.7.2.
        for (n, t) in [
            (2usize, 12.706),
            (3, 4.303),
            (5, 2.776),
            (10, 2.262),
            (30, 2.045),
        ] {
            // Alternate around 0 so that the sample deviation is easy to state.
            let values: Vec<f64> = (0..n).map(|i| if i == 0 { 1.0 } else { 0.0 }).collect();
            let mean = 1.0 / n as f64;
            let s2 = ((1.0 - mean).powi(2) + (n - 1) as f64 * mean * mean) / (n - 1) as f64;
            let expected = t * (s2 / n as f64).sqrt();
            let half = half_width(&values).unwrap();
            assert!(
                (half / expected - 1.0).abs() < 3e-4,
                "n={n}: {half} vs {expected}"
            );
        }
    }

    #[test]
    fn one_replication_has_no_interval() {
        let cells = Values::integers([5]).cells();
        assert_eq!((cells.mean.as_str(), cells.ci95_low.as_str()), ("5", ""));
        assert_eq!((cells.min.as_str(), cells.max.as_str()), ("5", "5"));
    }

    #[test]
    fn equal_replications_have_an_empty_interval() {
        let cells = Values::Exact {
            values: vec![1, 1, 1],
            den: 3,
        }
        .cells();
        assert_eq!(cells.ci95_low, cells.mean);
        assert_eq!(cells.ci95_high, "0.333333333");
    }

    #[test]
    fn unknown_values_leave_cells_empty() {
        assert_eq!(Values::Unknown.cells(), Cells::default());
    }
}
