//! Decimal numbers and units in text, exactly.

use std::ops::Range;

/// What is wrong with a scalar's text.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// What is wrong.
    pub title: String,
    /// What stands under the carets.
    pub label: String,
    /// What would be right.
    pub help: Option<String>,
    /// The bytes of the text at fault.
    pub part: Option<Range<usize>>,
}

impl Wrong {
    /// A mistake in the whole text.
    pub fn new(title: impl Into<String>, label: impl Into<String>) -> Wrong {
        Wrong {
            title: title.into(),
            label: label.into(),
            help: None,
            part: None,
        }
    }

    /// What would be right.
    pub fn help(mut self, help: impl Into<String>) -> Wrong {
        self.help = Some(help.into());
        self
    }
}

/// A decimal number as written: `digits * 10^exponent`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i32,
}

impl Decimal {
    /// Reads a number at the start of `text` and returns what follows it. Digits may be grouped
    /// by `_`; `1e6` is read; `1..3` is `1` and then `..3`.
    pub fn take(text: &str) -> Option<(Decimal, &str)> {
        let bytes = text.as_bytes();
        let mut at = 0;
        let negative = bytes.first() == Some(&b'-');
        if matches!(bytes.first(), Some(b'-' | b'+')) {
            at += 1;
        }
        let mut digits: u128 = 0;
        let mut exponent: i32 = 0;
        let mut any = false;
        let mut push = |byte: u8, fraction: bool| {
            // More digits than 30 do not fit; they are below any resolution here.
            if digits < 10u128.pow(30) {
                digits = digits * 10 + u128::from(byte - b'0');
                exponent -= i32::from(fraction);
            } else {
                exponent += i32::from(!fraction);
            }
        };
        let digit = |at: usize| bytes.get(at).filter(|b| b.is_ascii_digit()).copied();
        loop {
            match bytes.get(at) {
                Some(b) if b.is_ascii_digit() => push(*b, false),
                Some(b'_') if any && digit(at + 1).is_some() => {}
                _ => break,
            }
            any = true;
            at += 1;
        }
        if bytes.get(at) == Some(&b'.') && digit(at + 1).is_some() {
            at += 1;
            while let Some(b) = digit(at) {
                push(b, true);
                any = true;
                at += 1;
            }
        }
        if !any {
            return None;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(bytes.get(at + 1), Some(b'-' | b'+')));
            let from = at + 1 + sign;
            let mut to = from;
            while digit(to).is_some() {
                to += 1;
            }
            if to > from {
                // An exponent too long to read is far out of any range; so is 9999.
                let size: i32 = text[from..to].parse().unwrap_or(9999).min(9999);
                exponent += if text.as_bytes()[at + 1] == b'-' {
                    -size
                } else {
                    size
                };
                at = to;
            }
        }
        Some((
            Decimal {
                negative,
                digits,
                exponent,
            },
            &text[at..],
        ))
    }

    /// Whether it is below 0.
    pub fn is_negative(self) -> bool {
        self.negative && self.digits > 0
    }

    /// The number times `factor`, if that is a whole number in range. The sign is dropped.
    pub fn times(self, factor: u64) -> Result<u64, Inexact> {
        let mut digits = self.digits;
        let mut exponent = self.exponent;
        while digits != 0 && digits.is_multiple_of(10) && exponent < 0 {
            digits /= 10;
            exponent += 1;
        }
        if digits == 0 {
            return Ok(0);
        }
        if exponent >= 0 {
            let ten = u32::try_from(exponent)
                .ok()
                .and_then(|e| 10u128.checked_pow(e));
            let value = ten.and_then(|t| digits.checked_mul(t)?.checked_mul(u128::from(factor)));
            return value
                .and_then(|v| u64::try_from(v).ok())
                .ok_or(Inexact::TooLarge);
        }
        let scale = 10u128
            .checked_pow(exponent.unsigned_abs())
            .ok_or(Inexact::Fraction)?;
        // digits is at most 10^31 and factors are below 2^54, so only absurd input overflows.
        let value = digits
            .checked_mul(u128::from(factor))
            .ok_or(Inexact::TooLarge)?;
        if !value.is_multiple_of(scale) {
            return Err(Inexact::Fraction);
        }
        u64::try_from(value / scale).map_err(|_| Inexact::TooLarge)
    }

    /// The nearest double; infinite if out of range.
    pub fn value(self) -> f64 {
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}e{}", self.digits, self.exponent)
            .parse()
            .unwrap_or(f64::NAN)
    }
}

/// Why a number is not a whole number of the base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inexact {
    /// It has a fraction.
    Fraction,
    /// It does not fit 64 bits.
    TooLarge,
}

/// Whether the text spells a number that is not finite.
pub fn is_not_finite(text: &str) -> bool {
    let bare = text
        .trim_start_matches(['+', '-', '.'])
        .to_ascii_lowercase();
    matches!(bare.as_str(), "nan" | "inf" | "infinity")
}

/// A plain finite number without a unit.
pub fn plain(text: &str) -> Result<f64, Wrong> {
    let text = text.trim();
    if is_not_finite(text) {
        return Err(Wrong::new(
            format!("`{text}` is not a finite number"),
            "a finite number is needed",
        ));
    }
    match Decimal::take(text) {
        Some((number, "")) if number.value().is_finite() => Ok(number.value()),
        Some((_, "")) => Err(Wrong::new(
            format!("`{text}` is out of range"),
            "too large for a number",
        )),
        Some((_, rest)) => {
            let mut wrong = Wrong::new(
                format!("`{text}` is not a plain number"),
                format!("`{}` does not belong here", rest.trim()),
            );
            wrong.part = Some(text.len() - rest.trim_start().len()..text.len());
            Err(wrong)
        }
        None => Err(Wrong::new(
            format!("`{text}` is not a number"),
            "a number is needed",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_numbers() {
        for (text, value, rest) in [
            ("15000", 15000.0, ""),
            ("1_000_000", 1e6, ""),
            ("1e6", 1e6, ""),
            ("148.5K", 148.5, "K"),
            ("1..3", 1.0, "..3"),
            ("-2.50s", -2.5, "s"),
            (".5", 0.5, ""),
            ("1e", 1.0, "e"),
            ("7_", 7.0, "_"),
            ("1E-3", 1e-3, ""),
        ] {
            let (number, left) = Decimal::take(text).unwrap();
            assert_eq!((number.value(), left), (value, rest), "{text}");
        }
        assert_eq!(Decimal::take("K"), None);
        assert_eq!(Decimal::take("."), None);
        assert_eq!(Decimal::take("-"), None);
    }

    #[test]
    fn multiplies_exactly() {
        let times = |text: &str, factor| Decimal::take(text).unwrap().0.times(factor);
        assert_eq!(times("148.5", 1000), Ok(148_500));
        assert_eq!(times("1.5", 3_600_000_000_000), Ok(5_400_000_000_000));
        assert_eq!(times("0.0000000001", 1_000_000_000), Err(Inexact::Fraction));
        assert_eq!(times("1.0000", 1), Ok(1));
        assert_eq!(times("1.5", 1), Err(Inexact::Fraction));
        assert_eq!(times("1e30", 1), Err(Inexact::TooLarge));
        assert_eq!(times("1e9999", 1), Err(Inexact::TooLarge));
        assert_eq!(times("1e-9999", 1), Err(Inexact::Fraction));
        assert_eq!(times("18446744073709551615", 1), Ok(u64::MAX));
        assert_eq!(times("18446744073709551616", 1), Err(Inexact::TooLarge));
        let long = format!("0.{}", "3".repeat(5000));
        assert_eq!(times(&long, 1), Err(Inexact::Fraction));
        assert_eq!(times(&"9".repeat(5000), 1), Err(Inexact::TooLarge));
    }
}
