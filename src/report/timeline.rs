//! `timeline.csv`: bytes over time, by bin, and the merged timeline that the charts draw.

use super::number::{Ratio, seconds};
use super::summary::csv_field;
use super::{BASIS, PLAN};
use crate::observe::results::{Bin, ModelRow, RunResult};

/// Names of the columns after `plan,model,basis,time_s`.
const COLUMNS: &str = "total,rep_low,rep_high,total_min,total_max,shared,kv,state,snapshot,\
    main,sync,async,running,tool,blocked,user,finished";

/// One bin over replications, bytes. Each split adds up to `total - shared`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedBin {
    /// Where it starts, ns since time 0.
    pub start_ns: u64,
    /// Its length, ns.
    pub length_ns: u64,
    /// Mean over replications of the time average.
    pub total: u64,
    /// Range over replications of the time average.
    pub rep_low: u64,
    pub rep_high: u64,
    /// True extremes inside the bin, over replications.
    pub min: u64,
    pub max: u64,
    /// Shared prompts.
    pub shared: u64,
    /// `kv`, `state`, `snapshot`.
    pub kind: [u64; 3],
    /// `main`, `sync`, `async`.
    pub owner: [u64; 3],
    /// `running`, `tool`, `blocked`, `user`, `finished`.
    pub activity: [u64; 5],
}

/// The timeline of a model, merged over replications.
pub fn merge(row: &ModelRow, result: &RunResult) -> Vec<MergedBin> {
    let count = row
        .replications
        .iter()
        .map(|r| r.bins.len())
        .max()
        .unwrap_or(0);
    (0..count).map(|i| merge_bin(row, i, result)).collect()
}

fn merge_bin(row: &ModelRow, index: usize, result: &RunResult) -> MergedBin {
    let start_ns = result.bin_ns.saturating_mul(index as u64);
    let length_ns = result
        .measure_ns
        .saturating_sub(start_ns)
        .min(result.bin_ns)
        .max(1);
    let bins: Vec<&Bin> = row
        .replications
        .iter()
        .filter_map(|r| r.bins.get(index))
        .collect();
    let den = u128::from(length_ns) * bins.len() as u128;
    let sum = |get: &dyn Fn(&Bin) -> u128| bins.iter().map(|b| get(b)).sum::<u128>();
    let shared = sum(&|b| b.shared);
    let mean = |b: &Bin| rounded(b.total, u128::from(length_ns));
    let split = |parts: Vec<u128>| cumulative(shared, &parts, den);
    MergedBin {
        start_ns,
        length_ns,
        total: rounded(sum(&|b| b.total), den),
        rep_low: bins.iter().map(|b| mean(b)).min().unwrap_or(0),
        rep_high: bins.iter().map(|b| mean(b)).max().unwrap_or(0),
        min: bins.iter().map(|b| b.min).min().unwrap_or(0),
        max: bins.iter().map(|b| b.max).max().unwrap_or(0),
        shared: rounded(shared, den),
        kind: array(split((0..3).map(|k| sum(&|b| b.kind[k])).collect())),
        owner: array(split((0..3).map(|k| sum(&|b| b.owner[k])).collect())),
        activity: array(split((0..5).map(|k| sum(&|b| b.activity[k])).collect())),
    }
}

fn rounded(num: u128, den: u128) -> u64 {
    u64::try_from(Ratio::new(num, den).round()).unwrap_or(u64::MAX)
}

/// Rounds running sums that start with `first`, and takes differences: the parts are whole, each
/// is within 1 of its value, and together with `first` they add up to the rounded total.
fn cumulative(first: u128, parts: &[u128], den: u128) -> Vec<u64> {
    let mut sum = first;
    let mut before = rounded(sum, den);
    let mut out = Vec::with_capacity(parts.len());
    for part in parts {
        sum += part;
        let now = rounded(sum, den);
        out.push(now - before);
        before = now;
    }
    out
}

fn array<const N: usize>(values: Vec<u64>) -> [u64; N] {
    std::array::from_fn(|i| values.get(i).copied().unwrap_or(0))
}

/// `timeline.csv`. All figures are whole bytes; `time_s` is the start of the bin.
pub fn csv(result: &RunResult) -> String {
    let mut out = format!("plan,model,basis,time_s,{COLUMNS}\n");
    for row in &result.rows {
        let head = format!("{PLAN},{},{BASIS},", csv_field(&row.model.label));
        for bin in merge(row, result) {
            out += &head;
            out += &seconds(bin.start_ns);
            let totals = [
                bin.total,
                bin.rep_low,
                bin.rep_high,
                bin.min,
                bin.max,
                bin.shared,
            ];
            let splits = bin.kind.iter().chain(&bin.owner).chain(&bin.activity);
            for value in totals.iter().chain(splits) {
                out.push(',');
                out += &value.to_string();
            }
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_split_adds_up_as_printed() {
        let (_, mut result) = sample::week(3, 3);
        result.measure_ns -= 1_234_567; // the last bin is shorter
        let text = csv(&result);
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().unwrap().clone();
        assert_eq!(
            header.iter().collect::<Vec<_>>().join(","),
            format!("plan,model,basis,time_s,{COLUMNS}")
        );
        let mut rows = 0;
        for record in reader.records() {
            let record = record.unwrap();
            let n: Vec<u64> = (4..21).map(|i| record[i].parse().unwrap()).collect();
            let held = n[0] - n[5];
            assert_eq!(n[6..9].iter().sum::<u64>(), held);
            assert_eq!(n[9..12].iter().sum::<u64>(), held);
            assert_eq!(n[12..17].iter().sum::<u64>(), held);
            assert!(n[3] <= n[1] && n[1] <= n[0] && n[0] <= n[2] && n[2] <= n[4]);
            rows += 1;
        }
        assert_eq!(
            rows,
            result
                .rows
                .iter()
                .map(|r| r.replications[0].bins.len())
                .sum::<usize>()
        );
    }

    #[test]
    fn a_short_last_bin_is_averaged_over_its_own_length() {
        let (_, mut result) = sample::week(1, 1);
        result.bin_ns = 10;
        result.measure_ns = 14;
        let bin = Bin {
            total: 40,
            min: 10,
            max: 10,
            kind: [40, 0, 0],
            ..Bin::default()
        };
        result.rows[0].replications[0].bins = vec![Bin { total: 100, ..bin }, bin];
        let merged = merge(&result.rows[0], &result);
        assert_eq!((merged[0].total, merged[1].total), (10, 10));
        assert_eq!(
            csv(&result).lines().nth(2).unwrap().split(',').nth(3),
            Some("0.00000001")
        );
    }

    proptest! {
        #[test]
        fn cumulative_rounding_keeps_the_sum_and_is_close(
            first in 0u128..1_000_000, parts in prop::collection::vec(0u128..1_000_000, 1..6),
            den in 1u128..5_000,
        ) {
            let total = rounded(first + parts.iter().sum::<u128>(), den);
            let out = cumulative(first, &parts, den);
            prop_assert_eq!(rounded(first, den) + out.iter().sum::<u64>(), total);
            for (rounded, exact) in out.iter().zip(&parts) {
                prop_assert!((*rounded as f64 - *exact as f64 / den as f64).abs() <= 1.0);
            }
        }
    }
}
