//! The only place that reads a clock, makes ids or draws random numbers; everything else takes
//! them as arguments, so that tests can own time.
