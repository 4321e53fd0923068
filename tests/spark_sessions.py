"""One Spark for all tests of a process, classic and Connect, where there is Java."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def spark_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start Spark with a server of Connect; give the address of that."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    if shutil.which("java") is None:
        pytest.skip("no Java on this machine")
    from pyspark.sql import SparkSession

    port = _free_port()
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "3",
        "spark.sql.session.timeZone": "Europe/Madrid",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        # What Java prints as it starts belongs to no test.
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        try:
            session = builder.getOrCreate()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            os.close(nowhere)
        yield f"sc://127.0.0.1:{port}"
        session.stop()


@pytest.fixture(scope="session")
def spark_session(spark_url: str) -> Any:
    """Give the classic session."""
    from pyspark.sql import SparkSession

    del spark_url
    return SparkSession.getActiveSession()


@pytest.fixture(scope="session")
def connect_session(spark_url: str) -> Iterator[Any]:
    """Give a session of Connect to the same Spark."""
    from pyspark.sql.connect.session import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = SparkSession.builder.remote(spark_url).create()
        yield session
        session.stop()
