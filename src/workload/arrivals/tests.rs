use super::*;

const DAY_NS: u64 = 24 * HOUR_NS;
const SECOND_NS: u64 = 1_000_000_000;

fn flat() -> Profile {
    Profile {
        hourly: [1.0; 24],
        weekdays: [true; 7],
        utc_offset_hours: 0.0,
    }
}

/// 08:00 to 20:00 on working days.
fn office() -> Profile {
    Profile {
        hourly: std::array::from_fn(|h| if (8..20).contains(&h) { 2.0 } else { 0.0 }),
        weekdays: [true, true, true, true, true, false, false],
        utc_offset_hours: 0.0,
    }
}

fn entry(name: &str, arrivals: Arrivals) -> WorkloadEntry {
    WorkloadEntry {
        name: name.to_owned(),
        agent: 0,
        arrivals,
    }
}

fn renewal(per_hour: f64, cv: f64, profile: Profile) -> WorkloadEntry {
    let arrivals = Arrivals::Renewal {
        per_hour,
        cv,
        profile,
    };
    entry("developers", arrivals)
}

fn stream(entry: &WorkloadEntry, warmup_ns: u64, measure_ns: u64) -> ArrivalStream {
    let key = RunKey::entry(11, 0, &entry.name);
    ArrivalStream::new(entry, key, warmup_ns, measure_ns)
}

fn times(entry: &WorkloadEntry, warmup_ns: u64, measure_ns: u64) -> Vec<u64> {
    stream(entry, warmup_ns, measure_ns)
        .map(|(_, time)| time)
        .collect()
}

/// Arrivals in each local hour of the week, for a stream that starts on a Monday 00:00 local time.
fn by_hour_of_week(times: &[u64]) -> [u64; HOURS_A_WEEK] {
    let mut counts = [0; HOURS_A_WEEK];
    for time in times {
        counts[(time / HOUR_NS) as usize % HOURS_A_WEEK] += 1;
    }
    counts
}

#[test]
fn listed_instants_are_relative_to_the_window() {
    let at = entry("once", Arrivals::At(vec![0, 5, 5, 99, 100, 250]));
    let got: Vec<_> = stream(&at, 1000, 100).collect();
    assert_eq!(got, [(0, 1000), (1, 1005), (2, 1005), (3, 1099)]);
    assert_eq!(stream(&at, u64::MAX, 100).count(), 0);
    assert_eq!(mean_rate_per_s(&at.arrivals), 0.0);
}

#[test]
fn cv_zero_is_evenly_spaced() {
    for per_hour in [1200.0, 7.0, 0.7, 3600.0, 1100.0] {
        let got = times(&renewal(per_hour, 0.0, flat()), 12 * HOUR_NS, 400 * DAY_NS);
        // The last one, at the very end, is outside.
        let expected = 400.5 * 24.0 * per_hour;
        assert!((got.len() as f64 - expected).abs() <= 1.5, "{}", got.len());
        for (k, time) in got.iter().enumerate() {
            let exact = (k + 1) as f64 * 3.6e12 / per_hour;
            assert!(
                (*time as f64 - exact).abs() <= 4.0,
                "{per_hour}/h: arrival {k} at {time} for {exact}"
            );
        }
    }
    let got = times(&renewal(1200.0, 0.0, flat()), HOUR_NS, HOUR_NS);
    let exact: Vec<u64> = (1..2400).map(|k| k * 3 * SECOND_NS).collect();
    assert_eq!(got, exact);
}

#[test]
fn evenly_spaced_arrivals_skip_idle_hours() {
    // 100 an hour from 08:00 to 20:00: each day's last would be at 20:00, and opens the next day.
    let got = times(&renewal(50.0, 0.0, office()), 0, 14 * DAY_NS);
    let counts = by_hour_of_week(&got);
    for (hour, &count) in counts.iter().enumerate() {
        let active = hour / 24 < 5 && (8..20).contains(&(hour % 24));
        if active {
            assert!((199..=200).contains(&count), "hour {hour}: {count}");
        } else {
            assert_eq!(count, 0, "hour {hour}");
        }
    }
    assert!(got.contains(&(DAY_NS + 8 * HOUR_NS)));
}

#[test]
fn poisson_counts_have_equal_mean_and_variance() {
    let (rate, hours) = (40.0, 24 * 7 * 60);
    let got = times(&renewal(rate, 1.0, flat()), 0, hours * HOUR_NS);
    let mut counts = vec![0.0; hours as usize];
    for time in got {
        counts[(time / HOUR_NS) as usize] += 1.0;
    }
    let n = hours as f64;
    let mean = counts.iter().sum::<f64>() / n;
    let variance = counts.iter().map(|c| (c - mean) * (c - mean)).sum::<f64>() / (n - 1.0);
    // Four standard errors: sqrt(rate / n) for the mean, rate sqrt(2 / n) for the variance.
    assert!((mean - rate).abs() < 4.0 * (rate / n).sqrt(), "mean {mean}");
    assert!(
        (variance - rate).abs() < 4.0 * rate * (2.0 / n).sqrt(),
        "variance {variance}"
    );
    // Consecutive hours are independent.
    let pairs = counts.windows(2).map(|w| (w[0] - mean) * (w[1] - mean));
    let correlation = pairs.sum::<f64>() / (n * variance);
    assert!(
        correlation.abs() < 4.0 / n.sqrt(),
        "correlation {correlation}"
    );
}

#[test]
fn gaps_have_the_given_mean_and_cv() {
    for cv in [0.2, 0.5, 1.0, 1.5, 3.0] {
        let got = times(&renewal(3600.0, cv, flat()), 0, 100 * HOUR_NS);
        let gaps: Vec<f64> = got.windows(2).map(|w| (w[1] - w[0]) as f64 / 1e9).collect();
        let n = gaps.len() as f64;
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|g| (g - mean) * (g - mean)).sum::<f64>() / n;
        assert!(
            (mean - 1.0).abs() < 4.0 * cv / n.sqrt(),
            "cv {cv}: mean {mean}"
        );
        // Gamma kurtosis 3 + 6 cv²: the variance's relative standard error is sqrt((2 + 6 cv²) / n).
        let error = ((2.0 + 6.0 * cv * cv) / n).sqrt();
        let ratio = variance / (cv * cv);
        assert!(
            (ratio - 1.0).abs() < 4.0 * error,
            "cv {cv}: variance ratio {ratio}"
        );
    }
}

#[test]
fn profile_sets_the_share_of_every_hour() {
    let mut profile = office();
    profile.hourly = std::array::from_fn(|h| match h {
        8..12 => 3.0,
        12..20 => 1.5,
        _ => 0.0,
    });
    let (rate, weeks) = (100.0, 20);
    let got = times(&renewal(rate, 1.0, profile.clone()), 0, weeks * 7 * DAY_NS);
    let counts = by_hour_of_week(&got);
    for (hour, &count) in counts.iter().enumerate() {
        let on = profile.weekdays[hour / 24];
        let mean = if on {
            rate * profile.hourly[hour % 24] * weeks as f64
        } else {
            0.0
        };
        let limit = 4.5 * mean.sqrt();
        assert!(
            (count as f64 - mean).abs() <= limit,
            "hour {hour}: {count} for {mean}"
        );
    }
    let arrivals = renewal(rate, 1.0, profile).arrivals;
    assert!((mean_rate_per_s(&arrivals) - rate * 5.0 / 7.0 / 3600.0).abs() < 1e-15);
    assert!((peak_rate_per_s(&arrivals) - 300.0 / 3600.0).abs() < 1e-15);
}

#[test]
fn bursty_arrivals_keep_the_mean_rate_under_a_profile() {
    let weeks = 40;
    let got = times(&renewal(50.0, 2.0, office()), 0, weeks * 7 * DAY_NS);
    let mean = 50.0 * 24.0 * 5.0 * weeks as f64;
    // Renewal counts have variance cv² times their mean.
    assert!(
        (got.len() as f64 - mean).abs() < 4.0 * 2.0 * mean.sqrt(),
        "{}",
        got.len()
    );
    let counts = by_hour_of_week(&got);
    let idle = |hour: &usize| hour / 24 >= 5 || !(8..20).contains(&(hour % 24));
    assert_eq!(
        (0..HOURS_A_WEEK)
            .filter(idle)
            .map(|h| counts[h])
            .sum::<u64>(),
        0
    );
}

#[test]
fn local_clock_is_ahead_by_the_offset() {
    for offset in [-8.0, 2.0, 5.5, 30.0, -340.25] {
        let mut profile = office();
        profile.utc_offset_hours = offset;
        // Times are since the warm-up's start, 30 hours before time 0.
        let got = times(&renewal(300.0, 1.0, profile), 30 * HOUR_NS, 21 * DAY_NS);
        let mut first_minute = u64::MAX;
        for time in &got {
            let local_ns = i128::from(*time) + ((offset - 30.0) * 3.6e12) as i128;
            let into_week = local_ns.rem_euclid(WEEK_NS) as u64;
            let (day, into_day) = (into_week / DAY_NS, into_week % DAY_NS);
            assert!(day < 5, "offset {offset}: day {day}");
            assert!(
                (8 * HOUR_NS..20 * HOUR_NS).contains(&into_day),
                "offset {offset}: {into_day}"
            );
            first_minute = first_minute.min(into_day / (60 * SECOND_NS));
        }
        // The day opens at 08:00 sharp, and nothing of it is lost: 15 or 16 days of 7200.
        assert_eq!(first_minute, 8 * 60);
        assert!(
            (13 * 7200..17 * 7200).contains(&got.len()),
            "offset {offset}: {}",
            got.len()
        );
    }
}

#[test]
fn warm_up_starts_on_an_earlier_weekday() {
    // Two days before Monday: nothing on Saturday and Sunday, whatever the number of weeks before.
    for weeks in [0, 1, 9] {
        let warmup = (7 * weeks + 2) * DAY_NS;
        let got = times(&renewal(60.0, 1.0, office()), warmup, DAY_NS);
        let before_monday = got
            .iter()
            .filter(|t| (warmup - 2 * DAY_NS..warmup).contains(*t));
        assert_eq!(before_monday.count(), 0);
        let monday = got.iter().filter(|&&t| t >= warmup).count() as f64;
        assert!((monday - 1440.0).abs() < 4.5 * 1440_f64.sqrt(), "{monday}");
        let earlier = (got.len() as f64 - monday) / 1440.0;
        assert!(
            (earlier - 5.0 * weeks as f64).abs() < 0.5,
            "{earlier} working days"
        );
    }
}

#[test]
fn a_longer_window_only_adds_and_other_entries_change_nothing() {
    let coders = renewal(200.0, 1.7, office());
    let short: Vec<_> = stream(&coders, DAY_NS / 2, 3 * DAY_NS).collect();
    let long: Vec<_> = stream(&coders, DAY_NS / 2, 9 * DAY_NS).collect();
    assert!(long.len() > short.len());
    assert_eq!(short, long[..short.len()]);
    assert!(
        short
            .iter()
            .enumerate()
            .all(|(i, (session, _))| *session == i as u64)
    );
    assert!(long[short.len()].1 >= DAY_NS / 2 + 3 * DAY_NS);

    let mut other = coders.clone();
    other.name = "batch".to_owned();
    assert_ne!(
        times(&other, DAY_NS / 2, 3 * DAY_NS),
        times(&coders, DAY_NS / 2, 3 * DAY_NS)
    );
    let key = RunKey::entry(11, 1, &coders.name);
    let replica: Vec<_> = ArrivalStream::new(&coders, key, DAY_NS / 2, 3 * DAY_NS).collect();
    assert_ne!(replica, short);
}

#[test]
fn no_rate_gives_nothing() {
    let mut nowhere = flat();
    nowhere.utc_offset_hours = f64::NEG_INFINITY;
    assert!(stream(&renewal(10.0, 1.0, nowhere), DAY_NS, DAY_NS).count() > 0);
    let mut idle = flat();
    idle.weekdays = [false; 7];
    let mut zero = flat();
    zero.hourly = [0.0; 24];
    for entry in [
        renewal(0.0, 1.0, flat()),
        renewal(-5.0, 1.0, flat()),
        renewal(f64::NAN, 1.0, flat()),
        renewal(f64::INFINITY, 1.0, flat()),
        renewal(10.0, 1.0, idle),
        renewal(10.0, 1.0, zero),
    ] {
        assert_eq!(stream(&entry, DAY_NS, DAY_NS).count(), 0);
        assert_eq!(mean_rate_per_s(&entry.arrivals), 0.0);
        assert_eq!(peak_rate_per_s(&entry.arrivals), 0.0);
    }
    // A rate so low that nothing comes ends too, and stays ended.
    let mut rare = stream(&renewal(1e-12, 1.0, office()), DAY_NS, 3650 * DAY_NS);
    assert_eq!(rare.next(), None);
    assert_eq!(rare.next(), None);
}

#[test]
fn extreme_cv_keeps_order_and_ends() {
    for cv in [1e-9, 0.01, 30.0] {
        let got = times(&renewal(100.0, cv, office()), DAY_NS, 7 * DAY_NS);
        assert!(got.is_sorted());
        assert!(got.len() < 10_000_000, "cv {cv}: {}", got.len());
    }
}

#[test]
fn many_arrivals_do_not_drift() {
    // 10^7 evenly spaced arrivals in 1000 days: each within rounding of its place.
    let per_hour = 10_000.0 / 24.0;
    let entry = renewal(per_hour, 0.0, flat());
    let last = stream(&entry, 0, 1000 * DAY_NS + 1).last();
    let (session, time) = last.expect("there are arrivals");
    let exact = (session + 1) as f64 * 8.64e9;
    assert!((9_999_998..=9_999_999).contains(&session), "{session}");
    assert!((time as f64 - exact).abs() < 1e4, "{time} for {exact}");
}
