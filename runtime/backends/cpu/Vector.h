// Short vectors of floats for our own loops, and the attribute that compiles a loop for several instruction sets.
//
// The project is built for any x86-64; a function marked TBEM_CLONES is compiled three times and the processor chooses when
// the program starts. Only whole loops are marked, and they call nothing that is not inlined.
#pragma once

#include <cstdint>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define TBEM_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define TBEM_CLONES
#endif
#define TBEM_INLINE [[gnu::always_inline]] inline

namespace tbem::cpu {

/// W floats, or their comparison masks. Loads and stores need no alignment.
template <int W> struct Vec {
  typedef float Float __attribute__((vector_size(W * 4), aligned(4), may_alias));
  typedef std::int32_t Mask __attribute__((vector_size(W * 4), aligned(4), may_alias));
};
template <> struct Vec<1> {
  using Float = float;
  using Mask = bool;
};

template <int W> TBEM_INLINE const typename Vec<W>::Float& load(const float* at) {
  return *reinterpret_cast<const typename Vec<W>::Float*>(at);
}
template <int W> TBEM_INLINE typename Vec<W>::Float& place(float* at) { return *reinterpret_cast<typename Vec<W>::Float*>(at); }
template <int W> TBEM_INLINE float lane(const typename Vec<W>::Float& v, int i) {
  if constexpr (W == 1) return (void)i, v;
  else return v[i];
}

}  // namespace tbem::cpu
