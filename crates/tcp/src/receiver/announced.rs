//! The window that a receiver announces as in Linux 7.

use super::growth::Growth;
use crate::config::{Config, ReceiveWindow};

/// The window announced as in Linux 7.
#[derive(Clone, Debug)]
pub(super) struct Linux7Window {
    pub growth: Growth,
    /// Size of the window announced last, in bytes (rcv_wnd).
    pub announced: u64,
    /// Its right edge (rcv_wup + rcv_wnd), which never moves back.
    pub edge: u64,
    /// The next offset expected when it was announced; none after a segment that changed the growth.
    pub at: Option<u64>,
}

impl Linux7Window {
    /// The window of the SYN, if `config` sets it.
    pub fn new(config: &Config) -> Option<Box<Linux7Window>> {
        let growth = (config.receive_window == ReceiveWindow::Linux7).then(|| Growth::new(config))?;
        let announced = growth.first_window();
        Some(Box::new(Linux7Window { growth, announced, edge: 1 + announced, at: None }))
    }
}
