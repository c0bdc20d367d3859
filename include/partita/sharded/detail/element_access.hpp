// Reads and writes elements of sharded tensors by global index: every worker sends lists of requests to the workers
// that hold the elements; if elements are read, these workers reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <partita/comm/facts.hpp>
#include <partita/core/config.hpp>
#include <partita/sharded/detail/bound_mesh.hpp>
#include <vector>

namespace partita::detail {

/// Exchanges lists of equal length between all workers. Row w of `lists_by_destination` goes to worker w; row w of the
/// result is the row that worker w sent to this worker.
template <class T>
std::vector<T> exchange_lists(bound_mesh& on, const std::vector<T>& lists_by_destination, std::size_t list_length) {
  const std::size_t workers = on.everyone().size();
  std::vector<worker_box> source_boxes(workers), target_boxes(workers);
  for (std::size_t w = 0; w < workers; ++w) {
    source_boxes[w] = {{interval{w, w + 1}, {0, workers}, {0, list_length}}, 0, true};
    target_boxes[w] = {{interval{0, workers}, {w, w + 1}, {0, list_length}}, 0, true};
  }
  std::vector<T> received(workers * list_length + 1);
  on.move(source_boxes, target_boxes, lists_by_destination.data(), received.data());
  return received;
}

/// Returns the only element of a tensor on all workers of the world; every worker of the mesh already has it.
/// Collective if some workers are not on the mesh; otherwise, and without a mesh, there is no communication.
template <class T>
tensor_block<T> broadcast_element(bound_mesh* on, const tensor_block<T>& x, std::uint64_t number) {
  if (on == nullptr || on->where().size() == on->everyone().size()) return x;
  const sharding whole(on->mesh(), 1);
  const shape_list one{1};
  return on->one_call([&] {
    on->agree<T>("sharded_tensor::number", whole, whole, one, number);
    std::vector<worker_box> source_boxes = on->boxes_of(whole, one), target_boxes(source_boxes.size());
    for (std::size_t w = 0; w < source_boxes.size(); ++w)
      if (!source_boxes[w].has_box) target_boxes[w] = {{interval{0, 1}}, 0, true};
    tensor_block<T> y(on->active() ? x.shape : shape_list());
    if (on->active()) *y.data() = *x.data();
    T received{};
    on->move(source_boxes, target_boxes, x.data(), on->active() ? &received : y.data());
    return y;
  });
}

/// Finds the workers that hold the element of an index, and the offset of the element in their blocks.
class element_locator {
 public:
  element_locator(const bound_mesh& on, const sharding& s, const shape_list& extents)
      : own_id_(on.everyone().id()), boxes_(on.boxes_of(s, extents)) {}

  /// Calls f(worker, offset in its block) for each worker that holds the element of `index`.
  template <class F>
  void for_each_holder(const shape_list& index, F f) const {
    for (std::size_t w = 0; w < boxes_.size(); ++w) {
      const worker_box& one = boxes_[w];
      bool there = one.has_box;
      std::size_t offset = 0;
      for (std::size_t d = 0; there && d < index.size(); ++d) {
        there = index[d] >= one.box[d].start && index[d] < one.box[d].stop;
        offset = offset * one.box[d].size() + index[d] - one.box[d].start;
      }
      if (there) f(w, offset);
    }
  }
  /// Sets `worker` to this worker if it holds the element of `index`, else to another worker that holds the element,
  /// and `offset` to the offset of the element in that worker's block.
  PARTITA_DECL void find_holder(const shape_list& index, std::size_t& worker, std::size_t& offset) const;

 private:
  std::size_t own_id_;             ///< the id of this worker in the world
  std::vector<worker_box> boxes_;  ///< the block of the tensor that each worker of the world has
};

/// The offset of an element in a dense array of these extents in C order.
PARTITA_DECL std::size_t offset_of_index(const shape_list& extents, const shape_list& index);
/// The error message for the first index that is not inside of the tensor; empty if all indices are.
PARTITA_DECL text index_error(const char* call, const shape_list& extents, const std::vector<shape_list>& indices);
/// The length of the rows of pad_rows(): the smallest power of two that is enough for the longest list of any worker
/// and one number more. Few different lengths occur, so that cached plans are reused. Collective.
PARTITA_DECL std::size_t common_list_length(bound_mesh& on, const std::vector<std::vector<std::uint64_t>>& lists);
/// Writes the lists as rows of equal length, one per worker: length of the list, list, zeros; one more 0 follows.
PARTITA_DECL std::vector<std::uint64_t> pad_rows(const std::vector<std::vector<std::uint64_t>>& lists,
                                                 std::size_t list_length);

/// Returns the elements at indices that each worker chooses. Collective over the world, unless `on` is null.
template <class T>
std::vector<T> elements_at(bound_mesh* on, const sharding& s, const shape_list& extents, const tensor_block<T>& block,
                           std::uint64_t number, const std::vector<shape_list>& indices) {
  const local_error wrong(index_error("get()", extents, indices));
  std::vector<T> elements(indices.size());
  if (on == nullptr) {
    if (wrong.any()) raise(wrong.kind, wrong.sentence);
    for (std::size_t k = 0; k < indices.size(); ++k) elements[k] = block.data()[offset_of_index(extents, indices[k])];
    return elements;
  }
  return on->one_call([&] {
    on->agree<T>("sharded_tensor::get", s, s, extents, number, wrong);
    const element_locator places(*on, s, extents);
    // 1. List, for each worker, the offsets of the elements that this worker requests from that worker.
    std::vector<std::vector<std::uint64_t>> requested(on->everyone().size());
    std::vector<std::size_t> holder(indices.size());
    for (std::size_t k = 0; k < indices.size(); ++k) {
      std::size_t offset = 0;
      places.find_holder(indices[k], holder[k], offset);
      requested[holder[k]].push_back(offset);
    }
    // 2. Send the requests.
    const std::size_t list_length = common_list_length(*on, requested);
    const auto requests = exchange_lists(*on, pad_rows(requested, list_length), list_length);
    // 3. Send the requested elements back to the workers that requested them.
    std::vector<T> replies(requested.size() * list_length + 1, T(0));
    for (std::size_t w = 0; w < requested.size(); ++w)
      for (std::size_t k = 0; k < requests[w * list_length]; ++k)
        replies[w * list_length + k] = block.data()[requests[w * list_length + 1 + k]];
    const auto received_elements = exchange_lists(*on, replies, list_length);
    // 4. Sort the received elements into the order of the indices.
    std::vector<std::size_t> next(requested.size(), 0);
    for (std::size_t k = 0; k < indices.size(); ++k)
      elements[k] = received_elements[holder[k] * list_length + next[holder[k]]++];
    return elements;
  });
}

/// Sets the elements at indices that each worker chooses, in all copies of the elements. Collective like elements_at().
template <class T>
void set_elements(bound_mesh* on, const sharding& s, const shape_list& extents, const tensor_block<T>& block,
                  std::uint64_t number, const std::vector<shape_list>& indices, const std::vector<T>& values) {
  local_error wrong(index_error("put()", extents, indices));
  if (!wrong.any() && values.size() != indices.size())
    wrong = local_error(text("partita::sharded_tensor::put(): requires a value for each index, got ")
                        << values.size() << " values for " << indices.size() << " indices");
  if (on == nullptr) {
    if (wrong.any()) raise(wrong.kind, wrong.sentence);
    for (std::size_t k = 0; k < indices.size(); ++k) block.data()[offset_of_index(extents, indices[k])] = values[k];
    return;
  }
  on->one_call([&] {
    on->agree<T>("sharded_tensor::put", s, s, extents, number, wrong);
    const element_locator places(*on, s, extents);
    // 1. List, for each worker, the offsets and the values of the elements that the worker must set.
    std::vector<std::vector<std::uint64_t>> offsets_to_set(on->everyone().size());
    std::vector<std::vector<T>> values_to_set(offsets_to_set.size());
    for (std::size_t k = 0; k < indices.size(); ++k)
      places.for_each_holder(indices[k], [&](std::size_t w, std::size_t offset) {
        offsets_to_set[w].push_back(offset);
        values_to_set[w].push_back(values[k]);
      });
    // 2. Send to each worker the offsets of the elements that it must set, then the values.
    const std::size_t list_length = common_list_length(*on, offsets_to_set);
    const auto received_offsets = exchange_lists(*on, pad_rows(offsets_to_set, list_length), list_length);
    std::vector<T> rows(offsets_to_set.size() * list_length + 1, T(0));
    for (std::size_t w = 0; w < values_to_set.size(); ++w)
      for (std::size_t k = 0; k < values_to_set[w].size(); ++k) rows[w * list_length + k] = values_to_set[w][k];
    const auto received_values = exchange_lists(*on, rows, list_length);
    // 3. Set the elements in the order of the senders: if several workers set one element, the highest worker id wins.
    for (std::size_t w = 0; w < offsets_to_set.size(); ++w)
      for (std::size_t k = 0; k < received_offsets[w * list_length]; ++k)
        block.data()[received_offsets[w * list_length + 1 + k]] = received_values[w * list_length + k];
  });
}

#define PARTITA_INSTANTIATE_ELEMENT_ACCESS(EXTERN, T)                                                           \
  EXTERN template tensor_block<T> broadcast_element<T>(bound_mesh*, const tensor_block<T>&, std::uint64_t);     \
  EXTERN template std::vector<T> elements_at<T>(bound_mesh*, const sharding&, const shape_list&,                \
                                                const tensor_block<T>&, std::uint64_t,                          \
                                                const std::vector<shape_list>&);                                \
  EXTERN template void set_elements<T>(bound_mesh*, const sharding&, const shape_list&, const tensor_block<T>&, \
                                       std::uint64_t, const std::vector<shape_list>&, const std::vector<T>&);
PARTITA_FOR_EACH_USUAL_ELEMENT(PARTITA_INSTANTIATE_ELEMENT_ACCESS, extern)

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/sharded/detail/impl/element_access.ipp>
#endif
