// The version of partita as macros for the preprocessor: the only macros of the library that programs are meant to use.
#pragma once

#define PARTITA_VERSION_MAJOR 0
#define PARTITA_VERSION_MINOR 2
#define PARTITA_VERSION_PATCH 0
/// The version as one number: version 0.2.0 is 200, version 1.4.3 is 10403.
#define PARTITA_VERSION (PARTITA_VERSION_MAJOR * 10000 + PARTITA_VERSION_MINOR * 100 + PARTITA_VERSION_PATCH)
