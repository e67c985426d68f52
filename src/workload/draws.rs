//! Draws keyed by meaning (rule 15): every draw is a function of the seed, replication,
//! workload entry, session, path in the tree, turn, step, field and index; never of order.

/// What a draw is for. The number is part of the key: never renumber.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Field {
    Turns = 1,
    MaxDuration = 2,
    LimitTokens = 3,
    CompactTo = 4,
    SessionFactor = 5,
    FirstPrompt = 6,
    SystemPrompt = 7,
    Variant = 8,
    Steps = 9,
    Prompt = 10,
    ToolTokens = 11,
    ToolTime = 12,
    Output = 13,
    Think = 14,
    RewindHappens = 15,
    RewindDepth = 16,
    SpawnHappens = 17,
    SpawnCount = 18,
    Task = 19,
    Result = 20,
    ArrivalGap = 21,
}

/// Identity of one agent run (a session's root or a subagent): a hash of its place in the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunKey(pub u64);

/// A bijective finaliser with full avalanche ("splitmix64", variant 13 of D. Stafford,
/// <https://zimbry.blogspot.com/2011/09/better-bit-mixing-improving-on.html>).
#[inline]
pub fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 64-bit FNV-1a of a name, mixed: names are part of draw keys so that adding an entry elsewhere
/// in the file changes no draw.
pub fn hash_name(name: &str) -> u64 {
    let mut h: u64 = 0xcbf2_9ce4_8422_2325;
    for b in name.bytes() {
        h = (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mix64(h)
}

#[inline]
fn absorb(state: u64, word: u64) -> u64 {
    mix64(
        state
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .wrapping_add(word)
            .wrapping_add(0x632b_e59b_d9b4_e019),
    )
}

impl RunKey {
    /// The stream of a workload entry: its arrivals.
    pub fn entry(seed: u64, replication: u32, entry: &str) -> RunKey {
        RunKey(absorb(
            absorb(mix64(seed ^ 0x666c_6565_746d_656d), u64::from(replication)),
            hash_name(entry),
        ))
    }

    /// The root agent of session number `session` (0-based, per entry and replication).
    /// `self` is the entry's key.
    pub fn session(self, session: u64) -> RunKey {
        RunKey(absorb(self.0, session ^ 0x5e55_0000_0000_0000))
    }

    /// Child number `index` of spawn `spawn` (its [`hash_name`]) at a step of this run.
    pub fn child(self, spawn: u64, turn: u32, step: u32, index: u32) -> RunKey {
        let place = (u64::from(turn) << 32) | u64::from(step);
        RunKey(absorb(
            absorb(absorb(self.0, spawn), place),
            u64::from(index),
        ))
    }

    /// Uniform 64 bits for `field` at (turn, step, index).
    #[inline]
    pub fn draw(self, field: Field, turn: u32, step: u32, index: u32) -> u64 {
        let place = (u64::from(turn) << 32) | u64::from(step);
        absorb(
            absorb(self.0 ^ ((field as u64) << 56), place),
            u64::from(index),
        )
    }
}

#[cfg(test)]
mod tests;
