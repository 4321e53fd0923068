"""The one wall: whatever goes wrong behind it comes out as a fixed fault.

Errors of engines quote private cells, so nothing of them passes: neither message, nor
cause, nor context. What is ours (a `RunFault` names columns and types only) is made
anew, since an exception remembers the one that was being handled when it was raised.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

from dpql.errors import RunFault

T = TypeVar("T")


def behind_wall(task: Callable[[], T]) -> T:
    """Return what the task returns, or raise a fault that says nothing of the data.

    Raises:
        RunFault: ours as it is, or DPQL510 in place of anything else.
    """
    fault: BaseException
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return task()
    except RunFault as error:
        fault = RunFault(error.diagnostics)
    except (KeyboardInterrupt, SystemExit) as error:
        fault = type(error)()
    except BaseException:  # noqa: BLE001  a panic of an engine is no Exception
        fault = RunFault.of(
            "DPQL510",
            "the engine failed; its message is withheld, for it may quote the data",
            hint="look at the data with the engine itself, on the owner's machine",
        )
    raise fault
