// Sets an environment variable during the lifetime of an object. No other thread may read the environment meanwhile.
#pragma once

#include <cstdlib>
#include <string>

namespace test {

/// `const pretended nodes("PARTITA_NODES", "2");`
class pretended {
 public:
  pretended(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) previous_value_ = before, was_set_ = true;
    ::setenv(name, value, 1);
  }
  pretended(const pretended&) = delete;
  pretended& operator=(const pretended&) = delete;
  ~pretended() {
    if (was_set_) ::setenv(name_, previous_value_.c_str(), 1);
    else ::unsetenv(name_);
  }

 private:
  const char* name_;
  std::string previous_value_;
  bool was_set_ = false;
};

}  // namespace test
