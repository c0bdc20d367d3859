// Any text as a manifest whose checksum is right: one that comes back as it was read, or an error message.
#include <cstdlib>
#include <partita/io/manifest.hpp>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t n) {
  using namespace partita;
  const std::string body(bytes, bytes + n);
  const manifest_found found = parse_manifest(body + detail::manifest_seal(body.data(), n));
  if (!found.error_message.empty()) return 0;
  for (const manifest_tensor& t : found.manifest.tensors)
    if (!is_tensor_name(t.name)) std::abort();
  const std::string again = to_json(found.manifest);
  const manifest_found other = parse_manifest(again);
  if (!other.error_message.empty() || !(other.manifest == found.manifest)) std::abort();
  return 0;
}
