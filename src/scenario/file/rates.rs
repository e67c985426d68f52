//! Rates: `60 tok/s` and `1200/h`.

use super::number::{Decimal, Inexact, Wrong, is_not_finite};
use super::units::{negative, si};

/// Micro-tokens per second: `8000 tok/s`, `8K tok/s`.
pub fn token_rate(text: &str) -> Result<u64, Wrong> {
    const UNITS: &str = "a token rate needs the unit tok/s";
    let text = text.trim();
    let bad = || {
        Wrong::new(format!("`{text}` is not a token rate"), UNITS)
            .help("for example `8000 tok/s` or `8K tok/s`")
    };
    if is_not_finite(text) {
        return Err(bad());
    }
    let (number, rest) = Decimal::take(text).ok_or_else(bad)?;
    let unit = rest.trim();
    let prefix = ["tokens/s", "token/s", "tok/s"]
        .iter()
        .find_map(|u| unit.strip_suffix(u));
    let Some(factor) = prefix.and_then(|p| si(p.trim_end())) else {
        if unit.is_empty() {
            return Err(Wrong::new(format!("`{text}` has no unit"), UNITS)
                .help(format!("write `{text} tok/s`")));
        }
        let mut wrong = Wrong::new(format!("`{unit}` is not a unit of token rates"), UNITS);
        wrong.part = Some(text.len() - unit.len()..text.len());
        return Err(wrong);
    };
    if number.is_negative() {
        return Err(negative(text));
    }
    // The bounds keep the time of the longest context countable in 64-bit ns.
    match number.times(factor * 1_000_000) {
        Ok(0) => Err(Wrong::new("a rate of 0", "a rate above 0 is needed")),
        Ok(rate) if rate < 1_000 => Err(Wrong::new(
            format!("`{text}` is too slow"),
            "at least 0.001 tok/s",
        )),
        Ok(rate) if rate <= 1_000_000_000_000_000 => Ok(rate),
        Ok(_) | Err(Inexact::TooLarge) => Err(Wrong::new(
            format!("`{text}` is too fast"),
            "at most 1e9 tok/s",
        )),
        Err(Inexact::Fraction) => Err(Wrong::new(
            format!("`{text}` is finer than a millionth of a token per second"),
            "at most 6 decimals",
        )),
    }
}

/// Events per hour: `1200/h`.
pub fn per_hour(text: &str) -> Result<f64, Wrong> {
    const UNITS: &str = "a rate needs one of /s, /m, /h, /d";
    let text = text.trim();
    let bad = || Wrong::new(format!("`{text}` is not a rate"), UNITS).help("for example `1200/h`");
    if is_not_finite(text) {
        return Err(bad());
    }
    let (number, rest) = Decimal::take(text).ok_or_else(bad)?;
    let rest = rest.trim();
    let Some((prefix, unit)) = rest.split_once('/') else {
        if rest.is_empty() {
            return Err(Wrong::new(format!("`{text}` has no unit"), UNITS)
                .help(format!("write `{text}/h` for per hour")));
        }
        return Err(bad());
    };
    let factor = match unit.trim() {
        "s" => 3600.0,
        "m" => 60.0,
        "h" => 1.0,
        "d" => 1.0 / 24.0,
        unit => {
            let mut wrong = Wrong::new(format!("`/{unit}` is not a unit of rates"), UNITS);
            wrong.part = Some(text.len() - rest.len()..text.len());
            return Err(wrong);
        }
    };
    let prefix = si(prefix.trim()).ok_or_else(bad)?;
    if number.is_negative() {
        return Err(negative(text));
    }
    let value = number.value() * prefix as f64 * factor;
    match value {
        0.0 => Err(Wrong::new("a rate of 0", "a rate above 0 is needed")),
        v if v > 1e12 => Err(Wrong::new(
            format!("`{text}` is too fast"),
            "at most 1e12/h",
        )),
        v => Ok(v),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rates() {
        assert_eq!(token_rate("8000 tok/s"), Ok(8_000_000_000));
        assert_eq!(token_rate("8K tok/s"), Ok(8_000_000_000));
        assert_eq!(token_rate("62.5tok/s"), Ok(62_500_000));
        for text in [
            "8000",
            "0 tok/s",
            "-1 tok/s",
            "1e-7 tok/s",
            "60 tok/min",
            "1e10 tok/s",
            "x",
        ] {
            assert!(token_rate(text).is_err(), "{text}");
        }
        assert_eq!(per_hour("1200/h"), Ok(1200.0));
        assert_eq!(per_hour("2 / s"), Ok(7200.0));
        assert_eq!(per_hour("1.2K/d"), Ok(50.0));
        for text in ["1200", "0/h", "-1/h", "1/w", "/h", "1e30/s", ".nan"] {
            assert!(per_hour(text).is_err(), "{text}");
        }
    }
}
