// PNG by libpng. Its errors jump (setjmp): nothing with a destructor is made between setjmp and the calls that may jump.
#include "runtime/data/Image.h"

#include <fmt/format.h>
#include <png.h>

#include <csetjmp>
#include <cstring>

namespace tbem::data {

namespace {

struct Source {
  std::string_view rest;
  char message[160] = {};
};

void readBytes(png_structp png, png_bytep to, std::size_t count) {
  auto* source = static_cast<Source*>(png_get_io_ptr(png));
  if (count > source->rest.size()) png_error(png, "the file is cut off");
  std::memcpy(to, source->rest.data(), count);
  source->rest.remove_prefix(count);
}

[[noreturn]] void onError(png_structp png, png_const_charp message) {
  auto* source = static_cast<Source*>(png_get_error_ptr(png));
  std::strncpy(source->message, message, sizeof source->message - 1);
  png_longjmp(png, 1);
}
void onWarning(png_structp, png_const_charp) {}

struct Handle {
  png_structp png = nullptr;
  png_infop info = nullptr;
  ~Handle() { png_destroy_read_struct(&png, &info, nullptr); }
};

/// False where libpng jumped; `source.message` then says why.
bool readHeader(const Handle& handle, Source& source, Image& image) {
  if (setjmp(png_jmpbuf(handle.png)) != 0) return false;
  png_set_read_fn(handle.png, &source, readBytes);
  // Text and profiles are of no use here: chunks that claim more than this are refused, and few are kept.
  png_set_chunk_malloc_max(handle.png, 8U << 20U);
  png_set_chunk_cache_max(handle.png, 64);
  png_read_info(handle.png, handle.info);
  image.height = png_get_image_height(handle.png, handle.info);
  image.width = png_get_image_width(handle.png, handle.info);
  png_set_expand(handle.png);
  png_set_scale_16(handle.png);
  png_set_strip_alpha(handle.png);
  png_set_interlace_handling(handle.png);
  png_read_update_info(handle.png, handle.info);
  image.channels = png_get_channels(handle.png, handle.info);
  return true;
}

bool readRows(const Handle& handle, png_bytepp rows) {
  if (setjmp(png_jmpbuf(handle.png)) != 0) return false;
  png_read_image(handle.png, rows);
  png_read_end(handle.png, nullptr);
  return true;
}

}  // namespace

tl::expected<Image, std::string> decodePng(std::string_view file) {
  Source source{file};
  Handle handle;
  handle.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &source, onError, onWarning);
  if (handle.png != nullptr) handle.info = png_create_info_struct(handle.png);
  if (handle.info == nullptr) return tl::unexpected(std::string("libpng cannot start"));
  Image image;
  const auto failed = [&] { return tl::unexpected(fmt::format("libpng says: {}", source.message)); };
  if (!readHeader(handle, source, image)) return failed();
  if (image.width > kMostSamples / image.height / image.channels)
    return tl::unexpected(fmt::format("{} by {} pixels are more than are read (2^28 samples)", image.width, image.height));
  // Deflate packs at most 1032 to 1: a small file that claims a large image is damaged or hostile.
  const std::int64_t bits = png_get_bit_depth(handle.png, handle.info);
  const auto bytes = static_cast<std::size_t>(image.height * image.width * image.channels);
  if (bits == 8 && bytes / 1032 / 8 / 4 > file.size())
    return tl::unexpected(std::string("its size and its length contradict each other"));
  image.samples.resize(bytes);
  std::vector<png_bytep> rows(static_cast<std::size_t>(image.height));
  for (std::size_t y = 0; y < rows.size(); ++y)
    rows[y] = image.samples.data() + y * static_cast<std::size_t>(image.width * image.channels);
  if (!readRows(handle, rows.data())) return failed();
  return image;
}

tl::expected<std::string, std::string> encodePng(const Image& image) {
  if (image.channels != 1 && image.channels != 3) return tl::unexpected(fmt::format("an image of {} channels", image.channels));
  png_image about{};
  about.version = PNG_IMAGE_VERSION;
  about.width = static_cast<png_uint_32>(image.width);
  about.height = static_cast<png_uint_32>(image.height);
  about.format = image.channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  const auto write = [&](std::string* into, png_alloc_size_t& size) {
    void* const to = into != nullptr ? into->data() : nullptr;
    return png_image_write_to_memory(&about, to, &size, 0, image.samples.data(), 0, nullptr) != 0;
  };
  png_alloc_size_t size = 0;
  if (!write(nullptr, size)) return tl::unexpected(std::string(about.message));
  std::string file(size, '\0');
  if (!write(&file, size)) return tl::unexpected(std::string(about.message));
  file.resize(size);
  return file;
}

}  // namespace tbem::data
