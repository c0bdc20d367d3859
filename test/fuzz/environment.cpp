// Any values of the environment: a number in its range, and a text that stands in JSON whatever it was.
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <partita/comm/detail/diagnostics/json_text.hpp>
#include <partita/comm/detail/world/environment.hpp>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t n) {
  using namespace partita::detail;
  const std::string said(bytes, bytes + n);
  const char* const value = said.c_str();
  if (parse_node_count(value) < 1 || parse_node_count(nullptr) != 1 || !parse_sharing(nullptr)) std::abort();
  if (parse_sharing(value) && parse_free_bytes(value) == 0 && parse_node_count(value) > 1) std::abort();
  const double patience = parse_patience(value);
  if (!std::isfinite(patience) || patience < 0) std::abort();
  const node_link_settings link(value);
  if (link.given && !(link.latency > 0 && link.message > 0 && link.byte > 0 && link.eager_bytes > 0)) std::abort();
  if (node_link_settings(nullptr).given) std::abort();
  const std::string quoted = json_escaped(said);
  const auto read = nlohmann::json::parse("\"" + quoted + "\"");  // throws if it is none
  if (json_escaped(read.get<std::string>()) != quoted) std::abort();
  return 0;
}
