// Reads a trace as Chrome would, with an independent JSON parser, and prints its sums. traced_runs.py runs it.
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const auto trace = nlohmann::json::parse(std::ifstream(argv[1]));
  std::map<std::string, std::size_t> calls, bytes;
  std::map<std::size_t, double> ends;                    // when the last call of a worker in each world ended
  std::size_t workers = 0, described = 0, measured = 0;  // steps of bound programs
  for (const auto& event : trace.at("traceEvents")) {
    const auto& arguments = event.at("args");
    if (event.at("ph") == "M") {
      workers += event.at("name") == "process_name" ? 1U : 0U;
      described += event.at("name") == "step" ? 1U : 0U;
      continue;
    }
    if (event.at("cat") == "step") {
      const double length = event.at("dur"), waiting = arguments.at("waiting");
      measured += length >= 0 && waiting <= length + 1e-3 && arguments.at("call") == 0 ? 1U : 0U;
      continue;
    }
    const std::string name = event.at("name"), way = arguments.at("way");
    ++calls[name];
    bytes[name] += arguments.at("bytes").get<std::size_t>();
    const double begin = event.at("ts"), length = event.at("dur"), waiting = arguments.at("waiting");
    const std::size_t row = event.at("pid").get<std::size_t>() * 100 + event.at("tid").get<std::size_t>();
    const bool right = length >= 0 && waiting >= 0 && waiting <= length + 1 && begin + 1 >= ends[row] &&
                       (way == "none") == (arguments.at("bytes") == 0) && arguments.at("call").is_string();
    if (!right) {
      std::cout << "wrong: " << event << "\n";
      return 1;
    }
    ends[row] = begin + length;
  }
  std::cout << "workers " << workers << "\nsteps " << described << "\nmeasured " << measured << "\n";
  for (const auto& [name, count] : calls) std::cout << name << " " << count << " " << bytes[name] << "\n";
}
