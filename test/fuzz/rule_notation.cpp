// Any text as a rule: one that is written as it can be read again, or a shape_error.
#include <cstdlib>
#include <partita/rule/sharding/rules.hpp>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t n) {
  using namespace partita;
  const std::string notation(bytes, bytes + n);
  try {
    const rule read(notation.c_str());
    text written, again;
    written << read;
    if (written.size() == text::capacity()) return 0;  // cut off
    again << rule(written.c_str());
    if (!(written == again)) std::abort();
  } catch (const shape_error& e) {
    if (e.sentence().empty()) std::abort();
  }
  return 0;
}
