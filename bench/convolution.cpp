// Compares a convolution that is partitioned by rows with its local product alone, forward and backward. Where oneDNN
// is installed, it also compares the local product by im2col with oneDNN: with its kernel alone, and with the product
// that layers use with -Donednn=enabled.
#include <partita/nn/convolution.hpp>
#ifdef BENCH_ONEDNN
#include <partita/nn/detail/onednn_convolver.hpp>
#endif

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>
#include "machine.hpp"

namespace {

using namespace partita;

struct shape_of_layer {
  const char* name;
  std::size_t batch, in, out, side, kernel, stride, padding;
};
/// The measured layers: a layer of 64 channels of 64 x 64, and the layers of ResNet-18.
constexpr shape_of_layer layers[] = {{"64 x 64 x 64, 3 x 3", 4, 64, 64, 64, 3, 1, 1},
                                     {"ResNet first, 7 x 7 stride 2", 2, 3, 64, 224, 7, 2, 3},
                                     {"ResNet 56, 3 x 3", 2, 64, 64, 56, 3, 1, 1},
                                     {"ResNet 28, 3 x 3", 4, 128, 128, 28, 3, 1, 1},
                                     {"ResNet 14, 3 x 3", 8, 256, 256, 14, 3, 1, 1}};

#ifdef BENCH_ONEDNN
/// The local product by oneDNN. Weights and x are converted to the layouts that oneDNN prefers before the clock starts.
class by_onednn {
 public:
  by_onednn(const detail::local_convolution<2>& s, const float* x, const float* w, std::size_t stride) {
    using namespace dnnl;
    const auto n = [](std::size_t k) { return static_cast<memory::dim>(k); };
    const memory::dims from{n(s.batch), n(s.in_channels), n(s.window[0]), n(s.window[1])},
        weights{n(s.out_channels), n(s.in_channels), n(s.kernel[0]), n(s.kernel[1])},
        to{n(s.batch), n(s.out_channels), n(s.outputs[0]), n(s.outputs[1])}, step{n(stride), n(stride)}, none{0, 0};
    const auto any_layout = [](const memory::dims& d) {
      return memory::desc(d, memory::data_type::f32, memory::format_tag::any);
    };
    const auto dense = [](const memory::dims& d) {
      return memory::desc(d, memory::data_type::f32, memory::format_tag::nchw);
    };
    const convolution_forward::primitive_desc chosen(
        {prop_kind::forward_inference, algorithm::convolution_auto, any_layout(from), any_layout(weights),
         any_layout(to), step, none, none},
        engine_);
    x_ = laid_out(dense(from), chosen.src_desc(), x);
    w_ = laid_out(dense(weights), chosen.weights_desc(), w);
    y_ = memory(chosen.dst_desc(), engine_);
    plain_ = memory(dense(to), engine_);
    forward_ = convolution_forward(chosen);
  }
  void operator()() {
    forward_.execute(stream_, {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, w_}, {DNNL_ARG_DST, y_}});
    stream_.wait();
  }
  const float* result() {
    dnnl::reorder(y_, plain_).execute(stream_, y_, plain_);
    stream_.wait();
    return static_cast<const float*>(plain_.get_data_handle());
  }

 private:
  dnnl::memory laid_out(const dnnl::memory::desc& dense, const dnnl::memory::desc& wanted, const float* data) {
    dnnl::memory given(dense, engine_, const_cast<float*>(data)), taken(wanted, engine_);
    dnnl::reorder(given, taken).execute(stream_, given, taken);
    stream_.wait();
    return taken;
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory x_, w_, y_, plain_;
  dnnl::convolution_forward forward_;
};
#endif

bool measure(const world& everyone, bench::rows& out, const shape_of_layer& l, int iterations) {
  const auto p = everyone.partition(dynamic_extents<4>(1, 1, everyone.size(), 1));
  convolution<float, 2> layer(p, {.in_channels = l.in,
                                  .out_channels = l.out,
                                  .kernel = {l.kernel, l.kernel},
                                  .stride = {l.stride, l.stride},
                                  .padding = {l.padding, l.padding},
                                  .bias = false});
  const auto cuts = decomposition<4>::balanced({l.batch, l.in, l.side, l.side}, p.extents().array());
  auto x = uninitialised<float, 4>(cuts.shape(p.index()));
  for (std::size_t k = 0; k < x.size(); ++k) x.data()[k] = static_cast<float>((k * 7 + everyone.id()) % 13) - 6;
  const xt::xtensor<float, 4> y = layer(x);

  // a local product of the same shape, whose input needs neither exchange nor padding
  detail::local_convolution<2> s;
  s.batch = l.batch, s.in_channels = s.group_in_channels = l.in, s.out_channels = s.group_out_channels = l.out;
  s.outputs = {y.shape()[2], y.shape()[3]}, s.kernel = {l.kernel, l.kernel}, s.stride = {l.stride, l.stride};
  s.dilation = {1, 1};
  for (std::size_t f = 0; f < 2; ++f) s.window[f] = (s.outputs[f] - 1) * l.stride + l.kernel;
  std::vector<float> window(l.batch * l.in * s.window[0] * s.window[1]), result(y.size()), dx(window.size());
  for (std::size_t k = 0; k < window.size(); ++k) window[k] = static_cast<float>(k % 11) - 5;
  std::vector<float> dw(layer.weight().size());
  detail::column_convolver<float, 2> product(s);
  const float* const w = layer.weight().data();

  std::vector<double> whole, local, back, local_back, onednn, taken, taken_back;
#ifdef BENCH_ONEDNN
  by_onednn other(s, window.data(), w, l.stride);
  detail::onednn_convolver<2> chosen(s);
#endif
  for (int k = -2; k < iterations; ++k) {
    const double a = bench::timed([&] { layer(x); });
    const double b = bench::timed([&] { product.forward(window.data(), w, nullptr, result.data()); });
    const double c = bench::timed([&] { layer.adjoint(y); });
    const double d = bench::timed([&] {
      product.adjoint(y.data(), w, dx.data());
      product.gradients(window.data(), y.data(), dw.data(), nullptr);
    });
    if (k >= 0) whole.push_back(a), local.push_back(b), back.push_back(c), local_back.push_back(d);
#ifdef BENCH_ONEDNN
    const double e = bench::timed([&] { other(); });
    const double f = bench::timed([&] { chosen.forward(window.data(), w, nullptr, result.data()); });
    const double g = bench::timed([&] {
      chosen.adjoint(y.data(), w, dx.data());
      chosen.gradients(window.data(), y.data(), dw.data(), nullptr);
    });
    if (k >= 0) onednn.push_back(e), taken.push_back(f), taken_back.push_back(g);
#endif
  }
  double largest_difference = 0, largest = 1;
#ifdef BENCH_ONEDNN
  product.forward(window.data(), w, nullptr, result.data());
  const float* const theirs = other.result();
  for (std::size_t k = 0; k < result.size(); ++k) {
    largest_difference = std::max(largest_difference, std::abs(static_cast<double>(theirs[k] - result[k])));
    largest = std::max(largest, std::abs(static_cast<double>(result[k])));
  }
#endif
  const double ours = bench::median(local), ours_back = bench::median(local_back);
  bench::row fields{{"seconds", bench::median(whole)},         {"seconds_local", ours},
                    {"seconds_back", bench::median(back)},     {"seconds_local_back", ours_back},
                    {"to_local", bench::median(whole) / ours}, {"back_to_local", bench::median(back) / ours_back}};
  if (!onednn.empty())
    fields.update({{"seconds_onednn", bench::median(onednn)},
                   {"local_to_onednn", ours / bench::median(onednn)},
                   {"local_to_chosen", ours / bench::median(taken)},
                   {"back_to_chosen", ours_back / bench::median(taken_back)},
                   {"apart", largest_difference / largest}});
  out.add(l.name, fields, whole.size());
  return largest_difference <= 1e-5 * largest;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "convolution", "a convolution that is cut by rows against its local product alone, and against oneDNN", {1},
      {{"rounds", bench::argument::count, "samples of each call", "20", "2"},
       {"side", bench::argument::count, "the most rows and columns of an image", "224", "14"}});
  return bench::run_on_workers(argc, argv, line, [](const bench::command_line& given, bench::rows& out) {
    const world everyone;
    bool right = true;
    for (shape_of_layer l : layers) {
      l.side = std::min(l.side, given.count("side"));
      right = measure(everyone, out, l, given.rounds()) && right;
    }
    return right;
  });
}
