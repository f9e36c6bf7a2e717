"""Optional packages, which only some commands need."""

import importlib
from importlib.util import find_spec
from typing import Any

from stillair._native import InputError


def there(module: str) -> bool:
    """Returns true if a package is installed."""
    return find_spec(module) is not None


def need(module: str, extra: str) -> Any:  # noqa: ANN401 - modules without types of their own
    """Returns the module, or raises an error that says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise InputError(f"{package} is not installed; install it with: pip install 'stillair[{extra}]'") from None
