"""References that are made of the code: the command line, Python and Rust."""
