"""The scenario files that come with the package."""

from importlib import resources
from pathlib import Path

from stillair.runs.scenario import Scenario


def scenario(name: str) -> Scenario:
    """The scenario of that name, as in `scenarios/NAME.toml` of the repository."""
    with resources.as_file(resources.files("stillair") / "scenarios" / f"{name}.toml") as path:
        return Scenario(Path(path))
