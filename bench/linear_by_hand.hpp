// A distributed linear layer written by hand on MPI and CBLAS, as the peer of linear<float>.
#pragma once

#include <mpi.h>
#include <algorithm>
#include <cstddef>
#include <partita/array/gemm.hpp>  // declares cblas_sgemm, in conflict with <cblas.h>
#include <vector>

namespace bench {

/// Computes y = x W^T + b with W partitioned over f_out x f_in workers: x is on the workers of row 0, y on column 0.
/// The numbers of features must be divisible by the extents of the grid.
class linear_by_hand {
 public:
  linear_by_hand(int f_out, int f_in, int batch, int in_features, int out_features, bool bias = false)
      : batch_(batch), in_(in_features / f_in), out_(out_features / f_out) {
    int id = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &id);
    const int i = id / f_in, j = id % f_in;
    MPI_Comm_split(MPI_COMM_WORLD, i, j, &row_);
    MPI_Comm_split(MPI_COMM_WORLD, j, i, &column_);
    first_row_ = i == 0, first_column_ = j == 0;
    const auto volume = [](int m, int n) { return static_cast<std::size_t>(m) * static_cast<std::size_t>(n); };
    x.assign(volume(batch_, in_), 1), w.assign(volume(out_, in_), 1), dw.assign(w.size(), 0), dx.assign(x.size(), 0);
    y.assign(volume(batch_, out_), 0), dy.assign(y.size(), 1);
    if (bias && first_column_) b.assign(static_cast<std::size_t>(out_), 0), db = b;
  }
  linear_by_hand(const linear_by_hand&) = delete;
  linear_by_hand& operator=(const linear_by_hand&) = delete;
  ~linear_by_hand() {
    MPI_Comm_free(&row_);
    MPI_Comm_free(&column_);
  }

  /// The local product alone, by one call of BLAS.
  void product(float onto = 0) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, batch_, out_, in_, 1, x.data(), in_, w.data(), in_, onto,
                y.data(), out_);
  }
  void adjoint_products() {
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, out_, in_, batch_, 1, dy.data(), out_, x.data(), in_, 1,
                dw.data(), in_);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, batch_, in_, out_, 1, dy.data(), out_, w.data(), in_, 0,
                dx.data(), in_);
  }
  /// Computes y on column 0 from x on row 0.
  void forward() {
    MPI_Bcast(x.data(), static_cast<int>(x.size()), MPI_FLOAT, 0, column_);
    if (!b.empty())
      for (float* to = y.data(); to != y.data() + y.size(); to += out_) std::copy_n(b.data(), b.size(), to);
    product(b.empty() ? 0 : 1);
    sum(y, first_column_, row_);
  }
  /// Computes dx on row 0 from dy on column 0.
  void adjoint() {
    MPI_Bcast(dy.data(), static_cast<int>(dy.size()), MPI_FLOAT, 0, row_);
    adjoint_products();
    for (std::size_t k = 0; k < dy.size() && !db.empty(); k += db.size())
      for (std::size_t o = 0; o < db.size(); ++o) db[o] += dy[k + o];
    sum(dx, first_row_, column_);
  }
  bool first_row() const { return first_row_; }
  bool first_column() const { return first_column_; }
  MPI_Comm row() const { return row_; }
  MPI_Comm column() const { return column_; }

  std::vector<float> x, w, b, y, dy, dw, db, dx;

 private:
  static void sum(std::vector<float>& block, bool root, MPI_Comm group) {
    MPI_Reduce(root ? MPI_IN_PLACE : block.data(), block.data(), static_cast<int>(block.size()), MPI_FLOAT, MPI_SUM, 0,
               group);
  }

  int batch_, in_, out_;
  bool first_row_ = false, first_column_ = false;
  MPI_Comm row_ = MPI_COMM_NULL, column_ = MPI_COMM_NULL;
};

}  // namespace bench
