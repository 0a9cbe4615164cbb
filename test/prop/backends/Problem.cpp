#include "test/unit/backends/Problem.cpp"
