// JPEG by libjpeg-turbo. Its errors jump (setjmp): nothing with a destructor is made between setjmp and the calls that may jump.
#include "runtime/data/Image.h"

#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include <jerror.h>

namespace tbem::data {

namespace {

constexpr int kMostScans = 100;  ///< of a progressive file; each costs a pass over the whole image

struct Errors {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX] = {};
};

[[noreturn]] void jump(j_common_ptr jpeg) {
  auto* errors = reinterpret_cast<Errors*>(jpeg->err);
  jpeg->err->format_message(jpeg, errors->message);
  std::longjmp(errors->back, 1);
}

/// libjpeg paints what is missing grey and warns; for us a file that is cut off is damaged. Other warnings are let pass, as
/// viewers do.
void onMessage(j_common_ptr jpeg, int level) {
  if (level < 0 && (jpeg->err->msg_code == JWRN_JPEG_EOF || jpeg->err->msg_code == JWRN_HIT_MARKER)) jump(jpeg);
}

void onProgress(j_common_ptr jpeg) {
  auto* decompress = reinterpret_cast<j_decompress_ptr>(jpeg);
  if (decompress->input_scan_number <= kMostScans) return;
  auto* errors = reinterpret_cast<Errors*>(jpeg->err);
  std::snprintf(errors->message, sizeof errors->message, "more than %d scans", kMostScans);
  std::longjmp(errors->back, 1);
}

struct Decoder {
  jpeg_decompress_struct jpeg{};
  jpeg_progress_mgr progress{};
  Errors errors{};

  Decoder() {
    jpeg.err = jpeg_std_error(&errors.base);
    errors.base.error_exit = jump;
    errors.base.emit_message = onMessage;
    progress.progress_monitor = onProgress;
  }
  ~Decoder() { jpeg_destroy_decompress(&jpeg); }

  /// False where libjpeg jumped; `errors.message` then says why. `tooLarge` is set where the image exceeds kMostSamples.
  bool readHeader(std::string_view file, Image& image, bool& tooLarge) {
    if (setjmp(errors.back) != 0) return false;
    jpeg_create_decompress(&jpeg);
    jpeg.progress = &progress;
    jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_read_header(&jpeg, TRUE);
    image.height = jpeg.image_height;
    image.width = jpeg.image_width;
    image.channels = jpeg.num_components == 1 ? 1 : 3;
    tooLarge = image.height > 0 && image.width > kMostSamples / image.height / image.channels;
    if (tooLarge) return true;
    jpeg.out_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    // One result on every machine: the exact transform, and no merging of steps.
    jpeg.dct_method = JDCT_ISLOW;
    jpeg_start_decompress(&jpeg);
    return true;
  }

  bool readRows(Image& image) {
    if (setjmp(errors.back) != 0) return false;
    while (jpeg.output_scanline < jpeg.output_height) {
      JSAMPROW row = image.samples.data() + static_cast<std::size_t>(jpeg.output_scanline) * jpeg.output_width *
                                                static_cast<std::size_t>(jpeg.output_components);
      jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    return true;
  }
};

}  // namespace

tl::expected<Image, std::string> decodeJpeg(std::string_view file) {
  Decoder decoder;
  Image image;
  bool tooLarge = false;
  const auto failed = [&] { return tl::unexpected(fmt::format("libjpeg says: {}", decoder.errors.message)); };
  if (!decoder.readHeader(file, image, tooLarge)) return failed();
  if (tooLarge)
    return tl::unexpected(fmt::format("{} by {} pixels are more than are read (2^28 samples)", image.width, image.height));
  image.samples.resize(static_cast<std::size_t>(image.height * image.width * image.channels));
  if (!decoder.readRows(image)) return failed();
  return image;
}

}  // namespace tbem::data
