//! Shared parts of forked contexts (rule 9): the tree of context segments and snapshots of
//! one session, each counted once and owned by its oldest holder.
//!
//! Only sequences that forked or were forked are here; the others hold their context alone and
//! are plain arithmetic in [`super::holding`].

use std::collections::BTreeMap;

use crate::observe::{Basis, MAX_FEATURES, Vector};

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
    /// Entries and snapshots of which it is the oldest holder.
    owned: Vector<MAX_FEATURES>,
}

/// The shared contexts of one session.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    segments: Vec<Segment>,
    snapshots: Vec<SharedSnapshot>,
    free_segments: Vec<u32>,
    free_snapshots: Vec<u32>,
    /// By place; boxed, as a map's nodes have room for many.
    branches: BTreeMap<u32, Box<Branch>>,
}

fn hold(holders: &mut Vec<Holder>, me: Holder) {
    if let Err(at) = holders.binary_search(&me) {
        holders.insert(at, me);
    }
}

/// Removes a holder; says whether it owned the part, and who owns it next if others remain.
fn let_go(holders: &mut Vec<Holder>, me: Holder) -> (bool, Option<u32>) {
    let Some(at) = holders.iter().position(|h| *h == me) else {
        return (false, None);
    };
    holders.remove(at);
    let next = if at == 0 {
        holders.first().map(|h| h.1)
    } else {
        None
    };
    (at == 0, next)
}

/// Puts an item in a freed place, or at the end; returns its place.
fn place<T>(items: &mut Vec<T>, free: &mut Vec<u32>, item: T) -> u32 {
    match free.pop() {
        Some(at) => {
            items[at as usize] = item;
            at
        }
        None => {
            items.push(item);
            (items.len() - 1) as u32
        }
    }
}

impl Tree {
    /// Brings in a sequence that held its context alone: tokens `start..end` and snapshots.
    pub fn adopt(&mut self, me: Holder, start: u32, end: u32, snapshots: &[u32], basis: &Basis) {
        let mut owned = [0; MAX_FEATURES];
        basis.add_entries(&mut owned, start, end, 1);
        for position in snapshots {
            basis.add_snapshot(&mut owned, *position, 1);
        }
        let tip = self.segment(NO_NODE, start, end, vec![me]);
        let own = snapshots
            .iter()
            .map(|p| self.snapshot(*p, vec![me]))
            .collect();
        self.branches.insert(
            me.1,
            Box::new(Branch {
                me,
                tip,
                own,
                inherited: Vec::new(),
                owned,
            }),
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
            Box::new(Branch {
                me: child,
                tip,
                own: Vec::new(),
                inherited,
                owned: [0; MAX_FEATURES],
            }),
        );
    }

    /// The sequence at `place` grows to `end` tokens.
    pub fn extend(&mut self, place: u32, end: u32, basis: &Basis) {
        let Some(branch) = self.branches.get_mut(&place) else {
            return;
        };
        let segment = &mut self.segments[branch.tip as usize];
        let start = segment.end;
        if start >= end {
            return;
        }
        basis.add_entries(&mut branch.owned, start, end, 1);
        if segment.holders.len() == 1 {
            segment.end = end;
        } else {
            let (me, tip) = (branch.me, branch.tip);
            let tip = self.segment(tip, start, end, vec![me]);
            if let Some(branch) = self.branches.get_mut(&place) {
                branch.tip = tip;
            }
        }
    }

    /// The entries and snapshots that the run at `place` owns: those of which it is the oldest
    /// holder.
    pub fn owned<const N: usize>(&self, place: u32, basis: &Basis) -> Vector<N> {
        let mut out = [0; N];
        if let Some(branch) = self.branches.get(&place) {
            out[..basis.len()].copy_from_slice(&branch.owned[..basis.len()]);
            debug_assert_eq!(out, self.recount(branch, basis));
        }
        out
    }

    /// [`Tree::owned`] from the parts themselves.
    fn recount<const N: usize>(&self, branch: &Branch, basis: &Basis) -> Vector<N> {
        let mut out = [0; N];
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

    /// The one sequence that is left, if it inherited nothing, leaves the tree: its place, and its
    /// snapshots' positions.
    pub fn dissolve(&mut self) -> Option<(u32, Vec<u32>)> {
        let (place, branch) = self.branches.first_key_value()?;
        if self.branches.len() > 1 || !branch.inherited.is_empty() {
            return None;
        }
        let positions = branch
            .own
            .iter()
            .map(|s| self.snapshots[*s as usize].position);
        let left = (*place, positions.collect());
        *self = Tree::default();
        Some(left)
    }

    /// Whether no sequence is in it.
    pub fn is_empty(&self) -> bool {
        self.branches.is_empty()
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
            basis.add_snapshot(&mut branch.owned, position, 1);
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
            let segment = &mut self.segments[tip as usize];
            if segment.holders.len() == 1 {
                if let Some(branch) = self.branches.get_mut(&place) {
                    basis.add_entries(&mut branch.owned, to, segment.end, -1);
                }
                segment.end = to;
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
            *self = Tree::default();
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
        let (owned, next) = let_go(&mut segment.holders, me);
        let (start, end) = (segment.start, segment.end);
        if segment.holders.is_empty() {
            self.free_segments.push(id);
        }
        if owned {
            let mut features = [0; MAX_FEATURES];
            basis.add_entries(&mut features, start, end, 1);
            self.hand_over(me, next, &features, handovers);
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
        let (owned, next) = let_go(&mut snapshot.holders, me);
        let position = snapshot.position;
        if snapshot.holders.is_empty() {
            self.free_snapshots.push(id);
        }
        if owned {
            let mut features = [0; MAX_FEATURES];
            basis.add_snapshot(&mut features, position, 1);
            self.hand_over(me, next, &features, handovers);
        }
    }

    /// A part that `me` owned goes to `next`, or from memory.
    fn hand_over<const N: usize>(
        &mut self,
        me: Holder,
        next: Option<u32>,
        features: &Vector<MAX_FEATURES>,
        handovers: &mut Vec<Handover<N>>,
    ) {
        let mut change = |place: u32, sign: i64| {
            if let Some(branch) = self.branches.get_mut(&place) {
                for (owned, feature) in branch.owned.iter_mut().zip(features) {
                    *owned += sign * feature;
                }
            }
        };
        change(me.1, -1);
        if let Some(to) = next {
            change(to, 1);
            let mut out = [0; N];
            out.copy_from_slice(&features[..N]);
            handovers.push(Handover { to, features: out });
        }
    }

    fn segment(&mut self, parent: u32, start: u32, end: u32, holders: Vec<Holder>) -> u32 {
        let item = Segment {
            parent,
            start,
            end,
            holders,
        };
        place(&mut self.segments, &mut self.free_segments, item)
    }

    fn snapshot(&mut self, position: u32, holders: Vec<Holder>) -> u32 {
        let item = SharedSnapshot { position, holders };
        place(&mut self.snapshots, &mut self.free_snapshots, item)
    }
}
