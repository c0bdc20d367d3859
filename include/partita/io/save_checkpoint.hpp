// Saving checkpoints: a folder for each step with one .npy file for each tensor and a manifest of what they hold.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <partita/io/detail/checkpoint_folder.hpp>
#include <partita/io/detail/slab_checksums.hpp>
#include <partita/io/detail/slabs.hpp>
#include <partita/io/file_policy.hpp>
#include <partita/io/manifest.hpp>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace partita {

/// One tensor of a checkpoint to be saved; it refers to what it was made from.
template <class Extents, std::size_t Rank, class X, class... Policies>
struct named_tensor {
  std::string name;
  const partition<Extents>& p;
  std::array<std::size_t, Rank> global;
  const X& x;
  detail::file_request<Rank> request;
};

/// `named("weight", p_w, extents<12, 16>{}, w)`: a tensor on p and what it is called; `from_cuts(...)` as in save_npy.
/// A name is 1 to 100 of A-Z a-z 0-9 _ - and dots, not beginning with a dot.
template <class Extents, std::size_t... E, ranked_array X, class... Policies>
auto named(std::string name, const partition<Extents>& p, const extents<E...>& global, const X& x,
           const Policies&... policies) {
  constexpr std::size_t rank = sizeof...(E);
  static_assert(Extents::rank() == rank && rank_of<X> == rank,
                "partita::named(name, p, extents, x): requires a partition, extents and a block of one rank; reshape() "
                "the partition with extents of 1");
  static_assert(npy_element<element_of<X>>,
                "partita::named(name, p, extents, x): requires elements that a .npy file can hold: numbers, bool or "
                "std::complex of real numbers");
  static_assert((detail::is_from_cuts<Policies> && ...),
                "partita::named(name, p, extents, x, policies...): requires no policy but from_cuts(...)");
  return named_tensor<Extents, rank, X, Policies...>{std::move(name), p, global.array(), x,
                                                     detail::file_request<rank>::of(policies...)};
}

/// How checkpoints are kept. Every worker gives the same.
struct checkpoint_options {
  std::size_t keep_last = 0;                       ///< remove all but so many of the highest steps; 0 keeps all
  std::size_t slab_bytes = std::size_t{1} << 22U;  ///< one checksum for so many bytes of a file
  file_options files{};
};

namespace detail {

template <class T>
inline constexpr bool is_named_tensor = false;
template <class Extents, std::size_t Rank, class X, class... Policies>
inline constexpr bool is_named_tensor<named_tensor<Extents, Rank, X, Policies...>> = true;

/// Writes one tensor into a folder that nobody else knows yet; its entry of the manifest, complete on the leader.
/// Collective. Trouble is collected, so that all workers meet once for all tensors.
template <class Extents, std::size_t Rank, class X, class... Policies>
manifest_tensor write_tensor(const file_call& call, const std::string& folder,
                             const named_tensor<Extents, Rank, X, Policies...>& tensor,
                             const checkpoint_options& options, file_trouble& trouble) {
  using T = element_of<X>;
  if constexpr (!strided_array<const X>) {
    const xt::xtensor<T, Rank> values(tensor.x);
    return write_tensor(call, folder,
                        named_tensor<Extents, Rank, xt::xtensor<T, Rank>, Policies...>{
                            tensor.name, tensor.p, tensor.global, values, tensor.request},
                        options, trouble);
  } else {
    auto request = tensor.request;
    request.options = options.files;
    const auto slab = slab_to_write<T, Rank>::template of<false, (sizeof...(Policies) > 0)>(
        call, tensor.p, tensor.global, tensor.x, request);
    const auto& where = slab.where();
    const auto taken = bring_to_pages(where.owners, where.domains, slab.bytes());
    const file_domains& domains = where.domains;
    const std::size_t place = where.place();
    if (trouble.empty() && where.owns() && domains.written[place] < domains.written[place + 1]) {
      const std::string path = folder + "/" + tensor.name + ".npy";
      posix_file file;
      int error = file.open(path, O_WRONLY | O_CREAT);
      if (error == 0 && place == 0) error = file.reserve(domains.bytes());
      if (error == 0) error = write_domain(file, where, slab.header(), slab.bytes(), taken);
      if (error == 0 && options.files.sync) error = file.sync();
      if (error == 0) error = file.close();
      trouble = call.cannot("write", path, error, "free some space; the checkpoints saved before are untouched");
    }
    manifest_tensor entry;
    entry.checksums = checksums_of_file(call, where, slab.header(), slab.bytes(), options.slab_bytes);
    entry.name = tensor.name;
    const text type = npy_type_of<T>();
    entry.type.assign(type.begin(), type.end());
    entry.extents.assign(tensor.global.begin(), tensor.global.end());
    entry.bytes = domains.bytes();
    return entry;
  }
}

/// Adds what all workers must give alike to the number of a call.
template <class Extents, std::size_t Rank, class X, class... Policies>
void add_to(call_number& number, const named_tensor<Extents, Rank, X, Policies...>& tensor) {
  number << tensor.name.c_str() << call_number_of<element_of<X>>(tensor.p, tensor.request).value();
  for (const std::size_t n : tensor.global) number << n;
}

/// What is wrong with the tensors of a checkpoint, as all workers see it. The name of each must be good and its own.
template <class Extents, std::size_t Rank, class X, class... Policies>
void check_tensor(const file_call& call, const named_tensor<Extents, Rank, X, Policies...>& tensor,
                  std::vector<std::string>& names) {
  text sentence;
  if (!is_tensor_name(tensor.name))
    call.refuse(file_trouble::kind::io, sentence << "requires names of 1 to 100 letters, digits, _, - and dots, not "
                                                    "beginning with a dot; got \""
                                                 << tensor.name.c_str() << "\"; choose another name")
        .raise();
  for (const std::string& other : names)
    if (other == tensor.name)
      call.refuse(file_trouble::kind::io, sentence << "requires a name of its own for each tensor; \""
                                                   << tensor.name.c_str() << "\" is given twice; choose another name")
          .raise();
  names.push_back(tensor.name);
  if (!(tensor.p.world() == call.everyone()))
    call.refuse(file_trouble::kind::partition, "requires partitions of one world; make all from the same world")
        .raise();
  check_target(call, tensor.p, tensor.global.data(), Rank, sizeof(element_of<X>));
}

}  // namespace detail

/// Saves tensors as FOLDER/step-N, which is there when all of it is on the disk, and not before. The options, if any,
/// come last: `checkpoint_options{.keep_last = 3}`.
/// Shapes:   each x is this worker's block, as in save_npy. All workers of the world call. One job at a time saves into
///           a folder: what a killed one left half-saved is removed.
/// Requires: a folder that exists or can be made, no such step in it [io_error]; names that files can have, each once
///           [io_error], on all workers alike; then the steps saved before are intact.
/// Cost:     that of save_npy for each tensor, a checksum over what each worker writes (some 9 GB/s), and 4 bytes for
///           each slab to one worker.
/// Adjoint:  none; load_checkpoint is the way back.
template <class First, class... Rest>
void save_checkpoint(const std::string& folder, std::uint64_t step, const First& first, const Rest&... rest) {
  using namespace detail;
  static_assert(is_named_tensor<First>,
                "partita::save_checkpoint(folder, step, tensors...): requires tensors made by named(name, p, extents, "
                "x), and checkpoint_options at most as the last argument");
  const auto all = std::tie(first, rest...);
  constexpr bool with_options =
      std::is_same_v<std::remove_cvref_t<std::tuple_element_t<sizeof...(Rest), decltype(all)>>, checkpoint_options>;
  constexpr std::size_t count = sizeof...(Rest) + (with_options ? 0 : 1);
  checkpoint_options options;
  if constexpr (with_options) options = std::get<count>(all);
  if (options.slab_bytes == 0) options.slab_bytes = 1;
  const auto for_tensors = [&](auto f) {
    [&]<std::size_t... K>(std::index_sequence<K...>) {
      static_assert((is_named_tensor<std::remove_cvref_t<std::tuple_element_t<K, decltype(all)>>> && ...),
                    "partita::save_checkpoint(folder, step, tensors...): requires tensors made by named(name, p, "
                    "extents, x), and checkpoint_options at most as the last argument");
      (f(std::get<K>(all)), ...);
    }(std::make_index_sequence<count>());
  };

  call_number number;
  number << step << options.keep_last << options.slab_bytes << options.files.page_bytes << options.files.owner_bytes;
  for_tensors([&](const auto& tensor) { add_to(number, tensor); });
  const file_call call(first.p.world(), 0,
                       text("partita::save_checkpoint(\"") << folder.c_str() << "\", " << step << ", " << count
                                                           << (count == 1 ? " tensor)" : " tensors)"),
                       number);
  call.common(0);
  std::vector<std::string> names;
  for_tensors([&](const auto& tensor) { check_tensor(call, tensor, names); });

  unwound([&] {
    const std::string path = folder + "/" + step_name(step);
    const std::string temporary = temporary_name(path, call.word_of(call.leader(), random_word() >> 1U));
    const char* const way_out = "check the folder; the checkpoints saved before are untouched";
    temporary_folder guard;  // the leader removes what it made, whatever happens
    file_trouble trouble;
    if (call.leads()) {
      int error = ::mkdir(folder.c_str(), 0777) == 0 || errno == EEXIST ? 0 : errno;
      const checkpoint_list there = error == 0 ? list_checkpoints(folder) : checkpoint_list{};
      if (error == 0) error = there.error;
      for (const std::string& name : there.leftovers)
        if (error == 0) error = remove_folder(folder + "/" + name);
      if (error == 0) error = guard.make(temporary);
      trouble = call.cannot("make", temporary, error, way_out);
      if (std::binary_search(there.steps.begin(), there.steps.end(), step))
        trouble = call.refuse(file_trouble::kind::io, text("requires a step that is not there yet; there is ")
                                                          << path.c_str() << "; remove it first, or save another step");
    }
    call.settle(trouble);

    manifest contents{step, options.slab_bytes, {}};
    for_tensors([&](const auto& tensor) {
      contents.tensors.push_back(write_tensor(call, temporary, tensor, options, trouble));
    });
    call.settle(trouble);

    if (call.leads()) {
      const bool sync = options.files.sync;
      int error = write_small_file(temporary + "/manifest.json", to_json(contents), sync);
      if (error == 0 && sync) error = sync_folder(temporary);
      if (error == 0) error = guard.rename_to(path);
      if (error == 0 && sync) error = sync_folder(folder);
      trouble = call.cannot("complete", path, error, way_out);
      if (error == 0 && options.keep_last > 0) {
        const std::vector<std::uint64_t> steps = list_checkpoints(folder).steps;
        for (std::size_t k = 0; k + options.keep_last < steps.size() && error == 0; ++k)
          if (steps[k] != step) error = remove_step(folder, steps[k]);
        trouble = call.cannot("remove old steps of", folder, error, "remove them yourself; the new one is saved");
      }
    }
    call.settle(trouble);
  });
}

}  // namespace partita
