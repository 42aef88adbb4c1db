"""PACKAGE/equivalent_mutations.txt: generated mutants that no test can kill.

A line is FILE<TAB>LINE OF CODE<TAB>OLD -> NEW<TAB>REASON, as `tools/dev
mutate` prints a survivor, with the reason why the program does the same.
"""

from one_line import one_line

EQUIVALENT_LIST = "equivalent_mutations.txt"


def read_equivalents(path):
    """Returns {key: reason}. Raises ValueError for a line of another form."""
    if not path.is_file():
        return {}
    found = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 4 or not all(field.strip() for field in fields):
            raise ValueError("%s: line %d: want FILE<TAB>LINE OF CODE<TAB>OLD -> NEW<TAB>REASON"
                             % (path, number))
        found["\t".join(fields[:3])] = fields[3]
    return found


def stale_equivalents(folder):
    """Returns why the list of a package is out of date; needs no parser."""
    try:
        equivalents = read_equivalents(folder / EQUIVALENT_LIST)
    except ValueError as error:
        return [str(error)]
    stale = []
    for key in equivalents:
        file, line, _ = key.split("\t")
        path = folder / file
        lines = path.read_text().splitlines() if path.is_file() else []
        if line not in map(one_line, lines):
            stale.append("%s: %s does not have the line: %s" % (folder / EQUIVALENT_LIST, file, line))
    return stale
