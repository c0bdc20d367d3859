// A checkpoint that is being written: begin(), add() and end() are collective; write() does not communicate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <partita/core/config.hpp>
#include <partita/io/detail/checkpoint_folder.hpp>
#include <partita/io/detail/slab_checksums.hpp>
#include <partita/io/detail/slabs.hpp>
#include <partita/io/file_policy.hpp>
#include <partita/io/manifest.hpp>
#include <string>
#include <utility>
#include <vector>

namespace partita {

/// One tensor of a checkpoint to be saved. X is a reference to the caller's block, or the type of the stored block.
template <class Extents, std::size_t Rank, class X, class... Policies>
struct named_tensor {
  std::string name;                      ///< the name in the checkpoint; the tensor's file is NAME.npy
  partition<Extents> p;                  ///< the partition of the tensor
  std::array<std::size_t, Rank> global;  ///< the extents of the tensor
  X x;                                   ///< this worker's block
  detail::file_request<Rank> request;    ///< the policies given to named()
};

/// The options of saving checkpoints. All workers must pass equal options.
struct checkpoint_options {
  std::size_t keep_last = 0;  ///< the number of steps that stay, the highest ones; lower ones are removed; 0 keeps all
  std::size_t slab_bytes = std::size_t{1} << 22U;  ///< the number of bytes of a file per checksum
  file_options files{};                            ///< the options of each file
};

namespace detail {

/// The interface of an object that writes one file of a checkpoint, for any element type.
class checkpoint_file_writer {
 public:
  virtual ~checkpoint_file_writer() = default;
  /// Writes this worker's bytes of the tensor's file, without communication. Returns 0 or an errno.
  virtual int write(const std::string& folder, const checkpoint_options& options) = 0;
  /// Returns the entry of the file in the manifest, whose checksums only the leader gets. Collective.
  virtual manifest_tensor finish_file(const file_call& call, const checkpoint_options& options) const = 0;
  virtual const std::string& name() const = 0;  ///< the name of the tensor
};

/// Writes the file of a tensor of rank Rank with elements of type T.
template <class T, std::size_t Rank>
class tensor_file_writer final : public checkpoint_file_writer {
 public:
  /// Moves the elements of a tensor to the workers that write them. Collective.
  template <class Extents, class X, class... Policies>
  static std::unique_ptr<checkpoint_file_writer> of(const file_call& call,
                                                    const named_tensor<Extents, Rank, X, Policies...>& tensor,
                                                    const file_options& options, bool keeps_copies) {
    auto request = tensor.request;
    request.options = options;
    auto slab = slab_to_write<T, Rank>::template of<false, (sizeof...(Policies) > 0)>(call, tensor.p, tensor.global,
                                                                                      tensor.x, request);
    if (keeps_copies) slab.copy_elements();
    auto received = exchange_shared_pages(slab.slabs().owners, slab.slabs().domains, slab.data());
    return std::unique_ptr<checkpoint_file_writer>(
        new tensor_file_writer(tensor.name, tensor.global, std::move(slab), std::move(received)));
  }
  int write(const std::string& folder, const checkpoint_options& options) override {  ///< writes this worker's bytes
    const auto& where = slab_.slabs();
    const file_domains& domains = where.domains;
    const std::size_t place = where.owner_position();
    checksums_ = compute_own_checksums(where, slab_.header(), slab_.data(), options.slab_bytes);
    if (!where.is_owner() || domains.write_starts[place] >= domains.write_starts[place + 1]) return 0;
    posix_file file;
    int error = file.open(folder + "/" + name_ + ".npy", O_WRONLY | O_CREAT);
    if (error == 0 && place == 0) error = file.reserve(domains.bytes());
    if (error == 0) error = write_domain(file, where, slab_.header(), slab_.data(), received_bytes_);
    if (error == 0 && options.files.sync) error = file.sync();
    return error == 0 ? file.close() : error;
  }
  manifest_tensor finish_file(const file_call& call, const checkpoint_options& options) const override {
    manifest_tensor entry;
    entry.checksums = combine_file_checksums(call, slab_.slabs(), checksums_, options.slab_bytes);
    entry.name = name_;
    const text type = npy_type_of<T>();
    entry.type.assign(type.begin(), type.end());
    entry.extents.assign(global_extents_.begin(), global_extents_.end());
    entry.bytes = slab_.slabs().domains.bytes();
    return entry;
  }
  const std::string& name() const override { return name_; }  ///< the name of the tensor

 private:
  tensor_file_writer(std::string name, const std::array<std::size_t, Rank>& global, slab_to_write<T, Rank> slab,
                     std::vector<unsigned char> received)
      : name_(std::move(name)), global_extents_(global), slab_(std::move(slab)), received_bytes_(std::move(received)) {}

  std::string name_;                              ///< the tensor's name; its file is NAME.npy
  std::array<std::size_t, Rank> global_extents_;  ///< the extents of the whole tensor
  slab_to_write<T, Rank> slab_;                   ///< the part of the tensor that this worker writes
  std::vector<unsigned char> received_bytes_;     ///< bytes of later slabs, which this worker writes after its own
  std::vector<std::uint32_t> checksums_;          ///< the checksums of the bytes that this worker owns; set by write()
};

/// All files of a checkpoint that is being written. The destructor removes the files of an incomplete checkpoint.
class checkpoint_writer {
 public:
  PARTITA_DECL checkpoint_writer(const file_call& call, std::string folder, std::uint64_t step,
                                 const checkpoint_options& options);  ///< makes no folder yet

  /// Makes a temporary folder whose name no other job uses. Collective.
  PARTITA_DECL void begin();
  /// Adds a tensor to the checkpoint. With `keeps_copies` the caller may then change the tensor; without it the caller
  /// must not change the tensor before it is written. Collective.
  template <class Extents, std::size_t Rank, class X, class... Policies>
  void add(const named_tensor<Extents, Rank, X, Policies...>& tensor, bool keeps_copies);
  /// Writes this worker's bytes of all files. The function does not communicate, so any thread may call it.
  PARTITA_DECL void write() noexcept;
  /// Completes the checkpoint, then removes old steps. Throws the error of a worker on all workers. Collective.
  PARTITA_DECL void end();

 private:
  PARTITA_DECL file_error step_exists_error(const std::string& path) const;  ///< says that the step exists already

  /// The end of the messages of begin() and end(): what the caller can do.
  static constexpr const char* error_advice = "check the folder; the checkpoints saved before are untouched";

  file_call call_;                       ///< the call that saves the checkpoint
  std::string folder_, temporary_path_;  ///< the folder of all checkpoints; that of this one until it is complete
  std::uint64_t step_;                   ///< the number of the step that is saved
  checkpoint_options options_;           ///< the options that the caller passed
  temporary_folder folder_guard_;        ///< removes the leader's temporary folder after an error
  std::vector<std::unique_ptr<checkpoint_file_writer>> files_;  ///< the writer of each tensor's file
  file_error call_error_;                                       ///< the error of write() on this worker, or empty
};

template <class Extents, std::size_t Rank, class X, class... Policies>
void checkpoint_writer::add(const named_tensor<Extents, Rank, X, Policies...>& tensor, bool keeps_copies) {
  using T = element_of<X>;
  if constexpr (!strided_array<const X>) {
    const xt::xtensor<T, Rank> values(tensor.x);
    files_.push_back(tensor_file_writer<T, Rank>::of(call_,
                                                     named_tensor<Extents, Rank, xt::xtensor<T, Rank>, Policies...>{
                                                         tensor.name, tensor.p, tensor.global, values, tensor.request},
                                                     options_.files, true));
  } else {
    files_.push_back(tensor_file_writer<T, Rank>::of(call_, tensor, options_.files, keeps_copies));
  }
}

}  // namespace detail

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/io/detail/impl/checkpoint_writer.ipp>
#endif
