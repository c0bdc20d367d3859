// Defines the functions that io/detail/open_npy.hpp declares.
#pragma once

#include <partita/io/detail/open_npy.hpp>

namespace partita::detail {

PARTITA_DEF npy_header_or_error read_npy_header(const file_call& call, common_file& source) {
  npy_header_or_error result;
  std::string front;
  const std::string& path = source.path();
  const char* const error_advice = "check the name, and that this worker may read it";
  std::size_t bytes = 0;
  int error = source.open();
  if (error == 0) error = source.file().size(bytes);
  front.resize(bytes < npy_header_limit ? bytes : npy_header_limit);
  if (error == 0) error = source.file().read(front.data(), front.size(), 0);
  result.call_error = call.errno_error("read", path, error, error_advice);
  if (error != 0) return result;
  const npy_header_found found = parse_npy_header(reinterpret_cast<const unsigned char*>(front.data()), front.size());
  if (!found.error_message.empty()) {
    result.call_error = call.make_error(
        file_error::kind::io, (text("requires a .npy file; of ") << path.c_str() << ", " << found.error_message));
    return result;
  }
  result.header = found.header;
  if (bytes < found.header.data_at + found.header.data_bytes)
    result.call_error = call.make_error(
        file_error::kind::io, text("requires a whole file; the header of ")
                                  << path.c_str() << " promises " << found.header.data_at + found.header.data_bytes
                                  << " bytes, and there are " << bytes << "; copy it again from where it came");
  return result;
}

}  // namespace partita::detail
