// A network of two layers trained with AdamW, written by hand on MPI and CBLAS, as the peer of sharded tensors.
#pragma once

#include <mpi.h>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <partita/array/gemm.hpp>  // declares cblas_dgemm, in conflict with <cblas.h>
#include <vector>

namespace bench {

struct network_sizes {
  std::size_t data, model, batch, pixels, hidden, classes;
};

/// Images are partitioned over data, hidden features over model. Gradients are reduce-scattered over data, each worker
/// updates its part of the parameters and of AdamW's state, and parameters are gathered. Gradients are clipped by their
/// global norm. Partitioned dimensions must be divisible by the number of workers, or are padded.
class trained_by_hand {
 public:
  template <class Pixel, class First, class Second, class Label>
  trained_by_hand(const network_sizes& n, Pixel pixel, First first, Second second, Label label) : n_(n) {
    int id = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &id);
    const int row = id / static_cast<int>(n.model), column = id % static_cast<int>(n.model);
    MPI_Comm_split(MPI_COMM_WORLD, row, column, &along_model_);
    MPI_Comm_split(MPI_COMM_WORLD, column, row, &along_data_);
    first_column_ = column == 0;
    rows_ = n.batch / n.data, part_ = n.hidden / n.model;
    const std::size_t top = static_cast<std::size_t>(row) * rows_, left = static_cast<std::size_t>(column) * part_;
    x_.resize(rows_ * n.pixels), h_.resize(rows_ * part_), s_.resize(rows_ * n.classes);
    for (std::size_t r = 0; r < rows_; ++r)
      for (std::size_t k = 0; k < n.pixels; ++k) x_[r * n.pixels + k] = pixel(top + r, k);
    for (std::size_t r = 0; r < rows_; ++r) labels_.push_back(static_cast<std::size_t>(label(top + r)));
    const std::size_t sizes[] = {n.pixels * part_, part_, part_ * n.classes, n.classes};
    for (std::size_t p = 0; p < 4; ++p) w_[p] = parameter(sizes[p], n.data);
    for (std::size_t i = 0; i < n.pixels; ++i)
      for (std::size_t j = 0; j < part_; ++j) w_[0].w[i * part_ + j] = first(i, left + j);
    for (std::size_t i = 0; i < part_; ++i)
      for (std::size_t j = 0; j < n.classes; ++j) w_[2].w[i * n.classes + j] = second(left + i, j);
  }
  trained_by_hand(const trained_by_hand&) = delete;
  trained_by_hand& operator=(const trained_by_hand&) = delete;
  ~trained_by_hand() {
    MPI_Comm_free(&along_model_);
    MPI_Comm_free(&along_data_);
  }

  double step() {
    const double loss = gradients();
    double squares = 0;
    for (std::size_t p = 0; p < 4; ++p) {
      MPI_Reduce_scatter_block(w_[p].dw.data(), w_[p].part.data(), static_cast<int>(w_[p].part.size()), MPI_DOUBLE,
                               MPI_SUM, along_data_);
      if (p < 3 || first_column_)  // all columns have the same last parameter, so it counts once
        for (const double g : w_[p].part) squares += g * g;
    }
    MPI_Allreduce(MPI_IN_PLACE, &squares, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    const double norm = std::sqrt(squares), factor = norm > 5 ? 5 / norm : 1;
    ++steps_;
    const double rate = 0.001, decay = 1 - rate * 0.01, epsilon = 1e-8;
    const double c1 = 1 / (1 - std::pow(0.9, steps_)), c2 = 1 / (1 - std::pow(0.999, steps_));
    int place = 0;
    MPI_Comm_rank(along_data_, &place);
    for (parameter& p : w_) {
      const std::size_t n = p.part.size();
      double* const w = p.w.data() + static_cast<std::size_t>(place) * n;
      for (std::size_t k = 0; k < n; ++k) {
        const double g = p.part[k] * factor;
        p.m[k] = 0.9 * p.m[k] + 0.1 * g;
        p.v[k] = 0.999 * p.v[k] + 0.001 * g * g;
        w[k] = w[k] * decay - rate * p.m[k] * c1 / (std::sqrt(p.v[k] * c2) + epsilon);
      }
      MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, p.w.data(), static_cast<int>(n), MPI_DOUBLE, along_data_);
    }
    return loss;
  }

 private:
  /// A parameter and its state, padded to a multiple of the size of data.
  struct parameter {
    std::vector<double> w, dw, part, m, v;
    parameter() = default;
    parameter(std::size_t n, std::size_t data)
        : w((n + data - 1) / data * data), dw(w.size()), part(w.size() / data), m(part.size()), v(part.size()) {}
  };

  static void multiply(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, std::size_t rows, std::size_t columns,
                       std::size_t summed, const double* a, const double* b, double* c) {
    const auto number = [](std::size_t k) { return static_cast<int>(k); };
    cblas_dgemm(CblasRowMajor, ta, tb, number(rows), number(columns), number(summed), 1, a,
                number(ta == CblasTrans ? rows : summed), b, number(tb == CblasTrans ? summed : columns), 0, c,
                number(columns));
  }
  /// Returns the loss, and leaves this worker's gradients in dw.
  double gradients() {
    const std::size_t classes = n_.classes;
    multiply(CblasNoTrans, CblasNoTrans, rows_, part_, n_.pixels, x_.data(), w_[0].w.data(), h_.data());
    for (std::size_t r = 0; r < rows_; ++r)
      for (std::size_t j = 0; j < part_; ++j) h_[r * part_ + j] = std::max(0.0, h_[r * part_ + j] + w_[1].w[j]);
    multiply(CblasNoTrans, CblasNoTrans, rows_, classes, part_, h_.data(), w_[2].w.data(), s_.data());
    MPI_Allreduce(MPI_IN_PLACE, s_.data(), static_cast<int>(s_.size()), MPI_DOUBLE, MPI_SUM, along_model_);
    double loss = 0;
    std::fill(w_[3].dw.begin(), w_[3].dw.end(), 0.0);
    for (std::size_t r = 0; r < rows_; ++r) {
      double* const s = s_.data() + r * classes;
      for (std::size_t c = 0; c < classes; ++c) s[c] += w_[3].w[c];
      const double most = *std::max_element(s, s + classes), wanted = s[labels_[r]];
      double sum = 0;
      for (std::size_t c = 0; c < classes; ++c) sum += s[c] = std::exp(s[c] - most);
      loss += std::log(sum) - (wanted - most);
      for (std::size_t c = 0; c < classes; ++c) {
        s[c] = (s[c] / sum - (c == labels_[r] ? 1 : 0)) / static_cast<double>(n_.batch);
        w_[3].dw[c] += s[c];
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, &loss, 1, MPI_DOUBLE, MPI_SUM, along_data_);
    multiply(CblasTrans, CblasNoTrans, part_, classes, rows_, h_.data(), s_.data(), w_[2].dw.data());
    dh_.resize(h_.size());
    multiply(CblasNoTrans, CblasTrans, rows_, part_, classes, s_.data(), w_[2].w.data(), dh_.data());
    std::fill(w_[1].dw.begin(), w_[1].dw.end(), 0.0);
    for (std::size_t r = 0; r < rows_; ++r)
      for (std::size_t j = 0; j < part_; ++j)
        w_[1].dw[j] += dh_[r * part_ + j] = h_[r * part_ + j] > 0 ? dh_[r * part_ + j] : 0;
    multiply(CblasTrans, CblasNoTrans, n_.pixels, part_, rows_, x_.data(), dh_.data(), w_[0].dw.data());
    return loss / static_cast<double>(n_.batch);
  }

  network_sizes n_;
  MPI_Comm along_model_ = MPI_COMM_NULL, along_data_ = MPI_COMM_NULL;
  bool first_column_ = false;
  std::size_t rows_ = 0, part_ = 0;
  int steps_ = 0;
  std::vector<double> x_, h_, s_, dh_;
  std::vector<std::size_t> labels_;
  parameter w_[4];
};

}  // namespace bench
