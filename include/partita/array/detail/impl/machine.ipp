// Defines the functions that array/detail/machine.hpp declares.
#pragma once

#include <cstdio>
#include <partita/array/detail/machine.hpp>

namespace partita::detail {

PARTITA_DEF instruction_set best_instruction_set() {
#if defined(__x86_64__)
  static const instruction_set best = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vbmi"))
      return instruction_set::avx512;
    return __builtin_cpu_supports("avx2") ? instruction_set::avx2 : instruction_set::baseline;
  }();
  return best;
#else
  return instruction_set::baseline;
#endif
}

PARTITA_DEF std::size_t last_level_cache_bytes() {
  static const std::size_t size = [] {
    std::size_t largest = 0;
#if defined(__linux__)
    char path[] = "/sys/devices/system/cpu/cpu0/cache/index0/size";
    for (char level = '0'; level < '8'; ++level) {
      path[sizeof path - sizeof "0/size"] = level;
      std::FILE* const file = std::fopen(path, "re");
      if (file == nullptr) break;
      char digits[32] = {};
      const std::size_t length = std::fread(digits, 1, sizeof digits - 1, file);
      std::fclose(file);
      std::size_t bytes = 0;
      const char* c = digits;
      for (; length > 0 && *c >= '0' && *c <= '9'; ++c) bytes = bytes * 10 + static_cast<std::size_t>(*c - '0');
      if (*c == 'K') bytes <<= 10;
      if (*c == 'M') bytes <<= 20;
      if (bytes > largest) largest = bytes;
    }
#endif
    return largest != 0 ? largest : std::size_t{32} << 20;
  }();
  return size;
}

}  // namespace partita::detail
