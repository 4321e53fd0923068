from dpql.api import diff as diff
from dpql.api import load as load
from dpql.api import plan as plan
from dpql.api import read as read
from dpql.errors import DpqlError as DpqlError

__version__: str
__all__ = ["DpqlError", "__version__", "diff", "load", "plan", "read"]
