"""Flent data files from a run's series, with the names that Flent's own tests and plots use.

file     a whole file
sockets  socket statistics
test     Flent's own tests
apps     calls and pages
streams  TCP between two hosts
host     host metadata
"""
