"""Published experiments: what each paper claims, and what Stillair measures when it runs the same."""
