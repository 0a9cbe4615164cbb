// Random problems of attention and its gradient.
#pragma once

#include "test/problems/Random.h"

namespace tbem::test {

/// Of a gradient the logarithms of sums are those of the scores, so that weights are below 1 as they are in use.
Problem randomAttention(tbem_primitive primitive, Random& r);

}  // namespace tbem::test
