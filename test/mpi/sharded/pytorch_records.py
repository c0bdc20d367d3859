#!/usr/bin/env python3
"""pytorch_records.py network > pytorch_network.inc, pytorch_records.py transformer > pytorch_transformer.inc: what
PyTorch gives for the two programs of pytorch.cpp, in double, on one process: the loss, then the gradients of all
parameters in order, in C order. Made with Debian's python3-torch (PyTorch 1.13).

Nothing random goes in: element k of parameter n is sin(1 + 3 n + 0.7 k) / 2."""
import math
import sys

import torch
from torch.nn.functional import cross_entropy, gelu, layer_norm, log_softmax, one_hot, relu, softmax

torch.set_default_dtype(torch.float64)


def parameters(*shapes):
    return [torch.tensor([math.sin(1 + 3 * n + 0.7 * k) / 2 for k in range(math.prod(shape))]).reshape(shape).requires_grad_()
            for n, shape in enumerate(shapes)]


def record(loss, all):
    loss.backward()
    print(f"// PyTorch {torch.__version__}: the loss")
    print(f"{loss.item():.17g},")
    for p in all:
        all = [f"{v:.17g}," for v in p.grad.flatten().tolist()]
        for k in range(0, len(all), 4):
            print(" ".join(all[k:k + 4]))


def network():
    """A network of two layers: 7 rows of 5, 6 hidden, 3 classes."""
    w1, b1, w2, b2 = all = parameters((5, 6), (6,), (6, 3), (3,))
    x = torch.tensor([math.cos(1.1 * k) for k in range(35)]).reshape(7, 5)
    labels = torch.tensor([(2 * r + 1) % 3 for r in range(7)])
    record(cross_entropy(relu(x @ w1 + b1) @ w2 + b2, labels), all)


def transformer():
    """Two blocks: 2 sequences of 4 of 6 letters, 4 features, 2 heads of 3, 6 inner features."""
    batch, length, letters, features, heads, width, inner = 2, 4, 6, 4, 2, 3, 6
    block = [(features,), (features,), (features, heads, width), (features, heads, width), (features, heads, width),
             (heads, width, features), (features,), (features,), (features, inner), (inner, features)]
    all = parameters((letters, features), (length, features), (letters, features), *block, *block)
    read = torch.tensor([(5 * k + k * k) % letters for k in range(batch * length)]).reshape(batch, length)
    after = torch.tensor([(3 * k + 1) % letters for k in range(batch * length)]).reshape(batch, length)
    x = all[0][read] + all[1]
    hidden = torch.triu(torch.ones(length, length, dtype=torch.bool), diagonal=1)
    for b in range(2):
        g1, c1, wq, wk, wv, wo, g2, c2, up, down = all[3 + 10 * b:13 + 10 * b]
        n = layer_norm(x, (features,), g1, c1)
        q, k, v = (torch.einsum("bse,ehd->bhsd", n, w) for w in (wq, wk, wv))
        scores = torch.einsum("bhqd,bhkd->bhqk", q, k) / math.sqrt(width)
        weights = softmax(scores.masked_fill(hidden, -math.inf), -1)
        x = x + torch.einsum("bhsd,hde->bse", torch.einsum("bhqk,bhkd->bhqd", weights, v), wo)
        x = x + gelu(layer_norm(x, (features,), g2, c2) @ up) @ down
    scores = torch.einsum("bse,ve->bsv", x, all[2])
    record(-(log_softmax(scores, -1) * one_hot(after, letters)).sum() / (batch * length), all)


if __name__ == "__main__":
    {"network": network, "transformer": transformer}[sys.argv[1]]()
