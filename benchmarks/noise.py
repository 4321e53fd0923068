"""Speed of exact noise, as ratios measured side by side in one interleaved run.

Run by hand: `make bench`. Best of N rounds; every round measures each contestant once,
so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import opendp.prelude as dp

from dpql.curator.entropy import SystemBits
from dpql.mechanisms import MECHANISMS, Query

DRAWS = 1_000_000
FEW = 20_000
ROUNDS = 7
SCALES = (1, 10, 1_000, 10**6, 10**9)
VALUE = 500


def opendp_vector(scale: int) -> Callable[[], Any]:
    """Return OpenDP's discrete Laplace over a vector of FEW integers."""
    measurement = dp.m.make_laplace(
        dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale=scale
    )
    values = [VALUE] * FEW
    return lambda: measurement(values)


def opendp_scalar(scale: int) -> Callable[[], Any]:
    """Return OpenDP's discrete Laplace, called once per number."""
    measurement = dp.m.make_laplace(
        dp.atom_domain(T=int), dp.absolute_distance(T=int), scale=scale
    )
    return lambda: [measurement(VALUE) for _ in range(FEW // 10)]


def contestants(scale: int) -> dict[str, tuple[int, Callable[[], Any]]]:
    """Return name -> (draws per call, call) for one scale of noise."""
    bits = SystemBits()
    query = Query(
        sensitivity=Fraction(1),
        lower=Fraction(0),
        upper=Fraction(1000),
        lattice=Fraction(1),
    )
    values = np.full(DRAWS, VALUE)
    field: dict[str, tuple[int, Callable[[], Any]]] = {
        "os.urandom, 8-byte words": (DRAWS, lambda: os.urandom(8 * DRAWS)),
        "opendp vector": (FEW, opendp_vector(scale)),
        "opendp scalar": (FEW // 10, opendp_scalar(scale)),
    }
    for name, mechanism in MECHANISMS.items():
        noise = mechanism.calibrate(query, Fraction(1, scale), gamma=Fraction(1, 10**9))
        field[f"{name} vector"] = (
            DRAWS,
            lambda m=mechanism, n=noise: m.perturb_many(
                n, values, bits, lower=0, upper=1000
            ),
        )
        field[f"{name} scalar"] = (
            FEW,
            lambda m=mechanism, n=noise: [
                m.perturb(n, VALUE, bits) for _ in range(FEW)
            ],
        )
    return field


def main() -> None:
    """Print draws per second and the ratios that matter."""
    dp.enable_features("contrib")
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    print(f"{DRAWS:,} draws a call, best of {rounds} interleaved rounds; millions/s")
    for scale in SCALES:
        field = contestants(scale)
        best = dict.fromkeys(field, float("inf"))
        for _ in range(rounds):
            for name, (draws, call) in field.items():
                start = time.perf_counter()
                call()
                spent = (time.perf_counter() - start) / draws
                best[name] = min(best[name], spent)
        rate = {name: 1e-6 / spent for name, spent in best.items()}
        words = rate["os.urandom, 8-byte words"]
        print(f"\nscale {scale:,}")
        for name, value in rate.items():
            print(f"  {name:26} {value:10.3f}")
        for name in MECHANISMS:
            fast, slow = rate[f"{name} vector"], rate[f"{name} scalar"]
            print(
                f"  {name}: {fast / rate['opendp vector']:.0f} x opendp's vector, "
                f"{fast / slow:.0f} x its own scalar path, "
                f"{fast / words:.2f} x the CSPRNG's words; "
                f"scalar {slow / rate['opendp scalar']:.1f} x opendp's scalar"
            )


if __name__ == "__main__":
    main()
