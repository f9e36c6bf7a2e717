"""Figures of runs by name, and a sweep as text.

sweep_text  a sweep as text
kinds       the worst of many flows of one kind
starvation  stations that starve under a round robin
quantities  names of figures, and their selection by patterns
"""
