"""The example of the page: limits of the memory of tests."""

# region limits
import pytest


def read_table(rows):
    return [float(row) for row in range(rows)]


@pytest.mark.limit_memory("24 MB")
def test_reading_fits():
    assert len(read_table(rows=100_000)) == 100_000


@pytest.mark.limit_leaks("1 MB", warmups=1)
def test_reading_leaves_nothing():
    read_table(rows=100_000)
# endregion
