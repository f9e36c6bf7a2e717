"""`stillair new`: a scenario with comments, from options or a few answers.

command  the command, and what it asks
write    the scenario's text
access   the way to the Internet, in its text
home     what a network has
"""
