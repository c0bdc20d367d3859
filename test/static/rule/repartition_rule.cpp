// Repartition: ranks are equal, of both partitions and of the tensor.
#include <partita/rule/repartition_rule.hpp>

using namespace partita;

namespace {

using reason = repartition_verdict::reason;

static_assert(judge_repartition(2, 2, 2) && judge_repartition(0, 0, 0));
static_assert(judge_repartition(1, 3, 3).why == reason::partition_ranks_differ);
static_assert(judge_repartition(1, 3, 1).why == reason::partition_ranks_differ);  // the partitions come first
static_assert(judge_repartition(3, 3, 2).why == reason::tensor_rank_differs);

static_assert(explain_verdict(judge_repartition(1, 3, 3)) ==
              "partita::repartition(p_x, p_y): requires partitions of equal rank, got rank(p_x) = 1 and rank(p_y) = 3; "
              "reshape() one of them with extents of 1");
static_assert(explain_verdict(judge_repartition(3, 3, 2)) ==
              "partita::repartition(p_x, p_y): requires a block of the rank of its partitions, got rank(x) = 2 and "
              "rank(p_x) = 3; reshape() the partitions with extents of 1");

}  // namespace
