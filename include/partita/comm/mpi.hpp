// The only header that includes Boost.MPI and MPI.
#pragma once

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/datatype.hpp>
#include <boost/mpi/environment.hpp>
