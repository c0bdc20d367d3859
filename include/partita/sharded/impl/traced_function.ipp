// Defines the functions that sharded/traced_function.hpp declares.
#pragma once

#include <partita/sharded/traced_function.hpp>

namespace partita {

PARTITA_DEF traced constrain(const traced& x, const sharding& layout, std::size_t priority) {
  x.program()->operations.constrain(x.number_in_graph(), layout, priority);
  return x;
}

PARTITA_DEF traced_function& traced_function::constrain(value v, const sharding& layout, std::size_t priority) {
  program_->operations.constrain(v, layout, priority);
  completed_ = nullptr;
  return *this;
}

PARTITA_DEF traced_function& traced_function::differentiate_by(const std::vector<std::size_t>& arguments) {
  for (const std::size_t i : arguments) input(i);
  gradients_of_ = arguments;
  completed_ = nullptr;
  return *this;
}

PARTITA_DEF const completion& traced_function::complete() const {
  if (!completed_) {
    const auto done = std::make_shared<completion>(partita::complete(program_->operations));
    completed_ = done;
    if (program_->moves_back != nullptr) done->back = program_->moves_back(*this);
  }
  return *completed_;
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
  for (const graph_reshard& move : done.reshards)
    all.mix(move.operation)
        .mix(move.tensor)
        .mix(detail::fingerprint_of(move.from))
        .mix(detail::fingerprint_of(move.to));
  for (const value v : inputs_) {
    all.mix(v.number);
    all.mix(operations()[v].shape);
  }
  for (std::size_t o = 0; o < operations().operations(); ++o) {
    const auto& node = operations().operation(o);
    all.mix(detail::number_of(program_->work[o])).mix(program_->stopped[o]);
    for (std::size_t t = 0; t <= node.operands; ++t) all.mix(operations().of(node, t).number);
  }
  return all.mix(result_.number).value();
}

PARTITA_DEF sharding traced_function::laid(const sharding& s) {
  sharding closed = s;
  closed.open = closed.kept_whole = 0;
  closed.priority = 0;
  return closed;
}

}  // namespace partita
