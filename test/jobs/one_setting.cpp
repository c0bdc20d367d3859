// A program that makes a world, and prints the error if this fails. one_setting.py starts workers that run it and
// workers that run it as it was compiled with other settings.
#include <iostream>
#include <partita/comm/world.hpp>
#include <string>

using namespace partita;

int main(int argc, char** argv) {
  boost::mpi::environment environment(argc, argv);
  // A file that includes nn/local_convolution.hpp gives this setting before main.
  if (argc > 1) partita_expect_one_setting(1, argv[1]);
  std::string line;
  try {
    const world everyone;
    line = "made a world of " + std::to_string(everyone.size());
  } catch (const disagreement_error& e) {
    line = e.what();
  }
  std::cout << line + "\n" << std::flush;  // in one piece, because other workers print at the same time
}
