// PRK's transpose, B += A^T and A += 1, of a square matrix that is distributed by rows: compares the loop of the
// Parallel Research Kernels (MPI1/Transpose/transpose.c, tiles of 32) with the natural code, `b += turn(a)`, and with
// `into`.
#include <partita/kernel/repartition.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "machine.hpp"

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

/// The loop of the Parallel Research Kernels. A grows by 1 in each iteration, so the final B is known and is checked.
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

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const int iterations = line.rounds();
  bool right = true;
  for (const std::size_t wanted : line.counts("orders")) {
    const std::size_t rows = std::max<std::size_t>(1, wanted / everyone.size()), order = rows * everyone.size();
    const auto p = everyone.partition(extents<dynamic, 1>(everyone.size()));
    const repartition turn(p, p, permute<1, 0>);
    prk theirs(order);
    // PRK stores a matrix by columns, so a column of PRK is a row of this program
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
    const double prk_median = bench::median(loop);
    out.add("order " + std::to_string(order),
            {{"seconds_prk", prk_median},
             {"seconds_natural", bench::median(natural)},
             {"seconds_into", bench::median(into)},
             {"prk_to_natural", prk_median / bench::median(natural)},
             {"prk_to_into", prk_median / bench::median(into)}},
            loop.size());
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line("transpose", "PRK's transpose against the natural code, b += turn(a)", {1},
                                 {{"rounds", bench::argument::count, "samples of each", "30", "3"},
                                  {"orders", bench::argument::list, "rows of the matrices", "1024,2048,4096", "48"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
