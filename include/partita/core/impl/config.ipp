// Defines the functions that core/config.hpp declares.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <partita/core/config.hpp>

extern "C" PARTITA_WEAK const char** partita_setting(unsigned setting) {
  static const char* values[8] = {};
  return &values[setting % 8];
}

extern "C" PARTITA_WEAK void partita_expect_one_setting(unsigned setting, const char* value) {
  const char*& first_value = *partita_setting(setting);
  if (first_value == nullptr) first_value = value;
  if (std::strcmp(first_value, value) == 0) return;
  std::fprintf(
      stderr,
      "partita: this program mixes files that were compiled in two ways: %s, and %s; compile all files with the "
      "same headers and the same options, and link the libpartita of these headers\n",
      first_value, value);
  std::_Exit(EXIT_FAILURE);
}
