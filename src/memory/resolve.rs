//! From a model file to bytes: data types are chosen, parts are added up into the closed form.

use std::collections::BTreeMap;

use super::dtype::{Role, suggest};
use super::error::ModelError;
use super::footprint::{Entry, Footprint, Window};
use super::parts::{Part, Place};
use super::spec::{Checkpoint, Dtypes, ModelSpec};
use super::{MAX_SEQUENCE_TOKENS, MemoryModel};

/// What a scenario or the command line changes in a model; `None` keeps the file's choice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Data type of KV entries and windows.
    pub kv: Option<String>,
    /// Data type of indexer keys.
    pub indexer: Option<String>,
    /// Data type of recurrent state.
    pub state: Option<String>,
    /// Data type of convolution state.
    pub conv: Option<String>,
    /// Data type of compressor tails.
    pub tail: Option<String>,
    /// What a snapshot stores besides recurrent and convolution state.
    pub checkpoint: Option<Checkpoint>,
}

impl Overrides {
    /// The choice for a role.
    pub fn get(&self, role: Role) -> Option<&str> {
        match role {
            Role::Kv => &self.kv,
            Role::Indexer => &self.indexer,
            Role::State => &self.state,
            Role::Conv => &self.conv,
            Role::Tail => &self.tail,
        }
        .as_deref()
    }

    /// Sets the choice for a role.
    pub fn set(&mut self, role: Role, format: String) {
        let slot = match role {
            Role::Kv => &mut self.kv,
            Role::Indexer => &mut self.indexer,
            Role::State => &mut self.state,
            Role::Conv => &mut self.conv,
            Role::Tail => &mut self.tail,
        };
        *slot = Some(format);
    }
}

impl Dtypes {
    /// The file's choice for a role.
    pub fn get(&self, role: Role) -> Option<&str> {
        match role {
            Role::Kv => &self.kv,
            Role::Indexer => &self.indexer,
            Role::State => &self.state,
            Role::Conv => &self.conv,
            Role::Tail => &self.tail,
        }
        .as_deref()
    }
}

/// A model with its data types chosen, part by part.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The data type of each role that the model has.
    pub dtypes: BTreeMap<Role, String>,
    /// The data types in short; see [`MemoryModel::dtypes`].
    pub dtypes_text: String,
    /// What a snapshot stores besides recurrent and convolution state; only what the model has.
    pub checkpoint: Checkpoint,
    /// What every group stores.
    pub parts: Vec<Part>,
    /// The sum of the parts.
    pub footprint: Footprint,
}

impl ModelSpec {
    /// The memory model under these overrides; `label` names its rows and files.
    ///
    /// # Errors
    /// A data type that a group cannot have, an override for something that the model does not
    /// have, or bytes that 64 bits cannot count for a sequence of [`MAX_SEQUENCE_TOKENS`].
    pub fn resolve(&self, overrides: &Overrides, label: &str) -> Result<MemoryModel, ModelError> {
        let resolved = self.resolve_parts(overrides)?;
        Ok(MemoryModel {
            label: label.to_owned(),
            dtypes: resolved.dtypes_text,
            weights_bytes: self.weights.as_ref().map_or(0, |w| w.bytes),
            footprint: resolved.footprint,
        })
    }

    /// As [`ModelSpec::resolve`], with every part: for layouts, parallelism and tables.
    ///
    /// # Errors
    /// As [`ModelSpec::resolve`].
    pub fn resolve_parts(&self, overrides: &Overrides) -> Result<Resolved, ModelError> {
        let slots = self.slots();
        let mut dtypes: BTreeMap<Role, String> = BTreeMap::new();
        for role in Role::ALL {
            let present = slots.iter().any(|s| s.role == role);
            match (present, overrides.get(role).or(self.dtypes.get(role))) {
                (true, Some(format)) => {
                    self.check_format(role, format)?;
                    dtypes.insert(role, format.to_owned());
                }
                // `parse_model` refuses this; a spec built in code meets it here.
                (true, None) => return Err(self.wrong_format(role, "")),
                (false, Some(_)) => {
                    let has = Role::ALL
                        .into_iter()
                        .filter(|r| slots.iter().any(|s| s.role == *r))
                        .collect();
                    return Err(ModelError::NoSuchRole {
                        model: self.name.clone(),
                        role,
                        has,
                    });
                }
                (false, None) => {}
            }
        }
        let mut parts = Vec::with_capacity(slots.len());
        for slot in &slots {
            let bytes = dtypes.get(&slot.role).and_then(|f| slot.bytes(f));
            let bytes = bytes
                .and_then(|b| u64::try_from(b).ok())
                .ok_or_else(|| self.overflow(slot.role.words()))?;
            parts.push(Part {
                group: slot.group,
                kind: slot.kind,
                role: slot.role,
                layers: slot.layers.get(),
                shard: slot.shard,
                place: slot.place,
                bytes,
            });
        }
        let checkpoint = self.checkpoint_of(&parts, overrides)?;
        let footprint = self.add_up(&parts, checkpoint)?;
        let dtypes_text = self.dtypes_text(&dtypes);
        Ok(Resolved {
            dtypes,
            dtypes_text,
            checkpoint,
            parts,
            footprint,
        })
    }

    fn check_format(&self, role: Role, format: &str) -> Result<(), ModelError> {
        let fits = self
            .slots()
            .iter()
            .filter(|s| s.role == role)
            .all(|s| s.bytes(format).is_some());
        if fits {
            Ok(())
        } else {
            Err(self.wrong_format(role, format))
        }
    }

    fn wrong_format(&self, role: Role, found: &str) -> ModelError {
        let allowed = self.allowed_formats(role);
        let suggestion = suggest(found, &allowed);
        ModelError::Dtype {
            model: self.name.clone(),
            role,
            found: found.to_owned(),
            allowed,
            suggestion,
        }
    }

    /// The data types that all groups with this role can have; empty if the model has none.
    pub fn allowed_formats(&self, role: Role) -> Vec<String> {
        let slots = self.slots();
        let mut names: Vec<String> = Vec::new();
        for slot in slots.iter().filter(|s| s.role == role) {
            let own = slot.formats.into_iter().flat_map(|f| f.keys().cloned());
            for name in slot.shape.formats().map(str::to_owned).chain(own) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names.retain(|n| {
            slots
                .iter()
                .filter(|s| s.role == role)
                .all(|s| s.bytes(n).is_some())
        });
        names
    }

    fn checkpoint_of(
        &self,
        parts: &[Part],
        overrides: &Overrides,
    ) -> Result<Checkpoint, ModelError> {
        let checkpoint = overrides.checkpoint.unwrap_or(self.checkpoint);
        let lacks = |what| {
            Err(ModelError::NothingToCheckpoint {
                model: self.name.clone(),
                what,
            })
        };
        let windows = parts
            .iter()
            .any(|p| matches!(p.place, Place::Window { .. }));
        // The default names windows for every model; only an explicit wish can be wrong.
        if overrides.checkpoint.is_some() && checkpoint.windows && !windows {
            return lacks("windows");
        }
        if checkpoint.tails && !parts.iter().any(|p| p.place == Place::Tail) {
            return lacks("compressor tails");
        }
        Ok(Checkpoint {
            windows: checkpoint.windows && windows,
            tails: checkpoint.tails,
        })
    }

    fn overflow(&self, what: &'static str) -> ModelError {
        ModelError::Overflow {
            model: self.name.clone(),
            what,
            tokens: MAX_SEQUENCE_TOKENS,
        }
    }

    /// Design §4: entries merged per ratio, windows per length, state and tails summed.
    fn add_up(&self, parts: &[Part], checkpoint: Checkpoint) -> Result<Footprint, ModelError> {
        let mut entries: BTreeMap<u64, u64> = BTreeMap::new();
        let mut windows: BTreeMap<u64, u64> = BTreeMap::new();
        let (mut state, mut tail) = (0u64, 0u64);
        for part in parts {
            let sum = match part.place {
                Place::Entries { ratio } => entries.entry(ratio).or_default(),
                Place::Window { tokens } => windows.entry(tokens).or_default(),
                Place::State => &mut state,
                Place::Tail => &mut tail,
            };
            let all_layers = part.bytes.checked_mul(part.layers);
            *sum = all_layers
                .and_then(|b| sum.checked_add(b))
                .ok_or_else(|| self.overflow(part.role.words()))?;
        }
        let snapshot_state = if checkpoint.tails {
            state.checked_add(tail)
        } else {
            Some(state)
        };
        let footprint = Footprint {
            entries: entries
                .into_iter()
                .map(|(ratio, bytes)| Entry { ratio, bytes })
                .collect(),
            windows: windows
                .into_iter()
                .map(|(tokens, bytes)| Window {
                    tokens,
                    bytes,
                    snapshot_bytes: if checkpoint.windows { bytes } else { 0 },
                })
                .collect(),
            state_bytes: state,
            tail_bytes: tail,
            snapshot_state_bytes: snapshot_state.ok_or_else(|| self.overflow("snapshot"))?,
        };
        // A snapshot is never larger than the sequence, so this bounds both.
        if footprint.checked_bytes(MAX_SEQUENCE_TOKENS).is_none()
            || footprint.checked_growth().is_none()
        {
            return Err(self.overflow("memory"));
        }
        Ok(footprint)
    }

    /// KV, indexer and state always; convolution and tail only where they differ from the file.
    fn dtypes_text(&self, dtypes: &BTreeMap<Role, String>) -> String {
        let mut words = Vec::new();
        for (role, format) in dtypes {
            let name = match role {
                Role::Kv => "KV",
                Role::Indexer => "indexer",
                Role::State => "state",
                Role::Conv | Role::Tail if self.dtypes.get(*role) == Some(format) => continue,
                Role::Conv => "conv",
                Role::Tail => "tail",
            };
            words.push(format!("{format} {name}"));
        }
        words.join(", ")
    }
}
