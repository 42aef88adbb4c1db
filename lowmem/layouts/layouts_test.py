"""Makes every layout of layouts.csv and runs it: each runs with its reference or is
refused by a sentence.

    bazel test -c opt --test_output=all //lowmem/layouts:layouts_test

Needs root and a folder of Debian sid with python3-transformers 5, python3-torch,
python3-tokenizers, python3-gguf and llama.cpp-tools, which FOOTPRINT_SID names (default:
/root/sid); prints SKIPPED and why if one is missing. Takes about ten minutes, or less for
some layouts, which FOOTPRINT_LAYOUTS names: --test_env=FOOTPRINT_LAYOUTS="gpt2 llama-3-8b".
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import run_layouts

_HERE = pathlib.Path(__file__).parent
_SCRIPTS = _HERE.parent / "models" / "testdata" / "testdata"
_PROGRAMS = _HERE.parent / "programs"
_SID = pathlib.Path(os.environ.get("FOOTPRINT_SID", "/root/sid"))
_MODULES = "import torch, transformers, tokenizers, safetensors, gguf"


def find_missing():
    """Returns what is missing, or an empty text."""
    if os.geteuid() != 0:
        return "entering the folder of Debian sid needs root"
    if not (_SID / "usr" / "bin" / "python3").exists():
        return "%s is no folder of Debian sid with python3; FOOTPRINT_SID names one" % _SID
    if not (_SID / "usr" / "bin" / "llama-quantize").exists():
        return "%s lacks llama.cpp-tools" % _SID
    found = subprocess.run(["chroot", _SID, "python3", "-c", _MODULES],
                           capture_output=True, text=True)
    return found.stderr.strip().split("\n")[-1] if found.returncode else ""


def main():
    names = os.environ.get("FOOTPRINT_LAYOUTS", "").split()
    missing = find_missing()
    if missing:
        print("SKIPPED layouts_test: %s" % missing)
        return 0
    folder = pathlib.Path(tempfile.mkdtemp(prefix="layouts_test-", dir=_SID / "tmp"))
    try:
        for path in [*_HERE.glob("*.py"), *_HERE.glob("*.csv"), *_SCRIPTS.glob("*.py")]:
            shutil.copy(path, folder)
        inside = "/" + str(folder.relative_to(_SID))
        # Fails if a layout could not be made; the runner names it, too.
        made = subprocess.run(["chroot", _SID, "python3", "-B", inside + "/make_layouts.py",
                               inside + "/layouts.csv", inside, inside + "/made", *names],
                              stdout=subprocess.DEVNULL)
        result = run_layouts.main(str(_HERE / "layouts.csv"), str(folder / "made"),
                                  str(_PROGRAMS), *names)
        return result or made.returncode
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
