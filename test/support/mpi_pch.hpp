// Precompiled header: the headers that nearly every test on several workers includes.
#include <boost/mpi/collectives.hpp>
#include <boost/mpi/communicator.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <partita/partita.hpp>
#include <sstream>
#include <string>
#include <vector>
