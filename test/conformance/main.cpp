// conformance DIR: holds the library against every record of the JSON files in DIR and below.
//
// Under mpirun the workers agree on each record and worker 0 reports. The last line is `N passed, N failed, N skipped`.
// With --if-present a DIR that does not exist is a skip (status 77) instead of an error.
#include "driver.hpp"

#include <algorithm>
#include <boost/mpi/collectives/all_reduce.hpp>
#include <boost/mpi/collectives/broadcast.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/mpi/environment.hpp>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "../support/closing_line.hpp"
#include "readers.hpp"

namespace {

using namespace conformance;
namespace mpi = boost::mpi;
using nlohmann::json;
using std::filesystem::path;

std::vector<path> json_files_below(const path& directory) {
  std::vector<path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    if (entry.is_regular_file() && entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

/// One outcome for each record, the worst of all workers', with the reason of the first worker that gives it.
void agree(const mpi::communicator& workers, std::vector<outcome>& outcomes, const std::string& file_name) {
  const auto mine = outcomes.size();
  const auto fewest = mpi::all_reduce(workers, mine, mpi::minimum<std::size_t>());
  const auto most = mpi::all_reduce(workers, mine, mpi::maximum<std::size_t>());
  outcomes.resize(fewest);
  std::vector<int> said(fewest), worst(fewest);
  for (std::size_t k = 0; k < fewest; ++k) said[k] = static_cast<int>(outcomes[k].said);
  mpi::all_reduce(workers, said.data(), static_cast<int>(fewest), worst.data(), mpi::maximum<int>());
  for (std::size_t k = 0; k < fewest; ++k) {
    if (worst[k] == static_cast<int>(verdict::passed)) continue;
    const int me = said[k] == worst[k] ? workers.rank() : workers.size();
    const int first = mpi::all_reduce(workers, me, mpi::minimum<int>());
    outcomes[k].said = static_cast<verdict>(worst[k]);
    mpi::broadcast(workers, outcomes[k].why, first);
    if (first > 0) outcomes[k].why += " (worker " + std::to_string(first) + ")";
  }
  if (fewest != most)
    outcomes.push_back({file_name, verdict::failed,
                        "a worker tallied " + std::to_string(fewest) + " records and another " + std::to_string(most)});
}

int run(const path& directory, const std::vector<reader>& readers, const mpi::communicator* workers) {
  const bool reports = workers == nullptr || workers->rank() == 0;
  std::size_t passed = 0, failed = 0, skipped = 0;
  for (const path& file : json_files_below(directory)) {
    const std::string name = file.filename().string();
    std::vector<outcome> outcomes;
    try {
      std::ifstream in(file);
      const json records = json::parse(in);
      const auto known =
          std::find_if(readers.begin(), readers.end(), [&](const reader& r) { return r.reads(records, name); });
      if (known == readers.end()) {
        outcomes.push_back({name, verdict::failed, "no reader knows this file"});
      } else {
        const bool together = workers != nullptr && known->needs_mpi(name);
        if (!together && !reports) continue;
        tally result;
        known->run(records, name, result);
        outcomes = std::move(result.outcomes);
        if (together) agree(*workers, outcomes, name);
        if (outcomes.empty()) outcomes.push_back({name, verdict::failed, "holds no record"});
      }
    } catch (const std::exception& problem) {
      if (workers != nullptr && workers->size() > 1) {  // the others may wait for this one
        std::cerr << name << ": " << problem.what() << std::endl;
        mpi::environment::abort(1);
      }
      outcomes.push_back({name, verdict::failed, problem.what()});
    }
    if (!reports) continue;
    std::size_t counts[3] = {};
    for (const auto& [id, said, why] : outcomes) {
      ++counts[static_cast<std::size_t>(said)];
      if (said != verdict::passed)
        std::cout << (said == verdict::failed ? "failed: " : "skipped: ") << id << ": " << why << '\n';
    }
    std::cout << name << ": " << counts[0] << " passed, " << counts[2] << " failed, " << counts[1] << " skipped"
              << std::endl;
    passed += counts[0];
    skipped += counts[1];
    failed += counts[2];
  }
  if (!reports) return 0;
  test::write_closing_line(std::cout, passed, failed, skipped);
  return failed > 0 || passed == 0 ? 1 : 0;
}

bool started_by_mpirun() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool if_present = std::erase(arguments, "--if-present") > 0;
  if (arguments.size() != 1) {
    std::cerr << "usage: conformance [--if-present] DIR\n";
    return 2;
  }
  const path directory = arguments.front();
  const bool present = std::filesystem::is_directory(directory);
  const std::vector<reader> readers = all_readers();
  bool communicates = started_by_mpirun();
  if (present)
    for (const path& file : json_files_below(directory))
      for (const reader& r : readers) communicates = communicates || r.needs_mpi(file.filename().string());

  std::optional<mpi::environment> environment;
  std::optional<mpi::communicator> workers;
  if (communicates) {
    environment.emplace(argc, argv, mpi::threading::multiple);
    workers.emplace();
  }
  int status = if_present ? 77 : 2;
  if (present) {
    status = run(directory, readers, workers ? &*workers : nullptr);
    if (workers) mpi::broadcast(*workers, status, 0);  // also: no worker ends before the closing line is written
  } else if (!workers || workers->rank() == 0) {
    (if_present ? std::cout : std::cerr) << "there is no directory " << directory.string() << std::endl;
  }
  return status;
}
