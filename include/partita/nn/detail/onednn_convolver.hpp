// The convolution of one worker by oneDNN, for floats. The convolver uses the direct kernels of oneDNN, with weights
// and images in the layouts that oneDNN prefers. Computations that oneDNN does not support, and gradients with few
// channels, use im2col.
#pragma once

#if !__has_include(<oneapi/dnnl/dnnl.hpp>)  // one error; after an #error the compiler would report many more
#include <partita: PARTITA_ONEDNN asks for convolutions by oneDNN, install libdnnl-dev>
#endif
#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <partita/nn/detail/column_convolver.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

static_assert(DNNL_VERSION_MAJOR == 2, "partita/nn: requires oneDNN 2.x for convolutions by oneDNN");

namespace partita::detail {

/// The four computations of a convolution: y without a bias, y with a bias, the gradient of x, and the gradient of W.
enum class convolution_task : std::size_t { forward, forward_with_bias, dx, dw };

/// One computation of one convolution: a kernel of oneDNN, and the memory layouts that oneDNN chose.
template <std::size_t Features>
class onednn_task {
  using sizes = local_convolution<Features>;

 public:
  onednn_task(const dnnl::engine& engine, const sizes& s, std::size_t groups, convolution_task task) : engine_(engine) {
    try {
      create_primitive(s, groups, task);
    } catch (const dnnl::error&) {
      primitive_ = {};  // oneDNN does not support this computation, so the caller uses im2col
    }
  }
  bool is_usable() const { return static_cast<bool>(primitive_); }  ///< whether oneDNN has a kernel for it

  /// Computes the result `to` from the arrays `a` and `b`, all in C order. `buffers` keeps copies in oneDNN's layouts.
  void operator()(dnnl::stream& stream, const float* a, const float* b, const float* bias, float* to,
                  std::array<std::vector<float>, 3>& buffers) {
    std::unordered_map<int, dnnl::memory> all{{a_.role, convert(stream, a_, a, buffers[0])},
                                              {b_.role, convert(stream, b_, b, buffers[1])}};
    if (bias != nullptr) all.insert({DNNL_ARG_BIAS, dnnl::memory(bias_, engine_, const_cast<float*>(bias))});
    const dnnl::memory plain(out_.plain, engine_, to);
    const dnnl::memory result =
        out_.is_plain_layout() ? plain : dnnl::memory(out_.blocked, engine_, aligned_buffer(out_, buffers[2]));
    all.insert({out_.role, result});
    primitive_.execute(stream, all);
    if (!out_.is_plain_layout())
      out_.layout_change.execute(stream, const_cast<dnnl::memory&>(result), const_cast<dnnl::memory&>(plain));
    stream.wait();
  }

 private:
  /// An operand or the result of a computation, with its layout in C order and the layout that oneDNN chose.
  struct argument {
    int role = 0;                       ///< oneDNN's number of the argument, such as DNNL_ARG_SRC
    dnnl::memory::desc plain, blocked;  ///< the layout in C order, and the layout that oneDNN chose
    dnnl::reorder layout_change;        ///< from plain to blocked for an operand, from blocked to plain for the result
    bool is_plain_layout() const { return plain == blocked; }  ///< whether the two layouts are equal
  };

  /// Makes oneDNN's kernel; throws dnnl::error if oneDNN has none.
  void create_primitive(const sizes& s, std::size_t groups, convolution_task task) {
    using namespace dnnl;
    const auto n = [](std::size_t k) { return static_cast<memory::dim>(k); };
    memory::dims x{n(s.batch), n(s.in_channels)}, w{n(s.out_channels / groups), n(s.group_in_channels)},
        y{n(s.batch), n(s.out_channels)}, stride, holes, none(Features, 0);
    if (groups > 1) w.insert(w.begin(), n(groups));
    for (std::size_t f = 0; f < Features; ++f) {
      x.push_back(n(s.window[f])), w.push_back(n(s.kernel[f])), y.push_back(n(s.outputs[f]));
      stride.push_back(n(s.stride[f])), holes.push_back(n(s.dilation[f] - 1));
    }
    const auto any = [](const memory::dims& d) {
      return memory::desc(d, memory::data_type::f32, memory::format_tag::any);
    };
    const auto plain = [](const memory::dims& d) {
      using tag = memory::format_tag;
      constexpr tag of[] = {tag::a, tag::ab, tag::abc, tag::abcd, tag::abcde, tag::abcdef};
      return memory::desc(d, memory::data_type::f32, of[d.size() - 1]);
    };
    // The algorithm is the direct one, because Winograd's algorithm is faster but loses digits.
    const algorithm direct = algorithm::convolution_direct;
    const bool with_bias = task == convolution_task::forward_with_bias,
               forward = with_bias || task == convolution_task::forward;
    bias_ = plain({n(s.out_channels)});
    const convolution_forward::primitive_desc forward_desc(
        with_bias ? convolution_forward::desc(prop_kind::forward_training, direct, any(x), any(w), bias_, any(y),
                                              stride, holes, none, none)
                  : convolution_forward::desc(prop_kind::forward_training, direct, any(x), any(w), any(y), stride,
                                              holes, none, none),
        engine_);
    if (forward) {
      a_ = {DNNL_ARG_SRC, plain(x), forward_desc.src_desc(), {}};
      b_ = {DNNL_ARG_WEIGHTS, plain(w), forward_desc.weights_desc(), {}};
      out_ = {DNNL_ARG_DST, plain(y), forward_desc.dst_desc(), {}};
      primitive_ = convolution_forward(forward_desc);
    } else if (task == convolution_task::dx) {
      const convolution_backward_data::primitive_desc back(
          convolution_backward_data::desc(direct, any(x), any(w), any(y), stride, holes, none, none), engine_,
          forward_desc);
      a_ = {DNNL_ARG_DIFF_DST, plain(y), back.diff_dst_desc(), {}};
      b_ = {DNNL_ARG_WEIGHTS, plain(w), back.weights_desc(), {}};
      out_ = {DNNL_ARG_DIFF_SRC, plain(x), back.diff_src_desc(), {}};
      primitive_ = convolution_backward_data(back);
    } else {
      const convolution_backward_weights::primitive_desc back(
          convolution_backward_weights::desc(direct, any(x), any(w), any(y), stride, holes, none, none), engine_,
          forward_desc);
      a_ = {DNNL_ARG_SRC, plain(x), back.src_desc(), {}};
      b_ = {DNNL_ARG_DIFF_DST, plain(y), back.diff_dst_desc(), {}};
      out_ = {DNNL_ARG_DIFF_WEIGHTS, plain(w), back.diff_weights_desc(), {}};
      primitive_ = convolution_backward_weights(back);
    }
    for (argument* given : {&a_, &b_})
      if (!given->is_plain_layout())
        given->layout_change = reorder(reorder::primitive_desc(engine_, given->plain, engine_, given->blocked));
    if (!out_.is_plain_layout())
      out_.layout_change = reorder(reorder::primitive_desc(engine_, out_.blocked, engine_, out_.plain));
  }

  /// An operand in the layout that oneDNN chose: the data itself, or a copy in `buffer`.
  dnnl::memory convert(dnnl::stream& stream, const argument& target, const float* data, std::vector<float>& buffer) {
    dnnl::memory plain(target.plain, engine_, const_cast<float*>(data));  // the kernel only reads an operand
    if (target.is_plain_layout()) return plain;
    dnnl::memory blocked(target.blocked, engine_, aligned_buffer(target, buffer));
    target.layout_change.execute(stream, plain, blocked);
    return blocked;
  }
  /// Memory in `buffer` for a tensor in the layout that oneDNN chose, aligned to a cache line.
  static float* aligned_buffer(const argument& a, std::vector<float>& buffer) {
    constexpr std::size_t line = 64;
    const std::size_t bytes = a.blocked.get_size();
    if (buffer.size() * sizeof(float) < bytes + line) buffer.resize(bytes / sizeof(float) + line);
    void* from = buffer.data();
    std::size_t left = buffer.size() * sizeof(float);
    return static_cast<float*>(std::align(line, bytes, from, left));
  }

  dnnl::engine engine_;        ///< oneDNN's handle of the CPU
  argument a_, b_, out_;       ///< the two operands and the result
  dnnl::memory::desc bias_;    ///< the layout of the bias
  dnnl::primitive primitive_;  ///< oneDNN's kernel; empty if oneDNN does not support the computation
};

/// A cache of a thread's last oneDNN kernels, with the stream and buffers that these kernels share. oneDNN needs
/// milliseconds to make a kernel.
template <std::size_t Features>
class onednn_tasks {
  using sizes = local_convolution<Features>;

 public:
  /// The cache of this thread.
  static onednn_tasks& thread_tasks() {
    thread_local onednn_tasks all;
    return all;
  }
  /// The computation `task` of these sizes, from the cache or newly made.
  onednn_task<Features>& find(const sizes& s, std::size_t groups, convolution_task task) {
    const key target{s, groups, task};
    auto entry = std::find_if(tasks_.begin(), tasks_.end(), [&](const auto& e) { return e.first == target; });
    if (entry == tasks_.end()) {
      if (tasks_.size() == max_tasks) tasks_.erase(tasks_.begin());
      tasks_.emplace_back(target, std::make_unique<onednn_task<Features>>(engine_, s, groups, task));
      entry = tasks_.end() - 1;
    }
    return *entry->second;
  }
  dnnl::stream& stream() { return stream_; }                          ///< the stream of this thread's computations
  std::array<std::vector<float>, 3>& buffers() { return buffers_; }   ///< for copies in oneDNN's layouts
  std::vector<float>& gradient_buffer() { return gradient_buffer_; }  ///< for the dW of one call

 private:
  static constexpr std::size_t max_tasks = 256;  // cached computations; chosen: three for each of 85 layers
  struct key {                                   ///< identifies a cached computation
    sizes s;                                     ///< the sizes of this worker's convolution
    std::size_t groups;                          ///< the number of groups of this worker's output channels
    convolution_task task;                       ///< which of the four computations
    friend bool operator==(const key&, const key&) = default;
  };

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};                            ///< oneDNN's handle of the CPU
  dnnl::stream stream_{engine_};                                               ///< runs all computations of this thread
  std::vector<std::pair<key, std::unique_ptr<onednn_task<Features>>>> tasks_;  ///< cached computations, oldest first
  std::array<std::vector<float>, 3> buffers_;  ///< copies of the two operands and the result in oneDNN's layouts
  std::vector<float> gradient_buffer_;         ///< dW of one call, before it is added to the sum
};

/// A convolver with the interface of column_convolver<float, Features>, and with the same results up to rounding.
template <std::size_t Features>
class onednn_convolver {
  using sizes = local_convolution<Features>;
  using task = convolution_task;  ///< which of the four computations

 public:
  explicit onednn_convolver(const sizes& s) : s_(s), groups_(count_groups(s)), columns_(s) {}

  /// Whether all four computations of this convolution use oneDNN.
  bool uses_onednn() const {
    return find_task(task::forward) && find_task(task::forward_with_bias) && find_task(task::dx) && find_task(task::dw);
  }
  /// Computes the convolution y = W x + b, or y = W x if bias is null. All arrays are dense, in C order.
  void forward(const float* x, const float* w, const float* bias, float* y) {
    forward(x, w, bias, y, {}, [] {});
  }
  /// Computes y = W x + b. With oneDNN it first calls wait_for_input(), because oneDNN computes whole images only.
  template <class Arrive>
  void forward(const float* x, const float* w, const float* bias, float* y,
               const std::array<interval, Features>& available, Arrive wait_for_input) {
    auto* const task_kernel = find_task(bias == nullptr ? task::forward : task::forward_with_bias);
    if (task_kernel == nullptr) return columns_.forward(x, w, bias, y, available, wait_for_input);
    wait_for_input();
    auto& all = onednn_tasks<Features>::thread_tasks();
    (*task_kernel)(all.stream(), x, w, bias, y, all.buffers());
  }
  void adjoint(const float* dy, const float* w, float* dx) {  ///< as in column_convolver
    auto* const task_kernel = find_task(task::dx);
    if (task_kernel == nullptr) return columns_.adjoint(dy, w, dx);
    auto& all = onednn_tasks<Features>::thread_tasks();
    (*task_kernel)(all.stream(), dy, w, nullptr, dx, all.buffers());
  }
  void gradients(const float* x, const float* dy, float* dw, float* db) {  ///< as in column_convolver
    auto* const task_kernel = find_task(task::dw);
    if (task_kernel == nullptr) return columns_.gradients(x, dy, dw, db);
    if (db != nullptr) columns_.bias_gradients(dy, db);
    auto& all = onednn_tasks<Features>::thread_tasks();
    all.gradient_buffer().resize(s_.out_channels * s_.rows());
    (*task_kernel)(all.stream(), x, dy, nullptr, all.gradient_buffer().data(), all.buffers());
    for (std::size_t k = 0; k < s_.out_channels * s_.rows(); ++k) dw[k] += all.gradient_buffer()[k];
  }

 private:
  /// The oneDNN task for this computation, or null if im2col computes it.
  onednn_task<Features>* find_task(task t) const {
    // oneDNN pads fewer than 8 channels with zeros. With 3 channels, gradients by oneDNN took 1.9 times as long as by
    // im2col (bench/convolution).
    const bool is_padded = groups_ == 1 && s_.in_channels < 8;
    if (groups_ == 0 || (is_padded && (t == task::dx || t == task::dw))) return nullptr;
    auto& found = onednn_tasks<Features>::thread_tasks().find(s_, groups_, t);
    return found.is_usable() ? &found : nullptr;
  }
  /// The number of groups of this worker's output channels: whole groups, or channels of one group only. The result is
  /// 0, and im2col is used, if the channels are neither, if the input channels are not those of these groups, if the
  /// outputs need a window of different extents, or if there is nothing to compute.
  static std::size_t count_groups(const sizes& s) {
    if (s.empty() || s.rows() == 0) return 0;
    for (std::size_t f = 0; f < Features; ++f)
      if ((s.outputs[f] - 1) * s.stride[f] + s.dilation[f] * (s.kernel[f] - 1) + 1 > s.window[f] ||
          s.outputs[f] * s.stride[f] + s.dilation[f] * (s.kernel[f] - 1) < s.window[f])
        return 0;
    const bool one =
        s.first_out_channel / s.group_out_channels == (s.first_out_channel + s.out_channels - 1) / s.group_out_channels;
    if (!one && (s.first_out_channel % s.group_out_channels != 0 || s.out_channels % s.group_out_channels != 0))
      return 0;
    const std::size_t groups = one ? 1 : s.out_channels / s.group_out_channels;
    return s.in_channels == groups * s.group_in_channels ? groups : 0;
  }

  sizes s_;                                    ///< the sizes of this worker's convolution
  std::size_t groups_;                         ///< the result of count_groups()
  column_convolver<float, Features> columns_;  ///< computes what oneDNN does not support
};

}  // namespace partita::detail
