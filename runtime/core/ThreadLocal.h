// How data of a thread are aligned.
#pragma once

#include <cstddef>

namespace tbem::runtime {

/// mold 1.10 (Debian 12) lets data of a thread begin where the code before them ends. Where those are the last bytes of a page,
/// and nothing among the data is aligned as what lies behind them, they begin a page too early, and the program does not start:
/// "cannot apply additional memory protection after relocation".
constexpr std::size_t kThreadLocalAlign = 64;

}  // namespace tbem::runtime
