"""Runs a Python script, module or command under memprof.

    python3 -m footprint [OPTIONS] script.py ARGUMENT...
    python3 -m footprint [OPTIONS] -m MODULE ARGUMENT...
    python3 -m footprint [OPTIONS] -c CODE ARGUMENT...
    python3 -m footprint --from=FILE | --compare=BEFORE AFTER

The options are memprof's (--help lists them). The interpreter is the one that
runs this module, so a virtual environment stays in use. The exit status is the
program's, or memprof's 2 if nothing could be run.

A copy of footprint.py beside the script hides the installed module. It passes these
words on, if it is not older than they are; `python3 -m footprint_memory` always does.
"""

import errno
import os
import sys

import footprint_memory


def split_words(words):
    """Returns memprof's options and the words after them."""
    count = 0
    while count < len(words) and words[count].startswith("--"):
        count += 1
        if words[count - 1] == "--":
            break
    return words[:count], words[count:]


def memprof_arguments(words):
    """Returns the arguments for memprof; raises ValueError if there is no program."""
    options, program = split_words(words)
    if any(word.startswith(("--from=", "--compare=")) for word in options):
        return words
    if not program:
        raise ValueError("which script? For example: python3 -m footprint train.py")
    if program[0] in ("-m", "-c"):
        if len(program) == 1:
            raise ValueError("%s needs a word after it, as python3 %s does"
                             % (program[0], program[0]))
    elif program[0].startswith("-"):
        raise ValueError(
            "%s is not an option of memprof, which begin with two dashes: the script, "
            "-m MODULE or -c CODE comes next" % program[0])
    return options + [sys.executable] + program


def is_script(path):
    """Returns whether an interpreter runs the file, as it runs the wheel's own command."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def run_memprof(arguments=None):
    """Becomes memprof with these arguments, or with this process's own."""
    environment = footprint_memory.unmeasured_environment()
    try:
        memprof = footprint_memory.find_memprof()
        # FOOTPRINT_MEMPROF may name the wheel's command, which would come here again.
        if is_script(memprof):
            environment.pop("FOOTPRINT_MEMPROF", None)
        os.execve(memprof, [memprof, *(sys.argv[1:] if arguments is None else arguments)],
                  environment)
    except OSError as error:
        reason = str(error)
        if error.strerror:
            reason = "%s cannot be run: %s" % (memprof, error.strerror)
        if error.errno == errno.ENOEXEC:
            reason += (" on %s: it was built for another kind of machine; install "
                       "the wheel of this one" % os.uname().machine)
    sys.stderr.write("footprint: %s\n" % reason)
    sys.exit(2)


def main():
    words = sys.argv[1:]
    if {"-h", "--help"} & set(split_words(words)[0] + words[:1]):
        print(__doc__)
        sys.stdout.flush()
        run_memprof(["--help"])
    try:
        arguments = memprof_arguments(words)
    except ValueError as error:
        sys.stderr.write("footprint: %s\n" % error)
        sys.exit(2)
    run_memprof(arguments)


if __name__ == "__main__":
    main()
