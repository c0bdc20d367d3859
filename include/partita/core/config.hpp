// Says how a program uses the library: from headers alone, or with the compiled core (PARTITA_CORE).
//
// Most functions that depend on no type of the program are declared in a header and defined in the folder impl/ beside
// the header. If PARTITA_CORE is defined, a program only sees the declarations of these functions, and libpartita
// contains their definitions. Without PARTITA_CORE each header includes the definitions of its functions at its end,
// mostly as templates, so that a program compiles only the functions that it calls.
#pragma once

#include <partita/core/version.hpp>

#ifdef PARTITA_CORE
/// This macro stands before the declaration of a function, neither virtual nor a destructor, that impl/ defines.
#define PARTITA_DECL
/// Stands before the definition, in impl/, of a function that a header declares.
#define PARTITA_DEF
/// Stands before the declaration of a virtual function or a destructor that impl/ defines.
#define PARTITA_INLINE
/// Precedes partita_expect_one_setting and partita_setting. Without libpartita this macro makes functions weak symbols,
/// so the compiler does not inline them, and all files of a program call the same functions and share one set of
/// settings.
#define PARTITA_WEAK
#define PARTITA_BUILD_KIND_TEXT "with the compiled core"
/// This macro expands to LIST(EXTERN, T) for each usual element type T. LIST(extern, T), in a header, declares the
/// template instances that the compiled core has for T; LIST(, T), in the core, instantiates them. Without the compiled
/// core this macro is empty.
#define PARTITA_FOR_EACH_USUAL_ELEMENT(LIST, EXTERN) \
  LIST(EXTERN, float) LIST(EXTERN, double) LIST(EXTERN, int) LIST(EXTERN, long) LIST(EXTERN, long long)
#else
#define PARTITA_DECL template <class = void>
#define PARTITA_DEF template <class>
#define PARTITA_INLINE inline
#define PARTITA_WEAK [[gnu::weak]]
#define PARTITA_BUILD_KIND_TEXT "from headers alone"
#define PARTITA_FOR_EACH_USUAL_ELEMENT(LIST, EXTERN)
#endif

#ifdef _GLIBCXX_DEBUG
#define PARTITA_DEBUG_CONTAINERS " and _GLIBCXX_DEBUG"  // _GLIBCXX_DEBUG changes the layout of std::vector
#else
#define PARTITA_DEBUG_CONTAINERS ""
#endif

#define PARTITA_STRINGIZE(x) #x
#define PARTITA_VERSION_TEXT(major, minor, patch) \
  PARTITA_STRINGIZE(major) "." PARTITA_STRINGIZE(minor) "." PARTITA_STRINGIZE(patch)

/// Compares how the files of a program, and the library that it links, were compiled. Ends the program before main with
/// a message if two files differ in one of the settings, because they would share objects of different layouts. The
/// name and the arguments of this function are the same in all versions.
extern "C" PARTITA_WEAK void partita_expect_one_setting(unsigned setting, const char* value);
/// Returns the address of the pointer to the value of a setting; the pointer is null until a file sets the value.
extern "C" PARTITA_WEAK const char** partita_setting(unsigned setting);

namespace partita::detail {
namespace {
// Each source file initialises its own copy of this constant, and so compares its settings with those of other files.
[[maybe_unused]] const bool are_settings_compared =
    (partita_expect_one_setting(0, "version " PARTITA_VERSION_TEXT(
                                       PARTITA_VERSION_MAJOR, PARTITA_VERSION_MINOR,
                                       PARTITA_VERSION_PATCH) " " PARTITA_BUILD_KIND_TEXT PARTITA_DEBUG_CONTAINERS),
     true);
}  // namespace
}  // namespace partita::detail

#ifndef PARTITA_CORE
#include <partita/core/impl/config.ipp>
#endif
