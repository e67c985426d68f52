//! The agent life of benches/simple-agents.yaml in nexosim: one model that schedules an event for
//! each agent's next change.
//!
//! Prints one line of JSON: seconds, events (state changes), sessions, and the mean and peak bytes
//! of three memory models over the second hour.

use std::time::{Duration, Instant};

use nexosim::model::{Context, Model, schedulable};
use nexosim::ports::EventSource;
use nexosim::simulation::{Mailbox, SimInit, SimulationError};
use nexosim::time::MonotonicTime;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

const WARMUP: f64 = 3600.0;
const END: f64 = 7200.0;
const PREFILL: f64 = 8000.0;
const DECODE: f64 = 60.0;
const BLOCK: i64 = 256;
/// Bytes per token and per sequence: all-mla-93, kimi-k3, llama-3.1-70b.
const MODELS: [(i64, i64); 3] = [(107_136, 0), (27_648, 449_372_160), (327_680, 0)];

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Next {
    Prefill,
    Block,
    StepEnd,
    Release,
    Gone,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Agent {
    next: Next,
    context: i64,
    left: i64,
    held: bool,
    /// Seconds that the pause goes on after a release; infinite: for good.
    pause: f64,
    turn: u32,
    turns: u32,
    step: u32,
    steps: u32,
}

#[derive(Serialize, Deserialize)]
struct Fleet {
    rate: f64,
    draw: Xoshiro256PlusPlus,
    agents: Vec<Agent>,
    free: Vec<u32>,
    held: [i64; 3],
    since: f64,
    integral: [f64; 3],
    peak: [i64; 3],
    events: u64,
    sessions: u64,
}

#[Model]
impl Fleet {
    #[nexosim(schedulable)]
    async fn arrive(&mut self, _: (), cx: &Context<Self>) {
        self.sessions += 1;
        let turns = self.whole(1, 5);
        let steps = self.whole(1, 9);
        let agent = Agent {
            next: Next::Prefill,
            context: 0,
            left: 0,
            held: false,
            pause: 0.0,
            turn: 0,
            turns,
            step: 0,
            steps,
        };
        let place = match self.free.pop() {
            Some(place) => place,
            None => {
                self.agents.push(agent);
                self.agents.len() as u32 - 1
            }
        };
        self.agents[place as usize] = agent;
        self.step_agent(place, cx);
        let wait = self.exponential(1.0 / self.rate);
        cx.schedule_event(
            Duration::from_secs_f64(wait),
            schedulable!(Self::arrive),
            (),
        )
        .unwrap();
    }

    #[nexosim(schedulable)]
    async fn act(&mut self, place: u32, cx: &Context<Self>) {
        self.step_agent(place, cx);
    }

    pub async fn begin(&mut self, _: (), cx: &Context<Self>) {
        let wait = self.exponential(1.0 / self.rate);
        cx.schedule_event(
            Duration::from_secs_f64(wait),
            schedulable!(Self::arrive),
            (),
        )
        .unwrap();
    }

    pub async fn report(&mut self, scale: u64, cx: &Context<Self>) {
        self.settle(seconds(cx.time()));
        let span = END - WARMUP;
        print!(
            "{{\"program\": \"nexosim 1.0\", \"events\": {}, \"sessions\": {}, \"scale\": {scale}, \"mean_bytes\": {:?}, \"peak_bytes\": {:?}, ",
            self.events,
            self.sessions,
            self.integral.map(|i| i / span),
            self.peak
        );
    }
}

fn seconds(time: MonotonicTime) -> f64 {
    time.duration_since(MonotonicTime::EPOCH).as_secs_f64()
}

impl Fleet {
    fn uniform(&mut self) -> f64 {
        (self.draw.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).ln()
    }

    fn whole(&mut self, low: u32, high: u32) -> u32 {
        low + (self.uniform() * f64::from(high - low + 1)) as u32
    }

    fn between(&mut self, low: f64, high: f64) -> i64 {
        (low + (high - low) * self.uniform()).round() as i64
    }

    fn settle(&mut self, now: f64) {
        let now = now.min(END);
        if now > self.since {
            for i in 0..3 {
                self.integral[i] += self.held[i] as f64 * (now - self.since);
                self.peak[i] = self.peak[i].max(self.held[i]);
            }
            self.since = now;
        }
    }

    fn change(&mut self, now: f64, tokens: i64, sequences: i64) {
        self.settle(now);
        for (held, (token, state)) in self.held.iter_mut().zip(MODELS) {
            *held += tokens * token + sequences * state;
        }
    }

    fn step_agent(&mut self, place: u32, cx: &Context<Self>) {
        let now = seconds(cx.time());
        let mut agent = self.agents[place as usize];
        self.events += 1;
        let wait = match agent.next {
            Next::Prefill => {
                let new = if agent.step > 0 {
                    self.exponential(800.0).round() as i64
                } else if agent.turn > 0 {
                    self.exponential(1000.0).round() as i64
                } else {
                    10_000 + self.between(5000.0, 20000.0)
                };
                let prefill = if agent.held { new } else { agent.context + new };
                self.change(now, prefill, i64::from(!agent.held));
                agent.held = true;
                agent.context += new;
                agent.left = self.between(50.0, 1000.0).max(1);
                agent.next = Next::Block;
                prefill as f64 / PREFILL
            }
            Next::Block => {
                let block = agent.left.min(BLOCK);
                self.change(now, block, 0);
                agent.context += block;
                agent.left -= block;
                if agent.left == 0 {
                    agent.next = Next::StepEnd;
                }
                block as f64 / DECODE
            }
            Next::StepEnd => {
                agent.step += 1;
                let (pause, ttl) = if agent.step < agent.steps {
                    (self.exponential(20.0), 60.0)
                } else if agent.turn + 1 < agent.turns {
                    agent.turn += 1;
                    agent.step = 0;
                    agent.steps = self.whole(1, 9);
                    (self.exponential(300.0), 300.0)
                } else {
                    (f64::INFINITY, 300.0)
                };
                if pause > ttl {
                    agent.pause = pause - ttl;
                    agent.next = Next::Release;
                    ttl
                } else {
                    agent.next = Next::Prefill;
                    pause
                }
            }
            Next::Release => {
                self.change(now, -agent.context, -1);
                agent.held = false;
                if agent.pause.is_infinite() {
                    agent.next = Next::Gone;
                    self.free.push(place);
                } else {
                    agent.next = Next::Prefill;
                }
                agent.pause
            }
            Next::Gone => f64::INFINITY,
        };
        self.agents[place as usize] = agent;
        if wait.is_finite() {
            let wait = Duration::from_secs_f64(wait).max(Duration::from_nanos(1));
            cx.schedule_event(wait, schedulable!(Self::act), place)
                .unwrap();
        }
    }
}

fn main() -> Result<(), SimulationError> {
    let scale: u64 = std::env::args()
        .nth(1)
        .and_then(|s| s.parse().ok())
        .unwrap_or(1);
    let fleet = Fleet {
        rate: 9000.0 * scale as f64 / 3600.0,
        draw: Xoshiro256PlusPlus::seed_from_u64(7),
        agents: Vec::new(),
        free: Vec::new(),
        held: [0; 3],
        since: WARMUP,
        integral: [0.0; 3],
        peak: [0; 3],
        events: 0,
        sessions: 0,
    };
    let mailbox = Mailbox::new();
    let address = mailbox.address();
    let mut bench = SimInit::with_num_threads(1);
    let begin = EventSource::new()
        .connect(Fleet::begin, &address)
        .register(&mut bench);
    let report = EventSource::new()
        .connect(Fleet::report, &address)
        .register(&mut bench);
    let mut simulation = bench
        .add_model(fleet, mailbox, "fleet")
        .init(MonotonicTime::EPOCH)?;
    simulation.process_event(&begin, ())?;
    let clock = Instant::now();
    simulation.step_until(Duration::from_secs_f64(END))?;
    let taken = clock.elapsed().as_secs_f64();
    simulation.process_event(&report, scale)?;
    println!("\"seconds\": {taken}}}");
    Ok(())
}
