//! Construction of a queue from the parameters of its discipline: a law for one FIFO, or several queues.

use ecnlab_base::Rate;

use crate::across::across_laws;
use crate::composed::composed_laws;
use crate::laws::fifo_laws;
use crate::machine::layout::{Compose, Inner, Layout};
use crate::registry::{Joint, Law, Params};
use crate::{Aqm, Class, Config, Impossible, LawParams, LinkContext};

/// Components of a queue.
pub(crate) enum Made {
    /// One FIFO with this law.
    Law(Law),
    /// Several queues.
    Layout(Layout),
}

macro_rules! make {
    (;
        laws { $($name:literal: $module:ident::$Law:ident;)+ }
        composed { $($cname:literal: $cmodule:ident::$Composed:ident;)+ }
        across { $($aname:literal: $amodule:ident::$Across:ident;)+ }
    ) => {
        impl Params {
            /// Checks the values; the error names the key. `config` is the queue whose parameters these are.
            pub(crate) fn check(&self, config: &Config) -> Result<(), Impossible> {
                match self {
                    $(Params::$Law(params) => params.check(),)+
                    $(Params::$Composed(params) => params.check(config),)+
                    $(Params::$Across(params) => params.check(config),)+
                }
            }
            /// The rate to which all packets are limited, if there is one.
            pub(crate) fn rate(&self) -> Option<Rate> {
                match self {
                    $(Params::$Law(_) => None,)+
                    $(Params::$Composed(params) => crate::$cmodule::$Composed::rate(params),)+
                    $(Params::$Across(params) => <crate::$amodule::$Across as Compose>::rate(params),)+
                }
            }
            /// Rejects rates that are invalid for a link of rate `link`, naming the key.
            pub(crate) fn check_before(&self, link: Rate) -> Result<(), Impossible> {
                match self {
                    $(Params::$Law(_) => Ok(()),)+
                    $(Params::$Composed(params) => crate::$cmodule::$Composed::check_before(params, link),)+
                    $(Params::$Across(params) => <crate::$amodule::$Across as Compose>::check_before(params, link),)+
                }
            }
            /// Returns the components of the queue `config`, to which these parameters belong.
            pub(crate) fn make(&self, config: &Config, link: LinkContext, groups: &[String]) -> Made {
                match self {
                    $(Params::$Law(params) => {
                        let mut law = params.law(link);
                        law.limited(config.common.limit);
                        Made::Law(Law::$Law(law))
                    })+
                    $(Params::$Composed(params) => {
                        Made::Layout(crate::$cmodule::$Composed::layout(params, config, groups))
                    })+
                    $(Params::$Across(params) => {
                        let law = Some(Joint::$Across(params.law(link)));
                        Made::Layout(Layout { law, ..crate::$amodule::$Across::layout(params, config, groups) })
                    })+
                }
            }
            /// The effective parameters in a queue of `config` that feeds `link`.
            fn in_force(&self, config: &Config, link: LinkContext) -> Params {
                let limit = config.common.limit;
                match self {
                    $(Params::$Law(params) => Params::$Law(params.in_force(link, limit)),)+
                    $(Params::$Composed(params) => Params::$Composed(crate::$cmodule::$Composed::in_force(params)),)+
                    $(Params::$Across(params) => Params::$Across(params.in_force(link, limit)),)+
                }
            }
            /// The inner queues of `config`, whose parameters these are; `None` of a single FIFO.
            pub(crate) fn inner(&self, config: &Config) -> Option<Inner> {
                match self {
                    $(Params::$Law(_) => None,)+
                    $(Params::$Composed(params) => {
                        Some(crate::$cmodule::$Composed::layout(params, config, &[]).queues)
                    })+
                    $(Params::$Across(params) => {
                        Some(crate::$amodule::$Across::layout(params, config, &[]).queues)
                    })+
                }
            }
            /// The flow groups named by the discipline's own keys, each with its key.
            pub(crate) fn groups(&self) -> Vec<(&'static str, &str)> {
                match self {
                    $(Params::$Law(_) => Vec::new(),)+
                    $(Params::$Composed(params) => <crate::$cmodule::$Composed as Compose>::groups(params),)+
                    $(Params::$Across(params) => <crate::$amodule::$Across as Compose>::groups(params),)+
                }
            }
        }
    };
}

fifo_laws! { composed_laws, across_laws, make; }

impl Config {
    /// Returns the queue with the effective parameters in front of `link`: values that a law derives from the link, its
    /// profile or another key replace keywords and missing values.
    #[must_use]
    pub fn in_force(&self, link: LinkContext) -> Config {
        let inner = |class: &Class| Class { member: class.member.clone(), queue: class.queue.in_force(link) };
        Config {
            params: self.params.in_force(self, link),
            common: self.common,
            classes: self.classes.iter().map(|(name, class)| (name.clone(), inner(class))).collect(),
        }
    }
}
