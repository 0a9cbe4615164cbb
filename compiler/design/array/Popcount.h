// Counting bits by the processor's own instruction where it has one. Internal to compiler/design.
#pragma once

// In front of a function: it is compiled for both kinds of processors, and the loader picks one. Not with the thread sanitizer,
// whose runtime is not there yet when the loader picks.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define TBEM_POPCOUNT __attribute__((target_clones("arch=icelake-server", "popcnt", "default")))
#else
#define TBEM_POPCOUNT
#endif
