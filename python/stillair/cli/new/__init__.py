"""`stillair new`: a commented scenario, from options or a few answers.

command  the command and its questions
write    the scenario's text
access   the access line's text
home     the parts of the network
"""
