//! Recorded samples: values in the scenario, or a column of a CSV file beside it.

use super::Env;
use crate::scenario::file::{Cx, SampleFile, Unit};
use crate::scenario::text::Report;
use std::io::Read;

/// The largest CSV file that is read.
const MAX_BYTES: u64 = 256 << 20;

/// The sample in base units, ascending.
pub fn sample<U: Unit>(file: &SampleFile<U>, env: &mut Env, cx: &mut Cx) -> Option<Vec<f64>> {
    let mut values = match &file.values {
        Some(values) => {
            if let Some(unit) = &file.unit {
                cx.errors.push(
                    Report::new(unit.span, "`unit` belongs to a column of a file")
                        .label("here the values have their units written"),
                );
            }
            values.iter().map(|v| v.value).collect()
        }
        None => column(file, env, cx)?,
    };
    if values.is_empty() {
        return cx.error(
            Report::new(file.span, "a sample of no values").label("at least one is needed"),
        );
    }
    values.sort_by(f64::total_cmp);
    Some(values)
}

fn column<U: Unit>(file: &SampleFile<U>, env: &mut Env, cx: &mut Cx) -> Option<Vec<f64>> {
    let (name, wanted) = (file.file.as_ref()?, file.column.as_ref()?);
    let path = env.base_dir.join(&name.value.0);
    let mut bytes = Vec::new();
    let read =
        std::fs::File::open(&path).and_then(|f| f.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        return cx.error(
            Report::new(
                name.span,
                format!("cannot read `{}`: {error}", path.display()),
            )
            .label("a CSV file, relative to the scenario's folder"),
        );
    }
    if bytes.len() as u64 > MAX_BYTES {
        return cx.error(Report::new(
            name.span,
            format!("`{}` is larger than {} MiB", name.value.0, MAX_BYTES >> 20),
        ));
    }
    env.digest.update(&bytes);
    let mut reader = csv::ReaderBuilder::new()
        .trim(csv::Trim::All)
        .from_reader(bytes.as_slice());
    let headers = match reader.headers() {
        Ok(headers) => headers.clone(),
        Err(error) => {
            return cx.error(Report::new(
                name.span,
                format!("`{}`: {error}", name.value.0),
            ));
        }
    };
    let names: Vec<&str> = headers
        .iter()
        .map(|h| h.trim_start_matches('\u{feff}'))
        .collect();
    let Some(index) = names.iter().position(|n| *n == wanted.value.0) else {
        return cx.error(
            Report::new(
                wanted.span,
                format!("`{}` has no column `{}`", name.value.0, wanted.value.0),
            )
            .label("not in the file's first line")
            .names(&wanted.value.0, &names),
        );
    };
    let unit = file.unit.as_ref().map_or("", |u| u.value.0.as_str());
    let mut values = Vec::new();
    for record in reader.records() {
        let (line, cell) = match &record {
            Ok(record) => (
                record.position().map_or(0, csv::Position::line),
                record.get(index).unwrap_or(""),
            ),
            Err(error) => {
                return cx.error(Report::new(
                    name.span,
                    format!("`{}`: {error}", name.value.0),
                ));
            }
        };
        match U::real(&format!("{cell}{unit}")) {
            Ok(value) => values.push(value),
            Err(wrong) => {
                let mut report = Report::new(
                    wanted.span,
                    format!(
                        "{}:{line}: column `{}`: {}",
                        name.value.0, wanted.value.0, wrong.title
                    ),
                )
                .label(wrong.label);
                if unit.is_empty() && !U::PLAIN {
                    report = report.help("`unit: s` beside `column` gives plain numbers a unit");
                }
                return cx.error(report);
            }
        }
    }
    Some(values)
}
