// Loss and gradients of two programs equal those of PyTorch for all layouts; see pytorch_records.py.
#include "distance.hpp"
#include "layouts.hpp"

#include <array>
#include <cmath>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/traced_function.hpp>
#include <partita/sharded/value_and_gradient.hpp>

using namespace partita;

namespace {

using tensor = sharded_tensor<double>;

constexpr double network_record[] = {
#include "pytorch_network.inc"
};
constexpr double transformer_record[] = {
#include "pytorch_transformer.inc"
};

/// The axes that shard the batch, the sequence, and the weights.
struct plan {
  axis_list batch{}, sequence{}, model{};
};

/// An array of f(k) for each position k in C order.
template <class F>
tensor made(const world& everyone, const sharding& layout, const shape_list& extents, F f) {
  return shard<double>(everyone, layout, extents, [&](const auto& i) {
    std::size_t k = 0;
    for (std::size_t d = 0; d < extents.size(); ++d) k = k * extents[d] + i[d];
    return f(static_cast<double>(k));
  });
}
/// The parameters of the records: element k of parameter n is sin(1 + 3 n + 0.7 k) / 2.
class parameters {
 public:
  parameters(const world& everyone, const mesh& m) : everyone_(everyone), m_(m) {}
  tensor operator()(const shape_list& extents, std::size_t cut = 0, const axis_list& axes = {}) {
    const double first = 1 + 3 * static_cast<double>(n_++);
    sharding s(m_, extents.size());
    if (axes.size() > 0) s = s.cut(cut, axes);
    return made(everyone_, s, extents, [&](double k) { return std::sin(first + 0.7 * k) / 2; });
  }

 private:
  const world& everyone_;
  mesh m_;
  std::size_t n_ = 0;
};

/// The largest difference of loss and gradients from a record.
template <class F, std::size_t N, std::size_t Size>
double distance(const F& loss, const std::array<tensor, N>& w, const double (&record)[Size]) {
  const auto [value, gradients] = std::apply([&](const auto&... p) { return value_and_gradient(loss, p...); }, w);
  double most = std::abs(value - record[0]);
  std::size_t next = 1;
  const auto compare = [&](const tensor& gradient) {
    const tensor all = reshard(gradient, sharding(gradient.layout().on, gradient.rank()));
    if (all.state()->on->active())
      for (std::size_t k = 0; k < all.size(); ++k)
        most = std::max(most, test::distance_between(all.data()[k], record[std::min(next + k, Size - 1)]));
    next += detail::shape_size(gradient.extents());
  };
  std::apply([&](const auto&... g) { (compare(g), ...); }, gradients);
  return next == Size ? most : 1;
}

/// All plans for a mesh. A worker that is not on the mesh has no value to compare.
std::vector<plan> plans(const mesh& m) {
  const axis_list a(0);
  if (m.rank() == 1) return {{a, {}, {}}, {{}, a, {}}, {{}, {}, a}};
  const axis_list b(1);
  return {{a, {}, b}, {a, b, {}}, {{}, b, a}};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_network_of_two_layers_has_the_gradients_of_pytorch) {
  world everyone(test::workers());
  for (const mesh& m : test::meshes(everyone.size()))
    for (const plan& p : plans(m)) {
      const tensor x =
          made(everyone, sharding(m, 2).cut(0, p.batch), {7, 5}, [](double k) { return std::cos(1.1 * k); });
      const xt::xtensor<int, 1> labels{1, 0, 2, 1, 0, 2, 1};
      parameters make(everyone, m);
      const std::array w{make({5, 6}, 1, p.model), make({6}, 0, p.model), make({6, 3}, 0, p.model), make({3})};
      const auto loss = [&](const auto& w1, const auto& b1, const auto& w2, const auto& b2) {
        const auto hidden = relu(add(matmul(x, w1), b1, broadcast_dimensions<1>));
        return cross_entropy(add(matmul(hidden, w2), b2, broadcast_dimensions<1>), labels);
      };
      const double apart = distance(loss, w, network_record);
      if (everyone.id() < m.size()) BOOST_TEST(apart < 1e-10, m);
    }
}

BOOST_AUTO_TEST_CASE(a_transformer_of_two_blocks_has_the_gradients_of_pytorch) {
  constexpr std::size_t batch = 2, length = 4, letters = 6, features = 4, heads = 2, width = 3, inner = 6;
  world everyone(test::workers());
  xt::xtensor<std::size_t, 2> read(std::array{batch, length});
  for (std::size_t k = 0; k < read.size(); ++k) read.data()[k] = (5 * k + k * k) % letters;
  const auto meshes = test::meshes(everyone.size());
  for (const mesh& m : {meshes.front(), meshes[meshes.size() / 2]})
    for (const plan& p : plans(m)) {
      const sharding rows = sharding(m, 3).cut(0, p.batch).cut(1, p.sequence);
      const sharding all_keys = sharding(m, 4).cut(0, p.batch).cut(1, p.model);
      const tensor after = made(everyone, sharding(m, 3), {batch, length, letters}, [](double k) {
        const auto at = static_cast<std::size_t>(k);
        return (3 * (at / letters) + 1) % letters == at % letters ? 1.0 : 0.0;
      });
      parameters make(everyone, m);
      std::array<tensor, 23> w{make({letters, features}, 0, p.model), make({length, features}, 0, p.sequence),
                               make({letters, features}, 0, p.model)};
      for (std::size_t b = 0; b < 2; ++b) {
        tensor* v = &w[3 + 10 * b];
        for (int k = 0; k < 2; ++k) *v++ = make({features});
        for (int k = 0; k < 3; ++k) *v++ = make({features, heads, width}, 1, p.model);
        *v++ = make({heads, width, features}, 0, p.model);
        for (int k = 0; k < 2; ++k) *v++ = make({features});
        *v++ = make({features, inner}, 1, p.model);
        *v++ = make({inner, features}, 0, p.model);
      }
      const auto loss = [&](const auto&... all) {
        const tensor given[] = {all...};
        tensor x = add(constrain(lookup(given[0], read), rows), given[1], broadcast_dimensions<1, 2>);
        for (std::size_t b = 0; b < 2; ++b) {
          const tensor* v = &given[3 + 10 * b];
          const tensor n = normalise(x, v[0], v[1]);
          const auto project = [&](const tensor& by) { return einsum<"bse,ehd->bhsd">(n, by); };
          const tensor k = constrain(project(v[3]), all_keys), u = constrain(project(v[4]), all_keys);
          const tensor mixed = attention(project(v[2]), k, u, {.causal = true});
          x = add(x, constrain(einsum<"bhsd,hde->bse">(mixed, v[5]), rows));
          x = add(x, constrain(matmul(gelu(matmul(normalise(x, v[6], v[7]), v[8])), v[9]), rows));
        }
        const tensor scores = einsum<"bse,ve->bsv">(x, given[2]);
        return multiply(sum(multiply(log_softmax(scores), after)), -1.0 / (batch * length));
      };
      const double apart = distance(loss, w, transformer_record);
      if (everyone.id() < m.size()) BOOST_TEST(apart < 1e-10, m);
    }
}
