"""``poise sign``: sign a certificate, or make a key for it."""

from __future__ import annotations

from pathlib import Path

import click

from poise.cli.exit_status import ExitStatus
from poise.cli.options import FILE
from poise.cli.stderr import say

__all__ = ["command"]

EXAMPLE = """\b
Example:
  poise sign --new-key mine.key
  poise sign ridge.json --key mine.key
  poise verify ridge.json --key mine.key.pub
"""


@click.command("sign", epilog=EXAMPLE)
@click.argument("file", type=FILE, required=False)
@click.option("--key", metavar="KEY", type=FILE, help="The private key to sign with.")
@click.option(
    "--new-key",
    metavar="KEY",
    type=FILE,
    help="Make a key: KEY, which only you may read, and KEY.pub for others.",
)
@click.pass_context
def command(
    ctx: click.Context, /, file: Path | None, key: Path | None, new_key: Path | None
) -> int:
    """Sign the certificate in FILE with an Ed25519 key; the signature is written into FILE.

    Whoever has the public key can then see with `poise verify FILE --key KEY.pub` that
    the holder of the private key signed exactly this content. FILE is checked before:
    a certificate that is not what it claims is not signed.

    Needs the package cryptography: pip install 'poise[sign]'.

    Exit status: 0 signed, 1 not what it claims, 2 usage.
    """
    if new_key is not None and file is None and key is None:
        return _make_key(new_key)
    if new_key is None and file is not None and key is not None:
        return _sign(file, key)
    raise click.UsageError("give FILE and --key, or --new-key.", ctx)


def _make_key(path: Path) -> int:
    from poise.storage.signature import new_key

    public = new_key(path)
    click.echo(f"{path} is the private key: keep it to yourself. Give {public} to others.")
    return ExitStatus.DONE


def _sign(file: Path, key: Path) -> int:
    from poise.questions.certificates.verify import Verifier
    from poise.results.certificate_file import CertificateFile
    from poise.storage.signature import signed

    certificate = CertificateFile.load(file)
    found = Verifier(CertificateFile(certificate.without("signature"))).verification()
    if found.wrong:
        say(f"{file} is not signed: {found.wrong[0]}")
        return ExitStatus.of_verification(verified=False, wrong=True)
    signed(certificate, key).save(file)
    click.echo(f"{file} is signed with {key}")
    return ExitStatus.DONE
