// The description of a call, composed only if it is printed.
#pragma once

#include <partita/core/error.hpp>

namespace partita::detail {

/// What describes a call when that is asked for, of any type: what all calls do is compiled once.
class call_description {
 public:
  template <class Describe>
  explicit call_description(const Describe& describe)
      : describe_(&describe), text_of_([](const void* any) { return text((*static_cast<const Describe*>(any))()); }) {}
  text operator()() const { return text_of_(describe_); }

 private:
  const void* describe_;
  text (*text_of_)(const void*);
};

}  // namespace partita::detail
