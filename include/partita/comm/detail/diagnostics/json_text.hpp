// Writes texts of arbitrary bytes as JSON strings.
#pragma once

#include <partita/core/config.hpp>
#include <string>
#include <string_view>

namespace partita::detail {

/// A text for use between JSON quotes. The text may be any bytes, for example names of files and jobs; bytes that are
/// not valid UTF-8 are replaced by '?'.
PARTITA_DECL std::string json_escaped(std::string_view utf8_text);

}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/comm/detail/diagnostics/impl/json_text.ipp>
#endif
