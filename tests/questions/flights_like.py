"""Flights that look like the public data of 2013, generated."""

from __future__ import annotations

import numpy as np
import polars as pl
from questions.asked import CARRIERS, ORIGINS

_COLUMNS_WITH_NULLS = ("dep_delay", "arr_delay", "air_time")


def flights_like(rows: int, seed: int = 2013) -> pl.DataFrame:
    """Return flights, some of them cancelled, far too late, or of no known plane."""
    draw = np.random.default_rng(seed)
    shares = draw.dirichlet(np.full(len(CARRIERS), 2.0))
    moment = np.datetime64("2013-01-01T05") + draw.integers(0, 365 * 24, rows)
    local = moment - np.timedelta64(5, "h")
    distance = draw.integers(80, 4_984, rows)
    departed = np.rint(draw.exponential(25, rows) - 12)
    departed[draw.random(rows) < 0.002] = 900
    arrived = departed + np.rint(draw.normal(-5, 15, rows))
    planes = np.array([f"N{i:03}" for i in range(400)], dtype=object)
    frame = pl.DataFrame(
        {
            "carrier": draw.choice(CARRIERS, rows, p=shares),
            "origin": draw.choice(ORIGINS, rows),
            "tailnum": pl.Series(draw.choice(planes, rows), dtype=pl.String),
            "month": local.astype("datetime64[M]").astype(int) % 12 + 1,
            "hour": local.astype("datetime64[h]").astype(int) % 24,
            "time_hour": np.datetime_as_string(moment, unit="s"),
            "dep_delay": departed,
            "arr_delay": arrived,
            "air_time": np.rint(distance / draw.normal(7.5, 0.5, rows)).clip(20, 695),
            "distance": distance,
        }
    ).with_columns(pl.col("time_hour") + "Z")
    cancelled = pl.Series(draw.random(rows) < 0.025)
    nameless = pl.Series(draw.random(rows) < 0.01)
    return frame.with_columns(
        pl.when(~cancelled).then(pl.col(_COLUMNS_WITH_NULLS)),
        pl.when(~nameless).then("tailnum").alias("tailnum"),
    )
