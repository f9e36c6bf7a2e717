"""The engine: text in, text out. `stillair.Scenario` is the interface for people."""

from collections.abc import Callable, Sequence
from typing import final

__version__: str
__all__ = [
    "Budget",
    "InputError",
    "Link",
    "RunError",
    "__version__",
    "ask",
    "capture",
    "capture_points",
    "describe",
    "lines",
    "link_presets",
    "live",
    "live_ask",
    "live_exec",
    "live_runs",
    "reference",
    "resolve",
    "run",
    "run_variants",
    "schema",
    "ss",
    "survey",
    "sweep",
    "tc",
    "uml",
]

class InputError(ValueError):
    file: str | None
    line: int | None
    key: str | None

class RunError(RuntimeError): ...

def live(request: str) -> tuple[str, int]: ...
def live_ask(run: int | None, asked: str) -> str: ...
def live_exec(run: int | None, host: str, command: list[str]) -> int: ...
def live_runs() -> str: ...
def uml(request: str) -> tuple[str, int]: ...
def run(
    text: str,
    file: str,
    overrides: list[tuple[str, str]],
    seed: int | None,
    runs: int,
    first_run: int,
    jobs: int,
    progress: Callable[[int], object] | None,
    series: bool = False,
    keep: Callable[[str], object] | None = None,
    passed: Callable[[float], object] | None = None,
    kept: Sequence[int] = ...,
) -> str: ...
def resolve(text: str, file: str, overrides: list[tuple[str, str]]) -> str: ...
def describe(text: str, file: str, overrides: list[tuple[str, str]]) -> tuple[str, str, list[str], tuple[int, int]]: ...
def survey(text: str, file: str, overrides: list[tuple[str, str]]) -> str: ...
def lines() -> str: ...
def sweep(text: str, file: str, overrides: list[tuple[str, str]]) -> list[list[tuple[str, str]]]: ...
def run_variants(
    text: str,
    file: str,
    variants: list[list[tuple[str, str]]],
    seed: int | None,
    runs: int,
    jobs: int,
    kept: list[list[int]],
    made: Callable[[int, str], object],
    done: Callable[[int, str], object],
    failed: Callable[[int, str], object],
) -> None: ...
def ask(request: str) -> tuple[bool, bytes]: ...
def schema() -> str: ...
def reference() -> str: ...
def capture(
    text: str,
    file: str,
    overrides: list[tuple[str, str]],
    seed: int | None,
    run: int,
    path: str,
    part: str,
    points: list[str],
    window: tuple[str | None, str | None],
    snaplen: int,
) -> str: ...
def capture_points(text: str, file: str, overrides: list[tuple[str, str]]) -> list[str]: ...
def ss(
    text: str,
    file: str,
    overrides: list[tuple[str, str]],
    seed: int | None,
    run: int,
    at: str | None,
    json: bool = False,
) -> str: ...
def tc(
    text: str,
    file: str,
    overrides: list[tuple[str, str]],
    seed: int | None,
    run: int,
    at: str | None,
) -> str: ...
def link_presets() -> list[tuple[str, str, str, str, str]]: ...

@final
class Link:
    def __new__(cls, text: str | None, file: str, overrides: list[tuple[str, str]], seed: int) -> Link: ...
    @property
    def endpoints(self) -> list[str]: ...
    @property
    def max_payload(self) -> int: ...
    @property
    def now(self) -> int: ...
    def limit(self, endpoint: int, limit: int, resume: int) -> bool: ...
    def send(
        self, now: int, ends: tuple[int, int], ports: tuple[int, int], payload: bytes, marks: tuple[int, int]
    ) -> tuple[int, str] | None: ...
    def poll(
        self, until: int
    ) -> tuple[
        tuple[int, int, int, int, tuple[int, int], int, int, int, bool, bytes] | None, int | None, int | None
    ]: ...
    def finish(self) -> str: ...

@final
class Budget:
    def __new__(cls, text: str, file: str) -> Budget: ...
    @property
    def command(self) -> list[str]: ...
    @property
    def cases(self) -> list[tuple[str, int]]: ...
    def link(self, path: str, seed: int) -> Link: ...
    def judge(
        self, measured: list[tuple[str, int, list[tuple[str, float]]]], before: tuple[str, str] | None
    ) -> tuple[bool, str, str, str, str]: ...
