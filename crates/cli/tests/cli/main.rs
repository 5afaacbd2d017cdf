//! Tests of the command line: they run the real binary and look at what a user or a script sees.

mod analyze;
mod bench;
mod called_back;
mod cargo;
mod cc;
mod confirm;
mod external;
mod harness;
mod hostile;
mod messages;
mod missing;
mod mixed;
mod native;
mod page;
mod placement;
mod predict;
mod reached;
mod readme;
mod record;
mod report;
mod reporter;
mod survive;
mod traces;
