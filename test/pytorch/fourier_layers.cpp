// Writes the results and gradients of layers of Fourier neural operators, and of a whole model, with all layouts of
// their tensors: mpirun -n N fourier_layers > RESULTS. fourier_layers.py compares them with PyTorch.
#include <boost/mpi/environment.hpp>
#include <cmath>
#include <complex>
#include <iomanip>
#include <iostream>
#include <partita/partita.hpp>
#include <partita/sharded/fourier.hpp>
#include <vector>

using namespace partita;
using tensor = sharded_tensor<double>;
using tensors = std::vector<tensor>;

namespace {

/// Element k of tensor `salt`, which fourier_layers.py computes as well.
double element(std::size_t salt, std::size_t k) { return std::sin(1.7 * double(salt) + 0.37 * double(k * k % 997)); }

/// The real and the imaginary parts of the weights of a layer are its tensors from `at` on.
auto weights(const tensors& w, std::size_t at) { return to_complex(w[at], w[at + 1]); }

/// Layers as those of neural operators by PyTorch: the waves up to `modes` of each dimension, with one matrix of
/// channels for each.
tensor layer_1(const tensor& v, const tensors& w, std::size_t at, std::size_t n, std::size_t modes) {
  const auto low = slice(rfft(v, dimensions<2>), dimensions<2>, {0, modes});
  return irfft(pad(einsum<"bix,iox->box">(low, weights(w, at)), dimensions<2>, {0, n / 2 + 1 - modes}), dimensions<2>,
               n);
}
tensor layer_2(const tensor& v, const tensors& w, std::size_t at, std::size_t n, std::size_t m, std::size_t modes) {
  const auto waves = rfft(v, dimensions<2, 3>);
  const auto corner = [&](std::size_t k) {
    const std::size_t start = k == 0 ? 0 : n - modes;
    return pad(einsum<"bixy,ioxy->boxy">(slice(waves, dimensions<2, 3>, {start, start + modes}, {0, modes}),
                                         weights(w, at + 2 * k)),
               dimensions<2, 3>, {start, n - start - modes}, {0, m / 2 + 1 - modes});
  };
  return irfft(add(corner(0), corner(1)), dimensions<2, 3>, m);
}
tensor layer_3(const tensor& v, const tensors& w, std::size_t at, std::size_t n, std::size_t m, std::size_t l,
               std::size_t modes) {
  const auto waves = rfft(v, dimensions<2, 3, 4>);
  const auto corner = [&](std::size_t k) {
    const std::size_t a = k % 2 == 0 ? 0 : n - modes, b = k < 2 ? 0 : m - modes;
    return pad(
        einsum<"bixyz,ioxyz->boxyz">(slice(waves, dimensions<2, 3, 4>, {a, a + modes}, {b, b + modes}, {0, modes}),
                                     weights(w, at + 2 * k)),
        dimensions<2, 3, 4>, {a, n - a - modes}, {b, m - b - modes}, {0, l / 2 + 1 - modes});
  };
  return irfft(add(add(corner(0), corner(1)), add(corner(2), corner(3))), dimensions<2, 3, 4>, l);
}
/// Channels are lifted, go through two layers with a product point by point beside each, and are projected.
tensor model(const tensor& u, const tensors& w) {
  const auto mixed = [](const tensor& v, const tensor& by) { return einsum<"bixy,io->boxy">(v, by); };
  const tensor v = mixed(u, w[0]);
  const tensor a = gelu(add(layer_2(v, w, 1, 6, 5, 2), mixed(v, w[5])));
  return mixed(add(layer_2(a, w, 6, 6, 5, 2), mixed(a, w[10])), w[11]);
}

void write(const char* name, const tensor& y, std::ostream& to) {
  const tensor all = reshard(y, sharding(y.layout().on, y.rank()));
  to << name;
  for (std::size_t k = 0; k < all.size(); ++k) to << ' ' << all.data()[k];
  to << '\n';
}

/// Runs f(x, weights) with tensors of these extents, axis a of the mesh cutting dimension (number + a) of each tensor,
/// or none.
template <class F, std::size_t... I>
void run(const world& everyone, const mesh& m, const char* name, std::size_t number,
         const std::vector<shape_list>& extents, F f, std::index_sequence<I...>) {
  tensors given;
  for (const shape_list& e : extents) {
    sharding s(m, e.size());
    for (std::size_t a = 0; a < m.rank(); ++a) {
      const std::size_t d = (number + (given.empty() ? 2 * a : a)) % (e.size() + 1);
      if (d == e.size()) continue;
      axis_list both = s[d];
      both.push_back(a);
      s = s.cut(d, both);
    }
    const std::size_t salt = given.size() + 1;
    given.push_back(shard<double>(everyone, s, e, [&](const auto& i) {
      std::size_t k = 0;
      for (std::size_t d = 0; d < e.size(); ++d) k = k * e[d] + i[d];
      return element(salt, k);
    }));
  }
  tensor y;
  const auto loss = [&](const tensor& x, const auto&... w) {
    const tensor z = f(x, tensors{w...});
    y = stop_gradient(z);
    const tensor factors = shard<double>(everyone, sharding(m, z.rank()), z.extents(), [&](const auto& i) {
      std::size_t k = 0;
      for (std::size_t d = 0; d < z.rank(); ++d) k = k * z.extents()[d] + i[d];
      return element(0, k);
    });
    return sum(multiply(z, factors));
  };
  const auto result = value_and_gradient(loss, given[I]...);
  std::ostringstream out;
  out << std::setprecision(17) << "layer " << name << ' ' << number << '\n';
  write("value", y, out);
  (write("gradient", std::get<I>(result.gradients), out), ...);
  if (everyone.id() == 0) std::cout << out.str() << std::flush;
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment mpi(argc, argv);
  const world everyone;
  const std::size_t n = everyone.size();
  const mesh m = n % 2 == 0 && n > 2 ? mesh{axis{"a", 2}, axis{"b", n / 2}} : mesh{axis{"a", n}};
  for (std::size_t k = 0; k < 6; ++k) {
    run(
        everyone, m, "1d", k, {{3, 2, 9}, {2, 4, 3}, {2, 4, 3}},
        [](const tensor& x, const tensors& w) { return layer_1(x, w, 0, 9, 3); }, std::make_index_sequence<3>());
    run(
        everyone, m, "2d", k, {{2, 2, 6, 5}, {2, 3, 2, 2}, {2, 3, 2, 2}, {2, 3, 2, 2}, {2, 3, 2, 2}},
        [](const tensor& x, const tensors& w) { return layer_2(x, w, 0, 6, 5, 2); }, std::make_index_sequence<5>());
    run(
        everyone, m, "3d", k,
        {{2, 1, 4, 5, 4},
         {1, 2, 2, 2, 2},
         {1, 2, 2, 2, 2},
         {1, 2, 2, 2, 2},
         {1, 2, 2, 2, 2},
         {1, 2, 2, 2, 2},
         {1, 2, 2, 2, 2},
         {1, 2, 2, 2, 2},
         {1, 2, 2, 2, 2}},
        [](const tensor& x, const tensors& w) { return layer_3(x, w, 0, 4, 5, 4, 2); }, std::make_index_sequence<9>());
    const shape_list waves{4, 4, 2, 2};
    run(everyone, m, "model", k,
        {{3, 1, 6, 5}, {1, 4}, waves, waves, waves, waves, {4, 4}, waves, waves, waves, waves, {4, 4}, {4, 1}}, model,
        std::make_index_sequence<13>());
  }
}
