"""The engine: text in, text out. `stillair.Scenario` is the interface for people."""

from collections.abc import Callable

__version__: str
__all__ = [
    "InputError",
    "RunError",
    "__version__",
    "capture",
    "capture_points",
    "reference",
    "replay",
    "resolve",
    "retry_out_index",
    "run",
    "run_variants",
    "schema",
    "ss",
    "survey",
    "sweep",
    "tc",
]

class InputError(ValueError):
    file: str | None
    line: int | None
    key: str | None

class RunError(RuntimeError): ...

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
) -> str: ...
def resolve(text: str, file: str, overrides: list[tuple[str, str]]) -> str: ...
def survey(text: str, file: str, overrides: list[tuple[str, str]]) -> str: ...
def sweep(text: str, file: str, overrides: list[tuple[str, str]]) -> list[list[tuple[str, str]]]: ...
def run_variants(
    text: str,
    file: str,
    variants: list[list[tuple[str, str]]],
    seed: int | None,
    runs: int,
    jobs: int,
    finished: Callable[[int], object],
    done: Callable[[int, str], object],
    failed: Callable[[int, str], object],
) -> None: ...
def replay(events: str) -> str: ...
def retry_out_index(smoothed_bps: int) -> int | None: ...
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
