// The compile command of this file has everything that a header of the library needs: structure/ compiles headers with
// it.
int every_header() { return 0; }
