//! The closed form of a memory model: docs/models.md, compiled to a few integers.

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

/// A rate of bytes per token as a fraction in lowest terms: `bytes` per `tokens` tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Bytes that `tokens` more tokens add.
    pub bytes: u128,
    /// Tokens, at least 1.
    pub tokens: u128,
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
        let entries: u64 = self
            .entries
            .iter()
            .map(|e| e.bytes * (tokens / e.ratio))
            .sum();
        let windows: u64 = self
            .windows
            .iter()
            .map(|w| w.bytes * tokens.min(w.tokens))
            .sum();
        entries + windows
    }

    /// Bytes of one snapshot taken at position `tokens`.
    pub fn snapshot_bytes(&self, tokens: u64) -> u64 {
        if tokens == 0 {
            return 0;
        }
        let windows: u64 = self
            .windows
            .iter()
            .map(|w| w.snapshot_bytes * tokens.min(w.tokens))
            .sum();
        self.snapshot_state_bytes + windows
    }

    /// [`Footprint::bytes`], or `None` beyond 64 bits. A resolved model never exceeds them up to
    /// [`super::MAX_SEQUENCE_TOKENS`].
    pub fn checked_bytes(&self, tokens: u64) -> Option<u64> {
        if tokens == 0 {
            return Some(0);
        }
        let mut sum = self.state_bytes.checked_add(self.tail_bytes)?;
        for entry in &self.entries {
            sum = sum.checked_add(entry.bytes.checked_mul(tokens / entry.ratio)?)?;
        }
        for window in &self.windows {
            sum = sum.checked_add(window.bytes.checked_mul(tokens.min(window.tokens))?)?;
        }
        Some(sum)
    }

    /// What a sequence holds beyond its entries once every window is full (bytes).
    pub fn constant_bytes(&self) -> u64 {
        let windows: u64 = self.windows.iter().map(|w| w.bytes * w.tokens).sum();
        windows + self.state_bytes + self.tail_bytes
    }

    /// Bytes of a snapshot once every window is full.
    pub fn full_snapshot_bytes(&self) -> u64 {
        self.snapshot_bytes(u64::MAX)
    }

    /// How fast entries grow with the context, exactly. `None` if the ratios' least common
    /// multiple passes 2^40, which a resolved model's never does.
    pub fn checked_growth(&self) -> Option<Growth> {
        let mut tokens: u128 = 1;
        for entry in &self.entries {
            let ratio = u128::from(entry.ratio);
            tokens = tokens / gcd(tokens, ratio) * ratio;
            if tokens > 1 << 40 {
                return None;
            }
        }
        let bytes: u128 = self
            .entries
            .iter()
            .map(|e| u128::from(e.bytes) * (tokens / u128::from(e.ratio)))
            .sum();
        let common = gcd(bytes, tokens).max(1);
        Some(Growth {
            bytes: bytes / common,
            tokens: tokens / common,
        })
    }

    /// How many tokens of entries a snapshot is worth, rounded half up; `None` if entries do not
    /// grow. Snapshots taken more often than this outweigh the entries themselves.
    pub fn snapshot_tokens(&self) -> Option<u128> {
        let growth = self.checked_growth().filter(|g| g.bytes > 0)?;
        let scaled = u128::from(self.full_snapshot_bytes()) * growth.tokens;
        Some((2 * scaled + growth.bytes) / (2 * growth.bytes))
    }

    /// Whether the model has state that must be checkpointed to resume a prefix.
    pub fn is_checkpointed(&self) -> bool {
        self.snapshot_state_bytes > 0 || self.windows.iter().any(|w| w.snapshot_bytes > 0)
    }
}

fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
