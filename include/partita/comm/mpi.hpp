// The one place where Boost.MPI and MPI enter.
#pragma once

#include <boost/mpi/communicator.hpp>
#include <boost/mpi/datatype.hpp>
#include <boost/mpi/environment.hpp>
