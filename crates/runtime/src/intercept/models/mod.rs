//! The models ([`super::model`]), by family.

mod environment;
mod format;
mod math;
mod messages;
mod network;
mod paths;
mod search;
mod streams;
mod system;
mod text;
mod threads;
mod time;
mod wide;
