// Defines the functions that comm/detail/diagnostics/trace_file.hpp declares.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <partita/comm/detail/diagnostics/json_text.hpp>
#include <partita/comm/detail/diagnostics/trace_file.hpp>
#include <partita/comm/file_size_errors.hpp>
#include <string_view>

namespace partita::detail {

/// The name of the operation in the description of a call: "partita::repartition(p_x, p_y).adjoint with …" gives
/// repartition.adjoint.
PARTITA_DECL std::string operation_name(std::string_view sentence) {
  if (sentence.starts_with("partita::")) sentence.remove_prefix(9);
  sentence = sentence.substr(0, sentence.find(" with "));
  const std::size_t open = sentence.find('('), close = sentence.rfind(')');
  std::string name(sentence.substr(0, open));
  if (close != std::string_view::npos && open != std::string_view::npos) name += sentence.substr(close + 1);
  return name.substr(0, name.find(' '));
}

/// A name that is the same on all workers of a job and usually differs between jobs, so that a worker recognises the
/// file of an earlier job.
PARTITA_DECL std::string job_name() {
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_JOB_ID"})
    if (const char* const job = std::getenv(name)) return json_escaped(job);
  return std::to_string(::getppid());
}

/// Appends a number to a text. `divide_by_thousand` converts nanoseconds to microseconds with three decimals.
PARTITA_DECL void add_number(std::string& all, std::int64_t number, bool divide_by_thousand = false) {
  char digits[24];
  const auto digits_end = std::to_chars(digits, digits + sizeof digits, divide_by_thousand ? number / 1000 : number);
  all.append(digits, digits_end.ptr);
  if (!divide_by_thousand) return;
  const auto rest = static_cast<int>(number % 1000);
  all += {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
          static_cast<char>('0' + rest % 10)};
}

/// Appends to an open file, a mebibyte at a time: building the whole file as one text would cost more than formatting.
class trace_sink {
 public:
  trace_sink(int file, std::size_t at) : file_(file), file_offset_(at) { text.reserve(enough + 4096); }
  void flush_if_full() {  ///< writes the collected text if it has at least `enough` bytes
    if (text.size() >= enough) flush();
  }
  PARTITA_DECL void flush();  ///< Writes the collected text to the file.
  /// Writes the remaining text and truncates the file after it. Returns false if a write has failed.
  PARTITA_DECL bool end();
  std::string text;     ///< what is not written yet
  bool is_good = true;  ///< whether all writes succeeded

 private:
  static constexpr std::size_t enough = std::size_t{1} << 20U;  ///< the bytes of text at which flush_if_full() writes
  int file_;                                                    ///< the file descriptor
  std::size_t file_offset_;                                     ///< where the next byte is written
};

PARTITA_DEF void trace_sink::flush() {
  for (std::size_t done = 0; is_good && done < text.size();) {
    const auto n = ::pwrite(file_, text.data() + done, text.size() - done, static_cast<off_t>(file_offset_));
    is_good = n > 0;
    if (is_good) done += static_cast<std::size_t>(n), file_offset_ += static_cast<std::size_t>(n);
  }
  text.clear();
}

PARTITA_DEF bool trace_sink::end() {
  flush();
  return is_good && ::ftruncate(file_, static_cast<off_t>(file_offset_)) == 0;
}

/// Writes the bound programs: one line for each program, one for each entry of its estimated timetable, and one for
/// each measured step. A viewer shows the computations of a program on one row, and its communication on one row for
/// each lane.
PARTITA_DECL void write_program_lines(trace_sink& to, const std::string& worker, const recorded_trace& recorded) {
  std::string& all = to.text;
  const auto row_of = [](std::size_t program, const traced_timetable& one, std::size_t entry) {
    const std::int64_t lane = one.estimated_times.entries[entry].moves ? std::int64_t{one.lanes[entry]} + 1 : 0;
    return static_cast<std::int64_t>(program + 1) * 1'000'000 + lane;  // rows of worlds have lower numbers
  };
  const auto name_of = [](const timetable::entry& one) {
    std::string name(one.operation.empty() ? "a value" : one.operation.c_str());
    if (one.joint_movements > 0) name += " and " + std::to_string(one.joint_movements) + " more";
    return json_escaped(one.moves ? "moves for " + name : name);
  };
  const auto add_microseconds = [&](const char* key, double seconds) {  // an estimate may be below a nanosecond
    char digits[32];
    all.append(key).append(digits, std::to_chars(digits, digits + sizeof digits, seconds * 1e6).ptr);
  };
  const std::string described = ",\n{\"ph\":\"M\",\"pid\":" + worker + ",\"tid\":";
  const std::string measured = ",\n{\"ph\":\"X\",\"pid\":" + worker + ",\"tid\":";
  for (std::size_t p = 0; p < recorded.programs.size(); ++p) {
    const traced_timetable& one = recorded.programs[p];
    const std::string number = R"("args":{"program":)" + std::to_string(p);
    all += described + R"(0,"name":"program",)" + number + R"(,"key":")" + std::to_string(one.fingerprint) + '.' +
           std::to_string(one.occurrence) + R"(","call":")" + json_escaped(recorded.names.at(one.fingerprint)) + "\"}}";
    for (std::size_t k = 0; k < one.estimated_times.entries.size(); ++k) {
      const timetable::entry& e = one.estimated_times.entries[k];
      add_number(all.append(described), row_of(p, one, k));
      all += R"(,"name":"step",)" + number + R"(,"step":)" + std::to_string(k) + R"(,"lane":)" +
             std::to_string(one.lanes[k]) + R"(,"moves":)" + (e.moves ? '1' : '0') + R"(,"backward":)" +
             (e.is_backward ? '1' : '0') + R"(,"pass":)" + (k < one.forward ? '0' : '1');
      add_microseconds(R"(,"from":)", e.from);
      add_microseconds(R"(,"until":)", e.until);
      add_microseconds(R"(,"waiting":)", e.waited_seconds);
      all += R"(,"operation":")" + name_of(e) + "\"}}";
      to.flush_if_full();
    }
  }
  for (const measured_step& s : recorded.steps) {
    const traced_timetable& one = recorded.programs[s.program];
    add_number(all.append(measured), row_of(s.program, one, s.entry));
    add_number(all.append(R"(,"ts":)"), s.begin, true);
    add_number(all.append(R"(,"dur":)"), s.end - s.begin, true);
    add_number(all.append(R"(,"args":{"waiting":)"), s.waiting, true);
    add_number(all.append(R"(,"program":)"), s.program);
    add_number(all.append(R"(,"step":)"), s.entry);
    add_number(all.append(R"(,"call":)"), static_cast<std::int64_t>(s.call));
    all += R"(},"cat":"step","name":")" + name_of(one.estimated_times.entries[s.entry]) + "\"}";
    to.flush_if_full();
  }
}

/// Writes one line for each worker and one for each call, and then the lines of bound programs, as partita-explain
/// expects. Text that calls share is formatted once and copied, because formatting by printf would take longer than
/// many of the calls took.
PARTITA_DECL void write_trace_lines(trace_sink& to, std::size_t worker, const recorded_trace& recorded) {
  std::string& all = to.text;
  const std::string of = std::to_string(worker);
  all += R"({"ph":"M","name":"process_name","pid":)" + of + R"(,"args":{"name":"worker )" + of + R"(","dropped":)" +
         std::to_string(recorded.dropped_count) + "}}";
  const std::string front = ",\n{\"ph\":\"X\",\"pid\":" + of + R"(,"tid":)";
  std::unordered_map<std::uint64_t, std::string> backs;
  for (const auto& [fingerprint, sentence] : recorded.names)
    backs[fingerprint] = R"(","call":")" + json_escaped(sentence) + R"("},"cat":"partita","name":")" +
                         json_escaped(operation_name(sentence)) + "\"}";
  for (const traced_call& c : recorded.calls) {
    const char* const way = c.bytes_shared != 0       ? (c.bytes_by_message != 0 ? "memory and messages" : "memory")
                            : c.bytes_by_message != 0 ? "messages"
                                                      : "none";
    add_number(all.append(front), static_cast<std::int64_t>(c.world));
    add_number(all.append(R"(,"ts":)"), c.begin, true);
    add_number(all.append(R"(,"dur":)"), c.end - c.begin, true);
    add_number(all.append(R"(,"args":{"waiting":)"), c.waiting, true);
    add_number(all.append(R"(,"bytes":)"), static_cast<std::int64_t>(c.bytes_by_message + c.bytes_shared));
    add_number(all.append(R"(,"by_message":)"), static_cast<std::int64_t>(c.bytes_by_message));
    add_number(all.append(R"(,"shared":)"), static_cast<std::int64_t>(c.bytes_shared));
    add_number(all.append(R"(,"messages":)"), static_cast<std::int64_t>(c.messages));
    all.append(R"(,"way":")").append(way).append(backs.at(c.fingerprint));
    to.flush_if_full();
  }
  write_program_lines(to, of, recorded);
}

/// Whether the file contains these bytes from position `at` on.
PARTITA_DECL bool has_bytes_at_offset(int file, std::string_view bytes, std::size_t at) {
  std::string found(bytes.size(), ' ');
  return ::pread(file, found.data(), found.size(), static_cast<off_t>(at)) == static_cast<ssize_t>(found.size()) &&
         found == bytes;
}

PARTITA_DEF void write_trace(const std::string& path, std::size_t worker, const recorded_trace& all) {
  const file_size_errors no_signal;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  struct flock whole_file {};  // a lock, against other workers that write
  whole_file.l_type = F_WRLCK;
  bool is_good = file >= 0 && ::fcntl(file, F_SETLKW, &whole_file) == 0;
  if (is_good) {
    const std::string front = R"({"displayTimeUnit":"ms","otherData":{"job":")" + job_name() + R"("},"traceEvents":[)";
    constexpr std::string_view back = "\n]}\n";
    struct stat file_state {};  // for the file's size
    std::size_t kept = 0;       // the size of the part that other workers wrote earlier
    if (::fstat(file, &file_state) == 0 && static_cast<std::size_t>(file_state.st_size) > front.size() + back.size()) {
      const std::size_t end = static_cast<std::size_t>(file_state.st_size) - back.size();
      if (has_bytes_at_offset(file, front, 0) && has_bytes_at_offset(file, back, end)) kept = end;
    }
    trace_sink to(file, kept);
    to.text = kept != 0 ? std::string(",\n") : front + "\n";
    write_trace_lines(to, worker, all);
    to.text += back;
    is_good = to.end();
  }
  if (file >= 0) ::close(file);  // also releases the lock
  if (!is_good) std::fprintf(stderr, "partita: PARTITA_TRACE: cannot write %s\n", path.c_str());
}

}  // namespace partita::detail
