#!/usr/bin/env python3
"""The animation of README and the first page: docs/gallery/moving.svg, drawn from two runs of the scenario `home`.

A laptop starts an upload during a phone's call. Shows the delay of the call's packets, with the router's
defaults and with cake.

    scripts/animation.py            reports whether the stored picture matches this version's runs, and fails if not
    scripts/animation.py --write    regenerates it
"""

import argparse
from math import log10
from pathlib import Path

from stillair import Scenario
from stillair.results import tidy

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "gallery" / "moving.svg"
UPLOAD = 4.0
"""Start of the upload, in s."""
END = 16.0
SETTINGS = {"flow.0.start": f"{UPLOAD:g} s", "warm_up": "0 s", "duration": f"{END:g} s"}
LINES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("modem's buffer", "#d1495b", {"node.router.interface.wan.shaper": "off"}),
    ("cake on the router", "#2e86ab", {}),
)
WIDE, HIGH = 860, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 190, 56, 44
LEAST, MOST = 5.0, 500.0
SECONDS = 9
"""Duration of the animation."""


def delays(overrides: dict[str, str]) -> list[tuple[float, float]]:
    """Delay of the phone's packets in each step: end of the step in s, and ms."""
    result = Scenario("home").run(overrides={**SETTINGS, **overrides}, series=True)
    rows = tidy.rows(result.run_with_series(0))
    return [(row.t, row.value) for row in rows if row.metric == "voip_delay_ms" and "-back-" in row.flow]


def _x(t: float) -> float:
    return LEFT + (WIDE - LEFT - RIGHT) * t / END


def _y(ms: float) -> float:
    share = (log10(min(max(ms, LEAST), MOST)) - log10(LEAST)) / (log10(MOST) - log10(LEAST))
    return HIGH - BOTTOM - (HIGH - TOP - BOTTOM) * share


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]


def picture() -> str:
    """Returns the SVG. With reduced motion, it is shown complete."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" role="img" font-family="system-ui, sans-serif" font-size="14">',
        "<title>Delay of a phone's call while a laptop uploads through a cable modem, with and without cake on the router</title>",
        "<style>"
        ".bg{fill:#fff}.grid{stroke:#d8dee4}.text{fill:#57606a}.head{fill:#1f2328;font-weight:600;font-size:16px}"
        "@media(prefers-color-scheme:dark){.bg{fill:#0d1117}.grid{stroke:#30363d}.text{fill:#9198a1}.head{fill:#f0f6fc}}"
        f"@keyframes draw{{from{{transform:scaleX(0)}}85%,to{{transform:scaleX(1)}}}}"
        f"@keyframes go{{from{{transform:translateX(0)}}85%,to{{transform:translateX({WIDE - LEFT - RIGHT}px)}}}}"
        "@keyframes show{from,80%{opacity:0}86%,to{opacity:1}}"
        f".draw{{transform-origin:{LEFT}px 0;animation:draw {SECONDS}s linear infinite}}"
        f".go{{animation:go {SECONDS}s linear infinite}}.show{{animation:show {SECONDS}s linear infinite}}"
        "@media(prefers-reduced-motion:reduce){.draw,.show{animation:none}.go{display:none}}"
        "</style>",
        f'<rect class="bg" width="{WIDE}" height="{HIGH}" rx="8"/>',
        f'<text class="head" x="{LEFT}" y="26">A laptop uploads. How late are the words of a call on the same Wi-Fi?</text>',
        f'<text class="text" x="{LEFT}" y="45">One-way delay in ms. Cable of 500/50 Mbit/s, 802.11ac; both runs with the same seed.</text>',
        f'<clipPath id="now"><rect class="draw" x="{LEFT}" y="0" width="{WIDE - LEFT - RIGHT}" height="{HIGH}"/></clipPath>',
    ]
    for ms in (5, 10, 20, 50, 100, 200, 500):
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDE - RIGHT}" y1="{_y(ms):.1f}" y2="{_y(ms):.1f}"/>')
        parts.append(f'<text class="text" x="{LEFT - 8}" y="{_y(ms) + 5:.1f}" text-anchor="end">{ms}</text>')
    for t in range(0, int(END) + 1, 4):
        parts.append(f'<text class="text" x="{_x(t):.1f}" y="{HIGH - 20}" text-anchor="middle">{t} s</text>')
    begin = _x(UPLOAD)
    parts.append(
        f'<line class="grid" x1="{begin:.1f}" x2="{begin:.1f}" y1="{TOP}" y2="{HIGH - BOTTOM}" stroke-dasharray="4 4"/>'
    )
    parts.append(f'<text class="text" x="{begin + 6:.1f}" y="{TOP + 14}">upload begins</text>')
    for name, colour, overrides in LINES:
        points = delays(overrides)
        path = " ".join(f"{_x(t):.1f},{_y(ms):.1f}" for t, ms in points)
        parts.append(
            f'<g clip-path="url(#now)"><polyline points="{path}" fill="none" stroke="{colour}" stroke-width="3" stroke-linejoin="round"/></g>'
        )
        late = _median([ms for t, ms in points if t > UPLOAD + 2])
        parts.append(
            f'<g class="show"><text x="{WIDE - RIGHT + 12}" y="{_y(late) - 4:.1f}" fill="{colour}" font-weight="600" font-size="22">{late:.0f} ms</text>'
            f'<text x="{WIDE - RIGHT + 12}" y="{_y(late) + 14:.1f}" fill="{colour}">{name}</text></g>'
        )
    parts.append(
        f'<line class="go" x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{HIGH - BOTTOM}" stroke="#9198a1" stroke-opacity=".6"/>'
    )
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> int:
    """Compares or writes."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--write", action="store_true")
    now = picture()
    if arguments.parse_args().write:
        PICTURE.write_text(now, encoding="utf-8")
        return 0
    same = PICTURE.read_text(encoding="utf-8") == now
    print("as kept" if same else f"{PICTURE}: is not of this version's runs; scripts/animation.py --write renews it")
    return 0 if same else 1


if __name__ == "__main__":
    raise SystemExit(main())
