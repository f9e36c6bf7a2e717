"""References generated from code: command line, Python and Rust."""
