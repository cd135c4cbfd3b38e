//! Kinds of TCP options (IANA).

pub const END: u8 = 0;
pub const NOP: u8 = 1;
pub const MSS: u8 = 2;
pub const WINDOW_SCALE: u8 = 3;
pub const SACK_PERMITTED: u8 = 4;
pub const SACK: u8 = 5;
pub const TIMESTAMPS: u8 = 8;
pub const ACC_ECN_0: u8 = 172;
pub const ACC_ECN_1: u8 = 174;
