//! One session: its agent runs, in what order they act, and what each holds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::run::{NEVER, Phase, Run};
use super::sharing::Tree;
use crate::workload::RunKey;

/// A session: a root agent and, once it spawned, its family.
#[derive(Debug)]
pub struct Session {
    /// The slot it has in the books.
    pub slot: u32,
    pub root: Run,
    pub family: Option<Box<Family>>,
    /// Runs that are not gone.
    pub live: u32,
}

/// When a run acts: time, depth, creation order, place.
type Due = Reverse<(u64, Reverse<u16>, u32, u32)>;

/// Subagents of a session, and the contexts they share.
#[derive(Debug, Default)]
pub struct Family {
    runs: Vec<Run>,
    free: Vec<u32>,
    /// Who acts next: time, then descendants before ancestors (their returns reach a prefill of
    /// the same instant, rule 5), then creation order. Stale entries are skipped.
    queue: BinaryHeap<Due>,
    made: u32,
    pub tree: Tree,
}

impl Session {
    /// A session whose root agent starts when `root.next` says.
    pub fn new(slot: u32, root: Run) -> Session {
        Session {
            slot,
            root,
            family: None,
            live: 1,
        }
    }

    /// The session's key for draws: its root's.
    pub fn key(&self) -> RunKey {
        self.root.key
    }

    /// The run at a place (0: the root).
    #[inline]
    pub fn run(&self, place: u32) -> &Run {
        match (place, &self.family) {
            (0, _) | (_, None) => &self.root,
            (_, Some(family)) => &family.runs[place as usize - 1],
        }
    }

    /// The run at a place, to change.
    #[inline]
    pub fn run_mut(&mut self, place: u32) -> &mut Run {
        match (place, &mut self.family) {
            (0, _) | (_, None) => &mut self.root,
            (_, Some(family)) => &mut family.runs[place as usize - 1],
        }
    }

    /// Whether only the root agent is left: then there is no order to keep.
    #[inline]
    fn is_alone(&self) -> bool {
        self.live == 1 && self.root.phase != Phase::Gone
    }

    /// A run is gone for good.
    pub fn lose(&mut self) {
        self.live -= 1;
        if self.is_alone()
            && let Some(family) = &mut self.family
        {
            if family.tree.is_empty() {
                // Most sessions have subagents for a small part of their life.
                self.family = None;
            } else {
                family.queue.clear();
            }
        }
    }

    /// All places, gone runs too.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        std::iter::once(&self.root).chain(self.family.iter().flat_map(|f| &f.runs))
    }

    /// The session's family, made when first needed.
    pub fn family_mut(&mut self) -> &mut Family {
        let root = &self.root;
        self.family.get_or_insert_with(|| {
            let mut family = Box::<Family>::default();
            family.push(0, root);
            family
        })
    }

    /// Adds a run; returns its place.
    pub fn add(&mut self, mut run: Run) -> u32 {
        let alone = self.is_alone();
        self.live += 1;
        if alone {
            let root = &self.root;
            if let Some(family) = &mut self.family {
                family.push(0, root);
            }
        }
        let family = self.family_mut();
        family.made += 1;
        run.order = family.made;
        let place = match family.free.pop() {
            Some(place) => place,
            None => {
                family.runs.push(run.clone());
                family.runs.len() as u32
            }
        };
        family.push(place, &run);
        family.runs[place as usize - 1] = run;
        place
    }

    /// Frees the place of a run that is gone and has no children out.
    pub fn forget(&mut self, place: u32) {
        if place > 0
            && let Some(family) = &mut self.family
        {
            family.free.push(place);
        }
    }

    /// Sets when a run acts next.
    #[inline]
    pub fn schedule(&mut self, place: u32, at: u64) {
        self.run_mut(place).next = at;
        if at != NEVER
            && !self.is_alone()
            && let Some(family) = &mut self.family
        {
            let run = if place == 0 {
                &self.root
            } else {
                &family.runs[place as usize - 1]
            };
            let entry = Reverse((at, Reverse(run.depth), run.order, place));
            family.queue.push(entry);
        }
    }

    /// The run that acts next and when; `None` if nothing will happen by itself.
    #[inline]
    pub fn next(&mut self) -> Option<(u64, u32)> {
        if self.is_alone() {
            return (self.root.next != NEVER).then_some((self.root.next, 0));
        }
        let family = self.family.as_mut()?;
        while let Some(Reverse((at, _, order, place))) = family.queue.peek() {
            let run = if *place == 0 {
                &self.root
            } else {
                &family.runs[*place as usize - 1]
            };
            if run.next == *at && run.order == *order && run.phase != Phase::Gone {
                return Some((*at, *place));
            }
            family.queue.pop();
        }
        None
    }

    /// Takes the entry that [`Session::next`] returned off the queue.
    #[inline]
    pub fn take_next(&mut self) {
        if !self.is_alone()
            && let Some(family) = &mut self.family
        {
            family.queue.pop();
        }
    }
}

impl Family {
    fn push(&mut self, place: u32, run: &Run) {
        if run.next != NEVER {
            self.queue
                .push(Reverse((run.next, Reverse(run.depth), run.order, place)));
        }
    }
}
