//! What a sequence holds: rules 9, 10, 12 and 13, on token counts alone.
//!
//! A sequence that never forked is arithmetic on its own fields; one that did is in the session's
//! [`super::sharing::Tree`].

use super::run::{NO_PROMPT, Run};
use super::session::Session;
use super::sharing::Handover;
use crate::observe::{Basis, Vector};

impl Run {
    /// Length of the shared prompt in this context: its entries are not the sequence's own.
    #[inline]
    pub fn shared_tokens(&self) -> u32 {
        if self.shared == NO_PROMPT {
            0
        } else {
            self.prompt
        }
    }
}

impl Session {
    /// Whether the sequence at `place` shares parts through the tree.
    #[inline]
    fn in_tree(&self, place: u32) -> bool {
        self.family.as_ref().is_some_and(|f| f.tree.contains(place))
    }

    /// What the sequence at `place` holds and owns.
    #[inline]
    pub fn held<const N: usize>(&self, place: u32, basis: &Basis) -> Vector<N> {
        let run = self.run(place);
        let mut out = [0; N];
        // A context of no tokens holds no memory (docs/models.md).
        if !run.held || run.tokens == 0 {
            return out;
        }
        match &self.family {
            Some(family) if family.tree.contains(place) => out = family.tree.owned(place, basis),
            _ => {
                basis.add_entries(&mut out, run.shared_tokens(), run.tokens, 1);
                let snapshots = &run.snapshots;
                let longest = basis.longest_window();
                let mut short = 0;
                // Few snapshots are short of a window: a scan from the front ends at once.
                while snapshots.positions.get(short).is_some_and(|p| *p < longest) {
                    short += 1;
                }
                for position in &snapshots.positions[..short] {
                    basis.add_snapshot(&mut out, *position, 1);
                }
                basis.add_full_snapshots(&mut out, snapshots.count - short as u32, 1);
            }
        }
        basis.add_sequence(&mut out, run.tokens, 1);
        out
    }

    /// The sequence at `place` grows to `tokens`.
    #[inline]
    pub fn grow(&mut self, place: u32, tokens: u32, basis: &Basis) {
        self.run_mut(place).tokens = tokens;
        if let Some(family) = &mut self.family {
            family.tree.extend(place, tokens, basis);
        }
    }

    /// Takes a snapshot at `position`; false if the sequence holds one there already, or if the
    /// position is inside a shared prompt or inherited tokens. `track`: all positions are needed.
    pub fn take_snapshot<const N: usize>(
        &mut self,
        place: u32,
        position: u32,
        keep: Option<u64>,
        track: bool,
        basis: &Basis,
        handovers: &mut Vec<Handover<N>>,
    ) -> bool {
        let run = self.run(place);
        if position == 0 || position <= run.shared_tokens().max(run.inherited) {
            return false;
        }
        if self.in_tree(place) {
            let family = self.family_mut();
            return family
                .tree
                .take_snapshot(place, position, keep, basis, handovers);
        }
        let snapshots = &mut self.run_mut(place).snapshots;
        if snapshots.count > 0 && snapshots.last == position {
            return false;
        }
        snapshots.last = position;
        snapshots.count += 1;
        if track || position < basis.longest_window() {
            snapshots.positions.push(position);
        }
        if let Some(keep) = keep
            && u64::from(snapshots.count) > keep
        {
            snapshots.count -= 1;
            snapshots.positions.remove(0);
        }
        true
    }

    /// Drops the context of a held sequence above `to` tokens; returns where a model with
    /// checkpointed state resumes from.
    pub fn rewind<const N: usize>(
        &mut self,
        place: u32,
        to: u32,
        basis: &Basis,
        handovers: &mut Vec<Handover<N>>,
    ) -> u32 {
        let run = self.run_mut(place);
        run.tokens = to;
        run.inherited = run.inherited.min(to);
        let floor = run.shared_tokens();
        if self.in_tree(place) {
            let tree = &mut self.family_mut().tree;
            tree.rewind(place, to, basis, handovers);
            return tree.latest_snapshot(place, to).unwrap_or(0).max(floor);
        }
        let snapshots = &mut self.run_mut(place).snapshots;
        snapshots
            .positions
            .truncate(snapshots.positions.partition_point(|p| *p <= to));
        snapshots.count = snapshots.positions.len() as u32;
        snapshots.last = snapshots.positions.last().copied().unwrap_or(0);
        snapshots.last.max(floor)
    }

    /// The sequence at `place` lets go of everything; its context length stays known.
    pub fn release<const N: usize>(
        &mut self,
        place: u32,
        basis: &Basis,
        handovers: &mut Vec<Handover<N>>,
    ) {
        if let Some(family) = &mut self.family {
            family.tree.release(place, basis, handovers);
            if let Some((left, positions)) = family.tree.dissolve() {
                let run = self.run_mut(left);
                run.snapshots.count = positions.len() as u32;
                run.snapshots.last = positions.last().copied().unwrap_or(0);
                run.snapshots.positions = positions;
            }
        }
        let run = self.run_mut(place);
        run.held = false;
        run.inherited = 0;
        run.snapshots.count = 0;
        run.snapshots.last = 0;
        run.snapshots.positions.clear();
    }

    /// The sequence at `child` takes over what the one at `parent` holds.
    pub fn fork(&mut self, parent: u32, child: u32, basis: &Basis) {
        let from = self.run(parent).clone();
        let me = (self.run(child).age(), child);
        let adopt = !self.in_tree(parent);
        let tree = &mut self.family_mut().tree;
        if adopt {
            tree.adopt(
                (from.age(), parent),
                from.shared_tokens(),
                from.tokens,
                &from.snapshots.positions,
                basis,
            );
        }
        tree.fork(parent, me);
        let run = self.run_mut(child);
        run.tokens = from.tokens;
        run.inherited = from.tokens;
        run.prompt = from.prompt;
        run.shared = from.shared;
    }
}
