// The compile command of this file has all flags that a header of the library needs: the tests in structure/ compile
// headers with this command.
int every_header() { return 0; }
