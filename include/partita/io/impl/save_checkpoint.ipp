// Defines the functions that io/save_checkpoint.hpp declares.
#pragma once

#include <cstdio>
#include <exception>
#include <partita/io/save_checkpoint.hpp>
#include <system_error>

namespace partita {

checkpoint_saver::~checkpoint_saver() {
  if (!pending_) return;
  if (std::uncaught_exceptions() == 0) {
    try {
      finish();
    } catch (const std::exception& e) {
      std::fprintf(stderr, "partita: ~checkpoint_saver: %s\n", e.what());
    }
  }
  if (thread_.joinable()) thread_.join();
}

PARTITA_DEF void checkpoint_saver::finish() {
  if (!pending_) return;
  if (thread_.joinable()) thread_.join();
  const auto ending = std::move(pending_);
  detail::call_with_unwinding([&] { ending->end(); });
}

}  // namespace partita
