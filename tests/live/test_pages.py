"""Web pages between live hosts, with Stillair's loader."""

import json
import tomllib

from conftest import SCENARIO, User, needs
from stillair.runs.scenario import Scenario

PART = 0.25
"""Relative tolerance by which the fastest load may beat the median in virtual time."""
BUSY = 3
"""Factor by which a load may be slower if programs wait for a processor."""


def test_a_page_takes_as_long_as_in_virtual_time(user: User) -> None:
    needs("python3")
    text = SCENARIO.read_text().split("[[flow]]")[0]
    text += '[[flow]]\nkind = "web"\nname = "page"\nfrom = "sta"\nto = "server"\npage = "small"\n'
    assert tomllib.loads(text)["flow"]
    scenario = user.folder / "page.toml"
    scenario.write_text(text)
    run, _, status = user.live(scenario=scenario)
    assert status == 0, run["notes"]
    overrides = [(f"node.{host}.host", "model") for host in ("sta", "server")]
    [virtual] = json.loads(Scenario(scenario).run(1, None, None, overrides).to_json())["runs"]
    [(name, live)], [(_, model)] = run["web"].items(), virtual["web"].items()
    assert name == "page.server"
    assert set(live) == set(model)
    assert live["loads"] >= 10
    lines = map(json.loads, run["live"]["tools"][name]["client"].splitlines())
    fastest = min(line["took"] for line in lines if "took" in line)
    assert (1 - PART) * model["median_s"] <= fastest <= BUSY * model["median_s"], (fastest, model)
    assert run["page_load_s"] == live["mean_s"]
    # A name lookup, a connection, a list and an object: four round trips of at least 10 ms.
    assert live["median_s"] >= 0.04
