// Records of what other systems do, and the readers that hold the library against them.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace conformance {

/// The order is that of agreement: what one worker says is worse than what another says if it is later here.
enum class verdict { passed, skipped, failed };

/// One record's outcome on this worker.
struct outcome {
  std::string id;
  verdict said;
  std::string why;
};

/// What a reader reports to: one verdict for each record, with a reason unless it passed.
struct tally {
  std::size_t passed = 0, failed = 0, skipped = 0;
  std::vector<outcome> outcomes;

  void pass(const std::string& id) { add(id, verdict::passed, {}), ++passed; }
  void fail(const std::string& id, const std::string& why) { add(id, verdict::failed, why), ++failed; }
  void skip(const std::string& id, const std::string& why) { add(id, verdict::skipped, why), ++skipped; }

 private:
  void add(const std::string& id, verdict said, const std::string& why) { outcomes.push_back({id, said, why}); }
};

/// Knows one corpus. `run` tallies every record of a file that `reads` accepts.
///
/// A reader that communicates sets `needs_mpi`. Where that is true of a file, every worker runs the file, must tally
/// the same records in the same order, and must not throw; a record passes if it passed on all workers. Other files are
/// run by worker 0 alone.
struct reader {
  bool (*reads)(const nlohmann::json& file, const std::string& file_name);
  void (*run)(const nlohmann::json& file, const std::string& file_name, tally& result);
  bool (*needs_mpi)(const std::string& file_name) = [](const std::string&) { return false; };
};

}  // namespace conformance
