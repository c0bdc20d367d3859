// Broadcasts arrays by XLA's explicit rules and computes the gradient of the broadcast, on 1 worker.
#include <cstdlib>
#include <iostream>
#include <partita/array/broadcast_operator.hpp>
#include <partita/array/elementwise.hpp>
#include <partita/array/in_place.hpp>
#include <partita/array/numpy.hpp>
#include <partita/explain/broadcast_picture.hpp>

using namespace partita;

// [extents]
static_assert(broadcast_extents<extents<2, 3>, extents<3>, 1>::value == extents<2, 3>{});
static_assert(broadcast_extents<extents<4>, extents<1, 2>, 0>::value == extents<4, 2>{});
static_assert(!broadcastable<extents<2, 3>, extents<3>>);  // broadcast_dimensions are missing: NumPy would guess them
// [/extents]

int main() {
  const xt::xtensor<double, 2> m{{1, 2, 3}, {4, 5, 6}};
  const xt::xtensor<double, 1> row{7, 8, 9}, column{10, 20};
  // [elementwise]
  xt::xtensor<double, 2> z = add(m, row, broadcast_dimensions<1>);  // row has one value for each column of m
  z = multiply(z, column, broadcast_dimensions<0>);                 // column has one value for each row of z
  z = elementwise([](double a, double b) { return a > b ? a : b; }, z, 100.0);
  add_in_place(z, row, broadcast_dimensions<1>);  // never changes the shape of z
  z = numpy::add(m, row);                         // NumPy's rules, in a namespace of their own
  // [/elementwise]
  bool right = z == xt::xtensor<double, 2>{{8, 10, 12}, {11, 13, 15}};

  // [refused]
  try {
    z = add(m, column, broadcast_dimensions<1>);
  } catch (const shape_error& e) {
    std::cout << e.what() << '\n';
  }
  // [/refused]

  // [gradient]
  const auto [m_to_z, row_to_z] = array_broadcasts(extents<2, 3>{}, extents<3>{}, broadcast_dimensions<1>);
  const xt::xtensor<double, 2> dz = xt::ones<double>({2, 3});
  const auto d_row = row_to_z.adjoint(dz);  // sums dz over dimension 0
  // [/gradient]
  right = right && d_row == xt::xtensor<double, 1>{2, 2, 2} && m_to_z.adjoint(dz) == dz;

  // [picture]
  std::cout << to_text(broadcast_picture({1, 2}, {4, 3, 1}, {1, 2}));
  // [/picture]
  std::cout
      << "Look at: the refusal lists the broadcast_dimensions that fit. In the table, * is repeated and 1 > 3 is\n"
         "expanded; the adjoint sums over just these dimensions.\n";
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
