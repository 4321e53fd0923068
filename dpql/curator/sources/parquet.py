"""Parquet files by pyarrow: no cell can break the reading, since no text is decoded.

Row groups are read together up to `_READ_ROWS` rows, so that the words of their
dictionaries are looked up at once. Categories are read as dictionaries where all chunks
are stored so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from dpql.curator.columns import Form, canonical_columns
from dpql.curator.sources.canonical import Canonicaliser, stored_type
from dpql.curator.sources.columnar import (
    FailedRead,
    frame_of,
    header_of,
    open_content,
    polars_fragment,
)
from dpql.curator.sources.locate import File
from dpql.curator.sources.prefetch import Task
from dpql.curator.sources.source import Fragment, Request
from dpql.curator.sources.stored import find_columns, is_whole_id
from dpql.model.spec import Data

_READ_ROWS = 1 << 19
"""Rows that are read together, about."""

_TEXTS = ("string", "large_string", "string_view")
