#!/usr/bin/env python3
"""random_layers.py MPIRUN CONFORMANCE [COUNT, 50] [SEED, 1] [WORKERS, 1,2,3,4]: COUNT random layers of nn/ give the
results and gradients of PyTorch's, on each number of workers with other partitions.

Linear layers, embeddings, convolution in all padding modes, pooling, upsampling, batch norm in training and in
evaluation, layer and group norm, and the losses with their options. Writes records as CONFORMANCE (test/conformance)
reads them, and runs it on them. Ends with a line `N passed, N failed, N skipped`; exits with 77 where there is no
PyTorch."""
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import warnings

try:
    import torch
    from torch.nn import functional as F
except ImportError:
    print("skipped: no PyTorch for this Python (Debian: apt-get install python3-torch)")
    sys.exit(77)


def tensor_json(x):
    return {"s": list(x.shape), "v": x.detach().flatten().tolist()}


def integers(rng, shape):
    return torch.tensor([float(rng.randint(-6, 6)) for _ in range(math.prod(shape))]).reshape(shape)


def quarters(rng, shape):
    return integers(rng, shape) / 4


def shares(rng, shape):
    return torch.tensor([rng.uniform(0.05, 0.95) for _ in range(math.prod(shape))]).reshape(shape)


def partition(rng, workers, rank, whole=()):
    """A random grid of at most so many workers, which a random list of them fills; `whole` dimensions are not cut."""
    shape, rest = [1] * rank, workers
    for d in rng.sample(range(rank), rank):
        if d not in whole:
            shape[d] = rng.randint(1, rest)
            rest //= shape[d]
    return {"shape": shape, "ranks": rng.sample(range(workers), math.prod(shape))}


def balanced(extents, px):
    return [[n // p + (k < n % p) for k in range(p)] for n, p in zip(extents, px["shape"])]


def extents_over(rng, px, least=1):
    """Extents with at least one element for each block."""
    return [p * least + rng.randint(0, 4) for p in px["shape"]]


def gradients(y, dy, leaves):
    return torch.autograd.grad(y, leaves, dy, allow_unused=True)


def windowed(rng, workers):
    """A partition, extents and window of images with one to three features."""
    features = rng.choice([1, 2, 2, 3])
    px = partition(rng, workers, features + 2)
    kernel = [rng.randint(1, 3) for _ in range(features)]
    dilation = [rng.randint(1, 2) for _ in range(features)]
    extents = extents_over(rng, px)
    for d in range(features):
        extents[2 + d] = 6 * px["shape"][2 + d] + rng.randint(0, 3)
    return features, px, extents, kernel, [rng.randint(1, 2) for _ in kernel], dilation


def convolution(rng, workers):
    features, px, extents, kernel, stride, dilation = windowed(rng, workers)
    px["shape"][1] = 1
    px["ranks"] = px["ranks"][:math.prod(px["shape"])]
    groups = rng.choice([1, 1, 2])
    extents[1] = groups * rng.randint(1, 2)
    out, bias = groups * rng.randint(1, 2), rng.random() < 0.5
    mode = rng.choice(["zeros", "zeros", "circular", "reflect", "replicate"])
    padding = [rng.randint(0, d * (k - 1)) for k, d in zip(kernel, dilation)]
    make = [torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d][features - 1]
    layer = make(extents[1], out, kernel, stride, padding, dilation, groups, bias, mode)
    layer.weight.data = integers(rng, list(layer.weight.shape))
    if bias:
        layer.bias.data = integers(rng, [out])
    x = integers(rng, extents).requires_grad_()
    y = layer(x)
    if any(n < p for n, p in zip(y.shape, px["shape"])):
        return None
    dy = integers(rng, list(y.shape))
    given = gradients(y, dy, [x, layer.weight] + ([layer.bias] if bias else []))
    return {"kind": "conv", "form": "feature", "in_channels": extents[1], "out_channels": out, "kernel": kernel,
            "stride": stride, "padding": padding, "dilation": dilation, "groups": groups, "bias": bias,
            "padding_mode": mode, "px": px, "x_cut": balanced(extents, px), "y_cut": balanced(y.shape, px),
            "x": tensor_json(x), "w": tensor_json(layer.weight), "b": tensor_json(layer.bias) if bias else None,
            "y": tensor_json(y), "dy": tensor_json(dy), "dx": tensor_json(given[0]), "dw": tensor_json(given[1]),
            "db": tensor_json(given[2]) if bias else None}


def pooling(rng, workers):
    features, px, extents, kernel, stride, dilation = windowed(rng, workers)
    padding, ceil_mode = [rng.randint(0, k // 2) for k in kernel], rng.random() < 0.5
    x = integers(rng, extents).requires_grad_()
    record = {"kind": "pool", "kernel": kernel, "stride": stride, "padding": padding, "ceil_mode": ceil_mode, "px": px}
    if rng.random() < 0.5:
        pool = [F.max_pool1d, F.max_pool2d, F.max_pool3d][features - 1]
        y = pool(x, kernel, stride, padding, dilation, ceil_mode)
        record |= {"op": "max", "dilation": dilation, "exact": True}
    else:
        pool = [F.avg_pool1d, F.avg_pool2d, F.avg_pool3d][features - 1]
        record |= {"op": "average", "count_include_pad": rng.random() < 0.5}
        y = pool(x, kernel, stride, padding, ceil_mode, record["count_include_pad"])
    return with_gradient(rng, record, px, x, y)


def upsampling(rng, workers):
    features, px, extents, *_ = windowed(rng, workers)
    size = [rng.randint(1, 9) + p for p in px["shape"][2:]]
    mode, corners = rng.choice([("nearest", False), ("linear", False), ("linear", True)])
    name = mode if mode == "nearest" else ["linear", "bilinear", "trilinear"][features - 1]
    x = integers(rng, extents).requires_grad_()
    y = F.interpolate(x, size=size, mode=name, align_corners=None if mode == "nearest" else corners)
    record = {"kind": "upsample", "mode": mode, "align_corners": corners, "size": size, "scale": None, "px": px}
    return with_gradient(rng, record, px, x, y)


def with_gradient(rng, record, px, x, y):
    if any(n < p for n, p in zip(y.shape, px["shape"])):
        return None
    dy = integers(rng, list(y.shape))
    return record | {"x_cut": balanced(x.shape, px), "y_cut": balanced(y.shape, px), "x": tensor_json(x),
                     "y": tensor_json(y), "dy": tensor_json(dy), "dx": tensor_json(gradients(y, dy, [x])[0])}


def batch_norm(rng, workers):
    rank = rng.choice([2, 3, 4, 5])
    px = partition(rng, workers, rank)
    extents = extents_over(rng, px)
    extents[0] += 1
    affine, track, epsilon = rng.random() < 0.7, rng.random() < 0.7, rng.choice([1e-5, 0.1])
    momentum = rng.choice([None, 0.1, 0.5])
    make = torch.nn.BatchNorm1d if rank < 4 else torch.nn.BatchNorm2d if rank == 4 else torch.nn.BatchNorm3d
    layer = make(extents[1], epsilon, momentum, affine, track)
    if affine:
        layer.weight.data, layer.bias.data = quarters(rng, [extents[1]]), quarters(rng, [extents[1]])
    x, dy = quarters(rng, extents).requires_grad_(), quarters(rng, extents)
    record = {"kind": "norm", "op": "batch_norm", "num_features": extents[1], "eps": epsilon, "momentum": momentum,
              "affine": affine, "track": track, "px": px, "x_cut": balanced(extents, px), "x": tensor_json(x),
              "gamma": tensor_json(layer.weight) if affine else None,
              "beta": tensor_json(layer.bias) if affine else None, "dy": tensor_json(dy)}

    def running(suffix):
        return {name + suffix: tensor_json(value) if track else None for name, value in
                (("running_mean", layer.running_mean), ("running_var", layer.running_var))}

    y = layer(x)
    given = gradients(y, dy, [x] + ([layer.weight, layer.bias] if affine else []))
    record |= {"y": tensor_json(y), "dx": tensor_json(given[0])} | running("")
    if affine:
        record |= {"dgamma": tensor_json(given[1]), "dbeta": tensor_json(given[2])}
    x2 = quarters(rng, extents)
    record |= {"x2": tensor_json(x2), "y2": tensor_json(layer(x2))} | running("2")
    layer.eval()
    x3 = quarters(rng, extents).requires_grad_()
    y3 = layer(x3)
    return record | {"x_eval": tensor_json(x3), "y_eval": tensor_json(y3),
                     "dx_eval": tensor_json(gradients(y3, dy, [x3])[0]), "tol": 1e-11}


def layer_norm(rng, workers):
    rank = rng.choice([2, 3, 4])
    px = partition(rng, workers, rank)
    extents = extents_over(rng, px)
    last = extents[rank - rng.randint(1, rank - 1):]
    affine, epsilon = rng.random() < 0.7, rng.choice([1e-5, 0.1])
    layer = torch.nn.LayerNorm(last, epsilon, affine)
    if affine:
        layer.weight.data, layer.bias.data = quarters(rng, last), quarters(rng, last)
    x, dy = quarters(rng, extents).requires_grad_(), quarters(rng, extents)
    y = layer(x)
    given = gradients(y, dy, [x] + ([layer.weight, layer.bias] if affine else []))
    record = {"kind": "norm", "op": "layer_norm", "normalized_shape": last, "eps": epsilon, "affine": affine, "px": px,
              "x_cut": balanced(extents, px), "x": tensor_json(x), "y": tensor_json(y), "dy": tensor_json(dy),
              "dx": tensor_json(given[0]), "tol": 1e-9 if math.prod(last) < 3 else 1e-11}
    if affine:
        record |= {"gamma": tensor_json(layer.weight), "beta": tensor_json(layer.bias), "dgamma": tensor_json(given[1]),
                   "dbeta": tensor_json(given[2])}
    return record


def group_norm(rng, workers):
    rank = rng.choice([2, 3, 4, 5])
    px = partition(rng, workers, rank)
    extents, groups = extents_over(rng, px), rng.randint(1, 3)
    extents[1] = groups * (extents[1] + 1)
    affine, epsilon = rng.random() < 0.7, rng.choice([1e-5, 0.1])
    layer = torch.nn.GroupNorm(groups, extents[1], epsilon, affine)
    if affine:
        layer.weight.data, layer.bias.data = quarters(rng, extents[1:2]), quarters(rng, extents[1:2])
    x, dy = quarters(rng, extents).requires_grad_(), quarters(rng, extents)
    y = layer(x)
    given = gradients(y, dy, [x] + ([layer.weight, layer.bias] if affine else []))
    record = {"kind": "norm", "op": "group_norm", "groups": groups, "num_features": extents[1], "eps": epsilon,
              "affine": affine, "px": px, "x_cut": balanced(extents, px), "x": tensor_json(x), "y": tensor_json(y),
              "dy": tensor_json(dy), "dx": tensor_json(given[0]), "tol": 1e-9}
    if affine:
        record |= {"gamma": tensor_json(layer.weight), "beta": tensor_json(layer.bias), "dgamma": tensor_json(given[1]),
                   "dbeta": tensor_json(given[2])}
    return record


def linear(rng, workers):
    pw = partition(rng, workers, 2)
    out_parts, in_parts = pw["shape"]
    px = {"shape": [1, in_parts], "ranks": rng.sample(range(workers), in_parts)}
    py = {"shape": [1, out_parts], "ranks": rng.sample(range(workers), out_parts)}
    rows, bias = rng.randint(1, 5), rng.random() < 0.6
    layer = torch.nn.Linear(rng.randint(1, 7), rng.randint(1, 7), bias)
    layer.weight.data = integers(rng, list(layer.weight.shape))
    if bias:
        layer.bias.data = integers(rng, [layer.out_features])
    x = integers(rng, [rows, layer.in_features]).requires_grad_()
    y = layer(x)
    dy = integers(rng, list(y.shape))
    given = gradients(y, dy, [x, layer.weight] + ([layer.bias] if bias else []))
    return {"kind": "linear_layer", "in_features": layer.in_features, "out_features": layer.out_features, "bias": bias,
            "px": px, "py": py, "pw": pw, "x_cut": balanced(x.shape, px), "y_cut": balanced(y.shape, py),
            "x": tensor_json(x), "w": tensor_json(layer.weight), "b": tensor_json(layer.bias) if bias else None,
            "y": tensor_json(y), "dy": tensor_json(dy), "dx": tensor_json(given[0]), "dw": tensor_json(given[1]),
            "db": tensor_json(given[2]) if bias else None}


def embedding(rng, workers):
    px = partition(rng, workers, 2)
    rows, columns = rng.randint(1, 7), rng.randint(1, 6)
    w = integers(rng, [rows, columns]).requires_grad_()
    x = torch.tensor([rng.randrange(rows) for _ in range(rng.randint(1, 8))])
    y = F.embedding(x, w)
    dy = integers(rng, list(y.shape))
    return {"kind": "embedding", "rows": rows, "columns": columns, "cut": rng.choice(["rows", "columns"]), "px": px,
            "x": tensor_json(x), "w": tensor_json(w), "y": tensor_json(y), "dy": tensor_json(dy),
            "dw": tensor_json(gradients(y, dy, [w])[0])}


def loss(rng, workers):
    name = rng.choice(["l1", "smooth_l1", "mse", "bce", "bce_logits", "kl", "poisson_nll", "cross_entropy"])
    rank = rng.choice([1, 2, 3, 4] if name != "cross_entropy" else [2, 3, 4])
    px = partition(rng, workers, rank)
    extents = extents_over(rng, px)
    reduction = rng.choice(["mean", "sum", "none"] + ["batchmean"] * (name == "kl"))
    record = {"kind": "loss", "op": name, "reduction": reduction, "px": px, "x_cut": balanced(extents, px)}
    x = (shares if name == "bce" else quarters)(rng, extents).requires_grad_()
    target = (shares if name in ("bce", "kl", "bce_logits") else quarters)(rng, extents)
    if name == "l1":
        y = F.l1_loss(x, target, reduction=reduction)
    elif name == "smooth_l1":
        record["beta"] = rng.choice([1.0, 0.5])
        y = F.smooth_l1_loss(x, target, reduction=reduction, beta=record["beta"])
    elif name == "mse":
        y = F.mse_loss(x, target, reduction=reduction)
    elif name == "bce":
        y = F.binary_cross_entropy(x, target, reduction=reduction)
    elif name == "bce_logits":
        y = F.binary_cross_entropy_with_logits(x, target, reduction=reduction)
    elif name == "kl":
        record["log_target"] = rng.random() < 0.5
        y = F.kl_div(x, target, reduction=reduction, log_target=record["log_target"])
    elif name == "poisson_nll":
        record |= {"log_input": rng.random() < 0.5, "poisson_eps": rng.choice([1e-8, 0.1])}
        if not record["log_input"]:
            x = shares(rng, extents).requires_grad_()
        y = F.poisson_nll_loss(x, target, record["log_input"], reduction=reduction, eps=record["poisson_eps"])
    else:
        labels = torch.tensor([rng.randrange(extents[1]) for _ in range(math.prod(extents) // extents[1])])
        target = labels.reshape(extents[:1] + extents[2:])
        record["ignore_index"] = rng.choice([None, 0])
        if record["ignore_index"] is not None and reduction == "mean" and bool((target == 0).all()):
            return None  # a mean of nothing
        y = F.cross_entropy(x, target, reduction=reduction,
                            ignore_index=-100 if record["ignore_index"] is None else record["ignore_index"])
    dy = quarters(rng, list(y.shape))
    return record | {"x": tensor_json(x), "target": tensor_json(target), "y": tensor_json(y), "tol": 1e-12,
                     "dy": tensor_json(dy) if reduction == "none" else float(dy),
                     "dx": tensor_json(gradients(y, dy, [x])[0])}


FILES = {"conv": [convolution], "pool": [pooling], "upsample": [upsampling],
         "linear_layer": [linear], "embedding": [embedding],
         "norm": [batch_norm, layer_norm, group_norm], "loss": [loss]}


def records(seed, workers, count):
    """Random records by the name of their file."""
    all = {name: [] for name in FILES}
    for k in range(count):
        rng = random.Random(f"{seed} {workers} {k}")
        kind, record = rng.choice(list(FILES)), None
        while record is None:
            try:
                record = rng.choice(FILES[kind])(rng, workers)
            except (RuntimeError, ValueError):  # PyTorch rejects the arguments, as a window larger than the image
                pass
        all[kind].append(record | {"id": f"{kind}-{seed}-{workers}-{k}", "world": workers})
    return {kind: cases for kind, cases in all.items() if cases}


def main():
    given = sys.argv[1:]
    if len(given) < 2:
        sys.exit(__doc__)
    count, seed = int(given[2]) if len(given) > 2 else 50, int(given[3]) if len(given) > 3 else 1
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # that the mean of kl_div will be another one
    sums = [0, 0, 0]
    for workers in [int(n) for n in given[4].split(",")] if len(given) > 4 else [1, 2, 3, 4]:
        with tempfile.TemporaryDirectory() as folder:
            for kind, cases in records(seed, workers, count).items():
                (pathlib.Path(folder) / f"{kind}.json").write_text(json.dumps({"kind": kind, "cases": cases}))
            run = subprocess.run([*given[0].split(), "-n", str(workers), given[1], folder], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True, timeout=590, check=False)
        lines = run.stdout.splitlines()
        print("\n".join(line for line in lines[:-1] if line.startswith(("failed", "skipped"))))
        numbers = [int(word) for word in lines[-1].replace(",", "").split() if word.isdigit()] if lines else []
        if len(numbers) != 3:
            print(f"on {workers} workers the job ended early")
            numbers = [0, count, 0]
        sums = [a + b for a, b in zip(sums, numbers)]
    print(f"{count} random layers on each number of workers, PyTorch {torch.__version__}")
    print(f"{sums[0]} passed, {sums[1]} failed, {sums[2]} skipped")
    return 1 if sums[1] else 0


if __name__ == "__main__":
    sys.exit(main())
