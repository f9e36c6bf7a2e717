"""Flent's data files, made of a run's series, under the names that Flent's own tests and plots use.

`file` writes one; the other rooms have its parts.

    file     a whole file
    sockets  the state of sockets
    test     Flent's own tests
    apps     calls and pages
    streams  TCP between two hosts
    host     what a host says of itself
"""
