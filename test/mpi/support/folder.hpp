// A folder that all workers of a test share. It is removed with its object.
#pragma once

#include <boost/mpi/collectives.hpp>
#include <boost/mpi/communicator.hpp>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>

#include "file_bytes.hpp"

namespace test {

class folder {
 public:
  explicit folder(const boost::mpi::communicator& everyone) : everyone_(everyone) {
    char name[] = "/tmp/partita_test_XXXXXX";
    if (everyone_.rank() == 0 && mkdtemp(name) == nullptr) std::abort();
    boost::mpi::broadcast(everyone_, name, sizeof name, 0);
    name_ = name;
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() {
    everyone_.barrier();
    std::error_code ignored;
    if (everyone_.rank() == 0) std::filesystem::remove_all(name_, ignored);
  }

  std::string operator/(const std::string& name) const { return name_ + "/" + name; }
  /// The number of entries of the folder. Collective; the result is the same on all workers.
  std::size_t names() const {
    everyone_.barrier();
    const auto n = static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(name_), std::filesystem::directory_iterator()));
    everyone_.barrier();
    return n;
  }

 private:
  boost::mpi::communicator everyone_;
  std::string name_;
};

}  // namespace test
