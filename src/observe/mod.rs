//! Exact integer accumulators, merged over replications.
pub mod results;
