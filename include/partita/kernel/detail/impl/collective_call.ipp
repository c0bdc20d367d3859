// Defines the functions that kernel/detail/collective_call.hpp declares.
#pragma once

#include <partita/kernel/detail/collective_call.hpp>

namespace partita::detail {

PARTITA_DEF plan_key collective_call::key(bool includes_block) const {
  plan_key found;
  if (includes_block) found.block = {x.rank, x.shape};
  if (view != nullptr) found.view = {view->rank, view->shape};
  return found;
}

PARTITA_DEF bool collective_call::matches_key(const plan_key& key, bool includes_block) const {
  return key.block.equals(includes_block ? &x.shape : nullptr, x.rank) &&
         key.view.equals(view != nullptr ? &view->shape : nullptr, x.rank);
}

PARTITA_DEF std::uint64_t collective_call::fingerprint(std::uint64_t kernel, std::uint64_t channels_id) const {
  const std::uint64_t options = static_cast<std::uint64_t>(direction) + (shares ? 4U : 0U) +
                                (is_non_blocking ? 8U : 0U) +
                                (operation != nullptr && operation->combine_exactly != nullptr ? 16U : 0U);
  return mixed(mixed(kernel, element_type->number), 2048 * channels_id + 64 * options + x.rank);
}

PARTITA_DEF text collective_call::describe(const text& kernel) const {
  text all = kernel;
  all << " with a block of shape " << shape_text(x.shape, x.rank) << " and elements of type " << element_type->name()
      << " (" << kind->bytes << " bytes)";
  if (operation != nullptr && operation->combine_exactly != nullptr) all << ", reproducible";
  if (shares) all << ", as a shared view";
  if (is_non_blocking) all << ", by start";
  return all;
}

PARTITA_DEF local_error collective_call::own_error(const char* kernel, std::size_t worker) const {
  if (has_error()) return local_error(*error_message);
  return {failure::shape,
          text(kernel) << ".into(x, view): requires a view that has no memory in common with x, got two that overlap "
                          "on worker "
                       << worker << "; copy x first, or take the result as a new tensor"};
}

PARTITA_DEF void collective_call::expect_view_shape(const char* kernel, const block_shape& shape,
                                                    local_error& found_error) const {
  if (found_error.any() || view == nullptr || view->shape == shape || element_count_of_shape(shape, x.rank) == 0)
    return;
  found_error.kind = failure::shape;
  found_error.sentence << kernel << ".into(x, view): requires a view of the shape of the result "
                       << shape_text(shape, x.rank) << ", got " << shape_text(view->shape, x.rank)
                       << "; take a view of that shape";
}

}  // namespace partita::detail
