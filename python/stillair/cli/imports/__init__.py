"""What a machine tells of its network: made into a scenario, or said with its weight.

command  `stillair import`
doctor   `stillair doctor`
"""
