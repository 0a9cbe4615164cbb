// The test program is also the workers that its tests start: by the name that it is started under.
#include "test/unit/campaign/Workers.h"

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  if (const auto status = tbem::test::playWorker({argv, argv + argc})) return *status;
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
