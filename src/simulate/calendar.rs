//! Which sessions act in which slice of time: two levels, so that appends stay streaming however
//! many sessions are alive.

use std::collections::BTreeMap;

/// Slices near now, one list each; the rest wait in coarse lists.
#[derive(Debug)]
pub struct Calendar {
    width: u64,
    near: Vec<Vec<u32>>,
    /// Which stretch of `near.len()` slices `near` covers.
    epoch: u64,
    far: BTreeMap<u64, Vec<(u64, u32)>>,
    /// Allocations of lists that were taken, for lists to come.
    spare: Vec<Vec<u32>>,
}

/// Slices in the near level.
const NEAR: u64 = 2048;

impl Calendar {
    /// A calendar of slices `width` ns wide that stands at `now`.
    pub fn new(width: u64, now: u64) -> Calendar {
        let near = (0..NEAR).map(|_| Vec::new()).collect();
        Calendar {
            width,
            near,
            epoch: now / width / NEAR,
            far: BTreeMap::new(),
            spare: Vec::new(),
        }
    }

    /// Notes that a session acts at `at`.
    #[inline]
    pub fn insert(&mut self, at: u64, session: u32) {
        let slice = at / self.width;
        let epoch = slice / NEAR;
        if epoch == self.epoch {
            self.push(slice, session);
        } else {
            self.far.entry(epoch).or_default().push((at, session));
        }
    }

    /// Takes the sessions of the slice that starts at `start`; slices are taken in order.
    pub fn take(&mut self, start: u64) -> Vec<u32> {
        let slice = start / self.width;
        let epoch = slice / NEAR;
        if epoch != self.epoch {
            self.epoch = epoch;
            for (at, session) in self.far.remove(&epoch).unwrap_or_default() {
                self.push(at / self.width, session);
            }
        }
        std::mem::take(&mut self.near[(slice % NEAR) as usize])
    }

    #[inline]
    fn push(&mut self, slice: u64, session: u32) {
        let list = &mut self.near[(slice % NEAR) as usize];
        if list.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *list = spare;
        }
        list.push(session);
    }

    /// Gives a taken list back, for its allocation.
    pub fn give_back(&mut self, mut list: Vec<u32>) {
        if list.capacity() > 0 {
            list.clear();
            self.spare.push(list);
        }
    }
}
