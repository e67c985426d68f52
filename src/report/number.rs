//! Numbers for files (exact decimals) and for readers (units, few digits). Nothing here ever
//! writes scientific notation.

/// A non-negative rational `whole + rem / den`, exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    whole: u128,
    rem: u128,
    den: u128,
}

/// Decimals printed when a fraction does not end.
const DECIMALS: usize = 9;
/// A fraction that ends within this many decimals is printed exactly.
const EXACT_DECIMALS: usize = 12;

impl Ratio {
    /// `num / den`; a zero denominator counts as 1, so that an empty window gives zeros.
    pub fn new(num: u128, den: u128) -> Ratio {
        let den = den.max(1);
        Ratio {
            whole: num / den,
            rem: num % den,
            den,
        }
    }

    /// The mean of `values / den`. Cannot overflow: whole parts and remainders are summed apart.
    pub fn mean(values: impl ExactSizeIterator<Item = u128>, den: u128) -> Ratio {
        let den = den.max(1) * (values.len() as u128).max(1);
        let (mut whole, mut rem) = (0u128, 0u128);
        for v in values {
            whole += v / den;
            rem += v % den;
        }
        Ratio {
            whole: whole + rem / den,
            rem: rem % den,
            den,
        }
    }

    /// Rounds half up to an integer.
    pub fn round(&self) -> u128 {
        // rem < den, so `den - rem` cannot wrap.
        self.whole + u128::from(self.rem >= self.den - self.rem && self.rem > 0)
    }

    /// The nearest double, for charts and intervals.
    pub fn to_f64(self) -> f64 {
        self.whole as f64 + self.rem as f64 / self.den as f64
    }

    /// As a decimal: exact if it ends within 12 decimals, else rounded half up to 9.
    pub fn decimal(&self) -> String {
        if self.rem == 0 {
            return self.whole.to_string();
        }
        let Some(exact) = self.digits(EXACT_DECIMALS) else {
            return self.rounded(DECIMALS);
        };
        exact
    }

    /// The exact decimal if it ends within `limit` decimals.
    fn digits(&self, limit: usize) -> Option<String> {
        let (mut rem, mut out) = (self.rem, String::new());
        while rem > 0 {
            if out.len() == limit {
                return None;
            }
            let scaled = rem.checked_mul(10)?;
            out.push(char::from(b'0' + (scaled / self.den) as u8));
            rem = scaled % self.den;
        }
        Some(format!("{}.{out}", self.whole))
    }

    /// Rounded half up to `decimals` decimals, trailing zeros removed.
    fn rounded(&self, decimals: usize) -> String {
        let unit = 10u128.pow(decimals as u32);
        let scaled = match self.rem.checked_mul(unit) {
            Some(n) => Ratio::new(n, self.den).round(),
            // Denominators beyond 3e29: doubles carry 15 digits of the fraction.
            None => ((self.rem as f64 / self.den as f64) * unit as f64).round() as u128,
        };
        let (whole, fraction) = (self.whole + scaled / unit, scaled % unit);
        let digits = format!("{fraction:0decimals$}");
        match digits.trim_end_matches('0') {
            "" => whole.to_string(),
            d => format!("{whole}.{d}"),
        }
    }
}

/// A double as a plain decimal with about 12 significant digits, at most 9 decimals.
pub fn decimal(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    let magnitude = if value == 0.0 {
        0
    } else {
        value.abs().log10().floor() as i32
    };
    let decimals = (11 - magnitude).clamp(0, DECIMALS as i32) as usize;
    let text = format!("{value:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    if text == "-0" {
        "0".to_string()
    } else {
        text.to_string()
    }
}

/// Nanoseconds as exact decimal seconds.
pub fn seconds(ns: u64) -> String {
    Ratio::new(u128::from(ns), 1_000_000_000).decimal()
}

/// A decimal unit of bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByteUnit {
    /// Its symbol.
    pub name: &'static str,
    /// Bytes in one.
    pub bytes: f64,
}

/// Decimal units (1 KB = 1e3 B), as in scenario files.
const BYTE_UNITS: [ByteUnit; 7] = [
    ByteUnit {
        name: "B",
        bytes: 1.0,
    },
    ByteUnit {
        name: "KB",
        bytes: 1e3,
    },
    ByteUnit {
        name: "MB",
        bytes: 1e6,
    },
    ByteUnit {
        name: "GB",
        bytes: 1e9,
    },
    ByteUnit {
        name: "TB",
        bytes: 1e12,
    },
    ByteUnit {
        name: "PB",
        bytes: 1e15,
    },
    ByteUnit {
        name: "EB",
        bytes: 1e18,
    },
];

impl ByteUnit {
    /// The largest unit that writes `largest` as 1 or more.
    pub fn for_max(largest: f64) -> ByteUnit {
        let fits = BYTE_UNITS.iter().rev().find(|u| largest.abs() >= u.bytes);
        *fits.unwrap_or(&BYTE_UNITS[0])
    }
}

/// Bytes for a reader: three significant digits and a unit, `1.23 TB`.
pub fn bytes(value: f64) -> String {
    scaled(value, &BYTE_UNITS.map(|u| (u.bytes, u.name)), " ")
}

/// A count for a reader: three significant digits, `12.3K` (1 K = 1e3).
pub fn count(value: f64) -> String {
    scaled(
        value,
        &[(1.0, ""), (1e3, "K"), (1e6, "M"), (1e9, "G"), (1e12, "T")],
        "",
    )
}

fn scaled(value: f64, units: &[(f64, &str)], gap: &str) -> String {
    let magnitude = value.abs();
    // 999.5 would print as 1000: the next unit takes over there.
    let at = units
        .iter()
        .rposition(|(size, _)| magnitude >= size * 0.9995)
        .unwrap_or(0);
    let (size, name) = units[at];
    let number = significant(value / size, 3);
    // Whole small counts and bytes stay whole.
    let number = if size == 1.0 && value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        number
    };
    if name.is_empty() {
        number
    } else {
        format!("{number}{gap}{name}")
    }
}

/// A value of at most a few thousand with `digits` significant digits, as a plain decimal.
pub fn significant(value: f64, digits: i32) -> String {
    // The exponent after rounding: 9.996 has three digits as 10.0.
    let rounded = format!("{value:.*e}", (digits - 1).max(0) as usize);
    let exponent = rounded
        .split('e')
        .nth(1)
        .and_then(|e| e.parse::<i32>().ok())
        .unwrap_or(0);
    let decimals = (digits - 1 - exponent).clamp(0, 6) as usize;
    format!("{value:.decimals$}")
}

/// A fraction as a percentage with one decimal, `81.3%`.
pub fn percent(fraction: f64) -> String {
    let text = format!("{:.1}%", fraction * 100.0);
    if text == "-0.0%" {
        "0.0%".to_string()
    } else {
        text
    }
}

/// Names of the days; time 0 is Monday 00:00.
pub const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

/// An instant of the window for a reader: `Tue 14:05` in a window of two days or more, else
/// `14:05:09`; days beyond the first week carry their number: `Tue d8 14:05`.
pub fn instant(ns: u64, measure_ns: u64) -> String {
    let s = ns / 1_000_000_000;
    let (day, h, m, s) = (s / 86_400, s / 3600 % 24, s / 60 % 60, s % 60);
    if measure_ns < 2 * DAY_NS {
        return format!("{:02}:{m:02}:{s:02}", day * 24 + h);
    }
    let name = DAYS[(day % 7) as usize];
    match measure_ns > 7 * DAY_NS {
        true => format!("{name} d{day} {h:02}:{m:02}"),
        false => format!("{name} {h:02}:{m:02}"),
    }
}

/// Nanoseconds in a day.
pub const DAY_NS: u64 = 86_400_000_000_000;

/// A duration for a reader in its largest whole unit: `7 days`, `24 h`, `90 min`, `12.5 s`.
pub fn duration(ns: u64) -> String {
    let units = [
        (DAY_NS, "days", 2),
        (3_600_000_000_000, "h", 1),
        (60_000_000_000, "min", 2),
    ];
    for (unit, name, least) in units {
        if ns >= least * unit && ns.is_multiple_of(unit) {
            return format!("{} {name}", ns / unit);
        }
    }
    match ns {
        0 => "0 s".to_string(),
        n if n >= 2 * DAY_NS => format!("{} days", significant(n as f64 / DAY_NS as f64, 3)),
        n if n >= 3_600_000_000_000 => format!("{} h", significant(n as f64 / 3.6e12, 3)),
        n => format!("{} s", seconds(n)),
    }
}

/// Columns a text takes on a terminal: East Asian wide characters take two, combining marks none.
pub fn display_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    match c as u32 {
        0x0300..=0x036f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff => 2,
        0xfe30..=0xfe6f | 0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff => 2,
        0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// `text` cut to `width` terminal columns, with an ellipsis if anything is lost. Control
/// characters become spaces, so that a name cannot break a table.
pub fn clip(text: &str, width: usize) -> String {
    let clean: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if display_width(&clean) <= width {
        return clean;
    }
    let (mut out, mut used) = (String::new(), 0);
    for c in clean.chars() {
        if used + char_width(c) + 1 > width {
            break;
        }
        used += char_width(c);
        out.push(c);
    }
    out.push('…');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_print_exactly_where_they_end() {
        assert_eq!(Ratio::new(7, 1).decimal(), "7");
        assert_eq!(Ratio::new(7, 8).decimal(), "0.875");
        assert_eq!(Ratio::new(1, 3).decimal(), "0.333333333");
        assert_eq!(Ratio::new(2, 3).decimal(), "0.666666667");
        assert_eq!(
            Ratio::new(2_999_999_999_999, 3_000_000_000_000).decimal(),
            "1"
        );
        assert_eq!(seconds(584_862_500_000), "584.8625");
        assert_eq!(seconds(1), "0.000000001");
    }

    #[test]
    fn a_mean_of_the_largest_integers_does_not_overflow() {
        let mean = Ratio::mean([u128::MAX, u128::MAX, u128::MAX].into_iter(), 1);
        assert_eq!(mean.decimal(), u128::MAX.to_string());
        let half = Ratio::mean([u128::MAX, u128::MAX - 1].into_iter(), 1);
        assert_eq!(half.decimal(), format!("{}.5", u128::MAX - 1));
    }

    #[test]
    fn ratios_round_half_up() {
        let rounded = |n, d| Ratio::new(n, d).round();
        assert_eq!(
            [rounded(1, 2), rounded(1, 3), rounded(5, 2), rounded(4, 2)],
            [1, 0, 3, 2]
        );
        assert_eq!(rounded(0, 1), 0);
    }

    #[test]
    fn doubles_are_never_scientific() {
        assert_eq!(decimal(1e30), "1000000000000000019884624838656");
        assert_eq!(decimal(0.125), "0.125");
        assert_eq!(decimal(-1e-12), "0");
        assert_eq!(decimal(123.456), "123.456");
        assert_eq!(decimal(f64::NAN), "");
    }

    #[test]
    fn readers_get_units_they_know() {
        assert_eq!(bytes(0.0), "0 B");
        assert_eq!(bytes(999.0), "999 B");
        assert_eq!(bytes(999_960.0), "1.00 MB");
        assert_eq!(bytes(1.2345e12), "1.23 TB");
        assert_eq!(bytes(9.996e9), "10.0 GB");
        assert_eq!(bytes(-81.26e9), "-81.3 GB");
        assert_eq!(bytes(4.2e18), "4.20 EB");
        assert_eq!(count(45_210.0), "45.2K");
        assert_eq!(count(7.0), "7");
        assert_eq!(percent(-0.0001), "0.0%");
    }

    #[test]
    fn instants_and_durations() {
        assert_eq!(instant(DAY_NS + 3_660_000_000_000, 7 * DAY_NS), "Tue 01:01");
        assert_eq!(instant(3_661_000_000_000, DAY_NS), "01:01:01");
        assert_eq!(instant(8 * DAY_NS, 14 * DAY_NS), "Tue d8 00:00");
        assert_eq!(duration(7 * DAY_NS), "7 days");
        assert_eq!(duration(DAY_NS), "24 h");
        assert_eq!(duration(90_000_000_000), "90 s");
        assert_eq!(duration(5_400_000_000_000), "90 min");
    }

    #[test]
    fn clipping_counts_columns() {
        assert_eq!(clip("abcdef", 6), "abcdef");
        assert_eq!(clip("abcdefg", 6), "abcde…");
        assert_eq!(display_width(&clip("模型模型模型", 6)), 5);
        assert_eq!(clip("a\nb", 6), "a b");
    }
}
