//! Static shortest-path routes, in a form for per-packet lookup.

/// Next hop after a path's last link: the packet has arrived.
pub const ARRIVED: u32 = u32::MAX;

/// Flag in a row's name: the row is a list.
const LISTED: u32 = 1 << 31;

/// Next hop of a packet by the node it has reached and its destination node, in one memory access.
///
/// A node inside paths has a row with an entry for each destination. All other nodes, where paths only end, share the
/// first row. In a large network a node on few paths has a list of destinations instead, so that memory grows with the
/// number of paths and not with the square of the nodes.
#[derive(Debug)]
pub struct Routes {
    next: Vec<u32>,
    /// (destination, link) entries of the lists, concatenated, each list sorted by destination.
    lists: Vec<(u32, u32)>,
    /// Start of each list, and the end of the last.
    begins: Vec<usize>,
    /// Row of each node: its start, or [`LISTED`] and the number of its list.
    rows: Vec<u32>,
}

/// Routes at a node inside paths.
#[derive(Clone, Debug)]
pub(crate) enum Known {
    /// (destination, link), sorted by destination.
    List(Vec<(u32, u32)>),
    /// A link, or [`ARRIVED`], for each destination.
    Row(Vec<u32>),
}

/// Up to this number of nodes every row is complete: at most 16 kB.
const FEW_NODES: usize = 4096;

/// A list with entries for more than one in this many destinations becomes a row.
const SPARSE: usize = 16;

impl Known {
    /// Creates an empty set of routes.
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

    /// Adds the link towards `to` in a network of `nodes`.
    pub fn learn(&mut self, to: u32, link: u32, nodes: usize) {
        match self {
            Known::Row(row) => row[to as usize] = link,
            Known::List(list) => {
                // Arrays are added by index, so that the entry is nearly always the last.
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
    /// Creates the routes of a network from the routes `known` at each node; `None` for nodes that no path crosses.
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

    /// Returns the link that a packet for node `to` takes at the node with this row, or [`ARRIVED`].
    #[inline]
    pub fn next(&self, row: u32, to: u32) -> u32 {
        if row & LISTED == 0 { self.next[(row + to) as usize] } else { self.next_of_list(row & !LISTED, to) }
    }

    #[inline(never)]
    fn next_of_list(&self, list: u32, to: u32) -> u32 {
        listed(&self.lists[self.begins[list as usize]..self.begins[list as usize + 1]], to)
    }

    /// Number of entries in rows and lists.
    #[cfg(test)]
    pub fn places(&self) -> usize {
        self.next.len() + self.lists.len()
    }

    /// The row of `node`.
    pub fn row(&self, node: usize) -> u32 {
        self.rows[node]
    }
}
