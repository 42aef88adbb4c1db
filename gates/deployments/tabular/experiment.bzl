"""Defines the tables of the experiment and the profiles measured with them."""

load("//profiling:defs.bzl", "memory_profile")

# The format of the file for each way to read a table.
_FORMAT_OF_IO = {
    "binary": "binary",
    "csv": "csv",
    "mapped": "binary",
}
_PROGRAMS = {
    "linear_regression": [],
    # The bytes that a network holds do not depend on the number of epochs, and
    # the bytes that it allocates hardly do.
    "neural_network": ["--epochs=2"],
}

# (features, rows) of the generated tables.
SMALL_SIZES = [
    (10, 1000),
    (10, 10000),
    (100, 1000),
]
LARGE_SIZES = [
    (10, 100000),
    (100, 10000),
    (100, 100000),
    (500, 1000),
    (500, 20000),
    (500, 100000),
]

# Microsoft's share prices in the summer of 2003: a real table without quotes,
# with a column of dates, a useless column, and units that differ by a factor of
# a million.
MSFT_COLUMNS = [
    "--target=Close",
    "--ignore=Date,Adj. Close*",
]

# Tags of the large tier: tools/dev bench.
LARGE_TAGS = [
    "manual",
    "no-remote",
]

def table_name(features, rows):
    return "%dx%d" % (features, rows)

def profile_names(tables):
    """Returns the names of the targets that `measured_experiments` makes for `tables`."""
    return [
        "%s_%s_%s_profile" % (program, table, io)
        for program in _PROGRAMS
        for table in tables
        for io in _FORMAT_OF_IO
    ]

_SMALL_TABLES = [table_name(features, rows) for features, rows in SMALL_SIZES] + ["msft"]
_LARGE_TABLES = [table_name(features, rows) for features, rows in LARGE_SIZES]

# Profiles that gates judge.
SMALL_PROFILES = [
    "//gates/deployments/tabular:" + name
    for name in profile_names(_SMALL_TABLES)
]
LARGE_PROFILES = [
    "//gates/deployments/tabular/large:" + name
    for name in profile_names(_LARGE_TABLES)
]

def generated_table(name, features, rows, tags = []):
    """Writes a table, as text and as binary file, for `files_of_table`.

    Args:
      name: prefix of the targets' names: "linear_" and the table's name.
      features: count of columns, without the target.
      rows: count of rows.
      tags: of the targets.
    """
    for format in ["csv", "binary"]:
        file = "%s_%s" % (name, format)
        native.genrule(
            name = file,
            outs = [file + ".data"],
            cmd = ("$(location :make_table) --seed=1 --features=%d --rows=%d " +
                   "--format=%s --output=$@") % (features, rows, format),
            tags = tags,
            tools = [":make_table"],
        )

def files_of_table(features, rows):
    """Returns {format: label} of a generated table."""
    return {
        format: "//gates/deployments/tabular/tables:linear_%s_%s" %
                (table_name(features, rows), format)
        for format in ["csv", "binary"]
    }

def measured_experiments(tables, csv_args = [], tags = [], **kwargs):
    """Measures both programs over tables, read in each of the three ways.

    The targets are named as `profile_names` says.

    Args:
      tables: {table: {format: label of its file}}.
      csv_args: further arguments where text is read.
      tags: of the targets.
      **kwargs: further attributes of memory_profile.
    """
    for program, program_args in _PROGRAMS.items():
        for table, files in tables.items():
            for io, format in _FORMAT_OF_IO.items():
                memory_profile(
                    name = "%s_%s_%s_profile" % (program, table, io),
                    args = [
                        "--data=data",
                        "--io=" + io,
                        "--model=model",
                        "--predictions=predictions.csv",
                    ] + program_args + (csv_args if io == "csv" else []),
                    benchmark = "//gates/deployments/tabular:" + program,
                    data = {files[format]: "data"},
                    tags = tags,
                    visibility = ["//gates:__subpackages__"],
                    **kwargs
                )

def stage_report(name, profiles, tags = []):
    """Writes NAME.txt and NAME.html from profiles of the experiment.

    Args:
      name: of the target.
      profiles: labels of memory_profile targets or groups of them.
      tags: of the target.
    """
    native.genrule(
        name = name,
        srcs = profiles,
        outs = [
            name + ".html",
            name + ".txt",
        ],
        cmd = ("$(location //gates/deployments/tabular:tabular_report) --html_output=$(location %s.html) " +
               "--text_output=$(location %s.txt) $(SRCS)") % (name, name),
        tags = tags,
        tools = ["//gates/deployments/tabular:tabular_report"],
    )
