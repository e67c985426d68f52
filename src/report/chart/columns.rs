//! Bins to pixel columns, without losing a peak at any width.

use std::ops::Range;

/// Neighbouring bins that start in one pixel column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Left and right edge, whole px.
    pub x0: f64,
    pub x1: f64,
    /// Indices of its bins; never empty.
    pub bins: Range<usize>,
}

/// Groups `count` bins by the pixel column in which they start (`start(i)`, px, ascending). Every
/// bin is in exactly one column, and columns tile the plot up to `right`.
pub fn columns(count: usize, start: impl Fn(usize) -> f64, right: f64) -> Vec<Column> {
    let mut out: Vec<Column> = Vec::new();
    for i in 0..count {
        // The last pixel belongs to the plot even if a bin starts beyond it by rounding.
        let x = start(i).floor().min((right - 1.0).floor());
        match out.last_mut() {
            Some(last) if last.x0 >= x => last.bins.end = i + 1,
            Some(last) => {
                last.x1 = x;
                out.push(Column {
                    x0: x,
                    x1: right,
                    bins: i..i + 1,
                });
            }
            None => out.push(Column {
                x0: x,
                x1: right,
                bins: i..i + 1,
            }),
        }
    }
    out
}

/// A step line through `value(i)`: each column is entered at its first bin, visits its least and
/// greatest, and leaves at its last.
pub fn steps(columns: &[Column], value: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
    let mut out = Vec::with_capacity(columns.len() * 2);
    for column in columns {
        let values = || column.bins.clone().map(&value);
        let (first, last) = (value(column.bins.start), value(column.bins.end - 1));
        out.push((column.x0, first));
        if column.bins.len() > 2 {
            out.push((column.x0, values().fold(f64::INFINITY, f64::min)));
            out.push((column.x0, values().fold(f64::NEG_INFINITY, f64::max)));
        }
        out.push((column.x0, last));
        out.push((column.x1, last));
    }
    out
}

/// A step line through the greatest `value(i)` of each column.
pub fn upper(columns: &[Column], value: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
    extreme(columns, |c| {
        c.bins.clone().map(&value).fold(f64::NEG_INFINITY, f64::max)
    })
}

/// A step line through the least `value(i)` of each column.
pub fn lower(columns: &[Column], value: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
    extreme(columns, |c| {
        c.bins.clone().map(&value).fold(f64::INFINITY, f64::min)
    })
}

/// A step line with one value per column.
pub fn extreme(columns: &[Column], value: impl Fn(&Column) -> f64) -> Vec<(f64, f64)> {
    columns
        .iter()
        .flat_map(|c| [(c.x0, value(c)), (c.x1, value(c))])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_one_bin_spike_is_drawn_at_any_width(
            count in 1usize..5_000, width in 1.0f64..2_000.0, at in 0.0f64..1.0, dip in any::<bool>(),
        ) {
            let spike = ((count as f64 * at) as usize).min(count - 1);
            let value = |i: usize| if i == spike { if dip { -9.0 } else { 9.0 } } else { 1.0 };
            let start = |i: usize| 100.0 + width * i as f64 / count as f64;
            let columns = columns(count, start, 100.0 + width);
            let drawn = |line: Vec<(f64, f64)>| line.iter().any(|p| p.1 == value(spike));
            prop_assert!(drawn(steps(&columns, value)));
            let envelope = if dip { lower(&columns, value) } else { upper(&columns, value) };
            prop_assert!(drawn(envelope));
            // Every bin is in one column, in order, and columns tile the plot.
            let mut next = 0;
            for pair in columns.windows(2) {
                prop_assert_eq!(pair[0].x1, pair[1].x0);
            }
            for c in &columns {
                prop_assert_eq!(c.bins.start, next);
                next = c.bins.end;
            }
            prop_assert_eq!(next, count);
        }
    }
}
