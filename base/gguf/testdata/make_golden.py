"""Writes golden.gguf with python3-gguf, the format's own library.

  chroot SID python3 make_golden.py golden.gguf

SID is a folder of Debian sid with python3-gguf and python3-numpy.
"""

import sys

import gguf
import numpy


def main(path):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint32("llama.block_count", 2)
    writer.add_float32("llama.rope.freq_base", 10000.0)
    writer.add_bool("tokenizer.ggml.add_bos_token", True)
    writer.add_string("tokenizer.ggml.model", "gpt2")
    writer.add_array("tokenizer.ggml.tokens", ["a", "bc", "", "d\u00e9"])
    writer.add_array("tokenizer.ggml.scores", [0.5, -1.0, 0.0, 2.0])
    writer.add_array("tokenizer.ggml.token_type", [1, 1, 3, 1])
    writer.add_uint8("small.u8", 255)
    writer.add_int8("small.i8", -128)
    writer.add_uint16("small.u16", 65535)
    writer.add_int16("small.i16", -32768)
    writer.add_int32("small.i32", -(2**31))
    writer.add_uint64("large.u64", 2**40)
    writer.add_int64("large.i64", -(2**40))
    writer.add_float64("large.f64", 0.1)
    floats = numpy.arange(3 * 64, dtype=numpy.float32).reshape(3, 64)
    writer.add_tensor("floats", floats)
    writer.add_tensor("halves", floats[:, :5].astype(numpy.float16))
    quantised = gguf.quants.quantize(floats, gguf.GGMLQuantizationType.Q8_0)
    writer.add_tensor(
        "blocks", quantised, raw_dtype=gguf.GGMLQuantizationType.Q8_0
    )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1])
