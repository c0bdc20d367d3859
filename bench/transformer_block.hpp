// A block of a transformer, for benchmarks and tests of bound programs.
#pragma once

#include <partita/sharded/attention.hpp>
#include <partita/sharded/einsum.hpp>
#include <partita/sharded/element_functions.hpp>
#include <partita/sharded/norms.hpp>
#include <partita/sharded/operations.hpp>

namespace bench {

/// A block of a transformer on x [batch, positions, width]: q, k and v are [width, heads, head], o is [heads, head,
/// width].
inline constexpr auto transformer_block = [](const auto& x, const auto& g, const auto& b, const auto& q, const auto& k,
                                             const auto& v, const auto& o, const auto& up, const auto& down) {
  using namespace partita;
  const auto n = normalise(x, g, b);
  const auto seen = attention(einsum<"btc,chd->bhtd">(n, q), einsum<"btc,chd->bhtd">(n, k),
                              einsum<"btc,chd->bhtd">(n, v), {.causal = true});
  const auto y = add(x, einsum<"bhtd,hdc->btc">(seen, o));
  return add(y, einsum<"btf,fc->btc">(gelu(einsum<"btc,cf->btf">(normalise(y, g, b), up)), down));
};

}  // namespace bench
