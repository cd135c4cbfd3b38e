//! All integration tests, one module a file: one program is linked sooner than many.

mod bbr;
mod becn;
mod blocks;
mod boxes;
mod captures;
mod closed_forms;
mod common;
mod fallbacks;
mod flow_signals;
mod ipv6;
mod ledbat;
mod link;
mod policer;
mod prague;
mod quic;
mod rate_limited;
mod reads;
mod series;
mod small_worlds;
mod sources;
mod stop;
mod tcp;
mod tunnels;
mod udp;
mod unsteady;
mod wire;
