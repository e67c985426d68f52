//! What one sequence holds, by identity: a token is (range, offset), a snapshot is a number. Two
//! sequences share a token, an entry or a snapshot exactly when the identities are the same.

use std::collections::BTreeMap;

/// A context's system prompt.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// Length, tokens.
    pub tokens: u64,
    /// (agent whose prompt it is, variant), if it is held once for all.
    pub shared: Option<(usize, u32)>,
}

impl Prompt {
    /// Tokens that a sequence does not hold itself.
    pub fn shared_tokens(&self) -> u64 {
        if self.shared.is_some() {
            self.tokens
        } else {
            0
        }
    }
}

/// The first `len` tokens of a range that was allocated once, at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    pub id: u64,
    pub len: u64,
}

/// A stored copy of checkpointed state.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    pub id: u64,
    /// Taken by this sequence, not inherited by a fork.
    pub own: bool,
}

/// The context of a run: its current sequence.
#[derive(Clone, Debug)]
pub struct Context {
    pub prompt: Prompt,
    /// T, which a release does not change.
    pub tokens: u64,
    /// Whether the sequence is in memory.
    pub held: bool,
    /// Whether the sequence's first step has started.
    pub begun: bool,
    /// The tokens above the shared prompt, in order; empty unless `held`.
    pub ranges: Vec<Range>,
    /// By position; empty unless `held`.
    pub snapshots: BTreeMap<u64, Snapshot>,
    /// Tokens up to here are another's, inherited by a fork.
    pub inherited: u64,
}

impl Context {
    /// A sequence that has not begun.
    pub fn new(prompt: Prompt) -> Context {
        Context {
            prompt,
            tokens: 0,
            held: false,
            begun: false,
            ranges: Vec::new(),
            snapshots: BTreeMap::new(),
            inherited: 0,
        }
    }

    /// A fork of this (held) context: the same tokens and snapshots, not begun.
    pub fn fork(&self) -> Context {
        let mut child = self.clone();
        child.begun = false;
        child.inherited = self.tokens;
        child.snapshots.values_mut().for_each(|s| s.own = false);
        child
    }

    /// Lets go of everything; T stays.
    pub fn release(&mut self) {
        self.held = false;
        self.ranges.clear();
        self.snapshots.clear();
        self.inherited = 0;
    }

    /// Adds `n` tokens with the identity `id`.
    pub fn append(&mut self, id: u64, n: u64) {
        if n > 0 {
            self.ranges.push(Range { id, len: n });
        }
    }

    /// Drops the tokens above `to` and the snapshots above it.
    pub fn truncate(&mut self, to: u64) {
        self.tokens = to;
        self.inherited = self.inherited.min(to);
        self.snapshots.retain(|&position, _| position <= to);
        let mut left = to - self.prompt.shared_tokens();
        for range in &mut self.ranges {
            range.len = range.len.min(left);
            left -= range.len;
        }
        self.ranges.retain(|range| range.len > 0);
    }

    /// Whether a snapshot at `position` would be new: not inside a shared prompt or inherited
    /// tokens, and not held already.
    pub fn wants_snapshot(&self, position: u64) -> bool {
        position > self.prompt.shared_tokens()
            && position > self.inherited
            && !self.snapshots.contains_key(&position)
    }

    /// Lets go of the lowest own snapshots beyond `keep`.
    pub fn trim_snapshots(&mut self, keep: Option<u64>) {
        let Some(keep) = keep else { return };
        while self.snapshots.values().filter(|s| s.own).count() as u64 > keep {
            let lowest = self
                .snapshots
                .iter()
                .find(|(_, s)| s.own)
                .map(|(&position, _)| position);
            self.snapshots
                .remove(&lowest.expect("more own snapshots than are kept"));
        }
    }

    /// Where recurrent state can resume at or below `position`.
    pub fn resume_point(&self, position: u64) -> u64 {
        let latest = self
            .snapshots
            .range(..=position)
            .next_back()
            .map_or(0, |(&p, _)| p);
        latest.max(self.prompt.shared_tokens())
    }
}
