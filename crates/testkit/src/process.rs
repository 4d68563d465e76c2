//! The real binaries: started, killed with SIGKILL, and spoken to over the API.
