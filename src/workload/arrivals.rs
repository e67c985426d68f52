//! When sessions arrive: listed instants, or a renewal process on the clock of a weekly profile.

use super::draws::{Field, RunKey};
use super::sampler::Sampler;
use crate::scenario::{Arrivals, Law, LawKind, Profile, WorkloadEntry};
use std::iter::FusedIterator;

#[cfg(test)]
mod tests;

const HOUR_NS: u64 = 3_600_000_000_000;
const HOURS_A_WEEK: usize = 168;
const WEEK_NS: i128 = HOUR_NS as i128 * HOURS_A_WEEK as i128;

/// The arrivals of one workload entry in one replication: `(session number, time)` by ascending
/// time, from the start of the warm-up. Session numbers count from 0 at the start of the warm-up;
/// times are ns since then, so time 0 of the measured window is `warmup_ns`.
///
/// A renewal process draws gap k from [`Field::ArrivalGap`] at k, so other entries, and a longer
/// window, change no arrival. Gaps are gamma with mean 1 and the given coefficient of variation, in
/// expected arrivals; the k-th arrival is when the cumulative rate of the profile first exceeds the
/// sum of the first k gaps (inversion: E. Çinlar, "Introduction to Stochastic Processes", 1975, ch.
/// 4, for the Poisson case; I. Gerhardt and B. L. Nelson, "Transforming renewal processes for
/// simulation of nonstationary arrival processes", INFORMS J. Computing 21 (2009), 630-640, for
/// renewal processes). The first gap starts with the warm-up.
#[derive(Clone, Debug)]
pub struct ArrivalStream {
    process: Process,
    /// Number of the next session.
    next: u64,
    /// Arrivals are before this.
    end_ns: u64,
}

#[derive(Clone, Debug)]
enum Process {
    /// Ascending.
    Listed(Vec<u64>),
    Renewal(Box<Renewal>),
}

#[derive(Clone, Debug)]
struct Renewal {
    key: RunKey,
    gaps: Sampler,
    /// Expected arrivals in each local hour of the week.
    expected: [f64; HOURS_A_WEEK],
    /// The current hour of the week.
    hour: usize,
    /// When it began; up to an hour before the stream.
    hour_start_ns: i128,
    /// Expected arrivals from there to the last arrival: sums never grow beyond an hour's.
    passed: f64,
    last_ns: u64,
}

impl ArrivalStream {
    /// The arrivals of `entry`; `entry_key` is [`RunKey::entry`] of its name. They end before
    /// `warmup_ns + measure_ns`. An entry whose rate is 0 (or not a finite number) has none.
    pub fn new(
        entry: &WorkloadEntry,
        entry_key: RunKey,
        warmup_ns: u64,
        measure_ns: u64,
    ) -> ArrivalStream {
        let process = match &entry.arrivals {
            Arrivals::At(instants) => {
                let from_warmup = instants.iter().map(|at| at.saturating_add(warmup_ns));
                Process::Listed(from_warmup.collect())
            }
            Arrivals::Renewal {
                per_hour,
                cv,
                profile,
            } => {
                let expected = expected_by_hour(*per_hour, profile);
                if expected.iter().any(|&n| n > 0.0) {
                    let gaps = Sampler::new(&gap_law(*cv));
                    // Whole weeks change nothing.
                    let offset_hours = profile.utc_offset_hours % HOURS_A_WEEK as f64;
                    let offset_ns = (offset_hours * HOUR_NS as f64).round() as i128;
                    let start_ns = offset_ns - i128::from(warmup_ns);
                    Process::Renewal(Box::new(Renewal::new(entry_key, gaps, expected, start_ns)))
                } else {
                    Process::Listed(Vec::new())
                }
            }
        };
        ArrivalStream {
            process,
            next: 0,
            end_ns: warmup_ns.saturating_add(measure_ns),
        }
    }
}

impl Iterator for ArrivalStream {
    /// Session number, and ns since the start of the warm-up.
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let time_ns = match &mut self.process {
            Process::Listed(instants) => {
                let at = *instants.get(usize::try_from(self.next).ok()?)?;
                (at < self.end_ns).then_some(at)?
            }
            Process::Renewal(renewal) => renewal.advance(self.next, self.end_ns)?,
        };
        let session = self.next;
        self.next += 1;
        Some((session, time_ns))
    }
}

// Past the end the walk only goes on, so it stays past it.
impl FusedIterator for ArrivalStream {}

impl Renewal {
    /// `start_ns`: what the local clock shows at the start of the stream, since a Monday 00:00.
    fn new(key: RunKey, gaps: Sampler, expected: [f64; HOURS_A_WEEK], start_ns: i128) -> Renewal {
        let into_week = start_ns.rem_euclid(WEEK_NS);
        let hour_ns = i128::from(HOUR_NS);
        let (hour, into_hour) = ((into_week / hour_ns) as usize, into_week % hour_ns);
        Renewal {
            key,
            gaps,
            expected,
            hour,
            hour_start_ns: -into_hour,
            passed: expected[hour] * (into_hour as f64 / HOUR_NS as f64),
            last_ns: 0,
        }
    }

    /// The time of arrival `k`, if before `end_ns`. Walks hours only as they pass.
    fn advance(&mut self, k: u64, end_ns: u64) -> Option<u64> {
        let bits = self
            .key
            .draw(Field::ArrivalGap, (k >> 32) as u32, k as u32, 0);
        let mut gap = self.gaps.value(bits);
        loop {
            let expected = self.expected[self.hour];
            // Strictly before the hour's end, so that no arrival falls into an idle hour.
            if self.passed + gap < expected {
                self.passed += gap;
                let into_hour = self.passed * HOUR_NS as f64 / expected;
                let into_hour = (into_hour.round() as u64).min(HOUR_NS - 1);
                let time = self.hour_start_ns + i128::from(into_hour);
                // Rounding must not go back, nor before the stream's start.
                let time = u64::try_from(time).unwrap_or(0).max(self.last_ns);
                self.last_ns = time;
                return (time < end_ns).then_some(time);
            }
            gap = (gap - (expected - self.passed)).max(0.0);
            self.passed = 0.0;
            self.hour = (self.hour + 1) % HOURS_A_WEEK;
            self.hour_start_ns += i128::from(HOUR_NS);
            if self.hour_start_ns >= i128::from(end_ns) {
                return None;
            }
        }
    }
}

/// Gaps of mean 1: gamma of shape 1 / cv², which is exponential at cv = 1 and constant at 0.
fn gap_law(cv: f64) -> Law {
    let variance = cv * cv;
    let kind = if cv == 1.0 {
        LawKind::Exponential { mean: 1.0 }
    } else if variance > 0.0 {
        LawKind::Gamma {
            shape: 1.0 / variance,
            scale: variance,
        }
    } else {
        LawKind::Constant(1.0)
    };
    Law {
        kind,
        min: None,
        max: None,
    }
}

/// Expected arrivals in each local hour of the week, Monday first; 0 for what is not a rate.
fn expected_by_hour(per_hour: f64, profile: &Profile) -> [f64; HOURS_A_WEEK] {
    std::array::from_fn(|hour| {
        let rate = per_hour * profile.hourly[hour % 24];
        let active = profile.weekdays[hour / 24] && rate.is_finite() && rate > 0.0;
        if active { rate } else { 0.0 }
    })
}

/// Mean arrivals per second over a week; 0 for listed instants, which have no rate.
pub fn mean_rate_per_s(arrivals: &Arrivals) -> f64 {
    let sum: f64 = rates(arrivals).iter().sum();
    sum / HOURS_A_WEEK as f64 / 3600.0
}

/// The largest hourly rate of the week, in arrivals per second; 0 for listed instants.
pub fn peak_rate_per_s(arrivals: &Arrivals) -> f64 {
    rates(arrivals)
        .iter()
        .fold(0.0, |peak, &rate| rate.max(peak))
        / 3600.0
}

fn rates(arrivals: &Arrivals) -> [f64; HOURS_A_WEEK] {
    match arrivals {
        Arrivals::At(_) => [0.0; HOURS_A_WEEK],
        Arrivals::Renewal {
            per_hour, profile, ..
        } => expected_by_hour(*per_hour, profile),
    }
}
