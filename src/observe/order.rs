//! Instants put in ascending order: they are spread evenly over a short slice of time, so one
//! counting pass nearly sorts them.

/// Most cells of the counting pass: it stays in the first-level cache.
const MOST_CELLS: usize = 4096;

/// Sorts instants; keeps its buffers from one slice to the next.
#[derive(Clone, Debug, Default)]
pub struct TimeOrder {
    places: Vec<u32>,
    sorted: Vec<(u64, u32)>,
}

impl TimeOrder {
    /// Sorts these instants. Equal ones keep their order.
    pub fn sort(&mut self, instants: impl ExactSizeIterator<Item = u64> + Clone) {
        self.sorted.clear();
        let (mut low, mut high) = (u64::MAX, 0);
        for at in instants.clone() {
            (low, high) = (low.min(at), high.max(at));
        }
        if low > high {
            return;
        }
        let count = instants.len();
        let cells = count.next_power_of_two().min(MOST_CELLS);
        let mut shift = 0;
        while (high - low) >> shift >= cells as u64 {
            shift += 1;
        }
        let cell = |at: u64| ((at - low) >> shift) as usize;
        self.places.clear();
        self.places.resize(cells + 1, 0);
        for at in instants.clone() {
            self.places[cell(at) + 1] += 1;
        }
        let mut sum = 0;
        for place in &mut self.places {
            sum += *place;
            *place = sum;
        }
        self.sorted.resize(count, (0, 0));
        for (index, at) in instants.enumerate() {
            let place = &mut self.places[cell(at)];
            self.sorted[*place as usize] = (at, index as u32);
            *place += 1;
        }
        self.finish();
    }

    /// Sorts within cells: insertion where cells are small, as they are unless time is bunched.
    fn finish(&mut self) {
        let mut start = 0;
        for end in &self.places[..self.places.len() - 1] {
            let end = *end as usize;
            let cell = &mut self.sorted[start..end];
            if cell.len() > 32 {
                cell.sort();
            } else {
                for at in 1..cell.len() {
                    let item = cell[at];
                    let mut place = at;
                    while place > 0 && cell[place - 1].0 > item.0 {
                        cell[place] = cell[place - 1];
                        place -= 1;
                    }
                    cell[place] = item;
                }
            }
            start = end;
        }
    }

    /// The sorted instants, each with its index in the input.
    pub fn sorted(&self) -> &[(u64, u32)] {
        &self.sorted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_like_the_standard_library(
            mut instants in prop::collection::vec(prop_oneof![0_u64..50, 0..u64::MAX, 1_000_000..1_010_000_u64], 0..300)
        ) {
            let mut order = TimeOrder::default();
            for _ in 0..2 {
                order.sort(instants.iter().copied());
                let mut expected: Vec<(u64, u32)> = instants.iter().copied().zip(0..).collect();
                expected.sort();
                prop_assert_eq!(order.sorted(), &expected[..]);
                instants.truncate(7);
            }
        }
    }
}
