"""A URL has one canonical form, in which nothing is secret."""

from __future__ import annotations

import pytest

from dpql.ledger.urls import canonical_url

AZURE = "acc.dfs.core.windows.net"


def test_password_of_an_address_is_not_kept() -> None:
    """What a ledger keeps of a URL has no user and no signature in it."""
    kept = canonical_url("https://me:hunter2@a.org/x.csv?signature=secret")
    assert kept == "https://a.org/x.csv"


def test_container_of_the_account_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A container alone is one of the account that the reader would ask."""
    full = f"abfss://c@{AZURE}/x.csv"
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "acc")
    assert full == canonical_url("az://c/x.csv")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT", "other")
    assert full != canonical_url("az://c/x.csv")
    assert full == canonical_url(full)


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("s3://AKIA:hunter2@bucket/x.csv", "s3://bucket/x.csv"),
        ("s3a://AKIA:hun/ter2@bucket/x.csv", "s3://bucket/x.csv"),
        ("s3://AKIA:12/hunter2@bucket/a@b.csv", "s3://bucket/a@b.csv"),
        ("s3://AKIA:hunter2@bucket:x/x.csv", "s3://bucket:x/x.csv"),
        ("https://me:hun/ter2@a.org/x.csv", "https://a.org/x.csv"),
        ("gcs://anonymous@bucket./x.csv", "gs://bucket/x.csv"),
        ("s3://bucket/a@b.csv", "s3://bucket/a@b.csv"),
        (f"abfs://c@{AZURE}/x.csv", f"abfss://c@{AZURE}/x.csv"),
        (f"abfss://c:hunter2@{AZURE}/x.csv", f"abfss://@{AZURE}/x.csv"),
        (f"abfss://me:hunter2@c@{AZURE}/x.csv", f"abfss://@{AZURE}/x.csv"),
        (f"abfss://c@{AZURE}/x.csv?sv=1&sig=hunter2", f"abfss://c@{AZURE}/x.csv"),
    ],
)
def test_no_credential_of_a_cloud_is_kept(address: str, kept: str) -> None:
    """Neither a password nor a signature, also where the address is not sound."""
    assert kept == canonical_url(address)
    assert kept == canonical_url(kept)


@pytest.mark.parametrize(
    "address",
    [
        "postgres://me:hunter2@A.org/db#t",
        "postgresql://a.org:5432/db?password=hunter2#public.t",
        "postgresql://me:hun@ter2@a.org/d%62?x=hunter2#t",
    ],
)
def test_an_address_of_a_server_keeps_no_secret(address: str) -> None:
    """Nor a query, nor a user; the usual port and schema are those left out."""
    assert "postgresql://a.org/db#public.t" == canonical_url(address)
    assert "postgresql://a.org:99/db#s.t" == canonical_url("postgres://a.org:99/db#s.t")
