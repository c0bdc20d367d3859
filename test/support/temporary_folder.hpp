// An empty folder of one process.
#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace test {

/// An empty folder. Its destructor removes it with its files.
class temporary_folder {
 public:
  temporary_folder() {
    char name[] = "/tmp/partita_unit_XXXXXX";
    BOOST_REQUIRE(::mkdtemp(name) != nullptr);
    path_ = name;
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace test
