"""Certificates for private servers, made by openssl: of any time, that has passed too."""

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path


def make_certificate(folder: Path, left: timedelta, held: timedelta = timedelta(days=1)) -> Path:
    """A certificate that signs itself, its key beside it (`.key`): it began `held` ago and ends in `left`."""
    number = len([*folder.glob("*.crt")])
    path = folder / f"server{number}.crt"
    now = datetime.now(UTC)
    begin, end = (f"{moment:%Y%m%d%H%M%SZ}" for moment in (now - held, now + left))
    key = path.with_suffix(".key")
    _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
    request = path.with_suffix(".csr")
    _openssl("req", "-new", "-key", key, "-subj", "/CN=localhost", "-out", request)
    (folder / "index.txt").write_text("")
    (folder / "serial").write_text("01\n")
    (folder / "ca.cnf").write_text(
        f"[ca]\ndefault_ca=own\n[own]\ndatabase={folder}/index.txt\nserial={folder}/serial\nnew_certs_dir={folder}\n"
        "default_md=sha256\npolicy=any\nunique_subject=no\nemail_in_dn=no\n[any]\ncommonName=supplied\n"
    )
    _openssl(
        "ca", "-batch", "-notext", "-config", folder / "ca.cnf", "-selfsign", "-keyfile", key, "-in", request,
        "-out", path, "-startdate", begin, "-enddate", end,
    )  # fmt: skip
    key.chmod(0o600)
    return path


def _openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *arguments], capture_output=True, check=True)
