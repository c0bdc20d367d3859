// Defines the functions that io/matrix_market.hpp declares.
#pragma once

#include <charconv>
#include <cmath>
#include <partita/io/matrix_market.hpp>
#include <string_view>

namespace partita::detail {

/// Reads the words of a line of text, one after the other.
class market_line {
 public:
  explicit market_line(std::string_view line) : unread_text_(line) {}

  std::string_view next_word() {  ///< returns the next word; empty at the end of the line
    const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
    while (!unread_text_.empty() && is_space(unread_text_.front())) unread_text_.remove_prefix(1);
    std::size_t n = 0;
    while (n < unread_text_.size() && !is_space(unread_text_[n])) ++n;
    const std::string_view found = unread_text_.substr(0, n);
    unread_text_.remove_prefix(n);
    return found;
  }
  std::string next_word_in_lower_case() {  ///< returns next_word() in lower case
    std::string lower(next_word());
    for (char& c : lower)
      if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lower;
  }
  /// Reads the next word of a line as a number. Returns whether the whole word is a number.
  template <class Number>
  bool read_number(Number& value) {
    std::string_view digits = next_word();
    if (digits.size() > 1 && digits[0] == '+' && digits[1] != '-') digits.remove_prefix(1);
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, value);
    return read.ec == std::errc() && read.ptr == end;
  }
  bool is_at_end() { return next_word().empty(); }  ///< whether no word is left; skips the next word, if any

 private:
  std::string_view unread_text_;  ///< the rest of the line
};

PARTITA_DEF market_header parse_market_header(const std::string& bytes, bool is_whole) {
  market_header found;
  std::size_t at = 0;
  for (bool first = true; at < bytes.size(); first = false) {
    const std::size_t end = bytes.find('\n', at);
    if (end == std::string::npos && !is_whole) return found;
    const std::size_t next = end == std::string::npos ? bytes.size() : end + 1;
    const std::string_view whole(bytes.data() + at, next - at);
    market_line line(whole);
    at = next;
    if (first) {
      const std::string banner = line.next_word_in_lower_case(), object = line.next_word_in_lower_case(),
                        format = line.next_word_in_lower_case(), field = line.next_word_in_lower_case(),
                        kind = line.next_word_in_lower_case();
      if (banner != "%%matrixmarket" || object != "matrix")
        found.error_message << "does not begin with %%MatrixMarket matrix";
      else if (format != "coordinate") found.error_message << "holds a dense matrix and not one in coordinate format";
      else if (field != "real" && field != "integer" && field != "pattern")
        found.error_message << "holds numbers that are none of real, integer and pattern";
      else if (kind != "general" && kind != "symmetric" && kind != "skew-symmetric")
        found.error_message << "holds a matrix that is none of general, symmetric and skew-symmetric";
      if (!found.error_message.empty()) return found;
      found.has_no_values = field == "pattern";
      found.kind = kind == "general"     ? market_header::symmetry::general
                   : kind == "symmetric" ? market_header::symmetry::symmetric
                                         : market_header::symmetry::skew;
      continue;
    }
    if (whole[0] == '%' || market_line(whole).is_at_end()) continue;
    if (!line.read_number(found.rows) || !line.read_number(found.columns) || !line.read_number(found.entries) ||
        !line.is_at_end())
      found.error_message << "has a line of sizes that is not three whole numbers";
    else if (found.kind != market_header::symmetry::general && found.rows != found.columns)
      found.error_message << "holds a symmetric matrix that is not square, " << found.rows << " x " << found.columns;
    else found.data_at = at;
    return found;
  }
  if (is_whole) found.error_message << "ends before its line of sizes";
  return found;
}

PARTITA_DEF text parse_market_entries(const market_header& header, const std::string& lines,
                                      std::vector<triplet<double>>& entries, std::size_t& count) {
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size() - 1);
    const std::string_view whole(lines.data() + at, end + 1 - at);
    at = end + 1;
    if (market_line(whole).is_at_end()) continue;
    market_line line(whole);
    const auto wrong = [&](const char* what) {
      const std::size_t shown = std::min<std::size_t>(whole.find_last_not_of(" \t\r\n") + 1, 60);
      return text("has a line \"") << std::string(whole.substr(0, shown)).c_str() << "\", which " << what;
    };
    triplet<double> entry{0, 0, 1.0};
    if (!line.read_number(entry.row) || !line.read_number(entry.column) ||
        !(header.has_no_values || line.read_number(entry.value)) || !line.is_at_end())
      return wrong(header.has_no_values ? "is not a row and a column" : "is not a row, a column and a value");
    if (entry.row == 0 || entry.row > header.rows || entry.column == 0 || entry.column > header.columns)
      return wrong("is no place of the matrix; rows and columns are counted from 1");
    const bool is_skew = header.kind == market_header::symmetry::skew;
    if (header.kind != market_header::symmetry::general &&
        (entry.row < entry.column || (is_skew && entry.row == entry.column)))
      return wrong(is_skew ? "is not below the diagonal" : "is above the diagonal");
    --entry.row, --entry.column, ++count;
    entries.push_back(entry);
    if (header.kind != market_header::symmetry::general && entry.row != entry.column)
      entries.push_back({entry.column, entry.row, is_skew ? -entry.value : entry.value});
  }
  return {};
}

PARTITA_DEF market_entries read_market(const file_call& call, const std::string& path) {
  constexpr std::size_t piece = 4096;  // chosen: longer than most comments and lines
  const auto wrong = [&](const text& problem) {
    return call.make_error(file_error::kind::io, text("requires a whole Matrix Market file of a sparse matrix; ")
                                                     << path.c_str() << " " << problem << "; write it again");
  };
  call.all_and(0);
  return read_unchanged_file(call, path, [&](common_file& source, bool) -> std::optional<market_entries> {
    // 1. On the leader, read the first lines. Send the header in these lines to all workers.
    market_entries part;
    market_header& h = part.header;
    file_error call_error;
    std::size_t bytes = 0;
    int error = 0;
    if (call.is_leader()) {
      error = source.open();
      if (error == 0) error = source.file().size(bytes);
      std::string front;
      bool is_whole = false;
      while (error == 0 && h.data_at == 0 && h.error_message.empty() && !is_whole) {
        const std::size_t n = std::min(bytes, 2 * front.size() + piece), had = front.size();
        front.resize(n);
        error = source.file().read(front.data() + had, n - had, had);
        is_whole = n == bytes;
        if (error == 0) h = parse_market_header(front, is_whole);
      }
      call_error = call.errno_error("read", path, error, "check the name, and that this worker may read it");
      if (error == 0 && !h.error_message.empty()) call_error = wrong(h.error_message);
    }
    call.throw_together(call_error);
    source.agree_on_version();
    const auto all =
        call.broadcast_from_leader(h.rows, h.columns, h.entries, h.data_at, bytes, h.kind, h.has_no_values);
    h.rows = all[0], h.columns = all[1], h.entries = all[2], h.data_at = all[3], bytes = all[4];
    h.kind = static_cast<market_header::symmetry>(all[5]), h.has_no_values = all[6] != 0;
    // 2. Read the lines that begin in this worker's range of bytes. The last of these lines may end behind the range.
    error = source.open();
    if (!source.is_same_on_all(call.errno_error("read", path, error, "all workers must see the same file")))
      return std::nullopt;
    const interval mine = balanced_part(bytes - h.data_at, call.everyone().size(), call.everyone().id());
    std::string lines;
    std::size_t count = 0;
    if (mine.size() > 0) {
      const std::size_t before = mine.start == 0 ? 0 : 1;  // also read the byte before: it may end a line
      std::size_t at = h.data_at + mine.start - before;
      lines.resize(mine.size() + before);
      error = source.file().read(lines.data(), lines.size(), at);
      at += lines.size();
      const std::size_t begin = before == 0 ? 0 : std::min(lines.find('\n'), lines.size() - 1) + 1;
      lines.erase(0, begin);
      while (error == 0 && !lines.empty() && lines.back() != '\n' && at < bytes) {
        char more[piece];
        const std::size_t n = std::min(piece, bytes - at);
        error = source.file().read(more, n, at);
        const std::string_view read(more, n);
        const std::size_t used = std::min(read.find('\n'), n - 1) + 1;
        lines.append(more, used);
        at += used;
      }
    }
    call_error = call.errno_error("read", path, error, "no program may write to it");
    text problem;
    if (error == 0) problem = parse_market_entries(h, lines, part.entries, count);
    if (!problem.empty()) call_error = wrong(problem);
    if (!source.is_same_on_all(call_error)) return std::nullopt;
    const std::size_t found = sum_of_all<1>(*call.everyone().state(), {count})[0];
    call_error = {};
    if (found != h.entries) call_error = wrong(text("has ") << found << " lines of entries and promises " << h.entries);
    call.throw_together(call_error);
    return part;
  });
}

PARTITA_DEF void write_market_together(const file_call& call, const std::string& path, std::size_t rows,
                                       std::size_t columns, const std::vector<triplet<double>>& entries) {
  call.all_and(0);
  // 1. Make the lines of this worker's entries, and compute where they begin in the file.
  std::string lines;
  file_error call_error;
  for (const auto& entry : entries) {
    if (!std::isfinite(entry.value) && call_error.empty())
      call_error = call.make_error(file_error::kind::io, text("requires finite values, and row ")
                                                             << entry.row << " has another one at column "
                                                             << entry.column << "; the format has no word for it");
    char number[32];
    lines += std::to_string(entry.row + 1) + ' ' + std::to_string(entry.column + 1) + ' ';
    lines.append(number, std::to_chars(number, number + sizeof number, entry.value).ptr);
    lines += '\n';
  }
  call.throw_together(call_error);
  const world_state& everyone = *call.everyone().state();
  const auto most = maximum_over_workers<2>(everyone, {rows, columns});
  const auto [count, all_lines] = sum_of_all<2>(everyone, {entries.size(), lines.size()});
  std::size_t at = sum_over_lower_workers(everyone, lines.size());
  // No memory is allocated before the sums are known: a worker without memory would leave the other workers waiting.
  const std::string header = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(most[0]) + ' ' +
                             std::to_string(most[1]) + ' ' + std::to_string(count) + '\n';
  const std::size_t bytes = header.size() + all_lines;
  if (call.is_leader()) lines.insert(0, header);
  else at += header.size();
  // 2. Write the lines of all workers at the same time.
  replace_file(call, path, bytes, true, [&](posix_file& file, const std::string& temporary) {
    int error = call.is_leader() || lines.empty() ? 0 : file.open(temporary, O_WRONLY);
    if (error == 0 && !lines.empty()) error = file.write(lines.data(), lines.size(), at);
    if (error == 0 && !lines.empty()) error = file.sync();
    if (error == 0) error = file.close();
    return call.errno_error("write", temporary, error, write_error_advice);
  });
}

}  // namespace partita::detail
