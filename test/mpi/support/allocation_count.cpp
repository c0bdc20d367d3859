// The program's own operator new stands before the standard library's, counts, and asks malloc.
#include "allocation_count.hpp"

#include <cstdlib>
#include <new>

namespace {
std::size_t count = 0;
}

namespace test {
std::size_t allocations() { return count; }
}  // namespace test

[[gnu::noinline]] void* operator new(std::size_t n) {
  ++count;
  if (void* p = std::malloc(n == 0 ? 1 : n)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  ++count;
  if (void* p = std::aligned_alloc(static_cast<std::size_t>(a), n)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
