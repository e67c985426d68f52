//! When sessions arrive.

use super::draws::RunKey;
use crate::scenario::{Arrivals, WorkloadEntry};

/// TEMPORARY until merged.
#[derive(Debug)]
pub struct ArrivalStream(std::vec::IntoIter<(u64, u64)>);

impl ArrivalStream {
    pub fn new(entry: &WorkloadEntry, _key: RunKey, warmup_ns: u64, measure_ns: u64) -> ArrivalStream {
        let Arrivals::At(at) = &entry.arrivals else { unimplemented!() };
        let v: Vec<_> = at.iter().enumerate().filter(|(_, t)| **t < measure_ns).map(|(i, t)| (i as u64, t + warmup_ns)).collect();
        ArrivalStream(v.into_iter())
    }
}
impl Iterator for ArrivalStream {
    type Item = (u64, u64);
    fn next(&mut self) -> Option<(u64, u64)> { self.0.next() }
}
