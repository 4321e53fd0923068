"""Ed25519 keys: made, stored, loaded, and named by their OpenSSH fingerprint.

There is no other algorithm here, so no file can ask for one.
"""

from __future__ import annotations

import base64
import hashlib
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from dpql.durable import create, read
from dpql.errors import VerifyFault

ALGORITHM = "ssh-ed25519"

_LIMIT = 1 << 16
_OTHERS = 0o077
_RAW = 32
_OPENSSH = b"-----BEGIN OPENSSH PRIVATE KEY-----"


@dataclass(frozen=True, slots=True)
class PublicKey:
    """The public half of a key: 32 bytes."""

    raw: bytes

    @property
    def blob(self) -> bytes:
        """The key as OpenSSH packs it: two fields, each after its length."""
        name = ALGORITHM.encode()
        return b"".join(
            len(part).to_bytes(4, "big") + part for part in (name, self.raw)
        )

    @property
    def fingerprint(self) -> str:
        """What ``ssh-keygen -l`` prints; the key id of signatures."""
        digest = base64.b64encode(hashlib.sha256(self.blob).digest()).decode()
        return f"SHA256:{digest.rstrip('=')}"

    @property
    def line(self) -> str:
        """The key as one line: algorithm, blob."""
        return f"{ALGORITHM} {base64.b64encode(self.blob).decode()}"

    @property
    def pem(self) -> str:
        """The key as openssl reads it."""
        key = ed25519.Ed25519PublicKey.from_public_bytes(self.raw)
        return key.public_bytes(
            serialization.Encoding.PEM,
            serialization.PublicFormat.SubjectPublicKeyInfo,
        ).decode()

    def accepts(self, signature: bytes, message: bytes) -> bool:
        """Tell whether the signature is this key's on exactly this message."""
        try:
            key = ed25519.Ed25519PublicKey.from_public_bytes(self.raw)
            key.verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key, which nothing prints."""

    private: ed25519.Ed25519PrivateKey = field(repr=False)

    @property
    def public(self) -> PublicKey:
        """The public half."""
        key = self.private.public_key()
        return PublicKey(
            key.public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        )

    def sign(self, message: bytes) -> bytes:
        """Return the signature on a message."""
        return self.private.sign(message)


def new_key(path: Path, passphrase: bytes | None) -> PublicKey:
    """Make a key: PKCS#8 at ``path`` for its owner only, the public half beside it.

    The passphrase encrypts the file; None leaves it plain, for machines without a user
    at the keyboard.

    Raises:
        VerifyFault: the name is taken or cannot be written (DPQL623).
    """
    private = ed25519.Ed25519PrivateKey.generate()
    encryption: serialization.KeySerializationEncryption
    if passphrase:
        encryption = serialization.BestAvailableEncryption(passphrase)
    else:
        encryption = serialization.NoEncryption()
    pem = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
    )
    public = Signer(private).public
    try:
        create(path, pem, mode=0o600)
        create(path.with_name(f"{path.name}.pub"), f"{public.line}\n".encode())
    except OSError:
        raise VerifyFault.of(
            "DPQL623",
            "the key cannot be written: the name is taken, or the folder refuses",
            hint="keys are never overwritten; choose another name",
        ) from None
    return public


def load_key(path: Path, passphrase: bytes | None = None) -> Signer:
    """Return the key of a file that only its owner can read.

    It reads PKCS#8 with or without a passphrase, and plain OpenSSH keys.

    Raises:
        VerifyFault: the file is missing or holds no Ed25519 key (DPQL620), others may
            read it (DPQL621), or the passphrase does not open it (DPQL622).
    """
    try:
        data, mode = read(path, limit=_LIMIT)
    except OSError:
        raise _no_key() from None
    if mode & _OTHERS:
        raise VerifyFault.of(
            "DPQL621",
            "users other than its owner may read the key file",
            hint="chmod 600, and think about making a new key",
        )
    return Signer(_private(data, passphrase))


def public_of(path: Path) -> PublicKey:
    """Return the key of a ``.pub`` file.

    Raises:
        VerifyFault: the file holds no Ed25519 key of OpenSSH's form (DPQL620).
    """
    try:
        data, _ = read(path, limit=_LIMIT)
        algorithm, text, *_ = data.decode().split()
    except (OSError, ValueError):
        raise _no_key() from None
    key = read_public(algorithm, text)
    if key is None:
        raise _no_key()
    return key


def read_public(algorithm: str, text: str) -> PublicKey | None:
    """Return the key in the two words of OpenSSH; None if they are not canonical."""
    try:
        blob = base64.b64decode(text.encode(), validate=True)
    except ValueError:
        return None
    key = PublicKey(blob[-_RAW:])
    same = key.line == f"{algorithm} {text}"
    return key if same and len(key.raw) == _RAW else None


def _private(data: bytes, passphrase: bytes | None) -> ed25519.Ed25519PrivateKey:
    """Return the private key of a file; none of it may get into a traceback."""
    openssh = data.lstrip().startswith(_OPENSSH)
    load = (
        serialization.load_ssh_private_key
        if openssh
        else serialization.load_pem_private_key
    )
    encrypted = b"ENCRYPTED" in data
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            key = load(data, passphrase if encrypted or openssh else None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if key is None and (encrypted or openssh):
        raise VerifyFault.of(
            "DPQL622",
            "the passphrase does not open the key",
            hint="OpenSSH keys with a passphrase are not read; use `dpql keys new`",
        )
    if not isinstance(key, ed25519.Ed25519PrivateKey):
        raise _no_key()
    return key


def _no_key() -> VerifyFault:
    return VerifyFault.of(
        "DPQL620",
        "there is no Ed25519 key in that file",
        hint="`dpql keys new NAME` makes one",
    )
