"""Lists models, sizes and profiles of the tabular experiment as programs."""

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
    """Returns the names of a program's profiles, for each model and size."""
    return [
        "%s_%s_%dx%d_profile" % (program, model, features, rows)
        for model in MODELS
        for features, rows in SIZES
    ]

NATIVE_PROFILES = [
    "//gates/deployments/tabular_programs:" + name
    for name in profile_names("native")
]
