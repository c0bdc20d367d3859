// Replaces cblas_dgemm by one that calls the watch and passes the call on.
#include "product_watch.hpp"

#include <dlfcn.h>

test::product_watch& test::watched_products() {
  static product_watch watch;
  return watch;
}

// The C++ name differs, but the symbol is cblas_dgemm: the enumerations in cblas.h differ between BLAS libraries, but
// all pass them as an int.
extern "C" void watched_product(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha,
                                const double* a, int lda, const double* b, int ldb, double beta, double* c,
                                int ldc) __asm__("cblas_dgemm");

extern "C" void watched_product(int order, int transpose_a, int transpose_b, int m, int n, int k, double alpha,
                                const double* a, int lda, const double* b, int ldb, double beta, double* c, int ldc) {
  using function = decltype(&watched_product);
  static const auto next = reinterpret_cast<function>(dlsym(RTLD_NEXT, "cblas_dgemm"));
  const test::product_watch& watch = test::watched_products();
  if (watch.before) watch.before();
  next(order, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if (watch.after) watch.after();
}
