//! Subagents: a tool call starts them, and they report back (rules 4 and 5 of docs/rules.md).

use super::run::{NEVER, Phase, Run};
use super::session::Session;
use super::world::World;
use crate::observe::Role;
use crate::scenario::{SpawnMode, SpawnStart};
use crate::workload::{RunKey, Template};

impl Session {
    /// Rule 4: starts the children of a tool call; whether the parent waits for any.
    pub(super) fn tool_call<const N: usize>(
        &mut self,
        place: u32,
        at: u64,
        template: &Template,
        world: &mut World<'_, '_, N>,
    ) -> bool {
        let run = self.run(place);
        let (key, turn, step, depth) = (run.key, run.turn, run.step, run.depth + 1);
        let mut waiting = 0;
        let mut children = 0;
        let mut forked = false;
        for (index, spawn) in template.agent.spawns.iter().enumerate() {
            if spawn.max_depth.is_some_and(|most| u32::from(depth) > most) {
                continue;
            }
            let count = template.spawn_count(key, turn, step, index);
            let fork = spawn.start == SpawnStart::Fork;
            if fork && count > 0 && !forked {
                forked = true;
                if template.agent.snapshots.fork {
                    let tokens = self.run(place).tokens;
                    self.snapshot_at(place, tokens, at, world);
                }
            }
            let role = match spawn.mode {
                SpawnMode::Sync => Role::Sync,
                SpawnMode::Async => Role::Async,
            };
            for number in 0..count {
                let child_key: RunKey = key.child(template.spawns[index].hash, turn, step, number);
                let mut child = Run::new(child_key, spawn.agent as u16, role, at);
                child.parent = place;
                child.depth = depth;
                child.spawn = index as u16;
                child.fork = fork;
                self.add(child);
            }
            children += count;
            if role == Role::Sync {
                waiting += count;
            }
        }
        let run = self.run_mut(place);
        run.children += children;
        run.waiting = waiting;
        run.carry = 0;
        waiting > 0
    }

    /// A child returns: its result goes to the waiting call, or to the inbox.
    pub(super) fn report_back<const N: usize>(
        &mut self,
        place: u32,
        parent: u32,
        at: u64,
        world: &World<'_, '_, N>,
    ) {
        let (key, spawn, role) = {
            let run = self.run(place);
            (run.key, usize::from(run.spawn), run.role)
        };
        let result = world.template(self.run(parent).agent).result(key, spawn);
        let run = self.run_mut(parent);
        run.children -= 1;
        match run.phase {
            Phase::Gone if run.children == 0 => self.forget(parent),
            Phase::Gone | Phase::Finished => {}
            _ if role == Role::Async => run.inbox += result,
            _ => {
                run.carry += result;
                run.waiting -= 1;
                if run.waiting == 0 && at <= run.deadline {
                    run.wake_at = at;
                    run.wake_ends = false;
                    run.release_at = NEVER;
                    self.schedule(parent, at);
                }
            }
        }
    }
}
