// Limits on the resources of this process, such as the size of its files, which stands for a full disk.
#pragma once

#include <sys/resource.h>
#include <csignal>

namespace test {

/// Sets a resource limit of this process during its lifetime.
class resource_limit {
 public:
  resource_limit(__rlimit_resource what, rlim_t most) : what_(what) {
    ::getrlimit(what, &before_);
    const rlimit few{most, before_.rlim_max};
    ::setrlimit(what, &few);
  }
  resource_limit(const resource_limit&) = delete;
  resource_limit& operator=(const resource_limit&) = delete;
  ~resource_limit() { ::setrlimit(what_, &before_); }

 private:
  __rlimit_resource what_;
  rlimit before_{};
};

/// During its lifetime, this process cannot write files larger than the given bytes, and handles SIGXFSZ as given.
class file_size_limit {
 public:
  using handler = void (*)(int);

  explicit file_size_limit(rlim_t bytes, handler on_signal = SIG_DFL)
      : handler_(std::signal(SIGXFSZ, on_signal)), limit_(RLIMIT_FSIZE, bytes) {}
  file_size_limit(const file_size_limit&) = delete;
  file_size_limit& operator=(const file_size_limit&) = delete;
  ~file_size_limit() { std::signal(SIGXFSZ, handler_); }

 private:
  handler handler_;
  resource_limit limit_;
};

}  // namespace test
