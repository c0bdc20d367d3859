// One worker constructs a kernel with an argument that differs from the others', or calls it with different elements.
// One table has each argument of each kernel. All workers throw at the first call, and the world still works.
#include <boost/mpi/collectives.hpp>
#include <functional>
#include <mpi_test.hpp>
#include <partita/partita.hpp>
#include <vector>

using namespace partita;

namespace {

struct kernels {
  const world& everyone;
  std::size_t n = everyone.size();

  auto line() const { return everyone.partition(extents(n)); }
  auto root() const { return everyone.partition(extents(std::size_t{1})); }
  auto last() const { return everyone.partition(extents(std::size_t{1}), workers(n - 1, n)); }
  auto rows() const { return everyone.partition(extents(n, std::size_t{1})); }
  auto columns() const { return everyone.partition(extents(std::size_t{1}, n)); }
  auto backwards() const {
    std::vector<std::size_t> ids;
    for (std::size_t k = n; k-- > 0;) ids.push_back(k);
    return everyone.partition(extents(n), workers(ids));
  }
  xt::xtensor<double, 1> x() const { return xt::ones<double>({std::size_t{4}}); }
  xt::xtensor<double, 2> block() const { return xt::ones<double>({2 * n, 2 * n}); }
};
struct mismatch {
  const char* name;
  std::function<void(const kernels&, bool odd)> call;
};

template <class Kernel, class X>
void typed(const Kernel& kernel, const X& x, bool odd) {
  if (odd) (void)kernel(xt::xtensor<std::int64_t, rank_of<X>>(xt::cast<std::int64_t>(x)));
  else (void)kernel(x);
}

/// Calls that know their plans in both directions, and then the adjoint on the odd worker. (An all_reduce is its own
/// adjoint, and its row would not be refused.)
template <class Kernel, class X>
void turned(const Kernel& kernel, const X& x, bool odd) {
  const auto y = kernel(x);
  const xt::xtensor<double, rank_of<decltype(y)>> dy = y;
  for (int call = 0; call < 4; ++call) (void)kernel(x), (void)kernel.adjoint(dy);
  if (odd) (void)kernel.adjoint(dy);
  else (void)kernel(x);
}

const std::vector<mismatch> table{
    {"broadcast, source",
     [](const kernels& k, bool odd) {
       broadcast b(odd ? k.last() : k.root(), k.line());
       (void)b(k.x());
     }},
    {"broadcast, order of the workers",
     [](const kernels& k, bool odd) {
       broadcast b(k.root(), odd ? k.backwards() : k.line());
       (void)b(k.x());
     }},
    {"broadcast, transpose_src",
     [](const kernels& k, bool odd) {
       if (odd) {
         broadcast b(k.columns(), k.rows(), transpose_src);
         (void)b(k.block());
       } else {
         broadcast b(k.rows(), k.rows());
         (void)b(k.block());
       }
     }},
    {"broadcast, discard_batch",
     [](const kernels& k, bool odd) {
       if (odd) {
         broadcast b(k.root(), k.line(), discard_batch);
         (void)b(k.x());
       } else {
         broadcast b(k.root(), k.line());
         (void)b(k.x());
       }
     }},
    {"broadcast, element type",
     [](const kernels& k, bool odd) {
       broadcast b(k.root(), k.line());
       typed(b, k.x(), odd);
     }},
    {"sum_reduce, destination",
     [](const kernels& k, bool odd) {
       sum_reduce s(k.line(), odd ? k.last() : k.root());
       (void)s(k.x());
     }},
    {"sum_reduce for broadcast",
     [](const kernels& k, bool odd) {
       if (odd) {
         sum_reduce s(k.line(), k.root());
         (void)s(k.x());
       } else {
         broadcast b(k.root(), k.line());
         (void)b(k.x());
       }
     }},
    {"sum_reduce, element type",
     [](const kernels& k, bool odd) {
       sum_reduce s(k.line(), k.root());
       typed(s, k.x(), odd);
     }},
    {"all_sum_reduce, dimensions",
     [](const kernels& k, bool odd) {
       if (odd) {
         all_sum_reduce a(k.rows(), dimensions<1>);
         (void)a(k.block());
       } else {
         all_sum_reduce a(k.rows(), dimensions<0>);
         (void)a(k.block());
       }
     }},
    {"all_sum_reduce, reproducible",
     [](const kernels& k, bool odd) {
       if (odd) {
         all_sum_reduce a(k.line(), dimensions<0>, reproducible);
         (void)a(k.x());
       } else {
         all_sum_reduce a(k.line(), dimensions<0>);
         (void)a(k.x());
       }
     }},
    {"all_sum_reduce, shape",
     [](const kernels& k, bool odd) {
       all_sum_reduce a(k.line(), dimensions<0>);
       (void)a(xt::xtensor<double, 1>(xt::ones<double>({odd ? std::size_t{5} : std::size_t{4}})));
     }},
    {"reduce, operation",
     [](const kernels& k, bool odd) {
       if (odd) {
         reduce r(k.line(), k.root(), minimum);
         (void)r(k.x());
       } else {
         reduce r(k.line(), k.root(), maximum);
         (void)r(k.x());
       }
     }},
    {"all_reduce, operation",
     [](const kernels& k, bool odd) {
       if (odd) {
         all_reduce r(k.line(), dimensions<0>, minimum);
         (void)r(k.x());
       } else {
         all_reduce r(k.line(), dimensions<0>, maximum);
         (void)r(k.x());
       }
     }},
    {"all_reduce, mean for sum",
     [](const kernels& k, bool odd) {
       if (odd) {
         all_reduce r(k.line(), dimensions<0>, mean);
         (void)r(k.x());
       } else {
         all_reduce r(k.line(), dimensions<0>, sum);
         (void)r(k.x());
       }
     }},
    {"repartition, destination",
     [](const kernels& k, bool odd) {
       repartition r(k.rows(), odd ? k.rows() : k.columns());
       (void)r(k.block());
     }},
    {"repartition, permute",
     [](const kernels& k, bool odd) {
       if (odd) {
         repartition r(k.rows(), k.columns(), permute<1, 0>);
         (void)r(k.block());
       } else {
         repartition r(k.rows(), k.columns());
         (void)r(k.block());
       }
     }},
    {"repartition, result_cuts",
     [](const kernels& k, bool odd) {
       std::vector<std::size_t> sizes(k.n, 3);
       sizes[0] = odd ? 2 : 4, sizes[k.n - 1] = odd ? 4 : 2;
       repartition r(k.line(), k.line(), result_cuts(cut::at(sizes)));
       (void)r(xt::xtensor<double, 1>(xt::ones<double>({std::size_t{3}})));
     }},
    {"repartition, element type",
     [](const kernels& k, bool odd) {
       repartition r(k.rows(), k.columns());
       typed(r, k.block(), odd);
     }},
    {"repartition, adjoint for forward",
     [](const kernels& k, bool odd) {
       repartition r(k.rows(), k.columns());
       (void)r(k.block());
       const xt::xtensor<double, 2> x = xt::ones<double>({2 * k.n * k.n, std::size_t{2}});
       (void)(odd ? r.adjoint(x) : r(k.block()));
     }},
    {"all_gather, adjoint for forward",
     [](const kernels& k, bool odd) { turned(all_gather(k.rows(), dimensions<0>), k.block(), odd); }},
    {"reduce_scatter, adjoint for forward",
     [](const kernels& k, bool odd) { turned(reduce_scatter(k.rows(), dimensions<0>), k.block(), odd); }},
    {"broadcast, adjoint for forward",
     [](const kernels& k, bool odd) { turned(broadcast(k.root(), k.line()), k.x(), odd); }},
    {"sum_reduce, adjoint for forward",
     [](const kernels& k, bool odd) { turned(sum_reduce(k.line(), k.root()), k.x(), odd); }},
    {"reduce, adjoint for forward",
     [](const kernels& k, bool odd) { turned(reduce(k.line(), k.root(), mean), k.x(), odd); }},
    {"all_to_all, adjoint for forward",
     [](const kernels& k, bool odd) { turned(all_to_all(k.rows(), k.columns()), k.block(), odd); }},
    {"halo_exchange, adjoint for forward",
     [](const kernels& k, bool odd) {
       turned(halo_exchange(k.line(), {.before = {1}, .after = {1}}, boundary::periodic), k.x(), odd);
     }},
    {"compose, adjoint for forward",
     [](const kernels& k, bool odd) {
       turned(compose(repartition(k.rows(), k.columns()), repartition(k.columns(), k.rows())), k.block(), odd);
     }},
    {"all_gather, dimensions",
     [](const kernels& k, bool odd) {
       if (odd) {
         all_gather g(k.rows(), dimensions<1>);
         (void)g(k.block());
       } else {
         all_gather g(k.rows(), dimensions<0>);
         (void)g(k.block());
       }
     }},
    {"all_gather, element type",
     [](const kernels& k, bool odd) {
       all_gather g(k.rows(), dimensions<0>);
       typed(g, k.block(), odd);
     }},
    {"reduce_scatter for all_gather",
     [](const kernels& k, bool odd) {
       if (odd) {
         reduce_scatter r(k.rows(), dimensions<0>);
         (void)r(k.block());
       } else {
         all_gather g(k.rows(), dimensions<0>);
         (void)g(k.block());
       }
     }},
    {"all_to_all, partitions",
     [](const kernels& k, bool odd) {
       if (odd) {
         all_to_all t(k.columns(), k.rows());
         (void)t(k.block());
       } else {
         all_to_all t(k.rows(), k.columns());
         (void)t(k.block());
       }
     }},
    {"halo_exchange, before",
     [](const kernels& k, bool odd) {
       halo_exchange h(k.line(), {.before = {odd ? 2U : 1U}, .after = {1}}, boundary::periodic);
       (void)h(k.x());
     }},
    {"halo_exchange, after",
     [](const kernels& k, bool odd) {
       halo_exchange h(k.line(), {.before = {1}, .after = {odd ? 2U : 1U}}, boundary::periodic);
       (void)h(k.x());
     }},
    {"halo_exchange, boundary",
     [](const kernels& k, bool odd) {
       halo_exchange h(k.line(), {.before = {1}, .after = {1}}, odd ? boundary::zero : boundary::periodic);
       (void)h(k.x());
     }},
    {"halo_exchange, constant",
     [](const kernels& k, bool odd) {
       halo_exchange h(k.line(), {.before = {1}, .after = {1}}, {boundary::constant, odd ? 2. : 1.});
       (void)h(k.x());
     }},
    {"halo_exchange, shape",
     [](const kernels& k, bool odd) {
       halo_exchange h(k.rows(), {.before = {1, 1}, .after = {1, 1}, .shape = odd ? halo_shape::star : halo_shape::box},
                       boundary::periodic);
       (void)h(k.block());
     }},
    {"halo_exchange, of_empty_blocks",
     [](const kernels& k, bool odd) {
       halo_exchange h(k.line(), {.before = {1}, .after = {1}, .of_empty_blocks = odd}, boundary::periodic);
       (void)h(k.x());
     }},
    {"halo_exchange, constant behind",
     [](const kernels& k, bool odd) {
       halo_exchange h(k.line(), {.before = {1}, .after = {1}},
                       {{boundary::constant}, {boundary::constant}, {1.}, {odd ? 2. : 1.}});
       (void)h(k.x());
     }},
    {"halo_exchange, cut of a frame",
     [](const kernels& k, bool odd) {
       halo_exchange h(k.line(), {.before = {1}, .after = {1}}, boundary::periodic);
       (void)h.frame<double>(extents(odd ? 4 * k.n + 1 : 4 * k.n));
     }},
    {"halo_exchange, element type of a frame",
     [](const kernels& k, bool odd) {
       halo_exchange h(k.line(), {.before = {1}, .after = {1}}, boundary::periodic);
       if (odd) (void)h.frame<float>(extents(4 * k.n));
       else (void)h.frame<double>(extents(4 * k.n));
     }},
    {"compose, order",
     [](const kernels& k, bool odd) {
       broadcast b(k.root(), k.line());
       sum_reduce s(k.line(), k.root());
       auto one = compose(b, s);
       auto other = compose(s, b);
       (void)(odd ? other(k.x()) : one(k.x()));
     }},
    {"start for call",
     [](const kernels& k, bool odd) {
       all_sum_reduce a(k.line(), dimensions<0>);
       all_sum_reduce b(k.line(), dimensions<0>);
       if (odd) (void)b.start(k.x()).finish();
       else (void)a(k.x());
     }},
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_kernel_with_another_argument_on_one_worker_is_refused_on_all, *test::at_least(2)) {
  const world everyone(test::workers());
  const kernels k{everyone};
  const all_sum_reduce sums(k.line(), dimensions<0>);
  for (const mismatch& one : table)
    for (const std::size_t odd : {std::size_t{0}, everyone.size() - 1}) {
      bool refused = false;
      try {
        one.call(k, everyone.id() == odd);
        (void)sums(k.x());
      } catch (const error&) {
        refused = true;
      }
      BOOST_TEST(boost::mpi::all_reduce(everyone.communicator(), refused, std::logical_and<>()),
                 one.name << " on worker " << odd);
    }
  BOOST_TEST(sums(k.x())(0) == static_cast<double>(everyone.size()));
}
