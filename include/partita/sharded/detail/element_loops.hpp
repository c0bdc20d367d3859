// The loops of element functions over blocks, which compute one row of elements at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <partita/array/real_part.hpp>
#include <partita/sharded/detail/custom_op.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita::detail {

/// The parameters of one call of an element function. If a function has fewer than four parameters, the others are 0.
using element_parameters = std::array<double, 4>;

/// Whether T is no integer type, or represents the number exactly; for an integer type T, false for the maximum of T.
template <class T>
constexpr bool is_exact_in_type(double number) {
  if constexpr (!std::is_integral_v<T>) return true;
  else
    return number >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
           number < static_cast<double>(std::numeric_limits<T>::max()) &&
           static_cast<double>(static_cast<T>(number)) == number;
}

/// Converts a number to type T. For an integer type, it is truncated and limited to the range of T; NaN becomes 0.
template <class T>
constexpr T saturate(double number) {
  if constexpr (std::is_integral_v<T>) {
    if (number != number) return T(0);
    if (number >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    if (number <= static_cast<double>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
  }
  return static_cast<T>(number);
}

/// Computes y[k] = f(x[0][k], …, parameters…) for a row of n elements; each array has its own stride. If elements are
/// integers and a parameter is not an integer of their type, f is computed in double precision and its result is
/// truncated. If `Kept` is true, the parameters are converted to the element type instead.
template <class Value, std::size_t Operands, std::size_t Parameters, bool Kept, class T>
struct element_row_loop {
  static void run(const double* parameters, std::size_t n, T* y, std::ptrdiff_t sy, const T* const* x,
                  const std::ptrdiff_t* sx) {  ///< computes one row; sy and sx are the strides of y and of each x
    constexpr std::make_index_sequence<Operands> operands;
    constexpr std::make_index_sequence<Parameters> numbers;
    if constexpr (std::is_integral_v<T> && Parameters > 0 && !Kept)
      for (std::size_t p = 0; p < Parameters; ++p)
        if (!is_exact_in_type<T>(parameters[p]))
          return run_loop<double, double>(parameters, n, y, sy, x, sx, operands, numbers);
    run_loop<T, real_of<T>>(parameters, n, y, sy, x, sx, operands, numbers);
  }

 private:
  static constexpr std::size_t batch_size = 32;  ///< the length of the loop that the compiler vectorises

  /// Computes the row, converting elements to Element and parameters to Number.
  template <class Element, class Number, std::size_t... I, std::size_t... P>
  static void run_loop([[maybe_unused]] const double* parameters, std::size_t n, T* y, std::ptrdiff_t sy,
                       const T* const* x, const std::ptrdiff_t* sx, std::index_sequence<I...>,
                       std::index_sequence<P...>) {
    const Value f{};
    [[maybe_unused]] const Number number[] = {saturate<Number>(parameters[P])..., Number()};
    const T* const from[] = {x[I]...};
    std::size_t k = 0;
    if (sy == 1 && ((sx[I] == 1) && ...))  // -O2 vectorises loops of known length without dependences
      for (; k + batch_size <= n; k += batch_size) {
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
        for (std::size_t j = 0; j < batch_size; ++j)
          y[k + j] = static_cast<T>(f(static_cast<Element>(from[I][k + j])..., number[P]...));
      }
    for (; k < n; ++k) {
      const auto i = static_cast<std::ptrdiff_t>(k);
      y[i * sy] = static_cast<T>(f(static_cast<Element>(from[I][i * sx[I]])..., number[P]...));
    }
  }
};
/// Computes a row from (parameters, length, result, stride of the result, operands, strides of the operands).
template <class T>
using row_function = void (*)(const double*, std::size_t, T*, std::ptrdiff_t, const T* const*, const std::ptrdiff_t*);

/// The function that computes a row, with the parameters of a call.
template <class T>
struct row_function_call {
  row_function<T> function;       ///< computes one row
  element_parameters parameters;  ///< the parameters of the element function
};

/// The loops over blocks of given shapes. The dimensions of an operand of lower rank are the dimensions
/// `broadcast_dims` of the result, or by default the result's last dimensions. An operand is repeated along dimensions
/// in which its extent is 1.
template <class T>
class element_loops {
 public:
  element_loops(const row_function_call<T>& row_call, const std::vector<tensor_part<const T>>& x,
                const tensor_part<T>& y, const short_list<std::size_t>& broadcast_dims)
      : row_call_(row_call), operand_count_(x.size()), shape_(y.shape) {
    const std::size_t rank = shape_.size();
    strides_[0] = strides_of(shape_);
    for (std::size_t i = 0; i < operand_count_; ++i) {
      const shape_list& shape = x[i].shape;
      const auto own = strides_of(shape);
      auto& strides = strides_[i + 1] = short_list<std::ptrdiff_t>::filled(rank, 0);
      for (std::size_t k = 0; k < shape.size(); ++k) {
        const std::size_t d =
            broadcast_dims.size() == shape.size() && shape.size() < rank ? broadcast_dims[k] : rank - shape.size() + k;
        if (shape[k] == shape_[d]) strides[d] = own[k];
      }
    }
    for (std::size_t i = operand_count_ + 1; i < 5; ++i) strides_[i] = short_list<std::ptrdiff_t>::filled(rank, 0);
  }
  void operator()(const T* const* x, T* y) const {
    const std::size_t last = shape_.size();
    std::ptrdiff_t s[5] = {};
    for (std::size_t k = 0; k < 5 && last > 0; ++k) s[k] = strides_[k][last - 1];
    for_each_row(shape_, strides_, [&](const std::ptrdiff_t* at, std::size_t n) {
      const T* row[4] = {};
      for (std::size_t i = 0; i < operand_count_; ++i) row[i] = x[i] + at[i + 1];
      row_call_.function(row_call_.parameters.data(), n, y + at[0], s[0], row, s + 1);
    });
  }

 private:
  row_function_call<T> row_call_;                      ///< computes one row of elements
  std::size_t operand_count_;                          ///< the number of operands, at most 4
  shape_list shape_;                                   ///< the shape of the result's block
  std::array<short_list<std::ptrdiff_t>, 5> strides_;  ///< the strides of the result, and of at most four operands
};

/// A function that computes the cotangent of operand i of an element function with given parameters.
template <class T>
using element_cotangent = sharded_tensor<T> (*)(const element_parameters&, std::size_t i, const sharded_tensor<T>& dy,
                                                const std::vector<sharded_tensor<T>>& x, const sharded_tensor<T>& y);

/// Applies an element function to blocks of T. One class serves all element functions: it calls them by pointers.
template <class T>
struct typed_element_work : typed_custom_op<T> {
  row_function_call<T> row_call;           ///< computes one row of elements, with the parameters of the call
  element_cotangent<T> compute_cotangent;  ///< computes a cotangent; null for integers in a traced program
  short_list<std::size_t> broadcast_dims;  ///< the result's dimensions that a smaller operand has; empty: the last
  typed_element_work(const row_function_call<T>& call, element_cotangent<T> adjoint, const short_list<std::size_t>& d)
      : row_call(call), compute_cotangent(adjoint), broadcast_dims(d) {}

  void compute(const std::vector<tensor_part<const T>>& x, const tensor_part<T>& y) const override {  ///< y = f(x)
    const T* memory[4] = {};
    for (std::size_t i = 0; i < x.size(); ++i) memory[i] = x[i].memory;
    element_loops<T>(row_call, x, y, broadcast_dims)(memory, y.memory);
  }
  std::function<void(const T* const*, T*)> prepared(const std::vector<tensor_part<const T>>& x,
                                                    const tensor_part<T>& y) const override {  ///< see typed_custom_op
    return element_loops<T>(row_call, x, y, broadcast_dims);
  }
  bool has_adjoint() const override { return true; }
  sharded_tensor<T> cotangent(std::size_t i, const sharded_tensor<T>& dy, const std::vector<sharded_tensor<T>>& x,
                              const sharded_tensor<T>& y) const override {  ///< empty if compute_cotangent is null
    return compute_cotangent == nullptr ? sharded_tensor<T>() : compute_cotangent(row_call.parameters, i, dy, x, y);
  }
};
/// The custom_op of an element function, for each of the element types T.
template <class... T>
struct element_work_of_types final : custom_op, typed_element_work<T>... {
  explicit element_work_of_types(std::uint64_t function_hash, typed_element_work<T>... work)
      : custom_op(function_hash), typed_element_work<T>(std::move(work))... {}
};

#define PARTITA_INSTANTIATE_ELEMENT_LOOPS(EXTERN, T) \
  EXTERN template struct typed_custom_op<T>;         \
  EXTERN template struct typed_element_work<T>;      \
  EXTERN template struct element_work_of_types<T>;
PARTITA_FOR_EACH_USUAL_ELEMENT(PARTITA_INSTANTIATE_ELEMENT_LOOPS, extern)

}  // namespace partita::detail
