// The readers there are, one source file for each.
#pragma once

#include <vector>

#include "driver.hpp"

namespace conformance {

reader distdl_reader();
reader layers_reader();
reader sharding_reader();
reader xla_reader();

inline std::vector<reader> all_readers() { return {distdl_reader(), layers_reader(), sharding_reader(), xla_reader()}; }

}  // namespace conformance
