#!/usr/bin/env python3
"""namesakes.py SOURCE_ROOT: the test of a header is found by its name. Every public header of comm/, plan/, kernel/ and
nn/ has a test of its name in the folder of its room (test/static, reject, unit or mpi/<room>/<header>, or a law), or
stands in the table below beside the test that covers it with others; that test includes it. Every kernel has a file of
calls that the compiler refuses."""
import pathlib
import re
import sys

ROOMS = ("comm", "plan", "kernel", "nn")
SUITES = ("static", "reject", "unit", "mpi")

# test: the headers that it covers, which are tested together or decide too little for a test of their own
TOGETHER = {
    "laws/reductions.cpp": "kernel/sequential_reduce",
    "laws/worker_groups.cpp": "comm/mesh_groups",
    "mpi/sharded/bound_program.cpp": "comm/program_trace",  # and jobs/traced_runs.py
    "mpi/comm/box_exchange.cpp": "comm/mpi",
    "mpi/io/hdf5.cpp": "comm/mpi_info_null",
    "mpi/comm/parts.cpp": "comm/world",
    "mpi/kernel/element_types.cpp": "comm/element comm/element_kind",
    "mpi/kernel/errors_while_learning.cpp": "comm/agreement",
    "mpi/kernel/index_exchange.cpp": "comm/block_writer",
    "mpi/kernel/halo_exchanges.cpp": "comm/side_by_side kernel/window_movement kernel/halo_cells plan/halo_plan",
    "mpi/kernel/halo_rounds.cpp": "plan/halo_rounds",
    "mpi/kernel/linear_operator.cpp": "kernel/kernel_counts",
    "mpi/kernel/partitioned_elementwise.cpp": "kernel/placed_tensor",
    "mpi/kernel/results.cpp": "comm/shared_view",
    "mpi/kernel/shapes_change_under_local_checks.cpp": "comm/checks",
    "mpi/nn/initialise.cpp": "nn/initialise_convolution",
    "mpi/nn/layers.cpp": "kernel/block_layout nn/dropout nn/embedding nn/flatten nn/layer",
    "mpi/nn/linear.cpp": "kernel/kernel_access nn/linear_options plan/linear_plan",
    "mpi/nn/loss.cpp": "nn/cross_entropy",
    "mpi/nn/norms.cpp": "nn/batch_norm nn/group_norm nn/layer_norm",
    "mpi/nn/training.cpp": "nn/softmax_cross_entropy",
    "mpi/nn/windows.cpp": "nn/pooling nn/upsampling",
    "reject/nn/convolution.cpp": "nn/convolution_options",
    "unit/nn/convolution_while_x_arrives.cpp": "nn/local_convolution",
    "unit/nn/optimiser.cpp": "nn/update_rule",
    "unit/nn/random_convolutions.cpp": "nn/convolution_sequentially",
    "unit/plan/complete.cpp": "plan/graph",
    "unit/plan/decomposition.cpp": "kernel/given_cuts",
    "unit/plan/exchange_plan.cpp": "plan/overlap plan/repartition_plan",
    "unit/plan/out_of_range.cpp": "plan/placed_mesh",
    "unit/plan/plan_boxes.cpp": "plan/box_overlaps plan/mesh_boxes",
    "unit/plan/plan_reshard.cpp": "plan/mesh_links plan/reshard_exchange plan/reshard_plan",
    "unit/plan/search.cpp": "plan/search_judge plan/search_space",
    "unit/plan/step_plan.cpp": "plan/step_cost plan/step_estimate plan/step_walk",
}


def included(root, file, known):
    """All files that a file includes, directly or not."""
    for name in re.findall(r'^#include [<"]([^">]+)[">]', file.read_text(), re.M):
        places = [root / "include" / name, file.parent / name, root / "test/support" / name]
        for place in places:
            if place.is_file() and place.resolve() not in known:
                known.add(place.resolve())
                included(root, place, known)
    return known


def problems(root):
    table = {header: test for test, headers in TOGETHER.items() for header in headers.split()}
    seen = {}
    for room in ROOMS:
        for file in sorted((root / "include/partita" / room).glob("*.hpp")):
            header = f"{room}/{file.stem}"
            if file.name == "src.hpp":    # the compiled core, which all programs of the suites link
                continue
            own = [f"test/{suite}/{header}.cpp" for suite in SUITES] + [f"test/laws/{file.stem}.cpp"]
            own = [test for test in own if (root / test).is_file()]
            if own and header in table:
                yield f"{header} has a test of its own, {own[0]}: take it out of the table of {__file__}"
            if not own and header not in table:
                yield f"{header} has no test of its name: write one, or name in {__file__} the test that covers it"
            if "operator()(const X& x) const" in file.read_text() and room == "kernel":
                if not (root / f"test/reject/{header}.cpp").is_file():
                    yield f"{header} is a kernel without test/reject/{header}.cpp"
            test = table.pop(header, None)
            if test is None or own:
                continue
            if not (root / "test" / test).is_file():
                yield f"{header} is said to be covered by {test}, and there is no such test"
                continue
            if test not in seen:
                seen[test] = included(root, root / "test" / test, set())
            if file.resolve() not in seen[test]:
                yield f"{header} is said to be covered by {test}, which does not include it"
    for header in table:
        yield f"{header} stands in the table of {__file__}, and there is no such header"


def main():
    found = list(problems(pathlib.Path(sys.argv[1])))
    print("\n".join(found))
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
