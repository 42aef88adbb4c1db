"""Makes bundles that run a shell script, for the scripts that measure the server."""

import io
import tarfile

_MANIFEST = """# proto-file: gates/bundles/bundle.proto
# proto-message: footprint.BundleManifest
schema_version: 1
kind: NATIVE_PROGRAM
entry: "run.sh"
arguments: "%s"
budget_bytes: %d
"""


def make_shell_bundle(script, argument, budget_bytes):
    """Returns an uncompressed bundle. Bundles with another argument differ."""
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, text, mode in (("bundle.textproto", _MANIFEST % (argument, budget_bytes), 0o644),
                                 ("run.sh", script, 0o755)):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), mode
            tar.addfile(entry, io.BytesIO(text.encode()))
    return archive.getvalue()
