//! How long sessions last and what they cost to simulate, from a sample of them walked alone.

use super::prepare::Prepared;
use super::run::{NEVER, Run};
use super::session::Session;
use crate::observe::{Books, MAX_FEATURES, Role};
use crate::workload::RunKey;

/// Events after which a sampled session is cut off: its length is then a lower bound.
const MOST_EVENTS: u64 = 2_000_000;

/// What the sampled sessions of one workload entry came to.
#[derive(Clone, Debug, Default)]
pub struct EntrySample {
    /// From arrival to the last instant at which something happens or is released, ns, ascending.
    pub lengths_ns: Vec<u64>,
    /// Mean events of a session.
    pub mean_events: f64,
    /// Mean bytes of this program's memory that a live session takes.
    pub mean_footprint: f64,
}

impl EntrySample {
    /// Mean length of a session, ns.
    pub fn mean_ns(&self) -> f64 {
        self.lengths_ns.iter().map(|l| *l as f64).sum::<f64>() / self.lengths_ns.len().max(1) as f64
    }

    /// The longest sampled session, ns.
    pub fn longest_ns(&self) -> u64 {
        self.lengths_ns.last().copied().unwrap_or(0)
    }
}

impl Prepared {
    /// Walks `count` sessions of each entry, the first ones of replication 0.
    pub fn sample(&self, count: u64) -> Vec<EntrySample> {
        self.entries
            .iter()
            .map(|entry| self.sample_entry(&entry.name, entry.agent as u16, count))
            .collect()
    }

    fn sample_entry(&self, name: &str, agent: u16, count: u64) -> EntrySample {
        let entry = RunKey::entry(self.seed, 0, name);
        let mut books = Books::<MAX_FEATURES>::silent(&self.plan);
        let mut world = self.world(&mut books);
        let mut out = EntrySample::default();
        for number in 0..count {
            let mut session =
                Session::new(0, Run::new(entry.session(number), agent, Role::Main, 0));
            let (mut last, before) = (0, world.events);
            while let Some((at, place)) = session.next() {
                if at == NEVER || world.events - before >= MOST_EVENTS {
                    break;
                }
                last = at;
                session.take_next();
                session.act(place, at, &mut world);
            }
            out.lengths_ns.push(last);
            let rows = self.plan.rows.len() * 2 * size_of::<i64>() + size_of::<u64>();
            out.mean_footprint += (session.footprint() + rows) as f64 / count as f64;
        }
        out.mean_events = world.events as f64 / count.max(1) as f64;
        out.lengths_ns.sort_unstable();
        out
    }
}

impl Session {
    /// Bytes of this program's memory that the session takes at its largest.
    pub fn footprint(&self) -> usize {
        let runs = self
            .runs()
            .map(|r| size_of::<Run>() + r.snapshots.positions.capacity() * size_of::<u32>());
        size_of::<Session>() - size_of::<Run>() + runs.sum::<usize>()
    }
}
