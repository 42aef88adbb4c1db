#!/usr/bin/env python3
"""Makes the file of digits that digits_example and digits_pytorch.py read.

    python3 make_digits.py [--from=digits.csv.gz] DIGITS
    python3 make_digits.py --drawn=ROWS DIGITS

The digits are the 1,797 images of 8 x 8 pixels that come with Debian's package
python3-sklearn, "Optical Recognition of Handwritten Digits" of E. Alpaydin and
C. Kaynak (UCI Machine Learning Repository, CC BY 4.0). A row is 64 bytes of
pixels from 0 to 16 and one byte with the label. --drawn writes noisy images of
ten drawn patterns instead, for a machine without the package.
"""

import argparse
import gzip
import pathlib
import random
import sys

PACKAGED = "/usr/lib/python3/dist-packages/sklearn/datasets/data/digits.csv.gz"


def packaged_rows(path):
    if not pathlib.Path(path).exists():
        sys.exit(f"{path}: there is no such file; install python3-sklearn, or name "
                 "its digits.csv.gz with --from, or draw rows with --drawn")
    with gzip.open(path, "rt") as lines:
        for line in lines:
            yield bytes(int(float(number)) for number in line.split(","))


def drawn_rows(count):
    draw = random.Random(5)
    patterns = [[draw.randrange(17) for _ in range(64)] for _ in range(10)]
    for _ in range(count):
        label = draw.randrange(10)
        pixels = [min(16, max(0, pixel + draw.randrange(-5, 6)))
                  for pixel in patterns[label]]
        yield bytes(pixels + [label])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--from", dest="source", default=PACKAGED)
    parser.add_argument("--drawn", type=int)
    parser.add_argument("digits")
    options = parser.parse_args()
    rows = drawn_rows(options.drawn) if options.drawn else packaged_rows(options.source)
    checked = bytearray()
    for row in rows:
        if len(row) != 65 or max(row[:64]) > 16 or row[64] > 9:
            sys.exit(f"{options.source}: a row is not 64 pixels and a label")
        checked += row
    pathlib.Path(options.digits).write_bytes(checked)


if __name__ == "__main__":
    main()
