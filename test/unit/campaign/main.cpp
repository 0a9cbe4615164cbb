// The test program is also the workers that its tests start: by the name that it is started under.
#include "test/unit/campaign/Workers.h"

#include "compiler/driver/Cli.h"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  if (tbem::test::playWorker(argc, argv)) return tbem::driver::runCommandLine(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
