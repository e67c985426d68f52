//! What a run takes and lets go of, posted: snapshots and releases (rules 7 and 12 of docs/rules.md).

use super::run::NO_PROMPT;
use super::session::Session;
use super::world::World;

impl Session {
    /// Releases a held sequence and posts it.
    pub(super) fn drop_sequence<const N: usize>(
        &mut self,
        place: u32,
        at: u64,
        world: &mut World<'_, '_, N>,
    ) {
        if !self.run(place).held {
            return;
        }
        let before = self.held(place, world.basis);
        let mut handovers = std::mem::take(&mut world.handovers);
        self.release(place, world.basis, &mut handovers);
        let run = self.run(place);
        let activity = run.activity;
        if run.shared != NO_PROMPT {
            world.books.post_prompt(at, run.agent, run.shared, false);
        }
        self.post(place, at, activity, &before, &[0; N], 0, world);
        self.post_handovers(at, handovers, world);
    }

    /// Rule 12: every multiple of `every` in (from, to].
    pub(super) fn snapshots_between<const N: usize>(
        &mut self,
        place: u32,
        from: u32,
        to: u32,
        at: u64,
        world: &mut World<'_, '_, N>,
    ) {
        let Some(every) = world.template(self.run(place).agent).agent.snapshots.every else {
            return;
        };
        let mut position = (u64::from(from) / every + 1) * every;
        while position <= u64::from(to) {
            self.snapshot_at(place, position as u32, at, world);
            position += every;
        }
    }

    pub(super) fn snapshot_at<const N: usize>(
        &mut self,
        place: u32,
        position: u32,
        at: u64,
        world: &mut World<'_, '_, N>,
    ) {
        let agent = self.run(place).agent;
        let keep = world.template(agent).agent.snapshots.keep;
        let track = world.track[usize::from(agent)];
        let mut handovers = std::mem::take(&mut world.handovers);
        let taken = self.take_snapshot(place, position, keep, track, world.basis, &mut handovers);
        if taken {
            world.taken += 1;
            world.books.counts(agent, at).counts.snapshots_taken += 1;
        }
        self.post_handovers(at, handovers, world);
    }
}
