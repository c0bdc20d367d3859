// Products of extents are exact or an error; they never wrap around.
#include <partita/core/box.hpp>
#include <partita/core/extents.hpp>
#include <partita/core/product.hpp>

using namespace partita;

namespace {

template <std::size_t... E>
inline constexpr std::array<std::size_t, sizeof...(E)> shape{E...};
constexpr std::size_t half = std::size_t{1} << 32, all = static_cast<std::size_t>(-1);

template <std::size_t Rank>
constexpr bool fits(const std::array<std::size_t, Rank>& extents) {
  std::size_t product = 0;
  return multiply(extents, product);
}
constexpr bool fits(std::size_t a, std::size_t b) {
  std::size_t product = 0;
  return multiply(a, b, product);
}

static_assert(fits(half, half - 1) && !fits(half, half));
static_assert(fits(all, 1) && fits(1, all) && !fits(all, 2) && fits(all, 0));

static_assert(product_of(shape<>, "call") == 1);
static_assert(product_of(shape<2, 3, 4>, "call") == 24);
static_assert(product_of(shape<half, half - 1>, "call") == half * (half - 1));
static_assert(fits(shape<all>) && fits(shape<all, 1, 1>) && !fits(shape<half, half>) && !fits(shape<half, 2, half>));

// an extent of 0 leaves nothing, wherever it stands and however large the others are
static_assert(fits(shape<0, half, half>) && product_of(shape<0, half, half>, "call") == 0);
static_assert(fits(shape<half, half, 0>) && product_of(shape<half, half, 0>, "call") == 0);

// what is refused is no constant expression, wherever a product is taken
template <auto F>
concept constant = requires { typename std::integral_constant<std::size_t, F()>; };
static_assert(constant<[] { return product_of(shape<half, half - 1>, "call"); }>);
static_assert(!constant<[] { return product_of(shape<half, half>, "call"); }>);
static_assert(constant<[] { return extents<half, half - 1>{}.size(); }>);
static_assert(!constant<[] { return extents<half, half>{}.size(); }>);
static_assert(!constant<[] { return volume_of(shape<half, half>); }>);
static_assert(!constant<[] { return box<2>{{0, 0}, {half, half}}.volume(); }>);
static_assert(constant<[] { return box<2>{{half, 1}, {2 * half, half}}.volume(); }>);

}  // namespace
