// The version of partita as macros, and the macro that marks deprecated names. Programs need only the version macros.
#pragma once

#define PARTITA_VERSION_MAJOR 0
#define PARTITA_VERSION_MINOR 2
#define PARTITA_VERSION_PATCH 0
/// The version as one number: version 0.2.0 is 200, version 1.4.3 is 10403.
#define PARTITA_VERSION (PARTITA_VERSION_MAJOR * 10000 + PARTITA_VERSION_MINOR * 100 + PARTITA_VERSION_PATCH)

#ifdef PARTITA_WARN_OF_FORMER_NAMES  // if defined, using a name that the next version removes is a warning
#define PARTITA_FORMER_NAME(use) [[deprecated(use)]]
#else
#define PARTITA_FORMER_NAME(use)
#endif
