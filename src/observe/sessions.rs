//! What each session holds and the most it held: the `session_peak_bytes` of docs/outputs.md.

use super::books::{LANES, Lanes, Plan};

/// The most bytes of a session that has not held memory for any time.
const NOTHING_YET: Lanes = [-1; LANES];

/// Bytes of one session under a group of rows.
#[derive(Clone, Copy, Debug)]
struct Cell {
    bytes: Lanes,
    peak: Lanes,
    /// When the bytes last changed.
    since: u64,
}

impl Cell {
    /// A level counts once time moves on from it.
    #[inline]
    fn settle(&mut self) {
        for (peak, bytes) in self.peak.iter_mut().zip(self.bytes) {
            *peak = (*peak).max(bytes);
        }
    }
}

/// The live sessions' bytes, and the peaks of those that were over inside the window.
#[derive(Debug)]
pub struct SessionPeaks {
    /// One per session slot and group of rows.
    cells: Vec<Cell>,
    groups: usize,
    /// Most bytes of each session that was over inside the window, per row.
    ended: Vec<Vec<u64>>,
}

impl SessionPeaks {
    /// No sessions yet.
    pub fn new(plan: &Plan) -> SessionPeaks {
        SessionPeaks {
            cells: Vec::new(),
            groups: plan.scope_groups.last().map_or(0, |groups| groups.end),
            ended: vec![Vec::new(); plan.rows.len()],
        }
    }

    /// A session that arrives at `at` takes a slot.
    pub fn open(&mut self, slot: u32, at: u64) {
        let cells = self.cells_of(slot);
        let fresh = Cell {
            bytes: [0; LANES],
            peak: NOTHING_YET,
            since: at,
        };
        if self.cells.len() < cells.end {
            self.cells.resize(cells.end, fresh);
        }
        self.cells[cells].fill(fresh);
    }

    /// The bytes of a session change under a group of rows.
    #[inline]
    pub fn change(&mut self, slot: u32, group: usize, at: u64, bytes: &Lanes) {
        let cell = &mut self.cells[slot as usize * self.groups + group];
        if at > cell.since {
            cell.settle();
            cell.since = at;
        }
        for (held, change) in cell.bytes.iter_mut().zip(bytes) {
            *held += change;
        }
    }

    /// A session is over: nothing of it is held, and nothing will be.
    pub fn close(&mut self, slot: u32, plan: &Plan) {
        let cells = &self.cells[self.cells_of(slot)];
        debug_assert!(cells.iter().all(|cell| cell.bytes == [0; LANES]));
        // One that never held memory for any time has no end inside the window.
        let held = cells.iter().any(|cell| cell.peak != NOTHING_YET);
        let last = cells.iter().map(|cell| cell.since).max();
        if held && last.is_some_and(|at| at >= plan.window.0) {
            self.note(slot, plan);
        }
    }

    /// p50, p95 and p99 of each row's peaks. If no session was over inside the window, those that
    /// hold memory at its end, in the slots `open`, stand in.
    pub fn quantiles(mut self, plan: &Plan, open: impl Iterator<Item = u32>) -> Vec<[u64; 3]> {
        if self.ended.first().is_some_and(Vec::is_empty) {
            for slot in open {
                let cells = self.cells_of(slot);
                self.cells[cells].iter_mut().for_each(Cell::settle);
                self.note(slot, plan);
            }
        }
        let rows = self.ended.iter_mut();
        rows.map(|peaks| rank_quantiles(peaks)).collect()
    }

    fn cells_of(&self, slot: u32) -> std::ops::Range<usize> {
        let first = slot as usize * self.groups;
        first..first + self.groups
    }

    /// Adds the most bytes that a session held under each row to the rows' lists.
    fn note(&mut self, slot: u32, plan: &Plan) {
        let first = self.cells_of(slot).start;
        for (scope, rows) in plan.scope_rows.iter().enumerate() {
            for (index, row) in rows.clone().enumerate() {
                let cell = &self.cells[first + plan.scope_groups[scope].start + index / LANES];
                self.ended[row].push(cell.peak[index % LANES].max(0) as u64);
            }
        }
    }
}

/// p50, p95 and p99 by rank: the value at `ceil(q * n)`, counted from 1.
fn rank_quantiles(values: &mut [u64]) -> [u64; 3] {
    values.sort_unstable();
    [50_u128, 95, 99].map(|percent| {
        let rank = (percent * values.len() as u128).div_ceil(100) as usize;
        values.get(rank.max(1) - 1).copied().unwrap_or(0)
    })
}
