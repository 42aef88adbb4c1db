"""The tabular experiment as ordinary programs, as gates judge it."""

MODELS = [
    "linear",
    "network",
]

# (features, rows); side_by_side has larger ones.
SIZES = [
    (features, rows)
    for features in [10, 100]
    for rows in [1000, 10000]
]

def profile_names(program):
    """Names of a program's profiles, of each model and size."""
    return [
        "%s_%s_%dx%d_profile" % (program, model, features, rows)
        for model in MODELS
        for features, rows in SIZES
    ]

NATIVE_PROFILES = [
    "//gates/deployments/tabular_programs:" + name
    for name in profile_names("native")
]
