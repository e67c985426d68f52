//! fleetmem: how much memory a fleet of agents holds over time, under each memory model.
//!
//! Data flows one way: [`scenario`] (text to checked types) → [`workload`] (arrivals, agents,
//! draws) → [`simulate`] (events → token changes) → [`observe`] (exact integer accumulators)
//! → [`report`] (tables, CSV, charts). [`memory`] is a leaf that knows no simulation, and
//! [`cli`] only joins the parts.

pub mod cli;
pub mod memory;
pub mod observe;
pub mod report;
pub mod scenario;
pub mod simulate;
pub mod workload;
