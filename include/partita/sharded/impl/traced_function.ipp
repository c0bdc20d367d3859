// Defines the functions that sharded/traced_function.hpp declares.
#pragma once

#include <partita/sharded/traced_function.hpp>

namespace partita {

PARTITA_DEF traced_function& traced_function::constrain(value v, const sharding& layout, std::size_t priority) {
  program_->operations.constrain(v, layout, priority);
  completion_ = nullptr;
  return *this;
}

PARTITA_DEF traced_function& traced_function::differentiate_by(const std::vector<std::size_t>& arguments) {
  for (const std::size_t i : arguments) input(i);
  gradients_of_ = arguments;
  completion_ = nullptr;
  return *this;
}

PARTITA_DEF const completion& traced_function::complete() const {
  if (!completion_) {
    const auto done = std::make_shared<completion>(partita::complete(program_->operations));
    completion_ = done;
    if (program_->backward_reshards != nullptr) done->back = program_->backward_reshards(*this);
  }
  return *completion_;
}

PARTITA_DEF void traced_function::require_arguments(const shape_list* extents, std::size_t n) const {
  if (n != inputs_.size())
    throw shape_error(text("partita::trace: the program has ")
                      << inputs_.size() << " arguments, got " << n << "; give those");
  for (std::size_t i = 0; i < n; ++i)
    if (!(extents[i] == operations()[inputs_[i]].shape))
      throw shape_error(text("partita::trace: argument ")
                        << i << " was traced with extents " << operations()[inputs_[i]].shape << ", got " << extents[i]
                        << "; trace the function with these");
}

PARTITA_DEF value traced_function::operand(std::size_t o, std::size_t i) const {
  return operations().of(operations().operation(o), i);
}

PARTITA_DEF void traced_function::run_all_operations(detail::program_values& values) const {
  const completion& done = complete();
  // 1. Reshard the arguments to their completed layouts.
  for (std::size_t i = 0; i < inputs_.size(); ++i) values.set_argument(i, inputs_[i], closed_layout(done[inputs_[i]]));
  // 2. Find the layouts in which operations read operands and leave results.
  std::vector<detail::placed_operation> placed_operations;
  std::size_t next = 0;  // index of the next reshard; reshards are sorted in the order of the program
  for (std::size_t o = 0; o < operations().operations(); ++o) {
    const std::size_t n = operations().operation(o).operands;
    std::vector<sharding> operand_layouts;
    for (std::size_t i = 0; i < n; ++i) operand_layouts.push_back(closed_layout(done[operand(o, i)]));
    const sharding final_layout = closed_layout(done[operand(o, n)]);
    sharding computed_layout = final_layout;
    // The reshards of an operation change the layout in which it reads an operand or leaves its result.
    for (; next < done.reshards.size() && done.reshards[next].operation == o; ++next) {
      const graph_reshard& move = done.reshards[next];
      if (move.tensor < n) operand_layouts[move.tensor] = closed_layout(move.to);
      else computed_layout = closed_layout(move.from);
    }
    placed_operations.push_back({std::move(operand_layouts), computed_layout, final_layout});
  }
  // 3. Execute the operations in order.
  values.begin(placed_operations);
  for (std::size_t o = 0; o < placed_operations.size(); ++o)
    values.execute(o, placed_operations[o].operand_layouts, placed_operations[o].computed_layout,
                   placed_operations[o].final_layout);
}

PARTITA_DEF bool traced_function::is_elementwise_along_cuts(std::size_t o, const std::vector<sharding>& operand_layouts,
                                                            const sharding& computed_layout) const {
  const detail::applied_operation& work = program_->applied_operations[o];
  const std::size_t n = operand_layouts.size();
  bool is_elementwise = work.is_elementwise && n > 0 && operand_layouts[0].same_layout(computed_layout) &&
                        operations()[operand(o, 0)].shape == operations()[operand(o, n)].shape;
  for (std::size_t i = 0; is_elementwise && i < n; ++i) {
    is_elementwise = operand_layouts[i].same_layout(closed_layout(complete()[operand(o, i)]));
    // Operand i must not vary along sharded dimensions.
    for (std::size_t d = 0; i > 0 && d < computed_layout.rank(); ++d)
      for (std::size_t k = 0; !computed_layout.cuts[d].empty() && k < work.how.at(n, d).count; ++k)
        is_elementwise =
            is_elementwise && (work.how.factors_of(i) >> work.how.terms[work.how.at(n, d).first + k] & 1U) == 0;
  }
  return is_elementwise;
}

PARTITA_DEF detail::untyped_tensor traced_function::run_real_complex_program(const detail::untyped_tensor* arguments,
                                                                             std::uint64_t type) const {
  if (program_->mixed_execution == nullptr)
    throw error(
        "partita::trace: requires arguments of one type of elements, as the program has no operation that leads from "
        "real to complex numbers or back; cast them, or take to_complex of the real ones");
  const detail::untyped_tensor y = program_->mixed_execution->run(*this, arguments);
  if (y.type != type)
    throw error(
        "partita::trace: requires a call for elements of the type of the result: the program leads from real to "
        "complex numbers, or back; call the program that trace returned, of which this is a copy without this type");
  return y;
}

PARTITA_DEF text traced_function::summary() const {
  text all;
  for (std::size_t o = 0; o < operations().operations(); ++o) {
    const auto& node = operations().operation(o);
    all << (o == 0 ? "" : ", ") << node.how.name() << ' ' << operations()[operations().of(node, node.operands)].shape;
  }
  return all;
}

PARTITA_DEF std::uint64_t traced_function::fingerprint() const {
  const completion& done = complete();
  hasher all;
  for (const sharding& s : done.layouts) all.mix(detail::fingerprint_of(s));
  for (const graph_reshard& one : done.reshards)
    all.mix(one.operation).mix(one.tensor).mix(detail::fingerprint_of(one.from)).mix(detail::fingerprint_of(one.to));
  for (const value v : inputs_) {
    all.mix(v.number);
    all.mix(operations()[v].shape).mix(operations()[v].is_complex);
  }
  for (std::size_t o = 0; o < operations().operations(); ++o) {
    const auto& node = operations().operation(o);
    all.mix(detail::operation_fingerprint(program_->applied_operations[o])).mix(program_->gradient_stops[o]);
    for (std::size_t t = 0; t <= node.operands; ++t) all.mix(operations().of(node, t).number);
  }
  return all.mix(result_.number).mix(is_result_stopped_).value();
}

PARTITA_DEF sharding traced_function::closed_layout(const sharding& s) {
  sharding closed = s;
  closed.open = closed.must_replicate = 0;
  closed.priority = 0;
  return closed;
}

}  // namespace partita
