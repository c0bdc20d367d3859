// The description of a call, whose text is made only when it is needed.
#pragma once

#include <partita/core/error.hpp>
#include <type_traits>

namespace partita::detail {

/// A type-erased function that describes a call, so that the code that all calls share is compiled only once.
class call_description {
 public:
  /// Refers to the function `describe`, which must outlive this object. Callers can pass a lambda.
  template <class Describe>
    requires(!std::is_same_v<Describe, call_description>)
  call_description(const Describe& describe)
      : describer_(&describe),
        make_text_([](const void* any) { return text((*static_cast<const Describe*>(any))()); }) {}
  text operator()() const { return make_text_(describer_); }

 private:
  const void* describer_;           ///< the function that describes the call
  text (*make_text_)(const void*);  ///< calls that function
};

}  // namespace partita::detail
