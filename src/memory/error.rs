//! What can be wrong with a model: the user's mistake in words, with what is allowed.

use super::dtype::Role;

/// Why a model cannot be used. Every variant is a mistake in the user's input.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// No catalogue model has this name.
    #[error("no model is named `{name}`{}; `fleetmem models` lists them", did_you_mean(.suggestion))]
    Unknown {
        /// What was asked for.
        name: String,
        /// The nearest name.
        suggestion: Option<String>,
    },
    /// The file is larger than any model file.
    #[error("{file}: {bytes} bytes is too large for a model file (at most {limit})")]
    TooLarge {
        /// The file.
        file: String,
        /// Its size.
        bytes: u64,
        /// The largest size that is read.
        limit: u64,
    },
    /// The file cannot be read.
    #[error("{file}: cannot be read: {message}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why.
        message: String,
    },
    /// The text is not YAML, or not a model's fields; `message` has line, column and an excerpt.
    #[error("{file}: not a valid model file\n{message}")]
    Syntax {
        /// The file.
        file: String,
        /// The parser's message.
        message: String,
    },
    /// The fields are well formed but make no model.
    #[error("{file}{}: {field}: {message}", position(.at))]
    Invalid {
        /// The file.
        file: String,
        /// Line and column, if known, both from 1.
        at: Option<(u64, u64)>,
        /// The field, e.g. `dtypes.kv` or `groups[2].rope`.
        field: String,
        /// What is wrong and what is allowed.
        message: String,
    },
    /// A data type that the model's groups cannot have.
    #[error(
        "model {model}: {role}: `{found}` is not a data type of its {}{}; allowed: {}",
        role.words(), did_you_mean(.suggestion), .allowed.join(", ")
    )]
    Dtype {
        /// The model.
        model: String,
        /// The field at fault.
        role: Role,
        /// What was asked for.
        found: String,
        /// What every group of this role can have.
        allowed: Vec<String>,
        /// The nearest allowed name.
        suggestion: Option<String>,
    },
    /// A data type for something that the model does not have.
    #[error(
        "model {model} has no {}, so `{role}` cannot be set; it has: {}",
        role.words(), .has.iter().map(|r| r.field()).collect::<Vec<_>>().join(", ")
    )]
    NoSuchRole {
        /// The model.
        model: String,
        /// The field at fault.
        role: Role,
        /// The fields that can be set.
        has: Vec<Role>,
    },
    /// A snapshot is to store something that the model does not have.
    #[error("model {model} has no {what}, so `checkpoint` cannot name them")]
    NothingToCheckpoint {
        /// The model.
        model: String,
        /// `windows` or `compressor tails`.
        what: &'static str,
    },
    /// The model's bytes do not fit.
    #[error(
        "model {model}: {what} is beyond what can be counted (2^64 bytes for a sequence of {tokens} tokens)"
    )]
    Overflow {
        /// The model.
        model: String,
        /// Which bytes.
        what: &'static str,
        /// The longest sequence that must be countable.
        tokens: u64,
    },
}

impl ModelError {
    /// The field of a model reference (`kv`, `checkpoint`, ...) that is at fault, if it is one,
    /// so that a scenario can point at it.
    pub fn field(&self) -> Option<&'static str> {
        match self {
            ModelError::Dtype { role, .. } | ModelError::NoSuchRole { role, .. } => {
                Some(role.field())
            }
            ModelError::NothingToCheckpoint { .. } => Some("checkpoint"),
            _ => None,
        }
    }
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    suggestion
        .as_ref()
        .map_or_else(String::new, |s| format!(" (did you mean `{s}`?)"))
}

fn position(at: &Option<(u64, u64)>) -> String {
    at.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"))
}
