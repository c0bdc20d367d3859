// Counts of a kernel's plans and messages, and how a kernel is written to a stream.
#pragma once

#include <concepts>
#include <cstddef>
#include <partita/core/text.hpp>
#include <type_traits>

namespace partita {

/// The number of plans that a kernel has made, and what this worker moved in the last call with the plan used last.
struct kernel_counts {
  std::size_t plans_made = 0;  ///< since the kernel was made; calls that find their plan in the cache make none
  std::size_t messages = 0, bytes_by_message = 0;  ///< messages that this worker sent in the last call, and their bytes
  std::size_t bytes_shared = 0;                    ///< bytes this worker passed through shared memory in the last call

  kernel_counts& operator+=(const kernel_counts& other) {
    plans_made += other.plans_made, messages += other.messages;
    bytes_by_message += other.bytes_by_message, bytes_shared += other.bytes_shared;
    return *this;
  }
};

namespace detail {

/// Writes the compiler's name of T without the namespaces of the library: `broadcast<extents<1, 4>, extents<3, 4>>`.
template <class T>
text name_of_type() {
  const char* at = __PRETTY_FUNCTION__;  // ends with [with T = NAME] (g++) or [T = NAME] (clang)
  while (*at != '\0' && !(at[0] == 'T' && at[1] == ' ' && at[2] == '=' && at[3] == ' ')) ++at;
  const auto prefix_length = [&at](const char* word) {
    std::size_t k = 0;
    while (word[k] != '\0' && at[k] == word[k]) ++k;
    return word[k] == '\0' ? k : 0;
  };
  text name;
  for (at += *at == '\0' ? 0 : 4; *at != '\0' && *at != ']' && *at != ';';) {
    if (const std::size_t skipped = prefix_length("partita::") + prefix_length("detail::"); skipped != 0) {
      at += skipped;
    } else if (const std::size_t unknown = prefix_length("18446744073709551615"); unknown != 0) {
      name << "dynamic";
      at += unknown;
      while (*at == 'u' || *at == 'U' || *at == 'l' || *at == 'L') ++at;
    } else {
      name << *at++;
    }
  }
  return name;
}

}  // namespace detail

/// Writes the type and the counts of a kernel to a stream: `broadcast<extents<1, 2>, extents<2, 2> >: 1 plan made; in
/// the last call this worker sent 0 messages of 0 bytes and shared 40 bytes`. Needs no communication.
template <class Stream, class Kernel>
  requires(std::is_class_v<Kernel> &&
           requires(Stream& stream, const char* p, const Kernel& kernel) {
             stream.write(p, 1);
             { kernel.counts() } -> std::same_as<kernel_counts>;
           })
Stream& operator<<(Stream& stream, const Kernel& kernel) {
  const kernel_counts done = kernel.counts();
  return stream << (detail::name_of_type<Kernel>()
                    << ": " << done.plans_made << (done.plans_made == 1 ? " plan" : " plans")
                    << " made; in the last call this worker sent " << done.messages << " messages of "
                    << done.bytes_by_message << " bytes and shared " << done.bytes_shared << " bytes");
}

}  // namespace partita
