//! Scales and their ticks: bytes, time, tokens.

use crate::report::number::{ByteUnit, DAY_NS, DAYS, significant};

/// A tick and its label.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where, in the axis's unit (bytes, ns, tokens).
    pub at: f64,
    pub label: String,
}

/// A linear axis of bytes from 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ByteAxis {
    /// The end of the axis, bytes.
    pub top: f64,
    pub ticks: Vec<Tick>,
    /// Unit of the labels.
    pub unit: &'static str,
}

impl ByteAxis {
    /// An axis that holds 0 to `largest` bytes with at most `intervals` intervals.
    pub fn new(largest: f64, intervals: usize) -> ByteAxis {
        let largest = if largest > 0.0 { largest } else { 1.0 };
        let step = nice_step(largest * 1.02, intervals);
        let unit = ByteUnit::for_max(largest);
        let count = (largest * 1.02 / step).ceil();
        let decimals = decimals_for(step / unit.bytes);
        let tick = |i: usize| Tick {
            at: step * i as f64,
            label: format!("{:.decimals$}", step * i as f64 / unit.bytes),
        };
        ByteAxis {
            top: step * count,
            ticks: (0..=count as usize).map(tick).collect(),
            unit: unit.name,
        }
    }

    /// The same axis with the unit in every label but 0.
    pub fn with_units(mut self) -> ByteAxis {
        for tick in self.ticks.iter_mut() {
            match tick.at > 0.0 {
                true => tick.label = format!("{} {}", tick.label, self.unit),
                false => tick.label = "0".to_string(),
            }
        }
        self
    }
}

/// The least of 1, 2, 2.5, 5 times a power of ten that makes at most `intervals` steps.
fn nice_step(range: f64, intervals: usize) -> f64 {
    let rough = range / intervals.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let factors = [1.0, 2.0, 2.5, 5.0, 10.0];
    let factor = factors
        .iter()
        .find(|f| *f * power * (1.0 + 1e-9) >= rough)
        .unwrap_or(&10.0);
    factor * power
}

/// Decimals that show a step exactly (steps are those of [`nice_step`]).
fn decimals_for(step: f64) -> usize {
    let shows = |d: &usize| {
        let scaled = step * 10f64.powi(*d as i32);
        (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1e-12)
    };
    (0..9).find(shows).unwrap_or(9)
}

/// The time axis of a window.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeAxis {
    pub ticks: Vec<Tick>,
    /// Labels name the interval that follows their tick (days), not the instant.
    pub names_intervals: bool,
    /// What the labels count.
    pub title: &'static str,
}

impl TimeAxis {
    /// Ticks for [0, `measure_ns`) where at most `labels` labels fit side by side.
    pub fn new(measure_ns: u64, labels: usize) -> TimeAxis {
        let days = measure_ns as f64 / DAY_NS as f64;
        let labels = labels.max(2);
        if days >= 2.0 && days.ceil() as usize <= labels.min(14) {
            return TimeAxis {
                ticks: (0..days.ceil() as usize)
                    .map(|d| Tick {
                        at: d as f64 * DAY_NS as f64,
                        label: DAYS[d % 7].to_string(),
                    })
                    .collect(),
                names_intervals: true,
                title: "day (time 0 is Monday 00:00)",
            };
        }
        let (unit, title, steps): (f64, _, &[f64]) = match measure_ns {
            n if days >= 2.0 && n > 0 => (
                DAY_NS as f64,
                "days since Monday 00:00",
                &[1.0, 2.0, 7.0, 14.0, 28.0],
            ),
            n if n >= 7_200_000_000_000 => (
                3.6e12,
                "hours since Monday 00:00",
                &[1.0, 2.0, 3.0, 4.0, 6.0, 12.0],
            ),
            n if n >= 120_000_000_000 => (
                6e10,
                "minutes since Monday 00:00",
                &[1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0],
            ),
            _ => (1e9, "seconds since Monday 00:00", &[]),
        };
        let range = measure_ns.max(1) as f64 / unit;
        let intervals = labels - 1;
        let fits = |s: &&f64| range / **s <= intervals as f64;
        let step = steps
            .iter()
            .find(fits)
            .copied()
            .unwrap_or_else(|| nice_step(range, intervals));
        let decimals = decimals_for(step);
        let count = (range / step * (1.0 + 1e-12)).floor() as usize;
        let tick = |i: usize| Tick {
            at: i as f64 * step * unit,
            label: format!("{:.decimals$}", i as f64 * step),
        };
        TimeAxis {
            ticks: (0..=count).map(tick).collect(),
            names_intervals: false,
            title,
        }
    }
}

/// Ticks of a logarithmic axis: powers of ten, with 2 and 5 between them where few fit.
pub fn log_ticks(low: f64, high: f64, label: impl Fn(f64) -> String) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = high.log10() - low.log10();
    let factors: &[f64] = if decades <= 3.5 {
        &[1.0, 2.0, 5.0]
    } else {
        &[1.0]
    };
    let values = (first..=last).flat_map(|e| factors.iter().map(move |f| f * 10f64.powi(e)));
    values
        .filter(|v| *v >= low * (1.0 - 1e-9) && *v <= high * (1.0 + 1e-9))
        .map(|at| Tick {
            at,
            label: label(at),
        })
        .collect()
}

/// A round byte count for a tick: `20 MB`.
pub fn byte_label(value: f64) -> String {
    let unit = ByteUnit::for_max(value * (1.0 + 1e-9));
    format!("{} {}", trim(value / unit.bytes), unit.name)
}

/// A round token count for a tick: `20K`.
pub fn token_label(value: f64) -> String {
    let units = [(1e9, "G"), (1e6, "M"), (1e3, "K")];
    let unit = units
        .into_iter()
        .find(|u| value * (1.0 + 1e-9) >= u.0)
        .unwrap_or((1.0, ""));
    format!("{}{}", trim(value / unit.0), unit.1)
}

fn trim(value: f64) -> String {
    let text = significant(value, 3);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn byte_axes_hold_the_largest_value_at_every_size() {
        for exponent in 0..19 {
            for factor in [1.0, 1.3, 2.49, 7.77, 9.99] {
                let largest = factor * 10f64.powi(exponent);
                let axis = ByteAxis::new(largest, 6);
                assert!(
                    axis.top >= largest && axis.top <= largest * 2.0 + 1.0,
                    "{largest}"
                );
                assert!(
                    (2..=7).contains(&axis.ticks.len()),
                    "{largest}: {:?}",
                    axis.ticks
                );
                let mut unique = labels(&axis.ticks);
                unique.dedup();
                assert_eq!(unique.len(), axis.ticks.len(), "{:?}", axis.ticks);
            }
        }
        let axis = ByteAxis::new(23e12, 6);
        assert_eq!(
            (axis.unit, labels(&axis.ticks)),
            ("TB", vec!["0", "5", "10", "15", "20", "25"])
        );
        assert_eq!(ByteAxis::new(0.0, 6).ticks[0].label, "0.0");
    }

    #[test]
    fn time_axes_choose_their_unit() {
        let week = TimeAxis::new(7 * DAY_NS, 12);
        assert_eq!(labels(&week.ticks), DAYS);
        let day = TimeAxis::new(DAY_NS, 10);
        assert_eq!(
            labels(&day.ticks),
            ["0", "3", "6", "9", "12", "15", "18", "21", "24"]
        );
        let month = TimeAxis::new(28 * DAY_NS, 10);
        assert_eq!(labels(&month.ticks), ["0", "7", "14", "21", "28"]);
        let hour = TimeAxis::new(3_600_000_000_000, 10);
        assert_eq!(hour.ticks.last().unwrap().label, "60");
        assert!(hour.title.starts_with("minutes"));
        let instant = TimeAxis::new(1, 10);
        assert!(instant.ticks.len() >= 2 && instant.title.starts_with("seconds"));
    }

    #[test]
    fn log_axes_are_labelled_in_round_numbers() {
        let ticks = log_ticks(1e3, 1e6, token_label);
        let expected = [
            "1K", "2K", "5K", "10K", "20K", "50K", "100K", "200K", "500K", "1M",
        ];
        assert_eq!(labels(&ticks), expected);
        assert_eq!(
            labels(&log_ticks(1e6, 1e11, byte_label))[..2],
            ["1 MB", "10 MB"]
        );
    }
}
