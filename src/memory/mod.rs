//! Memory models: how an architecture stores the context of one sequence, in exact bytes.
//! A leaf: nothing here knows of agents, time or simulation, and nothing reads files.
//!
//! A model file ([`spec`]) lists layer groups; [`parse`] reads and checks it; `catalogue` holds
//! the files that come with the program; [`dtype`] gives the bytes of an entry in a data type;
//! [`parts`] says what each group stores; [`resolve`] adds the parts up into the closed form
//! ([`Footprint`]).

mod catalogue;
pub mod dtype;
mod error;
mod footprint;
pub mod parse;
pub mod parts;
pub mod resolve;
pub mod spec;

pub use catalogue::{catalogue, lookup};
pub use dtype::Role;
pub use error::ModelError;
pub use footprint::{Entry, Footprint, Growth, Window};
pub use parse::parse_model;
pub use resolve::{Overrides, Resolved};
pub use spec::{Checkpoint, ModelSpec};

/// The longest sequence that every resolved model can count in 64 bits, tokens. No sequence may
/// be longer.
pub const MAX_SEQUENCE_TOKENS: u64 = 1 << 36;

/// A memory model with its data types resolved: what the simulator and the tables need.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryModel {
    /// The name that rows and files use: the catalogue name, or the user's `as`.
    pub label: String,
    /// Data types in words for legends, e.g. `bf16 KV, fp32 state`.
    pub dtypes: String,
    /// Bytes that the weights take once (one copy), 0 if unknown.
    pub weights_bytes: u64,
    /// The closed form that gives bytes from tokens.
    pub footprint: Footprint,
}
