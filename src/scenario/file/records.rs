//! The maps of a scenario file. The documentation of each field is what editors show.

use super::decode::{Cx, Decode, Named, Spanned, record};
use super::quantity::Quantity;
use super::scalars::*;
use super::units::{Counts, Factor, Summary, Time, TokenCount};
use crate::scenario::text::{Kind, Node, Report};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use std::borrow::Cow;

record! {
    /// A fleet of agents: which memory models are compared, what the agents do, who starts them.
    pub struct ScenarioFile ("a scenario") {
        /// Name of the run and of its output folder. Default: the file's name.
        name: Spanned<Text>,
        /// One sentence for titles.
        description: Text,
        /// Seed of every draw. Default 0.
        seed: Seed,
        /// Length of the measured window, such as `24h`. Time 0 is Monday 00:00 local time.
        @required measure: Spanned<Duration>,
        /// Time simulated before the window. Default: long enough for the longest session and ttl.
        warmup: Spanned<Duration>,
        /// Independent repetitions. Default: 5 if anything is drawn, else 1.
        replications: Positive,
        /// The compared memory models: names of the catalogue, or maps that change one.
        @required models: Spanned<Vec<ModelFile>>,
        /// The model that savings are measured against. Default: the first.
        baseline: Spanned<Text>,
        /// How long an idle sequence stays in memory, by what it waits for.
        ttl: TtlFile,
        /// When copies of recurrent (or window) state are stored.
        snapshots: SnapshotsFile,
        /// The agents, by name.
        @required agents: Spanned<Named<AgentFile>>,
        /// Who starts sessions, by name.
        @required workload: Spanned<Named<WorkloadFile>>,
        /// Speed of one sequence.
        serving: ServingFile,
        /// Decode allocates in blocks of this many tokens. Default 256.
        decode_block: Positive,
    }
    later { "plans" }
}

record! {
    /// How long an idle sequence stays in memory. A time, or `never` (never released).
    pub struct TtlFile ("a ttl map") {
        /// While a tool runs. Default 1h.
        tool: Lifetime,
        /// While blocked on sync children. Default 1h.
        blocked: Lifetime,
        /// While the user thinks. Default 5m.
        user: Lifetime,
        /// After the agent's end. Default 5m.
        finished: Lifetime,
    }
}

record! {
    /// When snapshots are taken and how many are kept.
    pub struct SnapshotsFile ("a snapshots map") {
        /// Whenever the tokens of a sequence reach a multiple of this, or `none`. Default 20K.
        every: Every,
        /// Further moments. Default output_end, fork.
        at: Vec<Moment>,
        /// `all`, or the latest N of a sequence's own. Default all.
        keep: Keep,
    }
}

record! {
    /// Speed of one sequence.
    pub struct ServingFile ("a serving map") {
        /// Prefill rate. Default 8000 tok/s.
        prefill: TokenRate,
        /// Decode rate. Default 60 tok/s.
        decode: TokenRate,
    }
}

record! {
    /// A template: prompts, steps, pauses, spawns, limits, cache lifetimes.
    pub struct AgentFile ("an agent") {
        /// `compared` (default), or a fixed model.
        model: Spanned<AgentModelFile>,
        /// Tokens that open every context, or `{tokens, shared, variants}`. Default 0.
        system_prompt: SystemPromptFile,
        /// Tokens that open the first turn; drawn once a session. Default 0.
        first_prompt: Quantity<TokenCount>,
        /// Tokens that open a later turn. Default 0.
        prompt: Quantity<TokenCount>,
        /// Turns in a session: user prompts; drawn once a session. Default 1.
        turns: Quantity<Counts>,
        /// Steps in a turn: LLM requests; drawn once a turn. Default 1.
        steps: Quantity<Counts>,
        /// Results and durations of tool calls.
        tool: ToolFile,
        /// Output tokens of a step. Default 1.
        output: Quantity<TokenCount>,
        /// The user's pause between turns. Default 0s.
        think: Quantity<Time>,
        /// Drawn once a session; multiplies its turns and tool tokens. Default 1.
        session_factor: Quantity<Factor>,
        /// No step starts later than this after the first; drawn once a session.
        max_duration: Quantity<Time>,
        /// The context limit.
        limit: LimitFile,
        /// Dropping of the last tokens before a step.
        rewind: RewindFile,
        /// What a tool call may start, by name; in this order.
        spawns: Named<SpawnFile>,
        /// Deepest level of children (a root agent is at 0); default for the spawns.
        max_depth: Whole,
        /// Overrides, field by field, of the scenario's `ttl`.
        ttl: TtlFile,
        /// Overrides, field by field, of the scenario's `snapshots`.
        snapshots: SnapshotsFile,
        /// Overrides, field by field, of the scenario's `serving`.
        serving: ServingFile,
        /// Overrides the scenario's `decode_block`.
        decode_block: Positive,
    }
}

record! {
    /// A system prompt of its own (`shared: false`), or held once for all sequences.
    pub struct SystemPromptMapFile ("a system prompt") {
        /// Its length. A shared one is constant.
        @required tokens: Quantity<TokenCount>,
        /// Whether it is held once per variant for all sequences, and cached. Default false.
        shared: Switch,
        /// How many different shared prompts there are; sessions draw one evenly. Default 1.
        variants: Spanned<Positive>,
    }
}

record! {
    /// Tool calls.
    pub struct ToolFile ("a tool map") {
        /// Tokens of a result. Default 0.
        tokens: Quantity<TokenCount>,
        /// Duration of a call. Default 0s.
        time: Quantity<Time>,
    }
}

record! {
    /// The context limit and what happens when the next prefill would pass `at * tokens`.
    pub struct LimitFile ("a limit") {
        /// The longest context; drawn once a session.
        @required tokens: Quantity<TokenCount>,
        /// Fraction of it that is used. Default 0.9.
        at: Share,
        /// `compact` (default if `to` is given) or `end`.
        then: Spanned<Then>,
        /// Tokens of the summary, or a fraction of the context below 1.
        to: Quantity<Summary>,
    }
}

record! {
    /// Dropping of the last tokens before a step that is not a sequence's first.
    pub struct RewindFile ("a rewind") {
        /// How often.
        @required probability: Probability,
        /// Tokens dropped.
        @required depth: Quantity<TokenCount>,
    }
}

record! {
    /// A tool call that starts subagents.
    pub struct SpawnFile ("a spawn") {
        /// The agent that is started. Default: the spawn's name.
        agent: Spanned<Text>,
        /// Whether the parent waits.
        @required mode: Mode,
        /// How often a tool call does this. Default 1.
        probability: Probability,
        /// How many children at once. Default 1.
        count: Quantity<Counts>,
        /// What the children's context starts from. Default fresh.
        start: Spanned<Start>,
        /// Tokens given to a child in place of its first prompt. Default 0.
        task: Quantity<TokenCount>,
        /// Tokens that the parent receives when a child returns. Default 0.
        result: Quantity<TokenCount>,
        /// Deepest level at which this puts a child (a root agent is at 0).
        max_depth: Whole,
    }
}

record! {
    /// Who starts sessions of an agent, and when.
    pub struct WorkloadFile ("a workload entry") {
        /// The agent of the sessions.
        @required agent: Spanned<Text>,
        /// Mean arrivals, such as `1200/h`.
        rate: PerTime,
        /// How many users, each with `sessions_per_day`.
        users: Positive,
        /// Sessions of a user on an active day.
        sessions_per_day: Spanned<Number>,
        /// Arrivals at these times after time 0.
        at: Vec<Spanned<Duration>>,
        /// Coefficient of variation of the gaps between arrivals; 1 (default) is Poisson.
        cv: Spanned<Number>,
        /// How the rate varies over the day. Default flat.
        profile: Spanned<ProfileFile>,
        /// The days with arrivals: `all` (default), `mon-fri`, or a list. Time 0 is a Monday.
        weekdays: Spanned<WeekdaysFile>,
        /// Hours that the entry's local clock is ahead of the scenario's, such as `+9`.
        timezone: Spanned<Timezone>,
    }
    one_of { ["rate"], ["users", "sessions_per_day"], ["at"] }
    later { "closed", "trace" }
}

record! {
    /// A model of the catalogue or of a file, with other data types.
    pub struct ModelMapFile ("a model entry") {
        /// A catalogue name.
        model: Spanned<Text>,
        /// A model file, relative to the scenario.
        file: Spanned<Text>,
        /// Its name in charts and tables.
        label = "as": Spanned<Text>,
        /// Data type of KV entries and windows.
        kv: Spanned<Text>,
        /// Data type of indexer keys.
        indexer: Spanned<Text>,
        /// Data type of recurrent state.
        state: Spanned<Text>,
        /// Data type of convolution state.
        conv: Spanned<Text>,
        /// Data type of compressor tails.
        tail: Spanned<Text>,
        /// What snapshots hold besides recurrent state: none, windows, tails, or a list.
        checkpoint: Spanned<CheckpointFile>,
    }
    one_of { ["model"], ["file"] }
    later { "hf_config", "layout", "parallel" }
}

/// A model: a name, or a map.
#[derive(Clone, Debug)]
pub enum ModelFile {
    /// A catalogue name.
    Name(Spanned<Text>),
    /// A map.
    Map(Box<ModelMapFile>),
}

impl Decode for ModelFile {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        match &node.kind {
            Kind::Scalar { .. } if !node.is_null() => Decode::decode(node, cx).map(ModelFile::Name),
            _ => Decode::decode(node, cx).map(ModelFile::Map),
        }
    }
}

impl JsonSchema for ModelFile {
    fn schema_name() -> Cow<'static, str> {
        "Model".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "string", "description": "A catalogue name: `fleetmem models` lists them." },
            generator.subschema_for::<ModelMapFile>(),
        ] })
    }
}

/// An agent's model: `compared`, or a fixed model.
#[derive(Clone, Debug)]
pub enum AgentModelFile {
    /// Every compared model in turn.
    Compared,
    /// Always this one.
    Fixed(ModelFile),
}

impl Decode for AgentModelFile {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        match &node.kind {
            Kind::Scalar { text, .. } if text == "compared" => Some(AgentModelFile::Compared),
            _ => ModelFile::decode(node, cx).map(AgentModelFile::Fixed),
        }
    }
}

impl JsonSchema for AgentModelFile {
    fn schema_name() -> Cow<'static, str> {
        "AgentModel".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "const": "compared", "description": "Every compared model in turn." },
            generator.subschema_for::<ModelFile>(),
        ] })
    }
}

/// A system prompt: tokens of its own, or a map.
#[derive(Clone, Debug)]
pub enum SystemPromptFile {
    /// A copy in every sequence.
    Own(Box<Quantity<TokenCount>>),
    /// A map.
    Map(Box<SystemPromptMapFile>),
}

impl Decode for SystemPromptFile {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        let fields = SystemPromptMapFile::SHAPE.fields;
        let prompt = |key: &str| {
            fields.contains(&key) || crate::scenario::text::nearest(key, fields).is_some()
        };
        match &node.kind {
            Kind::Map(entries)
                if entries.is_empty() || entries.iter().any(|e| prompt(&e.key.text)) =>
            {
                Decode::decode(node, cx).map(SystemPromptFile::Map)
            }
            _ => Decode::decode(node, cx).map(SystemPromptFile::Own),
        }
    }
}

impl JsonSchema for SystemPromptFile {
    fn schema_name() -> Cow<'static, str> {
        "SystemPrompt".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            generator.subschema_for::<Quantity<TokenCount>>(),
            generator.subschema_for::<SystemPromptMapFile>(),
        ] })
    }
}

/// A daily profile: a name, or 24 multipliers.
#[derive(Clone, Debug)]
pub enum ProfileFile {
    /// A named one.
    Name(ProfileName),
    /// One multiplier per hour from midnight.
    Hours(Vec<Number>),
}

impl Decode for ProfileFile {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        match &node.kind {
            Kind::Seq(_) => Decode::decode(node, cx).map(ProfileFile::Hours),
            _ => Decode::decode(node, cx).map(ProfileFile::Name),
        }
    }
}

impl JsonSchema for ProfileFile {
    fn schema_name() -> Cow<'static, str> {
        "Profile".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            generator.subschema_for::<ProfileName>(),
            {
                "type": "array", "items": { "type": "number", "minimum": 0 },
                "minItems": 24, "maxItems": 24,
                "description": "One multiplier per hour from midnight, of mean 1.",
            },
        ] })
    }
}

/// Days: a word such as `mon-fri`, or a list of them.
#[derive(Clone, Debug)]
pub struct WeekdaysFile(pub Vec<Spanned<Text>>);

impl Decode for WeekdaysFile {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        match &node.kind {
            Kind::Scalar { .. } => Decode::decode(node, cx).map(|word| WeekdaysFile(vec![word])),
            Kind::Map(_) => cx.error(
                Report::new(node.span, "expected days, found a map")
                    .label("`all`, `mon-fri`, or a list of days"),
            ),
            Kind::Seq(_) => Decode::decode(node, cx).map(WeekdaysFile),
        }
    }
}

impl JsonSchema for WeekdaysFile {
    fn schema_name() -> Cow<'static, str> {
        "Weekdays".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let day = "(mon|tue|wed|thu|fri|sat|sun)";
        let word = serde_json::json!({
            "type": "string", "pattern": format!("^(all|{day}(-{day})?)$"),
        });
        json_schema!({ "anyOf": [word.clone(), { "type": "array", "items": word, "minItems": 1 }] })
    }
}

/// What snapshots hold besides recurrent state: words.
#[derive(Clone, Debug)]
pub struct CheckpointFile(pub Vec<Spanned<Text>>);

impl Decode for CheckpointFile {
    fn decode(node: &Node, cx: &mut Cx) -> Option<Self> {
        match &node.kind {
            Kind::Scalar { .. } => Decode::decode(node, cx).map(|word| CheckpointFile(vec![word])),
            _ => Decode::decode(node, cx).map(CheckpointFile),
        }
    }
}

impl JsonSchema for CheckpointFile {
    fn schema_name() -> Cow<'static, str> {
        "Checkpoint".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "enum": ["none", "windows", "tails"] },
            { "type": "array", "items": { "enum": ["windows", "tails"] } },
        ] })
    }
}
