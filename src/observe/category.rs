//! What bytes are split by: whose they are, and what the sequence is doing.

/// Which subagents are whose, for the split by owner. The discriminants index the split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Role {
    Main = 0,
    Sync = 1,
    Async = 2,
}

/// What a sequence is doing. The discriminants index the split by activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Activity {
    Running = 0,
    Tool = 1,
    Blocked = 2,
    User = 3,
    Finished = 4,
}

/// Number of [`Role`]s.
pub const ROLES: usize = 3;
/// Number of [`Activity`]s.
pub const ACTIVITIES: usize = 5;

/// Index of the category (agent, role, activity).
#[inline]
pub fn category(agent: u16, role: Role, activity: Activity) -> usize {
    (usize::from(agent) * ROLES + role as usize) * ACTIVITIES + activity as usize
}
