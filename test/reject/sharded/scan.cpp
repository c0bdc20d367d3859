// Compile-time errors of scans: a state or a parameter that is no tensor, a step that cannot be called, or whose result
// is not a state.
//
// first NO_STATE: partita::scan\(step, state, n, parameters...\): requires a state that is a tensor, an array, or a
// lines NO_STATE: 12
// first NUMBER: partita::scan\(step, state, n, parameters...\): requires parameters that are tensors or arrays
// lines NUMBER: 12
// first NOT_CALLED: partita::scan\(step, state, n, parameters...\): requires a step that is called as step\(state,
// lines NOT_CALLED: 12
// first NOTHING: partita::scan\(step, state, n, parameters...\): requires a step that is called as step\(state,
// lines NOTHING: 12
// first ONLY_A_NUMBER: partita::scan\(step, state, n, parameters...\): requires a step whose result has the type of the
// lines ONLY_A_NUMBER: 12
// first OTHER_LAYOUT: partita::scan\(step, state, n, parameters...\): requires a step whose result has the type of the
// lines OTHER_LAYOUT: 12
// first OTHER_KIND: partita::scan\(step, state, n, parameters...\): requires a step whose result has the type of the
// lines OTHER_KIND: 12
// first OTHER_ELEMENTS: partita::scan\(step, state, n, parameters...\): requires a state and parameters of one type of
// lines OTHER_ELEMENTS: 12
// first NO_NUMBER: partita::scan\(step, state, n, parameters...\): requires a function, the first state
// lines NO_NUMBER: 12
#include <partita/sharded/element_functions.hpp>
#include <partita/sharded/scan.hpp>

using namespace partita;

constexpr mesh m{axis{"a", 2}};

void calls(const sharded<double, m.layout("a", "")>& typed, const sharded_tensor<double>& x,
           const sharded_tensor<float>& w, const xt::xtensor<double, 2>& array) {
  const auto step = [](const auto& u) { return tanh(u); };
  const auto with = [](const auto& u, const auto&) { return tanh(u); };
  scan(step, typed, 3);
  scan(step, array, 3, {.checkpoints = 1});
  scan(with, x, 3, {.checkpoints = 1}, x);
#if defined(NO_STATE)
  scan(step, 1.0, 3);
#elif defined(NUMBER)
  scan(with, x, 3, 2.0);
#elif defined(NOT_CALLED)
  scan(step, x, 3, x);
#elif defined(NOTHING)
  scan([](const auto& u) { static_cast<void>(tanh(u)); }, x, 3);
#elif defined(ONLY_A_NUMBER)
  scan([](const auto&) { return 1.0; }, x, 3);
#elif defined(OTHER_LAYOUT)
  scan([](const auto& u) { return reshard<m.layout("", "")>(u); }, typed, 3);
#elif defined(OTHER_KIND)
  scan([&](const auto&) { return x; }, array, 3);
#elif defined(OTHER_ELEMENTS)
  scan(with, x, 3, w);
#elif defined(NO_NUMBER)
  scan(step, x);
#endif
  static_cast<void>(w);
}
