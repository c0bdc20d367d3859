// Precompiled header: the headers that nearly every unit test includes.
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <partita/partita.hpp>
#include <sstream>
#include <string>
#include <vector>
