//! Model files: YAML text to a checked [`ModelSpec`]. The only place that knows the YAML parser.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_saphyr::{Location, Spanned};

use super::dtype::{Role, Shape};
use super::error::ModelError;
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
    let spec: ModelSpec = serde_saphyr::from_str(text).map_err(|e| ModelError::Syntax {
        file: file_name.to_owned(),
        message: e.to_string(),
    })?;
    let checker = Checker {
        text,
        file: file_name,
    };
    checker.check(&spec)?;
    Ok(spec)
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
            return Err(self.invalid(Spot::Top("name"), "name", message.to_owned()));
        }
        if spec.groups.is_empty() || spec.groups.len() > MAX_GROUPS {
            let message = format!("{} groups; 1 to {MAX_GROUPS} are needed", spec.groups.len());
            return Err(self.invalid(Spot::Top("groups"), "groups", message));
        }
        if spec.weights.as_ref().is_some_and(|w| w.bytes == 0) {
            let message = "must be at least 1; leave `weights` out if they are unknown";
            return Err(self.invalid(Spot::Top("weights"), "weights.bytes", message.to_owned()));
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
                let hint =
                    suggestion.map_or_else(String::new, |s| format!(" (did you mean `{s}`?)"));
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

    fn invalid(&self, spot: Spot, field: &str, message: String) -> ModelError {
        let at = self.locate(spot).map(|l| (l.line(), l.column()));
        ModelError::Invalid {
            file: self.file.to_owned(),
            at,
            field: field.to_owned(),
            message,
        }
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
