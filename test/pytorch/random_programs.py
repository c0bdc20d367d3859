#!/usr/bin/env python3
"""random_programs.py MPIRUN PROGRAMS [COUNT, 50] [SEED, 1] [WORKERS, 1,2,3,4]: COUNT random programs give the results
and gradients of PyTorch, on each number of workers with other meshes and layouts.

PROGRAMS is programs.cpp. A program that differs is printed after operations have been removed from it, as long as it
still differs. Ends with a line `N passed, N failed, N skipped`; exits with 77 where there is no PyTorch."""
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile

try:
    import torch
except ImportError:
    print("skipped: no PyTorch for this Python (Debian: apt-get install python3-torch)")
    sys.exit(77)
if not pathlib.Path(sys.argv[2]).exists():
    print("failed: PyTorch was installed after the tests were configured; run meson setup --reconfigure BUILD")
    sys.exit(1)

from operations import differs_by_convention, domain, exact, of_pytorch, of_special_values, with_jumps

PARAMETERS = 4
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 0.5]


class Value:
    """An input, with its elements, or the result of a step: the name of an operation and its arguments."""

    def __init__(self, elements=None, name=None, operands=(), integers=(), numbers=()):
        self.elements, self.name, self.operands = elements, name, list(operands)
        self.integers, self.numbers = list(integers), list(numbers)
        self.constant = False
        self.is_exact = False

    def computed(self, known):
        """The value, and those that it is computed from, in `known`."""
        if self not in known:
            x = [one.computed(known) for one in self.operands]
            known[self] = of_pytorch[self.name](x, self.integers, self.numbers)
        return known[self]

    def before(self, found=None):
        """This value and all that it is computed from, operands first."""
        found = [] if found is None else found
        for one in self.operands:
            one.before(found)
        if self not in found:
            found.append(self)
        return found


def is_exact(x):
    """Whether all elements are multiples of 1/64 and so small that sums of them are exact in float."""
    scaled = x.detach() * 64
    return bool((scaled == scaled.round()).all()) and (x.numel() == 0 or float(scaled.abs().max()) < 2 ** 13)


class Drawing:
    """A program that is being drawn."""

    def __init__(self, rng, of_special):
        self.rng, self.of_special, self.values = rng, of_special, []
        self.known = {}

    def tensor(self, value):
        return value.computed(self.known)

    def add(self, value):
        self.values.append(value)
        return value

    def input(self, shape, kind=None, constant=False):
        """A new input. Its elements are quarters with many ties, or reals, or infinities and NaN among others."""
        rng, n = self.rng, math.prod(shape)
        if kind is None:
            kind = "special" if self.of_special else rng.choice(["quarters", "quarters", "real", "positive"])
        draw = {"special": lambda: rng.choice(SPECIAL), "quarters": lambda: rng.randint(-8, 8) / 4,
                "real": lambda: rng.uniform(-1, 1), "positive": lambda: rng.uniform(0.3, 0.9),
                "rows": lambda: rng.randint(0, 2), "divisors": lambda: rng.choice([0.25, 0.5, 0.75, -1.0, 2.0])}[kind]
        elements = torch.tensor([draw() for _ in range(n)], dtype=torch.float32).to(torch.float64).reshape(shape)
        value = Value(elements)
        value.constant, value.is_exact = constant, self.of_special or is_exact(elements)
        self.known[value] = elements
        return self.add(value)

    def operand(self, shape, kind=None):
        """A value of this shape: one of the program, or a new input."""
        fitting = [v for v in self.values if list(self.tensor(v).shape) == list(shape) and not v.constant]
        if fitting and kind is None and self.rng.random() < 0.5:
            return self.rng.choice(fitting)
        return self.input(shape, kind)


def smaller(rng, shape):
    """The shape with some extents of 1: what is broadcast to it."""
    return [1 if rng.random() < 0.4 else n for n in shape]


def arguments(d, name, x):
    """Draws the other operands, integers and numbers of an operation of x; None where it does not fit."""
    rng, shape, rank = d.rng, list(d.tensor(x).shape), d.tensor(x).dim()
    along = rng.randrange(rank) if rank else 0
    if name in ("add", "subtract", "multiply", "maximum", "minimum", "less", "less_equal", "equal_to"):
        return [d.operand(smaller(rng, shape))], [], []
    if name == "mod":
        return [d.operand(smaller(rng, shape), "divisors")], [], []
    if name == "divide" or name == "pow":
        return [d.operand(smaller(rng, shape), "positive")], [], []
    if name == "where":
        if x.name not in ("less", "less_equal", "equal_to"):
            return None
        return [d.operand(shape), d.operand(shape)], [], []
    if name == "thresholded_relu":
        return [], [], [rng.choice([1.0, 0.25, -0.5])]
    if name == "mod_number":
        return [], [], [rng.choice([0.75, 2.0, -1.5])]
    if name == "number_mod":
        return [], [], [rng.choice([1.25, -3.0])]
    if name == "celu":  # PyTorch rounds 1 / alpha to float
        return [], [], [rng.choice([0.25, 1.0, 2.0])]
    if name in ("elu", "leaky_relu"):
        return [], [], [rng.choice([0.25, 1.0, 0.01])]
    if name == "softplus":
        return [], [], [rng.choice([1.0, 0.5, 2.0]), rng.choice([20.0, 1.5])]
    if name == "clip":
        return [], [], [rng.choice([-1.0, -0.25]), rng.choice([0.0, 0.5, 1.0])]
    if name in ("add_number", "multiply_number", "divide_number", "number_minus", "number_over"):
        return [], [], [rng.choice([0.5, 2.0, -1.5])]
    if name == "pow_number":
        return [], [], [rng.choice([0.0, 0.5, 2.0, 3.0, -1.0])]
    if name == "number_pow":
        return [], [], [rng.choice([0.5, 2.0])]
    if name in ("add_at", "multiply_at"):
        if rank not in (2, 3):
            return None
        bits = rng.choice([1, 2] if rank == 2 else [1, 2, 3, 4, 5, 6])
        return [d.operand([shape[k] for k in range(rank) if bits >> k & 1])], [bits], []
    if name == "matmul":
        if rank < 2:
            return None
        other = [shape[-1], rng.randint(1, 4)]
        return [d.operand(shape[:-2] + other if rank > 2 else other)], [], []
    if name.startswith("einsum:"):
        letters = name[7:].split("->")[0].split(",")
        if len(letters[0]) != rank:
            return None
        extent = dict(zip(letters[0], shape))
        return [d.operand([extent.setdefault(c, rng.randint(1, 4)) for c in one]) for one in letters[1:]], [], []
    if name.startswith("permute:"):
        return ([], [], []) if len(name[8:].split(",")) == rank else None
    if name == "reshape":
        n = math.prod(shape)
        first = rng.choice([k for k in range(1, n + 1) if n % k == 0])
        return [], rng.choice([[n], [first, n // first], [first, 1, n // first]]), []
    if name == "reshard":
        return [], [], []
    if name in ("slice", "pad", "concatenate", "split", "cumsum", "cumprod", "cummax", "cummin", "take", "argmax", "flip",
                "roll", "tile", "strided_slice", "squeeze", "softmax_along", "log_softmax_along", "sort", "argsort",
                "top_k") and rank == 0:
        return None
    if name in ("flip", "softmax_along", "log_softmax_along"):
        return [], [along], []
    if name == "roll":
        return [], [along, rng.randint(-6, 6)], []
    if name == "tile":
        return [], [along, rng.randint(1, 3)], []
    if name == "strided_slice":
        start = rng.randrange(shape[along])
        return [], [along, start, rng.randint(start + 1, shape[along]), rng.randint(1, 3)], []
    if name == "squeeze":
        return [], [along, rng.randrange(shape[along])], []
    if name in ("stack", "expand"):
        if rank > 3:
            return None
        at = rng.randint(0, rank)
        return ([d.operand(shape)], [at], []) if name == "stack" else ([], [at, rng.randint(1, 3)], [])
    if name in ("tril", "triu"):
        return ([], [rng.randint(-3, 3)], []) if rank > 1 else None
    if name == "slice":
        start = rng.randrange(shape[along])
        return [], [along, start, rng.randint(start + 1, shape[along])], []
    if name == "pad":
        return [], [along, rng.randint(0, 2), rng.randint(0, 2)], [rng.choice([0.0, 0.5])]
    if name == "concatenate":
        return [d.operand(shape[:along] + [rng.randint(1, 4)] + shape[along + 1:])], [along], []
    if name == "split":
        return ([], [along, rng.randrange(2)], []) if shape[along] > 1 else None
    if name in ("cumsum", "cumprod", "cummax", "cummin", "argmax"):
        return [], [along], []
    if name in ("sort", "argsort"):
        return [], [along, rng.randrange(2)], []
    if name == "top_k":
        return [], [along, rng.randint(1, shape[along])], []
    if name in ("sum", "mean", "largest", "smallest"):
        bits = [b for b in (1, 2, 3, 4, 5, 6, 8, 12) if b < 2 ** rank] + ([0] if name in ("sum", "mean") else [])
        return ([], [rng.choice(bits)], []) if bits else None
    if name == "take":
        return [], [along] + [rng.randrange(shape[along]) for _ in range(rng.randint(1, 5))], []
    if name == "scatter_add":
        if rank == 0 or shape[along] < 3:
            return None
        rows = rng.randint(1, 4)
        return [d.input([rows], "rows", True), d.operand(shape[:along] + [rows] + shape[along + 1:])], [along], []
    if name == "add_along_axis":
        if rank == 0 or shape[along] < 3:
            return None
        of_updates = shape[:along] + [rng.randint(1, 4)] + shape[along + 1:]
        return [d.input(of_updates, "rows", True), d.operand(of_updates)], [along], []
    if name == "one_hot":
        return ([], [rng.randint(1, 4)], []) if x.name == "argmax" and rank < 4 else None
    if name == "lookup":
        return ([], [rng.randrange(shape[0]) for _ in range(rng.randint(1, 5))], []) if rank == 2 else None
    if name in ("softmax", "log_softmax"):
        return ([], [], []) if rank else None
    if name == "cross_entropy":
        return ([], [rng.randrange(shape[1]) for _ in range(shape[0])], []) if rank == 2 else None
    if name == "cross_entropy_of":
        if rank < 2:
            return None
        labels = [rng.choice([-1, rng.randrange(shape[along])]) for _ in range(math.prod(shape) // shape[along])]
        labels[0] = max(labels[0], 0)  # if no label counts, the library gives 0 and PyTorch NaN
        weights = [rng.choice([0.5, 1.0, 3.0]) for _ in range(shape[along])] if rng.randint(0, 1) else []
        return [], [along] + labels, [rng.choice([0.0, 0.5])] + weights
    if name == "attention":
        if rank < 2:
            return None
        keys = shape[-2] + rng.randint(0, 2)
        return [d.operand(shape[:-2] + [keys, shape[-1]]), d.operand(shape[:-2] + [keys, rng.randint(1, 3)])], \
            [rng.randint(0, 1)], []
    epsilon = [rng.choice([1e-5, 0.1])]
    if name == "layer_norm":
        return ([d.operand(shape[-1:]), d.operand(shape[-1:])], [], epsilon) if rank else None
    if name == "local_response_norm":
        return ([], [rng.choice([1, 3, 5])], [rng.choice([1e-4, 0.5]), 0.75, rng.choice([1.0, 2.0])]) if rank > 2 else None
    if name == "rms_norm":
        return ([d.operand(shape[-1:])], [], epsilon) if rank else None
    if name in ("batch_norm", "batch_norm_by", "group_norm:1", "group_norm:2"):
        if rank < 3 or math.prod(shape) // shape[1] < 2 or name == "group_norm:2" and shape[1] % 2:
            return None
        channels = shape[1:2]
        given = [d.operand(channels), d.input(channels, "positive")] if name == "batch_norm_by" else []
        return given + [d.operand(channels), d.operand(channels)], [], epsilon
    if name in ("l1", "mse", "bce_with_logits"):
        return [d.operand(shape)], [], []
    if name in ("bce", "poisson_nll"):
        return [d.input(shape, "positive", True)], [rng.randint(0, 1)], [1e-8]
    if name == "smooth_l1":
        return [d.operand(shape)], [], [rng.choice([1.0, 0.5])]
    if name == "kl":
        log_target = rng.randint(0, 1)
        return [d.input(shape, None if d.of_special or log_target else "positive", True)], [log_target], []
    # images: batch x channels x two features
    if name in ("convolve:1", "convolve:2", "convolve:bias", "convolve_transposed", "max_pool", "average_pool",
                "adaptive_max_pool", "adaptive_average_pool", "upsample"):
        if rank != 4:
            return None
        kernel, stride = [rng.randint(1, 3) for _ in "ab"], [rng.randint(1, 2) for _ in "ab"]
        padding, dilation = [rng.randint(0, k // 2) for k in kernel], [rng.randint(1, 2) for _ in "ab"]
        if name == "convolve_transposed":
            extra = [rng.randrange(s) for s in stride]
            return [d.operand([shape[1], rng.randint(1, 3)] + kernel)], stride + padding + dilation + extra, []
        if name.startswith("convolve"):
            groups = 2 if name == "convolve:2" else 1
            if shape[1] % groups:
                return None
            out = groups * rng.randint(1, 2)
            filters = [d.operand([out, shape[1] // groups] + kernel)]
            return filters + ([d.operand([out])] if name == "convolve:bias" else []), stride + padding + dilation, []
        # with ceil_mode PyTorch also takes windows that are larger than the padded image; the library rejects them
        spans = [s * (k - 1) + 1 if name == "max_pool" else k for k, s in zip(kernel, dilation)]
        if name in ("max_pool", "average_pool") and any(n + 2 * p < k for n, p, k in zip(shape[2:], padding, spans)):
            return None
        if name == "max_pool":
            return [], kernel + stride + padding + dilation + [rng.randint(0, 1)], []
        if name == "average_pool":
            return [], kernel + stride + padding + [rng.randint(0, 1), rng.randint(0, 1)], []
        size = [rng.randint(1, 5) for _ in "ab"]
        return [], size + ([rng.randint(0, 2)] if name == "upsample" else []), []
    return [], [], []  # a function of one tensor


def draw_step(d, name, x):
    """Adds one step to a program if the operation fits; whether it did."""
    given = d.tensor(x)
    if name in domain and not (float(given.min()) >= domain[name][0] and float(given.max()) <= domain[name][1]):
        return False
    if name in with_jumps and not x.is_exact or differs_by_convention(name, given, d.of_special, x.name is None):
        return False
    before = len(d.values)
    drawn = arguments(d, name, x)
    if drawn is None:
        return False
    step = Value(None, name, [x] + drawn[0], drawn[1], drawn[2])
    all_exact = all(v.is_exact for v in step.operands)
    try:
        if name in with_jumps and not all_exact:
            raise RuntimeError("an operand whose rounding may change the side of a jump")
        y = d.tensor(step)
        if y.dim() > 4 or y.numel() == 0 or y.numel() > 400:
            raise RuntimeError("too large")
        if not d.of_special and not (bool(torch.isfinite(y).all()) and float(y.abs().max()) < 200):
            raise RuntimeError("elements too large")
    except (RuntimeError, ValueError, IndexError):  # PyTorch rejects the arguments, as a window larger than the image
        del d.values[before:]
        return False
    step.is_exact = d.of_special or name in exact and all_exact and is_exact(y)
    d.add(step)
    return True


def draw(seed, index):
    """A random program: its last value, and the element type."""
    rng = random.Random(f"{seed} {index}")
    d = Drawing(rng, rng.random() < 0.15)
    rank = rng.choice([1, 2, 2, 3, 3, 4, 4])
    last = d.input([rng.randint(1, 4 if rank < 4 else 5) for _ in range(rank)])
    names = sorted(of_special_values if d.of_special else of_pytorch)
    for _ in range(rng.randint(1, 2 if d.of_special else 6)):
        for _ in range(60):
            if draw_step(d, rng.choice(names), last if rng.random() < 0.8 else rng.choice(d.values)):
                last = d.values[-1]
                break
    return last, rng.choice(["float", "double"])


def parts(result):
    """The parameters, constants and steps of a program, in the order of its file."""
    all = result.before()
    inputs = [v for v in all if v.name is None]
    free = [v for v in inputs if not v.constant]
    parameters = free[:PARAMETERS]
    while len(parameters) < PARAMETERS:
        unused = Value(torch.ones(2, dtype=torch.float64))
        parameters.append(unused)
    return parameters, [v for v in inputs if v not in parameters], [v for v in all if v.name is not None]


def weights(shape):
    n = math.prod(shape)
    return torch.tensor([(5 * k + 3) % 7 - 3 or 2 for k in range(n)], dtype=torch.float64).reshape(shape) / 2


def by_pytorch(result, element):
    """What PyTorch computes: the result, and the gradients of its weighted sum."""
    parameters, constants, _ = parts(result)
    leaves = [v.elements.detach().clone().to(element).requires_grad_() for v in parameters]
    known = {v: x for v, x in zip(parameters, leaves)} | {v: v.elements.to(element) for v in constants}
    y = result.computed(known)
    loss = (y * weights(y.shape).to(element)).sum()
    if loss.requires_grad:
        loss.backward()
    return [y.detach().to(torch.float64)] + [torch.zeros(x.shape, dtype=torch.float64) if x.grad is None
                                             else x.grad.to(torch.float64) for x in leaves]


def draw_layout(rng, mesh, rank):
    """For each axis of the mesh the dimension that it shards, or -1: replicated, -2: a pending sum, -3: replicated,
    with gradients that are pending sums."""
    return [rng.choice(list(range(rank)) * 2 + [-1, -2, -3]) for _ in mesh]


def draw_mesh(rng, workers):
    a = rng.randint(1, workers)
    return rng.choice([[workers], [a], [a, rng.randint(1, workers // a)]])


def written(number, result, element, mesh, rng):
    """A program as programs.cpp reads it."""
    parameters, constants, steps = parts(result)
    known = {v: v.elements for v in parameters + constants}
    weight = Value(weights(result.computed(known).shape))
    inputs = parameters + constants + [weight]
    order = {v: k for k, v in enumerate(inputs + steps)}

    def several(all):
        return " ".join([str(len(all))] + [str(one) for one in all])

    lines = [f"{number} {element} {several(mesh)}", str(len(inputs))]
    for v in inputs:
        shape = list(v.elements.shape)
        v.layout = draw_layout(rng, mesh, len(shape))
        lines.append(f"{several(shape)} {several(v.layout)} {several(v.elements.flatten().tolist())}")
    lines.append(str(len(steps)))
    for v in steps:
        if v.name == "reshard":
            v.integers = draw_layout(rng, mesh, known[v].dim())
        lines.append(f"{v.name} {several([order[o] for o in v.operands])} {several(v.integers)} {several(v.numbers)}")
    return "\n".join(lines) + "\n"


def readable(result, element, mesh):
    parameters, constants, steps = parts(result)
    names = {v: f"w{k}" for k, v in enumerate(parameters)} | {v: f"c{k}" for k, v in enumerate(constants)}
    used = result.before()
    lines = [f"  {element}, mesh {mesh}"]
    for v in parameters + constants:
        if v in used:
            lines.append(f"  {names[v]} {list(v.elements.shape)} layout {v.layout} = {v.elements.tolist()}")
    for k, v in enumerate(steps):
        names[v] = f"y{k}"
        rest = [names[o] for o in v.operands] + [str(one) for one in [v.integers, v.numbers] if one]
        lines.append(f"  y{k} = {v.name}({', '.join(rest)})")
    return "\n".join(lines)


def difference(got, result, element):
    """What differs from PyTorch, or None. The tolerance is 64 roundings of the largest element, and 32 times what
    rounding does to this program in PyTorch: its results in float differ by that from those in double."""
    if got is None:
        return "no result: the job ended or hung"
    if "error" in got:
        return got["error"]
    wanted, rounded = by_pytorch(result, torch.float64), by_pytorch(result, torch.float32)
    unit = 2.0 ** (-24 if element == "float" else -53)
    for k, (y, y32, z) in enumerate(zip(wanted, rounded, got["tensors"])):
        name = "the result" if k == 0 else f"the gradient of w{k - 1}"
        shape, elements = z
        if shape != list(y.shape):
            return f"{name} has extents {shape}, PyTorch's {list(y.shape)}"
        z = torch.tensor(elements, dtype=torch.float64).reshape(y.shape)
        finite = torch.isfinite(y)
        scale = 1 + (float(y[finite].abs().max()) if finite.any() else 0)
        apart = (y - y32)[finite & torch.isfinite(y32)].abs()
        tolerance = 64 * unit * scale + 32 * (float(apart.max()) if apart.numel() else 0) * unit * 2 ** 24
        same = (y == z) | (y.isnan() & z.isnan()) | ((y - z).abs() <= tolerance) & finite
        if not bool(same.all()):
            at = [int(i) for i in (~same).nonzero()[0]]
            here, there = float(z[tuple(at)]), float(y[tuple(at)])
            return f"{name} at {at} is {here!r}, PyTorch's {there!r} (tolerance {tolerance:.1e})"
    return None


class Runner:
    def __init__(self, mpirun, program):
        self.mpirun, self.program = mpirun, program

    def run(self, workers, texts):
        """The results of programs on so many workers, by number. A job that ends early is continued after the program
        at which it ended."""
        results, rest = {}, list(texts)
        while rest:
            with tempfile.NamedTemporaryFile("w", suffix=".programs") as file:
                file.write("".join(text for _, text in rest))
                file.flush()
                command = [*self.mpirun, "-n", str(workers), self.program, file.name]
                try:
                    out = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                         timeout=60 + len(rest), check=False).stdout
                except subprocess.TimeoutExpired as late:
                    out = (late.stdout or b"").decode()
            done = parsed(out)
            results |= done
            rest = [one for one in rest if one[0] not in done]
            if rest:
                results[rest[0][0]] = None
                rest = rest[1:]
        return results


def parsed(out):
    results, last = {}, None
    for line in out.splitlines():
        first, _, rest = line.partition(" ")
        if first == "program":
            last = results[int(rest)] = {"tensors": []}
        elif last is not None and first == "error":
            last["error"] = rest
        elif last is not None and first in ("value", "gradient"):
            shape, _, elements = rest.partition(":") if not line.startswith(f"{first} :") else ("", "", rest[1:])
            last["tensors"].append(([int(n) for n in shape.split()], [float(e) for e in elements.split()]))
    return results


def shrunk(runner, workers, failing):
    """A smaller program that still differs: a step becomes an input with its values, or the last steps go."""
    result, element, mesh, seed = failing
    for _ in range(12):
        smaller_ones = [v for v in result.before() if v.name is not None and v is not result]
        for step in result.before():
            if step.name is not None and step is not result:
                smaller_ones.append(replaced(result, step))
        attempts = [(v, seed + k) for v in smaller_ones for k in range(6)]
        texts = [(k, written(k, v, element, mesh, random.Random(s))) for k, (v, s) in enumerate(attempts)]
        got = runner.run(workers, texts)
        found = next((k for k in range(len(attempts)) if difference(got.get(k), attempts[k][0], element)), None)
        if found is None:
            break
        result, seed = attempts[found]
    # with the layouts of the smallest program again
    text = written(0, result, element, mesh, random.Random(seed))
    return readable(result, element, mesh), difference(runner.run(workers, [(0, text)]).get(0), result, element)


def replaced(result, step):
    """A copy of a program in which a step is an input."""
    known = {v: v.elements for v in result.before() if v.name is None}
    result.computed(known)
    copies = {}
    for v in result.before():
        if v is step:
            copy = Value(known[v].detach().clone())
        elif v.name is None:
            copy = v
        else:
            copy = Value(None, v.name, [copies[o] for o in v.operands], v.integers, v.numbers)
        copies[v] = copy
    return copies[result]


def main():
    given = sys.argv[1:]
    if len(given) < 2:
        sys.exit(__doc__)
    count, seed = int(given[2]) if len(given) > 2 else 50, int(given[3]) if len(given) > 3 else 1
    all_workers = [int(n) for n in given[4].split(",")] if len(given) > 4 else [1, 2, 3, 4]
    torch.set_num_threads(1)
    runner = Runner(given[0].split(), given[1])
    programs = [draw(seed, k) for k in range(count)]
    failed, steps, kinds = set(), 0, set()
    for result, _ in programs:
        names = [v.name for v in result.before() if v.name is not None]
        steps += len(names)
        kinds |= set(names)
    for workers in all_workers:
        meshes = [draw_mesh(random.Random(f"{seed} {k} {workers}"), workers) for k in range(count)]
        seeds = [(seed * 1000003 + k) * 8 + workers for k in range(count)]
        texts = [(k, written(k, *programs[k], meshes[k], random.Random(seeds[k]))) for k in range(count)]
        got = runner.run(workers, texts)
        for k, (result, element) in enumerate(programs):
            problem = difference(got.get(k), result, element)
            if problem is None:
                continue
            failed.add(k)
            print(f"program {k} of seed {seed} on {workers} workers: {problem}")
            if len(failed) <= 10:
                text, rest = shrunk(runner, workers, (result, element, meshes[k], seeds[k]))
                print(f"{text}\n  {rest}", flush=True)
    print(f"{count} programs of {steps} steps, {len(kinds)} of {len(of_pytorch)} operations, "
          f"PyTorch {torch.__version__}")
    print(f"{count - len(failed)} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
