// Any texts as the entries of a layout: a sharding that says so again, or an error message.
#include <cstdlib>
#include <partita/rule/sharding/rules.hpp>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t n) {
  using namespace partita;
  const std::string all(bytes, bytes + n);
  auto line = [&, at = std::size_t{0}]() mutable {
    const std::size_t end = all.find('\n', at);
    const std::string part = at < all.size() ? all.substr(at, end == std::string::npos ? end : end - at) : "";
    at = end == std::string::npos ? all.size() : end + 1;
    return part;
  };
  try {
    const std::string first = line(), second = line(), a = line(), b = line();
    const mesh m{axis{first.c_str(), 2}, axis{second.c_str(), 3}, axis{"z", 4}};
    const sharding s = m.layout(a.c_str(), b.c_str());
    if (s.rank() != 2 || !(s == m.layout(a.c_str(), b.c_str()))) std::abort();
    text written;
    written << s;
    if (written.empty()) std::abort();
  } catch (const error& e) {
    if (e.sentence().empty()) std::abort();
  }
  return 0;
}
