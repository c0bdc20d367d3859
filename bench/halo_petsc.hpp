// PETSc as a peer of halo exchange: a DMDA with the same blocks and ghosts as ours.
#pragma once

#include <petscdmda.h>
#include <array>
#include <cstddef>
#include <vector>
#include "start_petsc.hpp"

namespace bench {

/// A distributed array of doubles with ghosts of one width on all sides and corners, but none outside the domain.
template <std::size_t Rank>
class by_dmda {
 public:
  /// `sizes` has the sizes of the blocks along each dimension. The product of the numbers of blocks is the number of
  /// workers.
  by_dmda(const std::array<std::vector<std::size_t>, Rank>& sizes, std::size_t width) {
    start_petsc();
    std::array<std::vector<PetscInt>, 3> along;  // PETSc's first dimension is the one that is contiguous in memory
    std::array<PetscInt, 3> n{1, 1, 1}, parts{1, 1, 1};
    for (std::size_t d = 0; d < Rank; ++d) {
      for (const std::size_t k : sizes[Rank - 1 - d])
        along[d].push_back(static_cast<PetscInt>(k)), n[d] += along[d].back();
      n[d] -= 1, parts[d] = static_cast<PetscInt>(along[d].size());
    }
    const auto none = DM_BOUNDARY_NONE;
    const auto ghosts = static_cast<PetscInt>(width);
    if constexpr (Rank == 2)
      DMDACreate2d(PETSC_COMM_WORLD, none, none, DMDA_STENCIL_BOX, n[0], n[1], parts[0], parts[1], 1, ghosts,
                   along[0].data(), along[1].data(), &array_);
    else
      DMDACreate3d(PETSC_COMM_WORLD, none, none, none, DMDA_STENCIL_BOX, n[0], n[1], n[2], parts[0], parts[1], parts[2],
                   1, ghosts, along[0].data(), along[1].data(), along[2].data(), &array_);
    DMSetUp(array_);
    DMCreateGlobalVector(array_, &global_);
    DMCreateLocalVector(array_, &local_);
  }
  by_dmda(const by_dmda&) = delete;
  by_dmda& operator=(const by_dmda&) = delete;
  ~by_dmda() {
    VecDestroy(&local_);
    VecDestroy(&global_);
    DMDestroy(&array_);
  }

  /// Copies the vector without ghosts to the block with ghosts and fills the ghosts, as PETSc's programs usually do.
  void global_to_local() {
    DMGlobalToLocalBegin(array_, global_, INSERT_VALUES, local_);
    DMGlobalToLocalEnd(array_, global_, INSERT_VALUES, local_);
  }
  /// Updates the ghosts in a block with ghosts.
  void local_to_local() {
    DMLocalToLocalBegin(array_, local_, INSERT_VALUES, local_);
    DMLocalToLocalEnd(array_, local_, INSERT_VALUES, local_);
  }
  /// Calls f(data) for this worker's block, with or without ghosts.
  template <class F>
  void with_local(F f) {
    with(local_, f);
  }
  template <class F>
  void with_global(F f) {
    with(global_, f);
  }

 private:
  template <class F>
  static void with(Vec v, F f) {
    PetscScalar* data = nullptr;
    VecGetArray(v, &data);
    f(data);
    VecRestoreArray(v, &data);
  }

  DM array_ = nullptr;
  Vec global_ = nullptr, local_ = nullptr;
};

}  // namespace bench
