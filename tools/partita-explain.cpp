// partita-explain: reports whether a call is legal and why, what each worker does, and what it costs, without MPI; and
// what the trace of a run recorded.
#include <iostream>
#include <partita/core/version.hpp>
#include <sstream>
#include <string_view>

#include "explain/broadcast.hpp"
#include "explain/linear.hpp"
#include "explain/pipeline.hpp"
#include "explain/repartition.hpp"
#include "explain/sharding.hpp"
#include "explain/trace.hpp"

namespace {

constexpr const char* usage =
    R"(usage: partita-explain broadcast   P_X P_Y      [--transpose-src] [--transpose-dest] [--tensor EXTENTS]
       partita-explain sum_reduce  P_X P_Y      the same
       partita-explain repartition P_X P_Y      [--tensor EXTENTS] [--nodes N] [--worker K]
       partita-explain linear      P_X P_Y P_W  [--batch N] [--in N] [--out N] [--algorithm NAME] [--no-bias]
       partita-explain sharding    RULE         [--size N]
       partita-explain sharding    RULE SHAPE[@LAYOUT]... [--mesh AXIS=SIZE,...] [--result SHAPE@LAYOUT] [--backward]
                                                [--forbid-moves]
       partita-explain pipeline    STAGES MICRO_BATCHES [--groups N] [--order NAME] [--forward MS] [--backward MS]
                                                [--weights MS] [--moving MS]
       partita-explain trace       FILE         [--steps] [--program K] [--worker K]
                                                the trace that a run with PARTITA_TRACE=FILE wrote
       partita-explain --help | --version

  P         a partition: 4x3 on workers 0 to 11, 4x3@8 on workers 8 to 19
  EXTENTS   of a tensor, or for broadcast of one block: 12x12
  RULE      letters are dimensions: "bmk,kn->bmn"
  LAYOUT    which mesh axes shard each dimension: data,,model
  --svg FILE        also draws a picture into FILE
  --element BYTES   the size of one number (4), in broadcast, sum_reduce, repartition and linear

The program says whether a movement is legal and why, what each worker does, and the costs on 10 to 1 000 000 workers.
The exit code is 0 if the movement is legal, 1 if it is not, 2 if the command line or a file cannot be read.
)";

int explained(int argc, char** argv) {
  const std::string_view subject = argc > 1 ? argv[1] : "";
  if (subject == "--help" || subject == "-h") {
    std::cout << usage;
    return 0;
  }
  if (subject == "--version") {
    std::cout << "partita-explain " << PARTITA_VERSION_MAJOR << '.' << PARTITA_VERSION_MINOR << '.'
              << PARTITA_VERSION_PATCH << "\n";
    return 0;
  }
  if (subject == "broadcast") return tool::explain_broadcast(argc, argv, false);
  if (subject == "sum_reduce") return tool::explain_broadcast(argc, argv, true);
  if (subject == "repartition") return tool::explain_repartition(argc, argv);
  if (subject == "linear") return tool::explain_linear(argc, argv);
  if (subject == "sharding") return tool::explain_sharding(argc, argv);
  if (subject == "pipeline") return tool::explain_pipeline(argc, argv);
  if (subject == "trace") return tool::explain_trace(argc, argv);
  if (subject.empty()) throw tool::usage_error("say what to explain\n\n" + std::string(usage));
  throw tool::usage_error("'" + std::string(subject) + "' is nothing that can be explained\n\n" + usage);
}

}  // namespace

int main(int argc, char** argv) {
  std::ostringstream said;  // buffered, so that after an error only the error message is printed
  std::streambuf* const terminal = std::cout.rdbuf(said.rdbuf());
  int code = 0;
  std::string problem;
  try {
    code = explained(argc, argv);
  } catch (const partita::error& e) {
    std::cout << "not legal: " << e.what() << "\n";
    code = 1;
  } catch (const tool::usage_error& e) {
    problem = e.what();
    if (problem.find('\n') == std::string::npos) problem += "; partita-explain --help shows how it is written\n";
    code = 2;
  } catch (const std::exception& e) {
    problem = e.what() + std::string("\n");
    code = 2;
  }
  std::cout.rdbuf(terminal);
  if (code != 2) std::cout << said.str();
  else std::cerr << "partita-explain: " << problem;
  return code;
}
