#!/usr/bin/env python3
"""Judges papers' claims with a real kernel on the hosts that run TCP: `guests.toml` in a paper's folder.

    lab/scripts/guest_verdicts.py PAPER [CLAIM...]     runs each cell of the claims once, and writes their entries

The default claims are those of CHOSEN. Requires `stillair kernel build 6.12`. Existing entries of these
claims are replaced, others stay. Cells run as in the paper's plan except for the hosts, which have the header
room of distribution kernels. Next to a kernel's figure is that of the model with the same kernel's profile,
so that differences are not due to versions.
"""

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import as_file
from pathlib import Path
from typing import Any, cast

from stillair import InputError, RunError
from stillair.results.result import Result
from stillair_lab.papers.claims import judge, paper_registry
from stillair_lab.papers.claims.inventory import Claim
from stillair_lab.papers.measure.measurer import Measurer
from stillair_lab.papers.pages import registry, words
from stillair_lab.papers.pages.registry import Entry
from stillair_lab.papers.pages.report import claim_row
from stillair_lab.papers.runs.campaign import Outcome, WhenAsked
from stillair_lab.papers.runs.plan import CellPlan, plan

FILE = "guests.toml"
KERNEL = "6.12"


@dataclass(frozen=True)
class Chosen:
    """Settings of a paper."""

    hosts: Sequence[str]
    """The hosts that run TCP."""
    offload: Mapping[str, str]
    """Offloads of a guest's network device by scenario; none by default."""
    like: Mapping[str, Sequence[tuple[str, str]]]
    """Settings, by scenario, that a guest has from the paper's profile and the model needs in addition to the
    kernel's profile."""
    claims: Sequence[str]


CHOSEN: Mapping[str, Chosen] = {
    "tsq-pacing": Chosen(
        ("client", "server"),
        {"tsq-wired": "tso"},
        {},
        (
            "tsqp-fig4-throughput",
            "tsqp-fig4-local",
            "tsqp-fig4-remote",
            "tsqp-fig6-throughput",
            "tsqp-fig6-rtt",
            "tsqp-fig6-cubic-shape",
            "tsqp-fig6-bbr-shape",
            "tsqp-fig6b-same",
            "tsqp-fig7a-like-6a",
            "tsqp-fig7b-cubic-like-bbr",
            "tsqp-head-wired",
            "tsqp-fig5a-local",
            "tsqp-fig5a-remote",
            "tsqp-fig5b-L10M",
            "tsqp-fig5b-L100M",
            "tsqp-fig5b-smaller",
            "tsqp-head-wifi",
            "tsqp-fig8a-throughput-tsq",
            "tsqp-fig8a-latency-tsq",
        ),
    ),
    "towards-1ms": Chosen(
        ("client", "server"),
        {},
        {"one-ms": [("node.client.tcp.wifi_pacing_shift", "10")]},
        (
            "t1ms-head-1ms",
            "t1ms-head-order-of-magnitude",
            "t1ms-fig12-bbr",
            "t1ms-fig12-bbr-oneway",
            "t1ms-fig13-goodput-cubic",
            "t1ms-fig13-latency-cubic",
            "t1ms-fig12-cubic-tie",
            "t1ms-fig13-goodput-reno",
            "t1ms-fig13-latency-reno",
            "t1ms-fig12-reno-reversed",
            "t1ms-fig13-goodput-yeah",
            "t1ms-fig13-latency-yeah",
            "t1ms-fig13-goodput-order",
            "t1ms-fig12-best",
            "t1ms-fig12-tsq-vs-64k",
            "t1ms-fig3-goodput-bbr",
            "t1ms-fig9-64k-under-tsq",
            "t1ms-fig14a-bbr",
        ),
    ),
}


def main() -> None:
    """Runs the claims, and writes the file after each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paper", choices=CHOSEN)
    parser.add_argument("claims", nargs="*", metavar="CLAIM")
    given = parser.parse_args()
    chosen = CHOSEN[given.paper]
    known = {claim.id: (entry, claim) for entry in registry.entries() for claim in entry.experiment.claims}
    ran: dict[object, Result] = {}
    for id_ in given.claims or chosen.claims:
        began = time.process_time()
        entry, claim = known[id_]
        row, kernels = asked(chosen, entry, claim, ran, guests=True)
        if row["verdict"] not in (judge.REPRODUCED, judge.NOT_REPRODUCED):
            sys.exit(f"{id_}: {row['verdict']}: {row.get('reason', '')}")
        like, _ = asked(chosen, entry, claim, ran, guests=False)
        write(given.paper, id_, row, like, kernels)
        said = f"{row['verdict']}: {figure(row)}, the model {like['verdict']}: {figure(like)}"
        print(f"{id_}: {said} ({time.process_time() - began:.0f} s)", flush=True)


def asked(
    chosen: Chosen, entry: Entry, claim: Claim, ran: dict[object, Result], guests: bool
) -> tuple[dict[str, Any], Sequence[str]]:
    """Row of a claim with one run of each cell, and the guests' kernels; or the model with their profile."""
    results = {}
    for campaign in entry.plan.campaigns:
        card = chosen.offload.get(campaign.scenario, "none")
        host = f'{{ kind = "uml", kernel = "{KERNEL}", offload = "{card}" }}'
        key, value = ("host", host) if guests else ("profile", f"linux-{KERNEL}")
        hosts = [(f"node.{name}.{key}", value) for name in chosen.hosts]
        if not guests:
            hosts += chosen.like.get(campaign.scenario, ())
        results[campaign.id] = WhenAsked(campaign, 1, 1, partial(_always, hosts), ran)
    outcomes = {id_: Outcome(own.scenario.text, own) for id_, own in results.items()}
    measurer = Measurer(entry.experiment, plan(entry.experiment.paper), outcomes)
    row = claim_row(entry, claim, measurer.cells(claim))
    runs = [run for own in results.values() for result in own.ran.values() for run in result.runs]
    kernels = {host["kernel"] for run in runs for host in _guests(run).values()}
    return row, sorted(kernels)


def _always(hosts: Sequence[tuple[str, str]], _: CellPlan) -> Sequence[tuple[str, str]]:
    return hosts


def _guests(run: Mapping[str, Any]) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", run.get("guests", {}).get("hosts", {}))


def figure(row: Mapping[str, Any]) -> str:
    """Result of a claim: the worst cell's, or each member's of an order, with the unit."""
    members = row.get("members")
    if members:
        found = sorted(members.items(), key=lambda one: float(one[1]["mean"]))
        said = " < ".join(f"{name} {float(over['mean']):.4g}" for name, over in found)
    else:
        said = f"{row['measured']:.4g}"
    return words.with_unit(said, row["unit"])


def write(paper: str, claim: str, row: Mapping[str, Any], like: Mapping[str, Any], kernels: Sequence[str]) -> None:
    """Writes an entry into the paper's file."""
    kernel = " and ".join(f"Linux {name}" for name in kernels)
    with as_file(paper_registry.folders()[paper]) as folder:
        file = Path(folder) / FILE
        table = paper_registry.table(paper_registry.folders()[paper], FILE)
        if table.get("kernel", kernel) != kernel:
            sys.exit(f"{file}: found figures of {table['kernel']}, expected {kernel}; remove the file to begin anew")
        claims = dict(table.get("claim", {}))
        claims[claim] = {
            "verdict": row["verdict"],
            "figure": figure(row),
            "like": figure(like),
            "note": f"one run of each cell{of_cell(row)}{of_other(row, like)}",
        }
        lines = [
            f"# What {kernel} says of claims of {paper} in the place of the hosts that run TCP.",
            "# Made by lab/scripts/guest_verdicts.py.",
            "",
            f"claims_of = {json.dumps(paper)}",
            f"kernel = {json.dumps(kernel)}",
        ]
        order = [*CHOSEN[paper].claims, *claims]
        for id_ in dict.fromkeys(one for one in order if one in claims):
            lines += ["", f"[claim.{id_}]"]
            lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in claims[id_].items()]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def of_cell(row: Mapping[str, Any]) -> str:
    """Names the cell of the figure, if there are several."""
    return f"; the worst is {row['cell']}" if "cell" in row else ""


def of_other(row: Mapping[str, Any], like: Mapping[str, Any]) -> str:
    """Names the model's worst cell, if it differs from the kernel's."""
    return f"; the model's is {like['cell']}" if "cell" in like and like["cell"] != row.get("cell") else ""


if __name__ == "__main__":
    try:
        main()
    except (InputError, RunError) as error:
        sys.exit(f"guest_verdicts: {error}")
