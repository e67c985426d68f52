//! Workload entries: who starts sessions, and when.

use super::Names;
use crate::scenario::file::{
    Cx, ProfileFile, ProfileName, ScenarioFile, Spanned, WeekdaysFile, WorkloadFile,
};
use crate::scenario::text::{Report, nearest};
use crate::scenario::{Arrivals, Profile, WorkloadEntry};

/// Hourly arrival multipliers from midnight of one large service used around the world, as
/// published with its traces (mean 1 after [`normalised`]).
const GLOBAL: [f64; 24] = [
    0.99, 1.00, 0.99, 0.94, 0.91, 0.88, 0.85, 0.82, 0.79, 0.87, 1.05, 1.11, 0.97, 0.98, 1.05, 1.05,
    1.11, 1.08, 1.04, 1.14, 1.13, 1.07, 1.10, 1.09,
];
/// How far the mean of a user's multipliers may be from 1: they are written rounded.
const MEAN_TOLERANCE: f64 = 0.005;
const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// The checked entries.
pub fn workload(file: &ScenarioFile, cx: &mut Cx) -> Option<Vec<WorkloadEntry>> {
    let spanned = file.workload.as_ref()?;
    if spanned.value.0.is_empty() {
        return cx.error(
            Report::new(spanned.span, "an empty workload").label("at least one entry is needed"),
        );
    }
    // Without the agents their names cannot be checked; what is wrong with them has been reported.
    let names = file
        .agents
        .as_ref()
        .map(|a| Names::new("agent", a.value.names()));
    let entries: Vec<Option<WorkloadEntry>> = spanned
        .value
        .0
        .iter()
        .map(|(key, entry)| {
            let entry = entry.as_ref()?;
            let agent = match (&entry.agent, &names) {
                (Some(agent), Some(names)) => names.find(&agent.value.0, agent.span, cx),
                _ => None,
            };
            let arrivals = arrivals(file, entry, cx);
            Some(WorkloadEntry {
                name: key.text.clone(),
                agent: agent?,
                arrivals: arrivals?,
            })
        })
        .collect();
    entries.into_iter().collect()
}

fn arrivals(file: &ScenarioFile, entry: &WorkloadFile, cx: &mut Cx) -> Option<Arrivals> {
    if let Some(at) = &entry.at {
        return instants(file, entry, at, cx);
    }
    let cv = match &entry.cv {
        None => Some(1.0),
        Some(cv) if (0.01..=100.0).contains(&cv.value.0) => Some(cv.value.0),
        Some(cv) => cx.error(
            Report::new(
                cv.span,
                format!("a coefficient of variation of {}", cv.value.0),
            )
            .label("from 0.01 (nearly regular) to 100; 1 is Poisson"),
        ),
    };
    let hourly = match &entry.profile {
        None => Some([1.0; 24]),
        Some(profile) => hourly(profile, cx),
    };
    let weekdays = match &entry.weekdays {
        None => Some([true; 7]),
        Some(days) => weekdays(days, cx),
    };
    let per_hour = match (&entry.rate, &entry.users, &entry.sessions_per_day) {
        (Some(rate), ..) => Some(rate.0),
        (None, Some(users), Some(sessions))
            if sessions.value.0 > 0.0 && sessions.value.0 <= 1e6 =>
        {
            Some(f64::from(users.0) * sessions.value.0 / 24.0)
        }
        (None, _, Some(sessions)) if sessions.value.0 <= 0.0 || sessions.value.0 > 1e6 => cx.error(
            Report::new(
                sessions.span,
                format!("{} sessions a day", sessions.value.0),
            )
            .label("a number above 0, at most 1e6, is needed"),
        ),
        _ => None,
    };
    let profile = Profile {
        hourly: hourly?,
        weekdays: weekdays?,
        utc_offset_hours: entry.timezone.as_ref().map_or(0.0, |t| t.value.0),
    };
    Some(Arrivals::Renewal {
        per_hour: per_hour?,
        cv: cv?,
        profile,
    })
}

fn instants(
    file: &ScenarioFile,
    entry: &WorkloadFile,
    at: &[Spanned<crate::scenario::file::Duration>],
    cx: &mut Cx,
) -> Option<Arrivals> {
    let extras = [
        ("cv", entry.cv.as_ref().map(|f| f.span)),
        ("profile", entry.profile.as_ref().map(|f| f.span)),
        ("weekdays", entry.weekdays.as_ref().map(|f| f.span)),
        ("timezone", entry.timezone.as_ref().map(|f| f.span)),
    ];
    for (name, span) in extras {
        if let Some(span) = span {
            cx.errors.push(
                Report::new(span, format!("`{name}` beside `at`"))
                    .label("these times are given, nothing is drawn")
                    .help(format!("remove `{name}`, or give `rate` instead of `at`")),
            );
        }
    }
    if at.is_empty() {
        return cx
            .error(Report::new(entry.span, "`at` with no times").label("at least one is needed"));
    }
    if let Some(measure) = file.measure.as_ref().filter(|m| m.value.0 > 0) {
        for time in at.iter().filter(|t| t.value.0 >= measure.value.0) {
            cx.errors.push(
                Report::new(time.span, "an arrival after the window")
                    .label("it would never be simulated")
                    .other(measure.span, "the window ends here"),
            );
        }
    }
    let mut times: Vec<u64> = at.iter().map(|t| t.value.0).collect();
    times.sort_unstable();
    Some(Arrivals::At(times))
}

fn hourly(profile: &Spanned<ProfileFile>, cx: &mut Cx) -> Option<[f64; 24]> {
    let values = match &profile.value {
        ProfileFile::Name(ProfileName::Flat) => return Some([1.0; 24]),
        ProfileFile::Name(ProfileName::Global) => return Some(normalised(GLOBAL)),
        ProfileFile::Name(ProfileName::BusinessHours) => return Some(business_hours()),
        ProfileFile::Hours(values) => values,
    };
    let Ok(hours) = <[f64; 24]>::try_from(values.iter().map(|v| v.0).collect::<Vec<_>>()) else {
        return cx.error(
            Report::new(
                profile.span,
                format!("a profile of {} numbers", values.len()),
            )
            .label("24 are needed, one per hour from midnight"),
        );
    };
    if let Some(hour) = hours.iter().find(|h| **h < 0.0) {
        return cx.error(
            Report::new(profile.span, format!("a negative multiplier, {hour}"))
                .label("0 or more is needed"),
        );
    }
    let mean = hours.iter().sum::<f64>() / 24.0;
    if (mean - 1.0).abs() > MEAN_TOLERANCE {
        return cx.error(
            Report::new(
                profile.span,
                format!("the multipliers have a mean of {mean:.4}"),
            )
            .label("a mean of 1 (a sum of 24) is needed, so that the rate is the day's mean"),
        );
    }
    Some(normalised(hours))
}

/// A 12-hour working day: twice the mean rate from 8:00 to 20:00, nothing outside.
fn business_hours() -> [f64; 24] {
    std::array::from_fn(|hour| if (8..20).contains(&hour) { 2.0 } else { 0.0 })
}

fn normalised(hours: [f64; 24]) -> [f64; 24] {
    let mean = hours.iter().sum::<f64>() / 24.0;
    hours.map(|h| h / mean)
}

fn weekdays(days: &Spanned<WeekdaysFile>, cx: &mut Cx) -> Option<[bool; 7]> {
    let mut active = [false; 7];
    let day = |name: &str| DAYS.iter().position(|d| *d == name.trim());
    for word in &days.value.0 {
        let text = word.value.0.to_ascii_lowercase();
        let range = match text.split_once('-') {
            _ if text == "all" => Some((0, 6)),
            Some((from, to)) => day(from).zip(day(to)),
            None => day(&text).map(|d| (d, d)),
        };
        let Some((from, to)) = range else {
            let report = Report::new(word.span, format!("`{}` is not a day", word.value.0))
                .label("`all`, a day such as `mon`, or a range such as `mon-fri`")
                .allowed(&DAYS);
            // A full name is meant by its first letters.
            let near = DAYS
                .iter()
                .find(|d| text.starts_with(**d))
                .copied()
                .or_else(|| nearest(&text, &DAYS));
            return cx.error(match near {
                Some(near) if !text.contains('-') => report.help(format!("did you mean `{near}`?")),
                _ => report,
            });
        };
        // A range may pass the weekend: `sat-mon`.
        let length = (to + 7 - from) % 7;
        for step in 0..=length {
            active[(from + step) % 7] = true;
        }
    }
    if active == [false; 7] {
        return cx.error(Report::new(days.span, "no days").label("at least one is needed"));
    }
    Some(active)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_profiles_have_mean_one() {
        for hours in [normalised(GLOBAL), business_hours()] {
            assert!((hours.iter().sum::<f64>() - 24.0).abs() < 1e-9);
        }
        assert_eq!(business_hours()[7..9], [0.0, 2.0]);
        assert_eq!(business_hours()[19..21], [2.0, 0.0]);
    }
}
