//! A model's groups as parts: what is stored, in how many layers, and how it may be sharded,
//! before and after data types are chosen. Layouts and parallelism start from parts; the closed
//! form ([`super::Footprint`]) is their sum.

use std::collections::BTreeMap;

use super::dtype::{Role, Shape};
use super::spec::{Count, Group, ModelSpec, RecurrentKind};

/// The kind of layers that a part belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Full attention (MHA, GQA, MQA).
    Full,
    /// Multi-head latent attention.
    Mla,
    /// Indexers of sparse attention.
    Indexer,
    /// Sliding-window attention.
    Window,
    /// Compressed attention with an indexer (CSA).
    Csa,
    /// Compressed attention without one (HCA).
    Hca,
    /// Recurrent layers.
    Recurrent(RecurrentKind),
}

impl Kind {
    /// The kind's usual short name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Full => "full",
            Kind::Mla => "MLA",
            Kind::Indexer => "indexer",
            Kind::Window => "SWA",
            Kind::Csa => "CSA",
            Kind::Hca => "HCA",
            Kind::Recurrent(RecurrentKind::Kda) => "KDA",
            Kind::Recurrent(RecurrentKind::Gdn) => "GDN",
            Kind::Recurrent(RecurrentKind::Mamba2) => "Mamba-2",
            Kind::Recurrent(RecurrentKind::Lightning) => "lightning",
        }
    }
}

/// How tensor parallelism treats a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shard {
    /// Every rank holds all of it (latents and indexer keys have one head).
    Replicated,
    /// Split over this many heads; ranks beyond them hold copies.
    Heads(u64),
}

/// When the bytes of a part are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// One entry per `ratio` tokens.
    Entries {
        /// Tokens per entry.
        ratio: u64,
    },
    /// One entry per token for the last `tokens` tokens.
    Window {
        /// The window's length.
        tokens: u64,
    },
    /// Once per sequence: recurrent or convolution state.
    State,
    /// Once per sequence: what a compressor keeps of an unfinished entry.
    Tail,
}

/// What one group stores in one place, with its data type chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Index into [`ModelSpec::groups`].
    pub group: usize,
    /// The kind of the group's layers.
    pub kind: Kind,
    /// Which data type applies.
    pub role: Role,
    /// Layers.
    pub layers: u64,
    /// How tensor parallelism treats it.
    pub shard: Shard,
    /// When it is held.
    pub place: Place,
    /// Bytes per layer: of an entry, of a token in the window, or of the state.
    pub bytes: u64,
}

/// A part before a data type is chosen.
pub(super) struct Slot<'a> {
    pub group: usize,
    pub kind: Kind,
    pub role: Role,
    pub layers: Count,
    pub shard: Shard,
    pub place: Place,
    pub shape: Shape,
    pub formats: Option<&'a BTreeMap<String, Count>>,
}

impl Slot<'_> {
    /// Bytes per layer in this format, `None` if the part cannot have it.
    pub(super) fn bytes(&self, format: &str) -> Option<u128> {
        match self.formats.and_then(|f| f.get(format)) {
            Some(bytes) => Some(bytes.wide()),
            None => self.shape.bytes(format),
        }
    }
}

impl Group {
    /// The kind of the group's layers.
    pub fn kind(&self) -> Kind {
        match self {
            Group::Full(_) => Kind::Full,
            Group::Mla(_) => Kind::Mla,
            Group::Indexer(_) => Kind::Indexer,
            Group::Window(_) | Group::LatentWindow(_) => Kind::Window,
            Group::Compressed(c) if c.indexer.is_some() => Kind::Csa,
            Group::Compressed(_) => Kind::Hca,
            Group::Recurrent(r) => Kind::Recurrent(r.kind),
        }
    }

    /// The group's layers.
    pub fn layers(&self) -> u64 {
        match self {
            Group::Full(g) => g.layers,
            Group::Mla(g) => g.layers,
            Group::Indexer(g) => g.layers,
            Group::Window(g) => g.layers,
            Group::LatentWindow(g) => g.layers,
            Group::Compressed(g) => g.layers,
            Group::Recurrent(g) => g.layers,
        }
        .get()
    }

    /// Where the group's numbers are from: its own source, then those of its parts.
    pub fn sources(&self) -> Vec<&str> {
        let (own, inner) = match self {
            Group::Full(g) => (&g.source, None),
            Group::Mla(g) => (&g.source, None),
            Group::Indexer(g) => (&g.source, None),
            Group::Window(g) => (&g.source, None),
            Group::LatentWindow(g) => (&g.source, None),
            Group::Compressed(g) => (&g.source, g.tail.as_ref().and_then(|t| t.source.as_ref())),
            Group::Recurrent(g) => (&g.source, g.conv.as_ref().and_then(|c| c.source.as_ref())),
        };
        own.as_ref()
            .into_iter()
            .chain(inner)
            .map(String::as_str)
            .collect()
    }

    /// What the group stores, data types not chosen yet.
    fn slots(&self, index: usize) -> Vec<Slot<'_>> {
        let kind = self.kind();
        let slot = |role, layers, shard, place, shape, formats| Slot {
            group: index,
            kind,
            role,
            layers,
            shard,
            place,
            shape,
            formats,
        };
        let every_token = Place::Entries { ratio: 1 };
        match self {
            Group::Full(g) => {
                let shape = heads(g.kv_heads, g.head_dim, g.value_dim);
                vec![slot(
                    Role::Kv,
                    g.layers,
                    Shard::Heads(g.kv_heads.get()),
                    every_token,
                    shape,
                    Some(&g.formats),
                )]
            }
            Group::Mla(g) => {
                let shape = Shape::Mla {
                    latent: g.latent.wide(),
                    rope: g.rope.wide(),
                };
                vec![slot(
                    Role::Kv,
                    g.layers,
                    Shard::Replicated,
                    every_token,
                    shape,
                    Some(&g.formats),
                )]
            }
            Group::Indexer(g) => {
                let shape = Shape::Indexer { dim: g.dim.wide() };
                vec![slot(
                    Role::Indexer,
                    g.layers,
                    Shard::Replicated,
                    every_token,
                    shape,
                    Some(&g.formats),
                )]
            }
            Group::Window(g) => {
                let shape = heads(g.kv_heads, g.head_dim, g.value_dim);
                let place = Place::Window {
                    tokens: g.tokens.get(),
                };
                vec![slot(
                    Role::Kv,
                    g.layers,
                    Shard::Heads(g.kv_heads.get()),
                    place,
                    shape,
                    Some(&g.formats),
                )]
            }
            Group::LatentWindow(g) => {
                let shape = Shape::Latent {
                    dim: g.dim.wide(),
                    rope: g.rope.wide(),
                };
                let place = Place::Window {
                    tokens: g.tokens.get(),
                };
                vec![slot(
                    Role::Kv,
                    g.layers,
                    Shard::Replicated,
                    place,
                    shape,
                    Some(&g.formats),
                )]
            }
            Group::Compressed(g) => {
                let entry = Shape::Latent {
                    dim: g.dim.wide(),
                    rope: g.rope.wide(),
                };
                let every_ratio = Place::Entries {
                    ratio: g.ratio.get(),
                };
                let mut slots = vec![slot(
                    Role::Kv,
                    g.layers,
                    Shard::Replicated,
                    every_ratio,
                    entry,
                    Some(&g.formats),
                )];
                if let Some(indexer) = &g.indexer {
                    let key = Shape::Indexer {
                        dim: indexer.dim.wide(),
                    };
                    let formats = Some(&indexer.formats);
                    slots.push(slot(
                        Role::Indexer,
                        g.layers,
                        Shard::Replicated,
                        every_ratio,
                        key,
                        formats,
                    ));
                }
                if let Some(window) = g.window {
                    let place = Place::Window {
                        tokens: window.get(),
                    };
                    slots.push(slot(
                        Role::Kv,
                        g.layers,
                        Shard::Replicated,
                        place,
                        entry,
                        Some(&g.formats),
                    ));
                }
                if let Some(tail) = &g.tail {
                    let shape = Shape::Elements(tail.slots.wide() * tail.width.wide());
                    slots.push(slot(
                        Role::Tail,
                        g.layers,
                        Shard::Replicated,
                        Place::Tail,
                        shape,
                        None,
                    ));
                }
                slots
            }
            Group::Recurrent(g) => {
                let shard = Shard::Heads(g.heads.get());
                let shape = Shape::Elements(g.heads.wide() * g.key_dim.wide() * g.value_dim.wide());
                let mut slots = vec![slot(
                    Role::State,
                    g.layers,
                    shard,
                    Place::State,
                    shape,
                    None,
                )];
                if let Some(conv) = &g.conv {
                    let shape = Shape::Elements(conv.rows.wide() * conv.channels.wide());
                    slots.push(slot(Role::Conv, g.layers, shard, Place::State, shape, None));
                }
                slots
            }
        }
    }
}

fn heads(kv_heads: Count, head_dim: Count, value_dim: Option<Count>) -> Shape {
    Shape::Heads {
        kv_heads: kv_heads.wide(),
        key_dim: head_dim.wide(),
        value_dim: value_dim.unwrap_or(head_dim).wide(),
    }
}

impl ModelSpec {
    /// What all groups store, data types not chosen yet.
    pub(super) fn slots(&self) -> Vec<Slot<'_>> {
        self.groups
            .iter()
            .enumerate()
            .flat_map(|(i, g)| g.slots(i))
            .collect()
    }

    /// The layers in short, e.g. `24 MLA+69 KDA`.
    pub fn layer_summary(&self) -> String {
        let mut counts: Vec<(&'static str, u64)> = Vec::new();
        for group in &self.groups {
            let name = group.kind().name();
            match counts.iter_mut().find(|(n, _)| *n == name) {
                Some((_, layers)) => *layers = layers.saturating_add(group.layers()),
                None => counts.push((name, group.layers())),
            }
        }
        let words: Vec<String> = counts
            .iter()
            .map(|(name, layers)| format!("{layers} {name}"))
            .collect();
        words.join("+")
    }
}
