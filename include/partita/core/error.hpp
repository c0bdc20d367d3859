// The exceptions of the library: one base class, and one derived class for each kind of error.
#pragma once

#include <exception>
#include <partita/core/text.hpp>

namespace partita {

/// The base class of the exception classes of the library. `what()` usually names the call that failed, what the call
/// requires, the values that it got, and how to correct the call.
class error : public std::exception {
 public:
  explicit error(const text& sentence) : error_text_(sentence) {}  ///< `sentence` is the whole error message
  const char* what() const noexcept override { return error_text_.c_str(); }
  const text& sentence() const noexcept { return error_text_; }  ///< The error message.

 private:
  text error_text_;  ///< the error message
};

/// The error for shapes, ranks, extents or features that do not fit together.
class shape_error : public error {
 public:
  using error::error;
};

/// The error for workers or partition extents that do not fit together.
class partition_error : public error {
 public:
  using error::error;
};

/// The error for workers that make different calls, or the same call with different arguments or settings.
class disagreement_error : public error {
 public:
  using error::error;
};

/// The error for communication that fails or cannot happen: MPI reports an error, or a worker is lost.
class communication_error : public error {
 public:
  using error::error;
};

/// The error for a file that cannot be read or written, or does not hold what the program asks for.
class io_error : public error {
 public:
  using error::error;
};

}  // namespace partita
