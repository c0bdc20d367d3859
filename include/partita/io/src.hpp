// Defines what the headers of io/ declare, for partita/src.hpp.
#pragma once

#ifndef PARTITA_CORE
#error "partita/io/src.hpp is for the compiled core: define PARTITA_CORE in all files of the program"
#endif

#include <partita/io/detail/impl/checkpoint_folder.ipp>
#include <partita/io/detail/impl/checkpoint_verifier.ipp>
#include <partita/io/detail/impl/checkpoint_writer.ipp>
#include <partita/io/detail/impl/common_file.ipp>
#include <partita/io/detail/impl/file_agreement.ipp>
#include <partita/io/detail/impl/open_npy.ipp>
#include <partita/io/detail/impl/posix_file.ipp>
#include <partita/io/detail/impl/replaced_file.ipp>
#include <partita/io/impl/crc32c.ipp>
#include <partita/io/impl/file_domains.ipp>
#include <partita/io/impl/load_checkpoint.ipp>
#include <partita/io/impl/manifest.ipp>
#include <partita/io/impl/matrix_market.ipp>
#include <partita/io/impl/npy_header.ipp>
#include <partita/io/impl/save_checkpoint.ipp>
#include <partita/io/impl/sharded_checkpoint.ipp>
