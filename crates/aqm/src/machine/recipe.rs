//! Components of a queue with several inner queues.

use crate::machine::layout::Layout;
use crate::{Config, LinkContext};

/// The components needed to create one.
#[derive(Debug)]
pub(crate) struct Recipe {
    pub layout: Layout,
    pub config: Config,
    pub link: LinkContext,
    pub groups: Vec<String>,
}

impl Recipe {
    pub fn new(layout: Layout, config: &Config, link: LinkContext, groups: &[String]) -> Recipe {
        Recipe { layout, config: config.clone(), link, groups: groups.to_vec() }
    }
}
