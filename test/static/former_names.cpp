// Each former name is another name of what replaced it; test/reject/rule/former_names.cpp holds the warnings.
#define PARTITA_WARN_OF_FORMER_NAMES
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <partita/comm/stop_signal.hpp>
#include <partita/io/shardy.hpp>
#include <partita/kernel/csr_matrix.hpp>
#include <partita/kernel/spectral_operator.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>
#include <partita/partita.hpp>
#include <partita/sharded/drop.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/operate.hpp>
#include <partita/sharded/pipeline.hpp>
#include <partita/sharded/sharded_optimiser.hpp>

using namespace partita;

namespace {

constexpr mesh m{axis{"data", 4}, axis{"model", 2}};

static_assert(std::is_same_v<owed_reduction, pending_reduction> && std::is_same_v<messages, message_form>);
static_assert(std::is_same_v<applied, operation_results> && std::is_same_v<halo_way, halo_algorithm>);
static_assert(halo_way::at_once == halo_algorithm::one_round && messages::packed == message_form::packed);
static_assert(std::is_same_v<policy::whole, policy::unshard>);
static_assert(m.layout("").partial("data").finished() == m.layout(""));
static_assert(of_shardy("([i, k], [k, j])->([i, j]) {i=8, j=8, k=8}").operand_count == 2);
static_assert(std::is_same_v<state_over, optimiser_state_axes> && std::is_same_v<passed_on, identity_derivative>);
static_assert(&number_function == &arithmetic_function && &rising_function == &nondecreasing_function &&
              &rising_real_function == &nondecreasing_real_function);

struct square {
  double operator()(double dy, double x) const { return 2 * x * dy; }
};
static_assert(std::is_same_v<decltype(reading<3>(square{})), decltype(derivative_from<3>(square{}))>);
static_assert(std::is_same_v<decltype(reading_x(square{})), decltype(derivative_from_x(square{}))>);
static_assert(std::is_same_v<decltype(reading_y(square{})), decltype(derivative_from_y(square{}))>);
static_assert(std::is_same_v<decltype(reading_nothing(square{})), decltype(derivative_from_cotangent(square{}))>);

struct doubled {
  static constexpr partita::rule rule(const shape_span&) { return "ab->ab"; }
  template <class T>
  void local(const tensor_part<const T>& x, const tensor_part<T>& y) const {
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = 2 * x[k];
  }
  template <class X>
  X adjoint(std::size_t, const X& dy, const X&, const X&) const {
    return operate(*this, dy);
  }
};

// compiled, not called
[[maybe_unused]] void calls(const world& everyone, const xt::xtensor<double, 2>& x, const xt::xtensor<double, 1>& v,
                            const csr_matrix<double>& a, softmax_cross_entropy<double>& loss,
                            bound_program<double>& program, pipeline<double>& stages) {
  const auto p = everyone.partition<1, 2>();
  static_cast<void>(united(p, p));
  repartition r(p, p, from_cuts(cut::balanced(8, 1), cut::at({3, 5})), to_cuts(cut::at({8}), cut::balanced(8, 2)));
  static_cast<void>(r(x));
  static_cast<void>(stop_signal(everyone).on_any());
  static_cast<void>(a.with_ghosts(v));
  const periodic_box<2> box{{8, 8}};
  static_cast<void>(box.wave(0, 1) > 0 && box.is_low({0, 1}));
  static_cast<void>(loss.correct(x, xt::xtensor<int, 1>()));
  static_cast<void>(movements_while([&] { r(x); }));
  static_cast<void>(drop(x, {.probability = 0.5}, 1));
  static_cast<void>(operate(doubled{}, shard(everyone, m.layout("", ""), x)));
  static_cast<void>(normalise_by(shard(everyone, m.layout("", ""), x), v, v, v, v));
  static_cast<void>(program.measured().is_measured && stages.measured().is_measured);
}

}  // namespace
