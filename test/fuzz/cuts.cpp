// Any numbers as a cut: parts that hold every index once, or a shape_error.
#include <cstdlib>
#include <cstring>
#include <partita/plan/cut.hpp>
#include <vector>

namespace {

using partita::cut;

void look_at(const cut& c) {
  std::size_t held = 0;
  for (std::size_t k = 0; k < c.parts(); ++k) {
    std::size_t in_pieces = 0;
    if (c.extent() < 100'000)  // else block-cyclic ones have too many pieces to go through
      c.for_pieces(k, [&](const auto& piece, std::size_t) {
        if (piece.stop > c.extent()) std::abort();
        in_pieces += piece.size();
      });
    else in_pieces = c.size(k);
    if (in_pieces != c.size(k)) std::abort();
    held += in_pieces;
  }
  if (held != c.extent()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t n) {
  if (n < 2) return 0;
  std::vector<std::size_t> numbers((n - 1) / 8);
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes + 1, 8 * numbers.size());
  if (numbers.size() > 64) numbers.resize(64);
  const std::size_t first = numbers.empty() ? bytes[1] : numbers[0], parts = numbers.size() < 2 ? 3 : numbers[1] % 1000;
  try {
    switch (bytes[0] % 4) {
      case 0:
        look_at(cut::at(numbers));
        break;
      case 1:
        look_at(cut::balanced(first, parts));
        break;
      case 2:
        look_at(cut::block_cyclic(first, parts, numbers.size() < 3 ? bytes[1] % 7 : numbers[2]));
        break;
      default:
        look_at(cut::nested(first, {parts % 10, 1 + parts / 100}));
        break;
    }
  } catch (const partita::shape_error& e) {
    if (e.sentence().empty()) std::abort();
  }
  return 0;
}
