#!/usr/bin/env python3
"""random_optimisers.py MPIRUN PROGRAMS [COUNT, 50] [SEED, 1] [WORKERS, 1,2,3,4]: after each step, COUNT random
optimisers with random schedules of their learning rates leave the parameters that PyTorch's leave, on each number of
workers with other layouts.

PROGRAMS is programs.cpp. Ends with a line `N passed, N failed, N skipped`; exits with 77 where there is no PyTorch."""
import math
import random
import sys
import warnings

from random_programs import Runner, draw_mesh, torch
from torch.optim import SGD, Adam, AdamW
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR, StepLR


def draw_elements(rng, shape):
    return torch.tensor([rng.choice([0.0, rng.uniform(-2, 2)]) for _ in range(math.prod(shape))],
                        dtype=torch.float32).to(torch.float64).reshape(shape)


class Training:
    """An optimiser, the schedule of its rate, a parameter and the gradients of each step."""

    def __init__(self, rng):
        self.element = rng.choice(["float", "double"])
        self.shape = [rng.randint(1, 5) for _ in range(rng.choice([1, 2, 3]))]
        self.name = rng.choice(["sgd", "adam", "adamw"])
        if self.name == "sgd":
            momentum, nesterov = rng.choice([0.0, 0.9]), rng.randint(0, 1)
            dampening = 0.0 if nesterov else rng.choice([0.0, 0.25])
            self.options = [momentum, dampening, rng.choice([0.0, 0.5]), int(nesterov and momentum > 0)]
        else:
            self.options = [rng.choice([0.9, 0.5]), rng.choice([0.999, 0.9]), rng.choice([1e-8, 1e-3])]
            self.options += [rng.choice([0.0, 0.01, 0.3]), rng.randint(0, 1)]
        self.steps = rng.randint(2, 9)
        self.schedule = rng.choice(["constant", "step", "cosine", "warm_up"])
        self.rate, self.last = rng.choice([0.1, 0.01]), rng.choice([0.0, 0.001])
        self.period, self.warm = rng.randint(1, 4), rng.randint(2, 5)
        self.w = draw_elements(rng, self.shape)
        self.gradients = [draw_elements(rng, self.shape) for _ in range(self.steps)]

    def by_pytorch(self, element):
        """The parameter after each step."""
        w = self.w.clone().to(element).requires_grad_()
        if self.name == "sgd":
            momentum, dampening, decay, nesterov = self.options
            optimiser = SGD([w], lr=self.rate, momentum=momentum, dampening=dampening, weight_decay=decay,
                            nesterov=bool(nesterov))
        else:
            beta1, beta2, epsilon, decay, amsgrad = self.options
            optimiser = (AdamW if self.name == "adamw" else Adam)(
                [w], lr=self.rate, betas=(beta1, beta2), eps=epsilon, weight_decay=decay, amsgrad=bool(amsgrad))
        schedule = None
        if self.schedule == "step":
            schedule = StepLR(optimiser, self.period, self.last + 0.1)
        elif self.schedule == "cosine":
            schedule = CosineAnnealingLR(optimiser, self.steps, self.last)
        elif self.schedule == "warm_up":
            # 1 / n of the rate at first, then that of the cosine from its beginning
            rises = LinearLR(optimiser, 1 / self.warm, 1, self.warm - 1)
            then = CosineAnnealingLR(optimiser, self.steps, self.last)
            schedule = SequentialLR(optimiser, [rises, then], [self.warm])
        results = []
        for gradient in self.gradients:
            w.grad = gradient.to(element)
            optimiser.step()
            if schedule:
                schedule.step()
            results.append(w.detach().to(torch.float64).clone())
        return results

    def written(self, number, mesh, rng):
        def several(all):
            return " ".join([str(len(all))] + [str(one) for one in all])

        rank = len(self.shape)
        layout = [rng.choice([*range(rank), -1, -3]) for _ in mesh]
        layouts = [layout] + [[rng.choice([*range(rank), -1, -2]) for _ in mesh] for _ in self.gradients]
        further = [a for a, code in enumerate(layout) if code < 0][:rng.randint(0, 1)]
        lines = [f"{number} {self.element} {several(mesh)}", str(1 + self.steps)]
        for x, codes in zip([self.w] + self.gradients, layouts):
            lines.append(f"{several(self.shape)} {several(codes)} {several(x.flatten().tolist())}")
        numbers = [self.rate, self.last + 0.1 if self.schedule == "step" else self.last]
        integers = [self.period] if self.schedule == "step" else [self.steps, self.warm]
        lines += ["2", f"{self.schedule} 0 {several(integers)} {several(numbers)}",
                  f"{self.name} 0 {several(further)} {several(self.options)}"]
        return "\n".join(lines) + "\n"

    def difference(self, got):
        """What differs from PyTorch, or None; the tolerance is that of random_programs.py."""
        if got is None:
            return "no result: the job ended or hung"
        if "error" in got:
            return got["error"]
        unit = 2.0 ** (-24 if self.element == "float" else -53)
        for k, (y, y32) in enumerate(zip(self.by_pytorch(torch.float64), self.by_pytorch(torch.float32))):
            if k >= len(got["tensors"]):
                return f"only {k} of {self.steps} steps"
            z = torch.tensor(got["tensors"][k][1], dtype=torch.float64).reshape(self.shape)
            tolerance = 64 * unit * (1 + float(y.abs().max())) + 32 * float((y - y32).abs().max()) * unit * 2 ** 24
            if not float((y - z).abs().max()) <= tolerance:
                return (f"after step {k + 1} the parameter is {z.tolist()}, PyTorch's {y.tolist()} (tolerance "
                        f"{tolerance:.1e})")
        return None

    def __str__(self):
        return (f"{self.element} {self.name} {self.options}, {self.schedule} of rate {self.rate}, last {self.last}, "
                f"period {self.period}, warm-up {self.warm}\n  w {self.w.tolist()}\n  gradients "
                f"{[g.tolist() for g in self.gradients]}")


def main():
    given = sys.argv[1:]
    if len(given) < 2:
        sys.exit(__doc__)
    count, seed = int(given[2]) if len(given) > 2 else 50, int(given[3]) if len(given) > 3 else 1
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of SequentialLR, about a call that it makes itself
    runner, failed = Runner(given[0].split(), given[1]), set()
    all = [Training(random.Random(f"{seed} {k}")) for k in range(count)]
    for workers in [int(n) for n in given[4].split(",")] if len(given) > 4 else [1, 2, 3, 4]:
        texts = []
        for k, one in enumerate(all):
            rng = random.Random(f"{seed} {k} {workers}")
            texts.append((k, one.written(k, draw_mesh(rng, workers), rng)))
        got = runner.run(workers, texts)
        for k, one in enumerate(all):
            problem = one.difference(got.get(k))
            if problem is not None:
                failed.add(k)
                print(f"optimiser {k} of seed {seed} on {workers} workers: {one}\n  {problem}")
    print(f"{count - len(failed)} passed, {len(failed)} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
