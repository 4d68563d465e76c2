//! The client of agents: A2A v1.0 over JSON-RPC.
