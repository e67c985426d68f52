//! Demand: every session of a replication, without a limit on memory.
//!
//! Sessions do not interact, so there is no global event queue: time advances in slices, each
//! session that acts in a slice is walked through it in one go, and the slice's changes are then
//! put in time order by the books. Slices adapt to the load and never change a result.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::SimulateError;
use super::calendar::Calendar;
use super::prepare::Prepared;
use super::run::{NEVER, Phase, Run};
use super::session::Session;
use super::world::World;
use crate::observe::results::RowReplication;
use crate::observe::{Books, MAX_FEATURES, Role};
use crate::workload::RunKey;

/// Changes per slice that keep its working set in cache.
const TARGET: usize = 4096;

/// Shared with whoever watches or stops the run.
#[derive(Debug, Default)]
pub struct Watch {
    /// Set to stop the run.
    pub cancel: AtomicBool,
    /// Events simulated so far, over all replications.
    pub events: AtomicU64,
    /// Simulated ns so far, over all replications.
    pub simulated_ns: AtomicU64,
}

/// What one replication came to.
#[derive(Debug)]
pub struct Outcome {
    /// One result per row.
    pub rows: Vec<RowReplication>,
    /// Events simulated, warm-up included.
    pub events: u64,
    /// How often new tokens were cut at a context limit (rule 11).
    pub cut_prompts: u64,
    /// Most sessions alive at once.
    pub peak_sessions: usize,
}

/// A session's arrival: its number and its root's key and agent.
struct Arrival {
    at: u64,
    key: RunKey,
    agent: u16,
}

impl Session {
    /// Lets the session act until `until`; returns when it acts next.
    #[inline]
    pub(super) fn advance<const N: usize>(
        &mut self,
        until: u64,
        world: &mut World<'_, '_, N>,
    ) -> u64 {
        while let Some((at, place)) = self.next() {
            if at >= until {
                return at;
            }
            self.take_next();
            self.act(place, at, world);
        }
        NEVER
    }
}

/// Simulates one replication.
///
/// # Errors
/// If it is cancelled, or a context passes 2^32 - 1 tokens.
pub fn replicate(
    prepared: &Prepared,
    replication: u32,
    watch: &Watch,
) -> Result<Outcome, SimulateError> {
    match prepared.plan.basis.len() {
        ..=8 => replicate_in::<8>(prepared, replication, watch),
        9..=16 => replicate_in::<16>(prepared, replication, watch),
        _ => replicate_in::<MAX_FEATURES>(prepared, replication, watch),
    }
}

fn replicate_in<const N: usize>(
    prepared: &Prepared,
    replication: u32,
    watch: &Watch,
) -> Result<Outcome, SimulateError> {
    let plan = &prepared.plan;
    let (_, end) = plan.window;
    let mut books = Books::<N>::new(plan);
    let mut world = prepared.world(&mut books);
    let mut arrivals = arrivals(prepared, replication).peekable();
    let mut sessions: Vec<Session> = Vec::new();
    let mut free: Vec<u32> = Vec::new();
    let mut slices = 1;
    let mut bin_ns = prepared.bin_at(0);
    let mut calendar = Calendar::new(bin_ns, 0);
    let mut reported = 0;

    let mut bin_start = 0;
    while bin_start < end {
        let bin_end = (bin_start + bin_ns).min(end);
        world.books.open_bin(bin_start, bin_end);
        let width = bin_ns / slices;
        let mut busiest = 0;
        let mut start = bin_start;
        while start < bin_end {
            if watch.cancel.load(Ordering::Relaxed) {
                return Err(SimulateError::Cancelled);
            }
            let until = (start + width).min(bin_end);
            let due = calendar.take(start);
            for slot in &due {
                let session = &mut sessions[*slot as usize];
                let next = session.advance(until, &mut world);
                if session.live == 0 {
                    free.push(*slot);
                } else if next != NEVER {
                    calendar.insert(next, *slot);
                }
            }
            calendar.give_back(due);
            while let Some(arrival) = arrivals.next_if(|a| a.at < until) {
                let slot = free.pop().unwrap_or(sessions.len() as u32);
                let root = Run::new(arrival.key, arrival.agent, Role::Main, arrival.at);
                let mut session = Session::new(slot, root);
                world.books.open_session(slot, arrival.at);
                let next = session.advance(until, &mut world);
                if session.live == 0 {
                    free.push(slot);
                } else if next != NEVER {
                    calendar.insert(next, slot);
                }
                match sessions.get_mut(slot as usize) {
                    Some(place) => *place = session,
                    None => sessions.push(session),
                }
            }
            if world.overflow {
                return Err(SimulateError::ContextOverflow);
            }
            busiest = busiest.max(world.books.settle());
            start = until;
        }
        world.books.close_bin();
        if world.books.overflow() {
            return Err(SimulateError::BytesOverflow);
        }
        watch
            .events
            .fetch_add(world.events - reported, Ordering::Relaxed);
        watch
            .simulated_ns
            .fetch_add(bin_end - bin_start, Ordering::Relaxed);
        reported = world.events;
        bin_start = bin_end;
        let (before, was) = (bin_ns, slices);
        bin_ns = prepared.bin_at(bin_start);
        if bin_ns != before {
            slices = 1;
        } else if let Some(better) = prepared.better_slices(slices, busiest, TARGET) {
            slices = better;
        }
        if (bin_ns, slices) != (before, was) {
            calendar = rebuild(&sessions, bin_ns / slices, bin_start);
        }
    }
    let (events, cut_prompts) = (world.events, world.cut_prompts);
    let open = sessions.iter().filter(|s| s.live > 0 && s.holds_memory());
    Ok(Outcome {
        rows: books.finish(open.map(|s| s.slot)),
        events,
        cut_prompts,
        peak_sessions: sessions.len(),
    })
}

/// The calendar at another slice width.
fn rebuild(sessions: &[Session], width: u64, now: u64) -> Calendar {
    let mut calendar = Calendar::new(width, now);
    for session in sessions {
        if session.live > 0
            && let Some(next) = session.due()
        {
            calendar.insert(next, session.slot);
        }
    }
    calendar
}

impl Session {
    /// When the session acts next.
    fn due(&self) -> Option<u64> {
        let runs = self
            .runs()
            .filter(|r| r.phase != Phase::Gone && r.next != NEVER);
        runs.map(|r| r.next).min()
    }

    /// Whether a run of the session holds any of its context.
    fn holds_memory(&self) -> bool {
        self.runs()
            .any(|r| r.phase != Phase::Gone && r.held && r.tokens > 0)
    }
}

/// All arrivals of a replication in time order.
fn arrivals(prepared: &Prepared, replication: u32) -> impl Iterator<Item = Arrival> + '_ {
    let streams = prepared.entries.iter().map(|entry| {
        let key = RunKey::entry(prepared.seed, replication, &entry.name);
        let stream = prepared.arrivals(entry, key);
        let agent = entry.agent as u16;
        stream.map(move |(number, at)| Arrival {
            at: at + prepared.lead_ns,
            key: key.session(number),
            agent,
        })
    });
    Merge {
        streams: streams.map(Iterator::peekable).collect(),
    }
}

/// Merges ascending streams; at one instant the earlier stream goes first.
struct Merge<I: Iterator<Item = Arrival>> {
    streams: Vec<std::iter::Peekable<I>>,
}

impl<I: Iterator<Item = Arrival>> Iterator for Merge<I> {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let heads = self.streams.iter_mut().enumerate();
        let first = heads
            .filter_map(|(i, s)| s.peek().map(|a| (a.at, i)))
            .min()?;
        self.streams[first.1].next()
    }
}
