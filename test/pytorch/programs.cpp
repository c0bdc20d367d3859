// Executes programs of operations on sharded tensors that a file describes, and writes their results and gradients:
// mpirun -n N programs FILE > RESULTS. random_programs.py writes the file and compares the results with PyTorch. A file
// of random_optimisers.py describes steps of optimisers.
#include <boost/mpi/environment.hpp>
#include <fstream>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <partita/nn/schedules.hpp>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/clip.hpp>
#include <partita/sharded/compare.hpp>
#include <partita/sharded/convolve.hpp>
#include <partita/sharded/gather.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/label_losses.hpp>
#include <partita/sharded/losses.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/pool.hpp>
#include <partita/sharded/rearrange.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/sharded_optimiser.hpp>
#include <partita/sharded/sort_along.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <sstream>
#include <string>
#include <vector>

using namespace partita;

namespace {

/// The number of parameters of every program; the inputs after these are constants.
constexpr std::size_t parameters = 4;

/// The state of each mesh axis in a layout: the dimension that it shards, or one of these.
enum axis_code { replicated = -1, summed = -2, gradient_summed = -3 };

sharding layout_of(const mesh& m, std::size_t rank, const std::vector<int>& axes) {
  sharding s(m, rank);
  for (std::size_t a = 0; a < axes.size(); ++a) {
    if (axes[a] == summed) s = s.partial(a);
    if (axes[a] == gradient_summed) s = s.reduced(a);
    if (axes[a] < 0) continue;
    axis_list both = s[static_cast<std::size_t>(axes[a])];
    both.push_back(a);
    s = s.cut(static_cast<std::size_t>(axes[a]), both);
  }
  return s;
}

/// One operation of a program: its name, operands as numbers of earlier values, and other arguments.
struct step {
  std::string name;
  std::vector<std::size_t> operands;
  std::vector<int> integers;
  std::vector<double> numbers;
};
struct input {
  shape_list extents;
  std::vector<int> axes;
  std::vector<double> values;
};
struct program {
  std::string number, element;
  mesh on;
  std::vector<input> inputs;
  std::vector<step> steps;
};

double read_number(std::istream& from) {
  std::string word;
  from >> word;
  return std::stod(word);  // also inf and nan
}
template <class T, class Read>
std::vector<T> read_list(std::istream& from, Read read) {
  std::size_t n = 0;
  from >> n;
  std::vector<T> all;
  for (std::size_t k = 0; k < n; ++k) all.push_back(read());
  return all;
}
template <class T>
std::vector<T> read_list(std::istream& from) {
  return read_list<T>(from, [&] {
    T one{};
    from >> one;
    return one;
  });
}
input read_input(std::istream& from) {
  input x;
  for (const std::size_t extent : read_list<std::size_t>(from)) x.extents.push_back(extent);
  x.axes = read_list<int>(from);
  x.values = read_list<double>(from, [&] { return read_number(from); });
  return x;
}
step read_step(std::istream& from) {
  step s;
  from >> s.name;
  s.operands = read_list<std::size_t>(from);
  s.integers = read_list<int>(from);
  s.numbers = read_list<double>(from, [&] { return read_number(from); });
  return s;
}
program read_program(std::istream& from) {
  program p;
  from >> p.element;
  const auto extents = read_list<std::size_t>(from);
  p.on = extents.size() == 1 ? mesh{axis{"a", extents[0]}} : mesh{axis{"a", extents[0]}, axis{"b", extents[1]}};
  p.inputs = read_list<input>(from, [&] { return read_input(from); });
  p.steps = read_list<step>(from, [&] { return read_step(from); });
  return p;
}

template <class T>
sharded_tensor<T> tensor_of_input(const world& everyone, const mesh& on, const input& x) {
  return shard<T>(everyone, layout_of(on, x.extents.size(), x.axes), x.extents, [&](const auto& i) {
    std::size_t k = 0;
    for (std::size_t d = 0; d < x.extents.size(); ++d) k = k * x.extents[d] + i[d];
    return static_cast<T>(x.values[k]);
  });
}
template <class T>
void write(const char* name, const sharded_tensor<T>& y, std::ostream& to) {
  const sharded_tensor<T> all = reshard(y, sharding(y.layout().on, y.rank()));
  to << name;
  for (const std::size_t extent : all.extents()) to << ' ' << extent;
  to << " :";
  for (std::size_t k = 0; k < all.size(); ++k) to << ' ' << all.data()[k];
  to << '\n';
}

template <class T>
class executor {
 public:
  using tensor = sharded_tensor<T>;

  executor() {
    functions_of_one();
    functions_of_two();
    products_and_shapes();
    reductions();
    indices();
    networks();
    images();
    loss_functions();
  }

  /// Writes the result and the gradients of a program: the loss is the sum of the last value times the last input.
  void operator()(const world& everyone, const program& p, std::ostream& to) const {
    std::vector<tensor> given;
    for (const input& x : p.inputs) given.push_back(tensor_of_input<T>(everyone, p.on, x));
    tensor y;
    const auto loss = [&](const auto&... leaves) {
      std::vector<tensor> values{leaves...};
      values.insert(values.end(), given.begin() + parameters, given.end());
      for (const step& s : p.steps) values.push_back(apply(p, s, values));
      y = stop_gradient(values.back());
      return sum(multiply(values.back(), given.back()));
    };
    const auto [value, gradients] = value_and_gradient(loss, given[0], given[1], given[2], given[3]);
    to << "loss " << value << '\n';
    write("value", y, to);
    std::apply([&](const auto&... g) { (write("gradient", g, to), ...); }, gradients);
  }

 private:
  using tensors = std::vector<tensor>;
  struct arguments {
    const program& p;
    const step& s;
    tensors x;

    std::size_t at(std::size_t k) const { return static_cast<std::size_t>(s.integers.at(k)); }
    double number(std::size_t k) const { return s.numbers.at(k); }
    /// The integers from k on, as extents or as an array of labels.
    shape_list rest(std::size_t k = 0) const {
      shape_list all;
      for (; k < s.integers.size(); ++k) all.push_back(at(k));
      return all;
    }
    xt::xtensor<int, 1> labels(std::size_t k = 0) const {
      xt::xtensor<int, 1> all(std::array{s.integers.size() - k});
      for (std::size_t j = 0; j < all.size(); ++j) all(j) = s.integers[k + j];
      return all;
    }
  };
  using function = std::function<tensor(const arguments&)>;

  tensor apply(const program& p, const step& s, const tensors& values) const {
    const auto found = functions_.find(s.name);
    if (found == functions_.end()) throw error(text("programs.cpp does not know the operation ") << s.name.c_str());
    arguments with{p, s, {}};
    for (const std::size_t k : s.operands) with.x.push_back(values.at(k));
    return found->second(with);
  }

  /// The cross entropy with classes along dimension D and labels of so many dimensions.
  template <std::size_t Places, std::size_t D>
  static tensor cross_entropy_of(const arguments& a, dimensions_t<D> classes) {
    if constexpr (D <= Places) {
      std::array<std::size_t, Places> shape{};
      for (std::size_t k = 0; k < Places; ++k) shape[k] = a.x[0].extents()[k < D ? k : k + 1];
      xt::xtensor<int, Places> labels(shape);
      for (std::size_t k = 0; k < labels.size(); ++k) labels.data()[k] = a.s.integers.at(k + 1);
      return cross_entropy(a.x[0], labels, classes,
                           {.ignore_index = -1,
                            .class_weights = {a.s.numbers.begin() + 1, a.s.numbers.end()},
                            .label_smoothing = a.number(0)});
    } else {
      return {};
    }
  }
  /// f(dimensions<d>) for the dimension d.
  template <class F>
  static tensor along(std::size_t d, F f) {
    switch (d) {
      case 0:
        return f(dimensions<0>);
      case 1:
        return f(dimensions<1>);
      case 2:
        return f(dimensions<2>);
      default:
        return f(dimensions<3>);
    }
  }
  /// f(dimensions<...>) for the dimensions whose bits are set.
  template <class F>
  static tensor along_all(std::size_t bits, F f) {
    switch (bits) {
      case 1:
        return f(dimensions<0>);
      case 2:
        return f(dimensions<1>);
      case 3:
        return f(dimensions<0, 1>);
      case 4:
        return f(dimensions<2>);
      case 5:
        return f(dimensions<0, 2>);
      case 6:
        return f(dimensions<1, 2>);
      case 8:
        return f(dimensions<3>);
      case 12:
        return f(dimensions<2, 3>);
      default:
        throw error("programs.cpp does not know these dimensions");
    }
  }
  template <class F>
  static tensor placed_at(std::size_t bits, F f) {
    switch (bits) {
      case 1:
        return f(broadcast_dimensions<0>);
      case 2:
        return f(broadcast_dimensions<1>);
      case 3:
        return f(broadcast_dimensions<0, 1>);
      case 4:
        return f(broadcast_dimensions<2>);
      case 5:
        return f(broadcast_dimensions<0, 2>);
      default:
        return f(broadcast_dimensions<1, 2>);
    }
  }

  void functions_of_one() {
#define FUNCTION(name) functions_[#name] = [](const arguments& a) { return tensor(name(a.x[0])); }
    FUNCTION(exp), FUNCTION(log), FUNCTION(expm1), FUNCTION(log1p), FUNCTION(sqrt), FUNCTION(rsqrt), FUNCTION(square);
    FUNCTION(reciprocal), FUNCTION(abs), FUNCTION(sin), FUNCTION(cos), FUNCTION(tan), FUNCTION(tanh), FUNCTION(erf);
    FUNCTION(sign), FUNCTION(floor), FUNCTION(ceil), FUNCTION(round), FUNCTION(relu), FUNCTION(sigmoid), FUNCTION(gelu);
    FUNCTION(silu), FUNCTION(mish), FUNCTION(selu), FUNCTION(softsign), FUNCTION(hardsigmoid), FUNCTION(hardswish);
    FUNCTION(asin), FUNCTION(acos), FUNCTION(atan), FUNCTION(sinh), FUNCTION(cosh), FUNCTION(asinh), FUNCTION(acosh);
    FUNCTION(atanh), FUNCTION(is_nan), FUNCTION(is_inf), FUNCTION(stop_gradient);
#undef FUNCTION
    functions_["elu"] = [](const arguments& a) { return elu(a.x[0], a.number(0)); };
    functions_["celu"] = [](const arguments& a) { return celu(a.x[0], a.number(0)); };
    functions_["thresholded_relu"] = [](const arguments& a) { return thresholded_relu(a.x[0], a.number(0)); };
    functions_["leaky_relu"] = [](const arguments& a) { return leaky_relu(a.x[0], a.number(0)); };
    functions_["softplus"] = [](const arguments& a) { return softplus(a.x[0], a.number(0), a.number(1)); };
    functions_["clip"] = [](const arguments& a) { return clip(a.x[0], a.number(0), a.number(1)); };
  }
  void functions_of_two() {
#define FUNCTION(name) functions_[#name] = [](const arguments& a) { return tensor(name(a.x[0], a.x[1])); }
    FUNCTION(add), FUNCTION(subtract), FUNCTION(multiply), FUNCTION(divide), FUNCTION(maximum), FUNCTION(minimum);
    FUNCTION(pow), FUNCTION(mod), FUNCTION(less), FUNCTION(less_equal), FUNCTION(equal_to);
#undef FUNCTION
    functions_["where"] = [](const arguments& a) { return where(a.x[0], a.x[1], a.x[2]); };
    functions_["add_number"] = [](const arguments& a) { return add(a.x[0], a.number(0)); };
    functions_["number_minus"] = [](const arguments& a) { return subtract(a.number(0), a.x[0]); };
    functions_["multiply_number"] = [](const arguments& a) { return multiply(a.x[0], a.number(0)); };
    functions_["divide_number"] = [](const arguments& a) { return divide(a.x[0], a.number(0)); };
    functions_["number_over"] = [](const arguments& a) { return divide(a.number(0), a.x[0]); };
    functions_["pow_number"] = [](const arguments& a) { return pow(a.x[0], a.number(0)); };
    functions_["number_pow"] = [](const arguments& a) { return pow(a.number(0), a.x[0]); };
    functions_["mod_number"] = [](const arguments& a) { return mod(a.x[0], a.number(0)); };
    functions_["number_mod"] = [](const arguments& a) { return mod(a.number(0), a.x[0]); };
    functions_["add_at"] = [](const arguments& a) {
      return placed_at(a.at(0), [&](auto at) { return tensor(add(a.x[0], a.x[1], at)); });
    };
    functions_["multiply_at"] = [](const arguments& a) {
      return placed_at(a.at(0), [&](auto at) { return tensor(multiply(a.x[0], a.x[1], at)); });
    };
  }
  void products_and_shapes() {
    functions_["matmul"] = [](const arguments& a) { return matmul(a.x[0], a.x[1]); };
#define EINSUM(notation) \
  functions_["einsum:" notation] = [](const arguments& a) { return einsum<notation>(a.x[0], a.x[1]); }
    EINSUM("ij,kj->ik"), EINSUM("bij,bjk->bik"), EINSUM("bij,j->bi"), EINSUM("i,j->ij"), EINSUM("ijk,ijk->j");
    EINSUM("ij,ij->");
#undef EINSUM
    functions_["einsum:ijk->kj"] = [](const arguments& a) { return einsum<"ijk->kj">(a.x[0]); };
    functions_["transpose"] = [](const arguments& a) { return transpose(a.x[0]); };
#define PERMUTE(name, ...) \
  functions_["permute:" name] = [](const arguments& a) { return transpose(a.x[0], permute<__VA_ARGS__>); }
    PERMUTE("0,2,1", 0, 2, 1), PERMUTE("1,2,0", 1, 2, 0), PERMUTE("0,2,3,1", 0, 2, 3, 1);
    PERMUTE("3,1,0,2", 3, 1, 0, 2);
#undef PERMUTE
    functions_["reshape"] = [](const arguments& a) { return reshape(a.x[0], a.rest()); };
    functions_["reshard"] = [](const arguments& a) {
      return reshard(a.x[0], layout_of(a.p.on, a.x[0].rank(), a.s.integers));
    };
    functions_["slice"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return slice(a.x[0], d, {a.at(1), a.at(2)}); });
    };
    functions_["pad"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return pad(a.x[0], a.number(0), d, {a.at(1), a.at(2)}); });
    };
    functions_["concatenate"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return concatenate(d, a.x[0], a.x[1]); });
    };
    functions_["stack"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return stack(d, a.x[0], a.x[1]); });
    };
    functions_["flip"] = [](const arguments& a) { return along(a.at(0), [&](auto d) { return flip(a.x[0], d); }); };
    functions_["roll"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return roll(a.x[0], d, a.s.integers.at(1)); });
    };
    functions_["tile"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return tile(a.x[0], d, a.at(1)); });
    };
    functions_["strided_slice"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return strided_slice(a.x[0], d, {a.at(1), a.at(2), a.at(3)}); });
    };
    functions_["expand"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return expand(unsqueeze(a.x[0], d), d, a.at(1)); });
    };
    functions_["squeeze"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return squeeze(slice(a.x[0], d, {a.at(1), a.at(1) + 1}), d); });
    };
    functions_["tril"] = [](const arguments& a) { return tril(a.x[0], a.s.integers.at(0)); };
    functions_["triu"] = [](const arguments& a) { return triu(a.x[0], a.s.integers.at(0)); };
    functions_["softmax_along"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return softmax(a.x[0], d); });
    };
    functions_["log_softmax_along"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return log_softmax(a.x[0], d); });
    };
    functions_["split"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return split<2>(a.x[0], d)[a.at(1)]; });
    };
    functions_["cumsum"] = [](const arguments& a) { return along(a.at(0), [&](auto d) { return cumsum(a.x[0], d); }); };
    functions_["cumprod"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return cumprod(a.x[0], d); });
    };
    functions_["cummax"] = [](const arguments& a) { return along(a.at(0), [&](auto d) { return cummax(a.x[0], d); }); };
    functions_["cummin"] = [](const arguments& a) { return along(a.at(0), [&](auto d) { return cummin(a.x[0], d); }); };
  }
  void reductions() {
    functions_["sum"] = [](const arguments& a) {
      return a.at(0) == 0 ? sum(a.x[0]) : along_all(a.at(0), [&](auto d) { return tensor(sum(a.x[0], d)); });
    };
    functions_["mean"] = [](const arguments& a) {
      return a.at(0) == 0 ? mean(a.x[0]) : along_all(a.at(0), [&](auto d) { return tensor(mean(a.x[0], d)); });
    };
    functions_["largest"] = [](const arguments& a) {
      return along_all(a.at(0), [&](auto d) { return tensor(maximum(a.x[0], d)); });
    };
    functions_["smallest"] = [](const arguments& a) {
      return along_all(a.at(0), [&](auto d) { return tensor(minimum(a.x[0], d)); });
    };
  }
  void indices() {
    functions_["take"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return take(a.x[0], a.labels(1), d); });
    };
    functions_["scatter_add"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return scatter_add(a.x[0], a.x[1], a.x[2], d); });
    };
    functions_["add_along_axis"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return add_along_axis(a.x[0], a.x[1], a.x[2], d); });
    };
    functions_["argmax"] = [](const arguments& a) { return along(a.at(0), [&](auto d) { return argmax(a.x[0], d); }); };
    functions_["sort"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return sort(a.x[0], d, {.descending = a.at(1) != 0}); });
    };
    functions_["argsort"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return argsort(a.x[0], d, {.descending = a.at(1) != 0}); });
    };
    functions_["top_k"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) { return top_k(a.x[0], a.at(1), d).values; });
    };
    functions_["one_hot"] = [](const arguments& a) { return one_hot(a.x[0], a.at(0)); };
    functions_["lookup"] = [](const arguments& a) { return lookup(a.x[0], a.labels()); };
  }
  void networks() {
    functions_["softmax"] = [](const arguments& a) { return softmax(a.x[0]); };
    functions_["log_softmax"] = [](const arguments& a) { return log_softmax(a.x[0]); };
    functions_["cross_entropy_of"] = [](const arguments& a) {
      return along(a.at(0), [&](auto d) {
        switch (a.x[0].rank()) {
          case 2:
            return cross_entropy_of<1>(a, d);
          case 3:
            return cross_entropy_of<2>(a, d);
          default:
            return cross_entropy_of<3>(a, d);
        }
      });
    };
    functions_["cross_entropy"] = [](const arguments& a) { return cross_entropy(a.x[0], a.labels()); };
    functions_["attention"] = [](const arguments& a) {
      return attention(a.x[0], a.x[1], a.x[2], {.causal = a.at(0) == 1});
    };
    functions_["layer_norm"] = [](const arguments& a) { return normalise(a.x[0], a.x[1], a.x[2], a.number(0)); };
    functions_["batch_norm"] = [](const arguments& a) { return normalise_batch(a.x[0], a.x[1], a.x[2], a.number(0)); };
    functions_["batch_norm_by"] = [](const arguments& a) {
      return normalise_with_statistics(a.x[0], a.x[1], a.x[2], a.x[3], a.x[4], a.number(0));
    };
    functions_["rms_norm"] = [](const arguments& a) { return normalise_rms(a.x[0], a.x[1], a.number(0)); };
    functions_["local_response_norm"] = [](const arguments& a) {
      return normalise_locally(a.x[0], {a.at(0), a.number(0), a.number(1), a.number(2)});
    };
    functions_["group_norm:1"] = [](const arguments& a) {
      return normalise_groups<1>(a.x[0], a.x[1], a.x[2], a.number(0));
    };
    functions_["group_norm:2"] = [](const arguments& a) {
      return normalise_groups<2>(a.x[0], a.x[1], a.x[2], a.number(0));
    };
  }
  void images() {
    const auto windows = [](const arguments& a) {
      return convolve_options<2>{
          .stride = {a.at(0), a.at(1)}, .padding = {a.at(2), a.at(3)}, .dilation = {a.at(4), a.at(5)}};
    };
    functions_["convolve:1"] = [=](const arguments& a) { return convolve<2>(a.x[0], a.x[1], windows(a)); };
    functions_["convolve:2"] = [=](const arguments& a) { return convolve<2, 2>(a.x[0], a.x[1], windows(a)); };
    functions_["convolve:bias"] = [=](const arguments& a) { return convolve<2>(a.x[0], a.x[1], a.x[2], windows(a)); };
    functions_["convolve_transposed"] = [](const arguments& a) {
      return convolve_transposed<2>(a.x[0], a.x[1],
                                    {.stride = {a.at(0), a.at(1)},
                                     .padding = {a.at(2), a.at(3)},
                                     .output_padding = {a.at(6), a.at(7)},
                                     .dilation = {a.at(4), a.at(5)}});
    };
    functions_["max_pool"] = [](const arguments& a) {
      return max_pool<2>(a.x[0], {.kernel = {a.at(0), a.at(1)},
                                  .stride = per_dimension<2>{a.at(2), a.at(3)},
                                  .padding = {a.at(4), a.at(5)},
                                  .dilation = {a.at(6), a.at(7)},
                                  .ceil_mode = a.at(8) == 1});
    };
    functions_["average_pool"] = [](const arguments& a) {
      return average_pool<2>(a.x[0], {.kernel = {a.at(0), a.at(1)},
                                      .stride = per_dimension<2>{a.at(2), a.at(3)},
                                      .padding = {a.at(4), a.at(5)},
                                      .ceil_mode = a.at(6) == 1,
                                      .count_include_pad = a.at(7) == 1});
    };
    functions_["adaptive_max_pool"] = [](const arguments& a) {
      return adaptive_max_pool<2>(a.x[0], {.size = {a.at(0), a.at(1)}});
    };
    functions_["adaptive_average_pool"] = [](const arguments& a) {
      return adaptive_average_pool<2>(a.x[0], {.size = {a.at(0), a.at(1)}});
    };
    functions_["upsample"] = [](const arguments& a) {
      return upsample<2>(a.x[0], {.size = per_dimension<2>{a.at(0), a.at(1)},
                                  .mode = a.at(2) > 0 ? upsampling_mode::linear : upsampling_mode::nearest,
                                  .align_corners = a.at(2) == 2});
    };
  }
  void loss_functions() {
    functions_["l1"] = [](const arguments& a) { return losses::l1(a.x[0], a.x[1]); };
    functions_["smooth_l1"] = [](const arguments& a) {
      return losses::smooth_l1(a.x[0], a.x[1], {.beta = a.number(0)});
    };
    functions_["mse"] = [](const arguments& a) { return losses::mse(a.x[0], a.x[1]); };
    functions_["bce"] = [](const arguments& a) { return losses::bce(a.x[0], a.x[1]); };
    functions_["bce_with_logits"] = [](const arguments& a) { return losses::bce_with_logits(a.x[0], a.x[1]); };
    functions_["kl"] = [](const arguments& a) { return losses::kl(a.x[0], a.x[1], {.log_target = a.at(0) == 1}); };
    functions_["poisson_nll"] = [](const arguments& a) {
      return losses::poisson_nll(a.x[0], a.x[1], {.log_input = a.at(0) == 1, .epsilon = a.number(0)});
    };
  }

  std::map<std::string, function> functions_;
};

/// The learning rates of a step whose name is that of the schedule: its numbers, then its integers.
std::function<double(std::size_t)> schedule_of(const step& s) {
  const auto count = [&](std::size_t k) { return static_cast<std::size_t>(s.integers.at(k)); };
  if (s.name == "constant") return schedules::constant{s.numbers.at(0)};
  if (s.name == "step") return schedules::step{s.numbers.at(0), count(0), s.numbers.at(1)};
  const schedules::cosine cosine{s.numbers.at(0), count(0), s.numbers.at(1)};
  if (s.name == "cosine") return cosine;
  return schedules::warm_up(count(1), cosine);
}
/// Writes the first input after each step of an optimiser, whose gradients are the other inputs. The first step of the
/// program is the schedule, the second one has the optimiser's options as numbers; the state is sharded further over
/// its integers' axes.
template <class T, class Options>
void train(const world& everyone, const program& p, Options options, std::ostream& to) {
  auto w = tensor_of_input<T>(everyone, p.on, p.inputs[0]);
  const auto rate = schedule_of(p.steps[0]);
  const auto& integers = p.steps[1].integers;
  const char* const axes = integers.empty() ? "" : integers[0] == 0 ? "a" : "b";
  sharded_optimiser<T, Options> optimiser(std::vector<parameter_ref<T>>{w}, options, optimiser_state_axes{axes});
  for (std::size_t k = 1; k < p.inputs.size(); ++k) {
    optimiser.options().learning_rate = rate(optimiser.steps());
    optimiser.step(std::tuple(tensor_of_input<T>(everyone, p.on, p.inputs[k])));
    write("value", w, to);
  }
}
template <class T>
void train(const world& everyone, const program& p, std::ostream& to) {
  const step& s = p.steps[1];
  const auto number = [&](std::size_t k) { return s.numbers.at(k); };
  const auto of_adam = [&](auto o) {
    o.beta1 = number(0), o.beta2 = number(1), o.epsilon = number(2), o.weight_decay = number(3);
    o.amsgrad = number(4) != 0;
    return o;
  };
  if (s.name == "sgd") {
    const sgd_options o{
        .momentum = number(0), .dampening = number(1), .weight_decay = number(2), .nesterov = number(3) != 0};
    train<T>(everyone, p, o, to);
  } else if (s.name == "adam") {
    train<T>(everyone, p, of_adam(adam_options()), to);
  } else {
    train<T>(everyone, p, of_adam(adamw_options()), to);
  }
}
bool trains(const program& p) {
  return p.steps.size() == 2 && (p.steps[1].name == "sgd" || p.steps[1].name.starts_with("adam"));
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment mpi(argc, argv);
  world everyone;
  std::ifstream file(argc == 2 ? argv[1] : "");
  if (!file) {
    std::cerr << "usage: programs FILE\n";
    return 2;
  }
  const executor<double> of_doubles;
  const executor<float> of_floats;
  for (std::string number; file >> number;) {
    const program p = read_program(file);
    std::ostringstream out;
    out << std::setprecision(17);
    try {
      const bool is_float = p.element == "float";
      if (trains(p)) is_float ? train<float>(everyone, p, out) : train<double>(everyone, p, out);
      else is_float ? of_floats(everyone, p, out) : of_doubles(everyone, p, out);
    } catch (const std::exception& e) {
      out << "error " << e.what() << '\n';
    }
    if (everyone.id() == 0) std::cout << "program " << number << '\n' << out.str() << std::flush;
  }
}
