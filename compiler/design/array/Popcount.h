// Counting bits by the processor's own instruction where it has one. Internal to compiler/design.
#pragma once

// In front of a function: it is compiled for both kinds of processors, and the loader picks one.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TBEM_POPCOUNT __attribute__((target_clones("arch=icelake-server", "popcnt", "default")))
#else
#define TBEM_POPCOUNT
#endif
