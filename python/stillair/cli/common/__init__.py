"""Shared by several commands.

options        command-line options
output_folder  checks whether a folder may take a new result
progress       progress bars and lines
completion     shell completion
"""
