// Filling the ghosts of a block in place, against MPI_Neighbor_alltoallw on subarray types and hand-written MPI_Isend
// and MPI_Irecv with packing: widths 1 and 2, corners included, in one alternating run.
#include <partita/kernel/halo_exchange.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "machine.hpp"

namespace {

using namespace partita;

/// One neighbour's box in the block with ghosts.
template <std::size_t Rank>
struct face {
  int worker;
  partita::index<Rank> at;
  std::array<std::size_t, Rank> shape;
};

/// What the peers work from: the boxes that leave a block with ghosts and those that come, one for each neighbour.
template <std::size_t Rank>
struct neighbourhood {
  std::array<std::size_t, Rank> shape;
  std::vector<face<Rank>> out, in;

  explicit neighbourhood(const halo_plan<Rank>& plan) : shape(plan.exchange.destination_shape) {
    const auto own = plan.exchange.kept.front().at_destination;
    for (const auto& t : plan.exchange.sends) {
      out.push_back({static_cast<int>(t.worker), t.at, t.where.shape()});
      for (std::size_t d = 0; d < Rank; ++d) out.back().at[d] += own[d];
    }
    for (const auto& t : plan.exchange.receives) in.push_back({static_cast<int>(t.worker), t.at, t.where.shape()});
  }
};

/// One collective call of neighbours.
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

/// What a careful programmer writes: rows packed by memcpy, receives posted first.
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
      row(number_of(i, n_.shape), length);
    }
  }

  neighbourhood<Rank> n_;
  std::vector<std::vector<double>> out_, in_;
  std::vector<MPI_Request> requests_;
};

double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

template <std::size_t Rank>
bool measure(const world& everyone, std::size_t side, std::size_t width, int iterations) {
  std::array<std::size_t, Rank> extents{}, parts{};
  extents.fill(side), parts.fill(1);
  std::size_t rest = everyone.size();
  for (std::size_t d = 0; d < Rank && rest > 1; ++d) {  // 4 workers are 2 x 2
    parts[d] = d + 1 < Rank && rest % 2 == 0 ? 2 : rest;
    rest /= parts[d];
  }
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
  std::vector<double> ours, collective, packed;
  for (int k = -3; k < iterations; ++k) {
    const double a = bench::timed([&] { h.refresh(u); });
    const double b = bench::timed([&] { neighbours(v.data()); });
    const double c = bench::timed([&] { hand(w.data()); });
    if (k >= 0) ours.push_back(a), collective.push_back(b), packed.push_back(c);
  }
  for (auto* block : {u.data(), v.data(), w.data()})  // every ghost comes from a cell that has changed
    for (std::size_t k = 0; k < u.size(); ++k) block[k] += 1;
  h.refresh(u), neighbours(v.data()), hand(w.data());
  const bool right = u == v && v == w;
  const double best = std::min(median(collective), median(packed));
  if (everyone.id() == 0)
    std::printf(
        "{\"bench\": \"halo\", \"case\": \"%zu^%zu width %zu\", \"workers\": %zu, \"seconds\": %.9f, "
        "\"seconds_neighbor_alltoallw\": %.9f, \"seconds_by_hand\": %.9f, \"best_to_ours\": %.3f, \"right\": %s}\n",
        side, Rank, width, everyone.size(), median(ours), median(collective), median(packed), best / median(ours),
        right ? "true" : "false");
  return right;
}

}  // namespace

/// halo [iterations [most cells along a side]]
int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const int iterations = argc > 1 ? std::atoi(argv[1]) : 200;
  const std::size_t most = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 4096;
  bool right = true;
  for (const std::size_t width : {std::size_t{1}, std::size_t{2}}) {
    for (const std::size_t side : {std::size_t{1024}, std::size_t{4096}})
      right = measure<2>(everyone, std::min(side, most), width, iterations) && right;
    right = measure<3>(everyone, std::min<std::size_t>(256, most), width, iterations) && right;
  }
  return right ? 0 : 1;
}
