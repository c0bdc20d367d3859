// Recording work on blocks instead of doing it: the interface between operations and movements and a bound program.
#pragma once

#include <memory>
#include <partita/sharded/detail/tensor_block.hpp>
#include <vector>

namespace partita::detail {

/// The work of one step, which computes y from x.
template <class T>
struct block_step {
  virtual ~block_step() = default;
  virtual void operator()(const T* const* x, T* y) = 0;
};
template <class T, class Work>
struct block_step_of final : block_step<T> {
  Work work;
  explicit block_step_of(const Work& w) : work(w) {}
  void operator()(const T* const* x, T* y) override { work(x, y); }
};
template <class T, class Note>
struct block_note_of final : block_step<T> {
  Note note;
  explicit block_note_of(const Note& n) : note(n) {}
  void operator()(const T* const*, T*) override { note(); }
};

/// While `in_use` points to a list, every computation or movement of blocks on this thread adds a step to it and does
/// not touch elements.
template <class T>
class step_list {
 public:
  static inline thread_local step_list* in_use = nullptr;

  /// Adds a step. `moves` marks a step that moves elements between workers; its blocks are placed in memory that other
  /// workers can reach.
  template <class Work>
  void add(const std::vector<tensor_block<T>>& x, const tensor_block<T>& y, const Work& work, bool moves = false) {
    put(x, y, std::unique_ptr<block_step<T>>(new block_step_of<T, Work>(work)), moves);
  }
  /// A step that touches no block.
  template <class Note>
  void add_note(const Note& note) {
    put({}, {}, std::unique_ptr<block_step<T>>(new block_note_of<T, Note>(note)), false);
  }

 protected:
  ~step_list() = default;

 private:
  virtual void put(const std::vector<tensor_block<T>>& x, const tensor_block<T>& y, std::unique_ptr<block_step<T>> done,
                   bool moves) = 0;
};

/// Computes y from at most two blocks, or records it as a step.
template <class T, class Work>
void perform(const std::vector<tensor_block<T>>& x, const tensor_block<T>& y, const Work& work) {
  if (auto* const steps = step_list<T>::in_use) return steps->add(x, y, work);
  const T* memory[2] = {};
  for (std::size_t i = 0; i < x.size(); ++i) memory[i] = x[i].data();
  work(memory, y.data());
}

}  // namespace partita::detail
