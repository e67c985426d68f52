//! What the user wrote: one type per map of a scenario file, from which both the reader and the
//! JSON Schema for editors are made. No field depends on another here; `check` does that.

mod decode;
mod laws;
mod number;
mod quantity;
mod rates;
mod records;
mod scalars;
mod units;

pub use decode::{Cx, Decode, Named, Spanned};
pub use laws::*;
pub use quantity::{Quantity, QuantityKind};
pub use records::*;
pub use scalars::*;
pub use units::{Summary, Unit};
