"""The figures of runs by their names, and a sweep's as text.

sweep_text  a sweep as text
kinds       the worst of many flows of one kind
starvation  stations that starve under a round robin
quantities  what the figures of a run are called, and those that patterns choose
"""
