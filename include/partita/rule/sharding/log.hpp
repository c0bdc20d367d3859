// Why propagation answered as it did: every decision, in the order taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/rule/sharding/bounded_list.hpp>
#include <partita/rule/sharding/owed_reduction.hpp>

namespace partita {

/// One decision about one mesh axis, or about all axes of a dimension if `axis` is `no_axis`.
struct decision {
  enum class what : std::uint8_t {
    took,               ///< a factor is cut as this dimension of this tensor is
    extended,           ///< … and further
    joined,             ///< a factor took this axis, too, though another tensor cuts it differently
    overruled,          ///< this tensor cuts the factor differently; `by` is the tensor that it follows
    lost,               ///< the factor wanted the axis; factor `by` has it
    uneven,             ///< the axis would cut the factor unevenly
    must_be_whole,      ///< the operation needs the dimension whole
    one_element,        ///< a dimension of one element, or one that is broadcast, is not cut
    does_not_fit,       ///< the blocks would not be blocks of the merged or split dimension
    keeps_replicating,  ///< a tensor demands that the axis replicates
    not_for_new,        ///< only results have the dimension, and the policy cuts only what operands have
    owes,               ///< the result is partial over the axis, which cuts a factor that it lacks; `kind` says how
    passes_partial,     ///< the operand stays partial over the axis, and so are the results
    finishes_partial,   ///< the operand must be finished over the axis before the operation
    keeps_partial,      ///< the result is said to be partial over the axis, and is made so after the operation
  };
  static constexpr std::uint8_t no_axis = 255, nobody = 255;

  what done = what::took;
  std::uint8_t tensor = nobody, dimension = nobody;  ///< operands first, then results
  std::uint8_t factor = nobody;
  std::uint8_t axis = no_axis;
  std::uint8_t by = nobody;
  owed_reduction kind = owed_reduction::none;
  friend constexpr bool operator==(const decision&, const decision&) = default;
};

constexpr const char* name_of(decision::what done) {
  constexpr const char* names[] = {
      "took",        "extended",      "joined",         "overruled",        "lost",
      "uneven",      "must be whole", "one element",    "does not fit",     "keeps replicating",
      "not for new", "owes",          "passes partial", "finishes partial", "keeps partial"};
  return names[static_cast<std::size_t>(done)];
}

/// A tensor that must be moved: before the operation if it is an operand, after it if it is a result.
struct reshard_need {
  std::uint8_t tensor = 0;  ///< operands first, then results
  std::size_t bytes = 0;    ///< what a worker receives
  friend constexpr bool operator==(const reshard_need&, const reshard_need&) = default;
};

}  // namespace partita
