// broadcast_in_dim: one operand is broadcast to a given result, at three levels of strictness.
#include <partita/rule/broadcast_in_dim_rule.hpp>

using namespace partita;

namespace {

constexpr broadcast_fault in_dim(const shape_list& x, const shape_list& y, const broadcast_dimensions_list& dims,
                                 strictness level) {
  return judge_broadcast_in_dim(x, y, dims, level).fault;
}
static_assert(in_dim({3U}, {2U, 3U, 4U}, {1}, strictness::xla_builder) == broadcast_fault::none);
static_assert(in_dim({1U, 3U}, {2U, 3U}, {0, 1}, strictness::stablehlo) == broadcast_fault::none);
static_assert(in_dim({1U, 3U}, {2U, 3U}, {0, 1}, strictness::hlo) == broadcast_fault::operand_size_mismatch);
static_assert(in_dim({2U, 3U}, {3U, 2U}, {1, 0}, strictness::xla_builder) ==
              broadcast_fault::dims_not_strictly_increasing);
static_assert(in_dim({2U, 3U}, {3U, 2U}, {1, 0}, strictness::hlo) == broadcast_fault::none);
static_assert(in_dim({1U, 1U}, {2U, 2U}, {0, 0}, strictness::stablehlo) == broadcast_fault::dims_not_unique);
static_assert(in_dim({1U, 2U, 3U}, {3U}, {0, 1, 2}, strictness::xla_builder) ==
              broadcast_fault::operand_rank_exceeds_output_rank);

// the order of checks: the number of entries first, then each entry at the client's level, all ranges at the others
static_assert(in_dim({2U, 3U}, {2U, 3U}, {0}, strictness::xla_builder) == broadcast_fault::dims_size_mismatch);
static_assert(in_dim({4U, 3U}, {2U, 3U}, {0, 7}, strictness::xla_builder) == broadcast_fault::operand_size_mismatch);
static_assert(in_dim({4U, 3U}, {2U, 3U}, {0, 7}, strictness::hlo) == broadcast_fault::dim_out_of_range);
static_assert(in_dim({3U}, {2U, 3U}, {-1}, strictness::xla_builder) == broadcast_fault::dim_out_of_range);
static_assert(in_dim({3U}, {dynamic, dynamic}, {0}, strictness::hlo) == broadcast_fault::none);  // not known yet
static_assert(in_dim({}, {2U, 3U}, {}, strictness::xla_builder) == broadcast_fault::none);

// a dimension that is named twice: out of order at the client's level, not distinct at the others, before extents
static_assert(in_dim({2U, 2U}, {2U, 2U}, {0, 0}, strictness::xla_builder) ==
              broadcast_fault::dims_not_strictly_increasing);
static_assert(in_dim({4U, 4U}, {2U, 3U}, {0, 0}, strictness::hlo) == broadcast_fault::dims_not_unique);
static_assert(in_dim({4U, 4U}, {2U, 3U}, {0, 0}, strictness::stablehlo) == broadcast_fault::dims_not_unique);

// an error names its entry
constexpr std::size_t place(const shape_list& x, const shape_list& y, const broadcast_dimensions_list& dims,
                            strictness level) {
  return judge_broadcast_in_dim(x, y, dims, level).at;
}
static_assert(place({2U, 5U}, {2U, 3U}, {0, 1}, strictness::xla_builder) == 1 &&
              place({2U, 5U}, {2U, 3U}, {0, 1}, strictness::stablehlo) == 1 &&
              place({2U, 5U}, {2U, 3U}, {0, 1}, strictness::hlo) == 1);
static_assert(place({3U, 3U, 3U}, {3U, 3U, 3U}, {0, 1, 1}, strictness::xla_builder) == 2 &&
              place({3U, 3U, 3U}, {3U, 3U, 3U}, {0, 2, 0}, strictness::stablehlo) == 2);
static_assert(place({3U, 3U}, {3U, 3U}, {0, 2}, strictness::xla_builder) == 1 &&
              place({3U, 3U}, {3U, 3U}, {1, -1}, strictness::hlo) == 1);

static_assert(judge_result_extents({2, 0, 3}) && judge_result_extents({2, -1, -3}).at == 1);

}  // namespace
