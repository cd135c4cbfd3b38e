//! All integration tests, one module a file: one program is linked sooner than many.

mod bench;
mod cake;
mod classic;
mod dualpi2;
mod ns2;
mod ns2_laws;
mod ns3;
mod packet;
mod pie;
mod protection;
mod queue;
mod readings;
mod replay;
mod selftests;
mod shapers;
mod tree;
mod userlaw;
