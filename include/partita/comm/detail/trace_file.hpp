// Writes the file of a trace, in the format that chrome://tracing and Perfetto read, and a picture of it. Each worker
// adds its calls when it ends, and the last worker of the job draws the picture.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <partita/comm/detail/json_text.hpp>
#include <partita/comm/detail/trace_picture.hpp>
#include <partita/comm/file_size_errors.hpp>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace partita::detail {

struct traced_call {
  std::uint64_t fingerprint = 0, world = 0;
  std::int64_t begin = 0, end = 0, waiting = 0;  // nanoseconds
  std::size_t messages = 0, by_message = 0, shared = 0;
};

/// The operation in the description of a call: "partita::repartition(p_x, p_y).adjoint with …" gives
/// repartition.adjoint.
template <class = void>
std::string name_of_operation(std::string_view sentence) {
  if (sentence.starts_with("partita::")) sentence.remove_prefix(9);
  sentence = sentence.substr(0, sentence.find(" with "));
  const std::size_t open = sentence.find('('), close = sentence.rfind(')');
  std::string name(sentence.substr(0, open));
  if (close != std::string_view::npos && open != std::string_view::npos) name += sentence.substr(close + 1);
  return name.substr(0, name.find(' '));
}
/// A name that is the same on all workers of a job and differs between jobs, so that a worker recognises the file of an
/// earlier job.
template <class = void>
std::string name_of_job() {
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_JOB_ID"})
    if (const char* const job = std::getenv(name)) return in_json(job);
  return std::to_string(::getppid());
}

/// Adds a number to a text. `as_thousandths` adds it with three decimals: nanoseconds as microseconds.
template <class = void>
inline void add_number(std::string& all, std::int64_t number, bool as_thousandths = false) {
  char digits[24];
  const auto whole = std::to_chars(digits, digits + sizeof digits, as_thousandths ? number / 1000 : number);
  all.append(digits, whole.ptr);
  if (!as_thousandths) return;
  const auto rest = static_cast<int>(number % 1000);
  all += {'.', static_cast<char>('0' + rest / 100), static_cast<char>('0' + rest / 10 % 10),
          static_cast<char>('0' + rest % 10)};
}

/// Appends to an open file, a mebibyte at a time: one text of the whole file would cost more than the formatting.
class trace_sink {
 public:
  trace_sink(int file, std::size_t at) : file_(file), at_(at) { text.reserve(enough + 4096); }
  void flush_if_full() {
    if (text.size() >= enough) flush();
  }
  void flush() {
    for (std::size_t done = 0; good && done < text.size();) {
      const auto n = ::pwrite(file_, text.data() + done, text.size() - done, static_cast<off_t>(at_));
      good = n > 0;
      if (good) done += static_cast<std::size_t>(n), at_ += static_cast<std::size_t>(n);
    }
    text.clear();
  }
  /// Writes the rest and ends the file here.
  bool end() {
    flush();
    return good && ::ftruncate(file_, static_cast<off_t>(at_)) == 0;
  }
  std::string text;
  bool good = true;

 private:
  static constexpr std::size_t enough = std::size_t{1} << 20U;
  int file_;
  std::size_t at_;
};

/// Writes one line for each worker and one for each call; drawn_calls relies on this. The text that calls share is
/// formatted once and copied, because printf would take longer than many calls.
template <class = void>
void trace_lines(trace_sink& to, std::size_t worker, const std::vector<traced_call>& calls,
                 const std::unordered_map<std::uint64_t, std::string>& names, std::size_t dropped) {
  std::string& all = to.text;
  const std::string of = std::to_string(worker);
  all += R"({"ph":"M","name":"process_name","pid":)" + of + R"(,"args":{"name":"worker )" + of + R"(","dropped":)" +
         std::to_string(dropped) + "}}";
  const std::string front =
      ",\n"
      R"({"ph":"X","pid":)" +
      of + R"(,"tid":)";
  std::unordered_map<std::uint64_t, std::string> backs;
  for (const auto& [fingerprint, sentence] : names)
    backs[fingerprint] = R"(","call":")" + in_json(sentence) + R"("},"cat":"partita","name":")" +
                         in_json(name_of_operation(sentence)) + "\"}";
  for (const traced_call& c : calls) {
    const char* const way = c.shared != 0       ? (c.by_message != 0 ? "memory and messages" : "memory")
                            : c.by_message != 0 ? "messages"
                                                : "none";
    add_number(all.append(front), static_cast<std::int64_t>(c.world));
    add_number(all.append(R"(,"ts":)"), c.begin, true);
    add_number(all.append(R"(,"dur":)"), c.end - c.begin, true);
    add_number(all.append(R"(,"args":{"waiting":)"), c.waiting, true);
    add_number(all.append(R"(,"bytes":)"), static_cast<std::int64_t>(c.by_message + c.shared));
    add_number(all.append(R"(,"by_message":)"), static_cast<std::int64_t>(c.by_message));
    add_number(all.append(R"(,"shared":)"), static_cast<std::int64_t>(c.shared));
    add_number(all.append(R"(,"messages":)"), static_cast<std::int64_t>(c.messages));
    all.append(R"(,"way":")").append(way).append(backs.at(c.fingerprint));
    to.flush_if_full();
  }
}

/// The content of a file as one text, valid while this object lives.
class whole_file {
 public:
  explicit whole_file(int file) {
    struct stat state {};
    if (::fstat(file, &state) != 0 || state.st_size == 0) return;
    bytes_ = static_cast<std::size_t>(state.st_size);
    at_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED | MAP_POPULATE, file, 0);
    if (at_ == MAP_FAILED) at_ = nullptr, bytes_ = 0;
  }
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;
  ~whole_file() {
    if (at_ != nullptr) ::munmap(at_, bytes_);
  }
  std::string_view text() const { return {static_cast<const char*>(at_), bytes_}; }

 private:
  void* at_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Adds the calls of one worker to a file, which is valid JSON after each worker. Prints an error if the trace cannot
/// be written.
template <class = void>
void write_trace(const std::string& path, std::size_t worker, std::size_t workers,
                 const std::vector<traced_call>& calls, const std::unordered_map<std::uint64_t, std::string>& names,
                 std::size_t dropped) {
  const file_size_errors no_signal;
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  bool good = file >= 0 && ::fcntl(file, F_SETLKW, &whole) == 0;
  if (good) {
    const std::string front =
        R"({"displayTimeUnit":"ms","otherData":{"job":")" + name_of_job() + R"("},"traceEvents":[)";
    constexpr std::string_view back = "\n]}\n";
    std::size_t kept = 0;  // size of the part that workers wrote earlier
    {
      const whole_file known(file);
      if (known.text().starts_with(front) && known.text().ends_with(back)) kept = known.text().size() - back.size();
    }
    trace_sink to(file, kept);
    to.text = kept != 0 ? std::string(",\n") : front + "\n";
    trace_lines(to, worker, calls, names, dropped);
    to.text += back;
    good = to.end();
    const whole_file all(file);
    std::size_t written = 0;
    constexpr std::string_view mark = R"({"ph":"M")";
    for (std::size_t at = all.text().find(mark); at != std::string_view::npos; at = all.text().find(mark, at + 1))
      ++written;
    if (good && written == workers) {
      const std::string stem = path.ends_with(".json") ? path.substr(0, path.size() - 5) : path;
      const int picture = ::open((stem + ".svg").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      trace_sink drawing(picture, 0);
      drawing.text = trace_picture(all.text());
      good = picture >= 0 && drawing.end();
      if (picture >= 0) ::close(picture);
    }
  }
  if (file >= 0) ::close(file);  // this also releases the lock
  if (!good) std::fprintf(stderr, "partita: PARTITA_TRACE: cannot write %s\n", path.c_str());
}

}  // namespace partita::detail
