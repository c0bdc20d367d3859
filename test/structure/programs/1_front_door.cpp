// Nothing but the front door.
#include <partita/partita.hpp>

int main() {}
