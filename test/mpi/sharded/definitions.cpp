// Compares each operation on sharded tensors with its definition, a loop over the whole array. Numbers are small, so
// that many elements are equal; infinities and NaN are tested where they have a meaning; epsilons are large enough to
// change the results.
#include "layouts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <partita/sharded/arithmetic.hpp>
#include <partita/sharded/attention.hpp>
#include <partita/sharded/einsum.hpp>
#include <partita/sharded/gather.hpp>
#include <partita/sharded/indexed.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/operations.hpp>
#include <partita/sharded/parts.hpp>
#include <partita/sharded/rearrange.hpp>
#include <partita/sharded/scatter.hpp>
#include <partita/sharded/tensor_functions.hpp>
#include <partita/sharded/value_and_gradient.hpp>
#include <random_cases.hpp>
#include <refused.hpp>
#include <string>
#include <vector>

using namespace partita;

namespace {

/// A whole array, for the loops.
struct array {
  shape_list extents;
  std::vector<double> elements;

  explicit array(const shape_list& e) : extents(e) {
    std::size_t n = 1;
    for (const std::size_t extent : e) n *= extent;
    elements.assign(n, 0.0);
  }
  double& operator()(const shape_list& i) { return elements[place(i)]; }
  double operator()(const shape_list& i) const { return elements[place(i)]; }
  std::size_t place(const shape_list& i) const {
    std::size_t k = 0;
    for (std::size_t d = 0; d < i.size(); ++d) k = k * extents[d] + i[d];
    return k;
  }
};

/// Calls f with every index of these extents, in order.
template <class F>
void for_each_index(const shape_list& extents, F f) {
  std::size_t n = 1;
  for (const std::size_t e : extents) n *= e;
  for (std::size_t k = 0; k < n; ++k) {
    shape_list i = extents;
    std::size_t rest = k;
    for (std::size_t d = extents.size(); d > 0; --d) i[d - 1] = rest % extents[d - 1], rest /= extents[d - 1];
    f(i);
  }
}
/// An array of these extents whose elements are f(index).
template <class F>
array made(const shape_list& extents, F f) {
  array y(extents);
  for_each_index(extents, [&](const shape_list& i) { y(i) = f(i); });
  return y;
}
shape_list without(const shape_list& i, std::size_t d) {
  shape_list left;
  for (std::size_t k = 0; k < i.size(); ++k)
    if (k != d) left.push_back(i[k]);
  return left;
}
shape_list with(const shape_list& i, std::size_t d, std::size_t at) {
  shape_list all;
  for (std::size_t k = 0; k <= i.size(); ++k) {
    if (k == d) all.push_back(at);
    if (k < i.size()) all.push_back(i[k]);
  }
  return all;
}
shape_list replaced(shape_list i, std::size_t d, std::size_t at) {
  i[d] = at;
  return i;
}

enum class numbers { small, with_infinities, with_nan };

double number(std::mt19937& random, numbers kind) {
  const double small = static_cast<double>(random() % 3);
  if (kind == numbers::small || random() % 6 != 0) return small;
  if (kind == numbers::with_nan && random() % 2 == 0) return std::numeric_limits<double>::quiet_NaN();
  return (random() % 2 == 0 ? 1 : -1) * std::numeric_limits<double>::infinity();
}

/// Meshes of one, two and three axes.
mesh some_mesh(std::size_t workers, std::mt19937& random) {
  auto all = test::meshes(workers);
  if (workers >= 4) all.push_back(mesh{axis{"a", 2}, axis{"b", 1}, axis{"c", workers / 2}});
  return all[random() % all.size()];
}

template <class T>
struct cases {
  const world& everyone;
  std::mt19937& random;
  mesh m = some_mesh(everyone.size(), random);

  array whole(const shape_list& extents, numbers kind = numbers::small) const {
    return made(extents, [&](const auto&) { return number(random, kind); });
  }
  /// A sharded tensor of these elements in a random layout.
  sharded_tensor<T> placed(const array& x) const {
    const auto all = test::layouts(m, x.extents.size());
    return placed(x, all[random() % all.size()]);
  }
  sharded_tensor<T> placed(const array& x, const sharding& s) const {
    return shard<T>(everyone, s, x.extents, [&](const auto& i) {
      shape_list at;
      for (const std::size_t one : i) at.push_back(one);
      return static_cast<T>(x(at));
    });
  }
  /// Compares a result with its definition: up to rounding, or exactly if `tolerance` is 0.
  void expect(const char* name, const sharded_tensor<T>& y, const array& wanted, double tolerance = 0) const {
    const auto all = reshard(y, sharding(m, y.rank()));
    text where(name);
    where << ": result of extents " << all.extents() << " in layout " << y.layout() << " of " << m << ", defined with "
          << wanted.extents;
    BOOST_TEST((all.extents() == wanted.extents), where);
    if (!(all.extents() == wanted.extents) || everyone.id() >= m.size()) return;
    for (std::size_t k = 0; k < all.size(); ++k) {
      const double is = static_cast<double>(all.data()[k]), ought = wanted.elements[k];
      const bool same = std::isnan(ought)            ? std::isnan(is)
                        : is == ought                ? true
                        : !std::isfinite(is - ought) ? false
                                                     : std::abs(is - ought) <= tolerance * (1 + std::abs(ought));
      BOOST_TEST(same, where << "; element " << k << " is " << is << " instead of " << ought);
    }
  }
};

template <class F>
void for_types(F f) {
  const world everyone(test::workers());
  std::mt19937 random(61);
  for (std::size_t k = 0; k < test::random_cases(12); ++k) {
    f(cases<double>{everyone, random}, 1e-12);
    f(cases<float>{everyone, random}, 1e-5);
  }
}
std::size_t extent(std::mt19937& random) { return 1 + random() % 5; }

/// The sum over dimension d of f(element), divided by `over`.
template <class F>
array summed(const array& x, std::size_t d, F f, double over = 1) {
  return made(without(x.extents, d), [&](const shape_list& i) {
    double all = 0;
    for (std::size_t k = 0; k < x.extents[d]; ++k) all += f(x(with(i, d, k)));
    return all / over;
  });
}
/// The largest (or smallest) element of each line along d; NaN if the line contains one.
array extreme(const array& x, std::size_t d, double sign) {
  return made(without(x.extents, d), [&](const shape_list& i) {
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < x.extents[d]; ++k) {
      const double one = sign * x(with(i, d, k));
      if (std::isnan(one)) return one;
      best = std::max(best, one);
    }
    return sign * best;
  });
}

/// The index of the first largest (or smallest) element of each line along d; of the first NaN if the line contains
/// one.
array place_of_extreme(const array& x, std::size_t d, double sign) {
  return made(without(x.extents, d), [&](const shape_list& i) {
    std::size_t first = 0;
    for (std::size_t k = 0; k < x.extents[d]; ++k) {
      if (std::isnan(x(with(i, d, k)))) return static_cast<double>(k);
      if (sign * x(with(i, d, k)) > sign * x(with(i, d, first))) first = k;
    }
    return static_cast<double>(first);
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(definitions)

BOOST_AUTO_TEST_CASE(the_sum_of_a_small_matrix_along_its_rows) {
  const world everyone(test::workers());
  const mesh m{axis{"a", everyone.size()}};
  const auto x = shard<double>(everyone, m.layout("", "a"), {2, 3},
                               [](const auto& i) { return static_cast<double>(3 * i[0] + i[1]); });
  const auto y = reshard(sum(x, dimensions<1>), m.layout(""));  // 0 1 2 | 3 4 5
  BOOST_TEST(y.data()[0] == 3);
  BOOST_TEST(y.data()[1] == 12);
}

BOOST_AUTO_TEST_CASE(reductions_along_each_dimension) {
  for_types([](const auto& c, double tolerance) {
    const shape_list e{extent(c.random), extent(c.random), extent(c.random)};
    const auto identity = [](double x) { return x; };
    const array small = c.whole(e);
    const auto x = c.placed(small);
    const auto each = [&](auto d) {
      constexpr std::size_t D = decltype(d)::value;
      c.expect("sum", sum(x, dimensions<D>), summed(small, D, identity));
      c.expect("mean", mean(x, dimensions<D>), summed(small, D, identity, static_cast<double>(e[D])), tolerance);
      for (const numbers kind : {numbers::small, numbers::with_infinities, numbers::with_nan}) {
        const array any = c.whole(e, kind);
        c.expect("maximum", maximum(c.placed(any), dimensions<D>), extreme(any, D, 1));
        c.expect("minimum", minimum(c.placed(any), dimensions<D>), extreme(any, D, -1));
        c.expect("argmax", argmax(c.placed(any), dimensions<D>), place_of_extreme(any, D, 1));
        c.expect("argmin", argmin(c.placed(any), dimensions<D>), place_of_extreme(any, D, -1));
      }
      c.expect("cumsum", cumsum(x, dimensions<D>), made(e, [&](const shape_list& i) {
                 double all = 0;
                 for (std::size_t k = 0; k <= i[D]; ++k) all += small(replaced(i, D, k));
                 return all;
               }));
    };
    each(std::integral_constant<std::size_t, 0>());
    each(std::integral_constant<std::size_t, 1>());
    each(std::integral_constant<std::size_t, 2>());
    double all = 0;
    for (const double one : small.elements) all += one;
    array total{shape_list()};
    total.elements[0] = all;
    c.expect("sum of all", sum(x), total);
    total.elements[0] = all / static_cast<double>(small.elements.size());
    c.expect("mean of all", mean(x), total, tolerance);
  });
}

BOOST_AUTO_TEST_CASE(products_of_indices) {
  for_types([](const auto& c, double) {
    const std::size_t a = extent(c.random), b = extent(c.random), k = extent(c.random), n = extent(c.random);
    // every result is a sum, over all letters, of the product of the elements at these indices
    const auto product = [&](const std::string& letters, const shape_list& of_letters, const std::string& lx,
                             const array& x, const std::string& ly, const array* y, const std::string& lz) {
      const auto pick = [&](const std::string& some, const shape_list& i) {
        shape_list at;
        for (const char l : some) at.push_back(i[letters.find(l)]);
        return at;
      };
      array z(pick(lz, of_letters));
      for_each_index(of_letters, [&](const shape_list& i) {
        z(pick(lz, i)) += x(pick(lx, i)) * (y != nullptr ? (*y)(pick(ly, i)) : 1);
      });
      return z;
    };
    const shape_list abkn{a, b, k, n};
    const array x3 = c.whole({a, b, k}), y3 = c.whole({a, k, n}), x2 = c.whole({a, b}), y2 = c.whole({b, k});
    const auto X3 = c.placed(x3), Y3 = c.placed(y3), X2 = c.placed(x2), Y2 = c.placed(y2);
    const auto with_two = [&](const char* name, const auto& z, const std::string& lx, const array& x,
                              const std::string& ly, const array& y, const std::string& lz) {
      std::string letters;
      shape_list extents;
      for (const std::string& all : {lx, ly})
        for (const char l : all)
          if (letters.find(l) == std::string::npos) letters += l, extents.push_back(abkn[std::string("abkn").find(l)]);
      c.expect(name, z, product(letters, extents, lx, x, ly, &y, lz));
    };
    with_two("abk,akn->abn", einsum<"abk,akn->abn">(X3, Y3), "abk", x3, "akn", y3, "abn");
    with_two("abk,akn->nab", einsum<"abk,akn->nab">(X3, Y3), "abk", x3, "akn", y3, "nab");
    with_two("abk,akn->bna", einsum<"abk,akn->bna">(X3, Y3), "abk", x3, "akn", y3, "bna");
    with_two("abk,akn->b", einsum<"abk,akn->b">(X3, Y3), "abk", x3, "akn", y3, "b");
    with_two("abk,akn->ak", einsum<"abk,akn->ak">(X3, Y3), "abk", x3, "akn", y3, "ak");
    with_two("ab,bk->ak", einsum<"ab,bk->ak">(X2, Y2), "ab", x2, "bk", y2, "ak");
    with_two("ab,bk->ka", einsum<"ab,bk->ka">(X2, Y2), "ab", x2, "bk", y2, "ka");
    with_two("ab,bk->b", einsum<"ab,bk->b">(X2, Y2), "ab", x2, "bk", y2, "b");
    with_two("ab,bk->kba", einsum<"ab,bk->kba">(X2, Y2), "ab", x2, "bk", y2, "kba");
    with_two("abk,bk->ka", einsum<"abk,bk->ka">(X3, Y2), "abk", x3, "bk", y2, "ka");
    with_two("matmul", matmul(X2, Y2), "ab", x2, "bk", y2, "ak");
    with_two("matmul of batches", matmul(X3, Y3), "abk", x3, "akn", y3, "abn");
    c.expect("transpose", transpose(X3, permute<2, 0, 1>), made({k, a, b}, [&](const shape_list& i) {
               return x3(shape_list{i[1], i[2], i[0]});
             }));
  });
}

BOOST_AUTO_TEST_CASE(norms_with_an_epsilon_that_is_seen) {
  for_types([](const auto& c, double tolerance) {
    const double epsilon = 4;
    const shape_list e{extent(c.random), 3 * extent(c.random), extent(c.random)};
    const array x = c.whole(e), last_gamma = c.whole({e[2]}), last_beta = c.whole({e[2]}), gamma = c.whole({e[1]}),
                beta = c.whole({e[1]});
    const auto X = c.placed(x);
    const auto G = c.placed(gamma), B = c.placed(beta), LG = c.placed(last_gamma), LB = c.placed(last_beta);
    // the mean of some elements, their variance, and the mean of their squares
    struct statistics {
      double mean = 0, variance = 0, squares = 0;
    };
    const auto of = [&](auto belongs) {
      statistics s;
      double n = 0;
      for_each_index(e, [&](const shape_list& i) {
        if (belongs(i)) s.mean += x(i), s.squares += x(i) * x(i), ++n;
      });
      s.mean /= n, s.squares /= n;
      for_each_index(e, [&](const shape_list& i) {
        if (belongs(i)) s.variance += (x(i) - s.mean) * (x(i) - s.mean) / n;
      });
      return s;
    };
    c.expect("normalise", normalise(X, LG, LB, epsilon),
             made(e,
                  [&](const shape_list& i) {
                    const auto s = of([&](const shape_list& j) { return j[0] == i[0] && j[1] == i[1]; });
                    return (x(i) - s.mean) / std::sqrt(s.variance + epsilon) * last_gamma({i[2]}) + last_beta({i[2]});
                  }),
             tolerance);
    c.expect("normalise_rms", normalise_rms(X, LG, epsilon),
             made(e,
                  [&](const shape_list& i) {
                    const auto s = of([&](const shape_list& j) { return j[0] == i[0] && j[1] == i[1]; });
                    return x(i) / std::sqrt(s.squares + epsilon) * last_gamma({i[2]});
                  }),
             tolerance);
    c.expect("normalise_batch", normalise_batch(X, G, B, epsilon),
             made(e,
                  [&](const shape_list& i) {
                    const auto s = of([&](const shape_list& j) { return j[1] == i[1]; });
                    return (x(i) - s.mean) / std::sqrt(s.variance + epsilon) * gamma({i[1]}) + beta({i[1]});
                  }),
             tolerance);
    c.expect("normalise_groups", normalise_groups<3>(X, G, B, epsilon),
             made(e,
                  [&](const shape_list& i) {
                    const std::size_t of_group = e[1] / 3;
                    const auto s =
                        of([&](const shape_list& j) { return j[0] == i[0] && j[1] / of_group == i[1] / of_group; });
                    return (x(i) - s.mean) / std::sqrt(s.variance + epsilon) * gamma({i[1]}) + beta({i[1]});
                  }),
             tolerance);
    const local_response_options local{.size = 1 + c.random() % 4, .alpha = 3, .beta = 0.5, .k = 2};
    c.expect("normalise_locally", normalise_locally(X, local),
             made(e,
                  [&](const shape_list& i) {
                    double squares = 0;  // of one channel more behind than before, if the size is even
                    for (std::size_t k = 0; k < e[1]; ++k)
                      if (k + (local.size - 1) / 2 >= i[1] && k <= i[1] + local.size / 2)
                        squares += x(replaced(i, 1, k)) * x(replaced(i, 1, k));
                    return x(i) / std::sqrt(local.k + local.alpha / static_cast<double>(local.size) * squares);
                  }),
             tolerance);
    const auto exponentials = [&](const shape_list& i) {
      double all = 0;
      for (std::size_t k = 0; k < e[2]; ++k) all += std::exp(x(replaced(i, 2, k)));
      return all;
    };
    c.expect("softmax", softmax(X), made(e, [&](const shape_list& i) { return std::exp(x(i)) / exponentials(i); }),
             tolerance);
    c.expect("log_softmax", log_softmax(X),
             made(e, [&](const shape_list& i) { return x(i) - std::log(exponentials(i)); }), tolerance);
    const auto along_1 = [&](const shape_list& i) {
      double all = 0;
      for (std::size_t k = 0; k < e[1]; ++k) all += std::exp(x(replaced(i, 1, k)));
      return all;
    };
    c.expect("softmax along dimension 1", softmax(X, dimensions<1>),
             made(e, [&](const shape_list& i) { return std::exp(x(i)) / along_1(i); }), tolerance);
    c.expect("log_softmax along dimension 1", log_softmax(X, dimensions<1>),
             made(e, [&](const shape_list& i) { return x(i) - std::log(along_1(i)); }), tolerance);
  });
}

/// Norms of ranks 1 to 8, and the gradients of sum(dy * norm(x)) by their formula: with n = (x - mean) / sqrt(variance
/// + epsilon) of the elements that belong together, that of x is (g - mean of g - n * mean of g n) / sqrt(variance +
/// epsilon), g = gamma dy; without the mean of g if the mean is not subtracted. Another number of parameters is
/// refused.
BOOST_AUTO_TEST_CASE(norms_of_every_rank_and_their_gradients) {
  const auto of_rank = [](std::size_t rank, const auto& c, double tolerance) {
    const double epsilon = c.random() % 2 == 0 ? 4 : 0.25;
    shape_list e{extent(c.random)};
    if (rank > 1) e.push_back(2 * (1 + c.random() % 2));
    for (std::size_t volume = e[0] * 4; e.size() < rank; volume *= e[e.size() - 1])
      e.push_back(volume > 32 ? 1 : 1 + c.random() % 3);
    const std::size_t last = rank - 1, channels = rank > 1 ? e[1] : 1;
    const array x = c.whole(e), dy = c.whole(e), last_gamma = c.whole({e[last]}), last_beta = c.whole({e[last]}),
                gamma = c.whole({channels}), beta = c.whole({channels});
    const auto X = c.placed(x), DY = c.placed(dy), G = c.placed(gamma), B = c.placed(beta), LG = c.placed(last_gamma),
               LB = c.placed(last_beta);
    const auto check = [&](const char* name, auto norm, const auto& W, const array& w, const auto& S,
                           const array& shift, std::size_t d, bool centred, auto together) {
      array y(e), dx(e), dw(w.extents), ds(w.extents);
      for_each_index(e, [&](const shape_list& i) {
        double n = 0, mean = 0, spread = 0, slope = 0, product = 0;
        const auto each = [&](auto f) {
          for_each_index(e, [&](const shape_list& j) {
            if (together(i, j)) f(j);
          });
        };
        each([&](const shape_list& j) { ++n, mean += x(j); });
        mean = centred ? mean / n : 0;
        each([&](const shape_list& j) { spread += (x(j) - mean) * (x(j) - mean) / n; });
        const double root = std::sqrt(spread + epsilon);
        each([&](const shape_list& j) {
          const double g = w({j[d]}) * dy(j) / n;
          slope += centred ? g : 0, product += g * (x(j) - mean) / root;
        });
        const double normal = (x(i) - mean) / root;
        y(i) = normal * w({i[d]}) + (centred ? shift({i[d]}) : 0);
        dx(i) = (w({i[d]}) * dy(i) - slope - normal * product) / root;
        dw({i[d]}) += dy(i) * normal;
        ds({i[d]}) += centred ? dy(i) : 0;
      });
      c.expect(name, norm(X, W, S), y, tolerance);
      const auto all =
          value_and_gradient([&](const auto& a, const auto& b,
                                 const auto& s) { return sum(add(multiply(norm(a, b, s), DY), multiply(sum(s), 0))); },
                             X, W, S);
      c.expect(name, std::get<0>(all.gradients), dx, 10 * tolerance);
      c.expect(name, std::get<1>(all.gradients), dw, 10 * tolerance);
      c.expect(name, std::get<2>(all.gradients), ds, 10 * tolerance);
      const auto longer = c.placed(c.whole({w.extents[0] + 2}));
      if (w.extents[0] > 1) BOOST_CHECK_THROW(norm(X, longer, longer), shape_error);
    };
    const auto line = [last](const shape_list& i, const shape_list& j) { return without(i, last) == without(j, last); };
    check(
        "normalise", [&](const auto& a, const auto& b, const auto& s) { return normalise(a, b, s, epsilon); }, LG,
        last_gamma, LB, last_beta, last, true, line);
    check(
        "normalise_rms", [&](const auto& a, const auto& b, const auto&) { return normalise_rms(a, b, epsilon); }, LG,
        last_gamma, LB, last_beta, last, false, line);
    if (rank == 1) return;
    check(
        "normalise_batch",
        [&](const auto& a, const auto& b, const auto& s) { return normalise_batch(a, b, s, epsilon); }, G, gamma, B,
        beta, 1, true, [](const shape_list& i, const shape_list& j) { return i[1] == j[1]; });
    check(
        "normalise_groups",
        [&](const auto& a, const auto& b, const auto& s) { return normalise_groups<2>(a, b, s, epsilon); }, G, gamma, B,
        beta, 1, true,
        [&](const shape_list& i, const shape_list& j) { return i[0] == j[0] && 2 * i[1] / e[1] == 2 * j[1] / e[1]; });
  };
  const world everyone(test::workers());
  std::mt19937 random(62);
  for (std::size_t rank = 1; rank <= 8; ++rank) {
    of_rank(rank, cases<double>{everyone, random}, 1e-12);
    of_rank(rank, cases<float>{everyone, random}, 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(attention_with_and_without_a_causal_mask) {
  for_types([](const auto& c, double tolerance) {
    const std::size_t heads = extent(c.random), queries = extent(c.random), keys = queries + c.random() % 3,
                      width = extent(c.random), out = extent(c.random);
    const array q = c.whole({heads, queries, width}), k = c.whole({heads, keys, width}),
                v = c.whole({heads, keys, out});
    const auto Q = c.placed(q), K = c.placed(k), V = c.placed(v);
    for (const bool causal : {false, true})
      for (const double scale : {0.0, 0.25, -0.5}) {
        const double factor = scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(width));
        const array wanted = made({heads, queries, out}, [&](const shape_list& i) {
          double sum = 0, all = 0;
          for (std::size_t key = 0; key < keys; ++key) {
            if (causal && key > i[1] + keys - queries) continue;
            double score = 0;
            for (std::size_t w = 0; w < width; ++w) score += q({i[0], i[1], w}) * k({i[0], key, w});
            const double weight = std::exp(factor * score);
            sum += weight, all += weight * v({i[0], key, i[2]});
          }
          return all / sum;
        });
        c.expect(causal ? "causal attention" : "attention", attention(Q, K, V, {.causal = causal, .scale = scale}),
                 wanted, tolerance);
      }
  });
}

BOOST_AUTO_TEST_CASE(the_gradient_of_rows_writes_nothing_outside_the_block_of_its_worker) {
  const std::vector<std::size_t> rows{0, 2, 3, 3, 4, 5};
  const std::vector<double> dy(rows.size(), 1);
  std::vector<double> memory(9, 7);  // rows 2 and 3 of 6 lie in its middle
  const detail::take_adjoint_op<0, 1, true> back{{std::make_shared<const std::vector<std::size_t>>(rows), {6}}, 6};
  back.local(tensor_part<const double>{dy.data(), {6}, {interval{0, 6}}, {6}},
             tensor_part<double>{memory.data() + 3, {2}, {interval{2, 4}}, {6}});
  BOOST_TEST(memory == (std::vector<double>{7, 7, 7, 1, 2, 7, 7, 7, 7}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(elements_in_other_places) {
  for_types([](const auto& c, double) {
    const std::size_t a = extent(c.random), b = extent(c.random), step = 1 + c.random() % 3;
    const array x = c.whole({a, b});
    const auto wrapped = [](std::ptrdiff_t i, std::size_t n) {
      const auto all = static_cast<std::ptrdiff_t>(n);
      return static_cast<std::size_t>((i % all + all) % all);
    };
    for (const sharding& s : test::layouts(c.m, 2)) {  // every layout
      const auto X = c.placed(x, s);
      const auto shift = static_cast<std::ptrdiff_t>(c.random() % 9) - 4;
      const auto back = [&](std::size_t i, std::size_t n) {
        return wrapped(static_cast<std::ptrdiff_t>(i) - shift, n);
      };
      c.expect("tril", tril(X, shift), made({a, b}, [&](const shape_list& i) {
                 return static_cast<std::ptrdiff_t>(i[1]) - static_cast<std::ptrdiff_t>(i[0]) <= shift ? x(i) : 0;
               }));
      c.expect("triu", triu(X, shift), made({a, b}, [&](const shape_list& i) {
                 return static_cast<std::ptrdiff_t>(i[1]) - static_cast<std::ptrdiff_t>(i[0]) >= shift ? x(i) : 0;
               }));
      c.expect("flip", flip(X, dimensions<0, 1>), made({a, b}, [&](const shape_list& i) {
                 return x({a - 1 - i[0], b - 1 - i[1]});
               }));
      c.expect("roll", roll(X, dimensions<0, 1>, shift, -shift), made({a, b}, [&](const shape_list& i) {
                 return x({back(i[0], a), wrapped(static_cast<std::ptrdiff_t>(i[1]) + shift, b)});
               }));
      c.expect("tile", tile(X, dimensions<0, 1>, step, std::size_t{2}),
               made({a * step, 2 * b}, [&](const shape_list& i) {
                 return x({i[0] % a, i[1] % b});
               }));
      c.expect("strided_slice", strided_slice(X, dimensions<0>, {0, a, step}),
               made({(a + step - 1) / step, b}, [&](const shape_list& i) {
                 return x({i[0] * step, i[1]});
               }));
    }
  });
}

BOOST_AUTO_TEST_CASE(parts_and_indices) {
  for_types([](const auto& c, double) {
    const std::size_t a = extent(c.random), b = extent(c.random), start = c.random() % b,
                      stop = start + c.random() % (b - start + 1), before = c.random() % 3, after = c.random() % 3;
    const array x = c.whole({a, b}), y = c.whole({a, extent(c.random)});
    const auto X = c.placed(x), Y = c.placed(y);
    c.expect("slice", slice(X, dimensions<1>, {start, stop}), made({a, stop - start}, [&](const shape_list& i) {
               return x({i[0], i[1] + start});
             }));
    c.expect("pad", pad(X, 7, dimensions<1>, {before, after}), made({a, before + b + after}, [&](const shape_list& i) {
               return i[1] < before || i[1] >= before + b ? 7 : x({i[0], i[1] - before});
             }));
    c.expect("concatenate", concatenate(dimensions<1>, X, Y), made({a, b + y.extents[1]}, [&](const shape_list& i) {
               return i[1] < b ? x(i) : y({i[0], i[1] - b});
             }));
    xt::xtensor<std::int64_t, 1> rows(std::array{1 + c.random() % 6});
    for (auto& row : rows) row = static_cast<std::int64_t>(c.random() % a);
    const auto row = [&](std::size_t k) { return static_cast<std::size_t>(rows(k)); };
    c.expect("take", take(X, rows, dimensions<0>), made({rows.size(), b}, [&](const shape_list& i) {
               return x({row(i[0]), i[1]});
             }));
    c.expect("lookup", lookup(X, rows), made({rows.size(), b}, [&](const shape_list& i) {
               return x({row(i[0]), i[1]});
             }));
    array indices{shape_list{rows.size()}};  // some elements are no index: they take zeros, and add nothing
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const double index = static_cast<double>(rows(k)), infinite = std::numeric_limits<double>::infinity(),
                   none[] = {index + 0.5, -1, static_cast<double>(a), 1e30, infinite, -infinite, std::nan("")};
      indices({k}) = c.random() % 2 == 0 ? none[c.random() % 7] : index;
    }
    const auto is_at = [&](std::size_t k, std::size_t place) { return indices({k}) == static_cast<double>(place); };
    c.expect("take by a tensor", take(X, c.placed(indices), dimensions<0>),
             made({rows.size(), b}, [&](const shape_list& i) {
               return is_at(i[0], row(i[0])) ? x({row(i[0]), i[1]}) : 0.0;
             }));
    const array updates = c.whole({rows.size(), b}, c.random() % 2 == 0 ? numbers::small : numbers::with_infinities);
    const auto added = [&](const shape_list& i) {
      double all = 0;
      for (std::size_t k = 0; k < rows.size(); ++k)
        if (is_at(k, i[0])) all += updates({k, i[1]});
      return all;
    };
    const auto named = [&](const shape_list& i) {
      bool any = false;
      for (std::size_t k = 0; k < rows.size(); ++k) any = any || is_at(k, i[0]);
      return any;
    };
    c.expect("scatter_add", scatter_add(X, c.placed(indices), c.placed(updates), dimensions<0>),
             made({a, b}, [&](const shape_list& i) { return x(i) + added(i); }));
    c.expect("scatter", scatter(X, c.placed(indices), c.placed(updates), dimensions<0>),
             made({a, b}, [&](const shape_list& i) { return named(i) ? added(i) : x(i); }));
    array places({rows.size(), std::size_t{2}}), along({rows.size(), b});
    for_each_index(places.extents,
                   [&](const shape_list& i) { places(i) = static_cast<double>(c.random() % (i[1] == 0 ? a : b)); });
    for (double& place : along.elements) place = static_cast<double>(c.random() % a);
    const array by_places = made({rows.size()}, [&](const shape_list& i) {
      return x({static_cast<std::size_t>(places({i[0], 0})), static_cast<std::size_t>(places({i[0], 1}))});
    });
    const array by_along = made(along.extents, [&](const shape_list& i) {
      return x({static_cast<std::size_t>(along(i)), i[1]});
    });
    for (const sharding& s : test::layouts(c.m, 2)) {  // indices of every layout, also if those of one place are cut
      c.expect("gather_nd", gather_nd<2>(X, c.placed(places, s)), by_places);
      c.expect("take_along_axis", take_along_axis(X, c.placed(along, s), dimensions<0>), by_along);
    }
    // each element of dy is added to the place that it was taken from
    const array dy = c.whole(by_places.extents), dy_along = c.whole(along.extents);
    array dx(x.extents), dx_along(x.extents);
    for_each_index(dy.extents, [&](const shape_list& i) {
      dx({static_cast<std::size_t>(places({i[0], 0})), static_cast<std::size_t>(places({i[0], 1}))}) += dy(i);
    });
    for_each_index(along.extents, [&](const shape_list& i) {
      dx_along({static_cast<std::size_t>(along(i)), i[1]}) += dy_along(i);
    });
    const auto at = c.placed(places), at_along = c.placed(along), DY = c.placed(dy), DY_along = c.placed(dy_along);
    const auto of_places = [&](const auto& one) { return sum(multiply(gather_nd<2>(one, at), DY)); };
    const auto of_along = [&](const auto& one) {
      return sum(multiply(take_along_axis(one, at_along, dimensions<0>), DY_along));
    };
    c.expect("gradient of gather_nd", std::get<0>(value_and_gradient(of_places, X).gradients), dx);
    c.expect("gradient of take_along_axis", std::get<0>(value_and_gradient(of_along, X).gradients), dx_along);
    array labels{shape_list{a}};
    for (double& label : labels.elements) label = static_cast<double>(c.random() % 4);
    c.expect("one_hot", one_hot(c.placed(labels), 4),
             made({a, std::size_t{4}}, [&](const shape_list& i) { return labels({i[0]}) == double(i[1]) ? 1. : 0.; }));
  });
}

/// Extents and indices one beyond what the documentation allows.
BOOST_AUTO_TEST_CASE(arguments_beyond_their_limits_are_refused) {
  const world everyone(test::workers());
  std::mt19937 random(63);
  const cases<double> c{everyone, random};
  const auto of = [&](const shape_list& extents) { return c.placed(c.whole(extents), sharding(c.m, extents.size())); };
  const auto refuses = [](const char* part, auto call) { test::expect_refused<shape_error>(call, part); };
  const auto line = of({4}), x = of({4, 3}), cube = of({2, 4, 3}), empty = of({4, 0});
  const auto rows = [](std::int64_t last) { return xt::xtensor<std::int64_t, 1>{0, last}; };
  for (const std::int64_t wrong : {4, 5, -1}) {
    const text got = text("below the extent of dimension 0 of [4, 3], got ") << static_cast<std::size_t>(wrong);
    refuses(got.c_str(), [&] { take(x, rows(wrong), dimensions<0>); });
    refuses("requires labels below 4, got ", [&] { lookup(x, rows(wrong)); });
  }
  refuses("those from 0 up to 4 of dimension 1 are not among [4, 3]", [&] { slice(x, dimensions<1>, {0, 4}); });
  refuses("those from 2 up to 1 of dimension 1 are not among [4, 3]", [&] { slice(x, dimensions<1>, {2, 1}); });
  refuses("a multiple of 3 groups, got extents [2, 4, 3]", [&] { normalise_groups<3>(cube, line, line); });
  refuses("a multiple of 3 groups, got extents [4]", [&] { normalise_groups<3>(line, line, line); });
  refuses("got a size of 0 and extents [2, 4, 3]", [&] { normalise_locally(cube, {.size = 0}); });
  refuses("got a size of 1 and extents [4]", [&] { normalise_locally(line, {.size = 1}); });
  refuses("extent is K = 2, which count the first K dimensions of x, got indices of [5, 3] and x of [4, 3]", [&] {
    gather_nd<2>(x, of({5, 3}));
  });
  refuses("got indices of [5, 2] and x of [4]", [&] { gather_nd<2>(line, of({5, 2})); });
  refuses("of x along D = 0 alone, got [5, 4] and [4, 3]", [&] { take_along_axis(x, of({5, 4}), dimensions<0>); });
  refuses("partita::scatter_nd<K>: requires x with at least K = 2 dimensions, got extents [4]", [&] {
    scatter_nd<2>(line, of({5, 2}), of({5}));
  });
  refuses("partita::scatter_add_nd<K>: requires x with at least K = 2 dimensions, got extents [4]", [&] {
    scatter_add_nd<2>(line, of({5, 2}), of({5}));
  });
  refuses("argmax: requires an element along dimension 1 of [4, 0]", [&] { argmax(empty, dimensions<1>); });
  refuses("argmin: requires an element along dimension 1 of [4, 0]", [&] { argmin(empty, dimensions<1>); });
  refuses("got updates of [5, 4] and indices of [5] for x of [4, 3]", [&] {
    scatter_add(x, of({5}), of({5, 4}), dimensions<0>);
  });
  refuses("scatter: requires updates that fit indices and x", [&] { scatter(x, of({5}), of({5, 4}), dimensions<0>); });
  refuses("dimensions of the indices [5] from dimension 0 on, got []",
          [&] { scatter_add(x, of({5}), of({}), dimensions<0>); });
  refuses("requires a tensor of one element, not of extents [4, 3]", [&] { x.number(); });
  for (const shape_list& wrong : {shape_list{4, 0}, shape_list{0, 3}, shape_list{0}, shape_list{0, 0, 0}})
    refuses("requires indices of the tensor of extents [4, 3]", [&] { (void)x.get({wrong}); });
  refuses("", [&] { matmul(x, of({4, 3})); });
  refuses("", [&] { einsum<"ab,bk->ak">(x, of({4, 3})); });
  refuses("", [&] { concatenate(dimensions<1>, x, of({5, 3})); });
}

BOOST_AUTO_TEST_SUITE_END()
