//! Numbers as a reader wants them, rounded in integers.

use crate::memory::Growth;

/// `1234567` as `1,234,567`.
pub(super) fn thousands(n: u128) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `bytes / unit` with `decimals` digits after the point, rounded half up in integers.
pub(super) fn scaled(bytes: u64, unit: u64, decimals: u32) -> String {
    let factor = 10u128.pow(decimals);
    let rounded = (2 * u128::from(bytes) * factor + u128::from(unit)) / (2 * u128::from(unit));
    let width = decimals as usize;
    format!(
        "{}.{:0width$}",
        thousands(rounded / factor),
        rounded % factor
    )
}

pub(super) fn giga(bytes: u64) -> String {
    scaled(bytes, 1_000_000_000, 3)
}

/// A fraction with at most `decimals` digits after the point, trailing zeros dropped.
pub(super) fn decimal(growth: Growth, decimals: u32) -> String {
    let factor = 10u128.pow(decimals);
    let rounded = (2 * growth.bytes * factor + growth.tokens) / (2 * growth.tokens);
    let (whole, fraction) = (thousands(rounded / factor), rounded % factor);
    let width = decimals as usize;
    let fraction = format!("{fraction:0width$}");
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        whole
    } else {
        format!("{whole}.{fraction}")
    }
}
