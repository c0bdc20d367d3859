#!/usr/bin/env python3
"""fourier_layers.py MPIRUN LAYERS [WORKERS, 1,2,3,4,6]: spectral convolutions of one to three dimensions, and a whole
Fourier neural operator, have the results and gradients of PyTorch to 1e-10, on each number of workers in six layouts.

LAYERS is fourier_layers.cpp. Ends with a line `N passed, N failed, N skipped`; exits with 77 where there is no PyTorch
or no FFTW."""
import math
import pathlib
import subprocess
import sys

try:
    import torch
except ImportError:
    print("skipped: no PyTorch for this Python (Debian: apt-get install python3-torch)")
    sys.exit(77)
if not pathlib.Path(sys.argv[2]).exists():
    print("skipped: no FFTW when the tests were configured (Debian: apt-get install libfftw3-dev)")
    sys.exit(77)


def elements(salt, shape):
    """The tensor that fourier_layers.cpp makes."""
    all = [math.sin(1.7 * salt + 0.37 * (k * k % 997)) for k in range(math.prod(shape))]
    return torch.tensor(all, dtype=torch.float64).reshape(shape)


def spectral_convolution(v, weights, modes):
    """As in Li et al., Fourier neural operator for parametric partial differential equations (2021), section 4: one
    weight for each corner of the spectrum that is kept."""
    extents, rank = v.shape[2:], v.dim() - 2
    axes = tuple(range(2, v.dim()))
    waves = torch.fft.rfftn(v, dim=axes)
    letters = "xyz"[:rank]
    kept = torch.zeros([v.shape[0], weights[0].shape[1], *waves.shape[2:]], dtype=waves.dtype)
    for k, w in enumerate(weights):
        at = [slice(0, modes) if k >> d & 1 == 0 or d == rank - 1 else slice(extents[d] - modes, extents[d])
              for d in range(rank)]
        corner = (slice(None), slice(None), *at)
        kept[corner] = kept[corner] + torch.einsum(f"bi{letters},io{letters}->bo{letters}", waves[corner], w)
    return torch.fft.irfftn(kept, s=extents, dim=axes)


def layer(x, w, modes):
    return spectral_convolution(x, [torch.complex(a, b) for a, b in zip(w[::2], w[1::2])], modes)


def model(u, w):
    def mixed(v, by):
        return torch.einsum("bixy,io->boxy", v, by)

    v = mixed(u, w[0])
    a = torch.nn.functional.gelu(layer(v, w[1:5], 2) + mixed(v, w[5]))
    return mixed(layer(a, w[6:10], 2) + mixed(a, w[10]), w[11])


WAVES = [[4, 4, 2, 2]] * 4
CASES = {
    "1d": ([[3, 2, 9]] + [[2, 4, 3]] * 2, lambda x, w: layer(x, w, 3)),
    "2d": ([[2, 2, 6, 5]] + [[2, 3, 2, 2]] * 4, lambda x, w: layer(x, w, 2)),
    "3d": ([[2, 1, 4, 5, 4]] + [[1, 2, 2, 2, 2]] * 8, lambda x, w: layer(x, w, 2)),
    "model": ([[3, 1, 6, 5], [1, 4], *WAVES, [4, 4], *WAVES, [4, 4], [4, 1]], model),
}


def by_pytorch(name):
    shapes, f = CASES[name]
    given = [elements(k + 1, shape).requires_grad_() for k, shape in enumerate(shapes)]
    y = f(given[0], given[1:])
    (y * elements(0, y.shape)).sum().backward()
    return [y.detach(), *[x.grad for x in given]]


def main():
    mpirun, program = sys.argv[1].split(), sys.argv[2]
    known = {name: by_pytorch(name) for name in CASES}
    passed = failed = 0
    for workers in (sys.argv[3] if len(sys.argv) > 3 else "1,2,3,4,6").split(","):
        out = subprocess.run([*mpirun, "-n", workers, program], stdout=subprocess.PIPE, text=True, timeout=120, check=False)
        found, last = {}, []
        for line in out.stdout.splitlines():
            first, *rest = line.split()
            if first == "layer":
                last = found[tuple(rest)] = []
            else:
                last.append(torch.tensor([float(one) for one in rest], dtype=torch.float64))
        for name, expected in known.items():
            for number in range(6):
                got = found.get((name, str(number)), [])
                right = len(got) == len(expected) and all(
                    a.numel() == b.numel() and float((a - b.flatten()).abs().max()) <= 1e-10 * (1 + float(b.abs().max()))
                    for a, b in zip(got, expected))
                passed, failed = passed + right, failed + (not right)
                if not right:
                    print(f"{name} in layout {number} on {workers} workers differs from PyTorch")
    print(f"{passed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
