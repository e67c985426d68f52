//! Model entries to memory models.

use super::Env;
use crate::memory::{self, Checkpoint, MemoryModel, ModelError, ModelSpec, Overrides, Role};
use crate::scenario::file::{
    CheckpointFile, Cx, ModelFile, ModelMapFile, ScenarioFile, Spanned, Text,
};
use crate::scenario::text::{Report, Span, nearest};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read;

/// The largest model file that is read.
const MAX_BYTES: u64 = 4 << 20;

/// A model and what the scenario needs to know of it.
pub struct Resolved {
    /// The model.
    pub model: MemoryModel,
    /// Where its entry is.
    pub span: Span,
    /// Data type of its KV entries and windows, if it has any.
    kv: Option<String>,
}

/// What a list of models looks like.
pub fn hint() -> String {
    let names: Vec<&str> = memory::catalogue().take(3).collect();
    format!(
        "for example `models: [{}]`; `fleetmem models` lists them all",
        names.join(", ")
    )
}

/// The compared models.
pub fn compared(file: &ScenarioFile, env: &mut Env, cx: &mut Cx) -> Option<Vec<MemoryModel>> {
    let entries = file.models.as_ref()?;
    if entries.value.is_empty() {
        return cx.error(
            Report::new(entries.span, "no models to compare")
                .label("at least one is needed")
                .help(hint()),
        );
    }
    let resolved: Vec<_> = entries.value.iter().map(|e| resolve(e, env, cx)).collect();
    let mut labels = HashMap::new();
    for model in resolved.iter().flatten() {
        let label = model.model.label.as_str();
        if let Some(first) = labels.insert(label, model.span) {
            cx.errors.push(
                Report::new(model.span, format!("two models are named `{label}`"))
                    .label("the second")
                    .other(first, "the first")
                    .help("give one of them another name: `{model: ..., as: ...}`"),
            );
        }
    }
    let resolved: Vec<Resolved> = resolved.into_iter().collect::<Option<_>>()?;
    let with_kv = || resolved.iter().filter_map(|m| Some((m, m.kv.as_deref()?)));
    if let Some((first, kv)) = with_kv().next()
        && let Some((other, other_kv)) = with_kv().find(|(_, k)| *k != kv)
    {
        cx.warn(
            Report::new(other.span, "models are compared at different KV data types").label(
                format!(
                    "`{}` is {other_kv}, `{}` is {kv}: part of the difference is the data type",
                    other.model.label, first.model.label
                ),
            ),
        );
    }
    Some(resolved.into_iter().map(|m| m.model).collect())
}

/// One model entry.
pub fn resolve(entry: &ModelFile, env: &mut Env, cx: &mut Cx) -> Option<Resolved> {
    match entry {
        ModelFile::Name(name) => {
            let spec = lookup(name, cx)?;
            finish(
                spec,
                &Overrides::default(),
                &name.value.0,
                name.span,
                None,
                cx,
            )
        }
        ModelFile::Map(map) => {
            let (spec, name, span) = match (&map.model, &map.file) {
                (Some(name), _) => (
                    Cow::Borrowed(lookup(name, cx)?),
                    name.value.0.clone(),
                    name.span,
                ),
                (None, Some(path)) => {
                    let spec = read(path, env, cx)?;
                    let name = spec.name.clone();
                    (Cow::Owned(spec), name, path.span)
                }
                (None, None) => return None,
            };
            let label = match &map.label {
                Some(label) => self::label(label, cx)?,
                None => name,
            };
            let checkpoint = match &map.checkpoint {
                Some(words) => Some(checkpoint(&words.value, cx)?),
                None => None,
            };
            let text = |field: &Option<Spanned<Text>>| field.as_ref().map(|t| t.value.0.clone());
            let overrides = Overrides {
                kv: text(&map.kv),
                indexer: text(&map.indexer),
                state: text(&map.state),
                conv: text(&map.conv),
                tail: text(&map.tail),
                checkpoint,
            };
            finish(&spec, &overrides, &label, span, Some(map), cx)
        }
    }
}

fn finish(
    spec: &ModelSpec,
    overrides: &Overrides,
    label: &str,
    span: Span,
    map: Option<&ModelMapFile>,
    cx: &mut Cx,
) -> Option<Resolved> {
    let result = spec
        .resolve(overrides, label)
        .and_then(|model| Ok((model, spec.resolve_parts(overrides)?)));
    match result {
        Ok((model, parts)) => Some(Resolved {
            model,
            span,
            kv: parts.dtypes.get(&Role::Kv).cloned(),
        }),
        Err(error) => {
            let field = error.field().and_then(|f| field_span(map?, f));
            cx.error(report(&error, field.unwrap_or(span)))
        }
    }
}

fn field_span(map: &ModelMapFile, field: &str) -> Option<Span> {
    match field {
        "kv" => map.kv.as_ref().map(|f| f.span),
        "indexer" => map.indexer.as_ref().map(|f| f.span),
        "state" => map.state.as_ref().map(|f| f.span),
        "conv" => map.conv.as_ref().map(|f| f.span),
        "tail" => map.tail.as_ref().map(|f| f.span),
        "checkpoint" => map.checkpoint.as_ref().map(|f| f.span),
        _ => None,
    }
}

/// A model's own message, which may have several lines, as a finding at `span`.
fn report(error: &ModelError, span: Span) -> Report {
    if let ModelError::Dtype {
        model,
        role,
        found,
        allowed,
        suggestion,
    } = error
    {
        let what = format!(
            "`{found}` is not a data type of the {} of {model}",
            role.words()
        );
        let report = Report::new(span, what).allowed(allowed);
        return match suggestion {
            Some(near) => report.help(format!("did you mean `{near}`?")),
            None => report,
        };
    }
    let text = error.to_string();
    let mut lines = text.lines();
    let mut report = Report::new(span, lines.next().unwrap_or_default());
    let rest: Vec<&str> = lines.collect();
    if !rest.is_empty() {
        report = report.note(rest.join("\n          "));
    }
    report
}

fn lookup(name: &Spanned<Text>, cx: &mut Cx) -> Option<&'static ModelSpec> {
    let wanted = &name.value.0;
    match memory::lookup(wanted) {
        Ok(spec) => Some(spec),
        Err(ModelError::Unknown { suggestion, .. }) => {
            let names: Vec<&str> = memory::catalogue().collect();
            let report = Report::new(name.span, format!("unknown model `{wanted}`"))
                .label("not in the catalogue; `{file: ...}` reads a model of your own")
                .allowed(&names);
            cx.error(
                match suggestion.as_deref().or_else(|| nearest(wanted, &names)) {
                    Some(near) => report.help(format!("did you mean `{near}`?")),
                    None => report,
                },
            )
        }
        Err(error) => cx.error(report(&error, name.span)),
    }
}

fn read(path: &Spanned<Text>, env: &mut Env, cx: &mut Cx) -> Option<ModelSpec> {
    let full = env.base_dir.join(&path.value.0);
    let mut bytes = Vec::new();
    let read = std::fs::File::open(&full).and_then(|f| f.take(MAX_BYTES).read_to_end(&mut bytes));
    let text = match read {
        Err(error) => {
            return cx.error(
                Report::new(
                    path.span,
                    format!("cannot read `{}`: {error}", full.display()),
                )
                .label("a model file, relative to the scenario's folder"),
            );
        }
        Ok(_) => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => {
                return cx.error(Report::new(
                    path.span,
                    format!("`{}` is not a text file", full.display()),
                ));
            }
        },
    };
    env.digest.update(text.as_bytes());
    match memory::parse_model(&text, &path.value.0) {
        Ok(spec) => Some(spec),
        Err(error) => cx.error(report(&error, path.span)),
    }
}

fn label(label: &Spanned<Text>, cx: &mut Cx) -> Option<String> {
    let text = &label.value.0;
    if text.trim() == text
        && (1..=60).contains(&text.chars().count())
        && !text.chars().any(char::is_control)
    {
        return Some(text.clone());
    }
    cx.error(
        Report::new(label.span, "not a usable name").label("a name has 1 to 60 visible characters"),
    )
}

fn checkpoint(words: &CheckpointFile, cx: &mut Cx) -> Option<Checkpoint> {
    let mut checkpoint = Checkpoint::NONE;
    for word in &words.0 {
        match word.value.0.as_str() {
            "none" if words.0.len() == 1 => {}
            "windows" => checkpoint.windows = true,
            "tails" => checkpoint.tails = true,
            other => {
                return cx.error(
                    Report::new(
                        word.span,
                        format!("`{other}` is not something a snapshot may hold"),
                    )
                    .label("`none`, or one or both of the others")
                    .names(other, &["none", "windows", "tails"]),
                );
            }
        }
    }
    Some(checkpoint)
}

/// The models that agents are pinned to, each once.
#[derive(Default)]
pub struct Fixed {
    models: Vec<Resolved>,
    by_label: HashMap<String, usize>,
}

impl Fixed {
    /// The index of an agent's fixed model.
    pub fn index(
        &mut self,
        entry: &Spanned<&ModelFile>,
        compared: &[MemoryModel],
        env: &mut Env,
        cx: &mut Cx,
    ) -> Option<usize> {
        let mut resolved = resolve(entry.value, env, cx)?;
        // A compared model may itself be named `... (fixed)`.
        while compared.iter().any(|m| m.label == resolved.model.label) {
            resolved.model.label.push_str(" (fixed)");
        }
        let label = &resolved.model.label;
        match self.by_label.get(label) {
            Some(&index) if self.models[index].model == resolved.model => Some(index),
            Some(&index) => cx.error(
                Report::new(
                    entry.span,
                    format!("two different fixed models are named `{label}`"),
                )
                .label("the second")
                .other(self.models[index].span, "the first")
                .help("give one of them another name: `{model: ..., as: ...}`"),
            ),
            None => {
                self.by_label.insert(label.clone(), self.models.len());
                self.models.push(resolved);
                Some(self.models.len() - 1)
            }
        }
    }

    /// The models.
    pub fn into_models(self) -> Vec<MemoryModel> {
        self.models.into_iter().map(|m| m.model).collect()
    }
}
