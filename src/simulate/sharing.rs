//! Shared parts of forked contexts (design rule 9): the tree of context segments and snapshots of
//! one session, each counted once and owned by its oldest holder.
//!
//! Only sequences that forked or were forked are here; the others hold their context alone and
//! are plain arithmetic in [`super::holding`].

use std::collections::BTreeMap;

use crate::observe::{Basis, Vector};

/// Age of a holder and its place among the session's runs. Orders by age.
pub type Holder = ((u64, u16, u32), u32);

const NO_NODE: u32 = u32::MAX;

/// A part changed owner: `features` are now the run's at this place.
#[derive(Clone, Debug, PartialEq)]
pub struct Handover<const N: usize> {
    /// Place of the new owner among the session's runs.
    pub to: u32,
    /// What it now owns besides.
    pub features: Vector<N>,
}

/// A stretch of context that the same sequences hold.
#[derive(Clone, Debug)]
struct Segment {
    /// The segment before it in the context.
    parent: u32,
    start: u32,
    end: u32,
    /// Ascending by age; empty: a free slot.
    holders: Vec<Holder>,
}

/// A snapshot that several sequences may hold.
#[derive(Clone, Debug)]
struct SharedSnapshot {
    position: u32,
    /// Ascending by age; empty: a free slot.
    holders: Vec<Holder>,
}

/// What one sequence holds of the tree.
#[derive(Clone, Debug)]
struct Branch {
    me: Holder,
    /// The last segment of its context.
    tip: u32,
    /// Its own snapshots, ascending by position.
    own: Vec<u32>,
    /// Snapshots that it inherited, ascending by position.
    inherited: Vec<u32>,
}

/// The shared contexts of one session.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    segments: Vec<Segment>,
    snapshots: Vec<SharedSnapshot>,
    branches: BTreeMap<u32, Branch>,
}

fn hold(holders: &mut Vec<Holder>, me: Holder) {
    if let Err(at) = holders.binary_search(&me) {
        holders.insert(at, me);
    }
}

/// Removes a holder; says who owns the part next, if it was the owner and others remain.
fn let_go(holders: &mut Vec<Holder>, me: Holder) -> Option<u32> {
    let at = holders.iter().position(|h| *h == me)?;
    holders.remove(at);
    if at == 0 {
        holders.first().map(|h| h.1)
    } else {
        None
    }
}

fn slot<T>(items: &mut Vec<T>, is_free: impl Fn(&T) -> bool, item: T) -> u32 {
    if let Some(at) = items.iter().position(is_free) {
        items[at] = item;
        return at as u32;
    }
    items.push(item);
    (items.len() - 1) as u32
}

impl Tree {
    /// Brings in a sequence that held its context alone: tokens `start..end` and snapshots.
    pub fn adopt(&mut self, me: Holder, start: u32, end: u32, snapshots: &[u32]) {
        let tip = self.segment(NO_NODE, start, end, vec![me]);
        let own = snapshots
            .iter()
            .map(|p| self.snapshot(*p, vec![me]))
            .collect();
        self.branches.insert(
            me.1,
            Branch {
                me,
                tip,
                own,
                inherited: Vec::new(),
            },
        );
    }

    /// Whether the run at `place` is in the tree.
    pub fn contains(&self, place: u32) -> bool {
        self.branches.contains_key(&place)
    }

    /// A fork: `child` holds all that the sequence at `parent` holds.
    pub fn fork(&mut self, parent: u32, child: Holder) {
        let Some(from) = self.branches.get(&parent) else {
            return;
        };
        let mut inherited: Vec<u32> = from.inherited.iter().chain(&from.own).copied().collect();
        inherited.sort_by_key(|s| self.snapshots[*s as usize].position);
        let tip = from.tip;
        let mut at = tip;
        while at != NO_NODE {
            hold(&mut self.segments[at as usize].holders, child);
            at = self.segments[at as usize].parent;
        }
        for s in &inherited {
            hold(&mut self.snapshots[*s as usize].holders, child);
        }
        self.branches.insert(
            child.1,
            Branch {
                me: child,
                tip,
                own: Vec::new(),
                inherited,
            },
        );
    }

    /// The sequence at `place` grows to `end` tokens.
    pub fn extend(&mut self, place: u32, end: u32) {
        let Some(branch) = self.branches.get(&place) else {
            return;
        };
        let (me, tip) = (branch.me, branch.tip);
        let segment = &mut self.segments[tip as usize];
        if segment.end >= end {
            return;
        }
        if segment.holders.len() == 1 {
            segment.end = end;
            return;
        }
        let start = segment.end;
        let tip = self.segment(tip, start, end, vec![me]);
        if let Some(branch) = self.branches.get_mut(&place) {
            branch.tip = tip;
        }
    }

    /// The entries and snapshots that the run at `place` owns: those of which it is the oldest
    /// holder.
    pub fn owned<const N: usize>(&self, place: u32, basis: &Basis) -> Vector<N> {
        let mut out = [0; N];
        let Some(branch) = self.branches.get(&place) else {
            return out;
        };
        let mut at = branch.tip;
        while at != NO_NODE {
            let segment = &self.segments[at as usize];
            if segment.holders.first() == Some(&branch.me) {
                basis.add_entries(&mut out, segment.start, segment.end, 1);
            }
            at = segment.parent;
        }
        for s in branch.own.iter().chain(&branch.inherited) {
            let snapshot = &self.snapshots[*s as usize];
            if snapshot.holders.first() == Some(&branch.me) {
                basis.add_snapshot(&mut out, snapshot.position, 1);
            }
        }
        out
    }

    /// The latest snapshot that the run at `place` holds at or below `limit` tokens.
    pub fn latest_snapshot(&self, place: u32, limit: u32) -> Option<u32> {
        let branch = self.branches.get(&place)?;
        // Both lists ascend, so the first hit from the end is the latest.
        let latest = |ids: &[u32]| {
            let positions = ids
                .iter()
                .rev()
                .map(|s| self.snapshots[*s as usize].position);
            positions.into_iter().find(|p| *p <= limit)
        };
        latest(&branch.own).max(latest(&branch.inherited))
    }

    /// Takes a snapshot of the run at `place`; false if it already holds one at this position.
    /// `keep`: it lets go of its own oldest beyond this many.
    pub fn take_snapshot<const N: usize>(
        &mut self,
        place: u32,
        position: u32,
        keep: Option<u64>,
        basis: &Basis,
        handovers: &mut Vec<Handover<N>>,
    ) -> bool {
        if self.latest_snapshot(place, position) == Some(position) {
            return false;
        }
        let Some(me) = self.branches.get(&place).map(|b| b.me) else {
            return false;
        };
        let id = self.snapshot(position, vec![me]);
        let mut dropped = Vec::new();
        if let Some(branch) = self.branches.get_mut(&place) {
            branch.own.push(id);
            if let Some(keep) = keep {
                let excess = (branch.own.len() as u64).saturating_sub(keep) as usize;
                dropped = branch.own.drain(..excess).collect();
            }
        }
        for id in dropped {
            self.drop_snapshot(id, me, basis, handovers);
        }
        true
    }

    /// The run at `place` drops its context above `to` tokens, snapshots too.
    pub fn rewind<const N: usize>(
        &mut self,
        place: u32,
        to: u32,
        basis: &Basis,
        handovers: &mut Vec<Handover<N>>,
    ) {
        let Some(branch) = self.branches.get(&place) else {
            return;
        };
        let (me, mut tip) = (branch.me, branch.tip);
        let mut dropped = Vec::new();
        let snapshots = &self.snapshots;
        if let Some(branch) = self.branches.get_mut(&place) {
            for list in [&mut branch.own, &mut branch.inherited] {
                let kept = list.partition_point(|s| snapshots[*s as usize].position <= to);
                dropped.extend(list.drain(kept..));
            }
        }
        for id in dropped {
            self.drop_snapshot(id, me, basis, handovers);
        }
        // Whole segments above the cut go. The first segment stays, even if it becomes empty.
        while self.segments[tip as usize].start >= to
            && self.segments[tip as usize].parent != NO_NODE
        {
            let before = self.segments[tip as usize].parent;
            self.drop_segment(tip, me, basis, handovers);
            tip = before;
        }
        if self.segments[tip as usize].end > to {
            if self.segments[tip as usize].holders.len() == 1 {
                self.segments[tip as usize].end = to;
            } else {
                let upper = self.split(tip, to, place);
                self.drop_segment(upper, me, basis, handovers);
            }
        }
        if let Some(branch) = self.branches.get_mut(&place) {
            branch.tip = tip;
        }
    }

    /// The run at `place` lets go of everything and leaves the tree.
    pub fn release<const N: usize>(
        &mut self,
        place: u32,
        basis: &Basis,
        handovers: &mut Vec<Handover<N>>,
    ) {
        let Some(branch) = self.branches.remove(&place) else {
            return;
        };
        for id in branch.own.iter().chain(&branch.inherited) {
            self.drop_snapshot(*id, branch.me, basis, handovers);
        }
        let mut at = branch.tip;
        while at != NO_NODE {
            let before = self.segments[at as usize].parent;
            self.drop_segment(at, branch.me, basis, handovers);
            at = before;
        }
        if self.branches.is_empty() {
            self.segments.clear();
            self.snapshots.clear();
        }
    }

    /// Cuts a segment at `at`: the lower part keeps its index, the upper part's is returned.
    /// Every holder but the one at `leaving` goes on through the upper part.
    fn split(&mut self, lower: u32, at: u32, leaving: u32) -> u32 {
        let whole = &self.segments[lower as usize];
        let (end, holders) = (whole.end, whole.holders.clone());
        self.segments[lower as usize].end = at;
        let upper = self.segment(lower, at, end, holders);
        for (index, segment) in self.segments.iter_mut().enumerate() {
            if segment.parent == lower
                && index as u32 != upper
                && !segment.holders.is_empty()
                && segment.start == end
            {
                segment.parent = upper;
            }
        }
        for (place, branch) in &mut self.branches {
            if branch.tip == lower && *place != leaving {
                branch.tip = upper;
            }
        }
        upper
    }

    fn drop_segment<const N: usize>(
        &mut self,
        id: u32,
        me: Holder,
        basis: &Basis,
        handovers: &mut Vec<Handover<N>>,
    ) {
        let segment = &mut self.segments[id as usize];
        if let Some(to) = let_go(&mut segment.holders, me) {
            let mut features = [0; N];
            basis.add_entries(&mut features, segment.start, segment.end, 1);
            handovers.push(Handover { to, features });
        }
    }

    fn drop_snapshot<const N: usize>(
        &mut self,
        id: u32,
        me: Holder,
        basis: &Basis,
        handovers: &mut Vec<Handover<N>>,
    ) {
        let snapshot = &mut self.snapshots[id as usize];
        if let Some(to) = let_go(&mut snapshot.holders, me) {
            let mut features = [0; N];
            basis.add_snapshot(&mut features, snapshot.position, 1);
            handovers.push(Handover { to, features });
        }
    }

    fn segment(&mut self, parent: u32, start: u32, end: u32, holders: Vec<Holder>) -> u32 {
        let item = Segment {
            parent,
            start,
            end,
            holders,
        };
        slot(&mut self.segments, |s| s.holders.is_empty(), item)
    }

    fn snapshot(&mut self, position: u32, holders: Vec<Holder>) -> u32 {
        slot(
            &mut self.snapshots,
            |s| s.holders.is_empty(),
            SharedSnapshot { position, holders },
        )
    }
}
