// Replaces operator new of the standard library by one that counts its calls and uses malloc.
#include "allocation_count.hpp"

#include <cstdlib>
#include <new>

namespace {
std::size_t count = 0, most = 0;

void note(std::size_t n) {
  ++count;
  most = n > most ? n : most;
}
}  // namespace

namespace test {
std::size_t allocations() { return count; }
std::size_t largest_allocation() {
  const std::size_t n = most;
  most = 0;
  return n;
}
}  // namespace test

// std::stable_sort uses this one
[[gnu::noinline]] void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  note(n);
  return std::malloc(n == 0 ? 1 : n);
}
[[gnu::noinline]] void* operator new(std::size_t n) {
  if (void* p = ::operator new(n, std::nothrow)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t n, std::align_val_t a) {
  note(n);
  const auto unit = static_cast<std::size_t>(a);
  // a multiple of the alignment, as the standard requires
  if (void* p = std::aligned_alloc(unit, (n + unit - 1) / unit * unit)) return p;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
