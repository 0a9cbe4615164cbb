// The test program is also the program that its tests start: `unit_measure --as ROLE ...` plays a worker.
#include "Workers.h"

#include <gtest/gtest.h>

#include <cstring>

int main(int argc, char** argv) {
  if (argc >= 3 && std::strcmp(argv[1], "--as") == 0) return tbem::measure::playWorker(argc - 2, argv + 2);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
