//! The closed form of a memory model: design §4, compiled to a few integers.

/// Whole entries that grow with the context: `bytes * floor(T / ratio)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Tokens per entry: 1 for full attention, MLA and their indexers; 4 or 128 for CSA/HCA.
    pub ratio: u64,
    /// Bytes of one entry, all layers together.
    pub bytes: u64,
}

/// Sliding-window entries: `bytes * min(T, tokens)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Window length in tokens.
    pub tokens: u64,
    /// Bytes per token inside the window, all layers together.
    pub bytes: u64,
    /// Bytes per token inside the window that a snapshot stores (0 if not checkpointed).
    pub snapshot_bytes: u64,
}

/// What one sequence of `T` tokens holds, as integers (logical basis, `ideal` layout).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// One item per distinct ratio, ascending.
    pub entries: Vec<Entry>,
    /// One item per distinct window, ascending.
    pub windows: Vec<Window>,
    /// Recurrent and convolution state of a sequence (bytes; 0 at T = 0).
    pub state_bytes: u64,
    /// Compressor tails of a sequence (bytes; 0 at T = 0).
    pub tail_bytes: u64,
    /// The part of a snapshot that does not depend on its position: recurrent and convolution
    /// state always, compressor tails by the model's `checkpoint` field (bytes).
    pub snapshot_state_bytes: u64,
}

impl Footprint {
    /// Bytes that one sequence of `tokens` tokens holds, snapshots not included.
    pub fn bytes(&self, tokens: u64) -> u64 {
        if tokens == 0 {
            return 0;
        }
        self.kv_bytes(tokens) + self.state_bytes + self.tail_bytes
    }

    /// The part of [`Footprint::bytes`] that is KV: entries, indexers and windows.
    pub fn kv_bytes(&self, tokens: u64) -> u64 {
        let entries: u64 = self.entries.iter().map(|e| e.bytes * (tokens / e.ratio)).sum();
        let windows: u64 = self.windows.iter().map(|w| w.bytes * tokens.min(w.tokens)).sum();
        entries + windows
    }

    /// Bytes of one snapshot taken at position `tokens`.
    pub fn snapshot_bytes(&self, tokens: u64) -> u64 {
        if tokens == 0 {
            return 0;
        }
        let windows: u64 = self.windows.iter().map(|w| w.snapshot_bytes * tokens.min(w.tokens)).sum();
        self.snapshot_state_bytes + windows
    }

    /// Whether the model has state that must be checkpointed to resume a prefix.
    pub fn is_checkpointed(&self) -> bool {
        self.snapshot_state_bytes > 0 || self.windows.iter().any(|w| w.snapshot_bytes > 0)
    }
}
