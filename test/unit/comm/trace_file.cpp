// The trace of a small job as a file, line for line: partita-explain and viewers of traces read it.
#include <partita/comm/detail/diagnostics/trace_file.hpp>

#include <unistd.h>
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <string>
#include <vector>

#include "file_bytes.hpp"
#include "pretended.hpp"

namespace {

using namespace partita::detail;

/// A call by shared memory, one by messages and one by both, and a program of three steps that was called once.
recorded_trace small_trace() {
  recorded_trace all;
  all.names = {{5, "partita::repartition(p_x, p_y).adjoint with p_x = [2]"}, {6, "a \"program\""}};
  all.calls = {{5, 1, 1000, 3500, 20, 0, 0, 64}, {6, 1, 4000, 4001, 0, 2, 48, 0}, {5, 2, 5000, 6000, 1, 3, 7, 8}};
  traced_timetable program{6, 4};
  std::vector<partita::timetable::entry>& steps = program.estimated_times.entries;
  steps.resize(3);
  steps[0].operation = "product", steps[0].until = 2e-6;
  steps[1].moves = true, steps[1].from = 1e-6, steps[1].until = 3e-6, steps[1].waited_seconds = 5e-7,
  steps[1].joint_movements = 2;
  steps[2].operation = "sum", steps[2].moves = steps[2].is_backward = true;
  program.lanes = {0, 0, 1}, program.forward = 2;
  all.programs = {program};
  all.steps = {{0, 2, 9, 7000, 9000, 1500}};
  all.dropped_count = 3;
  return all;
}

std::string new_file() {
  const char* const folder = std::getenv("TMPDIR");
  std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/partita_trace_XXXXXX";
  ::close(::mkstemp(path.data()));
  return path;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_trace_has_a_line_for_each_worker_call_program_and_step) {
  const std::string path = new_file();
  write_trace(path, 1, small_trace());
  recorded_trace nothing;
  write_trace(path, 0, nothing);
  std::string written = test::bytes_of(path);
  ::unlink(path.c_str());
  written.erase(0, written.find('\n'));  // the name of the job
  BOOST_TEST(written == R"(
{"ph":"M","name":"process_name","pid":1,"args":{"name":"worker 1","dropped":3}},
{"ph":"X","pid":1,"tid":1,"ts":1.000,"dur":2.500,"args":{"waiting":0.020,"bytes":64,"by_message":0,)"
                        R"("shared":64,"messages":0,"way":"memory",)"
                        R"("call":"partita::repartition(p_x, p_y).adjoint with p_x = [2]"},)"
                        R"("cat":"partita","name":"repartition.adjoint"},
{"ph":"X","pid":1,"tid":1,"ts":4.000,"dur":0.001,"args":{"waiting":0.000,"bytes":48,"by_message":48,)"
                        R"("shared":0,"messages":2,"way":"messages",)"
                        R"("call":"a \"program\""},"cat":"partita","name":"a"},
{"ph":"X","pid":1,"tid":2,"ts":5.000,"dur":1.000,"args":{"waiting":0.001,"bytes":15,"by_message":7,)"
                        R"("shared":8,"messages":3,"way":"memory and messages",)"
                        R"("call":"partita::repartition(p_x, p_y).adjoint with p_x = [2]"},)"
                        R"("cat":"partita","name":"repartition.adjoint"},
{"ph":"M","pid":1,"tid":0,"name":"program","args":{"program":0,"key":"6.4","call":"a \"program\""}},
{"ph":"M","pid":1,"tid":1000000,"name":"step","args":{"program":0,"step":0,"lane":0,"moves":0,"backward":0,)"
                        R"("pass":0,"from":0,"until":2,"waiting":0,"operation":"product"}},
{"ph":"M","pid":1,"tid":1000001,"name":"step","args":{"program":0,"step":1,"lane":0,"moves":1,"backward":0,)"
                        R"("pass":0,"from":1,"until":3,"waiting":0.5,)"
                        R"("operation":"moves for a value and 2 more"}},
{"ph":"M","pid":1,"tid":1000002,"name":"step","args":{"program":0,"step":2,"lane":1,"moves":1,"backward":1,)"
                        R"("pass":1,"from":0,"until":0,"waiting":0,"operation":"moves for sum"}},
{"ph":"X","pid":1,"tid":1000002,"ts":7.000,"dur":2.000,"args":{"waiting":1.500,"program":0,"step":2,"call":9},)"
                        R"("cat":"step","name":"moves for sum"},
{"ph":"M","name":"process_name","pid":0,"args":{"name":"worker 0","dropped":0}}
]}
)");
}

BOOST_AUTO_TEST_CASE(a_file_that_no_worker_of_this_job_wrote_is_replaced) {
  const std::string path = new_file();
  write_trace(path, 1, small_trace());
  const std::string written = test::bytes_of(path);
  std::string of_other_job = written, cut_short = written, continued = written;
  const std::size_t name = of_other_job.find(R"("job":")") + 7;
  of_other_job.replace(name, 1, of_other_job[name] == 'x' ? "y" : "x");  // a name of the same length
  cut_short.pop_back();
  continued += '\n';
  for (const std::string& earlier :
       {of_other_job, cut_short, continued, std::string("\n]}\n"), std::string(5000, ' ')}) {
    std::ofstream(path, std::ios::trunc) << earlier;
    write_trace(path, 1, small_trace());
    BOOST_TEST((test::bytes_of(path) == written), earlier.substr(0, 100));
  }
  ::unlink(path.c_str());
}

/// The name of a call in a viewer: the operation without the library's name and the arguments.
BOOST_AUTO_TEST_CASE(an_operation_is_named_by_what_stands_around_its_arguments) {
  const char* const table[][2] = {{"partita::repartition(p_x, p_y).adjoint with p_x = [2]", "repartition.adjoint"},
                                  {"partita::repartition(p_x, p_y)(x) with a (b)", "repartition"},
                                  {"partita::world::part(workers) of workers(0, 2)", "world::part"},
                                  {"linear(x)", "linear"},
                                  {"a step of a program", "a"},
                                  {"partita::halo_exchange(p).refresh(w) with [3]", "halo_exchange"},
                                  {"f)g", "f)g"},
                                  {"", ""}};
  for (const auto& [sentence, name] : table) {
    const std::string path = new_file();
    recorded_trace all;
    all.names = {{5, sentence}};
    all.calls = {{5, 1, 1234567, 1234567, 5}};
    write_trace(path, 3, all);
    const std::string written = test::bytes_of(path),
                      expected = "\"cat\":\"partita\",\"name\":\"" + std::string(name) + "\"}";
    ::unlink(path.c_str());
    BOOST_TEST(written.find(expected) != std::string::npos, sentence << ": " << written);
    BOOST_TEST(written.find(R"("tid":1,"ts":1234.567,"dur":0.000,"args":{"waiting":0.005,"bytes":0,)") !=
               std::string::npos);
    BOOST_TEST(written.find(R"("way":"none")") != std::string::npos);
  }
}

/// A trace that is longer than what is written at once has all its lines, also behind those of another worker.
BOOST_AUTO_TEST_CASE(a_long_trace_is_written_whole) {
  const std::string path = new_file();
  recorded_trace all;
  all.names = {{5, "partita::sum_over(everyone, x)"}};
  constexpr std::size_t calls = 12000;
  for (std::size_t k = 0; k < calls; ++k)
    all.calls.push_back({5, 1, static_cast<std::int64_t>(1000 * k), static_cast<std::int64_t>(1000 * k + 7)});
  write_trace(path, 0, all);
  write_trace(path, 1, all);
  const std::string written = test::bytes_of(path);
  ::unlink(path.c_str());
  BOOST_TEST(written.size() > std::size_t{3} << 20U);
  std::size_t found = 0, next = 0, lines = 0;
  for (std::size_t at = written.find("\"ts\":"); at != std::string::npos;
       at = written.find("\"ts\":", at + 1), ++lines) {
    const std::string time = std::to_string(next % calls) + ".000,\"dur\":0.007,";
    found += written.compare(at + 5, time.size(), time) == 0 ? 1 : 0;
    ++next;
  }
  BOOST_TEST(lines == 2 * calls);
  BOOST_TEST(found == 2 * calls);
  BOOST_TEST(written.ends_with("\n]}\n"));
}

BOOST_AUTO_TEST_CASE(the_file_of_a_job_has_the_name_that_its_launcher_gave) {
  const char* const names[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "PMI_JOBID", "SLURM_JOB_ID"};
  const auto name_of_job = [] {
    const std::string path = new_file();
    write_trace(path, 0, {});
    std::string written = test::bytes_of(path);
    ::unlink(path.c_str());
    const std::string front = R"({"displayTimeUnit":"ms","otherData":{"job":")";
    BOOST_TEST(written.find(front) == 0U);
    written.erase(0, front.size());
    return written.substr(0, written.find(R"("},"traceEvents":[)"));
  };
  const test::pretended a(names[0], "x"), b(names[1], "y"), c(names[2], "z"), d(names[3], "w\"");
  for (const char* const expected : {"x", "y", "z", "w\\\""}) {
    BOOST_TEST(name_of_job() == expected);
    for (const char* const name : names)
      if (std::getenv(name) != nullptr) {
        ::unsetenv(name);
        break;
      }
  }
  BOOST_TEST(name_of_job() == std::to_string(::getppid()));
}
