"""The adapter of torch: the model's own class in transformers, loaded as its users load it.

See peer_adapter.py. As a program inside the limit:

    torch_peer.py run MODEL_DIR encoder|decoder TOKENS THREADS
"""

import json
import os
import sys
import time

PROMPT_TOKENS = 8


def prepare():
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
    import peer_adapter
    options = peer_adapter.parse_flags()
    place, version = peer_adapter.find_python(
        options, ["torch", "transformers"],
        "'torch', torch.__version__, 'transformers', transformers.__version__")
    if place is None:
        peer_adapter.answer(
            missing="no Python here has torch and transformers",
            install=peer_adapter.install_in_sid("python3-torch", "python3-transformers"))
    kind = "encoder" if peer_adapter.is_encoder(options.model) else "decoder"
    peer_adapter.answer(
        version=version.splitlines()[-1],
        command=place.command(["/usr/bin/python3", "-B", place.adapters + "/torch_peer.py", "run",
                               place.model, kind, str(options.tokens), str(options.threads)]),
        files=[options.model + "/model.safetensors"])


def encode(model, ids):
    model(ids)
    begin = time.perf_counter()
    model(ids)
    return time.perf_counter() - begin


def generate(torch, model, ids, count):
    """Returns the seconds for `count` tokens after the first one."""
    step = model(ids, use_cache=True)
    begin = time.perf_counter()
    for _ in range(count):
        ids = torch.argmax(step.logits[:, -1:], dim=-1)
        step = model(ids, past_key_values=step.past_key_values, use_cache=True)
    return time.perf_counter() - begin


def run(folder, kind, tokens, threads):
    import torch
    import transformers
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    of_kind = {"encoder": transformers.AutoModel, "decoder": transformers.AutoModelForCausalLM}
    model = of_kind[kind].from_pretrained(folder).float().eval()
    with torch.inference_mode():
        ids = torch.randint(model.config.vocab_size,
                            (1, tokens if kind == "encoder" else PROMPT_TOKENS))
        seconds = (encode(model, ids) if kind == "encoder"
                   else generate(torch, model, ids, tokens))
    print(json.dumps({"tokens": tokens, "seconds": seconds}))


if __name__ == "__main__":
    if sys.argv[1:2] == ["run"]:
        run(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
    else:
        prepare()
