//! Memory models: how an architecture stores the context of one sequence, in exact bytes.
//! A leaf: nothing here knows of agents, time or simulation, and nothing reads files.
//!
//! A model file ([`spec`]) lists layer groups; [`parse`] reads and checks it; [`catalogue`] holds
//! the files that come with the program; [`dtype`] gives the bytes of an entry in a data type;
//! [`parts`] says what each group stores; [`resolve`] adds the parts up into the closed form
//! ([`footprint`]).

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

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(name: &str, overrides: &Overrides, tokens: u64) -> u64 {
        lookup(name)
            .unwrap()
            .resolve(overrides, name)
            .unwrap()
            .footprint
            .bytes(tokens)
    }

    #[test]
    fn the_articles_numbers() {
        let plain = Overrides::default();
        assert_eq!(bytes("all-mla-93", &plain, 128_000), 13_713_408_000);
        assert_eq!(bytes("all-mla-93", &plain, 1_000_000), 107_136_000_000);
        let k3 = lookup("kimi-k3-article")
            .unwrap()
            .resolve(&plain, "k3")
            .unwrap()
            .footprint;
        assert_eq!(k3.kv_bytes(128_000), 3_538_944_000);
        assert_eq!(k3.kv_bytes(1 << 20), 28_991_029_248);
        assert_eq!(k3.state_bytes, 217_055_232);
        assert_eq!(50 * k3.snapshot_bytes(1), 10_852_761_600);
        assert_eq!(bytes("deepseek-v4-pro", &plain, 1 << 20), 5_802_431_488);
    }
}
