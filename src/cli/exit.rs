//! Exit codes, and how an error becomes one.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use crate::memory::ModelError;
use crate::scenario::ScenarioErrors;
use crate::simulate::SimulateError;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    /// The run failed.
    Failed = 1,
    /// The input is bad; nothing was written.
    BadInput = 2,
    /// Stopped by the user; earlier results are whole.
    Interrupted = 130,
}

/// An error in what the user gave: exit code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct BadInput(pub String);

/// The exit code that an error means.
pub fn code(error: &anyhow::Error) -> Exit {
    if error.is::<BadInput>() || error.is::<ModelError>() || error.is::<ScenarioErrors>() {
        return Exit::BadInput;
    }
    match error.downcast_ref::<SimulateError>() {
        Some(SimulateError::Cancelled) => Exit::Interrupted,
        Some(
            SimulateError::ContextOverflow
            | SimulateError::BytesOverflow
            | SimulateError::TooManyShapes,
        ) => Exit::BadInput,
        None => Exit::Failed,
    }
}

/// Whether an error says that whoever read our output has gone: no fault of the run.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error
        .chain()
        .filter_map(|e| e.downcast_ref::<std::io::Error>());
    io.into_iter().any(|e| e.kind() == ErrorKind::BrokenPipe)
}

/// Prints an error and returns the exit code.
pub fn report(result: anyhow::Result<()>) -> ExitCode {
    let exit = match &result {
        Ok(()) => Exit::Done,
        Err(error) if is_broken_pipe(error) => Exit::Done,
        Err(error) => {
            let text = format!("{error:#}");
            // A report of several errors has its own headings.
            let heading = if text.starts_with("error") {
                ""
            } else {
                "error: "
            };
            // Nothing is left to do if stderr is closed too.
            let _ = writeln!(std::io::stderr(), "{heading}{}", text.trim_end());
            code(error)
        }
    };
    ExitCode::from(exit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_map_to_the_contract_exit_codes() {
        assert_eq!(code(&BadInput("x".into()).into()), Exit::BadInput);
        assert_eq!(code(&SimulateError::Cancelled.into()), Exit::Interrupted);
        assert_eq!(code(&SimulateError::ContextOverflow.into()), Exit::BadInput);
        assert_eq!(code(&anyhow::anyhow!("disk full")), Exit::Failed);
        assert!(is_broken_pipe(
            &std::io::Error::from(ErrorKind::BrokenPipe).into()
        ));
    }
}
