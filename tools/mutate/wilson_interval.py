"""Wilson's interval for the share of all, from the share of a sample."""

import math
import statistics


def wilson_interval(hits, count):
    """Returns the 95 % interval of a share by Wilson's method."""
    if count == 0:
        return 0.0, 1.0
    z = statistics.NormalDist().inv_cdf(0.975)
    share = hits / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(
        share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)
