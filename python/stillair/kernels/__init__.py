"""Real Linux kernels as guests: built from source as User Mode Linux, kept in a cache, found again by name.

Nothing here knows a scenario or a run. What goes into a guest stands in `guest/`, under a licence of its own.

    build     from a source to a kernel in the cache
    sources   Debian's package, an archive, somebody's tree
    config    fragments put together, and which of their keys took effect
    patches   patches applied, or why not
    guest     our own files for guests, and the programs made of them
    tools     programs that are needed, and how they are installed
    store     the cache: what is there, by name
    programs  programs that a build starts, which end with it
    profiles  profiles of Linux releases, by version
"""
