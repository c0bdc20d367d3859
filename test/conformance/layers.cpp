// The records of layers: which function runs which kind. Truth is the sequential operation on the global tensor; what
// DistDL said of a record is information only. docs/departures-distdl.md names where the two differ.
#include "layers.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <partita/core/error.hpp>
#include <string>

#include "readers.hpp"

namespace {

using namespace conformance;

/// What runs the records of each kind.
const std::map<std::string, run_record> kinds{
    {"conv", run_conv},           {"embedding", run_embedding}, {"halo", run_halo},
    {"linear_layer", run_linear}, {"loss", run_loss},           {"norm", run_norm},
    {"pool", run_pool},           {"upsample", run_upsample},   {"window", run_halo},
};
constexpr const char* files[] = {"conv", "embedding", "halo",     "linear_layer", "loss",
                                 "norm", "pool",      "refusals", "upsample"};

bool is_layers(const json& file) {
  return file.is_object() && file.contains("kind") && file.contains("cases") &&
         std::any_of(std::begin(files), std::end(files), [&](const char* name) { return file.at("kind") == name; });
}

void run_file(const json& file, const std::string& file_name, tally& all) {
  const partita::world everyone;
  for (const json& c : file.at("cases")) {
    const std::string id = file_name + ":" + c.at("id").get<std::string>();
    const auto known = kinds.find(c.at("kind"));
    if (known == kinds.end()) {
      all.skip(id, "there is no layer of the kind " + c.at("kind").get<std::string>());
      continue;
    }
    try {
      mismatches wrong;
      known->second(c, everyone, wrong);
      wrong.raise();
      all.pass(id);
    } catch (const departure& named) {
      all.skip(id, named.what());
    } catch (const partita::error& problem) {  // refused before there is a layer: its partition, or its cut
      if (must_be_refused(c)) all.pass(id);
      else all.fail(id, problem.what());
    } catch (const std::exception& problem) {
      all.fail(id, problem.what());
    }
  }
}

}  // namespace

namespace conformance {

reader layers_reader() {
  return {[](const json& file, const std::string&) { return is_layers(file); }, run_file,
          [](const std::string& name) {
            return std::any_of(std::begin(files), std::end(files),
                               [&](const char* file) { return name == file + std::string(".json"); });
          }};
}

}  // namespace conformance
