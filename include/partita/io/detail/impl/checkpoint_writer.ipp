// Defines the functions that io/detail/checkpoint_writer.hpp declares.
#pragma once

#include <algorithm>
#include <partita/io/detail/checkpoint_writer.hpp>

namespace partita::detail {

PARTITA_DEF checkpoint_writer::checkpoint_writer(const file_call& call, std::string folder, std::uint64_t step,
                                                 const checkpoint_options& options)
    : call_(call), folder_(std::move(folder)), step_(step), options_(options) {
  if (options_.slab_bytes == 0) options_.slab_bytes = 1;
}

PARTITA_DEF void checkpoint_writer::begin() {
  const std::string path = folder_ + "/" + step_folder_name(step_);
  constexpr int most = 100;  // chosen: another job may remove a new folder in the moment before it is locked
  std::uint64_t word = 0;
  file_error call_error;
  if (call_.is_leader()) {
    int error = ::mkdir(folder_.c_str(), 0777) == 0 || errno == EEXIST ? 0 : errno;
    const checkpoint_list there = error == 0 ? list_checkpoints(folder_) : checkpoint_list{};
    if (error == 0) error = there.error;
    // Remove the temporary folders of jobs that were killed.
    for (const std::string& name : there.leftover_names)
      if (error == 0) error = remove_leftover(folder_ + "/" + name);
    // Make a folder with a random name; try another name if a job has taken it.
    for (int trial = 0; trial < most && (trial == 0 || error == EAGAIN || error == EEXIST); ++trial) {
      if (trial == 0 && error != 0) break;
      word = random_word();
      error = folder_guard_.make(temporary_name(path, word));
    }
    call_error = call_.errno_error("make", temporary_name(path, word), error, error_advice);
    if (std::binary_search(there.steps.begin(), there.steps.end(), step_)) call_error = step_exists_error(path);
  }
  call_.throw_together(call_error);
  temporary_path_ = temporary_name(path, call_.broadcast_from_leader(word)[0]);
}

PARTITA_DEF void checkpoint_writer::write() noexcept {
  for (const auto& file : files_) {
    if (!call_error_.empty()) return;
    try {
      call_error_ = call_.errno_error("write", temporary_path_ + "/" + file->name() + ".npy",
                                      file->write(temporary_path_, options_),
                                      "free some space; the checkpoints saved before are untouched");
    } catch (const std::exception& e) {
      call_error_ = call_.make_error(file_error::kind::io, text("cannot write: ") << e.what());
    }
  }
}

PARTITA_DEF void checkpoint_writer::end() {
  one_call(*call_.everyone().state(), [&] {
    // 1. Throw on all workers if one of them could not write its part.
    call_.throw_together(call_error_);
    manifest contents{step_, options_.slab_bytes, {}};
    // 2. Send the checksums of all files to the leader.
    for (const auto& file : files_) contents.tensors.push_back(file->finish_file(call_, options_));
    const std::string path = folder_ + "/" + step_folder_name(step_);
    file_error call_error;
    if (call_.is_leader()) {
      // 3. On the leader, check the sizes of the files, write the manifest, and rename the folder to the name of the
      // step.
      const bool sync = options_.files.sync;
      int error = 0;
      for (const manifest_tensor& tensor : contents.tensors)
        if (error == 0 && !is_whole_file(temporary_path_ + "/" + tensor.name + ".npy", tensor.bytes))
          error = end_of_file;
      if (error == 0) error = write_small_file(temporary_path_ + "/manifest.json", to_json(contents), sync);
      if (error == 0 && sync) error = sync_folder(temporary_path_);
      if (error == 0) error = folder_guard_.rename_to(path);
      if (error == 0 && sync) error = sync_folder(folder_);
      call_error = error == ENOTEMPTY || error == EEXIST ? step_exists_error(path)
                                                         : call_.errno_error("complete", path, error, error_advice);
      // 4. On the leader, remove the lowest steps, so that `keep_last` steps remain.
      if (error == 0 && options_.keep_last > 0) {
        const std::vector<std::uint64_t> steps = list_checkpoints(folder_).steps;
        for (std::size_t k = 0; k + options_.keep_last < steps.size() && error == 0; ++k)
          if (steps[k] != step_) error = remove_step(folder_, steps[k]);
        call_error =
            call_.errno_error("remove old steps of", folder_, error, "remove them yourself; the new one is saved");
      }
    }
    call_.throw_together(call_error);
  });
}

PARTITA_DEF file_error checkpoint_writer::step_exists_error(const std::string& path) const {
  return call_.make_error(file_error::kind::io, text("requires a step that is not there yet; there is ")
                                                    << path.c_str() << "; remove it first, or save another step");
}

}  // namespace partita::detail
