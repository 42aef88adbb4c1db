"""Writes quantised_blocks.bin with python3-gguf, the format's own library.

  chroot SID python3 make_quantised_blocks.py quantised_blocks.bin

For each type, in the order of TYPES: 1,024 elements of random blocks, then
their values as float32. The scales are finite, two of them subnormal, two
negative and one zero; all other bytes are random. Then, for Q8_0 and Q4_0:
1,024 float32 numbers and the blocks that the library makes of them. SID is a
folder of Debian sid with python3-gguf and python3-numpy.
"""

import sys

import gguf
import numpy

TYPES = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"]
# The places in a block of the halves that are scales.
SCALES = {
    "Q4_0": [0],
    "Q4_1": [0, 2],
    "Q5_0": [0],
    "Q5_1": [0, 2],
    "Q8_0": [0],
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
}
ELEMENTS = 1024


def random_blocks(random, name, block_bytes, blocks):
    data = random.integers(0, 256, (blocks, block_bytes), dtype=numpy.uint8)
    for place in SCALES[name]:
        scales = random.normal(0, 0.1, blocks).astype(numpy.float16)
        scales[0] = numpy.float16(6e-8)
        scales[-1] = numpy.float16(-5e-6)
        scales[1 % blocks] = numpy.float16(0)
        halves = scales.view(numpy.uint8).reshape(blocks, 2)
        data[:, place : place + 2] = halves
    return data


def main(path):
    random = numpy.random.default_rng(42)
    with open(path, "wb") as file:
        for name in TYPES:
            kind = gguf.GGMLQuantizationType[name]
            elements, block_bytes = gguf.GGML_QUANT_SIZES[kind]
            blocks = ELEMENTS // elements
            data = random_blocks(random, name, block_bytes, blocks)
            values = gguf.quants.dequantize(data.reshape(1, -1), kind)
            file.write(data.tobytes())
            file.write(values.astype(numpy.float32).tobytes())
        for name in ["Q8_0", "Q4_0"]:
            kind = gguf.GGMLQuantizationType[name]
            values = random.normal(0, 0.05, (1, ELEMENTS)).astype(numpy.float32)
            values[0, :32] = 0
            values[0, 32:64] *= 1e-7
            values[0, 64] = values[0, :96].max() * -3
            file.write(values.tobytes())
            file.write(gguf.quants.quantize(values, kind).tobytes())


if __name__ == "__main__":
    main(sys.argv[1])
