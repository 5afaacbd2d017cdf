//! The library that runs inside instrumented programs: shadow memory, threads, interceptors, reports.
