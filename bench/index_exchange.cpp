// Compares the refresh of ghosts by an index exchange with packed MPI_Alltoallv with lists that are made once, with
// PETSc's VecScatter, and with a plain gather from shared memory, which no library can beat on one node. It also
// compares products of a sparse matrix with PETSc's MatMult, and times the construction of an exchange.
#include <partita/kernel/csr_matrix.hpp>
#include <partita/kernel/index_exchange.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#ifdef BENCH_PETSC
#include "ghosts_petsc.hpp"
#endif
#include "machine.hpp"

namespace {

using namespace partita;
using matrix = xt::xtensor<double, 2>;

/// Random rows of other workers, in the order of their owners.
std::vector<std::size_t> ghosts_of(std::size_t worker, std::size_t workers, std::size_t owned, std::size_t count) {
  std::mt19937 random(static_cast<std::uint32_t>(worker));
  std::vector<std::size_t> all;
  while (all.size() < count && workers > 1) {
    const std::size_t i = random() % (owned * workers);
    if (i / owned != worker) all.push_back(i);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// The exchange by hand: rows are packed by a list of rows for each worker, and sent by MPI_Alltoallv.
class by_hand {
 public:
  by_hand(std::size_t owned, const std::vector<std::size_t>& ghosts, std::size_t columns)
      : owned_(owned), columns_(columns) {
    const auto workers = static_cast<std::size_t>(bench::workers());
    sends_.resize(workers), send_places_.resize(workers), receives_.resize(workers), receive_places_.resize(workers);
    for (const std::size_t i : ghosts) ++receives_[i / owned];
    MPI_Alltoall(receives_.data(), 1, MPI_INT, sends_.data(), 1, MPI_INT, MPI_COMM_WORLD);
    int sent = 0, received = 0;
    for (std::size_t k = 0; k < workers; ++k) {
      send_places_[k] = sent, receive_places_[k] = received;
      sent += sends_[k], received += receives_[k];
    }
    std::vector<std::uint64_t> wanted(ghosts.begin(), ghosts.end());
    rows_.resize(static_cast<std::size_t>(sent));
    MPI_Alltoallv(wanted.data(), receives_.data(), receive_places_.data(), MPI_UINT64_T, rows_.data(), sends_.data(),
                  send_places_.data(), MPI_UINT64_T, MPI_COMM_WORLD);
    for (std::uint64_t& row : rows_) row -= owned * static_cast<std::size_t>(bench::worker());
    packed_.resize(rows_.size() * columns);
    const auto to_numbers_of_columns = [&](std::vector<int>& numbers) {
      for (int& n : numbers) n *= static_cast<int>(columns);
    };
    to_numbers_of_columns(sends_), to_numbers_of_columns(send_places_), to_numbers_of_columns(receives_),
        to_numbers_of_columns(receive_places_);
  }
  void refresh(double* u) {
    double* to = packed_.data();
    for (const std::uint64_t row : rows_) {
      const double* const from = u + row * columns_;
      for (std::size_t c = 0; c < columns_; ++c) to[c] = from[c];
      to += columns_;
    }
    MPI_Alltoallv(packed_.data(), sends_.data(), send_places_.data(), MPI_DOUBLE, u + owned_ * columns_,
                  receives_.data(), receive_places_.data(), MPI_DOUBLE, MPI_COMM_WORLD);
  }

 private:
  std::size_t owned_, columns_;
  std::vector<int> sends_, send_places_, receives_, receive_places_;
  std::vector<std::uint64_t> rows_;
  std::vector<double> packed_;
};

/// The exchange by shared memory: each worker copies its ghosts from memory of the node, between two barriers.
class shared_gather {
 public:
  shared_gather(std::size_t owned, const std::vector<std::size_t>& ghosts, std::size_t columns)
      : columns_(columns), ghosts_(ghosts), offsets_(ghosts.size()) {
    const auto bytes = static_cast<MPI_Aint>(owned * columns * sizeof(double));
    MPI_Win_allocate_shared(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &own_, &window_);
    for (std::size_t g = 0; g < ghosts.size(); ++g) {
      MPI_Aint size = 0;
      int unit = 0;
      double* base = nullptr;
      MPI_Win_shared_query(window_, static_cast<int>(ghosts[g] / owned), &size, &unit, &base);
      offsets_[g] = base + ghosts[g] % owned * columns - own_;
    }
  }
  shared_gather(const shared_gather&) = delete;
  shared_gather& operator=(const shared_gather&) = delete;
  ~shared_gather() { MPI_Win_free(&window_); }
  double* own() { return own_; }
  void refresh(double* to) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (const std::ptrdiff_t offset : offsets_) {
      for (std::size_t c = 0; c < columns_; ++c) to[c] = own_[offset + static_cast<std::ptrdiff_t>(c)];
      to += columns_;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  std::size_t columns_;
  std::vector<std::size_t> ghosts_;
  std::vector<std::ptrdiff_t> offsets_;
  MPI_Win window_ = MPI_WIN_NULL;
  double* own_ = nullptr;
};

/// Times products of a matrix, which has entries around the diagonal and a few random entries, and a vector.
bool measure_products(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const std::size_t P = everyone.size(), me = everyone.id(), owned = line.count("rows");
  const interval mine{owned * me, owned * (me + 1)};
  std::mt19937 random(static_cast<std::uint32_t>(me));
  std::vector<triplet<double>> entries;
  for (std::size_t row = mine.start; row < mine.stop; ++row) {
    for (std::size_t k = 0; k < 9; ++k) entries.push_back({row, (row + k + owned * P - 4) % (owned * P), 1.0});
    if (row % 4 == 0) entries.push_back({row, random() % (owned * P), 1.0});
  }
  const csr_matrix<double> a(everyone, mine, mine, entries);
  xt::xtensor<double, 1> x(std::array<std::size_t, 1>{owned}), y;
  for (std::size_t i = 0; i < owned; ++i) x(i) = static_cast<double>((mine.start + i) % 7);
  std::vector<double> ours, theirs;
  bool right = true;
#ifdef BENCH_PETSC
  xt::xtensor<double, 1> z = xt::zeros_like(x);
  bench::by_mat_mult petsc(mine.start, owned, entries);
#endif
  const int each = line.rounds("calls");
  for (int k = -1; k < line.rounds(); ++k) {
    const double partita_seconds = bench::timed([&] {
                                     for (int call = 0; call < each; ++call) y = a(x);
                                   }) /
                                   each;
    if (k >= 0) ours.push_back(partita_seconds);
#ifdef BENCH_PETSC
    const double petsc_seconds = bench::timed([&] {
                                   for (int call = 0; call < each; ++call) petsc.multiply(x.data(), z.data());
                                 }) /
                                 each;
    if (k >= 0) theirs.push_back(petsc_seconds);
#endif
  }
#ifdef BENCH_PETSC
  right = y == z;
#endif
  bench::row row{{"entries", entries.size()}, {"seconds_product", bench::median(ours)}};
  if (!theirs.empty()) row["mat_mult_to_product"] = bench::median(theirs) / bench::median(ours);
  out.add("sparse matrix", row, ours.size());
  return right;
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const std::size_t P = everyone.size(), me = everyone.id(), owned = line.count("rows");
  const interval mine{owned * me, owned * (me + 1)};
  bool right = true;
  for (const std::size_t columns : line.counts("columns")) {
    const auto ghosts = ghosts_of(me, P, owned, owned / 20);
    std::vector<double> refreshed, called, by_hand_seconds, gathered, scattered;
    // The pages of a block determine how much of it fits into a cache, so all blocks are allocated several times.
    constexpr int placements = 6;
    for (int placement = 0; placement < placements; ++placement) {
      const index_exchange exchange(everyone, mine, ghosts);
      by_hand hand(owned, ghosts, columns);
      shared_gather gather(owned, ghosts, columns);
      matrix u({owned + ghosts.size(), columns}), v, w, x({owned, columns});
      for (std::size_t e = 0; e < x.size(); ++e) x.data()[e] = static_cast<double>(x.size() * me + e);
      std::copy_n(x.data(), x.size(), u.data());
      std::copy_n(x.data(), x.size(), gather.own());
      v = u, w = u;
#ifdef BENCH_PETSC
      matrix petsc_ghosts({ghosts.size(), columns});
      bench::by_vec_scatter petsc(owned, ghosts, columns, x.data(), petsc_ghosts.data());
#endif
      const int each = line.rounds("calls");
      const auto per_call = [&](auto call) {
        return bench::timed([&] {
                 for (int k = 0; k < each; ++k) call();
               }) /
               each;
      };
      for (int k = -3; k < std::max(1, line.rounds() / placements); ++k) {
        const double refresh_seconds = per_call([&] { exchange.refresh(u); });
        const double hand_seconds = per_call([&] { hand.refresh(v.data()); });
        const double call_seconds = per_call([&] { exchange(x); });
        const double gather_seconds = per_call([&] { gather.refresh(w.data() + owned * columns); });
#ifdef BENCH_PETSC
        const double petsc_seconds = per_call([&] { petsc.refresh(); });
        if (k >= 0) scattered.push_back(petsc_seconds);
#endif
        if (k < 0) continue;
        refreshed.push_back(refresh_seconds), called.push_back(call_seconds);
        by_hand_seconds.push_back(hand_seconds), gathered.push_back(gather_seconds);
      }
      right = right && u == v && u == w && exchange(x) == matrix(xt::view(u, xt::range(owned, u.shape(0))));
#ifdef BENCH_PETSC
      right = right && petsc_ghosts == matrix(xt::view(u, xt::range(owned, u.shape(0))));
#endif
    }
    const double ours = bench::median(called), by_hand = bench::median(by_hand_seconds);
    bench::row row{{"ghosts", ghosts.size()},
                   {"seconds_call", ours},
                   {"seconds_refresh", bench::median(refreshed)},
                   {"seconds_alltoallv", by_hand},
                   {"seconds_shared_gather", bench::median(gathered)},
                   {"alltoallv_to_call", by_hand / ours},
                   {"shared_gather_to_call", bench::median(gathered) / ours}};
    if (!scattered.empty()) {
      row["seconds_vec_scatter"] = bench::median(scattered);
      row["vec_scatter_to_call"] = bench::median(scattered) / ours;
    }
    out.add(std::to_string(columns) + " doubles", row, refreshed.size());
  }
  right = measure_products(line, out) && right;
  // construction: each worker owns and wants a random share of the indices
  const std::size_t all = line.count("indices"), share = all / P;
  std::mt19937 random(static_cast<std::uint32_t>(me));
  std::vector<std::size_t> wanted(share);
  for (std::size_t& i : wanted) i = random() % (share * P);
  std::vector<double> made;
  for (int k = -1; k < std::max(3, line.rounds() / 5); ++k) {
    const double seconds = bench::timed([&] {
      index_exchange(everyone, interval{share * me, share * (me + 1)}, wanted);
    });
    if (k >= 0) made.push_back(seconds);
  }
  out.add("set-up", {{"indices", all}, {"seconds", bench::median(made)}}, made.size());
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line("index_exchange", "ghosts by index against MPI_Alltoallv by hand", {1},
                                 {{"rounds", bench::argument::count, "samples of each", "30", "3"},
                                  {"calls", bench::argument::count, "calls in a sample", "20", "2"},
                                  {"rows", bench::argument::count, "owned rows of a worker", "100000", "1000"},
                                  {"columns", bench::argument::list, "doubles in a row", "1,4,16,64", "1,3"},
                                  {"indices", bench::argument::count, "indices of the set-up", "1000000", "1000"}});
  return bench::run_on_workers(argc, argv, line, measure);
}
