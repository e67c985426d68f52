//! Memory models: how an architecture stores the context of one sequence, in exact bytes.
//! A leaf: nothing here knows of agents, time or simulation.

mod footprint;

pub use footprint::{Entry, Footprint, Window};

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
