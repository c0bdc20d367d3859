// PETSc as a peer of repartition: a VecScatter between the numberings of two arrangements of blocks.
#pragma once

#include <petscvec.h>
#include <memory>
#include "peers.hpp"
#include "start_petsc.hpp"

namespace bench {

/// Whether PETSc supports the problem. The scalars of PETSc are doubles: each double carries two neighbouring floats,
/// so that PETSc moves the same bytes as the other peers.
inline bool petsc_supports(const problem& p) {
  const std::size_t last = p.extents.size() - 1;
  for (const shape& grid : {p.from, p.to})
    if (p.extents[last] % (2 * grid[last]) != 0) return false;
  return !p.transposed;
}

/// Sets up a VecScatter between two arrays. For each local pair of floats of y it lists the position of the pair in x.
inline call petsc(const problem& p, float* x, float* y, int me, int n) {
  start_petsc();
  problem pairs = p;
  pairs.extents.back() /= 2;
  std::vector<span> given;
  std::vector<PetscInt> first;
  PetscInt total = 0;
  for (int k = 0; k < n; ++k) {
    given.push_back(block_of(pairs.extents, pairs.from, static_cast<std::size_t>(k)));
    first.push_back(total);
    total += static_cast<PetscInt>(volume(given.back().size()));
  }
  const span taken = block_of(pairs.extents, pairs.to, static_cast<std::size_t>(me));
  const std::size_t rank = p.extents.size(), size = volume(taken.size());
  std::vector<PetscInt> places;
  places.reserve(size);
  shape at = taken.start;
  for (std::size_t k = 0; k < size; ++k) {
    for (std::size_t w = 0; w < given.size(); ++w) {
      bool inside = volume(given[w].size()) != 0;
      std::size_t place = 0;
      for (std::size_t d = 0; inside && d < rank; ++d) {
        inside = given[w].start[d] <= at[d] && at[d] < given[w].stop[d];
        place = place * (given[w].stop[d] - given[w].start[d]) + (at[d] - given[w].start[d]);
      }
      if (!inside) continue;
      places.push_back(first[w] + static_cast<PetscInt>(place));
      break;
    }
    for (std::size_t d = rank; d-- > 0;) {
      if (++at[d] < taken.stop[d]) break;
      at[d] = taken.start[d];
    }
  }
  const auto vector_on = [&](float* block, std::size_t floats) {
    Vec v = nullptr;
    VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, static_cast<PetscInt>(floats / 2), PETSC_DETERMINE,
                          reinterpret_cast<const PetscScalar*>(block), &v);
    return v;
  };
  const Vec from = vector_on(x, 2 * volume(given[static_cast<std::size_t>(me)].size())), to = vector_on(y, 2 * size);
  PetscInt begin = 0;
  VecGetOwnershipRange(to, &begin, nullptr);
  IS here = nullptr, there = nullptr;
  ISCreateGeneral(PETSC_COMM_WORLD, static_cast<PetscInt>(size), places.data(), PETSC_USE_POINTER, &here);
  ISCreateStride(PETSC_COMM_WORLD, static_cast<PetscInt>(size), begin, 1, &there);
  VecScatter scatter = nullptr;
  VecScatterCreate(from, here, to, there, &scatter);
  ISDestroy(&here);
  ISDestroy(&there);
  const std::shared_ptr<void> petsc_objects(nullptr, [from, to, scatter](void*) {
    Vec a = from, b = to;
    VecScatter s = scatter;
    VecScatterDestroy(&s);
    VecDestroy(&a);
    VecDestroy(&b);
  });
  return [from, to, scatter, petsc_objects](const float*, float*) {
    VecScatterBegin(scatter, from, to, INSERT_VALUES, SCATTER_FORWARD);
    VecScatterEnd(scatter, from, to, INSERT_VALUES, SCATTER_FORWARD);
  };
}

}  // namespace bench
