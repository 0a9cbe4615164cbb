// PNG, JPEG, PGM and PPM files, and their preparation.
#include "runtime/data/Image.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto image = tbem::data::decodeImage({reinterpret_cast<const char*>(data), size});
  if (!image) return 0;
  if (image->samples.size() != static_cast<std::size_t>(image->height * image->width * image->channels)) __builtin_trap();
  tbem::data::Preparation how{7, size % 2 == 0 ? 1 : 3, {0.1F, 0.1F, 0.1F}, {2, 2, 2}};
  std::vector<float> out(static_cast<std::size_t>(how.elements()));
  if (std::min(image->height, image->width) <= 1024) tbem::data::prepare(image->view(), how, out.data());
  return 0;
}
