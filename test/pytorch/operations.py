"""The operations that random programs consist of: what PyTorch computes for each, and how one is drawn."""
import math

import torch
from torch.nn import functional as F


def dimensions(bits):
    return [d for d in range(4) if bits >> d & 1]


def placed(x, y, bits):
    """y with extents of 1 at the dimensions of x that it does not have."""
    at = dimensions(bits)
    return y.reshape([x.shape[d] if d in at else 1 for d in range(x.dim())])


def reduced(function):
    return lambda x, i, n: function(x[0], dimensions(i[0]) if i[0] else list(range(x[0].dim())))


def attention(x, i, n):
    q, k, v = x
    scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
    if i[0]:
        queries, keys = scores.shape[-2:]
        hidden = torch.ones(queries, keys, dtype=torch.bool).triu(1 + keys - queries)
        scores = scores.masked_fill(hidden, -math.inf)
    return torch.softmax(scores, -1) @ v


def normalised_by(x, epsilon):
    shape = [1, -1] + [1] * (x[0].dim() - 2)
    mean, variance, gamma, beta = (one.reshape(shape) for one in x[1:])
    return (x[0] - mean) / torch.sqrt(variance + epsilon) * gamma + beta


def rms_norm(x, i, n):
    return x[0] / torch.sqrt((x[0] * x[0]).mean(-1, keepdim=True) + n[0]) * x[1]


def taken(x, d, rows):
    return torch.index_select(x, d, torch.tensor(rows))


def windows(i):
    return {"stride": (i[0], i[1]), "padding": (i[2], i[3]), "dilation": (i[4], i[5])}


def upsampled(x, i, n):
    if i[2] == 0:
        return F.interpolate(x[0], size=(i[0], i[1]), mode="nearest")
    return F.interpolate(x[0], size=(i[0], i[1]), mode="bilinear", align_corners=i[2] == 2)


def hardsigmoid(x):
    """The derivative of PyTorch's own function is 1/6 rounded to float, also in double."""
    return torch.where((x > -3) & (x < 3), (x + 3) / 6, F.hardsigmoid(x).detach())


def cross_entropy_of(x, i, n):
    """Classes along dimension i[0], then a label for each place, -1 to ignore it; smoothing, then weights."""
    scores = x[0].movedim(i[0], 1)
    labels = torch.tensor(i[1:]).reshape(scores.shape[:1] + scores.shape[2:])
    return F.cross_entropy(scores, labels, ignore_index=-1, label_smoothing=n[0],
                           weight=torch.tensor(n[1:], dtype=x[0].dtype) if n[1:] else None)


def loss(function, **options):
    return lambda x, i, n: function(x[0], x[1].detach(), reduction="none", **options)


def one(function):
    return lambda x, i, n: function(x[0])


def two(function):
    return lambda x, i, n: function(x[0], x[1])


# The value of each operation from its operands, its integers and its numbers.
of_pytorch = {name: one(getattr(torch, name)) for name in (
    "exp", "log", "expm1", "log1p", "sqrt", "rsqrt", "square", "reciprocal", "abs", "sin", "cos", "tan", "tanh", "erf",
    "sign", "floor", "ceil", "round", "relu", "sigmoid", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh",
    "atanh")}
of_pytorch |= {name: one(getattr(F, name)) for name in (
    "gelu", "silu", "mish", "selu", "softsign", "hardswish")}
of_pytorch |= {
    "hardsigmoid": one(hardsigmoid),
    "stop_gradient": one(lambda x: x.detach()),
    "is_nan": one(lambda x: x.isnan().to(x.dtype)), "is_inf": one(lambda x: x.isinf().to(x.dtype)),
    "elu": lambda x, i, n: F.elu(x[0], n[0]),
    "celu": lambda x, i, n: F.celu(x[0], n[0]),
    "thresholded_relu": lambda x, i, n: F.threshold(x[0], n[0], 0),
    "leaky_relu": lambda x, i, n: F.leaky_relu(x[0], n[0]),
    "softplus": lambda x, i, n: F.softplus(x[0], n[0], n[1]),
    "clip": lambda x, i, n: torch.clamp(x[0], n[0], n[1]),
    "add": two(torch.add), "subtract": two(torch.sub), "multiply": two(torch.mul), "divide": two(torch.div),
    "maximum": two(torch.maximum), "minimum": two(torch.minimum), "pow": two(torch.pow),
    "mod": two(torch.remainder),
    "mod_number": lambda x, i, n: torch.remainder(x[0], n[0]),
    "number_mod": lambda x, i, n: torch.remainder(torch.full_like(x[0], n[0]), x[0]),
    "less": two(lambda x, y: (x < y).to(x.dtype)),
    "less_equal": two(lambda x, y: (x <= y).to(x.dtype)),
    "equal_to": two(lambda x, y: (x == y).to(x.dtype)),
    "where": lambda x, i, n: torch.where(x[0] != 0, x[1], x[2]),
    "add_number": lambda x, i, n: x[0] + n[0],
    "number_minus": lambda x, i, n: n[0] - x[0],
    "multiply_number": lambda x, i, n: x[0] * n[0],
    "divide_number": lambda x, i, n: x[0] / n[0],
    "number_over": lambda x, i, n: n[0] / x[0],
    "pow_number": lambda x, i, n: x[0] ** n[0],
    "number_pow": lambda x, i, n: n[0] ** x[0],
    "add_at": lambda x, i, n: x[0] + placed(x[0], x[1], i[0]),
    "multiply_at": lambda x, i, n: x[0] * placed(x[0], x[1], i[0]),
    "matmul": two(torch.matmul),
    "transpose": one(lambda x: x.permute(list(reversed(range(x.dim()))))),
    "reshape": lambda x, i, n: x[0].reshape(i),
    "reshard": one(lambda x: x),
    "slice": lambda x, i, n: x[0].narrow(i[0], i[1], i[2] - i[1]),
    "pad": lambda x, i, n: F.pad(x[0], [0, 0] * (x[0].dim() - 1 - i[0]) + i[1:3], value=n[0]),
    "concatenate": lambda x, i, n: torch.cat(x, i[0]),
    "stack": lambda x, i, n: torch.stack(x, i[0]),
    "flip": lambda x, i, n: torch.flip(x[0], [i[0]]),
    "roll": lambda x, i, n: torch.roll(x[0], i[1], i[0]),
    "tile": lambda x, i, n: torch.cat([x[0]] * i[1], i[0]),
    "strided_slice": lambda x, i, n: x[0][(slice(None),) * i[0] + (slice(i[1], i[2], i[3]),)],
    "expand": lambda x, i, n: x[0].unsqueeze(i[0]).expand(*x[0].shape[:i[0]], i[1], *x[0].shape[i[0]:]),
    "squeeze": lambda x, i, n: x[0].narrow(i[0], i[1], 1).squeeze(i[0]),
    "tril": lambda x, i, n: torch.tril(x[0], i[0]),
    "triu": lambda x, i, n: torch.triu(x[0], i[0]),
    "softmax_along": lambda x, i, n: torch.softmax(x[0], i[0]),
    "log_softmax_along": lambda x, i, n: torch.log_softmax(x[0], i[0]),
    "split": lambda x, i, n: torch.tensor_split(x[0], 2, i[0])[i[1]],
    "cumsum": lambda x, i, n: torch.cumsum(x[0], i[0]),
    "cumprod": lambda x, i, n: torch.cumprod(x[0], i[0]),
    "cummax": lambda x, i, n: torch.cummax(x[0], i[0])[0],
    "cummin": lambda x, i, n: torch.cummin(x[0], i[0])[0],
    "sum": reduced(torch.sum), "mean": reduced(torch.mean),
    "largest": reduced(torch.amax), "smallest": reduced(torch.amin),
    "take": lambda x, i, n: taken(x[0], i[0], i[1:]),
    "scatter_add": lambda x, i, n: x[0].index_add(i[0], x[1].detach().to(torch.int64), x[2]),
    "add_along_axis": lambda x, i, n: x[0].scatter_add(i[0], x[1].detach().to(torch.int64), x[2]),
    "argmax": lambda x, i, n: torch.argmax(x[0], i[0]).to(x[0].dtype),
    "sort": lambda x, i, n: torch.sort(x[0], dim=i[0], descending=bool(i[1]), stable=True)[0],
    "argsort": lambda x, i, n: torch.sort(x[0], dim=i[0], descending=bool(i[1]), stable=True)[1].to(x[0].dtype),
    # as sorted: which of equal elements torch.topk takes is not defined
    "top_k": lambda x, i, n: torch.sort(x[0], dim=i[0], descending=True, stable=True)[0].narrow(i[0], 0, i[1]),
    "one_hot": lambda x, i, n: F.one_hot(x[0].detach().to(torch.int64), i[0]).to(x[0].dtype),
    "lookup": lambda x, i, n: F.embedding(torch.tensor(i), x[0]),
    "softmax": one(lambda x: torch.softmax(x, -1)),
    "log_softmax": one(lambda x: torch.log_softmax(x, -1)),
    "cross_entropy": lambda x, i, n: F.cross_entropy(x[0], torch.tensor(i)),
    "cross_entropy_of": cross_entropy_of,
    "attention": attention,
    "layer_norm": lambda x, i, n: F.layer_norm(x[0], x[0].shape[-1:], x[1], x[2], n[0]),
    "batch_norm": lambda x, i, n: F.batch_norm(x[0], None, None, x[1], x[2], True, 0, n[0]),
    "batch_norm_by": lambda x, i, n: normalised_by(x, n[0]),
    "rms_norm": rms_norm,
    "local_response_norm": lambda x, i, n: F.local_response_norm(x[0], i[0], n[0], n[1], n[2]),
    "group_norm:1": lambda x, i, n: F.group_norm(x[0], 1, x[1], x[2], n[0]),
    "group_norm:2": lambda x, i, n: F.group_norm(x[0], 2, x[1], x[2], n[0]),
    "convolve:1": lambda x, i, n: F.conv2d(x[0], x[1], **windows(i)),
    "convolve:2": lambda x, i, n: F.conv2d(x[0], x[1], groups=2, **windows(i)),
    "convolve:bias": lambda x, i, n: F.conv2d(x[0], x[1], x[2], **windows(i)),
    "convolve_transposed": lambda x, i, n: F.conv_transpose2d(x[0], x[1], output_padding=(i[6], i[7]), **windows(i)),
    "max_pool": lambda x, i, n: F.max_pool2d(x[0], (i[0], i[1]), (i[2], i[3]), (i[4], i[5]), (i[6], i[7]), bool(i[8])),
    "average_pool": lambda x, i, n: F.avg_pool2d(x[0], (i[0], i[1]), (i[2], i[3]), (i[4], i[5]), bool(i[6]),
                                                 bool(i[7])),
    "adaptive_max_pool": lambda x, i, n: F.adaptive_max_pool2d(x[0], (i[0], i[1])),
    "adaptive_average_pool": lambda x, i, n: F.adaptive_avg_pool2d(x[0], (i[0], i[1])),
    "upsample": upsampled,
    "l1": loss(F.l1_loss), "mse": loss(F.mse_loss), "bce": loss(F.binary_cross_entropy),
    "smooth_l1": lambda x, i, n: F.smooth_l1_loss(x[0], x[1].detach(), reduction="none", beta=n[0]),
    "bce_with_logits": loss(F.binary_cross_entropy_with_logits),
    "kl": lambda x, i, n: F.kl_div(x[0], x[1].detach(), reduction="none", log_target=bool(i[0])),
    "poisson_nll": lambda x, i, n: F.poisson_nll_loss(x[0], x[1].detach(), log_input=bool(i[0]), eps=n[0],
                                                      reduction="none"),
}
for notation in ("ij,kj->ik", "bij,bjk->bik", "bij,j->bi", "i,j->ij", "ijk,ijk->j", "ij,ij->", "ijk->kj"):
    of_pytorch["einsum:" + notation] = lambda x, i, n, notation=notation: torch.einsum(notation, *x)
for order in ("0,2,1", "1,2,0", "0,2,3,1", "3,1,0,2"):
    of_pytorch["permute:" + order] = lambda x, i, n, order=order: x[0].permute(*map(int, order.split(",")))

# The smallest and the largest element that an operation is drawn for: where it is defined and its result not large.
domain = {
    "exp": (-5, 3), "log": (0.2, 50), "expm1": (-5, 3), "log1p": (-0.7, 50), "sqrt": (0.2, 50), "rsqrt": (0.2, 50),
    "reciprocal": (0.2, 50), "tan": (-1.2, 1.2), "number_over": (0.2, 50), "number_pow": (-4, 4),
    "asin": (-0.9, 0.9), "acos": (-0.9, 0.9), "sinh": (-4, 4), "cosh": (-4, 4), "acosh": (1.2, 50),
    "atanh": (-0.9, 0.9), "number_mod": (0.2, 50),
    "pow_number": (0.2, 8), "pow": (0.2, 4), "bce": (0.05, 0.95), "poisson_nll": (0.2, 3),
}
# Functions that have a jump or a kink: drawn only for values that no order of summation changes.
with_jumps = {
    "abs", "sign", "floor", "ceil", "round", "relu", "selu", "hardsigmoid", "hardswish", "elu", "leaky_relu",
    "is_nan", "is_inf", "celu", "thresholded_relu", "mod", "mod_number", "number_mod",
    "softplus", "clip", "maximum", "minimum", "less", "less_equal", "equal_to", "where", "largest", "smallest",
    "argmax", "one_hot", "max_pool", "adaptive_max_pool", "l1", "smooth_l1", "cummax", "cummin", "sort", "argsort",
    "top_k"}
# Results of these operations on such values are such values, if they are small multiples of 1/64.
exact = {
    "add", "subtract", "multiply", "add_number", "number_minus", "multiply_number", "add_at", "multiply_at", "matmul",
    "transpose", "reshape", "reshard", "slice", "pad", "concatenate", "split", "cumsum", "cumprod", "cummax",
    "cummin", "sort", "argsort", "top_k", "sum", "take", "scatter_add",
    "stack", "flip", "roll", "tile", "strided_slice", "expand", "squeeze", "tril", "triu",
    "lookup", "convolve:1", "convolve:2", "convolve:bias", "convolve_transposed", "square", "abs", "sign", "floor",
    "ceil", "round", "relu", "is_nan", "is_inf", "thresholded_relu", "mod", "mod_number", "number_mod",
    "add_along_axis", "clip", "maximum", "minimum", "less", "less_equal", "equal_to", "where", "largest",
    "smallest", "argmax", "one_hot", "max_pool", "adaptive_max_pool", "l1", "mse", "stop_gradient"}
exact |= {name for name in of_pytorch if name.startswith(("einsum:", "permute:"))}
# Programs whose inputs have infinities and NaN consist of these: each element of their results and gradients follows
# from few elements, and docs/sharded.md defines it. The others multiply zeros by such elements in an order that is not
# defined (products, norms, softmax), or PyTorch rejects them (bce). abs is left out: where its derivative is 0 it
# passes on 0 also for a cotangent of NaN, which PyTorch multiplies by 0.
of_special_values = {
    "sign", "floor", "ceil", "round", "is_nan", "is_inf", "relu", "hardsigmoid", "leaky_relu", "clip", "add", "subtract",
    "maximum", "minimum", "less", "less_equal", "equal_to", "where", "add_number", "transpose", "reshape", "reshard",
    "slice", "stack", "flip", "roll", "strided_slice", "squeeze", "concatenate", "split", "sum", "largest", "smallest", "take",
    "cummax", "cummin", "sort", "argsort", "top_k", "smooth_l1", "l1", "kl"}


def differs_by_convention(name, x, of_special, is_input):
    """Whether an operation of x is left out because the library deliberately differs from PyTorch 1.13 there."""
    if name in ("sign", "floor", "ceil", "round", "is_nan", "is_inf"):
        # they pass on no cotangent; PyTorch passes on zeros, which a derivative of NaN before them turns into NaN
        return of_special and not is_input
    if name == "hardswish":
        # at -3 and 3 its derivative is that of the piece outside, as since PyTorch 2; in 1.13 that of the piece inside
        return bool((x.abs() == 3).any())
    if name == "kl":
        # a target of 0 contributes nothing where x is the logarithm of 0; PyTorch's product of 0 and infinity is NaN
        return bool(x.isinf().any())
    return False
