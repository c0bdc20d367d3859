// Times how all workers write and read one file of a tensor, beside dd, collective MPI-IO and HDF5, on N workers.
//
// Reports medians over the rounds. Each round runs all variants, in a rotated order, because work that the disk still
// has to do for one variant slows the next one. Every variant writes a new file and waits for the disk. The files that
// are read were written just before, so they are in the page cache.
#include <partita/io/load_checkpoint.hpp>
#include <partita/io/npy.hpp>
#include <partita/io/save_checkpoint.hpp>

#ifdef BENCH_HDF5
#include <partita/io/hdf5.hpp>
#endif

#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

#include "machine.hpp"

namespace {

using namespace partita;

/// Writes and reads the blocks of a row-major matrix by the collective calls of MPI-IO, through a file view.
class mpi_io {
 public:
  mpi_io(const world& everyone, const std::string& path, const std::array<std::size_t, 2>& extents, const box<2>& block)
      : everyone_(everyone), path_(path), count_(static_cast<int>(block.volume())) {
    const int sizes[] = {static_cast<int>(extents[0]), static_cast<int>(extents[1])};
    const int shape[] = {static_cast<int>(block.shape()[0]), static_cast<int>(block.shape()[1])};
    const int start[] = {static_cast<int>(block.start[0]), static_cast<int>(block.start[1])};
    MPI_Type_create_subarray(2, sizes, shape, start, MPI_ORDER_C, MPI_FLOAT, &view_);
    MPI_Type_commit(&view_);
  }
  mpi_io(const mpi_io&) = delete;
  mpi_io& operator=(const mpi_io&) = delete;
  ~mpi_io() { MPI_Type_free(&view_); }

  void write(const float* data) {
    open(MPI_MODE_CREATE | MPI_MODE_WRONLY);
    MPI_File_write_all(file_, data, count_, MPI_FLOAT, MPI_STATUS_IGNORE);
    MPI_File_sync(file_);
    MPI_File_close(&file_);
  }
  void read(float* data) {
    open(MPI_MODE_RDONLY);
    MPI_File_read_all(file_, data, count_, MPI_FLOAT, MPI_STATUS_IGNORE);
    MPI_File_close(&file_);
  }

 private:
  void open(int mode) {
    if (MPI_File_open(everyone_.communicator(), path_.c_str(), mode, MPI_INFO_NULL, &file_) != MPI_SUCCESS)
      throw std::runtime_error("cannot open " + path_);
    MPI_File_set_view(file_, 0, MPI_FLOAT, view_, "native", MPI_INFO_NULL);
  }

  world everyone_;
  std::string path_;
  int count_;
  MPI_Datatype view_ = MPI_DATATYPE_NULL;
  MPI_File file_ = MPI_FILE_NULL;
};

#ifdef BENCH_HDF5
/// Writes and reads the blocks by the collective calls of parallel HDF5: each worker selects its block as a hyperslab.
class parallel_hdf5 {
 public:
  parallel_hdf5(const world& everyone, const std::string& path, const std::array<std::size_t, 2>& extents,
                const box<2>& block)
      : path_(path) {
    const hsize_t sizes[] = {extents[0], extents[1]}, start[] = {block.start[0], block.start[1]},
                  count[] = {block.shape()[0], block.shape()[1]};
    in_file_ = H5Screate_simple(2, sizes, nullptr), in_memory_ = H5Screate_simple(2, count, nullptr);
    H5Sselect_hyperslab(in_file_, H5S_SELECT_SET, start, nullptr, count, nullptr);
    access_ = H5Pcreate(H5P_FILE_ACCESS), moving_ = H5Pcreate(H5P_DATASET_XFER);
    H5Pset_fapl_mpio(access_, everyone.communicator(), MPI_INFO_NULL);
    H5Pset_dxpl_mpio(moving_, H5FD_MPIO_COLLECTIVE);
  }
  parallel_hdf5(const parallel_hdf5&) = delete;
  parallel_hdf5& operator=(const parallel_hdf5&) = delete;
  ~parallel_hdf5() { H5Sclose(in_file_), H5Sclose(in_memory_), H5Pclose(access_), H5Pclose(moving_); }

  void write(const float* data) {
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access_);
    const hid_t w = H5Dcreate2(file, "w", H5T_NATIVE_FLOAT, in_file_, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Dwrite(w, H5T_NATIVE_FLOAT, in_memory_, in_file_, moving_, data) < 0)
      throw std::runtime_error("cannot write " + path_);
    H5Dclose(w), H5Fclose(file);
    detail::posix_file same;  // flushes the file, as MPI_File_sync does
    if (same.open(path_, O_WRONLY) != 0 || same.sync() != 0) throw std::runtime_error("cannot flush " + path_);
  }
  void read(float* data) {
    const hid_t file = H5Fopen(path_.c_str(), H5F_ACC_RDONLY, access_), w = H5Dopen2(file, "w", H5P_DEFAULT);
    if (H5Dread(w, H5T_NATIVE_FLOAT, in_memory_, in_file_, moving_, data) < 0)
      throw std::runtime_error("cannot read " + path_);
    H5Dclose(w), H5Fclose(file);
  }

 private:
  std::string path_;
  hid_t in_file_, in_memory_, access_, moving_;
};
#endif

struct way {
  const char* name;
  std::function<void()> prepare, run;
  std::vector<double> seconds{};
};

std::string peer_of(const std::string& name) {
  for (const char* const other : {"dd,", "MPI-IO", "HDF5 collective"})
    if (name.find(other) != std::string::npos) return other == std::string("dd,") ? "dd" : other;
  return "partita";
}

bool measure(const bench::command_line& line, bench::rows& out) {
  const world everyone;
  const std::size_t mebibytes = line.count("mebibytes");
  const int rounds = line.rounds();
  const bool first = everyone.id() == 0;
  std::optional<bench::temporary_folder> run_folder;  // worker 0 removes the folder, also after an exception
  char name[4096] = {};
  if (first) {
    run_folder.emplace(line.word("folder"), "partita_bench_files");
    if (run_folder->path.string().size() < sizeof name) run_folder->path.string().copy(name, sizeof name - 1);
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  const std::string folder = std::string(name) + "/w";
  const extents<dynamic, 8192> global(mebibytes * 32);  // a matrix with rows of 32 KiB
  const auto p_rows = everyone.partition(extents<dynamic, 1>(everyone.size()));
  const auto p_columns = everyone.partition(extents<1, dynamic>(everyone.size()));
  const auto in_rows = decomposition<2>::balanced(global.array(), p_rows.grid().shape()).block(p_rows.index());
  const auto in_columns = decomposition<2>::balanced(global.array(), p_columns.grid().shape()).block(p_columns.index());
  xt::xtensor<float, 2> rows(in_rows.shape()), columns(in_columns.shape()), back(in_columns.shape());
  rows.fill(0.5F);
  columns.fill(0.5F);
  back.fill(0);

  const auto remove_files = [&] {
    if (first) static_cast<void>(detail::remove_folder(folder));
    if (first) ::mkdir(folder.c_str(), 0777);
  };
  const std::string file = folder + "/w.npy", raw = folder + "/w.raw";
  const std::string dd = "dd if=/dev/zero of=" + folder + "/dd bs=1M count=" + std::to_string(mebibytes);
  mpi_io by_rows(everyone, raw, global.array(), in_rows), by_columns(everyone, raw, global.array(), in_columns);
#ifdef BENCH_HDF5
  const std::string h5 = folder + "/w.h5", ours = folder + "/ours.h5";
  parallel_hdf5 hdf5_rows(everyone, h5, global.array(), in_rows),
      hdf5_columns(everyone, h5, global.array(), in_columns);
#else
  out.note("without parallel HDF5: libhdf5-openmpi-dev was not there");
#endif
  const auto run_on_one_worker = [&](const std::string& command) {
    if (first && std::system((command + " 2>/dev/null").c_str()) != 0) throw std::runtime_error("fails: " + command);
    everyone.communicator().barrier();
  };
  const auto nothing = [] {};
  const file_options by_slabs{.run_bytes = std::size_t{1} << 40U};  // reads rows, then redistributes them to columns
  std::uint64_t step = 0;
  way ways[] = {
      {"write: dd, one process", remove_files, [&] { run_on_one_worker(dd + " conv=fdatasync"); }},
      {"write: MPI-IO collective, rows", remove_files, [&] { by_rows.write(rows.data()); }},
      {"write: MPI-IO collective, columns", remove_files, [&] { by_columns.write(columns.data()); }},
      {"read:  MPI-IO collective, columns", nothing, [&] { by_columns.read(back.data()); }},
#ifdef BENCH_HDF5
      {"write: HDF5 collective, rows", remove_files, [&] { hdf5_rows.write(rows.data()); }},
      {"write: HDF5 collective, columns", remove_files, [&] { hdf5_columns.write(columns.data()); }},
      {"read:  HDF5 collective, columns", nothing, [&] { hdf5_columns.read(back.data()); }},
      {"write: save_hdf5, columns", remove_files, [&] { save_hdf5(ours, "w", p_columns, global, columns); }},
      {"read:  load_hdf5, columns", nothing, [&] { load_hdf5<float, 2>(ours, "w", p_columns); }},
#endif
      {"write: save_npy, columns", remove_files, [&] { save_npy(file, p_columns, global, columns); }},
      {"write: save_npy, rows", remove_files, [&] { save_npy(file, p_rows, global, rows); }},
      {"read:  dd, one process", nothing, [&] { run_on_one_worker("dd if=" + file + " of=/dev/null bs=1M"); }},
      {"read:  load_npy, rows", nothing, [&] { load_npy<float, 2>(file, p_rows); }},
      {"read:  load_npy, columns", nothing, [&] { load_npy<float, 2>(file, p_columns); }},
      {"read:  load_npy, columns, moved", nothing, [&] { load_npy<float, 2>(file, p_columns, by_slabs); }},
      {"write: save_checkpoint, rows", remove_files,
       [&] { save_checkpoint(folder + "/run", ++step, named("w", p_rows, global, rows)); }},
      {"read:  checkpoint, rows", nothing,
       [&] { load_checkpoint(folder + "/run", everyone).load<float, 2>("w", p_rows); }},
      {"read:  checkpoint, columns", nothing,
       [&] { load_checkpoint(folder + "/run", everyone).load<float, 2>("w", p_columns); }},
      {"read:  checkpoint, columns, moved", nothing,
       [&] { load_checkpoint(folder + "/run", everyone).load<float, 2>("w", p_columns, by_slabs); }},
  };
  std::vector<std::size_t> groups;  // each group is a variant that writes, and the variants after it that read its file
  for (std::size_t k = 0; k < std::size(ways); ++k)
    if (ways[k].name[0] == 'w') groups.push_back(k);
  for (int round = 0; round < rounds; ++round)
    for (std::size_t g = 0; g < groups.size(); ++g) {
      std::size_t k = groups[(g + static_cast<std::size_t>(round)) % groups.size()];
      do {
        ways[k].prepare();
        ways[k].seconds.push_back(bench::timed(ways[k].run));
      } while (++k < std::size(ways) && ways[k].name[0] == 'r');
    }
  const std::size_t bytes = mebibytes * 1048576;
  for (const way& w : ways)
    out.add_peer(
        w.name, peer_of(w.name), w.seconds,
        {{"bytes", bytes}, {"gigabytes_a_second", static_cast<double>(bytes) / bench::median(w.seconds) / 1e9}});
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::command_line line(
      "files", "one file of a tensor, written and read by all workers, beside dd, MPI-IO and HDF5", {1},
      {{"mebibytes", bench::argument::count, "of the tensor", "1024", "1"},
       {"rounds", bench::argument::count, "samples of each", "6", "1"},
       {"folder", bench::argument::word, "where a folder is made, which is removed at the end", "."}});
  return bench::run_on_workers(argc, argv, line, measure);
}
