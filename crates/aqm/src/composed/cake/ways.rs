//! An eight-way set-associative hash table (`CAKE_SET_WAYS`): a key has a set of eight places, one of them its home.

use super::QUEUES;

/// Places of a set.
const WAYS: usize = 8;

/// The places of a key's set, starting at its home and wrapping around.
pub(super) fn set(key: u32) -> impl Iterator<Item = usize> {
    let home = key as usize % QUEUES;
    let first = home - home % WAYS;
    (0..WAYS).map(move |i| first + (home + i) % WAYS)
}

/// Result of looking up a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A place that holds this key.
    Own(usize),
    /// An unused place.
    Free(usize),
    /// Its home, shared with another key: all places of the set are in use.
    Shared(usize),
}

impl Place {
    /// The place of `key`, of which there are `keys` at all places, used or not.
    pub fn of(key: u32, keys: &[u32], is_used: impl Fn(usize) -> bool) -> Place {
        let home = key as usize % QUEUES;
        let own = || set(key).find(|place| keys[*place] == key).map(Place::Own);
        let free = || set(key).find(|place| !is_used(*place)).map(Place::Free);
        own().or_else(free).unwrap_or(Place::Shared(home))
    }

    /// Its index.
    pub fn index(self) -> usize {
        let (Place::Own(place) | Place::Free(place) | Place::Shared(place)) = self;
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_begins_at_home_and_goes_round() {
        // 2053 is 5 past 2·1024: home 5, of the set 0 to 7.
        assert_eq!(set(2053).collect::<Vec<_>>(), [5, 6, 7, 0, 1, 2, 3, 4]);
        assert_eq!(set(1023).collect::<Vec<_>>(), [1023, 1016, 1017, 1018, 1019, 1020, 1021, 1022]);
    }

    #[test]
    fn a_key_is_where_it_was_or_at_the_first_free_place_or_at_home() {
        let mut keys = vec![0; QUEUES];
        let place = |keys: &[u32], used: &[usize]| Place::of(2053, keys, |place| used.contains(&place));
        assert_eq!(place(&keys, &[]), Place::Free(5));
        assert_eq!(place(&keys, &[5, 6, 7]), Place::Free(0));
        assert_eq!(place(&keys, &[0, 1, 2, 3, 4, 5, 6, 7]), Place::Shared(5));
        // Its own place is found before a free one, in use or not.
        keys[3] = 2053;
        assert_eq!([place(&keys, &[]), place(&keys, &[3, 5])], [Place::Own(3); 2]);
        assert_eq!([Place::Own(3), Place::Free(4), Place::Shared(5)].map(Place::index), [3, 4, 5]);
    }
}
