// Conversion of a value to an element type: a real value may also become a complex element.
#pragma once

#include <partita/array/expression.hpp>
#include <type_traits>

namespace partita::detail {

template <class T, class Value>
T as_element(const Value& value) {
  if constexpr (is_complex_number<T> && std::is_arithmetic_v<Value>)
    return T(static_cast<typename T::value_type>(value));
  else return static_cast<T>(value);
}

}  // namespace partita::detail
