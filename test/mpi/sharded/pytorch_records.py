#!/usr/bin/env python3
"""pytorch_records.py network > pytorch_network.inc, pytorch_records.py transformer > pytorch_transformer.inc: what
PyTorch gives for the two programs of pytorch.cpp, in double, on one process: the loss, then the gradients of all
parameters in order, in C order. pytorch_records.py graph > ../kernel/pytorch_graph.inc, pytorch_records.py experts >
../kernel/pytorch_experts.inc: the outputs of the two layers of ../kernel/pytorch_layers.cpp, then the gradients of
their sum with the weights cos(1.1 k). Made with Debian's python3-torch (PyTorch 1.13).

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
        print_numbers(p.grad)


def print_numbers(x):
    numbers = [f"{v:.17g}," for v in x.flatten().tolist()]
    for k in range(0, len(numbers), 4):
        print(" ".join(numbers[k:k + 4]))


def record_layer(y, all):
    (y * torch.tensor([math.cos(1.1 * k) for k in range(y.numel())]).reshape(y.shape)).sum().backward()
    print(f"// PyTorch {torch.__version__}: the outputs, then the gradients")
    print_numbers(y)
    for p in all:
        print_numbers(p.grad)


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


def graph():
    """A layer of 11 nodes of 3 features and 30 edges, some of them equal; no edge leads to the last two nodes."""
    nodes, width, edges = 11, 3, 30
    h, own, near, far, value, a, b = all = parameters((nodes, width), *[(width, width)] * 4, (width, 1), (width, 1))
    source = torch.tensor([(5 * e + e * e) % nodes for e in range(edges)])
    target = torch.tensor([e * e * e % (nodes - 2) for e in range(edges)])
    scores = h[source] @ a + h[target] @ b
    messages = []
    for n in range(nodes):
        to = (target == n).nonzero().flatten()
        if len(to) == 0:
            messages.append(torch.zeros(width))
            continue
        x = h[source[to]]
        messages.append((softmax(scores[to], 0) * (x @ value)).sum(0) + x.mean(0) @ near + x.amax(0) @ far)
    record_layer(torch.tanh(h @ own + torch.stack(messages)), all)


def experts():
    """A layer of 13 tokens of 3 features and 7 experts, of which each token takes the best two; some experts have
    none."""
    tokens, width, number = 13, 3, 7
    x, gate, weights = all = parameters((tokens, width), (width, number), (number, width, width))
    share = softmax(x @ gate, 1)
    best, chosen = share.topk(2, 1)
    assert len(set(chosen.flatten().tolist())) < number
    y = [sum(best[t, k] * torch.tanh(x[t] @ weights[chosen[t, k]]) for k in range(2)) for t in range(tokens)]
    record_layer(torch.stack(y), all)


if __name__ == "__main__":
    {"network": network, "transformer": transformer, "graph": graph, "experts": experts}[sys.argv[1]]()
