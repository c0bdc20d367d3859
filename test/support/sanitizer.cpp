// Settings for AddressSanitizer. The plugins of Open MPI must stay mapped, because LeakSanitizer suppresses a leak by
// the module names of its frames, and a closed module has no name. The listed leaks are leaks of MPI, not of the
// library.
//
// The frames of an allocation are read by their frame pointers, which takes a fifth of the time that the tables of
// exceptions take. The C library and MPI have no frame pointers, so what they allocate has only one frame for certain:
// who called malloc. That is a module of MPI, or a function of the C library for a module of MPI.
//
// LeakSanitizer 14 takes a block of thread-local memory whose address is 16 bytes behind the start of a page for a
// block of glibc 2.19, reads its extent from a header that is not there, and crashes. It knows of the blocks of loaded
// modules by intercepting __tls_get_addr only, so that is switched off; the thread-local memory of the program itself
// is searched as before.
#if defined(__SANITIZE_ADDRESS__)
#define PARTITA_TEST_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PARTITA_TEST_ASAN
#endif
#endif

#ifdef PARTITA_TEST_ASAN
extern "C" int dlclose(void*) { return 0; }
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libopen-pal\nleak:libopen-rte\nleak:libmpi.so\nleak:openmpi3/mca_\nleak:mca_\nleak:libmca\n"
         "leak:libpmix\nleak:pmix2/\nleak:pmix/\nleak:libhwloc\nleak:libevent\nleak:libucp\nleak:libucs\n"
         "leak:libfabric\nleak:libpsm\nleak:vasprintf\n";
}
extern "C" const char* __asan_default_options() { return "detect_leaks=1:intercept_tls_get_addr=0"; }
extern "C" const char* __lsan_default_options() { return "print_suppressions=0"; }
#endif
