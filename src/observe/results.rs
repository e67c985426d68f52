//! What a run measured: exact integers per replication, the only thing that reports read.

/// Everything a run measured.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Length of the measured window, ns.
    pub measure_ns: u64,
    /// Warm-up that was simulated, ns.
    pub warmup_ns: u64,
    /// Width of a timeline bin, ns (the last bin may be shorter).
    pub bin_ns: u64,
    /// Events simulated, warm-up included, over all replications.
    pub events: u64,
    /// One row per model: compared models first (scenario order), then the fixed ones.
    pub rows: Vec<ModelRow>,
    /// Agent names, for [`RowReplication::agents`].
    pub agent_names: Vec<String>,
    /// Warnings that only the run could find, one sentence each.
    pub warnings: Vec<String>,
}

/// The results of one model.
#[derive(Clone, Debug)]
pub struct ModelRow {
    /// The model, with label, data types and weights.
    pub model: crate::memory::MemoryModel,
    /// Whether this row is for agents on a fixed model.
    pub fixed: bool,
    /// One per replication, in order; never empty.
    pub replications: Vec<RowReplication>,
}

/// What one replication measured for one model, over [0, measure).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowReplication {
    /// Exact integral of the bytes held, byte-ns.
    pub byte_ns: u128,
    /// Largest bytes held by a state that lasts.
    pub peak_bytes: u64,
    /// First instant of the peak, ns since time 0.
    pub peak_ns: u64,
    /// Time-weighted quantiles of the bytes held (p50, p95, p99), within 0.1%.
    pub quantile_bytes: [u64; 3],
    /// Integral of the bytes of shared prompts (their snapshots too), byte-ns.
    pub shared_byte_ns: u128,
    /// Integrals by what: `kv`, `state`, `snapshot`; with `shared` they add up to `byte_ns`.
    pub kind_byte_ns: [u128; 3],
    /// Integrals by whose: `main`, `sync`, `async`.
    pub owner_byte_ns: [u128; 3],
    /// Integrals by activity: `running`, `tool`, `blocked`, `user`, `finished`.
    pub activity_byte_ns: [u128; 5],
    /// Integral of the number of sequences that hold memory, sequence-ns.
    pub sequence_ns: u128,
    /// Most sequences that held memory at once.
    pub peak_sequences: u64,
    /// Integral of the number of running sequences, sequence-ns.
    pub running_ns: u128,
    /// Time-weighted p99 of the number of running sequences.
    pub p99_running: u64,
    /// Integral of the tokens held (shared ones once), token-ns.
    pub token_ns: u128,
    /// Event counts.
    pub counts: Counts,
    /// Quantiles (p50, p95, p99) over sessions of the most bytes a session held.
    pub session_peak_bytes: [u64; 3],
    /// Timeline bins, in order.
    pub bins: Vec<Bin>,
    /// Per agent of this row (index into `agent_names`), agents that ran only.
    pub agents: Vec<AgentRow>,
}

/// Counts of what happened in [0, measure).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub sessions_started: u64,
    pub sequences_started: u64,
    pub steps: u64,
    pub tokens_prefilled: u64,
    pub tokens_decoded: u64,
    pub tokens_recomputed: u64,
    pub snapshots_taken: u64,
    pub compactions: u64,
    pub rewinds: u64,
}

/// One timeline bin of one replication and model. Integrals are byte-ns over the bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    pub total: u128,
    /// Least and most bytes held by a state that lasts, inside the bin.
    pub min: u64,
    pub max: u64,
    pub shared: u128,
    /// `kv`, `state`, `snapshot`.
    pub kind: [u128; 3],
    /// `main`, `sync`, `async`.
    pub owner: [u128; 3],
    /// `running`, `tool`, `blocked`, `user`, `finished`.
    pub activity: [u128; 5],
}

/// What one agent held under one model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentRow {
    /// Index into [`RunResult::agent_names`].
    pub agent: usize,
    /// Event counts of this agent (its `sessions_started` counts root runs).
    pub counts: Counts,
    /// Integral of the bytes it held (shared prompts not included), byte-ns.
    pub byte_ns: u128,
    /// Most bytes all its sequences held at once.
    pub peak_bytes: u64,
}
