//! Arrivals, agents as samplers, and draws keyed by their meaning. Knows no bytes.

pub mod arrivals;
pub mod draws;
mod sampler;
pub mod template;

pub use draws::{Field, RunKey};
pub use sampler::Sampler;
pub use template::{RunDraws, Template};
