// PETSc as a peer of index exchange and of sparse matrices: a VecScatter that fills ghosts, and a MatMult.
#pragma once

#include <petscmat.h>
#include <algorithm>
#include <cstddef>
#include <partita/kernel/csr_matrix.hpp>
#include <vector>
#include "start_petsc.hpp"

namespace bench {

/// Copies rows of all workers' blocks, by their global numbers, into this worker's ghosts.
class by_vec_scatter {
 public:
  by_vec_scatter(std::size_t owned, const std::vector<std::size_t>& ghosts, std::size_t columns, double* own,
                 double* to) {
    start_petsc();
    const auto width = static_cast<PetscInt>(columns);
    const std::vector<PetscInt> rows(ghosts.begin(), ghosts.end());
    VecCreateMPIWithArray(PETSC_COMM_WORLD, width, static_cast<PetscInt>(owned * columns), PETSC_DETERMINE, own,
                          &from_);
    VecCreateSeqWithArray(PETSC_COMM_SELF, width, static_cast<PetscInt>(rows.size()) * width, to, &to_);
    IS wanted = nullptr;
    ISCreateBlock(PETSC_COMM_SELF, width, static_cast<PetscInt>(rows.size()), rows.data(), PETSC_COPY_VALUES, &wanted);
    VecScatterCreate(from_, wanted, to_, nullptr, &scatter_);
    ISDestroy(&wanted);
  }
  by_vec_scatter(const by_vec_scatter&) = delete;
  by_vec_scatter& operator=(const by_vec_scatter&) = delete;
  ~by_vec_scatter() {
    VecScatterDestroy(&scatter_);
    VecDestroy(&to_);
    VecDestroy(&from_);
  }
  void refresh() {
    VecScatterBegin(scatter_, from_, to_, INSERT_VALUES, SCATTER_FORWARD);
    VecScatterEnd(scatter_, from_, to_, INSERT_VALUES, SCATTER_FORWARD);
  }

 private:
  Vec from_ = nullptr, to_ = nullptr;
  VecScatter scatter_ = nullptr;
};

/// Computes y = A x for a square matrix whose rows and columns are distributed like x. `entries` are the entries of the
/// rows of this worker, which begin at row `first`.
class by_mat_mult {
 public:
  by_mat_mult(std::size_t first, std::size_t owned, const std::vector<partita::triplet<double>>& entries) {
    start_petsc();
    const auto n = static_cast<PetscInt>(owned);
    MatCreate(PETSC_COMM_WORLD, &matrix_);
    MatSetSizes(matrix_, n, n, PETSC_DETERMINE, PETSC_DETERMINE);
    MatSetType(matrix_, MATAIJ);
    std::vector<PetscInt> of_row(owned, 0);
    for (const auto& entry : entries) ++of_row[entry.row - first];
    const PetscInt most = of_row.empty() ? 0 : *std::max_element(of_row.begin(), of_row.end());
    MatSeqAIJSetPreallocation(matrix_, most, nullptr);
    MatMPIAIJSetPreallocation(matrix_, most, nullptr, most, nullptr);
    for (const auto& entry : entries)
      MatSetValue(matrix_, static_cast<PetscInt>(entry.row), static_cast<PetscInt>(entry.column), entry.value,
                  ADD_VALUES);
    MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY);
    MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY);
    VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, n, PETSC_DETERMINE, nullptr, &x_);
    VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, n, PETSC_DETERMINE, nullptr, &y_);
  }
  by_mat_mult(const by_mat_mult&) = delete;
  by_mat_mult& operator=(const by_mat_mult&) = delete;
  ~by_mat_mult() {
    VecDestroy(&y_);
    VecDestroy(&x_);
    MatDestroy(&matrix_);
  }
  void multiply(const double* x, double* y) {
    VecPlaceArray(x_, x);
    VecPlaceArray(y_, y);
    MatMult(matrix_, x_, y_);
    VecResetArray(y_);
    VecResetArray(x_);
  }

 private:
  Mat matrix_ = nullptr;
  Vec x_ = nullptr, y_ = nullptr;
};

}  // namespace bench
