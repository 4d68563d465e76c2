//! The client of booking systems, which are data: lookup and cancel as their definition says.
