//! Inputs made wrong at random, for the tests, which have no coverage to go by.

use ecnlab_base::Rng;

/// `input` with up to twenty changes, some of them stretches of `other`.
pub fn mutated(input: &[u8], other: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut bytes = input.to_owned();
    for _ in 0..=rng.below(20) {
        change(&mut bytes, other, rng);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let mut below = |n: usize| rng.below(n.max(1) as u64) as usize;
    if bytes.is_empty() {
        return bytes.push(below(256) as u8);
    }
    let at = below(bytes.len());
    match below(8) {
        0 => bytes[at] = below(256) as u8,
        1 => bytes[at] ^= 1 << below(8),
        2 => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][below(5)],
        3 => bytes.truncate(at),
        4 => bytes.insert(at, below(256) as u8),
        5 => drop(bytes.drain(at..(at + below(16)).min(bytes.len()))),
        6 => {
            let from = below(other.len());
            let stretch = &other[from..(from + below(200)).min(other.len())];
            bytes.splice(at..at, stretch.iter().copied());
        }
        _ => {
            let stretch = bytes[at..bytes.len().min(at + below(200))].to_vec();
            let place = below(bytes.len());
            bytes.splice(place..place, stretch);
        }
    }
}
