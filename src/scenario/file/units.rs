//! Units: written, never guessed. Tokens `20K`, times `90s`.

use super::number::{Decimal, Inexact, Wrong, is_not_finite, plain};

/// The longest time, ns: 100 years of 365 days. Sums of two such times fit a signed 64-bit clock.
pub const MAX_TIME_NS: u64 = 36_500 * DAY_NS;
/// The longest context, tokens (contexts are counted in 32 bits).
pub const MAX_TOKENS: u64 = u32::MAX as u64;
const SECOND_NS: u64 = 1_000_000_000;
const DAY_NS: u64 = 86_400 * SECOND_NS;

const TOKEN_UNITS: &str =
    "tokens are plain or take K (1e3), M (1e6), G (1e9), Ki, Mi, Gi (powers of 1024)";
const TIME_UNITS: &str = "a time needs one of ns, us, ms, s, m, h, d";

/// What a quantity is measured in: how its numbers are written, and what is checked.
pub trait Unit: 'static {
    /// Prefix of schema names.
    const NAME: &'static str;
    /// With an article, for sentences.
    const WHAT: &'static str;
    /// A few right values, for help.
    const EXAMPLE: &'static str;
    /// Pattern of a number with its unit.
    const PATTERN: &'static str;
    /// Whether plain numbers are fine.
    const PLAIN: bool;
    /// Whether it counts things, so that geometric and Poisson laws make sense.
    const COUNTS: bool;
    /// Whether it may be negative.
    const SIGNED: bool = false;
    /// Base units in the unit that `mu` is a logarithm of: 1e9 ns in a second.
    const MU_SCALE: f64 = 1.0;

    /// A parameter of a law, in base units (tokens, ns, ...): finite and not negative.
    fn real(text: &str) -> Result<f64, Wrong>;
    /// A constant, in base units.
    fn constant(text: &str) -> Result<f64, Wrong>;
}

/// Tokens.
#[derive(Clone, Debug)]
pub enum TokenCount {}
/// Times, in ns.
#[derive(Clone, Debug)]
pub enum Time {}
/// Counts of turns, steps, children.
#[derive(Clone, Debug)]
pub enum Counts {}
/// Plain numbers of either sign.
#[derive(Clone, Debug)]
pub enum Plain {}
/// Multipliers.
#[derive(Clone, Debug)]
pub enum Factor {}
/// Tokens of a summary, or a fraction of the context.
#[derive(Clone, Debug)]
pub enum Summary {}

/// Pattern of tokens and counts.
pub const TOKENS_PATTERN: &str =
    r"^\s*\+?([0-9][0-9_]*(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*([kKMG]|[KMG]i)?\s*$";
/// Pattern of times.
pub const TIME_PATTERN: &str =
    r"^\s*\+?(([0-9][0-9_]*(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*(ns|us|µs|ms|s|m|h|d)\s*)+$";

impl Unit for TokenCount {
    const NAME: &'static str = "Tokens";
    const WHAT: &'static str = "a token count";
    const EXAMPLE: &'static str = "15000, 20K or 1M";
    const PATTERN: &'static str = TOKENS_PATTERN;
    const PLAIN: bool = true;
    const COUNTS: bool = true;
    fn real(text: &str) -> Result<f64, Wrong> {
        scaled(text, "tokens")
    }
    fn constant(text: &str) -> Result<f64, Wrong> {
        tokens(text).map(|n| n as f64)
    }
}

impl Unit for Time {
    const NAME: &'static str = "Time";
    const WHAT: &'static str = "a time";
    const EXAMPLE: &'static str = "90s, 5m or 8h";
    const PATTERN: &'static str = TIME_PATTERN;
    const PLAIN: bool = false;
    const COUNTS: bool = false;
    const MU_SCALE: f64 = SECOND_NS as f64;
    fn real(text: &str) -> Result<f64, Wrong> {
        time_ns(text).map(|n| n as f64)
    }
    fn constant(text: &str) -> Result<f64, Wrong> {
        Self::real(text)
    }
}

impl Unit for Counts {
    const NAME: &'static str = "Count";
    const WHAT: &'static str = "a count";
    const EXAMPLE: &'static str = "1, 12 or 2K";
    const PATTERN: &'static str = TOKENS_PATTERN;
    const PLAIN: bool = true;
    const COUNTS: bool = true;
    fn real(text: &str) -> Result<f64, Wrong> {
        scaled(text, "counts")
    }
    fn constant(text: &str) -> Result<f64, Wrong> {
        count(text).map(|n| n as f64)
    }
}

impl Unit for Factor {
    const NAME: &'static str = "Factor";
    const WHAT: &'static str = "a factor";
    const EXAMPLE: &'static str = "1 or 0.8";
    const PATTERN: &'static str =
        r"^\s*\+?([0-9][0-9_]*(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$";
    const PLAIN: bool = true;
    const COUNTS: bool = true;
    fn real(text: &str) -> Result<f64, Wrong> {
        match plain(text)? {
            value if value > 1e9 => {
                Err(Wrong::new(format!("`{text}` is too large"), "at most 1e9"))
            }
            value => not_negative(text, value),
        }
    }
    fn constant(text: &str) -> Result<f64, Wrong> {
        Self::real(text)
    }
}

impl Unit for Plain {
    const NAME: &'static str = "Plain";
    const WHAT: &'static str = "a plain number";
    const EXAMPLE: &'static str = "0.8";
    const PATTERN: &'static str =
        r"^\s*[+-]?([0-9][0-9_]*(\.[0-9]+)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*$";
    const PLAIN: bool = true;
    const COUNTS: bool = false;
    const SIGNED: bool = true;
    fn real(text: &str) -> Result<f64, Wrong> {
        plain(text)
    }
    fn constant(text: &str) -> Result<f64, Wrong> {
        plain(text)
    }
}

impl Unit for Summary {
    const NAME: &'static str = "Summary";
    const WHAT: &'static str = "a summary's tokens, or a fraction of the context below 1";
    const EXAMPLE: &'static str = "20K or 0.3";
    const PATTERN: &'static str = TOKENS_PATTERN;
    const PLAIN: bool = true;
    const COUNTS: bool = true;
    fn real(text: &str) -> Result<f64, Wrong> {
        scaled(text, "tokens")
    }
    fn constant(text: &str) -> Result<f64, Wrong> {
        match scaled(text, "tokens")? {
            0.0 => Err(Wrong::new(
                "a summary of 0 tokens",
                "at least 1 token, or a fraction above 0",
            )),
            value if value < 1.0 => Ok(value),
            _ => tokens(text).map(|n| n as f64),
        }
    }
}

fn not_negative(text: &str, value: f64) -> Result<f64, Wrong> {
    if value < 0.0 {
        return Err(negative(text));
    }
    Ok(value)
}

pub(super) fn negative(text: &str) -> Wrong {
    Wrong::new(format!("`{text}` is negative"), "0 or more is needed")
}

pub(super) fn si(suffix: &str) -> Option<u64> {
    Some(match suffix {
        "" => 1,
        "k" | "K" => 1_000,
        "M" => 1_000_000,
        "G" => 1_000_000_000,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        _ => return None,
    })
}

/// The number at the start of `text` and what follows it, both for tokens and counts.
fn number_and_suffix<'a>(text: &'a str, what: &str) -> Result<(Decimal, u64), Wrong> {
    if is_not_finite(text) {
        return Err(Wrong::new(
            format!("`{text}` is not a finite number"),
            "a finite number is needed",
        ));
    }
    let Some((number, rest)) = Decimal::take(text) else {
        return Err(Wrong::new(
            format!("`{text}` is not a number of {what}"),
            TOKEN_UNITS,
        ));
    };
    let unit: &'a str = rest.trim();
    let Some(factor) = si(unit) else {
        let mut wrong = Wrong::new(format!("`{unit}` is not a unit of {what}"), TOKEN_UNITS);
        wrong.part = Some(text.len() - rest.trim_start().len()..text.trim_end().len());
        if matches!(
            unit,
            "ki" | "mi" | "gi" | "m" | "g" | "KB" | "MB" | "B" | "tokens" | "tok"
        ) {
            let plain = text[..text.len() - rest.len()].trim_end();
            wrong = wrong.help(format!("write `{plain}`, `{plain}K` or `{plain}M`"));
        }
        return Err(wrong);
    };
    if number.is_negative() {
        return Err(negative(text));
    }
    Ok((number, factor))
}

fn scaled(text: &str, what: &str) -> Result<f64, Wrong> {
    let text = text.trim();
    let (number, factor) = number_and_suffix(text, what)?;
    let value = number.value() * factor as f64;
    if value > MAX_TOKENS as f64 {
        return Err(Wrong::new(
            format!("`{text}` is too large"),
            format!("at most {MAX_TOKENS} (2^32 - 1)"),
        ));
    }
    Ok(value)
}

fn whole(text: &str, what: &str) -> Result<u64, Wrong> {
    let (number, factor) = number_and_suffix(text, what)?;
    number.times(factor).map_err(|why| match why {
        Inexact::Fraction => Wrong::new(
            format!("`{text}` is not a whole number of {what}"),
            "a whole number is needed",
        ),
        Inexact::TooLarge => Wrong::new(format!("`{text}` is too large"), "at most 2^64 - 1"),
    })
}

/// A whole number of tokens, at most [`MAX_TOKENS`].
pub fn tokens(text: &str) -> Result<u64, Wrong> {
    let text = text.trim();
    let value = whole(text, "tokens")?;
    if value > MAX_TOKENS {
        return Err(Wrong::new(
            format!("`{text}` is too large for a context"),
            format!("at most {MAX_TOKENS} tokens (2^32 - 1)"),
        ));
    }
    Ok(value)
}

/// A whole number, at most 2^32 - 1.
pub fn count(text: &str) -> Result<u64, Wrong> {
    let text = text.trim();
    let value = whole(text, "counts")?;
    if value > u64::from(u32::MAX) {
        return Err(Wrong::new(
            format!("`{text}` is too large"),
            format!("at most {}", u32::MAX),
        ));
    }
    Ok(value)
}

/// A time in ns, at most [`MAX_TIME_NS`]: `90s`, `1.5h`, `1h30m`.
pub fn time_ns(text: &str) -> Result<u64, Wrong> {
    let text = text.trim();
    if is_not_finite(text) {
        return Err(Wrong::new(
            format!("`{text}` is not a finite time"),
            TIME_UNITS,
        ));
    }
    let bad = || {
        Wrong::new(format!("`{text}` is not a time"), TIME_UNITS)
            .help("for example `90s`, `5m`, `1.5h` or `1h30m`")
    };
    let mut rest = text;
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let first = rest.len() == text.len();
        let Some((number, after)) = Decimal::take(rest) else {
            return Err(bad());
        };
        if !first && rest.starts_with(['-', '+']) {
            return Err(bad());
        }
        let after = after.trim_start();
        let end = after
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(after.len());
        let unit = &after[..end];
        let Some(factor) = time_unit(unit) else {
            if unit.is_empty() && after.is_empty() {
                return Err(Wrong::new(format!("`{text}` has no unit"), TIME_UNITS)
                    .help(format!("write `{text}s` for seconds")));
            }
            let mut wrong = Wrong::new(format!("`{unit}` is not a unit of time"), TIME_UNITS);
            if unit.is_empty() {
                return Err(bad());
            }
            let from = text.len() - after.len();
            wrong.part = Some(from..from + end);
            return Err(wrong);
        };
        if number.is_negative() {
            return Err(Wrong::new(
                format!("`{text}` is a negative time"),
                "0s or more is needed",
            ));
        }
        let too_long = || {
            Wrong::new(
                format!("`{text}` is too long"),
                format!("at most {}d", MAX_TIME_NS / DAY_NS),
            )
        };
        let part = number.times(factor).map_err(|why| match why {
            Inexact::Fraction => Wrong::new(
                format!("`{text}` is not a whole number of nanoseconds"),
                "time is counted in nanoseconds",
            ),
            Inexact::TooLarge => too_long(),
        })?;
        total = total
            .checked_add(part)
            .filter(|t| *t <= MAX_TIME_NS)
            .ok_or_else(too_long)?;
        rest = after[end..].trim_start();
    }
    if text.is_empty() {
        Err(bad())
    } else {
        Ok(total)
    }
}

/// ns in a unit of time.
pub fn time_unit(unit: &str) -> Option<u64> {
    Some(match unit {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => SECOND_NS,
        "m" => 60 * SECOND_NS,
        "h" => 3_600 * SECOND_NS,
        "d" => DAY_NS,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_tokens() {
        for (text, value) in [
            ("15000", 15_000),
            ("20K", 20_000),
            ("20k", 20_000),
            ("1M", 1_000_000),
            ("1Ki", 1024),
            ("1Mi", 1 << 20),
            ("1e6", 1_000_000),
            ("1_000_000", 1_000_000),
            ("148.5K", 148_500),
            (" 15 K ", 15_000),
            ("4294967295", 4_294_967_295),
        ] {
            assert_eq!(tokens(text), Ok(value), "{text}");
        }
        for text in [
            "",
            "K",
            "-1",
            "1.5",
            "5s",
            "20KB",
            "4294967296",
            ".nan",
            "1e400",
            "0x10",
            "1,000",
        ] {
            assert!(tokens(text).is_err(), "{text}");
        }
    }

    #[test]
    fn reads_times() {
        for (text, value) in [
            ("90s", 90_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("1h30m", 5_400_000_000_000),
            ("0s", 0),
            ("7200s", 7_200_000_000_000),
            ("10.4s", 10_400_000_000),
            ("2d", 172_800_000_000_000),
            ("5 m", 300_000_000_000),
            ("1e3us", 1_000_000),
            ("3µs", 3_000),
        ] {
            assert_eq!(time_ns(text), Ok(value), "{text}");
        }
        for text in [
            "", "9", "0", "5x", "s", "-5s", "5s 3", "0.1ns", "36501d", "inf", "1h-5m", "5M", "∞",
        ] {
            assert!(time_ns(text).is_err(), "{text}");
        }
    }
}
