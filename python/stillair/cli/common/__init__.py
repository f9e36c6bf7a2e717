"""What several commands need: their options, progress, and which folder may take a result.

options        options that several commands have
output_folder  whether a folder may take a new result
progress       how far a command is, for people
completion     what a shell is told to complete names
"""
