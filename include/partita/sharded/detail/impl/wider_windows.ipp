// Defines the functions that sharded/detail/wider_windows.hpp declares.
#pragma once

#include <algorithm>
#include <partita/sharded/detail/tensor_block.hpp>
#include <partita/sharded/detail/wider_windows.hpp>
#include <utility>

namespace partita::detail {

/// Finds the operations whose results should be computed in wider boxes than blocks, from the last to the first.
class wider_box_finder {
 public:
  wider_box_finder(const graph& of, const std::vector<placed_operation>& placed_operations, bound_mesh& on,
                   std::size_t element_bytes, double multiply_adds_per_second)
      : g_(of),
        placed_operations_(placed_operations),
        bound_mesh_(on),
        link_(on.movement_link()),
        element_bytes_(static_cast<double>(element_bytes)),
        multiply_adds_per_second_(multiply_adds_per_second),
        wider_results_(of.operations()) {}

  std::vector<wider_result> find_wider_results() {  ///< returns an entry for each operation; called once
    for (std::size_t o = wider_results_.size(); o-- > 0;)
      if (find_box_operation(o) != nullptr) try_to_widen_result(o);
    return std::move(wider_results_);
  }

 private:
  /// Operation o, if it reads sharded windows and can compute any box of its result; else null.
  const any_box_operation* find_box_operation(std::size_t o) const {
    const operation_window* const window = g_.operation(o).window;
    if (window == nullptr || !window->is_needed(g_.operation(o).operands, placed_operations_[o].computed_layout))
      return nullptr;
    const auto* const own = dynamic_cast<const any_box_operation*>(window);
    return own != nullptr && own->can_compute_boxes() ? own : nullptr;
  }
  value result(std::size_t o) const { return g_.of(g_.operation(o), g_.operation(o).operands); }  ///< of operation o
  const shape_list& shape(std::size_t o) const { return g_[result(o)].shape; }  ///< of the result of operation o
  /// The first operation that reads the result of operation o in its final layout, in windows or element by element;
  /// the number of operations if there is none.
  std::size_t find_reader(std::size_t o) const {
    const sharding& final_layout = placed_operations_[o].final_layout;
    if (!placed_operations_[o].computed_layout.same_layout(final_layout)) return wider_results_.size();
    std::size_t c = o + 1;
    while (c < wider_results_.size() && !(g_.of(g_.operation(c), 0).number == result(o).number &&
                                          (find_box_operation(c) != nullptr || placed_operations_[c].is_elementwise) &&
                                          placed_operations_[c].operand_layouts[0].same_layout(final_layout)))
      ++c;
    return c;
  }
  /// The box of the result of operation o that each worker computes.
  std::vector<worker_box> computed_boxes(std::size_t o) const {
    return wider_results_[o].computed_boxes.empty()
               ? bound_mesh_.boxes_of(placed_operations_[o].computed_layout, shape(o))
               : wider_results_[o].computed_boxes;
  }
  /// The box of operand 0 that operation o reads for the box `result` of its result.
  short_list<interval> read_box(std::size_t o, const short_list<interval>& result,
                                const short_list<interval>& block) const {
    std::vector<shape_list> shapes;
    for (std::size_t t = 0; t <= g_.operation(o).operands; ++t) shapes.push_back(g_[g_.of(g_.operation(o), t)].shape);
    return find_box_operation(o)->operand_box(result, block, shapes.data());
  }
  static double volume(const short_list<interval>& box) { return static_cast<double>(shape_size(shape_of_box(box))); }

  /// Makes the workers compute wider boxes of operation o, if this takes less time than the exchange that it saves.
  void try_to_widen_result(std::size_t o) {
    std::vector<std::size_t> path{o};  // o, then elementwise operations up to the next window
    std::size_t reader = find_reader(o);
    for (; reader < wider_results_.size() && find_box_operation(reader) == nullptr; reader = find_reader(reader))
      path.push_back(reader);
    if (reader == wider_results_.size()) return;
    const std::vector<worker_box> wanted = computed_boxes(reader);
    const std::vector<worker_box> operand =
        bound_mesh_.boxes_of(placed_operations_[o].operand_layouts[0], g_[g_.of(g_.operation(o), 0)].shape);
    std::vector<worker_box> wide = bound_mesh_.boxes_of(placed_operations_[o].computed_layout, shape(o));
    // Maxima over the workers: the elements that the reader need not receive, those that are computed and received in
    // addition, and those that are read to compute one element.
    double saved = 0, computed_more = 0, received_more = 0, of_element = 0;
    for (std::size_t k = 0; k < wide.size(); ++k) {
      const short_list<interval> own = wide[k].box;
      if (!wide[k].has_box || volume(wanted[k].box) == 0 || volume(own) == 0) continue;
      const short_list<interval> window = read_box(reader, wanted[k].box, own);
      if (volume(window) == 0) continue;
      for (std::size_t d = 0; d < own.size(); ++d)
        wide[k].box[d] = {std::min(own[d].start, window[d].start), std::max(own[d].stop, window[d].stop)};
      short_list<interval> one = own;
      for (std::size_t d = 0; d < one.size(); ++d) one[d].stop = one[d].start + 1;
      short_list<interval> block = operand[k].box;
      block[0] = one[0];
      of_element = std::max(of_element, volume(read_box(o, one, block)));
      saved = std::max(saved, volume(window) - volume(own));
      computed_more = std::max(computed_more, volume(wide[k].box) - volume(own));
      received_more = std::max(
          received_more, volume(read_box(o, wide[k].box, operand[k].box)) - volume(read_box(o, own, operand[k].box)));
    }
    if (computed_more == 0) return;
    const double before = link_.latency + saved * element_bytes_ * link_.seconds_per_byte;
    const double after = received_more * element_bytes_ * link_.seconds_per_byte +
                         computed_more * of_element / multiply_adds_per_second_;
    if (after >= before) return;
    for (const std::size_t one : path)
      wider_results_[one].computed_boxes = wide,
      wider_results_[one].reads_wider_box = wider_results_[one].reads_wider_box || one != o;
    wider_results_[reader].reads_wider_box = true;
  }

  const graph& g_;                                          ///< the operations and values of the program
  const std::vector<placed_operation>& placed_operations_;  ///< the layouts of each operation
  bound_mesh& bound_mesh_;                                  ///< the mesh of the program
  link_cost link_;                                          ///< the estimated cost of a movement between the workers
  double element_bytes_, multiply_adds_per_second_;         ///< bytes of an element; the speed of one worker
  std::vector<wider_result> wider_results_;                 ///< the result for each operation, as far as decided
};

PARTITA_DEF std::vector<wider_result> wider_results(const graph& of,
                                                    const std::vector<placed_operation>& placed_operations,
                                                    bound_mesh& on, std::size_t element_bytes,
                                                    double multiply_adds_per_second) {
  return wider_box_finder(of, placed_operations, on, element_bytes, multiply_adds_per_second).find_wider_results();
}

}  // namespace partita::detail
