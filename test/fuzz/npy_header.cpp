// Any bytes as the beginning of a .npy file: a header that is true to itself, or an error message.
#include <cstdlib>
#include <partita/io/npy_header.hpp>

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t n) {
  using namespace partita;
  const npy_header_found found = parse_npy_header(bytes, n);
  if (!found.error_message.empty()) return 0;
  const npy_header& h = found.header;
  if (h.data_at > n || h.rank > npy_header::most_dimensions) std::abort();
  const std::string again =
      make_npy_header(npy_type_text(h.byte_order, h.kind, h.item_bytes), h.fortran_order, h.extents.data(), h.rank);
  npy_header_found other = parse_npy_header(reinterpret_cast<const unsigned char*>(again.data()), again.size());
  other.header.data_at = h.data_at;  // written with other spaces
  if (!other.error_message.empty() || !(other.header == h)) std::abort();
  return 0;
}
