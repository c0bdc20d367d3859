// The file of a trace, in the format that chrome://tracing and Perfetto read, and a picture of it: each worker adds its
// calls when it ends, and the last of the job draws.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace partita::detail {

struct traced_call {
  std::uint64_t fingerprint = 0, world = 0;
  double begin = 0, end = 0, waiting = 0;  // seconds
  std::size_t messages = 0, by_message = 0, shared = 0;
};

/// "partita::repartition(p_x, p_y).adjoint with …" is a repartition.adjoint.
template <class = void>
std::string name_of_operation(std::string_view sentence) {
  if (sentence.starts_with("partita::")) sentence.remove_prefix(9);
  sentence = sentence.substr(0, sentence.find(" with "));
  const std::size_t open = sentence.find('('), close = sentence.rfind(')');
  std::string name(sentence.substr(0, open));
  if (close != std::string_view::npos && open != std::string_view::npos) name += sentence.substr(close + 1);
  return name.substr(0, name.find(' '));
}
template <class = void>
std::string in_json(std::string_view words) {
  std::string all;
  for (const char c : words) {
    if (c == '"' || c == '\\') all += '\\';
    all += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return all;
}
/// The same on all workers of a job, and on no other: by it a worker knows a file of an earlier job.
template <class = void>
std::string name_of_job() {
  for (const char* name : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_JOB_ID"})
    if (const char* const job = std::getenv(name)) return in_json(job);
  return std::to_string(::getppid());
}

/// One line for each worker and each call; the reader below counts on it.
template <class = void>
std::string trace_lines(std::size_t worker, const std::vector<traced_call>& calls,
                        const std::unordered_map<std::uint64_t, std::string>& names, std::size_t dropped) {
  char entry[512];
  std::snprintf(entry, sizeof entry,
                R"({"ph":"M","name":"process_name","pid":%zu,"args":{"name":"worker %zu","dropped":%zu}})", worker,
                worker, dropped);
  std::string all(entry);
  for (const traced_call& c : calls) {
    const std::string& sentence = names.at(c.fingerprint);
    const char* const way = c.shared != 0       ? (c.by_message != 0 ? "memory and messages" : "memory")
                            : c.by_message != 0 ? "messages"
                                                : "none";
    std::snprintf(entry, sizeof entry,
                  R"({"ph":"X","pid":%zu,"tid":%llu,"ts":%.3f,"dur":%.3f,"args":{"waiting":%.3f,"bytes":%zu,)"
                  R"("by_message":%zu,"shared":%zu,"messages":%zu,"way":"%s","call":")",
                  worker, static_cast<unsigned long long>(c.world), c.begin * 1e6, (c.end - c.begin) * 1e6,
                  c.waiting * 1e6, c.by_message + c.shared, c.by_message, c.shared, c.messages, way);
    all.append(",\n").append(entry).append(in_json(sentence));
    all.append(R"("},"cat":"partita","name":")").append(in_json(name_of_operation(sentence))).append("\"}");
  }
  return all;
}

/// One row for each worker: its calls in the colour of the operation, the part of it that was waiting in grey.
template <class = void>
std::string trace_picture(const std::string& json) {
  struct bar {
    std::size_t worker;
    double begin, length, waiting;
    std::string name;
  };
  std::vector<bar> bars;
  std::vector<std::string> operations;
  double first = 1e300, last = 0;
  std::size_t rows = 0;
  for (std::size_t at = 0; at < json.size();) {
    const std::size_t end = std::min(json.find('\n', at), json.size());
    const std::string entry = json.substr(at, end - at);
    at = end + 1;
    bar b{};
    unsigned long long world = 0;
    if (std::sscanf(entry.c_str(), R"({"ph":"X","pid":%zu,"tid":%llu,"ts":%lf,"dur":%lf,"args":{"waiting":%lf)",
                    &b.worker, &world, &b.begin, &b.length, &b.waiting) != 5)
      continue;
    const std::size_t name = entry.rfind(R"("name":")") + 8;
    b.name = entry.substr(name, entry.find('"', name) - name);
    if (std::find(operations.begin(), operations.end(), b.name) == operations.end()) operations.push_back(b.name);
    first = std::min(first, b.begin), last = std::max(last, b.begin + b.length), rows = std::max(rows, b.worker + 1);
    bars.push_back(std::move(b));
  }
  constexpr double left = 90, width = 1100, row = 30;
  const double top = 50 + 18 * static_cast<double>(operations.size()), span = last > first ? last - first : 1;
  const auto colour = [&](const std::string& name) {
    constexpr const char* palette[] = {"#3f7fbf", "#d9822b", "#4c9f50", "#8a63c2", "#c23b45", "#2a9d94", "#b59a1a"};
    const auto k = std::find(operations.begin(), operations.end(), name) - operations.begin();
    return palette[static_cast<std::size_t>(k) % (sizeof palette / sizeof *palette)];
  };
  char part[512];
  std::snprintf(part, sizeof part,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" "
                "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
                left + width + 20, top + row * static_cast<double>(rows) + 10);
  std::string all(part);
  std::snprintf(part, sizeof part, "<text x=\"10\" y=\"20\">%.3f ms; grey: waiting for others</text>\n", span / 1e3);
  all += part;
  for (std::size_t k = 0; k < operations.size(); ++k) {
    const double y = 30 + 18 * static_cast<double>(k);
    std::snprintf(part, sizeof part, "<rect x=\"10\" y=\"%.0f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", y,
                  colour(operations[k]));
    all += part;
    std::snprintf(part, sizeof part, "<text x=\"28\" y=\"%.0f\">%.200s</text>\n", y + 11, operations[k].c_str());
    all += part;
  }
  for (std::size_t k = 0; k < rows; ++k) {
    std::snprintf(part, sizeof part, "<text x=\"10\" y=\"%.0f\">worker %zu</text>\n",
                  top + row * static_cast<double>(k) + 18, k);
    all += part;
  }
  for (const bar& b : bars) {
    const double x = left + (b.begin - first) / span * width, y = top + row * static_cast<double>(b.worker);
    const double wide = std::max(b.length / span * width, 0.3), waits = std::min(b.waiting / span * width, wide);
    std::snprintf(part, sizeof part,
                  "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"24\" fill=\"%s\"><title>%.150s, %.1f us</title>"
                  "</rect>\n",
                  x, y, wide, colour(b.name), b.name.c_str(), b.length);
    all += part;
    if (waits <= 0) continue;
    std::snprintf(part, sizeof part, "<rect x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"8\" fill=\"#9aa3ad\"/>\n", x,
                  y + 16, waits);
    all += part;
  }
  return all + "</svg>\n";
}

/// Adds the calls of one worker to a file that is whole JSON after each. A trace that cannot be written is said so.
template <class = void>
void write_trace(const std::string& path, std::size_t worker, std::size_t workers,
                 const std::vector<traced_call>& calls, const std::unordered_map<std::uint64_t, std::string>& names,
                 std::size_t dropped) {
  const auto write_all = [](int file, const std::string& bytes, std::size_t at) {
    for (std::size_t done = 0; done < bytes.size();) {
      const auto n = ::pwrite(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(at + done));
      if (n <= 0) return false;
      done += static_cast<std::size_t>(n);
    }
    return ::ftruncate(file, static_cast<off_t>(at + bytes.size())) == 0;
  };
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  bool good = file >= 0 && ::fcntl(file, F_SETLKW, &whole) == 0;
  if (good) {
    const std::string front =
        R"({"displayTimeUnit":"ms","otherData":{"job":")" + name_of_job() + R"("},"traceEvents":[)";
    constexpr std::string_view back = "\n]}\n";
    struct stat state {};
    ::fstat(file, &state);
    std::string known(static_cast<std::size_t>(state.st_size), '\0');
    good = ::pread(file, known.data(), known.size(), 0) == static_cast<ssize_t>(known.size());
    if (known.starts_with(front) && known.ends_with(back)) known.erase(known.size() - back.size()).append(",\n");
    else known = front + "\n";
    known.append(trace_lines(worker, calls, names, dropped)).append(back);
    good = good && write_all(file, known, 0);
    std::size_t written = 0;
    constexpr std::string_view mark = R"({"ph":"M")";
    for (std::size_t at = known.find(mark); at != std::string::npos; at = known.find(mark, at + 1)) ++written;
    if (good && written == workers) {
      const std::string stem = path.ends_with(".json") ? path.substr(0, path.size() - 5) : path;
      const int picture = ::open((stem + ".svg").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
      good = picture >= 0 && write_all(picture, trace_picture(known), 0);
      if (picture >= 0) ::close(picture);
    }
  }
  if (file >= 0) ::close(file);  // and with it goes the lock
  if (!good) std::fprintf(stderr, "partita: PARTITA_TRACE: cannot write %s\n", path.c_str());
}

}  // namespace partita::detail
