// Chooses the inner loops for the processor.
#include "runtime/backends/cpu/loops/ChannelLoops.h"
#include "runtime/backends/cpu/loops/PoolLoops.h"
#include "runtime/backends/cpu/loops/ProductLoops.h"
#include "runtime/backends/cpu/loops/RowLoops.h"
#include "runtime/backends/cpu/loops/SoftmaxLoops.h"
#include "runtime/backends/cpu/loops/ThinLoops.h"

namespace tbem::cpu {

#define TBEM_LOOPS(isa)                                                                          \
  namespace isa {                                                                                \
  void channelStrip(ChannelSum what, int width, const StripArguments& arguments);                \
  void lineMoments(const StripArguments& arguments);                                             \
  void poolPlane(PoolLoop loop, int width, const runtime::Pool2d& pool, const PoolPlane& plane); \
  ProductTile productTile();                                                                     \
  void packLines(const ProductLines& lines, std::int64_t, std::int64_t, std::int64_t, float*);   \
  void productBlock(const ProductBlock& block);                                                  \
  void rowSums(const RowSums& arguments);                                                        \
  double softmaxLine(SoftmaxLoop loop, const SoftmaxLine& line);                                 \
  void thinProduct(ThinLoop loop, const ThinProduct& product, std::int64_t, std::int64_t);       \
  }
TBEM_LOOPS(generic)
TBEM_LOOPS(avx2)
TBEM_LOOPS(avx512)

namespace {

struct Loops {
  decltype(&generic::channelStrip) channel = generic::channelStrip;
  decltype(&generic::lineMoments) line = generic::lineMoments;
  decltype(&generic::poolPlane) pool = generic::poolPlane;
  decltype(&generic::productTile) tile = generic::productTile;
  decltype(&generic::packLines) pack = generic::packLines;
  decltype(&generic::productBlock) product = generic::productBlock;
  decltype(&generic::rowSums) row = generic::rowSums;
  decltype(&generic::softmaxLine) softmax = generic::softmaxLine;
  decltype(&generic::thinProduct) thin = generic::thinProduct;
};

Loops choose() {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define TBEM_CHOSEN(isa)                                                                                                    \
  {                                                                                                                         \
    isa::channelStrip, isa::lineMoments, isa::poolPlane, isa::productTile, isa::packLines, isa::productBlock, isa::rowSums, \
        isa::softmaxLine, isa::thinProduct                                                                                  \
  }
  if (__builtin_cpu_supports("x86-64-v4")) return TBEM_CHOSEN(avx512);
  if (__builtin_cpu_supports("x86-64-v3")) return TBEM_CHOSEN(avx2);
#undef TBEM_CHOSEN
#endif
  return {};
}

const Loops& loops() {
  static const Loops chosen = choose();
  return chosen;
}

}  // namespace

void channelStrip(ChannelSum what, int width, const StripArguments& arguments) { loops().channel(what, width, arguments); }

void lineMoments(const StripArguments& arguments) { loops().line(arguments); }

void poolPlane(PoolLoop loop, int width, const runtime::Pool2d& pool, const PoolPlane& plane) {
  loops().pool(loop, width, pool, plane);
}

ProductTile productTile() { return loops().tile(); }

void packLines(const ProductLines& lines, std::int64_t width, std::int64_t first, std::int64_t last, float* to) {
  loops().pack(lines, width, first, last, to);
}

void productBlock(const ProductBlock& block) { loops().product(block); }

void rowSums(const RowSums& arguments) { loops().row(arguments); }

double softmaxLine(SoftmaxLoop loop, const SoftmaxLine& line) { return loops().softmax(loop, line); }

void thinProduct(ThinLoop loop, const ThinProduct& product, std::int64_t first, std::int64_t last) {
  loops().thin(loop, product, first, last);
}

}  // namespace tbem::cpu
