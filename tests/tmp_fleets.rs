use fleetmem::memory::{Entry, Footprint, MemoryModel};
use fleetmem::scenario::*;
use fleetmem::simulate::{Prepared, Watch, replicate};
const S: u64 = 1_000_000_000;
fn k(v: u64) -> Law { Law::constant(v as f64) }
fn model(label: &str, kv: u64, state: u64) -> MemoryModel {
    MemoryModel { label: label.into(), dtypes: String::new(), weights_bytes: 0, footprint: Footprint {
        entries: vec![Entry { ratio: 1, bytes: kv }], windows: vec![], state_bytes: state, tail_bytes: 0, snapshot_state_bytes: state } }
}
fn agent(name: &str, ttl: Ttl, snapshots: SnapshotPolicy) -> Agent {
    let r = |t: u64| Rate { micro_tokens_per_s: t * 1_000_000 };
    Agent { name: name.into(), fixed_model: None, system_prompt: SystemPrompt::Own(k(0)), first_prompt: k(0), prompt: k(0), turns: k(1), steps: k(1),
        tool_tokens: k(0), tool_time: k(0), output: k(1), think: k(0), session_factor: k(1), max_duration: None, limit: None, rewind: None, spawns: vec![],
        ttl, snapshots, prefill: r(8000), decode: r(64), decode_block: 256 }
}
fn spawn(name: &str, agent: usize, mode: SpawnMode, count: u64, start: SpawnStart, task: u64, result: u64) -> Spawn {
    Spawn { name: name.into(), agent, mode, probability: 1.0, count: k(count), start, task: k(task), result: k(result), max_depth: None }
}
fn scenario(measure: u64, agents: Vec<Agent>, at: Vec<u64>) -> Scenario {
    Scenario { name: "f".into(), description: None, seed: 1, measure_ns: measure * S, warmup_ns: Some(0), replications: 1,
        models: vec![model("all-mla-93", 107136, 0), model("kimi-k3-article", 27648, 217055232), model("kimi-k3", 27648, 449372160)],
        baseline: 0, fixed_models: vec![], agents, workload: vec![WorkloadEntry { name: "main".into(), agent: 0, arrivals: Arrivals::At(at.iter().map(|t| t * S).collect()) }],
        warnings: vec![], digest: String::new() }
}
fn show(s: &Scenario) {
    let p = Prepared::new(s, 0).unwrap();
    let o = replicate(&p, 0, &Watch::default()).unwrap();
    for (m, r) in s.models.iter().zip(&o.rows) {
        println!("{} peak {} at {} byte_ns {} shared {} kind {:?} {:?} seq {} q {:?} sess {:?}", m.label, r.peak_bytes, r.peak_ns as f64 / 1e9, r.byte_ns, r.shared_byte_ns, r.kind_byte_ns, r.counts, r.peak_sequences, r.quantile_bytes, r.session_peak_bytes);
    }
    println!("events {}", o.events);
}
#[test]
fn fleets() {
    let ttl = Ttl { tool: None, blocked: None, user: None, finished: Some(0) };
    let sn = SnapshotPolicy { every: Some(20000), prompt_end: false, output_end: false, fork: false, keep: None };
    let mut coder = agent("coder", ttl, sn);
    coder.system_prompt = SystemPrompt::Own(k(15000)); coder.first_prompt = k(400); coder.prompt = k(400); coder.turns = k(3); coder.steps = k(4);
    coder.tool_tokens = k(6000); coder.tool_time = k(9 * S); coder.output = k(640); coder.think = k(120 * S);
    coder.limit = Some(Limit { tokens: k(1_000_000), at_ppb: 1_000_000_000, then: AtLimit::End });
    coder.ttl.finished = Some(3600 * S);
    coder.spawns = vec![spawn("explorer", 1, SpawnMode::Sync, 2, SpawnStart::Fresh, 800, 1200), spawn("watcher", 2, SpawnMode::Async, 1, SpawnStart::Fresh, 500, 500)];
    let mut ex = agent("explorer", ttl, sn);
    ex.system_prompt = SystemPrompt::Own(k(10000)); ex.steps = k(3); ex.tool_tokens = k(20000); ex.tool_time = k(4 * S); ex.output = k(256);
    let mut wa = agent("watcher", ttl, sn);
    wa.system_prompt = SystemPrompt::Own(k(5000)); wa.steps = k(5); wa.tool_tokens = k(2000); wa.tool_time = k(300 * S); wa.output = k(128); wa.ttl.finished = Some(1800 * S);
    show(&scenario(7200, vec![coder, ex, wa], vec![0, 30]));

    let ttl = Ttl { tool: Some(60 * S), blocked: Some(3600 * S), user: Some(300 * S), finished: Some(600 * S) };
    let sn = SnapshotPolicy { every: Some(20000), prompt_end: false, output_end: true, fork: false, keep: Some(3) };
    let mut lead = agent("lead", ttl, sn);
    lead.system_prompt = SystemPrompt::Shared { tokens: 12000, variants: 1 };
    lead.first_prompt = k(9000); lead.prompt = k(1500); lead.turns = k(4); lead.steps = k(3); lead.tool_tokens = k(7000); lead.tool_time = k(45 * S);
    lead.output = k(700); lead.think = k(400 * S); lead.max_duration = Some(k(5000 * S));
    lead.limit = Some(Limit { tokens: k(90000), at_ppb: 900_000_000, then: AtLimit::Compact { to: k(6000) } });
    lead.spawns = vec![spawn("scout", 1, SpawnMode::Sync, 2, SpawnStart::Fresh, 900, 1100), spawn("fork1", 2, SpawnMode::Async, 1, SpawnStart::Fork, 300, 450)];
    let mut scout = agent("scout", ttl, sn);
    scout.system_prompt = SystemPrompt::Own(k(5000)); scout.steps = k(2); scout.tool_tokens = k(4000); scout.tool_time = k(90 * S); scout.output = k(300); scout.ttl.finished = Some(0);
    let mut f1 = agent("fork1", ttl, sn);
    f1.steps = k(4); f1.tool_tokens = k(2500); f1.tool_time = k(50 * S); f1.output = k(260); f1.ttl.finished = Some(120 * S);
    let mut agents = vec![lead, scout, f1];
    show(&scenario(14400, agents.clone(), vec![0, 100, 250]));
    agents[0].rewind = Some(Rewind { probability: 1.0, depth: k(2600) });
    for a in &mut agents { a.snapshots.keep = None; }
    show(&scenario(14400, agents, vec![0, 100, 250]));
}
