// Which types are policies, and which policies are among the arguments of a kernel.
#include <partita/rule/kernel_policy.hpp>

using namespace partita;

namespace {

static_assert(broadcast_policy<transpose_src_t> && broadcast_policy<transpose_dest_t>);
static_assert(broadcast_policy<discard_batch_t> && broadcast_policy<reproducible_t> && broadcast_policy<shared_view_t>);
static_assert(!broadcast_policy<int> && !broadcast_policy<const transpose_src_t>);

static_assert(has_policy<transpose_src_t, discard_batch_t, transpose_src_t>);
static_assert(!has_policy<transpose_src_t, transpose_dest_t> && !has_policy<transpose_src_t>);

}  // namespace
