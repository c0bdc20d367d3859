// The version header of another version, for programs that are mixed with programs of this one.
#pragma once

#define PARTITA_VERSION_MAJOR 99
#define PARTITA_VERSION_MINOR 0
#define PARTITA_VERSION_PATCH 1
#define PARTITA_VERSION 990001
