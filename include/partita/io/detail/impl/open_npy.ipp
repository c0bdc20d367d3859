// Defines the functions that io/detail/open_npy.hpp declares.
#pragma once

#include <partita/io/detail/open_npy.hpp>

namespace partita::detail {

PARTITA_DEF npy_prefix read_npy_prefix(const file_call& call, common_file& source) {
  npy_prefix prefix;
  const std::string& path = source.path();
  const char* const error_advice = "check the name, and that this worker may read it";
  std::size_t bytes = 0;
  int error = source.open();
  if (error == 0) error = source.file().size(bytes);
  prefix.bytes.resize(bytes < npy_header_limit ? bytes : npy_header_limit);
  if (error == 0) error = source.file().read(prefix.bytes.data(), prefix.bytes.size(), 0);
  prefix.call_error = call.errno_error("read", path, error, error_advice);
  if (error != 0) return prefix;
  const npy_header_found found =
      parse_npy_header(reinterpret_cast<const unsigned char*>(prefix.bytes.data()), prefix.bytes.size());
  if (!found.error_message.empty()) {
    prefix.call_error = call.make_error(
        file_error::kind::io, (text("requires a .npy file; of ") << path.c_str() << ", " << found.error_message));
    return prefix;
  }
  prefix.header = found.header;
  prefix.bytes.resize(found.header.data_at);
  if (bytes < found.header.data_at + found.header.data_bytes)
    prefix.call_error = call.make_error(
        file_error::kind::io, text("requires a whole file; the header of ")
                                  << path.c_str() << " promises " << found.header.data_at + found.header.data_bytes
                                  << " bytes, and there are " << bytes << "; copy it again from where it came");
  return prefix;
}

}  // namespace partita::detail
