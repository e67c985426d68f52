//! Reading scenario files.

use super::Scenario;
use super::check::{Env, check, models_hint};
use super::file::{Cx, Decode, ScenarioFile};
use super::text::{
    MAX_BYTES, Report, ScenarioErrors, Sources, Span, apply_sets, one_line, parse_tree,
};
use std::io::Read;
use std::path::Path;

/// Warnings at most.
const MAX_WARNINGS: usize = 100;

/// A scenario to start from, with comments.
pub const STARTER: &str = include_str!("starter.yaml");

/// Reads and checks the scenario at `path` after `sets` (`path=value` each) have been applied.
/// Files that it names are relative to its folder.
///
/// # Errors
/// Everything that is wrong with it, with positions; or why it cannot be read.
pub fn load(path: &Path, sets: &[String]) -> Result<Scenario, ScenarioErrors> {
    let shown = path.display().to_string();
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        // One byte more than is allowed, so that a larger file is seen as one.
        .and_then(|file| file.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes));
    if let Err(error) = read {
        let report = Report::whole(format!("cannot read `{shown}`: {error}"));
        return Err(ScenarioErrors::new(Sources::default(), vec![report]));
    }
    let is_cut = bytes.len() > MAX_BYTES;
    bytes.truncate(MAX_BYTES);
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            // The cut may be inside a character.
            let broken = !is_cut || error.utf8_error().error_len().is_some();
            let head = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
            if broken {
                return Err(not_text(
                    &shown,
                    &head,
                    "is not a text file: not valid UTF-8 here",
                ));
            }
            head
        }
    };
    if is_cut {
        return Err(control_character(&shown, &text).unwrap_or_else(|| too_large(&shown, &text)));
    }
    let stem = path
        .file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default();
    let base_dir = path.parent().unwrap_or(Path::new(""));
    read_text(&text, &shown, &stem, base_dir, sets)
}

/// Reads and checks scenario `text`. `file_name` is shown in errors and its stem is the default
/// name; files that the scenario names are relative to `base_dir`.
///
/// # Errors
/// As [`load`].
pub fn parse(
    text: &str,
    file_name: &str,
    base_dir: &Path,
    sets: &[String],
) -> Result<Scenario, ScenarioErrors> {
    let stem = Path::new(file_name)
        .file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default();
    read_text(text, file_name, &stem, base_dir, sets)
}

/// The JSON Schema (draft 2020-12) of scenario files, for editors.
pub fn schema() -> serde_json::Value {
    let generator = schemars::generate::SchemaSettings::draft2020_12()
        .for_deserialize()
        .into_generator();
    let mut schema = generator.into_root_schema_for::<ScenarioFile>();
    schema.insert("title".into(), "fleetmem scenario".into());
    schema.to_value()
}

fn not_text(name: &str, head: &str, what: &str) -> ScenarioErrors {
    let mut sources = Sources::default();
    let source = sources.add(name, head);
    let at = Span {
        source,
        start: head.len() as u32,
        end: head.len() as u32,
    };
    let report =
        Report::new(at, format!("`{name}` {what}")).help("a scenario is YAML text in UTF-8");
    ScenarioErrors::new(sources, vec![report])
}

/// Text has no control characters but white space.
fn control_character(name: &str, text: &str) -> Option<ScenarioErrors> {
    let control = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{85}');
    let at = text.find(control)?;
    let code = text[at..].chars().next().map_or(0, u32::from);
    let what = format!("is not a text file: control character U+{code:04X} here");
    Some(not_text(name, &text[..at], &what))
}

/// `text` holds at least as much as is allowed.
fn too_large(name: &str, text: &str) -> ScenarioErrors {
    let mut end = MAX_BYTES.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut sources = Sources::default();
    let source = sources.add(name, text);
    let at = Span {
        source,
        start: end as u32,
        end: end as u32,
    };
    let report = Report::new(
        at,
        format!("`{name}` is larger than {} MiB", MAX_BYTES >> 20),
    )
    .label("the limit is passed here")
    .help("put recorded data in a CSV file beside the scenario (`empirical: {file, column}`)");
    ScenarioErrors::new(sources, vec![report])
}

fn read_text(
    text: &str,
    shown: &str,
    stem: &str,
    base_dir: &Path,
    sets: &[String],
) -> Result<Scenario, ScenarioErrors> {
    if let Some(errors) = control_character(shown, text) {
        return Err(errors);
    }
    if text.len() > MAX_BYTES {
        return Err(too_large(shown, text));
    }
    let mut sources = Sources::default();
    let source = sources.add(shown, text);
    let mut cx = Cx {
        hints: vec![("models", models_hint())],
        ..Cx::default()
    };
    let root = parse_tree(text, source, 0, &mut cx.errors);
    let Some(mut root) = root.filter(|r| !r.is_null()) else {
        if cx.errors.is_empty() {
            let start = Span {
                source,
                start: 0,
                end: 0,
            };
            cx.errors.push(
                Report::new(start, format!("`{shown}` is empty"))
                    .label("a scenario needs `measure`, `models`, `agents` and `workload`")
                    .help("`fleetmem init` writes one to start from"),
            );
        }
        return Err(ScenarioErrors::new(sources, cx.errors));
    };
    apply_sets(&mut root, sets, &mut sources, &mut cx.errors);
    let mut env = Env {
        base_dir,
        stem,
        digest: blake3::Hasher::new(),
    };
    let scenario = ScenarioFile::decode(&root, &mut cx)
        .and_then(|file| check(&file, &root, &mut env, &mut cx));
    let Cx {
        errors,
        mut warnings,
        ..
    } = cx;
    match scenario {
        Some(mut scenario) if errors.is_empty() => {
            warnings.sort_by_key(|w| w.span);
            warnings.truncate(MAX_WARNINGS);
            for warning in &mut warnings {
                warning.field = warning.span.and_then(|span| root.path_of(span));
            }
            scenario.warnings = warnings.iter().map(|w| one_line(&sources, w)).collect();
            Ok(scenario)
        }
        _ if errors.is_empty() => {
            // Every `None` comes with a report; if one ever does not, say so rather than run.
            let report = Report::whole(format!("`{shown}` could not be read"));
            Err(ScenarioErrors::new(sources, vec![report]))
        }
        _ => Err(ScenarioErrors::new(sources, errors).with_fields(&root)),
    }
}
