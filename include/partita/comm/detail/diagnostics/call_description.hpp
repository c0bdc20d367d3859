// The description of a call, which is composed only if it is printed.
#pragma once

#include <partita/core/error.hpp>
#include <type_traits>

namespace partita::detail {

/// A type-erased function that describes a call, so that the code that all calls share is compiled only once.
class call_description {
 public:
  /// Refers to `describe`, which must outlive this object. Implicit, so that a call can pass its lambda directly.
  template <class Describe>
    requires(!std::is_same_v<Describe, call_description>)
  call_description(const Describe& describe)
      : describe_(&describe), text_of_([](const void* any) { return text((*static_cast<const Describe*>(any))()); }) {}
  text operator()() const { return text_of_(describe_); }

 private:
  const void* describe_;
  text (*text_of_)(const void*);
};

}  // namespace partita::detail
