//! Static shortest-path routes, as packets ask for them.

/// The hop behind a path's last link: the packet has arrived.
pub const ARRIVED: u32 = u32::MAX;

/// The bit of a row's name that says that it is a list.
const LISTED: u32 = 1 << 31;

/// Where a packet goes next, by the node it has reached and the node it is for: one load.
///
/// A node that paths cross has a row, with a place for each destination. All others, where paths only
/// end, share the first row. In a large network a node that few paths cross has a list of their
/// destinations instead, so that what is stored grows with the paths and not with the square of the nodes.
#[derive(Debug)]
pub struct Routes {
    next: Vec<u32>,
    /// (destination, link) of the lists, one list after the other, each in the order of destinations.
    lists: Vec<(u32, u32)>,
    /// Where each list begins, and where the last ends.
    begins: Vec<usize>,
    /// The row of each node: where it begins, or [`LISTED`] and the number of its list.
    rows: Vec<u32>,
}

/// What a node that paths cross knows of the way to destinations.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// (destination, link), in the order of destinations.
    List(Vec<(u32, u32)>),
    /// A link, or [`ARRIVED`], for each destination.
    Row(Vec<u32>),
}

/// Up to so many nodes every row is a whole one: 16 kB at most.
const FEW_NODES: usize = 4096;

/// A list with a place for more than one destination in so many becomes a row.
const SPARSE: usize = 16;

impl Known {
    /// Nothing yet.
    pub fn nothing(nodes: usize) -> Known {
        if nodes <= FEW_NODES { Known::Row(vec![ARRIVED; nodes]) } else { Known::List(Vec::new()) }
    }

    /// The link towards `to`, or [`ARRIVED`].
    pub fn next(&self, to: u32) -> u32 {
        match self {
            Known::List(list) => listed(list, to),
            Known::Row(row) => row[to as usize],
        }
    }

    /// Learns the link towards `to` in a network of `nodes`.
    pub fn learn(&mut self, to: u32, link: u32, nodes: usize) {
        match self {
            Known::Row(row) => row[to as usize] = link,
            Known::List(list) => {
                // Arrays are added by index, so that the place is nearly always the last.
                match list.binary_search_by_key(&to, |entry| entry.0) {
                    Ok(place) => list[place].1 = link,
                    Err(place) => list.insert(place, (to, link)),
                }
                if list.len() * SPARSE > nodes {
                    let mut row = vec![ARRIVED; nodes];
                    list.iter().for_each(|&(to, link)| row[to as usize] = link);
                    *self = Known::Row(row);
                }
            }
        }
    }
}

fn listed(list: &[(u32, u32)], to: u32) -> u32 {
    list.binary_search_by_key(&to, |entry| entry.0).map_or(ARRIVED, |place| list[place].1)
}

impl Routes {
    /// The routes of a network in which each node knows `known`; `None` where no path crosses it.
    pub(crate) fn new(known: Vec<Option<Known>>) -> Routes {
        let nodes = known.len();
        let mut routes =
            Routes { next: vec![ARRIVED; nodes], lists: Vec::new(), begins: vec![0], rows: Vec::with_capacity(nodes) };
        for known in known {
            let row = match known {
                None => 0,
                Some(Known::Row(row)) if routes.next.len() + nodes < LISTED as usize => routes.add_row(&row),
                Some(Known::Row(row)) => routes.add_list((0..).zip(row).filter(|&(_, link)| link != ARRIVED)),
                Some(Known::List(list)) => routes.add_list(list.into_iter()),
            };
            routes.rows.push(row);
        }
        routes
    }

    fn add_row(&mut self, row: &[u32]) -> u32 {
        self.next.extend_from_slice(row);
        (self.next.len() - row.len()) as u32
    }

    fn add_list(&mut self, list: impl Iterator<Item = (u32, u32)>) -> u32 {
        self.lists.extend(list);
        self.begins.push(self.lists.len());
        LISTED | (self.begins.len() - 2) as u32
    }

    /// The link that a packet for node `to` takes at the node with this row, or [`ARRIVED`].
    #[inline]
    pub fn next(&self, row: u32, to: u32) -> u32 {
        if row & LISTED == 0 { self.next[(row + to) as usize] } else { self.next_of_list(row & !LISTED, to) }
    }

    #[inline(never)]
    fn next_of_list(&self, list: u32, to: u32) -> u32 {
        listed(&self.lists[self.begins[list as usize]..self.begins[list as usize + 1]], to)
    }

    /// Places in rows and lists.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.next.len() + self.lists.len()
    }

    /// The row of `node`.
    pub fn row(&self, node: usize) -> u32 {
        self.rows[node]
    }
}
