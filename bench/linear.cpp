// How long a linear layer takes, forward and with its adjoint, against the same local products alone and against the same layer
// written on MPI_Bcast, cblas and MPI_Reduce: in one run and in turn. Start it on as many workers as the grid W is cut over:
//   mpirun -n 2 bench/linear f_out f_in [rounds]      one JSON line for each case, medians in milliseconds
#include "machine.hpp"

#include <cstdlib>
#include <partita/nn/linear.hpp>
#include <vector>

namespace {

using namespace partita;

struct layer_case {
  std::size_t batch, features;
};
constexpr layer_case cases[] = {{1, 1024}, {16, 256}, {64, 256}, {256, 256}, {64, 1024}, {256, 1024}, {64, 4096}};

/// The layer by hand: W's blocks and communicators of its rows and columns; x on the workers of row 0, y on those of column 0.
class by_hand {
 public:
  by_hand(int f_out, int f_in, std::size_t batch, std::size_t features)
      : batch_(static_cast<int>(batch)), in_(static_cast<int>(features) / f_in), out_(static_cast<int>(features) / f_out) {
    const int id = bench::worker(), i = id / f_in, j = id % f_in;
    MPI_Comm_split(MPI_COMM_WORLD, i, j, &row_);
    MPI_Comm_split(MPI_COMM_WORLD, j, i, &column_);
    first_row_ = i == 0, first_column_ = j == 0;
    const auto volume = [](int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); };
    x.assign(volume(batch_, in_), 1), w.assign(volume(out_, in_), 1), dw.assign(w.size(), 0), dx.assign(x.size(), 0), dx_sum = dx;
    y.assign(volume(batch_, out_), 0), y_sum = y, dy.assign(y.size(), 1);
  }
  by_hand(const by_hand&) = delete;
  ~by_hand() {
    MPI_Comm_free(&row_);
    MPI_Comm_free(&column_);
  }

  void product() { cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, batch_, out_, in_, 1, x.data(), in_, w.data(), in_, 0, y.data(), out_); }
  void adjoint_products() {
    cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, out_, in_, batch_, 1, dy.data(), out_, x.data(), in_, 1, dw.data(), in_);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, batch_, in_, out_, 1, dy.data(), out_, w.data(), in_, 0, dx.data(), in_);
  }
  void forward() {
    MPI_Bcast(x.data(), static_cast<int>(x.size()), MPI_FLOAT, 0, column_);
    product();
    MPI_Reduce(y.data(), y_sum.data(), static_cast<int>(y.size()), MPI_FLOAT, MPI_SUM, 0, row_);
  }
  void adjoint() {
    MPI_Bcast(dy.data(), static_cast<int>(dy.size()), MPI_FLOAT, 0, row_);
    adjoint_products();
    MPI_Reduce(dx.data(), dx_sum.data(), static_cast<int>(dx.size()), MPI_FLOAT, MPI_SUM, 0, column_);
  }
  bool first_row() const { return first_row_; }
  bool first_column() const { return first_column_; }

  std::vector<float> x, w, y, y_sum, dy, dw, dx, dx_sum;

 private:
  int batch_, in_, out_;
  bool first_row_ = false, first_column_ = false;
  MPI_Comm row_ = MPI_COMM_NULL, column_ = MPI_COMM_NULL;
};

void run(const world& everyone, std::size_t f_out, std::size_t f_in, const layer_case& c, int rounds) {
  by_hand raw(static_cast<int>(f_out), static_cast<int>(f_in), c.batch, c.features);
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < f_out; ++i) ends.push_back(i * f_in);
  const auto p_x = everyone.partition(extents<1, dynamic>(f_in));
  const auto p_y = everyone.partition(extents<1, dynamic>(f_out), workers(ends));
  const auto p_w = everyone.partition(extents<dynamic, dynamic>(f_out, f_in));
  linear<float> layer(p_x, p_y, p_w, {.in_features = c.features, .out_features = c.features, .bias = false});
  layer.weight().fill(1.F);
  xt::xtensor<float, 2> x = zero_volume<float, 2>(c.batch), dy = x;
  if (p_x.active()) x = xt::ones<float>({c.batch, c.features / f_in});
  if (p_y.active()) dy = xt::ones<float>({c.batch, c.features / f_out});

  std::vector<double> samples[6];
  for (int k = -2; k < rounds; ++k) {
    const double now[6] = {
        bench::timed([&] { raw.product(); }),
        bench::timed([&] { raw.forward(); }),
        bench::timed([&] { layer(x); }),
        bench::timed([&] { raw.product(), raw.adjoint_products(); }),
        bench::timed([&] { raw.forward(), raw.adjoint(); }),
        bench::timed([&] { layer(x), layer.adjoint(dy); }),
    };
    for (int v = 0; k >= 0 && v < 6; ++v) samples[v].push_back(1e3 * now[v]);
  }
  double m[6];
  for (int v = 0; v < 6; ++v) m[v] = bench::median(samples[v]);
  if (bench::worker() != 0) return;
  std::printf("{\"grid\": \"%zux%zu\", \"batch\": %zu, \"features\": %zu, \"gemm\": %.4f, \"mpi\": %.4f, \"partita\": %.4f, \"partita/gemm\": %.3f, "
              "\"partita/mpi\": %.3f, \"gemm3\": %.4f, \"mpi3\": %.4f, \"partita3\": %.4f, \"partita3/gemm3\": %.3f, \"partita3/mpi3\": %.3f}\n",
              f_out, f_in, c.batch, c.features, m[0], m[1], m[2], m[2] / m[0], m[2] / m[1], m[3], m[4], m[5], m[5] / m[3], m[5] / m[4]);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  const world everyone;
  const std::size_t f_out = argc > 1 ? static_cast<std::size_t>(std::atoi(argv[1])) : 1;
  const std::size_t f_in = argc > 2 ? static_cast<std::size_t>(std::atoi(argv[2])) : everyone.size();
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 21;
  if (f_out == 0 || f_in == 0 || f_out * f_in != everyone.size()) {
    if (everyone.id() == 0) std::fprintf(stderr, "linear: f_out x f_in must be the number of workers\n");
    return 1;
  }
  for (const layer_case& c : cases) run(everyone, f_out, f_in, c, rounds);
}
