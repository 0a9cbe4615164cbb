#include "test/unit/certify/Fixture.h"
TEST(A, B) {}
