// How elements are sent: the MPI datatype of each element type, messages of any length, and which elements can be
// summed.
#pragma once

#include <complex>
#include <cstddef>
#include <partita/comm/detail/world/mpi_call.hpp>
#include <partita/comm/mpi.hpp>
#include <type_traits>

namespace partita {

namespace detail {
/// Whether T is a std::complex.
template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;
}  // namespace detail

/// Declares that values of a type may be elements of tensors. A program declares its own trivially copyable type by
/// `template <> inline constexpr bool partita::moves_as_bytes<particle> = true;`.
template <class T>
inline constexpr bool moves_as_bytes = std::is_same_v<T, std::byte>;

/// T can be sent from worker to worker: arithmetic, std::complex, std::byte, a type declared with moves_as_bytes, or
/// one that Boost.MPI has a datatype for (BOOST_IS_MPI_DATATYPE).
template <class T>
concept movable_element = std::is_arithmetic_v<T> || detail::is_complex<T> || boost::mpi::is_mpi_datatype<T>::value ||
                          (moves_as_bytes<T> && std::is_trivially_copyable_v<T>);

/// Elements of type T may travel as their bytes in memory: written in place by other workers, or as bytes of a message.
template <class T>
concept element_in_place = movable_element<T> && (std::is_trivially_copyable_v<T> || detail::is_complex<T>);

/// T can be summed over workers: numbers and types with +=, but not bool, because a sum of bools is not a bool.
template <class T>
concept summable_element = movable_element<T> && !std::is_same_v<T, bool> && requires(T& a, const T& b) { a += b; };

namespace detail {

/// The MPI datatype of T. std::complex is mapped here and not in Boost.MPI's namespace, where a program may have mapped
/// it.
template <class T>
MPI_Datatype datatype() {
  if constexpr (std::is_same_v<T, bool>) return MPI_C_BOOL;
  else if constexpr (std::is_same_v<T, std::byte>) return MPI_BYTE;
  else if constexpr (std::is_same_v<T, std::complex<float>>) return MPI_C_FLOAT_COMPLEX;
  else if constexpr (std::is_same_v<T, std::complex<double>>) return MPI_C_DOUBLE_COMPLEX;
  else if constexpr (std::is_same_v<T, std::complex<long double>>) return MPI_C_LONG_DOUBLE_COMPLEX;
  else if constexpr (std::is_integral_v<T>) {
    constexpr bool is_signed = std::is_signed_v<T>;
    if constexpr (sizeof(T) == 1) return is_signed ? MPI_INT8_T : MPI_UINT8_T;
    else if constexpr (sizeof(T) == 2) return is_signed ? MPI_INT16_T : MPI_UINT16_T;
    else if constexpr (sizeof(T) == 4) return is_signed ? MPI_INT32_T : MPI_UINT32_T;
    else return is_signed ? MPI_INT64_T : MPI_UINT64_T;
  } else if constexpr (std::is_same_v<T, float>) return MPI_FLOAT;
  else if constexpr (std::is_same_v<T, double>) return MPI_DOUBLE;
  else if constexpr (std::is_same_v<T, long double>) return MPI_LONG_DOUBLE;
  else if constexpr (moves_as_bytes<T>) {
    static const MPI_Datatype bytes = [] {
      MPI_Datatype made = MPI_DATATYPE_NULL;
      check(MPI_Type_contiguous(static_cast<int>(sizeof(T)), MPI_BYTE, &made), "MPI_Type_contiguous");
      check(MPI_Type_commit(&made), "MPI_Type_commit");
      return made;
    }();
    return bytes;
  } else return boost::mpi::get_mpi_datatype<T>(T());
}

/// Divides n elements into consecutive pieces of at most 1 GiB, which MPI can send in one message, and calls f(first,
/// count) for each piece: the index of its first element and its number of elements.
template <class T, class F>
void for_each_message(std::size_t n, F f) {
  constexpr std::size_t most = (std::size_t{1} << 30U) / sizeof(T);
  for (std::size_t first = 0; first < n; first += most) f(first, static_cast<int>(n - first < most ? n - first : most));
}

}  // namespace detail
}  // namespace partita
