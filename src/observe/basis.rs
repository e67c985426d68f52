//! What the engine counts of a sequence, so that every model's bytes are a linear function of it.
//!
//! The workload is simulated once: a change of tokens becomes a change of a few integers (whole
//! entries for each compression ratio, window tokens, live sequences, snapshots), and each model
//! weighs them with its own bytes. More models cost little and see one timeline.

use crate::memory::Footprint;

/// Most features a scenario's models may need together.
pub const MAX_FEATURES: usize = 24;

/// Feature counts of a sequence, or a change of them. `N` is at least the basis's length: a
/// fixed width lets the compiler unroll the loops that every event goes through.
pub type Vector<const N: usize> = [i64; N];

/// The features that a set of models needs: `entries[ratio]`, `windows[length]`, sequences,
/// snapshots, `snapshot windows[length]`, in this order.
#[derive(Clone, Debug)]
pub struct Basis {
    ratios: Vec<Ratio>,
    windows: Vec<u32>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Ratio {
    tokens: u32,
    /// log2 of `tokens` where that is whole: a shift is far cheaper than a division.
    shift: Option<u32>,
}

impl Ratio {
    fn new(tokens: u32) -> Ratio {
        Ratio {
            tokens,
            shift: tokens.is_power_of_two().then(|| tokens.trailing_zeros()),
        }
    }

    #[inline]
    fn entries(self, tokens: u32) -> u32 {
        match self.shift {
            Some(shift) => tokens >> shift,
            None => tokens / self.tokens,
        }
    }
}

impl Basis {
    /// The basis of these models, or `None` if it would pass [`MAX_FEATURES`] (or a ratio or
    /// window passes 2^32 tokens). Ratio 1 comes first, whether or not a model uses it: its
    /// count is the number of tokens held.
    pub fn new<'a>(footprints: impl Iterator<Item = &'a Footprint> + Clone) -> Option<Basis> {
        let mut ratios = vec![1_u32];
        let mut windows = Vec::new();
        for footprint in footprints {
            for entry in &footprint.entries {
                ratios.push(u32::try_from(entry.ratio).ok()?);
            }
            for window in &footprint.windows {
                // A window longer than any context is as good as one of the longest context.
                windows.push(u32::try_from(window.tokens).unwrap_or(u32::MAX));
            }
        }
        for list in [&mut ratios, &mut windows] {
            list.sort_unstable();
            list.dedup();
        }
        let len = ratios.len() + 2 * windows.len() + 2;
        (len <= MAX_FEATURES).then(|| Basis {
            ratios: ratios.into_iter().map(Ratio::new).collect(),
            windows,
            len,
        })
    }

    /// Number of features.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Always false: tokens are always counted.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Index of the feature that counts sequences.
    pub fn sequences(&self) -> usize {
        self.ratios.len() + self.windows.len()
    }

    /// Index of the feature that counts snapshots.
    pub fn snapshots(&self) -> usize {
        self.sequences() + 1
    }

    /// The longest window (0 if none): a snapshot at or beyond it stores full windows.
    pub fn longest_window(&self) -> u32 {
        self.windows.last().copied().unwrap_or(0)
    }

    /// Bytes of each feature under a model.
    pub fn coefficients(&self, footprint: &Footprint) -> Vec<i64> {
        let mut out = vec![0; self.len];
        for entry in &footprint.entries {
            let at = self
                .ratios
                .iter()
                .position(|r| u64::from(r.tokens) == entry.ratio);
            if let Some(at) = at {
                out[at] += entry.bytes as i64;
            }
        }
        for window in &footprint.windows {
            let tokens = u32::try_from(window.tokens).unwrap_or(u32::MAX);
            if let Some(at) = self.windows.iter().position(|w| *w == tokens) {
                out[self.ratios.len() + at] += window.bytes as i64;
                out[self.snapshots() + 1 + at] += window.snapshot_bytes as i64;
            }
        }
        out[self.sequences()] = (footprint.state_bytes + footprint.tail_bytes) as i64;
        out[self.snapshots()] = footprint.snapshot_state_bytes as i64;
        out
    }

    /// Adds the entries that a range of a context completes: `floor(to / c) - floor(from / c)`.
    #[inline]
    pub fn add_entries<const N: usize>(&self, out: &mut Vector<N>, from: u32, to: u32, sign: i64) {
        for (at, ratio) in self.ratios.iter().enumerate() {
            out[at] += sign * (i64::from(ratio.entries(to)) - i64::from(ratio.entries(from)));
        }
    }

    /// Adds what a sequence of `tokens` tokens never shares: its windows, and itself.
    #[inline]
    pub fn add_sequence<const N: usize>(&self, out: &mut Vector<N>, tokens: u32, sign: i64) {
        let base = self.ratios.len();
        for (at, window) in self.windows.iter().enumerate() {
            out[base + at] += sign * i64::from(tokens.min(*window));
        }
        out[self.sequences()] += sign;
    }

    /// Adds what growing from `from` to `to` tokens changes in the windows.
    #[inline]
    pub fn add_window_growth<const N: usize>(&self, out: &mut Vector<N>, from: u32, to: u32) {
        if from < self.longest_window() {
            let base = self.ratios.len();
            for (at, window) in self.windows.iter().enumerate() {
                out[base + at] += i64::from(to.min(*window)) - i64::from(from.min(*window));
            }
        }
    }

    /// Adds one snapshot at `position`.
    #[inline]
    pub fn add_snapshot<const N: usize>(&self, out: &mut Vector<N>, position: u32, sign: i64) {
        out[self.snapshots()] += sign;
        let base = self.snapshots() + 1;
        for (at, window) in self.windows.iter().enumerate() {
            out[base + at] += sign * i64::from(position.min(*window));
        }
    }

    /// Adds `count` snapshots that lie at or beyond the longest window.
    #[inline]
    pub fn add_full_snapshots<const N: usize>(&self, out: &mut Vector<N>, count: u32, sign: i64) {
        let count = sign * i64::from(count);
        out[self.snapshots()] += count;
        let base = self.snapshots() + 1;
        for (at, window) in self.windows.iter().enumerate() {
            out[base + at] += count * i64::from(*window);
        }
    }
}
