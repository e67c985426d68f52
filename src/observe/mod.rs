//! Exact integer accumulators: what the simulation posts is integrated, its extremes are kept, and
//! the result is a [`results::RunResult`]. Knows models' bytes and categories; no agents' rules,
//! no files.

mod basis;
mod books;
mod category;
mod extremes;
mod histogram;
mod ledger;
mod order;
pub mod results;
mod sessions;

pub use basis::{Basis, MAX_FEATURES, Vector};
pub use books::{AgentCounts, Books, Change, Plan, RowPlan, SharedPrompt};
pub use category::{ACTIVITIES, Activity, ROLES, Role, category};
