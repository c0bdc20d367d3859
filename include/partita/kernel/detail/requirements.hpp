// The messages of compile-time errors that several kernels share. A macro's argument is the call as the user wrote it.
#pragma once

#define PARTITA_REQUIRES_KNOWN_RANK(call)                                                        \
  call ": requires an xtensor expression whose rank is part of its type; as_rank<2>(a) gives it" \
       " one, as_rank<1>(v) to a std::vector, as_rank<1>({t}) to a number"
#define PARTITA_REQUIRES_RANK_OF_PARTITION(call) \
  call ": requires a block of the rank of its partition; reshape() the partition with extents of 1"
#define PARTITA_REQUIRES_RANK_OF_PARTITIONS(call) \
  call ": requires a block of the rank of its partitions; reshape() the partitions with extents of 1"
#define PARTITA_REQUIRES_MOVABLE(call)                                                             \
  call ": requires elements that MPI can move: arithmetic, std::complex, or a type declared with " \
       "BOOST_IS_MPI_DATATYPE"
#define PARTITA_REQUIRES_MOVABLE_IN_PLACE(call)                                             \
  call ": requires elements that MPI can move and that are trivially copyable: arithmetic," \
       " std::complex, std::byte, or a type declared with moves_as_bytes or BOOST_IS_MPI_DATATYPE"
#define PARTITA_REQUIRES_BYTES(call) call ": requires elements that can be copied byte by byte; leave shared_view out"
#define PARTITA_REQUIRES_SUMMABLE(call) \
  call ": requires elements that can be summed; bool cannot, cast to an integer type"
#define PARTITA_REQUIRES_VIEW(call)                                                             \
  call ": requires a view with memory (an xt::xtensor, or an xt::view of ranges of one) of the" \
       " rank and element type of x, which is not const"
#define PARTITA_REQUIRES_TWO_PARTITIONS(call) \
  call ": requires two partitions, as everyone.partition<2, 3>() or everyone.partition(extents(2, 3)) makes them"
