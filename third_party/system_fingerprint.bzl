"""The system for which exact figures of memory are true, besides the files that Bazel knows.

A program's heap depends on libraries that are linked when it starts, on the
compiler, on the instruction set that its kernels choose, and, of a Python
program, on the interpreter and its modules. None of them is an input that Bazel
hashes. So their versions are a file, which is an input of every measurement: a
remote cache gives a profile to machines only where it would be measured the
same.

Other things that figures depend on at one place, such as the digest of a container image,
can be added there: --repo_env=FOOTPRINT_SYSTEM=ANY_TEXT.
"""

_COMMAND = """
uname -m
getconf PAGE_SIZE
"${CC:-gcc}" --version | head -n 1
if command -v dpkg-query >/dev/null; then
  # In one order, and those that are installed only.
  dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\\n' \
    libc6 libstdc++6 libgcc-s1 libgomp1 'libblas*' 'libopenblas*' \
    'liblapack*' python3 'libpython3*' python3-numpy python3-scipy \
    python3-pandas python3-sklearn python3-torch 2>/dev/null |
    sed -n 's/^installed //p' | LC_ALL=C sort
else
  ldd --version | head -n 1
  python3 --version
fi
grep -m 1 -E '^(flags|Features)' /proc/cpuinfo | tr ' ' '\\n' |
  grep -E '^(ssse3|sse4_[12]|avx|avx2|fma|f16c|avx512[a-z]*|avx512_[a-z0-9]*|amx_[a-z0-9]*|asimd[a-z]*|sve2?)$' |
  LC_ALL=C sort | tr '\\n' ' '
"""

def _system_fingerprint_impl(repository_ctx):
    told = repository_ctx.execute(["sh", "-c", _COMMAND])
    if told.return_code:
        fail("cannot tell the versions of what is installed: " + told.stderr)
    repository_ctx.file("WORKSPACE", "workspace(name = \"%s\")\n" % repository_ctx.name)
    repository_ctx.file("BUILD.bazel", "exports_files([\"fingerprint.txt\"])\n")
    repository_ctx.file(
        "fingerprint.txt",
        told.stdout + "\n" + repository_ctx.os.environ.get("FOOTPRINT_SYSTEM", "") + "\n",
    )

system_fingerprint = repository_rule(
    implementation = _system_fingerprint_impl,
    environ = ["CC", "FOOTPRINT_SYSTEM"],
    local = True,
    doc = "A repository with the file fingerprint.txt.",
)
