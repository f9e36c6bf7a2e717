"""The numbers that the engine can be asked for."""

LARGEST_RUN = 2**32 - 2
"""The highest number of a run."""
LARGEST_SEED = 2**64 - 1
MOST_JOBS = 1024
