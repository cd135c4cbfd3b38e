//! Queue disciplines that judge the packets of one FIFO.

pub mod avq;
pub mod blue;
pub mod choke;
pub mod cobalt;
pub mod codel;
pub mod docsis_pie;
pub mod droptail;
pub mod external;
pub mod gsp;
pub mod pi;
pub mod pie;
pub mod red;
pub mod rem;
pub mod step;
