//! Events → token changes: what agents do over time, posted to [`crate::observe`]. Knows no
//! files, no terminal, no YAML, and no model's bytes.
//!
//! [`life`] has the rules of an agent's life (design §3), [`holding`] and [`sharing`] what its
//! sequence holds, [`session`] the order in which a session's runs act, and [`fleet`] walks all
//! sessions through time.

mod calendar;
mod fleet;
mod holding;
mod life;
mod prepare;
mod run;
mod session;
mod sharing;
mod world;

pub use fleet::{Outcome, Watch, replicate};
pub use life::duration_ns;
pub use prepare::Prepared;

/// Why a simulation gave no result.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The watcher asked it to stop.
    #[error("the run was stopped")]
    Cancelled,
    /// A context passed what the engine counts.
    #[error("a context grew beyond 4,294,967,295 tokens; give the agent a `limit`")]
    ContextOverflow,
    /// Too many different compression ratios and windows at once.
    #[error("the models together have too many different windows and compression ratios; compare fewer at once")]
    TooManyShapes,
}
