"""Where data are, as a ledger knows them: a database is asked what its table is.

Names of one table differ: by host, port, user, search path and the case of letters. So
whoever has connected takes the server's word, and nothing of an address is kept.
"""

from __future__ import annotations

from pathlib import Path

_SERVERS = ("postgresql://", "postgres://", "spark:")


def data_identity(data: object, source: str) -> object:
    """Return what a ledger takes for the place of data; they are not read.

    Args:
        data: what a run is given.
        source: what the data are called in messages.

    Raises:
        RunFault: there is no such server or table (DPQL501, DPQL502).
    """
    if isinstance(data, str | Path) and not str(data).startswith(_SERVERS):
        return data
    # Imported late: commands of the ledger need nothing that reads rows.
    from dpql.curator.sources.identity import server_identity
    from dpql.curator.wall import behind_wall

    found = behind_wall(lambda: server_identity(data, source))
    return data if found is None else found
