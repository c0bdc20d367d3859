// Sets of operands and results of an operation.
#pragma once

#include <cstddef>
#include <cstdint>

namespace partita {

/// Tensors of an operation as a bit set of their numbers; the last bit stands for all numbers from 63 on.
using tensor_set = std::uint64_t;

/// The set of tensor t alone.
constexpr tensor_set one_tensor(std::size_t t) { return tensor_set{1} << (t < 63 ? t : 63); }
/// The set of the first n tensors.
constexpr tensor_set first_tensors(std::size_t n) { return n < 64 ? (tensor_set{1} << n) - 1U : ~tensor_set{0}; }
constexpr bool contains(tensor_set all, std::size_t t) { return (all & one_tensor(t)) != 0; }  ///< whether `all` has t

}  // namespace partita
