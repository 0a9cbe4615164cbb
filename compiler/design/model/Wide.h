// The number type of the least-squares solver.
#pragma once

#include <cmath>

namespace tbem::design {

// 113 bits of significand where the compiler has them: on a matrix of condition 1e15 (NIST's Filip in powers of x) double keeps
// no digit and this keeps eighteen. Fits are small (hundreds of rows), so the cost is microseconds.
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 Wide;
#else
using Wide = long double;
#endif

/// The number that a program or a file wrote: the shortest decimal that is read as this finite double. 0.1 is a tenth here, not
/// the double beside it.
Wide decimal(double value);

inline Wide absolute(Wide x) { return x < 0 ? -x : x; }

/// Newton's iteration from the double root; x within double's range.
inline Wide squareRoot(Wide x) {
  if (!(x > 0)) return 0;
  Wide root = std::sqrt(static_cast<double>(x));
  if (root == 0) return 0;
  for (int i = 0; i < 3; ++i) root = (root + x / root) / 2;
  return root;
}

}  // namespace tbem::design
