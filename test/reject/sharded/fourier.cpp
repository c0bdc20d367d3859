// Transforms of elements or dimensions that they do not have are compile-time errors.
//
// first COMPLEX_OF_REAL: partita::fft\(z, dimensions<...>\): requires complex elements and dimensions that z has
// lines COMPLEX_OF_REAL: 12
// first INVERSE_OF_REAL: partita::ifft\(z, dimensions<...>\): requires complex elements and dimensions that z has
// lines INVERSE_OF_REAL: 12
// first DIMENSION: partita::fft\(z, dimensions<...>\): requires complex elements and dimensions that z has, each once
// lines DIMENSION: 12
// first TWICE: partita::ifft\(z, dimensions<...>\): requires complex elements and dimensions that z has, each once
// lines TWICE: 12
// first HALF_OF_COMPLEX: partita::rfft\(x, dimensions<...>\): requires real elements and dimensions that x has
// lines HALF_OF_COMPLEX: 12
// first REAL_OF_REAL: partita::irfft\(y, dimensions<...>, n\): requires complex elements and dimensions that y has
// lines REAL_OF_REAL: 12
// first COSINE_OF_COMPLEX: partita::dct, idct, dst, idst\(x, dimensions<...>\): requires elements of float
// lines COSINE_OF_COMPLEX: 12
// first COMPLEX_PROGRAM: partita::rfft\(x, dimensions<...>\): requires real elements and dimensions that x has
// lines COMPLEX_PROGRAM: 12
// first MIXED_PROGRAM: partita: requires operands of one element type, but some are real and some are complex
// lines MIXED_PROGRAM: 13
// first RESIZED_REAL: partita::resize_spectrum\(z, dimensions<...>, points...\): requires complex elements and
// lines RESIZED_REAL: 12
// first RESIZED_TWICE: partita::resize_half_spectrum\(y, dimensions<...>, n, points...\): requires complex elements
// lines RESIZED_TWICE: 12
// first SHIFTED: partita::fftshift\(x, dimensions<...>\): requires dimensions that x has, each once
// lines SHIFTED: 12
// first SHIFTED_BACK: partita::ifftshift\(x, dimensions<...>\): requires dimensions that x has, each once
// lines SHIFTED_BACK: 12
#include <partita/sharded/fourier.hpp>

using namespace partita;

constexpr mesh m{axis{"a", 2}};

void calls(const world& everyone, const xt::xtensor<std::complex<double>, 2>& z, const traced& t) {
  const auto Z = shard<m.layout("a", "")>(everyone, z);
  const auto X = partita::real(Z);
  auto accepted = irfft(rfft(X, dimensions<0, 1>), dimensions<0, 1>, 4);
  auto doubled = add(fft(Z, dimensions<0>), ifft(Z, dimensions<1>));
  auto twice = add(t, t);
#if defined(COMPLEX_OF_REAL)
  auto refused = fft(X, dimensions<0>);
#elif defined(INVERSE_OF_REAL)
  auto refused = ifft(X, dimensions<0>);
#elif defined(DIMENSION)
  auto refused = fft(Z, dimensions<2>);
#elif defined(TWICE)
  auto refused = ifft(Z, dimensions<1, 1>);
#elif defined(HALF_OF_COMPLEX)
  auto refused = rfft(Z, dimensions<0>);
#elif defined(REAL_OF_REAL)
  auto refused = irfft(X, dimensions<0>, 4);
#elif defined(COSINE_OF_COMPLEX)
  auto refused = dct(Z, dimensions<0>);
#elif defined(COMPLEX_PROGRAM)
  auto refused = rfft(rfft(t, dimensions<0>), dimensions<0>);
#elif defined(MIXED_PROGRAM)
  auto refused = multiply(t, rfft(t, dimensions<0>));
#elif defined(RESIZED_REAL)
  auto refused = resize_spectrum(X, dimensions<0>, 4);
#elif defined(RESIZED_TWICE)
  auto refused = resize_half_spectrum(Z, dimensions<1, 1>, 4, 6, 6);
#elif defined(SHIFTED)
  auto refused = fftshift(Z, dimensions<2>);
#elif defined(SHIFTED_BACK)
  auto refused = ifftshift(Z, dimensions<0, 0>);
#endif
}
