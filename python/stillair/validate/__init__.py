"""`stillair validate`: the model held against measurements of the real thing."""
