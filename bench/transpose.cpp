// PRK's transpose, B += A^T and A += 1, over rows of a square matrix: the loop of the Parallel Research Kernels
// (MPI1/Transpose/transpose.c, tiles of 32) against the natural code, `b += turn(a)`, and against `into`.
#include <partita/kernel/repartition.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "machine.hpp"

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

/// What every iteration does: A loses nothing, so that B can be told at the end.
class prk {
 public:
  explicit prk(std::size_t order)
      : order_(order),
        workers_(static_cast<std::size_t>(bench::workers())),
        own_(static_cast<std::size_t>(bench::worker())),
        block_(order / workers_),
        a_(order * block_),
        b_(order * block_),
        out_(block_ * block_),
        in_(block_ * block_) {
    for (std::size_t j = 0; j < block_; ++j)
      for (std::size_t i = 0; i < order_; ++i)
        a_[i + order_ * j] = static_cast<double>(order_ * (j + own_ * block_) + i);
  }
  void iterate() {
    tiles([&](std::size_t i, std::size_t j) {
      b_[j + own_ * block_ + order_ * i] += a_[i + own_ * block_ + order_ * j];
      a_[i + own_ * block_ + order_ * j] += 1.0;
    });
    for (std::size_t phase = 1; phase < workers_; ++phase) {
      const std::size_t from = (own_ + phase) % workers_, to = (own_ + workers_ - phase) % workers_;
      const auto count = static_cast<int>(block_ * block_);
      MPI_Request requests[2];
      MPI_Irecv(in_.data(), count, MPI_DOUBLE, static_cast<int>(from), static_cast<int>(phase), MPI_COMM_WORLD,
                requests);
      tiles([&](std::size_t i, std::size_t j) {
        out_[j + block_ * i] = a_[i + to * block_ + order_ * j];
        a_[i + to * block_ + order_ * j] += 1.0;
      });
      MPI_Isend(out_.data(), count, MPI_DOUBLE, static_cast<int>(to), static_cast<int>(phase), MPI_COMM_WORLD,
                requests + 1);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
      for (std::size_t j = 0; j < block_; ++j)
        for (std::size_t i = 0; i < block_; ++i) b_[i + from * block_ + order_ * j] += in_[i + block_ * j];
    }
  }
  const std::vector<double>& b() const { return b_; }

 private:
  template <class Body>
  void tiles(Body body) const {
    constexpr std::size_t tile = 32;
    for (std::size_t i = 0; i < block_; i += tile)
      for (std::size_t j = 0; j < block_; j += tile)
        for (std::size_t it = i; it < std::min(block_, i + tile); ++it)
          for (std::size_t jt = j; jt < std::min(block_, j + tile); ++jt) body(it, jt);
  }

  std::size_t order_, workers_, own_, block_;
  std::vector<double> a_, b_, out_, in_;
};

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

}  // namespace

/// transpose [iterations] [order…]
int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const int iterations = argc > 1 ? std::atoi(argv[1]) : 30;
  std::vector<std::size_t> orders;
  for (int k = 2; k < argc; ++k) orders.push_back(std::strtoull(argv[k], nullptr, 10));
  if (orders.empty()) orders = {1024, 2048, 4096};
  bool right = true;
  for (const std::size_t wanted : orders) {
    const std::size_t order = wanted / everyone.size() * everyone.size(), rows = order / everyone.size();
    const auto p = everyone.partition(extents<dynamic, 1>(everyone.size()));
    const repartition turn(p, p, permute<1, 0>);
    prk theirs(order);
    // a column of PRK's, which is stored first, is a row here
    matrix a({rows, order}), b = xt::zeros<double>({rows, order}), a_2, b_2 = b, c = b;
    for (std::size_t j = 0; j < rows; ++j)
      for (std::size_t i = 0; i < order; ++i) a(j, i) = static_cast<double>(order * (j + everyone.id() * rows) + i);
    a_2 = a;
    std::vector<double> loop, natural, into;
    for (int k = -2; k < iterations; ++k) {
      const double prk_seconds = bench::timed([&] { theirs.iterate(); });
      const double natural_seconds = bench::timed([&] {
        b += turn(a);
        a += 1.0;
      });
      const double into_seconds = bench::timed([&] {
        turn.into(a_2, c);
        double* const to = b_2.data();
        double* const from = a_2.data();
        const double* const turned = c.data();
        for (std::size_t i = 0; i < c.size(); ++i) to[i] += turned[i], from[i] += 1.0;
      });
      if (k < 0) continue;
      loop.push_back(prk_seconds), natural.push_back(natural_seconds), into.push_back(into_seconds);
    }
    right = right && b == b_2 && std::equal(theirs.b().begin(), theirs.b().end(), b.data());
    if (everyone.id() == 0)
      std::printf(
          "{\"bench\": \"transpose\", \"case\": \"order %zu\", \"workers\": %zu, \"seconds_prk\": %.9f, "
          "\"seconds_natural\": %.9f, \"seconds_into\": %.9f, \"prk_to_natural\": %.3f, \"prk_to_into\": %.3f}\n",
          order, everyone.size(), median(loop), median(natural), median(into), median(loop) / median(natural),
          median(loop) / median(into));
  }
  if (!right) std::printf("worker %zu: wrong results\n", everyone.id());
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
