"""Real Linux kernels as guests: built from source as User Mode Linux, cached, and found by name.

Independent of scenarios and runs. Guest programs are in `guest/`, under their own licence.

    build     builds a source into the cache
    sources   Debian packages, archives, and source trees
    config    merges fragments and reports keys without effect
    patches   applies patches
    guest     our guest files and programs
    tools     required programs and how to install them
    store     the cache of built kernels
    programs  child processes of a build
    profiles  profiles of Linux releases, by version
"""
