//! Model files: YAML text to a checked [`ModelSpec`]. The only place that knows the YAML parser.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_saphyr::{Location, MessageFormatter, Spanned, UserMessageFormatter};

use super::dtype::{Role, Shape, nearest};
use super::error::{ModelError, did_you_mean};
use super::resolve::Overrides;
use super::spec::{Group, ModelSpec};

/// The largest model file that is read, in bytes. The catalogue's largest is a hundredth of it.
pub const MAX_FILE_BYTES: u64 = 256 * 1024;

const MAX_GROUPS: usize = 1000;

/// Reads a model file. `file_name` is only for messages.
///
/// # Errors
/// Text that is too large, not YAML, has unknown or missing fields, or numbers out of range (with
/// line, column and an excerpt); data types that are missing, superfluous or impossible; and bytes
/// that 64 bits cannot count.
pub fn parse_model(text: &str, file_name: &str) -> Result<ModelSpec, ModelError> {
    let bytes = text.len() as u64;
    if bytes > MAX_FILE_BYTES {
        return Err(ModelError::TooLarge {
            file: file_name.to_owned(),
            bytes,
            limit: MAX_FILE_BYTES,
        });
    }
    let spec: ModelSpec = serde_saphyr::from_str(text).map_err(|e| syntax(text, file_name, &e))?;
    let checker = Checker {
        text,
        file: file_name,
    };
    checker.check(&spec)?;
    Ok(spec)
}

/// The parser's error in our words, where it says what it knows.
fn syntax(text: &str, file: &str, error: &serde_saphyr::Error) -> ModelError {
    use serde_saphyr::Error;
    let allowed = |found: &str, expected: &[&str]| {
        let hint = did_you_mean(&nearest(found, expected.iter().copied()));
        format!("{hint}; allowed: {}", expected.join(", "))
    };
    let message = match error.without_snippet() {
        Error::SerdeUnknownField {
            field, expected, ..
        } => {
            format!("unknown field `{field}`{}", allowed(field, expected))
        }
        Error::SerdeUnknownVariant {
            variant, expected, ..
        } => {
            format!("unknown kind `{variant}`{}", allowed(variant, expected))
        }
        Error::SerdeMissingField { field, .. } => format!("the field `{field}` is missing"),
        other => UserMessageFormatter.format_message(other).into_owned(),
    };
    invalid(text, file, error.location(), message)
}

fn invalid(text: &str, file: &str, at: Option<Location>, message: String) -> ModelError {
    let at = at
        .map(|l| (l.line(), l.column()))
        .filter(|(line, column)| *line > 0 && *column > 0);
    let excerpt = at.map_or_else(String::new, |(line, column)| excerpt(text, line, column));
    ModelError::Invalid {
        file: file.to_owned(),
        at,
        message,
        excerpt,
    }
}

/// The line with a mark under the column; empty if the line would not fit a terminal.
fn excerpt(text: &str, line: u64, column: u64) -> String {
    let index = usize::try_from(line - 1).unwrap_or(usize::MAX);
    let shown = text
        .lines()
        .nth(index)
        .map(str::trim_end)
        .unwrap_or_default();
    if shown.is_empty() || shown.chars().count() > 200 || shown.contains(char::is_control) {
        return String::new();
    }
    let gutter = line.to_string();
    let mark = usize::try_from(column).unwrap_or(0);
    format!(
        "\n  {gutter} | {shown}\n  {:w$} | {:>mark$}",
        "",
        "^",
        w = gutter.len()
    )
}

/// Where a wrong value stands.
#[derive(Clone, Copy)]
enum Spot<'a> {
    Top(&'a str),
    Dtype(Role),
    Group(usize),
}

struct Checker<'a> {
    text: &'a str,
    file: &'a str,
}

impl Checker<'_> {
    fn check(&self, spec: &ModelSpec) -> Result<(), ModelError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if spec.name.is_empty() || spec.name.len() > 64 || !spec.name.chars().all(plain) {
            let message = "1 to 64 letters, digits, `.`, `_` or `-` are needed";
            return Err(self.invalid(Spot::Top("name"), "name", message));
        }
        if spec.groups.is_empty() || spec.groups.len() > MAX_GROUPS {
            let message = format!("{} groups; 1 to {MAX_GROUPS} are needed", spec.groups.len());
            return Err(self.invalid(Spot::Top("groups"), "groups", message));
        }
        for (index, group) in spec.groups.iter().enumerate() {
            self.check_group(index, group)?;
        }
        self.check_dtypes(spec)?;
        match spec.resolve_parts(&Overrides::default()) {
            Ok(_) => Ok(()),
            Err(ModelError::Dtype {
                role,
                found,
                allowed,
                suggestion,
                ..
            }) => {
                let hint = did_you_mean(&suggestion);
                let message = format!(
                    "`{found}` is not a data type of the {}{hint}; allowed: {}",
                    role.words(),
                    allowed.join(", ")
                );
                Err(self.invalid(Spot::Dtype(role), &format!("dtypes.{role}"), message))
            }
            Err(ModelError::NothingToCheckpoint { what, .. }) => Err(self.invalid(
                Spot::Top("checkpoint"),
                "checkpoint",
                format!("the model has no {what}"),
            )),
            Err(other) => Err(self.invalid(Spot::Top("groups"), "groups", other.to_string())),
        }
    }

    fn check_group(&self, index: usize, group: &Group) -> Result<(), ModelError> {
        let (dim, rope) = match group {
            Group::LatentWindow(g) => (g.dim, g.rope),
            Group::Compressed(g) => (g.dim, g.rope),
            _ => return self.check_formats(index, group),
        };
        if rope > dim {
            let message = format!(
                "{} rotary dimensions of {}; at most all of `dim`",
                rope.get(),
                dim.get()
            );
            return Err(self.invalid(
                Spot::Group(index),
                &format!("groups[{index}].rope"),
                message,
            ));
        }
        self.check_formats(index, group)
    }

    /// A group's own formats must not change what a built-in name means.
    fn check_formats(&self, index: usize, group: &Group) -> Result<(), ModelError> {
        let formats: Vec<_> = match group {
            Group::Full(g) => vec![&g.formats],
            Group::Mla(g) => vec![&g.formats],
            Group::Indexer(g) => vec![&g.formats],
            Group::Window(g) => vec![&g.formats],
            Group::LatentWindow(g) => vec![&g.formats],
            Group::Compressed(g) => std::iter::once(&g.formats)
                .chain(g.indexer.as_ref().map(|i| &i.formats))
                .collect(),
            Group::Recurrent(_) => Vec::new(),
        };
        for name in formats.into_iter().flat_map(BTreeMap::keys) {
            let message = if Shape::is_format(name) {
                format!("`{name}` is built in; choose another name for a packed format")
            } else if name.is_empty()
                || name.len() > 32
                || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            {
                format!("`{name}`: a format's name is 1 to 32 letters, digits or `_`")
            } else {
                continue;
            };
            return Err(self.invalid(
                Spot::Group(index),
                &format!("groups[{index}].formats"),
                message,
            ));
        }
        Ok(())
    }

    fn check_dtypes(&self, spec: &ModelSpec) -> Result<(), ModelError> {
        for role in Role::ALL {
            let allowed = spec.allowed_formats(role);
            let present = spec.slots().iter().any(|s| s.role == role);
            let message = match (present, spec.dtypes.get(role)) {
                (true, None) => {
                    format!(
                        "missing: a group has {}; choose one of {}",
                        role.words(),
                        allowed.join(", ")
                    )
                }
                (false, Some(_)) => format!("no group has {}; remove the field", role.words()),
                _ => continue,
            };
            return Err(self.invalid(Spot::Dtype(role), &format!("dtypes.{role}"), message));
        }
        Ok(())
    }

    fn invalid(&self, spot: Spot, field: &str, message: impl Display) -> ModelError {
        invalid(
            self.text,
            self.file,
            self.locate(spot),
            format!("{field}: {message}"),
        )
    }

    /// Reads the text again for positions: only a wrong file pays for it, and the spec stays
    /// plain data.
    fn locate(&self, spot: Spot) -> Option<Location> {
        let top: BTreeMap<String, Spanned<IgnoredAny>> = serde_saphyr::from_str(self.text).ok()?;
        let at_top = |name: &str| top.get(name).map(|s| s.referenced);
        match spot {
            Spot::Top(name) => at_top(name),
            Spot::Dtype(role) => {
                #[derive(Deserialize)]
                struct File {
                    dtypes: BTreeMap<String, Spanned<String>>,
                }
                let file: File = serde_saphyr::from_str(self.text).ok()?;
                file.dtypes
                    .get(role.field())
                    .map(|s| s.referenced)
                    .or_else(|| at_top("dtypes"))
            }
            Spot::Group(index) => {
                #[derive(Deserialize)]
                struct File {
                    groups: Vec<Spanned<IgnoredAny>>,
                }
                let file: File = serde_saphyr::from_str(self.text).ok()?;
                file.groups.get(index).map(|s| s.referenced)
            }
        }
    }
}
