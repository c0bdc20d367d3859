// Compares the in-place exchange of ghost cells with MPI_Neighbor_alltoallw on subarray types, with hand-written
// MPI_Isend and MPI_Irecv with packing, and with PETSc's DMDA: widths 1 and 2, corners included, alternating in one
// run. It also compares a stencil step that overlaps the exchange with the step without any exchange.
#include <partita/kernel/halo_exchange.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "machine.hpp"
#ifdef BENCH_PETSC
#include "halo_petsc.hpp"
#endif

namespace {

using namespace partita;

/// The cells that one neighbour sends or receives, as a box of the block with ghosts.
template <std::size_t Rank>
struct face {
  int worker;
  partita::index<Rank> at;
  std::array<std::size_t, Rank> shape;
};

/// The input of the peers: for each neighbour, the boxes of a block with ghosts that are sent and received.
template <std::size_t Rank>
struct neighbourhood {
  std::array<std::size_t, Rank> shape;
  std::vector<face<Rank>> out, in;

  explicit neighbourhood(const halo_plan<Rank>& plan) : shape(plan.exchange.destination_shape) {
    const auto own = plan.exchange.kept.front().destination_start;
    for (const auto& t : plan.exchange.sends) {
      out.push_back({static_cast<int>(t.worker), t.at, t.where.shape()});
      for (std::size_t d = 0; d < Rank; ++d) out.back().at[d] += own[d];
    }
    for (const auto& t : plan.exchange.receives) in.push_back({static_cast<int>(t.worker), t.at, t.where.shape()});
  }
};

/// Exchanges ghosts by one neighbourhood collective.
template <std::size_t Rank>
class by_alltoallw {
 public:
  explicit by_alltoallw(const neighbourhood<Rank>& n) {
    std::vector<int> from, to;
    const auto type_of = [&](const face<Rank>& f) {
      int sizes[Rank], part[Rank], start[Rank];
      for (std::size_t d = 0; d < Rank; ++d)
        sizes[d] = static_cast<int>(n.shape[d]), part[d] = static_cast<int>(f.shape[d]),
        start[d] = static_cast<int>(f.at[d]);
      MPI_Datatype type;
      MPI_Type_create_subarray(static_cast<int>(Rank), sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
      MPI_Type_commit(&type);
      return type;
    };
    for (const auto& f : n.out) to.push_back(f.worker), types_out_.push_back(type_of(f));
    for (const auto& f : n.in) from.push_back(f.worker), types_in_.push_back(type_of(f));
    ones_.assign(std::max(from.size(), to.size()) + 1, 1), zeros_.assign(ones_.size(), 0);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(from.size()), from.data(), MPI_UNWEIGHTED,
                                   static_cast<int>(to.size()), to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm_);
  }
  by_alltoallw(const by_alltoallw&) = delete;
  by_alltoallw& operator=(const by_alltoallw&) = delete;
  ~by_alltoallw() {
    for (auto* types : {&types_out_, &types_in_})
      for (MPI_Datatype& type : *types) MPI_Type_free(&type);
    MPI_Comm_free(&comm_);
  }
  void operator()(double* u) {
    MPI_Neighbor_alltoallw(u, ones_.data(), zeros_.data(), types_out_.data(), u, ones_.data(), zeros_.data(),
                           types_in_.data(), comm_);
  }

 private:
  std::vector<MPI_Datatype> types_out_, types_in_;
  std::vector<int> ones_;
  std::vector<MPI_Aint> zeros_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// Exchanges ghosts as a careful programmer does: posts receives first, and packs rows by memcpy.
template <std::size_t Rank>
class by_hand {
 public:
  explicit by_hand(const neighbourhood<Rank>& n) : n_(n) {
    for (const auto& f : n_.out) out_.emplace_back(volume_of(f.shape));
    for (const auto& f : n_.in) in_.emplace_back(volume_of(f.shape));
    requests_.resize(n_.out.size() + n_.in.size());
  }
  void operator()(double* u) {
    std::size_t next = 0;
    for (std::size_t k = 0; k < n_.in.size(); ++k)
      MPI_Irecv(in_[k].data(), static_cast<int>(in_[k].size()), MPI_DOUBLE, n_.in[k].worker, 7, MPI_COMM_WORLD,
                &requests_[next++]);
    for (std::size_t k = 0; k < n_.out.size(); ++k) {
      double* packed = out_[k].data();
      rows(n_.out[k], [&](std::size_t at, std::size_t length) {
        std::memcpy(packed, u + at, length * sizeof(double));
        packed += length;
      });
      MPI_Isend(out_[k].data(), static_cast<int>(out_[k].size()), MPI_DOUBLE, n_.out[k].worker, 7, MPI_COMM_WORLD,
                &requests_[next++]);
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    for (std::size_t k = 0; k < n_.in.size(); ++k) {
      const double* packed = in_[k].data();
      rows(n_.in[k], [&](std::size_t at, std::size_t length) {
        std::memcpy(u + at, packed, length * sizeof(double));
        packed += length;
      });
    }
  }

 private:
  template <class F>
  void rows(const face<Rank>& f, F row) const {
    const std::size_t length = f.shape[Rank - 1], count = volume_of(f.shape) / length;
    auto outer = f.shape;
    outer[Rank - 1] = 1;
    for (std::size_t k = 0; k < count; ++k) {
      auto i = index_of(k, outer);
      for (std::size_t d = 0; d < Rank; ++d) i[d] += f.at[d];
      row(flat_index(i, n_.shape), length);
    }
  }

  neighbourhood<Rank> n_;
  std::vector<std::vector<double>> out_, in_;
  std::vector<MPI_Request> requests_;
};

/// The extents of the grid of workers: 2 x 2 for 4 workers in two dimensions.
template <std::size_t Rank>
std::array<std::size_t, Rank> parts_of(std::size_t workers) {
  std::array<std::size_t, Rank> parts{};
  parts.fill(1);
  for (std::size_t d = 0; d < Rank && workers > 1; ++d) {
    parts[d] = d + 1 < Rank && workers % 2 == 0 ? 2 : workers;
    workers /= parts[d];
  }
  return parts;
}

template <std::size_t Rank>
bool measure(const world& everyone, bench::rows& out, std::size_t side, std::size_t width, int iterations) {
  std::array<std::size_t, Rank> extents{};
  extents.fill(side);
  const auto parts = parts_of<Rank>(everyone.size());
  const auto p = everyone.partition(dynamic_extents<Rank>(parts));
  halo_widths<Rank> widths;
  widths.before.fill(width), widths.after.fill(width);
  const auto cuts = decomposition<Rank>::balanced(extents, parts);
  const halo_exchange h(p, widths, boundary::none);
  auto x = uninitialised<double, Rank>(cuts.shape(p.index()));
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<double>((k * 7 + everyone.id()) % 1009);
  auto u = h(x);
  xt::xtensor<double, Rank> v = u, w = u;
  const neighbourhood<Rank> n(plan_halo(p.grid(), cuts, widths, halo_boundaries<Rank>(boundary::none), everyone.id()));
  by_alltoallw<Rank> neighbours(n);
  by_hand<Rank> hand(n);
  std::vector<double> ours, collective, packed, petsc, petsc_in_place;
#ifdef BENCH_PETSC
  std::array<std::vector<std::size_t>, Rank> sizes;
  for (std::size_t d = 0; d < Rank; ++d)
    for (std::size_t k = 0; k < parts[d]; ++k) sizes[d].push_back(balanced_part(side, parts[d], k).size());
  bench::by_dmda<Rank> array(sizes, width);
  array.with_global([&](double* block) { std::copy(x.begin(), x.end(), block); });
  array.global_to_local();
#endif
  for (int k = -3; k < iterations; ++k) {
    const double a = bench::timed([&] { h.refresh(u); });
    const double b = bench::timed([&] { neighbours(v.data()); });
    const double c = bench::timed([&] { hand(w.data()); });
    if (k >= 0) ours.push_back(a), collective.push_back(b), packed.push_back(c);
#ifdef BENCH_PETSC
    const double d = bench::timed([&] { array.local_to_local(); });
    if (k >= 0) petsc_in_place.push_back(d);
#endif
  }
#ifdef BENCH_PETSC
  for (int k = -3; k < std::min(iterations, 30);
       ++k) {  // in rounds of its own: copying the block evicts the caches of the other implementations
    const double d = bench::timed([&] { array.global_to_local(); });
    if (k >= 0) petsc.push_back(d);
  }
#endif
  for (auto* block : {u.data(), v.data(), w.data()})  // changes all cells, so that every ghost has to change
    for (std::size_t k = 0; k < u.size(); ++k) block[k] += 1;
  h.refresh(u), neighbours(v.data()), hand(w.data());
  bool right = u == v && v == w;
#ifdef BENCH_PETSC
  array.with_local([&](double* block) {
    for (std::size_t k = 0; k < u.size(); ++k) right = right && block[k] + 1 == u.data()[k];
  });
#endif
  double best = std::min(bench::median(collective), bench::median(packed));
  for (const auto& other : {petsc, petsc_in_place})
    if (!other.empty()) best = std::min(best, bench::median(other));
  right = bench::right_everywhere(right);
  bench::row fields{{"seconds", bench::median(ours)},
                    {"seconds_neighbor_alltoallw", bench::median(collective)},
                    {"seconds_by_hand", bench::median(packed)}};
  if (!petsc.empty()) fields["seconds_petsc"] = bench::median(petsc);
  if (!petsc_in_place.empty()) fields["seconds_petsc_in_place"] = bench::median(petsc_in_place);
  fields.update({{"best_to_ours", best / bench::median(ours)}, {"right", right}});
  out.add(std::to_string(side) + "^" + std::to_string(Rank) + " width " + std::to_string(width), fields, ours.size());
  return right;
}

/// One step of the heat equation in the cells of a box, as a loop over rows that the compiler vectorises.
void heat(const halo_cells<2>& cells, const box<2>& where, const double* u, double* next, std::size_t row) {
  if (where.empty()) return;
  const auto [i, j] = cells.at(where.start[0], where.start[1]);
  const std::size_t columns = where.stop[1] - where.start[1];
  for (std::size_t k = 0; k < where.stop[0] - where.start[0]; ++k) {
    const double* const from = u + (i + k) * row + j;
    double* const to = next + (i + k) * row + j;
    for (std::size_t c = 0; c < columns; ++c)
      to[c] = from[c] + 0.1 * (from[c - row] + from[c + row] + from[c - 1] + from[c + 1] - 4 * from[c]);
  }
}

/// Times a 5-point step: without an exchange, with an overlapped exchange, and with a blocking exchange before it.
void measure_step(const world& everyone, bench::rows& out, std::size_t side, int iterations) {
  const auto p = everyone.partition(dynamic_extents<2>(parts_of<2>(everyone.size())));
  const halo_exchange h(p, {.before = {1, 1}, .after = {1, 1}}, boundary::zero);
  const auto cuts = decomposition<2>::balanced({side, side}, p.extents().array());
  auto u = h(xt::xtensor<double, 2>(xt::ones<double>(cuts.shape(p.index())))), v = u;
  const auto cells = h.cells();
  const std::size_t row = u.shape()[1];
  std::vector<double> alone, together, after;
  for (int k = -3; k < iterations; ++k) {
    const double a = bench::timed([&] { heat(cells, cells.own, u.data(), v.data(), row); });
    const double b = bench::timed([&] {
      auto later = h.start_refresh(u);
      heat(cells, cells.interior, u.data(), v.data(), row);
      later.finish();
      for_border_boxes(cells, [&](const box<2>& slab) { heat(cells, slab, u.data(), v.data(), row); });
    });
    const double c = bench::timed([&] {
      h.refresh(u);
      heat(cells, cells.own, u.data(), v.data(), row);
    });
    std::swap(u, v);
    if (k >= 0) alone.push_back(a), together.push_back(b), after.push_back(c);
  }
  out.add(std::to_string(side) + "^2",
          {{"bench", "halo step"},
           {"seconds_compute", bench::median(alone)},
           {"seconds_overlapped", bench::median(together)},
           {"seconds_one_after_another", bench::median(after)},
           {"overlapped_to_compute", bench::median(together) / bench::median(alone)}},
          alone.size());
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line("halo", "ghosts of a block in place against MPI and PETSc, and a stencil step", {1},
                                 {{"rounds", bench::argument::count, "samples of each exchange", "200", "3"},
                                  {"side", bench::argument::count, "the most cells along a side", "4096", "32"}});
  return bench::run_on_workers(argc, argv, line, [](const bench::command_line& given, bench::rows& out) {
    const world everyone;
    const int rounds = given.rounds();
    const std::size_t most = given.count("side");
    bool right = true;
    for (const std::size_t width : {std::size_t{1}, std::size_t{2}}) {
      right = measure<2>(everyone, out, std::min<std::size_t>(1024, most), width, rounds) && right;
      if (most > 1024) right = measure<2>(everyone, out, std::min<std::size_t>(4096, most), width, rounds) && right;
      right = measure<3>(everyone, out, std::min<std::size_t>(256, most), width, rounds) && right;
    }
    for (const std::size_t side : {std::size_t{1024}, std::size_t{2048}, std::size_t{4096}})
      if (side <= most || (side == 1024 && most < side))
        measure_step(everyone, out, std::min(side, most), std::min(rounds, 100));
    return right;
  });
}
