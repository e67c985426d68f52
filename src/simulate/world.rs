//! What every event may use: templates, books, and posting to them.

use super::run::Run;
use super::session::Session;
use super::sharing::Handover;
use crate::observe::{Activity, Basis, Books, Vector};
use crate::workload::Template;

/// What the events of one replication share.
pub struct World<'p, 'b, const N: usize> {
    pub templates: &'p [Template],
    pub basis: &'p Basis,
    /// Index of each agent's first shared prompt in the books' plan.
    pub prompt_base: &'p [u32],
    /// Per agent: whether every snapshot position of its sequences is needed.
    pub track: &'p [bool],
    pub books: &'b mut Books<'p, N>,
    /// Snapshots taken so far: tells whether an event took any.
    pub taken: u64,
    /// Events so far.
    pub events: u64,
    /// New tokens that were cut at a context limit, so many times.
    pub cut_prompts: u64,
    /// A context passed 2^32 - 1 tokens: the results are void.
    pub overflow: bool,
    /// Empty between events; kept for its allocation.
    pub handovers: Vec<Handover<N>>,
}

impl<'p, const N: usize> World<'p, '_, N> {
    /// The template of an agent.
    #[inline]
    pub fn template(&self, agent: u16) -> &'p Template {
        &self.templates[usize::from(agent)]
    }

    /// How long an agent's idle sequence is held.
    #[inline]
    pub fn ttl(&self, agent: u16, activity: Activity) -> Option<u64> {
        let ttl = &self.template(agent).agent.ttl;
        match activity {
            Activity::Tool => ttl.tool,
            Activity::Blocked => ttl.blocked,
            Activity::User => ttl.user,
            Activity::Finished => ttl.finished,
            Activity::Running => None,
        }
    }

    /// A context length, which must fit 32 bits.
    #[inline]
    pub fn context(&mut self, tokens: u64) -> u32 {
        u32::try_from(tokens).unwrap_or_else(|_| {
            self.overflow = true;
            u32::MAX
        })
    }
}

impl Session {
    /// Posts that the run at `place` held `before` doing `from`, and holds `after` doing what it
    /// does now.
    #[inline]
    #[expect(clippy::too_many_arguments)]
    pub(super) fn post<const N: usize>(
        &self,
        place: u32,
        at: u64,
        from: Activity,
        before: &Vector<N>,
        after: &Vector<N>,
        running: i32,
        world: &mut World<'_, '_, N>,
    ) {
        let run: &Run = self.run(place);
        world.books.post(crate::observe::Change {
            at,
            session: self.slot,
            agent: run.agent,
            role: run.role,
            from,
            to: run.activity,
            before,
            after,
            running,
        });
    }

    /// Posts a change of what an idle run holds.
    pub(super) fn post_idle<const N: usize>(
        &self,
        place: u32,
        at: u64,
        before: &Vector<N>,
        world: &mut World<'_, '_, N>,
    ) {
        let after = self.held(place, world.basis);
        self.post(
            place,
            at,
            self.run(place).activity,
            before,
            &after,
            0,
            world,
        );
    }

    /// Posts that a run stops running while it holds nothing.
    pub(super) fn post_running_end<const N: usize>(
        &self,
        place: u32,
        at: u64,
        world: &mut World<'_, '_, N>,
    ) {
        self.post(place, at, Activity::Running, &[0; N], &[0; N], -1, world);
    }

    /// Posts parts that changed owner, and gives the list back empty.
    pub(super) fn post_handovers<const N: usize>(
        &self,
        at: u64,
        mut handovers: Vec<Handover<N>>,
        world: &mut World<'_, '_, N>,
    ) {
        for handover in handovers.drain(..) {
            let activity = self.run(handover.to).activity;
            self.post(
                handover.to,
                at,
                activity,
                &[0; N],
                &handover.features,
                0,
                world,
            );
        }
        world.handovers = handovers;
    }
}
