// How a thread executes the operations on sharded tensors that it calls: at once, as steps of a program that is being
// bound, or in a dry run, in which no element is read, written or moved. An operation computes by `run_step`, makes
// blocks by `new_block`, and moves elements by `move_boxes`, after an `announced_movement`. `run_step` and `move_boxes`
// act at once, add a step to the program, or in a dry run touch no element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/plan/plan_reshard.hpp>
#include <partita/sharded/detail/tensor_block.hpp>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// The log entry of one worker for one movement of a tensor.
struct movement {
  text operation{};       ///< the operation that needs the movement
  bool backward = false;  ///< whether the movement is made in the backward pass
  sharding from{}, to{};  ///< the layouts before and after the movement
  shape_list extents{};   ///< the extents of the whole tensor
  std::size_t bytes = 0;  ///< the bytes that this worker receives
  /// The most bytes that any worker receives, for movements that keep the layout: movements of windows along a sharded
  /// dimension, or of totals of a cumulative operation. 0 for all other movements.
  std::size_t most_bytes = 0;
  bool is_complex = false;  ///< whether an element is a pair of real numbers

  friend bool operator==(const movement& a, const movement& b) {
    return std::string_view(a.operation.c_str()) == b.operation.c_str() && a.backward == b.backward &&
           a.from == b.from && a.to == b.to && a.extents == b.extents && a.bytes == b.bytes;
  }
};

namespace detail {

/// The numbers of exchanges that this worker has executed, and of messages and bytes that it has received in them.
struct movement_counts {
  std::size_t exchanges = 0;  ///< executed exchanges, in each of which all messages are sent at once
  std::size_t bytes = 0;      ///< bytes received from other workers
  std::size_t messages = 0;   ///< messages received, at most one from each worker in an exchange

  movement_counts& operator+=(const movement_counts& more) {
    exchanges += more.exchanges, bytes += more.bytes, messages += more.messages;
    return *this;
  }
};

class planned_exchange;
class step_list;

/// How a thread executes operations, and the totals of movements that it has executed.
struct execution {
  step_list* steps = nullptr;                  ///< if not null, operations become steps of this program
  const step_list* pending = nullptr;          ///< if not null, the running program, which has pending movements
  bool is_dry_run = false;                     ///< whether this thread is in a dry run
  std::vector<movement>* log = nullptr;        ///< the log of this thread's movements; null if no one reads it
  const char* operation = nullptr;             ///< the operation to which the next log entry belongs
  bool is_backward = false;                    ///< whether this thread is in a backward pass
  std::size_t no_implicit_reshard_scopes = 0;  ///< if above 0, operations that have to move an operand throw
  std::uint64_t tape_nodes = 0;                ///< the number of tape nodes that this thread has made so far
  movement_counts movement_totals{};           ///< the movements that this thread has executed so far
};
[[gnu::visibility("default")]] constinit inline thread_local execution run_state{};  ///< the state of this thread

/// Gives a variable another value until the end of a scope, where the destructor restores the old value.
template <class V>
class scoped_value {
 public:
  scoped_value(V& place, std::type_identity_t<V> value) : variable_(place), old_value_(std::exchange(place, value)) {}
  ~scoped_value() { variable_ = old_value_; }
  scoped_value(const scoped_value&) = delete;
  scoped_value& operator=(const scoped_value&) = delete;

 private:
  V& variable_;  ///< the variable that has another value during the scope
  V old_value_;  ///< the value that the destructor restores
};

/// Logs movements under the name of an operation until the end of a scope.
struct scoped_name : scoped_value<const char*> {
  explicit scoped_name(const char* name) : scoped_value(run_state.operation, name) {}
};
/// Logs movements until the end of a scope, as a dry run predicts them or as they are executed.
class scoped_log {
 public:
  scoped_log(std::vector<movement>& all, bool is_dry_run)
      : log_(run_state.log, &all), dry_run_(run_state.is_dry_run, is_dry_run) {}

 private:
  scoped_value<std::vector<movement>*> log_;  ///< sets the log of the scope
  scoped_value<bool> dry_run_;                ///< sets whether the scope is a dry run
};

/// The largest number of blocks that a step reads, which is larger than the operand limit of apply_op().
inline constexpr std::size_t max_step_operands = 32;

/// A block that a step reads or sets: its memory, and its size.
struct step_block {
  std::shared_ptr<void> memory{};  ///< the elements; shared with the tensor_block
  std::size_t bytes = 0;           ///< the size of all elements, in bytes

  step_block() = default;  ///< no block
  template <class T>
  step_block(const tensor_block<T>& x)  // NOLINT(google-explicit-constructor): a block is passed as what it is
      : memory(x.memory), bytes(x.size() * sizeof(T)) {}
};
/// The computation of one step of a program, which computes block y from blocks x.
struct step_work {
  double multiply_adds = 0;  ///< the multiply-adds of a step that is a product of blocks; 0 for other steps

  virtual ~step_work() = default;
  virtual void operator()(void* const* x, void* y) = 0;
};
/// The work of a step that computes a block of elements U from blocks of elements T by `work(x, y)`.
template <class T, class U, class Work>
struct step_work_of final : step_work {
  Work work;             ///< the function that computes block y
  std::size_t operands;  ///< the number of blocks x
  step_work_of(const Work& w, std::size_t n) : work(w), operands(n) {
    if constexpr (requires { work.multiply_adds(); }) multiply_adds = work.multiply_adds();
  }
  void operator()(void* const* x, void* y) override {
    const T* typed[max_step_operands] = {};
    for (std::size_t i = 0; i < operands; ++i) typed[i] = static_cast<const T*>(x[i]);
    work(typed, static_cast<U*>(y));
  }
};

/// The interface to which operations add their steps while a program is being bound.
class step_list {
 public:
  double multiply_adds_per_second = 0;  ///< the speed of a worker, for choosing wider windows; if 0, none are chosen

  virtual ~step_list() = default;

  /// Adds a step that computes y from x by `work(const T* const* x, U* y)`.
  template <class T, class U, class Work>
  void add(const std::vector<tensor_block<T>>& x, const tensor_block<U>& y, const Work& work) {
    add({x.begin(), x.end()}, y, std::unique_ptr<step_work>(new step_work_of<T, U, Work>(work, x.size())), nullptr);
  }
  /// Adds a step that moves elements between workers. Other workers of the node get access to the blocks x and y.
  void add_exchange(const step_block& x, const step_block& y, const std::shared_ptr<planned_exchange>& exchange) {
    add({x}, y, nullptr, exchange);
  }
  /// Adds a step that calls callback() and reads and sets no block.
  template <class Callback>
  void add_callback(const Callback& callback) {
    const auto work = [callback](const char* const*, char*) { callback(); };
    add({}, {}, std::unique_ptr<step_work>(new step_work_of<char, char, decltype(work)>(work, 0)), nullptr);
  }
  /// Advances all pending movements, without waiting. A long computation should call advance() from time to time.
  virtual void advance() const = 0;

 private:
  /// Adds a step: a computation by `work`, or a movement by `exchange`; the other one is null.
  virtual void add(const std::vector<step_block>& x, const step_block& y, std::unique_ptr<step_work> work,
                   const std::shared_ptr<planned_exchange>& exchange) = 0;
};

/// Makes a block for a result. In a dry run, which computes layouts only, the block has no memory.
template <class T>
tensor_block<T> new_block(const shape_list& shape, arena* from = nullptr) {
  if (!run_state.is_dry_run) return tensor_block<T>(shape, from);
  tensor_block<T> none;
  none.shape = shape;
  return none;
}
/// Makes a block of zeros, such as that of a worker that is not on the mesh.
template <class T>
tensor_block<T> zero_block(const shape_list& shape) {
  const tensor_block<T> y = new_block<T>(shape);
  if (!run_state.is_dry_run) y.fill(T(0));
  return y;
}

/// Computes block y from at most two blocks by `work`, at once or as a step of a program. Does nothing in a dry run.
template <class U, class T = U, class Work>
void run_step(const std::vector<tensor_block<T>>& x, const tensor_block<U>& y, const Work& work) {
  if (run_state.is_dry_run) return;
  if (run_state.steps != nullptr) return run_state.steps->add(x, y, work);
  const T* memory[2] = {};
  for (std::size_t i = 0; i < x.size(); ++i) memory[i] = x[i].data();
  work(memory, y.data());
}

}  // namespace detail
}  // namespace partita
