//! What a model file says: plain data, one layer group per item, every number with its source.
//! No byte is computed here; [`super::resolve`] does that.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// The largest count, width or length that a model file may hold. It keeps every product of a
/// group's numbers inside 128 bits; no real model comes near it.
pub const MAX_COUNT: u64 = 1_000_000_000;

/// A whole number from 1 to [`MAX_COUNT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(u64);

impl Count {
    /// `value` if it is from 1 to [`MAX_COUNT`].
    pub fn new(value: u64) -> Option<Count> {
        (1..=MAX_COUNT).contains(&value).then_some(Count(value))
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }

    /// The number, wide enough to multiply.
    pub(super) fn wide(self) -> u128 {
        u128::from(self.0)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Count, D::Error> {
        let value = u64::deserialize(deserializer)?;
        Count::new(value).ok_or_else(|| {
            de::Error::custom(format!(
                "{value} is out of range: a whole number from 1 to {MAX_COUNT} is needed"
            ))
        })
    }
}

/// A model file, parsed and checked: how an architecture stores the context of one sequence.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelSpec {
    /// The name in the catalogue and on the command line.
    pub name: String,
    /// One sentence for listings.
    #[serde(default)]
    pub description: String,
    /// The longest context that the model was made for.
    pub max_context: Option<MaxContext>,
    /// Bytes of the released weights; absent if unknown.
    pub weights: Option<Weights>,
    /// The data type of each kind of data that the groups hold.
    pub dtypes: Dtypes,
    /// What a snapshot stores besides recurrent and convolution state.
    #[serde(default)]
    pub checkpoint: Checkpoint,
    /// The layer groups.
    pub groups: Vec<Group>,
}

/// The longest context that a model was made for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaxContext {
    /// Tokens.
    pub tokens: Count,
    /// Where the number is from.
    pub source: Option<String>,
}

/// Bytes of a released checkpoint.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Bytes of one copy.
    pub bytes: u64,
    /// Whether the source gives a rounded or derived figure.
    #[serde(default)]
    pub approximate: bool,
    /// Where the number is from.
    pub source: Option<String>,
}

/// The data type (or packed entry format) of each role, by name; see [`super::dtype`].
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dtypes {
    /// KV entries: full attention, MLA, windows, compressed entries.
    pub kv: Option<String>,
    /// Indexer keys.
    pub indexer: Option<String>,
    /// Recurrent state.
    pub state: Option<String>,
    /// Convolution state.
    pub conv: Option<String>,
    /// Compressor tails.
    pub tail: Option<String>,
    /// Where the choices are from.
    pub source: Option<String>,
}

/// What a snapshot stores besides recurrent and convolution state, which it always stores.
///
/// Windows by default: the window before a rewind point is overwritten, so it must be stored to
/// resume there. Compressor tails only if asked for: without them the engine recomputes the
/// unfinished block (DeepSeek-V4 paper, arXiv 2606.19348, disk cache: "incomplete block
/// recomputed").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// Sliding windows.
    pub windows: bool,
    /// Compressor tails.
    pub tails: bool,
}

impl Default for Checkpoint {
    fn default() -> Checkpoint {
        Checkpoint {
            windows: true,
            tails: false,
        }
    }
}

const CHECKPOINT_HELP: &str = "`none`, `windows`, `tails` or `[windows, tails]`";

impl Checkpoint {
    /// Neither windows nor tails.
    pub const NONE: Checkpoint = Checkpoint {
        windows: false,
        tails: false,
    };

    fn set(&mut self, word: &str) -> Result<(), String> {
        match word {
            "windows" => self.windows = true,
            "tails" => self.tails = true,
            _ => {
                return Err(format!(
                    "`{word}` is not something a snapshot may store: {CHECKPOINT_HELP}"
                ));
            }
        }
        Ok(())
    }
}

impl std::str::FromStr for Checkpoint {
    type Err = String;

    /// Reads `none`, `windows`, `tails` or `windows+tails`.
    fn from_str(text: &str) -> Result<Checkpoint, String> {
        let mut checkpoint = Checkpoint::NONE;
        if text != "none" {
            text.split('+').try_for_each(|word| checkpoint.set(word))?;
        }
        Ok(checkpoint)
    }
}

impl<'de> Deserialize<'de> for Checkpoint {
    /// Reads `none`, one word, or a list of words.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Checkpoint, D::Error> {
        struct Words;
        impl<'de> Visitor<'de> for Words {
            type Value = Checkpoint;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str(CHECKPOINT_HELP)
            }

            fn visit_str<E: de::Error>(self, word: &str) -> Result<Checkpoint, E> {
                word.parse().map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut words: A) -> Result<Checkpoint, A::Error> {
                let mut checkpoint = Checkpoint::NONE;
                while let Some(word) = words.next_element::<String>()? {
                    checkpoint.set(&word).map_err(de::Error::custom)?;
                }
                Ok(checkpoint)
            }
        }
        deserializer.deserialize_any(Words)
    }
}

/// A group of equal layers. One physical layer may appear in two groups (an MLA layer with an
/// indexer).
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// Full attention: keys and values of every token (MHA, GQA, MQA).
    Full(Full),
    /// Multi-head latent attention: one latent and one rotary key per token.
    Mla(Mla),
    /// Indexer keys of sparse attention (DeepSeek-V3.2), one per token.
    Indexer(Indexer),
    /// Sliding-window attention with keys and values per head.
    Window(WindowGroup),
    /// Sliding-window attention over a latent shared by all heads (DeepSeek-V4's first layers).
    LatentWindow(LatentWindow),
    /// Compressed attention (DeepSeek-V4's CSA and HCA): one entry per `ratio` tokens.
    Compressed(Compressed),
    /// Recurrent state of fixed size.
    Recurrent(Recurrent),
}

/// Full attention.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Full {
    /// Layers in the group.
    pub layers: Count,
    /// KV heads of a layer.
    pub kv_heads: Count,
    /// Width of a key (and of a value, unless `value_dim` is given).
    pub head_dim: Count,
    /// Width of a value, if it differs.
    pub value_dim: Option<Count>,
    /// Packed formats that are not built in: name to bytes per token and layer.
    #[serde(default)]
    pub formats: BTreeMap<String, Count>,
    /// Where the numbers are from.
    pub source: Option<String>,
}

/// Multi-head latent attention.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mla {
    /// Layers in the group.
    pub layers: Count,
    /// Width of the latent (`kv_lora_rank`).
    pub latent: Count,
    /// Width of the rotary key (`qk_rope_head_dim`); cached by NoPE variants too.
    pub rope: Count,
    /// Packed formats that are not built in: name to bytes per token and layer.
    #[serde(default)]
    pub formats: BTreeMap<String, Count>,
    /// Where the numbers are from.
    pub source: Option<String>,
}

/// Indexer keys.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Indexer {
    /// Layers that own an indexer.
    pub layers: Count,
    /// Width of an indexer key (one head).
    pub dim: Count,
    /// Packed formats that are not built in: name to bytes per token and layer.
    #[serde(default)]
    pub formats: BTreeMap<String, Count>,
    /// Where the numbers are from.
    pub source: Option<String>,
}

/// Sliding-window attention.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowGroup {
    /// Layers in the group.
    pub layers: Count,
    /// Window length in tokens.
    pub tokens: Count,
    /// KV heads of a layer.
    pub kv_heads: Count,
    /// Width of a key (and of a value, unless `value_dim` is given).
    pub head_dim: Count,
    /// Width of a value, if it differs.
    pub value_dim: Option<Count>,
    /// Packed formats that are not built in: name to bytes per token and layer.
    #[serde(default)]
    pub formats: BTreeMap<String, Count>,
    /// Where the numbers are from.
    pub source: Option<String>,
}

/// Sliding-window attention over a shared latent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LatentWindow {
    /// Layers in the group.
    pub layers: Count,
    /// Window length in tokens.
    pub tokens: Count,
    /// Width of the shared key-value latent.
    pub dim: Count,
    /// How many of its dimensions are rotary.
    pub rope: Count,
    /// Packed formats that are not built in: name to bytes per token and layer.
    #[serde(default)]
    pub formats: BTreeMap<String, Count>,
    /// Where the numbers are from.
    pub source: Option<String>,
}

/// Compressed attention.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compressed {
    /// Layers in the group.
    pub layers: Count,
    /// Tokens per compressed entry.
    pub ratio: Count,
    /// Width of an entry: a key-value latent shared by all heads.
    pub dim: Count,
    /// How many of its dimensions are rotary.
    pub rope: Count,
    /// The last tokens that a layer keeps uncompressed, in the format of an entry.
    pub window: Option<Count>,
    /// The indexer key that comes with every entry (CSA).
    pub indexer: Option<CompressedIndexer>,
    /// What the compressor keeps of the tokens that do not fill an entry yet.
    pub tail: Option<Tail>,
    /// Packed formats that are not built in: name to bytes per entry and layer.
    #[serde(default)]
    pub formats: BTreeMap<String, Count>,
    /// Where the numbers are from.
    pub source: Option<String>,
}

/// The indexer of compressed entries.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompressedIndexer {
    /// Width of an indexer key (one head).
    pub dim: Count,
    /// Packed formats that are not built in: name to bytes per key and layer.
    #[serde(default)]
    pub formats: BTreeMap<String, Count>,
}

/// A compressor's ring buffer: a fixed block per sequence and layer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tail {
    /// Slots of the ring.
    pub slots: Count,
    /// Elements of a slot.
    pub width: Count,
    /// Where the numbers are from.
    pub source: Option<String>,
}

/// Recurrent state: `heads * key_dim * value_dim` elements per layer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recurrent {
    /// Which recurrence.
    pub kind: RecurrentKind,
    /// Layers in the group.
    pub layers: Count,
    /// State heads of a layer (value heads in GDN).
    pub heads: Count,
    /// Key width (Mamba-2: the state size).
    pub key_dim: Count,
    /// Value width (Mamba-2: the head width).
    pub value_dim: Count,
    /// The short convolution's last inputs.
    pub conv: Option<Conv>,
    /// Where the numbers are from.
    pub source: Option<String>,
}

/// Convolution state: `rows * channels` elements per layer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conv {
    /// Past inputs kept: kernel length - 1.
    pub rows: Count,
    /// Channels of the convolution.
    pub channels: Count,
    /// Where the numbers are from.
    pub source: Option<String>,
}

/// Which recurrence a layer runs. It names the group; the bytes depend on the widths alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecurrentKind {
    /// Kimi delta attention.
    Kda,
    /// Gated DeltaNet.
    Gdn,
    /// Mamba-2.
    Mamba2,
    /// Lightning attention.
    Lightning,
}
