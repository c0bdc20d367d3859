// Saves and loads a tensor on a partition as a dataset of an HDF5 file, in parallel. partita.hpp does not include this
// header. Parallel HDF5 must be installed (Debian: libhdf5-openmpi-dev, pkg-config hdf5-openmpi).
#pragma once

#if !__has_include(<hdf5.h>)  // includes a missing header, which stops the compiler; after an #error it would go on
#include <partita: takes parallel HDF5, install libhdf5-openmpi-dev and use `pkg-config --cflags --libs hdf5-openmpi`>
#endif
#include <hdf5.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <partita/comm/file_size_errors.hpp>
#include <partita/comm/mpi_info_null.hpp>
#include <partita/io/detail/open_npy.hpp>
#include <partita/io/detail/slabs.hpp>
#include <partita/io/file_policy.hpp>
#include <string>
#include <type_traits>
#include <utility>

#ifndef H5_HAVE_PARALLEL
#error "partita/io/hdf5.hpp takes parallel HDF5, and this <hdf5.h> is the serial one: libhdf5-openmpi-dev has the other"
#endif

namespace partita {

namespace detail {

/// An HDF5 identifier; the destructor closes the identifier.
class hdf5_id {
 public:
  hdf5_id(hid_t id, herr_t (*close)(hid_t)) : hdf5_handle_(id), close_function_(close) {}
  hdf5_id(const hdf5_id&) = delete;
  hdf5_id& operator=(const hdf5_id&) = delete;
  ~hdf5_id() { close(); }
  operator hid_t() const { return hdf5_handle_; }
  bool is_valid() const { return hdf5_handle_ >= 0; }  ///< false after a failed HDF5 call and after close()
  /// Closes the identifier. Returns whether HDF5 succeeded.
  bool close() {
    const hid_t id = std::exchange(hdf5_handle_, -1);
    return id < 0 || close_function_(id) >= 0;
  }

 private:
  hid_t hdf5_handle_;                ///< negative after a failed HDF5 call and after close()
  herr_t (*close_function_)(hid_t);  ///< closes identifiers of this kind, such as H5Dclose
};

/// Suppresses the error output of HDF5 during the lifetime of this object, because errors are reported by exceptions.
class hdf5_error_silencer {
 public:
  hdf5_error_silencer() {
    H5Eget_auto2(H5E_DEFAULT, &previous_handler_, &previous_handler_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  hdf5_error_silencer(const hdf5_error_silencer&) = delete;
  hdf5_error_silencer& operator=(const hdf5_error_silencer&) = delete;
  ~hdf5_error_silencer() { H5Eset_auto2(H5E_DEFAULT, previous_handler_, previous_handler_data_); }

 private:
  H5E_auto2_t previous_handler_ = nullptr;  ///< HDF5's handler of errors; the destructor restores it
  void* previous_handler_data_ = nullptr;   ///< the argument of previous_handler_
};

/// The HDF5 type of an element, which the caller must close: for a number the native type, for bool and complex numbers
/// the type that h5py uses.
template <class T>
hid_t make_hdf5_type() {
  if constexpr (std::is_same_v<T, bool>) {
    const hid_t type = H5Tenum_create(H5T_NATIVE_INT8);
    std::int8_t value = 0;
    H5Tenum_insert(type, "FALSE", &value);
    value = 1;
    H5Tenum_insert(type, "TRUE", &value);
    return type;
  } else if constexpr (is_complex<T>) {
    using part = typename T::value_type;  ///< the type of the real and the imaginary part
    const hdf5_id element(make_hdf5_type<part>(), H5Tclose);
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(T));
    H5Tinsert(type, "r", 0, element);
    H5Tinsert(type, "i", sizeof(part), element);
    return type;
  } else if constexpr (std::is_floating_point_v<T>) {
    return H5Tcopy(std::is_same_v<T, float>    ? H5T_NATIVE_FLOAT
                   : std::is_same_v<T, double> ? H5T_NATIVE_DOUBLE
                                               : H5T_NATIVE_LDOUBLE);
  } else {
    constexpr bool is_signed = std::is_signed_v<T>;
    return H5Tcopy(sizeof(T) == 1   ? (is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8)
                   : sizeof(T) == 2 ? (is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16)
                   : sizeof(T) == 4 ? (is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32)
                                    : (is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64));
  }
}

template <std::size_t Rank>
hid_t make_hdf5_dataspace(const std::array<std::size_t, Rank>& extents) {  ///< a dataspace; the caller must close it
  hsize_t sizes[Rank == 0 ? 1 : Rank] = {};
  for (std::size_t d = 0; d < Rank; ++d) sizes[d] = extents[d];
  return Rank == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(static_cast<int>(Rank), sizes, nullptr);
}
/// Selects this worker's box in a dataspace, or no element if it owns no slab. Returns whether HDF5 succeeded.
template <std::size_t Rank>
bool select_slab(hid_t space, const slab_partition<Rank>& where) {
  if (!where.is_owner() || volume_of(where.own_shape()) == 0) return H5Sselect_none(space) >= 0;
  if constexpr (Rank == 0) {
    return true;
  } else {
    const box<Rank> slab = where.cuts.block(where.owners.index());
    hsize_t start[Rank], count[Rank];
    for (std::size_t d = 0; d < Rank; ++d) start[d] = slab.start[d], count[d] = slab.shape()[d];
    return H5Sselect_hyperslab(space, H5S_SELECT_SET, start, nullptr, count, nullptr) >= 0;
  }
}

/// Opens a file on all workers of a world; returns its identifier, negative after an error. With `may_create` a missing
/// file is created, and the contents of an existing file are discarded. Collective. The function allocates nothing
/// before HDF5 is called, because a worker that throws would leave the other workers waiting in HDF5.
inline hid_t open_hdf5(const world& everyone, const std::string& path, bool is_writing, bool may_create) {
  const hdf5_id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  if (H5Pset_fapl_mpio(access, everyone.state()->communicator(), mpi_info_null()) < 0) return -1;
  return may_create ? H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access)
                    : H5Fopen(path.c_str(), is_writing ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
}

/// An error if an HDF5 call has failed (`has_succeeded` is false), else no error.
template <class = void>
file_error hdf5_error(const file_call& call, bool has_succeeded, const char* action, const std::string& path,
                      const char* error_advice) {
  file_error call_error;
  if (has_succeeded) return call_error;
  text reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_DOWNWARD,
      [](unsigned, const H5E_error2_t* entry, void* description) {
        *static_cast<text*>(description) = text() << (entry->desc == nullptr ? "HDF5 fails" : entry->desc);
        return herr_t{0};
      },
      &reason);
  call_error.sentence << call.name() << ": worker " << call.everyone().id() << " cannot " << action << " "
                      << path.c_str() << ": " << (reason.empty() ? text("HDF5 fails") : reason) << "; " << error_advice;
  return call_error;
}

/// Looks up a dataset in a file; only the leader calls this function. Sets `extents` to the extents of the dataset, or
/// returns an error if the dataset does not exist or is not a tensor of type T and rank Rank.
template <class T, std::size_t Rank>
file_error check_dataset(const file_call& call, const std::string& path, const std::string& dataset,
                         std::array<std::size_t, Rank>& extents) {
  const hdf5_id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  if (!file.is_valid())
    return hdf5_error(call, false, "read", path, "check the name, and that this worker may read it");
  const hdf5_id data(H5Dopen2(file, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  if (!data.is_valid()) return hdf5_error(call, false, "find the dataset in", path, "ask for a dataset that is there");
  const hdf5_id space(H5Dget_space(data), H5Sclose), stored(H5Dget_type(data), H5Tclose),
      wanted(make_hdf5_type<T>(), H5Tclose);
  const hdf5_id native(H5Tget_native_type(stored, H5T_DIR_ASCEND), H5Tclose);
  text sentence;
  if (!native.is_valid() || H5Tequal(native, wanted) <= 0)
    return call.make_error(file_error::kind::io, sentence << "requires elements of the type asked for ("
                                                          << npy_type_of<T>()
                                                          << "), and the dataset holds others; load what it holds and "
                                                             "convert it");
  const int rank = H5Sget_simple_extent_ndims(space);
  if (rank != static_cast<int>(Rank))
    return call.make_error(file_error::kind::shape, sentence << "requires a tensor of the rank asked for (" << Rank
                                                             << "), and the dataset is one of rank " << rank
                                                             << "; ask for that rank");
  hsize_t sizes[Rank == 0 ? 1 : Rank] = {};
  if constexpr (Rank > 0) H5Sget_simple_extent_dims(space, sizes, nullptr);
  for (std::size_t d = 0; d < Rank; ++d) extents[d] = sizes[d];
  return {};
}

/// Writes this worker's slab to a dataset, or reads it from the dataset, by move(space in memory, space in the file).
/// Returns whether HDF5 succeeded. Each owner of a slab reads or writes one range of the HDF5 file, independently of
/// the other workers. Collective transfers are not used, because each slab is one range of the file already, and
/// collective writing of Open MPI 4.1 is known to hang.
template <class Move, std::size_t Rank>
bool move_slab(hid_t data, const slab_partition<Rank>& where, Move move) {
  const hdf5_id file_space(H5Dget_space(data), H5Sclose);
  const hdf5_id memory_space(
      make_hdf5_dataspace<Rank>(where.is_owner() ? where.own_shape() : std::array<std::size_t, Rank>{}), H5Sclose);
  if (!file_space.is_valid() || !memory_space.is_valid() || !select_slab(file_space, where)) return false;
  if (!where.is_owner() || volume_of(where.own_shape()) == 0) return true;
  return move(memory_space, file_space) >= 0;
}

}  // namespace detail

/// Writes a tensor that is partitioned over p as a new dataset of an HDF5 file, which is created if it does not exist.
/// Policies: `source_cuts(...)`, `file_options{...}` (except `page_bytes`).
/// Shapes:   those of save_npy. All workers of the world call save_hdf5.
/// Requires: what save_npy requires; a dataset that does not exist yet, in groups that exist [io_error, on all
///           workers]. A job that is killed while it saves may leave a file that HDF5 cannot read; save data that must
///           not be lost as a checkpoint. While another job saves or loads datasets of the file, the call waits for at
///           most 5 s, then throws an io_error.
/// Cost:     one repartition to slabs, at most one slab per worker of p (none if the blocks are these slabs already),
///           then each owner writes its slab as one range of the file, all at the same time.
/// Adjoint:  none; load_hdf5 is the inverse.
template <class Extents, std::size_t... E, ranked_array X, class... Policies>
void save_hdf5(const std::string& path, const std::string& dataset, const partition<Extents>& p,
               const extents<E...>& global, const X& x, const Policies&... policies) {
  using T = element_of<X>;
  constexpr std::size_t rank = sizeof...(E);
  static_assert(Extents::rank() == rank && rank_of<X> == rank && npy_element<T>,
                "partita::save_hdf5(path, dataset, p, extents, x): requires a partition, extents and a block of one "
                "rank, of numbers, bool or std::complex of real numbers; reshape() the partition with extents of 1");
  static_assert(((detail::is_source_cuts<Policies> || std::is_same_v<Policies, file_options>)&&...),
                "partita::save_hdf5(path, dataset, p, extents, x, policies...): requires policies among "
                "source_cuts(...) and file_options");
  if constexpr (!strided_array<const X>) {
    save_hdf5(path, dataset, p, global, xt::xtensor<T, rank>(x), policies...);
  } else {
    using namespace detail;
    one_call(*p.world().state(), [&] {
      const auto request = file_request<rank>::of(policies...);
      const auto shape = global.array();
      const file_call call(p.world(), p.size() == 0 ? 0 : p.workers()[0],
                           text("partita::save_hdf5(\"")
                               << path.c_str() << "\", \"" << dataset.c_str() << "\", p, extents " << shape << ", x)",
                           hash_arguments<T>(p, request) << 7);
      call.all_and(0);
      check_save_arguments(call, p, shape.data(), rank, sizeof(T));
      const auto slab =
          slab_to_write<T, rank>::template of<false, (is_source_cuts<Policies> || ...)>(call, p, shape, x, request);
      const hdf5_error_silencer silence;
      const char* const error_advice =
          "give a name that is not taken yet, where this worker may write and the disk has room";
      const file_size_errors no_signal;
      posix_file locked;  // the leader locks the file against other jobs: HDF5 does not lock files that MPI opens
      std::size_t before = 0;
      file_error call_error;
      if (call.is_leader()) {
        int error = locked.open(path, O_RDWR | O_CREAT);
        if (error == 0) error = locked.wait_for_lock(false);
        if (error == 0) error = locked.size(before);
        call_error = call.errno_error(
            "open", path, error,
            error == EWOULDBLOCK ? "another program has it open; save when that has ended" : error_advice);
      }
      call.throw_together(call_error);
      before = call.broadcast_from_leader(before)[0];
      // The space is checked before HDF5 writes, because HDF5 1.10 crashes at the end of MPI if a write has failed.
      constexpr std::size_t metadata = std::size_t{1} << 16U;  // chosen: headers of a dataset and a file take some KiB
      const std::size_t wanted = before + volume_of(shape) * sizeof(T) + metadata;
      int space_error = posix_file::file_size_error(wanted);
      if (call.is_leader() && space_error == 0) space_error = locked.try_to_reserve(before, wanted);
      call.throw_together(call.errno_error("write", path, space_error, error_advice));
      const bool may_create = before == 0;
      hdf5_id file(open_hdf5(p.world(), path, true, may_create), H5Fclose);
      call.throw_together(hdf5_error(call, file.is_valid(), "open", path, error_advice));
      const hdf5_id type(make_hdf5_type<T>(), H5Tclose), space(make_hdf5_dataspace(shape), H5Sclose);
      hdf5_id data(H5Dcreate2(file, dataset.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Dclose);
      call.throw_together(hdf5_error(call, data.is_valid(), "make the dataset in", path, error_advice));
      const bool written = move_slab(data, slab.slabs(), [&](hid_t memory_space, hid_t file_space) {
        return H5Dwrite(data, type, memory_space, file_space, H5P_DEFAULT, slab.data());
      });
      call_error = hdf5_error(call, written, "write", path, error_advice);
      const bool closed = data.close() && file.close();  // collective: a worker whose write failed closes, too
      if (call_error.empty()) call_error = hdf5_error(call, closed, "close", path, error_advice);
      if (call_error.empty() && request.options.sync) {
        posix_file same;
        int error = same.open(path, O_WRONLY);
        if (error == 0) error = same.sync();
        call_error = call.errno_error("put on the disk", path, error, error_advice);
      }
      call.throw_together(call_error);
    });
  }
}

/// Reads a dataset of an HDF5 file as a tensor on p, in balanced blocks or as `result_cuts(...)` states.
/// Shapes:   those of load_npy. All workers of the world call load_hdf5.
/// Requires: a dataset of elements T [io_error] and rank Rank [shape_error]; all workers throw the errors. While
///           another job saves a dataset of the file, the call waits for at most 5 s, then throws an io_error.
/// Cost:     one worker looks up the dataset, then each owner of a slab reads one range of the file, all at the same
///           time, and one repartition follows (none if the blocks on p are these ranges).
/// Adjoint:  none; save_hdf5 is the inverse.
template <class T, std::size_t Rank, class Extents, class... Policies>
auto load_hdf5(const std::string& path, const std::string& dataset, const partition<Extents>& p,
               const Policies&... policies) {
  static_assert(
      Extents::rank() == Rank && npy_element<T>,
      "partita::load_hdf5<T, rank>(path, dataset, p): requires a partition of the rank asked for, and numbers, "
      "bool or std::complex of real numbers; reshape() the partition with extents of 1");
  static_assert(((detail::is_result_cuts<Policies> || std::is_same_v<Policies, file_options>)&&...),
                "partita::load_hdf5<T, rank>(path, dataset, p, policies...): requires policies among "
                "result_cuts(...) and file_options");
  using namespace detail;
  return one_call(*p.world().state(), [&] {
    const auto request = file_request<Rank>::of(policies...);
    const file_call call(p.world(), p.size() == 0 ? 0 : p.workers()[0],
                         text("partita::load_hdf5(\"") << path.c_str() << "\", \"" << dataset.c_str() << "\", p)",
                         hash_arguments<T>(p, request) << 8);
    call.all_and(0);
    if (p.size() == 0)
      call.make_error(file_error::kind::partition, "requires a partition of at least one worker").raise();
    const hdf5_error_silencer silence;
    return read_unchanged_file(call, path, [&](common_file& source, bool) -> std::optional<pooled_tensor<T, Rank>> {
      npy_metadata<Rank> metadata;
      file_error call_error;
      if (call.is_leader()) {
        int error = source.open();
        if (error == 0) error = source.file().wait_for_lock(true);  // keeps other jobs from adding datasets
        call_error = call.errno_error("read", path, error, "check the name, and that this worker may read it");
        if (call_error.empty()) call_error = check_dataset<T>(call, path, dataset, metadata.extents);
      }
      call.throw_together(call_error);
      source.agree_on_version();
      const auto extents = call.broadcast_from_leader(extents_and_zero(metadata.extents));
      std::copy_n(extents.begin(), Rank, metadata.extents.begin());
      const auto where = assign_slabs(p, metadata.extents, sizeof(T), 0, request.options);
      pooled_tensor<T, Rank> slab(zero_volume<T, Rank>());
      if (where.is_owner())
        slab = pooled_tensor<T, Rank>(typename pooled_tensor<T, Rank>::shape_type(where.own_shape()));
      const char* const error_advice = "all workers must see the same file, and no program may write to it";
      call_error = call.errno_error("read", path, source.open(), error_advice);
      if (!source.is_same_on_all(call_error)) return std::nullopt;
      {
        const hdf5_id file(open_hdf5(p.world(), path, false, false), H5Fclose);
        call.throw_together(hdf5_error(call, file.is_valid(), "open", path, error_advice));
        // HDF5 opened the same file as this worker if the name `path` still refers to the file that this worker opened.
        if (!call.is_true_on_all(source.file().has_name(path))) return std::nullopt;
        const hdf5_id data(H5Dopen2(file, dataset.c_str(), H5P_DEFAULT), H5Dclose), type(make_hdf5_type<T>(), H5Tclose);
        const bool has_succeeded = data.is_valid() && move_slab(data, where, [&](hid_t memory_space, hid_t file_space) {
                                     return H5Dread(data, type, memory_space, file_space, H5P_DEFAULT, slab.data());
                                   });
        call_error = hdf5_error(call, has_succeeded, "read", path, error_advice);
      }
      if (!source.is_same_on_all(call_error)) return std::nullopt;
      return move_slabs_to_partition<T, Rank, (is_result_cuts<Policies> || ...)>(call, where, slab, metadata, p,
                                                                                 request);
    });
  });
}

}  // namespace partita
