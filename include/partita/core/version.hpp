// The version of partita, for the preprocessor: the only macros that programs are meant to use.
#pragma once

#define PARTITA_VERSION_MAJOR 0
#define PARTITA_VERSION_MINOR 2
#define PARTITA_VERSION_PATCH 0
/// Version 0.2.0 is 200, 1.4.3 is 10403.
#define PARTITA_VERSION (PARTITA_VERSION_MAJOR * 10000 + PARTITA_VERSION_MINOR * 100 + PARTITA_VERSION_PATCH)
