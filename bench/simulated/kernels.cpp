// How long kernels take on a cluster that SMPI simulates, beside MPI's own call for the same, and whether both give
// what they should: a line of JSON for each. Started by bench/simulated/run, not by mpirun: `kernels LINK CASE...`.
#include "one_process.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <partita/kernel/all_gather.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/repartition.hpp>
#include <string_view>
#include "../cluster_model.hpp"

// The few members of Boost.MPI's library that are needed: Debian's is compiled for another MPI.
namespace boost::mpi {
communicator::communicator() : comm_ptr(new MPI_Comm(MPI_COMM_WORLD)) {}
communicator::communicator(const MPI_Comm& c, comm_create_kind) : comm_ptr(new MPI_Comm(c)) {}
communicator::operator MPI_Comm() const { return *comm_ptr; }
int communicator::size() const {
  int n = 0;
  return MPI_Comm_size(*comm_ptr, &n), n;
}
int communicator::rank() const {
  int n = 0;
  return MPI_Comm_rank(*comm_ptr, &n), n;
}
}  // namespace boost::mpi

namespace {

using namespace partita;

std::array<std::size_t, 1> shape_of(std::size_t n) { return {n}; }

double number_of_environment(const char* name, double otherwise) {
  const char* const said = std::getenv(name);
  return said == nullptr ? otherwise : std::strtod(said, nullptr);
}

/// All workers read one clock: a call begins everywhere at the same time, and takes until the last has its result.
template <class F>
double seconds(F f) {
  double now = MPI_Wtime() + 1e-3, start = 0;
  MPI_Allreduce(&now, &start, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  start += 1e-2;
  simulated::unspent = 0;
  simulated::pass(start - MPI_Wtime());
  f();
  simulated::pass(simulated::unspent);
  simulated::unspent = 0;
  const double own = MPI_Wtime() - start;
  double all = 0;
  MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return all;
}

/// What the element of a tensor is: told by where it stands.
template <std::size_t Rank>
double element(const std::array<std::size_t, Rank>& extents, const partita::index<Rank>& i) {
  std::size_t place = 0;
  for (std::size_t d = 0; d < Rank; ++d) place = place * extents[d] + i[d];
  return static_cast<double>(place);
}

/// Calls f(index in the tensor, index in the block) for each element of a box that starts at `at` in a block.
template <std::size_t Rank, class F>
void for_each(const box<Rank>& where, const partita::index<Rank>& at, F f) {
  if (where.empty()) return;
  partita::index<Rank> i = where.start, k = at;
  for (;;) {
    f(i, k);
    std::size_t d = Rank;
    while (d > 0) {
      --d;
      if (++i[d], ++k[d]; i[d] < where.stop[d]) break;
      if (d == 0) return;
      i[d] = where.start[d], k[d] = at[d];
    }
  }
}

template <std::size_t Rank>
std::size_t place_in(const std::array<std::size_t, Rank>& shape, const partita::index<Rank>& at) {
  std::size_t place = 0;
  for (std::size_t d = 0; d < Rank; ++d) place = place * shape[d] + at[d];
  return place;
}

/// An exchange plan by MPI alone, with a type for each box: by MPI_Alltoallw, or by a message for each pair that has a
/// box, every worker beginning with the next one.
template <std::size_t Rank>
class by_mpi {
 public:
  by_mpi(const exchange_plan<Rank>& plan, std::size_t workers) : out_(workers), in_(workers) {
    for (const auto& t : plan.sends) out_.set(t.worker, plan.source_shape, t.at, t.where.shape());
    for (const auto& t : plan.receives) in_.set(t.worker, plan.destination_shape, t.at, t.where.shape());
    for (const auto& k : plan.kept) {
      out_.set(plan.worker, plan.source_shape, k.source_start, k.where.shape());
      in_.set(plan.worker, plan.destination_shape, k.destination_start, k.where.shape());
    }
  }
  void all_to_all(const double* x, double* y) {
    MPI_Alltoallw(x, out_.counts.data(), out_.at.data(), out_.types.data(), y, in_.counts.data(), in_.at.data(),
                  in_.types.data(), MPI_COMM_WORLD);
  }
  /// At most so many at once, because of what many cost the simulator; to be no fewer than a link holds.
  void messages(const double* x, double* y, std::size_t under_way) {
    const std::size_t P = out_.counts.size(), own = own_id();
    requests_.clear();
    std::size_t ended = 0;
    for (std::size_t k = 0; k < P; ++k) {
      const std::size_t from = (own + P - k) % P, to = (own + k) % P;
      if (in_.counts[from] != 0)
        MPI_Irecv(y, 1, in_.types[from], static_cast<int>(from), 1, MPI_COMM_WORLD, &requests_.emplace_back());
      if (out_.counts[to] != 0)
        MPI_Isend(x, 1, out_.types[to], static_cast<int>(to), 1, MPI_COMM_WORLD, &requests_.emplace_back());
      while (requests_.size() - ended > under_way) MPI_Wait(&requests_[ended++], MPI_STATUS_IGNORE);
    }
    while (ended < requests_.size()) MPI_Wait(&requests_[ended++], MPI_STATUS_IGNORE);
  }

 private:
  static std::size_t own_id() {
    int id = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &id);
    return static_cast<std::size_t>(id);
  }
  struct side {
    explicit side(std::size_t workers) : counts(workers, 0), at(workers, 0), types(workers, MPI_DOUBLE) {}
    ~side() {
      for (std::size_t k = 0; k < types.size(); ++k)
        if (counts[k] != 0) MPI_Type_free(&types[k]);
    }
    void set(std::size_t worker, const std::array<std::size_t, Rank>& shape, const partita::index<Rank>& first,
             const std::array<std::size_t, Rank>& box) {
      std::array<int, Rank> whole{}, part{}, start{};
      for (std::size_t d = 0; d < Rank; ++d) {
        whole[d] = static_cast<int>(shape[d]);
        part[d] = static_cast<int>(box[d]);
        start[d] = static_cast<int>(first[d]);
      }
      counts[worker] = 1;
      MPI_Type_create_subarray(static_cast<int>(Rank), whole.data(), part.data(), start.data(), MPI_ORDER_C, MPI_DOUBLE,
                               &types[worker]);
      MPI_Type_commit(&types[worker]);
    }
    std::vector<int> counts, at;
    std::vector<MPI_Datatype> types;
  };

  side out_, in_;
  std::vector<MPI_Request> requests_;
};

class table {
 public:
  table(const world& everyone, const char* link) : everyone_(everyone), link_(link) {
    MPI_Comm node = MPI_COMM_NULL;
    int on_node = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &on_node);
    MPI_Comm_free(&node);
    facts_.workers_on_node = static_cast<std::size_t>(on_node);
    facts_.message = number_of_environment("SIMULATED_MESSAGE", 0.8e-6);
    facts_.copied_byte = simulated::copied_byte;
    facts_.latency = number_of_environment("SIMULATED_LATENCY", 10e-6);
    facts_.nic_byte = number_of_environment("SIMULATED_BYTE", 8e-11);
    facts_.nic_message = 0;
  }
  bool right() const { return right_; }

  /// `bytes` is what each worker holds, about.
  void run(std::string_view name, std::size_t bytes) {
    const std::size_t P = everyone_.size(), n = bytes / sizeof(double);
    const auto [a, b] = two_factors(P);
    if (name == "rows-to-columns") {
      const auto [u, v] = two_factors(n / P == 0 ? 1 : n / P);
      repartitioned<2>(name, {P, 1}, {1, P}, {P * u, P * v}, 0);
    } else if (name == "slabs-to-pencils") {
      const auto [u, v] = two_factors(n);
      repartitioned<3>(name, {P, 1, 1}, {a, b, 1}, {P, v, u}, 0);
    } else if (name == "random-uneven") {
      const auto [u, v] = two_factors(n);
      repartitioned<2>(name, {P, 1}, {b, a}, {P * u, v}, 1);
    } else if (name == "all_gather") {
      gathered(n);
    } else if (name == "all_sum_reduce") {
      summed(n);
    } else if (name == "agreement") {
      agreed();
    } else {
      std::fprintf(stderr, "there is no case %.*s\n", static_cast<int>(name.size()), name.data());
      right_ = false;
    }
  }

 private:
  using pair = std::array<std::size_t, 2>;
  static pair two_factors(std::size_t n) {
    std::size_t small = 1;
    for (std::size_t k = 1; k * k <= n; ++k)
      if (n % k == 0) small = k;
    return {n / small, small};
  }

  template <std::size_t Rank>
  void repartitioned(std::string_view name, const std::array<std::size_t, Rank>& from,
                     const std::array<std::size_t, Rank>& to, const std::array<std::size_t, Rank>& tensor,
                     unsigned seed) {
    const grid<extents_of<Rank>> source(dynamic_extents(from)), result(dynamic_extents(to));
    auto there = decomposition<Rank>::balanced(tensor, from);
    const auto then = decomposition<Rank>::balanced(tensor, to);
    if (seed != 0) there.cuts[0] = uneven(tensor[0], from[0], seed);
    const auto plan_of = [&](std::size_t worker) { return plan_repartition(source, there, result, then, worker); };
    const auto plan = plan_of(everyone_.id());
    using tensor_of = xt::xtensor<double, Rank>;
    tensor_of x(plan.source_shape), expected(plan.destination_shape), theirs(plan.destination_shape);
    const auto give = [&](const box<Rank>& where, const partita::index<Rank>& at) {
      for_each<Rank>(where, at, [&](const auto& i, const auto& k) {
        x.data()[place_in(plan.source_shape, k)] = element(tensor, i);
      });
    };
    const auto expect = [&](const box<Rank>& where, const partita::index<Rank>& at) {
      for_each<Rank>(where, at, [&](const auto& i, const auto& k) {
        expected.data()[place_in(plan.destination_shape, k)] = element(tensor, i);
      });
    };
    for (const auto& t : plan.sends) give(t.where, t.at);
    for (const auto& t : plan.receives) expect(t.where, t.at);
    for (const auto& k : plan.kept) give(k.where, k.source_start), expect(k.where, k.destination_start);
    const auto p_x = everyone_.partition(dynamic_extents(from)), p_y = everyone_.partition(dynamic_extents(to));
    const repartition move(p_x, p_y, source_cuts(there));
    by_mpi<Rank> mpi(plan, everyone_.size());
    tensor_of y;
    double model = 0;
    if (everyone_.id() == 0)
      model = seconds_of_agreement() + simulate_nodes(facts_, everyone_.size(), sizeof(double), plan_of).seconds;
    measured m = of(name, x.size() * sizeof(double), [&] { y = move(x); });
    check(y == expected);
    m.model = model;
    const double overheads = facts_.message * static_cast<double>(peers(plan.sends) + peers(plan.receives));
    MPI_Allreduce(&overheads, &m.overheads, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (number_of_environment("SIMULATED_MESSAGES", 1) != 0) {
      m.messages = timed([&] { mpi.messages(x.data(), theirs.data(), under_way()); });
      check(theirs == expected);
    }
    if (number_of_environment("SIMULATED_ALLTOALLW", 1) != 0) {
      theirs.fill(0);
      m.mpi = timed([&] { mpi.all_to_all(x.data(), theirs.data()); });
      check(theirs == expected);
    }
    print(m);
  }

  void gathered(std::size_t n) {
    const std::size_t P = everyone_.size();
    const auto all = everyone_.partition(extents<dynamic>(P));
    const all_gather k(all, dimensions<0>);
    xt::xtensor<double, 1> x(shape_of(n)), y, theirs(shape_of(P * n)), expected(shape_of(P * n));
    for (std::size_t i = 0; i < n; ++i) x(i) = static_cast<double>(everyone_.id() * n + i);
    for (std::size_t i = 0; i < P * n; ++i) expected(i) = static_cast<double>(i);
    const auto count = static_cast<int>(n);
    row(
        "all_gather", n * sizeof(double), [&] { y = k(x); },
        [&] { MPI_Allgather(x.data(), count, MPI_DOUBLE, theirs.data(), count, MPI_DOUBLE, MPI_COMM_WORLD); });
    check(y == expected && (theirs == expected || !collectives()));
  }

  void summed(std::size_t n) {
    const std::size_t P = everyone_.size();
    const auto all = everyone_.partition(extents<dynamic>(P));
    const all_sum_reduce k(all, dimensions<0>);
    xt::xtensor<double, 1> x(shape_of(n)), y, theirs(shape_of(n)), expected(shape_of(n));
    for (std::size_t i = 0; i < n; ++i) {
      x(i) = static_cast<double>(everyone_.id() + i);
      expected(i) = static_cast<double>(P * (P - 1) / 2 + P * i);
    }
    row(
        "all_sum_reduce", n * sizeof(double), [&] { y = k(x); },
        [&] { MPI_Allreduce(x.data(), theirs.data(), static_cast<int>(n), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
    check(y == expected && (theirs == expected || !collectives()));
  }

  /// What every call begins with: four words, and-ed for all workers.
  void agreed() {
    const std::uint64_t mine[4] = {~(std::uint64_t{1} << everyone_.id() % 64), ~std::uint64_t{0}, 7, 8};
    std::uint64_t all[4] = {}, theirs[4] = {};
    summed(1);  // makes the flags
    measured m = of("agreement", sizeof mine, [&] { everyone_.state()->all_and(mine, all); });
    m.model = seconds_of_agreement();
    m.mpi = timed([&] { MPI_Allreduce(mine, theirs, 4, MPI_UINT64_T, MPI_BAND, MPI_COMM_WORLD); });
    print(m);
    check(std::equal(all, all + 4, theirs));
  }

  static bool collectives() { return number_of_environment("SIMULATED_COLLECTIVES", 1) != 0; }
  template <class Transfers>
  static std::size_t peers(const Transfers& all) {
    std::size_t count = 0;
    for (std::size_t k = 0; k < all.size(); ++k) count += k == 0 || all[k].worker != all[k - 1].worker ? 1 : 0;
    return count;
  }
  std::size_t under_way() const {
    return everyone_.size() <= 256
               ? 512
               : std::max<std::size_t>(256, static_cast<std::size_t>(4 * facts_.latency / facts_.message));
  }

  /// Rounds of the fastest dissemination over this link.
  double seconds_of_agreement() const {
    const link_cost link{facts_.latency, facts_.message, facts_.nic_byte};
    return detail::dissemination::over(everyone_.size() / facts_.workers_on_node, link).seconds(link);
  }

  struct measured {
    std::string_view name;
    std::size_t bytes;
    double ours, mpi = 0, messages = 0, overheads = 0, model = 0;  // seconds; 0: not asked for
  };
  /// Two calls take the same simulated time: nothing but the plan decides.
  template <class Ours>
  measured of(std::string_view name, std::size_t bytes, Ours ours) const {
    // structures, the choice of a form: many messages that are tested for often, which SMPI takes long to simulate
    const double often = std::exchange(simulated::seen_after, 5e-6);
    for (int k = 0; k < 3; ++k) timed(ours);
    simulated::seen_after = often;
    return {name, bytes, timed(ours)};
  }
  template <class F>
  double timed(F f) const {
    const auto start = std::chrono::steady_clock::now();
    const double taken = seconds(f);
    if (everyone_.id() == 0 && std::getenv("SIMULATED_TELL") != nullptr)
      std::fprintf(stderr, "%.3g us, simulated in %.1f s\n", 1e6 * taken,
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    return taken;
  }
  template <class Ours, class Theirs>
  void row(std::string_view name, std::size_t bytes, Ours ours, Theirs theirs) const {
    measured m = of(name, bytes, ours);
    if (collectives()) m.mpi = timed(theirs);
    print(m);
  }
  void print(const measured& m) const {
    if (everyone_.id() != 0) return;
    std::printf(
        "{\"bench\": \"simulated\", \"link\": \"%s\", \"hosts\": %zu, \"workers\": %zu, \"case\": \"%.*s\", "
        "\"bytes\": %zu, \"us\": %.2f, \"us_mpi\": %.2f, \"us_messages\": %.2f, \"us_overheads\": %.2f, "
        "\"us_model\": %.2f}\n",
        link_, everyone_.size() / facts_.workers_on_node, everyone_.size(), static_cast<int>(m.name.size()),
        m.name.data(), m.bytes, 1e6 * m.ours, 1e6 * m.mpi, 1e6 * m.messages, 1e6 * m.overheads, 1e6 * m.model);
    std::fflush(stdout);
  }
  void check(bool good) {
    if (!good) std::fprintf(stderr, "worker %zu: wrong results\n", everyone_.id());
    right_ = right_ && good;
  }

  template <std::size_t... D>
  static auto dynamic_of(std::index_sequence<D...>) -> extents<(D, dynamic)...>;
  template <std::size_t Rank>
  using extents_of = decltype(dynamic_of(std::make_index_sequence<Rank>()));
  template <std::size_t Rank>
  static extents_of<Rank> dynamic_extents(const std::array<std::size_t, Rank>& shape) {
    return std::apply([](auto... n) { return extents_of<Rank>(n...); }, shape);
  }
  /// Parts of random sizes, from none to twice the mean, the same on all workers.
  static cut uneven(std::size_t n, std::size_t parts, unsigned seed) {
    std::mt19937 next(seed);
    std::vector<std::size_t> sizes(parts);
    std::size_t left = n;
    for (std::size_t k = 0; k + 1 < parts; ++k) {
      const std::size_t mean = left / (parts - k);
      sizes[k] = std::min<std::size_t>(left, next() % (2 * mean + 1));
      left -= sizes[k];
    }
    sizes.back() = left;
    return cut::at(sizes);
  }

  const world& everyone_;
  const char* link_;
  cluster_parameters facts_;
  bool right_ = true;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  detail::hang_report::seconds_until_report = 1e9;  // seconds of the machine that simulates mean nothing
  bool right = true;
  {
    const world everyone;
    table t(everyone, argc > 1 ? argv[1] : "");
    for (int k = 2; k < argc; ++k) {
      const std::string_view name = argv[k];
      const std::size_t colon = name.find(':');
      t.run(name.substr(0, colon), colon == name.npos ? 8 : std::strtoul(argv[k] + colon + 1, nullptr, 10));
    }
    right = t.right();
  }
  MPI_Finalize();
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
