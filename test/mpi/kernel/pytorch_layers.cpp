// A graph layer and an expert layer give the outputs and gradients of PyTorch in any cut of their nodes, edges and
// tokens; see ../sharded/pytorch_records.py.
#include "mpi_test.hpp"

#include <array>
#include <cmath>
#include <partita/comm/over_workers.hpp>
#include <partita/kernel/index_exchange.hpp>
#include <partita/kernel/segments.hpp>
#include <partita/kernel/token_dispatcher.hpp>
#include <vector>

using namespace partita;

namespace {

using rows = xt::xtensor<double, 2>;
using indices = std::vector<std::size_t>;

constexpr double graph_record[] = {
#include "pytorch_graph.inc"
};
constexpr double experts_record[] = {
#include "pytorch_experts.inc"
};

/// The numbers of a record, one array after the other.
class record {
 public:
  explicit record(const double* numbers) : next_(numbers) {}
  /// Checks that the rows of the next array, of which there are so many, are these, by their indices.
  void check(const char* what, const rows& own, const indices& which, std::size_t all) {
    std::size_t wrong = 0;  // a NaN is wrong, too
    for (std::size_t i = 0; i < which.size(); ++i)
      for (std::size_t c = 0; c < own.shape(1); ++c)
        wrong += std::abs(own(i, c) - next_[which[i] * own.shape(1) + c]) < 1e-12 ? 0 : 1;
    BOOST_TEST(own.shape(0) == which.size());
    BOOST_TEST(wrong == 0U, what);
    next_ += all * own.shape(1);
  }
  /// Checks that the next array is the sum over the workers.
  void check_sum(const world& everyone, const char* what, const rows& part) {
    const auto sums = sum_over(everyone, std::vector<double>(part.begin(), part.end()));
    std::size_t wrong = 0;
    for (std::size_t k = 0; k < sums.size(); ++k) wrong += std::abs(sums[k] - next_[k]) < 1e-12 ? 0 : 1;
    BOOST_TEST(wrong == 0U, what);
    next_ += sums.size();
  }
  bool ended(const double* end) const { return next_ == end; }

 private:
  const double* next_;
};

/// These rows of a parameter of the record: element k of parameter n is sin(1 + 3 n + 0.7 k) / 2.
rows parameter(std::size_t n, const indices& which, std::size_t width) {
  rows x = xt::zeros<double>({which.size(), width});
  for (std::size_t i = 0; i < which.size(); ++i)
    for (std::size_t c = 0; c < width; ++c)
      x(i, c) = std::sin(1 + 3 * static_cast<double>(n) + 0.7 * static_cast<double>(which[i] * width + c)) / 2;
  return x;
}
/// The gradient of the outputs.
rows weights_of_outputs(const indices& which, std::size_t width) {
  rows x = xt::zeros<double>({which.size(), width});
  for (std::size_t i = 0; i < which.size(); ++i)
    for (std::size_t c = 0; c < width; ++c) x(i, c) = std::cos(1.1 * static_cast<double>(which[i] * width + c));
  return x;
}
indices range(std::size_t first, std::size_t last) {
  indices all;
  for (std::size_t i = first; i < last; ++i) all.push_back(i);
  return all;
}
/// The indices of this worker: in balance, all on the last worker, or in turn and backwards.
indices part_of(std::size_t n, const world& everyone, unsigned kind) {
  const std::size_t P = everyone.size(), me = everyone.id();
  if (kind == 0) return range(balanced_part(n, P, me).start, balanced_part(n, P, me).stop);
  if (kind == 1) return range(0, me + 1 == P ? n : 0);
  indices all;
  for (std::size_t i = n; i-- > 0;)
    if (i % P == me) all.push_back(i);
  return all;
}

/// Products of matrices of few elements: a b, a^T b and a b^T.
rows product(const rows& a, const rows& b) {
  rows c = xt::zeros<double>({a.shape(0), b.shape(1)});
  for (std::size_t i = 0; i < a.shape(0); ++i)
    for (std::size_t k = 0; k < b.shape(0); ++k)
      for (std::size_t j = 0; j < b.shape(1); ++j) c(i, j) += a(i, k) * b(k, j);
  return c;
}
rows transposed(const rows& a) { return xt::transpose(a); }

void check_graph(const world& everyone, unsigned nodes_kind, unsigned edges_kind) {
  constexpr std::size_t nodes = 11, width = 3, edges = 30;
  const indices mine = part_of(nodes, everyone, nodes_kind);
  indices source, target;
  for (const std::size_t e : part_of(edges, everyone, edges_kind))
    source.push_back((5 * e + e * e) % nodes), target.push_back(e * e * e % (nodes - 2));
  const index_exchange sources(everyone, mine, source);
  const segments targets(everyone, mine, target);
  const rows h = parameter(0, mine, width), own = parameter(1, range(0, width), width),
             near = parameter(2, range(0, width), width), far = parameter(3, range(0, width), width),
             value = parameter(4, range(0, width), width), a = parameter(5, range(0, width), 1),
             b = parameter(6, range(0, width), 1);

  const rows from = sources(h), to = targets.rows(h);
  const rows share = targets.softmax(rows(product(from, a) + product(to, b)));
  const rows moved = product(from, value), message = share * moved;
  const rows sum = targets.sum(message), mean = targets.mean(from), maximum = targets.maximum(from);
  const rows finite = xt::where(maximum < -1e300, 0.0, maximum);  // of nodes without edges
  const rows y = xt::tanh(product(h, own) + sum + product(mean, near) + product(finite, far));

  const rows dz = weights_of_outputs(mine, width) * (1.0 - y * y), d_message = targets.rows(dz);
  const rows d_moved = share * d_message;
  rows d_share = xt::zeros<double>({source.size(), std::size_t{1}});
  for (std::size_t e = 0; e < source.size(); ++e)
    for (std::size_t c = 0; c < width; ++c) d_share(e, 0) += d_message(e, c) * moved(e, c);
  const rows d_score = targets.softmax_adjoint(share, d_share);
  const rows d_from = product(d_moved, transposed(value)) + product(d_score, transposed(a)) +
                      targets.mean_adjoint(product(dz, transposed(near))) +
                      targets.maximum_adjoint(from, maximum, product(dz, transposed(far)));
  const rows dh = product(dz, transposed(own)) + sources.adjoint(d_from) + targets.sum(product(d_score, transposed(b)));

  record known(graph_record);
  known.check("outputs", y, mine, nodes);
  known.check("gradient of the nodes", dh, mine, nodes);
  known.check_sum(everyone, "gradient of own", product(transposed(h), dz));
  known.check_sum(everyone, "gradient of near", product(transposed(mean), dz));
  known.check_sum(everyone, "gradient of far", product(transposed(finite), dz));
  known.check_sum(everyone, "gradient of value", product(transposed(from), d_moved));
  known.check_sum(everyone, "gradient of a", product(transposed(from), d_score));
  known.check_sum(everyone, "gradient of b", product(transposed(to), d_score));
  BOOST_TEST(known.ended(std::end(graph_record)));
}

void check_experts(const world& everyone, unsigned kind) {
  constexpr std::size_t tokens = 13, width = 3, experts = 7;
  const indices mine = part_of(tokens, everyone, kind);
  const rows x = parameter(0, mine, width), gate = parameter(1, range(0, width), experts);
  rows share = xt::exp(product(x, gate));
  indices choice;
  xt::xtensor<double, 1> weight = xt::zeros<double>({2 * mine.size()});
  for (std::size_t t = 0; t < mine.size(); ++t) {
    double sum = 0;
    for (std::size_t e = 0; e < experts; ++e) sum += share(t, e);
    for (std::size_t e = 0; e < experts; ++e) share(t, e) /= sum;
    std::size_t best = 0;
    for (std::size_t e = 1; e < experts; ++e)
      if (share(t, e) > share(t, best)) best = e;
    std::size_t second = best == 0 ? 1 : 0;
    for (std::size_t e = 0; e < experts; ++e)
      if (e != best && share(t, e) > share(t, second)) second = e;
    choice.push_back(best), choice.push_back(second);
    weight(2 * t) = share(t, best), weight(2 * t + 1) = share(t, second);
  }
  const token_dispatcher to_experts(everyone, experts, choice, 2);
  const rows arrived = to_experts.dispatch(x);
  rows computed = xt::zeros_like(arrived), d_arrived = computed;
  const auto of_expert = [&](std::size_t e) {  // the rows of its matrix in the array of all
    return parameter(2, range(e * width, (e + 1) * width), width);
  };
  const auto part = [&](const rows& all, std::size_t e) {
    const interval own = to_experts.rows_of(e);
    return rows(xt::view(all, xt::range(own.start, own.stop)));
  };
  const auto put = [&](rows& all, std::size_t e, const rows& values) {
    for (std::size_t i = 0; i < values.shape(0); ++i)
      for (std::size_t c = 0; c < width; ++c) all(to_experts.rows_of(e).start + i, c) = values(i, c);
  };
  const interval own = to_experts.experts();
  for (std::size_t e = own.start; e < own.stop; ++e)
    put(computed, e, xt::tanh(product(part(arrived, e), of_expert(e))));
  const rows y = to_experts.combine(computed, weight);

  const auto [d_computed, d_weight] = to_experts.combine_adjoint(computed, weight, weights_of_outputs(mine, width));
  rows d_experts = xt::zeros<double>({own.size() * width, width});
  const rows dz = d_computed * (1.0 - computed * computed);
  for (std::size_t e = own.start; e < own.stop; ++e) {
    put(d_arrived, e, product(part(dz, e), transposed(of_expert(e))));
    const rows d_expert = product(transposed(part(arrived, e)), part(dz, e));
    for (std::size_t i = 0; i < width; ++i)
      for (std::size_t c = 0; c < width; ++c) d_experts((e - own.start) * width + i, c) = d_expert(i, c);
  }
  rows d_score = xt::zeros_like(share);
  for (std::size_t t = 0; t < mine.size(); ++t)
    for (std::size_t k = 2 * t; k < 2 * t + 2; ++k)
      for (std::size_t e = 0; e < experts; ++e)
        d_score(t, e) += weight(k) * ((e == choice[k] ? 1 : 0) - share(t, e)) * d_weight(k);
  const rows dx = to_experts.combine(d_arrived) + product(d_score, transposed(gate));

  record known(experts_record);
  known.check("outputs", y, mine, tokens);
  known.check("gradient of the tokens", dx, mine, tokens);
  known.check_sum(everyone, "gradient of the gate", product(transposed(x), d_score));
  known.check("gradient of the experts", d_experts, range(own.start * width, own.stop * width), experts * width);
  BOOST_TEST(known.ended(std::end(experts_record)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(layers_as_in_pytorch)

BOOST_AUTO_TEST_CASE(a_graph_layer_gives_outputs_and_gradients_of_pytorch_in_any_cut) {
  const world everyone(test::workers());
  for (unsigned nodes = 0; nodes < 3; ++nodes)
    for (unsigned edges = 0; edges < 3; ++edges) check_graph(everyone, nodes, edges);
}

BOOST_AUTO_TEST_CASE(an_expert_layer_gives_outputs_and_gradients_of_pytorch_in_any_cut) {
  const world everyone(test::workers());
  for (unsigned tokens = 0; tokens < 3; ++tokens) check_experts(everyone, tokens);
}

BOOST_AUTO_TEST_SUITE_END()
