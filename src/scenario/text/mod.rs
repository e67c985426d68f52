//! From text to a tree that remembers where everything was written, and reports that show it.
//! Nothing here knows what a scenario means.

mod node;
mod report;
mod set;
mod source;
mod tree;

pub use node::{Entry, Key, Kind, Node};
pub use report::{Report, ScenarioErrors, nearest, one_line};
pub use set::apply as apply_sets;
pub use source::{Sources, Span};
pub use tree::parse as parse_tree;

/// The longest scenario file, in bytes. Recorded data belongs in CSV or JSON files beside it.
pub const MAX_BYTES: usize = 4 << 20;
