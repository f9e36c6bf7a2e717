"""Scenarios and diagnoses from the output of a real machine.

command  `stillair import`
doctor   `stillair doctor`
"""
