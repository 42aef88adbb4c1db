#!/usr/bin/env python3
"""Times a BERT's layers in PyTorch, resident, on two threads.

  torch_encoder.py CONFIG TOKENS BATCH PASSES

Prints the median seconds of a pass, the first not counted, and the process's
peak in bytes. The layers are PyTorch's own, on its fast path for inference; the
embeddings are left out. The weights are random: time does not depend on them.
"""

import json
import statistics
import sys
import time

import torch


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        config = json.load(file)
    tokens, batch, passes = (int(text) for text in sys.argv[2:5])
    torch.set_num_threads(2)
    layer = torch.nn.TransformerEncoderLayer(
        config["hidden_size"], config["num_attention_heads"],
        config["intermediate_size"], activation="gelu", batch_first=True)
    model = torch.nn.TransformerEncoder(layer, config["num_hidden_layers"]).eval()
    hidden = torch.randn(batch, tokens, config["hidden_size"])
    times = []
    with torch.inference_mode():
        for _ in range(passes):
            begin = time.perf_counter()
            model(hidden)
            times.append(time.perf_counter() - begin)
    with open("/proc/self/status", encoding="ascii") as status:
        peak = next(int(line.split()[1]) * 1024 for line in status
                    if line.startswith("VmHWM"))
    print(statistics.median(times[1:] or times), peak)


if __name__ == "__main__":
    main()
