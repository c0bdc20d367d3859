// Defines the functions that io/load_checkpoint.hpp declares.
#pragma once

#include <cstring>
#include <optional>
#include <partita/io/load_checkpoint.hpp>

namespace partita {

PARTITA_DEF const manifest_tensor* checkpoint::find(const std::string& name) const {
  const auto at = std::lower_bound(sorted_positions_.begin(), sorted_positions_.end(), name,
                                   [&](std::size_t k, const std::string& n) { return manifest_.tensors[k].name < n; });
  return at == sorted_positions_.end() || manifest_.tensors[*at].name != name ? nullptr : &manifest_.tensors[*at];
}

}  // namespace partita

namespace partita::detail {

/// The steps that are saved in a folder; the leader reads the folder and sends the steps to all workers. Empty if the
/// folder does not exist.
PARTITA_DECL std::vector<std::uint64_t> steps_on_all_workers(const file_call& call, const std::string& folder) {
  std::string bytes;
  file_error call_error;
  if (call.is_leader()) {
    const checkpoint_list list = list_checkpoints(folder);
    if (list.error != ENOENT) call_error = call.errno_error("read", folder, list.error, "check the name of the folder");
    bytes.resize(list.steps.size() * sizeof(std::uint64_t));
    if (!bytes.empty()) std::memcpy(bytes.data(), list.steps.data(), bytes.size());
  }
  call.throw_together(call_error);
  bytes = call.broadcast_bytes(call.leader(), bytes);
  std::vector<std::uint64_t> steps(bytes.size() / sizeof(std::uint64_t));
  if (!bytes.empty()) std::memcpy(steps.data(), bytes.data(), bytes.size());
  return steps;
}

/// Reads the manifest of step `wanted` (by default of the highest step) on the leader. Returns the text and an error.
PARTITA_DECL std::pair<std::string, file_error> read_manifest(const file_call& call, const std::string& folder,
                                                              const std::optional<std::uint64_t>& wanted) {
  constexpr std::size_t most = std::size_t{1} << 28U;  // chosen: the size of the checksums of 22 million slabs
  std::string json, path;
  std::uint64_t step = 0;
  int error = ENOENT;
  for (bool is_retry = false; error == ENOENT; is_retry = true) {  // another job may remove a step after it was listed
    const std::uint64_t before = step;
    const checkpoint_list list = wanted ? checkpoint_list{{*wanted}, {}, 0} : list_checkpoints(folder);
    if (list.error != 0 && list.error != ENOENT)
      return {json, call.errno_error("read", folder, list.error, "check the name of the folder")};
    if (list.steps.empty())
      return {json, call.make_error(file_error::kind::io,
                                    "requires a folder with a checkpoint that was saved whole, and there is none; ask "
                                    "checkpoint_steps first")};
    step = list.steps.back();
    if (is_retry && step == before) break;
    path = folder + "/" + step_folder_name(step);
    error = read_small_file(path + "/manifest.json", json, most);
  }
  if (error != 0) return {json, call.errno_error("read", path + "/manifest.json", error, "load a step that is there")};
  const manifest_found found = parse_manifest(json);
  text problem = found.error_message;
  if (problem.empty() && found.manifest.step != step)
    problem << "its manifest is that of step " << found.manifest.step << ": its folder was renamed, or its files moved";
  if (problem.empty()) return {json, {}};
  return {json,
          call.make_error(file_error::kind::io, text("requires a checkpoint that is as it was saved; of ")
                                                    << path.c_str() << ", " << problem << "; load an earlier step")};
}

/// Reads and verifies a manifest on the leader, and sends it to all workers. Collective.
PARTITA_DECL checkpoint open_checkpoint(const file_call& call, const std::string& folder,
                                        const std::optional<std::uint64_t>& wanted) {
  std::pair<std::string, file_error> read;
  if (call.is_leader()) read = read_manifest(call, folder, wanted);
  call.throw_together(read.second);
  manifest found = parse_manifest(call.broadcast_bytes(call.leader(), read.first)).manifest;
  return {call.everyone(), folder + "/" + step_folder_name(found.step), std::move(found)};
}

}  // namespace partita::detail

namespace partita {

PARTITA_DEF std::vector<std::uint64_t> checkpoint_steps(const std::string& folder, const world& everyone) {
  return detail::one_call(*everyone.state(), [&] {
    const detail::file_call call(everyone, 0, text("partita::checkpoint_steps(\"") << folder.c_str() << "\", world)",
                                 detail::argument_hash() << 4);
    call.all_and(0);
    return detail::steps_on_all_workers(call, folder);
  });
}

PARTITA_DEF checkpoint load_checkpoint(const std::string& folder, const world& everyone, std::uint64_t step) {
  return detail::one_call(*everyone.state(), [&] {
    const detail::file_call call(everyone, 0,
                                 text("partita::load_checkpoint(\"") << folder.c_str() << "\", world, " << step << ")",
                                 detail::argument_hash() << 5);
    call.all_and(0);
    return detail::open_checkpoint(call, folder, step);
  });
}

PARTITA_DEF checkpoint load_checkpoint(const std::string& folder, const world& everyone) {
  return detail::one_call(*everyone.state(), [&] {
    const detail::file_call call(everyone, 0, text("partita::load_checkpoint(\"") << folder.c_str() << "\", world)",
                                 detail::argument_hash() << 6);
    call.all_and(0);
    return detail::open_checkpoint(call, folder, std::nullopt);
  });
}

}  // namespace partita
