// The convolution of one worker: a dense block of y from a dense window of x with its padding and a block of W.
#pragma once

#include <cstddef>
#include <partita/core/config.hpp>
#include <partita/nn/detail/column_convolver.hpp>
#ifdef PARTITA_ONEDNN
#include <partita/nn/detail/onednn_convolver.hpp>
#include <type_traits>
#endif

namespace partita::detail {

namespace {
// The type of the convolver is compiled into the layers, so all source files of a program must choose the same
// convolver.
#ifdef PARTITA_ONEDNN
[[maybe_unused]] const bool is_convolver_setting_compared =
    (partita_expect_one_setting(1, "with PARTITA_ONEDNN"), true);
#else
[[maybe_unused]] const bool is_convolver_setting_compared =
    (partita_expect_one_setting(1, "without PARTITA_ONEDNN"), true);
#endif
}  // namespace

#ifdef PARTITA_ONEDNN
/// With PARTITA_ONEDNN, floats are convolved by oneDNN where it has a suitable kernel, doubles by im2col and BLAS.
template <class T, std::size_t Features>
using convolver =
    std::conditional_t<std::is_same_v<T, float>, onednn_convolver<Features>, column_convolver<T, Features>>;
#else
template <class T, std::size_t Features>
using convolver = column_convolver<T, Features>;  ///< computes one worker's convolution, by im2col and BLAS
#endif

}  // namespace partita::detail
