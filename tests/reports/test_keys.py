"""Keys are made private, refused when exposed, and named as OpenSSH names them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from reports.sample_releases import STEWARD

from dpql.errors import VerifyFault
from dpql.reports.keys import PublicKey, Signer, load_key, new_key, public_of

SECRET = b"correct horse"


def _code(path: Path, passphrase: bytes | None = None) -> str:
    with pytest.raises(VerifyFault) as refusal:
        load_key(path, passphrase)
    assert refusal.value.__cause__ is None
    return refusal.value.diagnostics[0].code


def test_new_key_is_private_and_loads(tmp_path: Path) -> None:
    """PKCS#8 with passphrase, for its owner only; the public half beside it."""
    path = tmp_path / "steward"
    public = new_key(path, SECRET)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_bytes().startswith(b"-----BEGIN ENCRYPTED PRIVATE KEY-----")
    assert load_key(path, SECRET).public == public
    assert public_of(path.with_name("steward.pub")) == public
    assert {entry.name for entry in tmp_path.iterdir()} == {"steward", "steward.pub"}


def test_key_is_never_overwritten_or_written_through_a_link(tmp_path: Path) -> None:
    """A taken name is refused, also when it is a link that leads nowhere."""
    path = tmp_path / "steward"
    new_key(path, SECRET)
    before = path.read_bytes()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    for name in (path, link):
        with pytest.raises(VerifyFault) as refusal:
            new_key(name, SECRET)
        assert refusal.value.diagnostics[0].code == "DPQL623"
    assert path.read_bytes() == before
    assert not (tmp_path / "elsewhere").exists()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o601])
def test_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    """Any permission for anybody else is too much."""
    path = tmp_path / "steward"
    new_key(path, None)
    path.chmod(mode)
    assert _code(path) == "DPQL621"


def test_wrong_passphrase_is_refused(tmp_path: Path) -> None:
    """Wrong, empty and missing passphrases get the same answer."""
    path = tmp_path / "steward"
    new_key(path, SECRET)
    assert {_code(path, text) for text in (b"wrong", b"", None)} == {"DPQL622"}


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def test_plain_openssh_key_loads(tmp_path: Path) -> None:
    """An unencrypted OpenSSH key is taken as it is."""
    data = STEWARD.private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.OpenSSH,
        serialization.NoEncryption(),
    )
    assert load_key(_written(tmp_path / "id", data)).public == STEWARD.public


def test_other_algorithms_and_junk_are_refused(tmp_path: Path) -> None:
    """Nothing but Ed25519 is a key here."""
    other = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    for number, data in enumerate((other, b"", b"junk", b"-----BEGIN", bytes(99))):
        assert _code(_written(tmp_path / str(number), data)) == "DPQL620"
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(_written(tmp_path / "real", other))
    for name in ("missing", "folder", "pipe", "link"):
        assert _code(tmp_path / name) == "DPQL620"


def test_private_key_is_never_shown() -> None:
    """No repr of a signer holds any part of the key."""
    secret = b"\x07" * 32
    signer = Signer(ed25519.Ed25519PrivateKey.from_private_bytes(secret))
    assert repr(signer) == "Signer()"


@pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="no ssh-keygen here")
def test_fingerprint_is_that_of_openssh(tmp_path: Path) -> None:
    """`ssh-keygen -l` prints the same name for the key."""
    public = new_key(tmp_path / "steward", SECRET)
    printed = subprocess.run(
        ["ssh-keygen", "-l", "-f", str(tmp_path / "steward.pub")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.split()[1] == public.fingerprint


def test_signature_of_another_message_is_refused() -> None:
    """A key accepts its own signature on exactly the message, and nothing else."""
    signature = STEWARD.sign(b"message")
    public = STEWARD.public
    assert public.accepts(signature, b"message")
    assert not public.accepts(signature, b"messagE")
    assert not public.accepts(signature[:-1], b"message")
    assert not PublicKey(bytes(32)).accepts(bytes(64), b"message")
