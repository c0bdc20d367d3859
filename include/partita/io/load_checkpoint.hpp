// Loads checkpoints: lists the saved steps, and reads and verifies the tensors of a step on any partition.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <partita/array/expression.hpp>
#include <partita/core/config.hpp>
#include <partita/core/rejected_call.hpp>
#include <partita/io/detail/checkpoint_folder.hpp>
#include <partita/io/detail/checkpoint_verifier.hpp>
#include <partita/io/detail/open_npy.hpp>
#include <partita/io/file_policy.hpp>
#include <partita/io/manifest.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// A checkpoint whose manifest was verified. A tensor is read from its file when `load` is called.
class checkpoint {
 public:
  /// Opens the step in folder `path`, whose manifest was verified; reads no tensor yet.
  checkpoint(world everyone, std::string path, manifest manifest_contents)
      : everyone_(std::move(everyone)),
        path_(std::move(path)),
        manifest_(std::move(manifest_contents)),
        sorted_positions_(manifest_.indices_by_name()) {}

  std::uint64_t step() const { return manifest_.step; }  ///< the number of the saved step
  /// Names, types and extents of the tensors in the checkpoint.
  const std::vector<manifest_tensor>& tensors() const { return manifest_.tensors; }
  bool contains(const std::string& name) const { return find(name) != nullptr; }  ///< Whether this tensor is saved.
  /// Name, type and extents of one tensor; null if the checkpoint has no tensor of this name.
  PARTITA_DECL const manifest_tensor* find(const std::string& name) const;

  /// Reads one tensor to any partition of the world, in balanced blocks or as `result_cuts(...)` states, and verifies
  /// it. If the file has changed, all workers throw an io_error, which names the changed slab or the new size.
  /// Shapes:   those of load_npy<T, Rank>(path, p).
  /// Requires: a tensor of this name, type and rank, unchanged [io_error, shape_error, on all workers].
  /// Cost:     that of load_npy, a checksum over the bytes that each worker reads, and a single all-reduce of the
  ///           checksums of all slabs, of 4 bytes each.
  /// Adjoint:  none; save_checkpoint is the inverse.
  template <class T, std::size_t Rank, class Extents, class... Policies>
  auto load(const std::string& name, const partition<Extents>& p, const Policies&... policies) const {
    static_assert(Extents::rank() == Rank,
                  "partita::checkpoint::load<T, rank>(name, p): requires a partition of the rank asked for; reshape() "
                  "it with extents of 1");
    static_assert(npy_element<T>,
                  "partita::checkpoint::load<T, rank>(name, p): requires elements that a .npy file can hold: numbers, "
                  "bool or std::complex of real numbers");
    static_assert(((detail::is_result_cuts<Policies> || std::is_same_v<Policies, file_options>)&&...),
                  "partita::checkpoint::load<T, rank>(name, p, policies...): requires policies among "
                  "result_cuts(...) and file_options");
    using namespace detail;
    return one_call(*everyone_.state(), [&] {
      const auto request = file_request<Rank>::of(policies...);
      const file_call call(everyone_, p.size() == 0 ? 0 : p.workers()[0],
                           text("partita::load_checkpoint(\"")
                               << path_.c_str() << "\").load(\"" << name.c_str() << "\", p)",
                           hash_arguments<T>(p, request) << 3);
      call.all_and(0);
      const manifest_tensor* const entry = find(name);
      const npy_metadata<Rank> metadata = expected_metadata<T, Rank>(call, entry, p);
      const std::string file = path_ + "/" + name + ".npy";
      return read_unchanged_file(call, file, [&](common_file& source, bool) {
        file_error call_error;
        if (call.is_leader()) call_error = call.errno_error("read", file, source.open(), "load a step that is there");
        call.throw_together(call_error);
        source.agree_on_version();
        checkpoint_verifier verifier(call, file, *entry, manifest_.slab_bytes, metadata.data_at);
        return read_npy<T, Rank, (is_result_cuts<Policies> || ...)>(call, source, metadata, p, request, verifier);
      });
    });
  }

 private:
  /// Checks by the manifest whether a tensor can be loaded as requested, and returns where its elements are in the
  /// file. All workers get the same result or the same error.
  template <class T, std::size_t Rank, class Extents>
  detail::npy_metadata<Rank> expected_metadata(const detail::file_call& call, const manifest_tensor* entry,
                                               const partition<Extents>& p) const {
    using detail::file_error;
    text sentence;
    if (!(p.world() == everyone_))
      call.make_error(file_error::kind::partition,
                      "requires a partition of the world that loads the checkpoint; make it from that world")
          .raise();
    if (p.size() == 0)
      call.make_error(file_error::kind::partition, "requires a partition of at least one worker").raise();
    if (entry == nullptr) {
      constexpr std::size_t named = 20;  // chosen: this number of names fits on a line or two
      const std::size_t all = manifest_.tensors.size();
      sentence << "requires a tensor of that name; there are";
      for (std::size_t k = 0; k < all && k < named; ++k) sentence << " " << manifest_.tensors[k].name.c_str();
      if (all > named) sentence << " and " << all - named << " others";
      call.make_error(file_error::kind::io, sentence << "; ask for one of them").raise();
    }
    const text type = npy_type_of<T>();
    if (entry->type != type.c_str())
      call.make_error(file_error::kind::io, sentence << "requires elements of the type asked for (" << type
                                                     << "), and the checkpoint holds " << entry->type.c_str()
                                                     << "; load what it holds and convert it")
          .raise();
    if (entry->extents.size() != Rank)
      call.make_error(file_error::kind::shape, sentence << "requires a tensor of the rank asked for (" << Rank
                                                        << "), and the checkpoint holds one of rank "
                                                        << entry->extents.size() << "; ask for that rank")
          .raise();
    detail::npy_metadata<Rank> metadata;
    for (std::size_t d = 0; d < Rank; ++d) metadata.extents[d] = entry->extents[d];
    detail::check_save_arguments(call, p, metadata.extents.data(), Rank, sizeof(T));
    const std::size_t data_bytes = volume_of(metadata.extents) * sizeof(T);
    metadata.data_at = entry->bytes - data_bytes;
    if (entry->bytes < data_bytes || metadata.data_at < 64 || metadata.data_at > npy_header_limit)
      call.make_error(file_error::kind::io,
                      "requires a manifest whose extents and bytes agree; this one was not written "
                      "by save_checkpoint")
          .raise();
    return metadata;
  }

  world everyone_;                             ///< the workers that load the checkpoint
  std::string path_;                           ///< the folder of the step
  manifest manifest_;                          ///< the manifest of the step, equal on all workers
  std::vector<std::size_t> sorted_positions_;  ///< the indices of the tensors in the manifest, sorted by name
};

/// The steps that were saved completely in a folder, in ascending order; empty if the folder does not exist. All
/// workers of the world call checkpoint_steps and get the same result.
PARTITA_DECL std::vector<std::uint64_t> checkpoint_steps(const std::string& folder, const world& everyone);

/// Opens a step in a folder of checkpoints. All workers of the world call load_checkpoint; a world of any size may have
/// saved the step.
/// Requires: an existing step, and a manifest that has not changed since it was saved [io_error, on all workers].
PARTITA_DECL checkpoint load_checkpoint(const std::string& folder, const world& everyone, std::uint64_t step);
/// Opens the highest step that was saved completely in a folder of checkpoints, or throws an io_error if there
/// is none. Collective.
PARTITA_DECL checkpoint load_checkpoint(const std::string& folder, const world& everyone);

PARTITA_FALLBACK_OVERLOAD(load_checkpoint) {
  static_assert(
      detail::dependent_false<Given...>,
      "partita::load_checkpoint(folder, everyone, step): requires a folder and the world, then perhaps a step; what it "
      "gives loads tensors: load_checkpoint(\"steps\", everyone).load<float, 2>(\"weight\", p)");
  return detail::rejected_call{};
}

}  // namespace partita

#ifndef PARTITA_CORE
#include <partita/io/impl/load_checkpoint.ipp>
#endif
