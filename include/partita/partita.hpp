// Everything a program needs. No header of the library includes this one.
#pragma once

#include <partita/array/broadcast_in_dim.hpp>
#include <partita/array/broadcast_operator.hpp>
#include <partita/array/functions.hpp>
#include <partita/array/in_place.hpp>
#include <partita/array/numpy.hpp>
#include <partita/array/select_and_clamp.hpp>
#include <partita/array/strided.hpp>
#include <partita/comm/partition.hpp>
#include <partita/kernel/adjoint_test.hpp>
#include <partita/kernel/all_sum_reduce.hpp>
#include <partita/kernel/broadcast.hpp>
#include <partita/kernel/repartition.hpp>
#include <partita/kernel/sum_reduce.hpp>
#include <partita/nn/activation.hpp>
#include <partita/nn/initialise.hpp>
#include <partita/nn/linear.hpp>
#include <partita/nn/optimiser.hpp>
#include <partita/nn/sequential.hpp>
#include <partita/nn/softmax_cross_entropy.hpp>
