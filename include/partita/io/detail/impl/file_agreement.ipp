// Defines the functions that io/detail/file_agreement.hpp declares.
#pragma once

#include <partita/io/detail/file_agreement.hpp>

namespace partita::detail {

PARTITA_DEF void file_error::raise() const {
  if (error_kind == kind::shape) throw shape_error(sentence);
  if (error_kind == kind::partition) throw partition_error(sentence);
  throw io_error(sentence);
}

PARTITA_DEF argument_hash& argument_hash::operator<<(std::uint64_t value) {
  hasher_.mix(value);
  return *this;
}

PARTITA_DEF argument_hash& argument_hash::operator<<(const char* characters) {
  while (*characters != '\0') *this << static_cast<std::uint64_t>(static_cast<unsigned char>(*characters++));
  return *this;
}

PARTITA_DEF std::uint64_t file_call::all_and(std::uint64_t choices) const {
  // one_call covers the agreement alone: after it each worker works without communication until the next agreement.
  return one_call(*world_.state(), [&] {
    return world_.state()->agree(arguments_hash_, choices, failure::none, [&] { return name_; });
  });
}

PARTITA_DEF void file_call::throw_together(const file_error& mine) const {
  if (is_true_on_all(mine.empty())) return;
  // The first worker with an error is found without a list of all errors, because a worker that has no memory for such
  // a list would leave the other workers waiting.
  const std::size_t n = world_.size(),
                    failing_worker =
                        n - maximum_over_workers<1>(*world_.state(), {mine.empty() ? 0 : n - world_.id()})[0];
  const std::string message = broadcast_bytes(
      failing_worker, static_cast<char>(mine.error_kind) + std::string(mine.sentence.begin(), mine.sentence.end()));
  file_error first;
  first.error_kind = static_cast<file_error::kind>(message[0]);
  first.sentence << message.c_str() + 1;
  first.raise();
}

PARTITA_DEF file_error file_call::errno_error(const char* action, const std::string& path, int error,
                                              const char* error_advice) const {
  file_error call_error;
  if (error == 0) return call_error;
  call_error.sentence << name_ << ": worker " << world_.id() << " cannot " << action << " " << path.c_str() << ": "
                      << error_text(error) << "; " << error_advice;
  return call_error;
}

PARTITA_DEF file_error file_call::make_error(file_error::kind error_kind, const text& sentence) const {
  file_error call_error;
  call_error.error_kind = error_kind;
  call_error.sentence << name_ << ": " << sentence;
  return call_error;
}

}  // namespace partita::detail
