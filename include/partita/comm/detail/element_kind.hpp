// All that a carrier knows of the elements it moves: how large they are, and how blocks of them are copied and added.
#pragma once

#include <cstddef>
#include <partita/array/copy.hpp>

namespace partita::detail {

/// Carriers move bytes; what depends on the type of the elements they call through here, once for each box. Kinds of
/// equal size that are not added are equal, whatever their type.
struct element_kind {
  using copy_function = void (*)(char* to, const std::ptrdiff_t* to_strides, const char* from,
                                 const std::ptrdiff_t* from_strides, const std::size_t* shape, std::size_t rank,
                                 std::size_t element, stores how);
  using add_function = void (*)(char* to, const std::ptrdiff_t* to_strides, const char* from,
                                const std::ptrdiff_t* from_strides, const std::size_t* shape, std::size_t rank);

  std::size_t bytes = 0;
  copy_function copy = nullptr;
  add_function add = nullptr;

  friend bool operator==(const element_kind&, const element_kind&) = default;

  /// Elements that are moved.
  template <class T>
  static element_kind moved() {
    return {sizeof(T), &copy_in_units<unit_of(sizeof(T))>, nullptr};
  }
  /// Elements that are moved and added.
  template <class T>
  static element_kind summed() {
    return {sizeof(T), &copy_in_units<unit_of(sizeof(T))>, &add_elements<T>};
  }

 private:
  template <std::size_t S>
  static void copy_in_units(char* to, const std::ptrdiff_t* to_strides, const char* from,
                            const std::ptrdiff_t* from_strides, const std::size_t* shape, std::size_t rank,
                            std::size_t element, stores how) {
    copy_elements_of<S>(to, to_strides, from, from_strides, shape, rank, element, how, best_instruction_set());
  }
  template <class T>
  static void add_elements(char* to, const std::ptrdiff_t* to_strides, const char* from,
                           const std::ptrdiff_t* from_strides, const std::size_t* shape, std::size_t rank) {
    add_block(reinterpret_cast<T*>(to), to_strides, reinterpret_cast<const T*>(from), from_strides, shape, rank);
  }
};

}  // namespace partita::detail
