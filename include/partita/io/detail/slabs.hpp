// Moves a tensor between a partition and the slabs of a file by one repartition, and by one exchange of the bytes of
// slabs that begin or end within a page.
#pragma once

#include <algorithm>
#include <cfloat>
#include <cstddef>
#include <cstring>
#include <partita/comm/pooled.hpp>
#include <partita/io/detail/file_agreement.hpp>
#include <partita/io/detail/posix_file.hpp>
#include <partita/io/file_domains.hpp>
#include <partita/io/file_policy.hpp>
#include <partita/io/npy_header.hpp>
#include <partita/kernel/repartition.hpp>
#include <string>
#include <utility>
#include <vector>

namespace partita::detail {

template <std::size_t Rank>
std::array<std::size_t, Rank> reversed_shape(const std::array<std::size_t, Rank>& shape) {  ///< last extent first
  std::array<std::size_t, Rank> result{};
  for (std::size_t d = 0; d < Rank; ++d) result[d] = shape[Rank - 1 - d];
  return result;
}
/// The policy that reverses all dimensions, such as permute<2, 1, 0>.
template <std::size_t... D>
constexpr permute_t<(sizeof...(D) - 1 - D)...> policy_of_reversed_dimensions(std::index_sequence<D...>) {
  return {};
}

/// The owners of a file, and the box of the tensor that each owner holds. All dimensions are in the order of the file.
template <std::size_t Rank>
struct slab_partition {
  partition<dynamic_extents<Rank>> owners;  ///< the workers that have a slab each
  decomposition<Rank> cuts;                 ///< the box of the tensor that is the slab of each owner
  file_domains domains;                     ///< the bytes of the file that each owner holds and writes

  /// The position of this worker among the owners; the number of owners if this worker is not an owner.
  std::size_t owner_position() const { return owners.grid().place(owners.world().id()); }
  bool is_owner() const { return owners.active(); }  ///< whether this worker is an owner
  /// The shape of this worker's slab; zeros if this worker is not an owner.
  std::array<std::size_t, Rank> own_shape() const {
    return is_owner() ? cuts.shape(owners.index()) : std::array<std::size_t, Rank>{};
  }
};

/// Assigns the slabs of a file to the first workers of p. The partition p must have a worker.
template <std::size_t Rank, class Extents>
slab_partition<Rank> assign_slabs(const partition<Extents>& p, const std::array<std::size_t, Rank>& shape_in_file,
                                  std::size_t item_bytes, std::size_t data_at, const file_options& options) {
  const auto grid =
      slab_grid(shape_in_file, worthwhile_owners(volume_of(shape_in_file) * item_bytes, options.owner_bytes, p.size()));
  const auto cuts = decomposition<Rank>::balanced(shape_in_file, grid);
  std::vector<std::size_t> bytes(volume_of(grid));
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = volume_of(cuts.shape(index_of(k, grid))) * item_bytes;
  return {p.world().partition(dynamic_extents<Rank>(grid), p.workers().subset(workers(0, bytes.size()))), cuts,
          plan_file_domains(data_at, bytes, options.page_bytes)};
}

/// The number of bytes of T that hold its value. The long double of x87 uses 10 of its 16 bytes.
template <class T>
inline constexpr std::size_t value_bytes = sizeof(T);
template <>
inline constexpr std::size_t value_bytes<long double> = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double);

/// Sets the padding bytes of numbers to 0, so that equal tensors make equal files.
template <class T>
void clear_padding(T* data, std::size_t n) {
  if constexpr (is_complex<T>) {
    clear_padding(reinterpret_cast<typename T::value_type*>(data), 2 * n);
  } else if constexpr (value_bytes<T> != sizeof(T)) {
    for (std::size_t k = 0; k < n; ++k)
      std::memset(reinterpret_cast<char*>(data + k) + value_bytes<T>, 0, sizeof(T) - value_bytes<T>);
  }
}
/// Whether some bytes of T hold no part of its value.
template <class T>
constexpr bool has_padding() {
  if constexpr (is_complex<T>) return has_padding<typename T::value_type>();
  else return value_bytes<T> != sizeof(T);
}

/// A hash of the arguments of a call that saves or loads a tensor, without the name of the call.
template <class T, std::size_t Rank, class Extents>
argument_hash hash_arguments(const partition<Extents>& p, const file_request<Rank>& request) {
  argument_hash number;
  number << npy_type_of<T>().c_str() << p.grid().fingerprint() << request.options.page_bytes
         << request.options.owner_bytes << request.options.run_bytes << (request.options.sync ? 1 : 0);
  for (const auto* cuts : {&request.from, &request.to})
    if (*cuts)
      for (const cut& c : (*cuts)->cuts) number << c.fingerprint();
  return number;
}

/// Checks the arguments of a call, which are already known to be equal on all workers. Throws the same error on all
/// workers.
template <class Extents>
void check_save_arguments(const file_call& call, const partition<Extents>& p, const std::size_t* extents,
                          std::size_t rank, std::size_t item_bytes) {
  if (p.size() == 0)
    call.make_error(file_error::kind::partition, "requires a partition of at least one worker").raise();
  std::size_t bytes = item_bytes;
  for (std::size_t d = 0; d < rank; ++d)
    if (extents[d] == 0) return;
  for (std::size_t d = 0; d < rank; ++d) {
    if (bytes > (static_cast<std::size_t>(-1) >> 2U) / extents[d])
      call.make_error(file_error::kind::shape, "requires extents whose product is below 2^62 bytes").raise();
    bytes *= extents[d];
  }
}

/// Calls `function_to_call`, which throws on all workers or on none. Adds the call of the user, and what that call
/// requires of shapes, to the error message.
template <class Call>
auto call_with_context(const file_call& call, Call function_to_call, const char* required = "") {
  try {
    return function_to_call();
  } catch (const shape_error& e) {
    throw shape_error((text(call.name()) << ": " << required) << e.sentence());
  } catch (const partition_error& e) {
    throw partition_error((text(call.name()) << ": ") << e.sentence());
  }
}

/// This worker's slab of a tensor that is to be written: elements received from other workers, or the caller's block if
/// that is the slab already.
template <class T, std::size_t Rank>
class slab_to_write {
 public:
  /// Moves the elements of a tensor to the owners of its file. Collective.
  template <bool FortranOrder, bool CutsGiven, class Extents, strided_array X>
  static slab_to_write of(const file_call& call, const partition<Extents>& p,
                          const std::array<std::size_t, Rank>& global, const X& x, const file_request<Rank>& request) {
    const strided<const T, Rank> block = block_of(x);
    const std::string header = make_npy_header(npy_type_of<T>(), FortranOrder, global.data(), Rank);
    slab_to_write slab(header, assign_slabs(p, FortranOrder ? reversed_shape(global) : global, sizeof(T), header.size(),
                                            request.options));
    const slab_partition<Rank>& where = slab.slabs_;
    if constexpr (CutsGiven) call.throw_together(find_mismatch(call, p, block.shape, *request.from));
    // If the blocks of all workers are their slabs already, nothing is moved or copied.
    const bool is_already_slab = (Rank < 2 || !FortranOrder) && !has_padding<T>() && p.grid() == where.owners.grid() &&
                                 (!request.from || *request.from == where.cuts) &&
                                 (!where.is_owner() || (block.shape == where.own_shape() && block.dense()));
    if (call.is_true_on_all(is_already_slab)) {
      slab.data_ = block.data;
      return slab;
    }
    // If the blocks are not the slabs of the file, one repartition moves the elements to the slabs.
    slab.moved_tensor_ = call_with_context(
        call,
        [&] {
          const auto to = result_cuts(where.cuts);
          constexpr auto order = policy_of_reversed_dimensions(std::make_index_sequence<Rank>());
          if constexpr (Rank >= 2 && FortranOrder && CutsGiven)
            return repartition(p, where.owners, order, to, source_cuts(*request.from))(x);
          else if constexpr (Rank >= 2 && FortranOrder) return repartition(p, where.owners, order, to)(x);
          else if constexpr (CutsGiven) return repartition(p, where.owners, to, source_cuts(*request.from))(x);
          else return repartition(p, where.owners, to)(x);
        },
        "requires blocks x that add up to the extents given; ");
    if (where.is_owner()) clear_padding(slab.moved_tensor_.data(), slab.moved_tensor_.size());
    return slab;
  }

  const std::string& header() const { return header_; }         ///< the bytes of the file before the elements
  const slab_partition<Rank>& slabs() const { return slabs_; }  ///< the slabs of all owners
  /// The elements of the slab.
  const unsigned char* data() const {
    return reinterpret_cast<const unsigned char*>(data_ != nullptr ? data_ : moved_tensor_.data());
  }
  /// Copies the slab if it is the caller's block, so that the caller may change the block.
  void copy_elements() {
    if (data_ == nullptr) return;
    moved_tensor_ = pooled_tensor<T, Rank>(typename pooled_tensor<T, Rank>::shape_type(slabs_.own_shape()));
    std::copy_n(data_, moved_tensor_.size(), moved_tensor_.data());
    data_ = nullptr;
  }

 private:
  /// An error if this worker's block does not fit the given cuts, else no error. In a world of checks::local a kernel
  /// would throw the error on this worker only.
  template <class Extents>
  static file_error find_mismatch(const file_call& call, const partition<Extents>& p,
                                  const std::array<std::size_t, Rank>& shape, const decomposition<Rank>& cuts) {
    text sentence;
    if (cuts.parts() != p.grid().shape())
      return call.make_error(file_error::kind::partition,
                             sentence << "requires cuts of as many parts along each dimension as p has workers; "
                                         "source_cuts has "
                                      << cuts.parts() << " parts, p = " << p.grid().shape() << "; cut into as many");
    if (!p.active() || shape == cuts.shape(p.index())) return {};
    return call.make_error(file_error::kind::shape,
                           sentence << "requires blocks that are cut as source_cuts(...) says, which gives worker "
                                    << call.everyone().id() << " " << cuts.shape(p.index()) << ", got a block of "
                                    << shape << "; give that block, or other cuts");
  }

  slab_to_write(std::string header, slab_partition<Rank> where)
      : header_(std::move(header)), slabs_(std::move(where)) {}

  std::string header_;                   ///< the bytes of the file before the elements
  slab_partition<Rank> slabs_;           ///< the slabs of all owners of the file
  pooled_tensor<T, Rank> moved_tensor_;  ///< the elements of the slab, if data_ is null
  const T* data_ = nullptr;              ///< the caller's block, if it is the slab, else null
};

/// Sends the bytes at the beginning of a slab that are in the last page of an earlier slab to the owner of that page.
/// Returns the bytes that this worker receives, which it writes after its own slab. Collective.
template <class Extents>
std::vector<unsigned char> exchange_shared_pages(const partition<Extents>& owners, const file_domains& domains,
                                                 const unsigned char* slab) {
  const std::size_t n = domains.owners(), place = owners.grid().place(owners.world().id());
  std::vector<std::size_t> sent(n), received(n);
  std::size_t moving = 0;
  for (std::size_t k = 0; k < n; ++k) {
    moving += sent[k] = domains.bytes_sent(k);
    received[k] = domains.bytes_received(k);
  }
  if (moving == 0) return {};
  const auto line = owners.reshape(extents<dynamic>(n));
  auto mine = uninitialised<std::uint8_t, 1>({place < n ? sent[place] : 0});
  if (mine.size() != 0) std::memcpy(mine.data(), slab, mine.size());
  const auto bytes = repartition(line, line, source_cuts(cut::at(sent)), result_cuts(cut::at(received)))(mine);
  return std::vector<unsigned char>(bytes.data(), bytes.data() + bytes.size());
}

/// Writes this worker's range of a file: the header (on the first owner), the slab without the bytes that this worker
/// sent, and the bytes that it received. Returns 0 or an errno.
template <std::size_t Rank>
int write_domain(const posix_file& file, const slab_partition<Rank>& where, const std::string& header,
                 const unsigned char* slab, const std::vector<unsigned char>& received) {
  const file_domains& d = where.domains;
  const std::size_t k = where.owner_position(), sent = d.bytes_sent(k),
                    own = d.slab_starts[k + 1] - d.slab_starts[k] - sent;
  if (k == 0)
    if (const int error = file.write(header.data(), header.size(), 0); error != 0) return error;
  if (own > 0)
    if (const int error = file.write(slab + sent, own, d.slab_starts[k] + sent); error != 0) return error;
  return received.empty() ? 0 : file.write(received.data(), received.size(), d.write_starts[k + 1] - received.size());
}

}  // namespace partita::detail
