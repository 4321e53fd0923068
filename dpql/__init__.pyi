from dpql.api import approve as approve
from dpql.api import diff as diff
from dpql.api import load as load
from dpql.api import plan as plan
from dpql.api import read as read
from dpql.api import rehearse as rehearse
from dpql.api import run as run
from dpql.api import sign as sign
from dpql.api import verify as verify
from dpql.errors import DpqlError as DpqlError

__version__: str
__all__ = [
    "DpqlError",
    "__version__",
    "approve",
    "diff",
    "load",
    "plan",
    "read",
    "rehearse",
    "run",
    "sign",
    "verify",
]
