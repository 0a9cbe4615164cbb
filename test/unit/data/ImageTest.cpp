// Image files against pixels that Pillow gave, and the resizing against Pillow's on floating-point images.
#include "runtime/data/Image.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tbem::data;

namespace {

std::string bytesOf(std::string_view hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return bytes;
}

// Written by Pillow 12. 3 by 2 pixels each.
constexpr const char* kColourPng =
    "89504e470d0a1a0a0000000d49484452000000030000000208020000001216f14d0000001d49444154789c63f87168dff9c9526f45bf325c"
    "7eafcb3a77be8dd91b0073180a7ad29e001a0000000049454e44ae426082";
constexpr const char* kGrey16Png =  // 0 255 256 32768 65280 65535
    "89504e470d0a1a0a0000000d4948445200000003000000021000000000e88fe5850000001649444154789c63606060f8cfc8c0d0c0f09fe1"
    "ff7f001406047e42db13230000000049454e44ae426082";
constexpr const char* kAlphaPng =  // kColourPng with alpha 128
    "89504e470d0a1a0a0000000d49484452000000030000000208060000009d74661a0000002349444154789c63fc71685fc3f58b310c724db7"
    "19986eebe6339871b532f82b7e6700009fb00a1ef693ce4f0000000049454e44ae426082";
constexpr const char* kPalettePng =  // 0 1 2 2 1 0 of (10 20 30) (40 50 60) (70 80 90)
    "89504e470d0a1a0a0000000d4948445200000003000000020203000000e01a8e8900000009504c54450a141e28323c46505a16ac84740000"
    "000c49444154789c63906098000000dc00a96ce7c0230000000049454e44ae426082";
constexpr const char* kBitPng =  // 3 by 1: 1 0 1
    "89504e470d0a1a0a0000000d4948445200000003000000010100000000339b29190000000a49444154789c6358000000a200a1dc8db1cc00"
    "00000049454e44ae426082";
// 8 by 8 pixels, quality 90: (30 y, 30 x, 15 (x + y)); and its red channel, progressive.
constexpr const char* kJpeg =
    "ffd8ffe000104a46494600010100000100010000ffdb0043000302020302020303030304030304050805050404050a070706080c0a0c0c0b"
    "0a0b0b0d0e12100d0e110e0b0b1016101113141515150c0f171816141812141514ffdb00430103040405040509050509140d0b0d14141414"
    "14141414141414141414141414141414141414141414141414141414141414141414141414141414141414141414ffc00011080008000803"
    "011100021101031101ffc4001f0000010501010101010100000000000000000102030405060708090a0bffc400b510000201030302040305"
    "0504040000017d01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a2526272829"
    "2a3435363738393a434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a9293949596979899"
    "9aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9"
    "faffc4001f0100030101010101010101010000000000000102030405060708090a0bffc400b5110002010204040304070504040001027700"
    "0102031104052131061241510761711322328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a3536373839"
    "3a434445464748494a535455565758595a636465666768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6"
    "a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9faffda000c030100"
    "02110311003f00e0bf64ff0083dff1e7fb8f4ed462f09be81c7fc01f1fb87fffd9";
constexpr const char* kGreyJpeg =
    "ffd8ffe000104a46494600010100000100010000ffdb0043000302020302020303030304030304050805050404050a070706080c0a0c0c0b"
    "0a0b0b0d0e12100d0e110e0b0b1016101113141515150c0f171816141812141514ffc2000b080008000801011100ffc40014000100000000"
    "000000000000000000000005ffda000801010000000103ffc4001510010100000000000000000000000000000017ffda0008010100010502"
    "9dbfffc4001510010100000000000000000000000000000033ffda0008010100063f029bffc4001610000300000000000000000000000000"
    "000011f0ffda0008010100013f21947fffda0008010100000010ff00ffc40014100100000000000000000000000000000000ffda00080101"
    "00013f107fffd9";
const std::vector<std::uint8_t> kColour = {248, 194, 190, 207, 147, 26, 237, 21, 245, 211, 239, 45, 5, 157, 159, 60, 54, 236};

Preparation preparation(std::int64_t size, std::int64_t channels) {
  return {size, channels, std::vector<float>(static_cast<std::size_t>(channels), 0),
          std::vector<float>(static_cast<std::size_t>(channels), 1)};
}

/// The prepared numbers, times 255.
std::vector<float> prepared(const ImageView& image, const Preparation& how) {
  std::vector<float> out(static_cast<std::size_t>(how.elements()));
  prepare(image, how, out.data());
  for (float& one : out) one *= 255;
  return out;
}

void expectNear(const std::vector<float>& values, const std::vector<double>& wanted, double bound) {
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], bound) << i;
}

/// f(row, column) = 7 r^2 + 13 c + 5 r c, 5 by 5.
std::vector<std::uint8_t> ramp() {
  std::vector<std::uint8_t> samples;
  for (int r = 0; r < 5; ++r) {
    for (int c = 0; c < 5; ++c) samples.push_back(static_cast<std::uint8_t>(7 * r * r + 13 * c + 5 * r * c));
  }
  return samples;
}

}  // namespace

TEST(Image, PngOfEveryKind) {
  const auto colour = decodeImage(bytesOf(kColourPng)), alpha = decodeImage(bytesOf(kAlphaPng)),
             palette = decodeImage(bytesOf(kPalettePng)), grey = decodeImage(bytesOf(kGrey16Png)),
             bit = decodeImage(bytesOf(kBitPng));
  ASSERT_TRUE(colour) << colour.error();
  EXPECT_EQ(colour->height, 2);
  EXPECT_EQ(colour->width, 3);
  EXPECT_EQ(colour->samples, kColour);
  ASSERT_TRUE(alpha) << alpha.error();
  EXPECT_EQ(alpha->channels, 3);
  EXPECT_EQ(alpha->samples, kColour);
  ASSERT_TRUE(palette) << palette.error();
  EXPECT_EQ(palette->samples,
            (std::vector<std::uint8_t>{10, 20, 30, 40, 50, 60, 70, 80, 90, 70, 80, 90, 40, 50, 60, 10, 20, 30}));
  ASSERT_TRUE(grey) << grey.error();
  EXPECT_EQ(grey->channels, 1);
  EXPECT_EQ(grey->samples, (std::vector<std::uint8_t>{0, 1, 1, 128, 254, 255}));  // x / 257, rounded
  ASSERT_TRUE(bit) << bit.error();
  EXPECT_EQ(bit->samples, (std::vector<std::uint8_t>{255, 0, 255}));
}

TEST(Image, WritesWhatItReads) {
  for (const std::int64_t channels : {1, 3}) {
    Image image{5, 7, channels, {}};
    for (std::int64_t i = 0; i < 5 * 7 * channels; ++i) image.samples.push_back(static_cast<std::uint8_t>(i * 37));
    const auto read = decodePng(encodePng(image).value()).value();
    EXPECT_EQ(read.height, 5);
    EXPECT_EQ(read.width, 7);
    EXPECT_EQ(read.channels, channels);
    EXPECT_EQ(read.samples, image.samples);
  }
}

TEST(Image, Jpeg) {
  const auto colour = decodeImage(bytesOf(kJpeg)), grey = decodeImage(bytesOf(kGreyJpeg));
  ASSERT_TRUE(colour) << colour.error();
  EXPECT_EQ(colour->channels, 3);
  const std::vector<std::uint8_t> first = {1, 1,   1,  2, 29,  14, 0, 61,  28, 0, 91,  44,
                                           2, 120, 60, 2, 150, 76, 0, 182, 90, 2, 209, 103};
  EXPECT_EQ(std::vector<std::uint8_t>(colour->samples.begin(), colour->samples.begin() + 24), first);
  ASSERT_TRUE(grey) << grey.error();
  EXPECT_EQ(grey->channels, 1);
  const std::vector<std::uint8_t> rows = {1, 1, 1, 1, 1, 1, 1, 1, 29, 29, 29, 29, 29, 29, 29, 29};
  EXPECT_EQ(std::vector<std::uint8_t>(grey->samples.begin(), grey->samples.begin() + 16), rows);
}

TEST(Image, Pnm) {
  const auto grey = decodeImage(std::string("P5\n# a comment\n3 1\n15\n\x00\x05\x0f", 25)),
             colour = decodeImage("P6 1 1 255\nabc");
  ASSERT_TRUE(grey) << grey.error();
  EXPECT_EQ(grey->samples, (std::vector<std::uint8_t>{0, 85, 255}));
  ASSERT_TRUE(colour) << colour.error();
  EXPECT_EQ(colour->samples, (std::vector<std::uint8_t>{'a', 'b', 'c'}));
  EXPECT_EQ(decodeImage("P2 1 1 255\n7").error(), "netpbm format P2 is not read (binary PGM, P5, and PPM, P6, are)");
  EXPECT_EQ(decodeImage("P5 2 2 65535\n....").error(), "its largest sample is 65535; samples up to 255 are read");
  EXPECT_EQ(decodeImage("P5 2 2 255\nabc").error(), "it has 3 bytes of samples, its header asks for 4: it is cut off");
  EXPECT_EQ(decodeImage("P6 99999 99999 255\n").error(), "99999 by 99999 pixels are more than are read (2^28 samples)");
  EXPECT_EQ(decodeImage("GIF89a").error(), "it is no PNG, JPEG, PGM or PPM file");
}

TEST(Image, WhatIsCutOffIsRefused) {
  for (const char* hex : {kColourPng, kGrey16Png, kAlphaPng, kPalettePng, kJpeg, kGreyJpeg}) {
    const std::string whole = bytesOf(hex);
    for (std::size_t size = 0; size + 2 < whole.size(); size += 3) EXPECT_FALSE(decodeImage(whole.substr(0, size))) << size;
  }
}

TEST(Image, ResizesAsPillow) {
  const auto samples = ramp();
  const ImageView image = ImageView::interleaved(samples.data(), 5, 5, 1);
  expectNear(prepared(image, preparation(3, 1)),
             {9.489795684814453, 33.28571319580078, 57.08163070678711, 40.96825408935547, 77.11111450195312, 113.25396728515625,
              104.22449493408203, 152.7142791748047, 201.20408630371094},
             1e-4);
  expectNear(prepared(image, preparation(2, 1)), {30.090909957885742, 66.09091186523438, 96.09091186523438, 152.09091186523438},
             1e-4);
  const std::vector<float> larger = prepared(image, preparation(8, 1));
  expectNear({larger.begin(), larger.begin() + 16},
             {0.0, 5.6875, 13.8125, 21.9375, 30.0625, 38.1875, 46.3125, 52.0, 3.0625, 9.70703125, 19.19921875, 28.69140625,
              38.18359375, 47.67578125, 57.16796875, 63.8125},
             1e-4);
  const std::vector<float> same = prepared(image, preparation(5, 1));
  for (std::size_t i = 0; i < samples.size(); ++i) EXPECT_FLOAT_EQ(same[i], samples[i]);
}

TEST(Image, ChannelsSquaresAndNormalisation) {
  // 3 by 2 pixels: the centred square is columns 0 and 1 ((3 - 2) / 2 = 0).
  const ImageView colour = ImageView::interleaved(kColour.data(), 2, 3, 3);
  expectNear(prepared(colour, preparation(2, 3)), {248, 207, 211, 5, 194, 147, 239, 157, 190, 26, 45, 159}, 1e-4);
  // 0.299 * 248 + 0.587 * 194 + 0.114 * 190 and so on.
  expectNear(prepared(colour, preparation(2, 1)), {209.69, 151.146, 208.512, 111.78}, 1e-3);
  const std::vector<std::uint8_t> grey = {10, 20, 30, 40};
  const ImageView square = ImageView::planar(grey.data(), 2, 2, 1);
  expectNear(prepared(square, preparation(2, 3)), {10, 20, 30, 40, 10, 20, 30, 40, 10, 20, 30, 40}, 1e-4);
  Preparation how = preparation(2, 1);
  how.mean = {0.1F};
  how.deviation = {0.5F};
  std::vector<float> out(4);
  prepare(square, how, out.data());
  EXPECT_NEAR(out[3], (40 / 255.0 - 0.1) / 0.5, 1e-6);
}

TEST(Image, NoBytesMakeItCrash) {
  std::mt19937 random(5);
  for (const char* hex : {kColourPng, kGrey16Png, kAlphaPng, kPalettePng, kBitPng, kJpeg, kGreyJpeg}) {
    const std::string whole = bytesOf(hex);
    int decoded = 0;
    for (int i = 0; i < 2000; ++i) {
      std::string bytes = whole;
      for (int k = 0; k < 3; ++k) bytes[4 + random() % (bytes.size() - 4)] = static_cast<char>(random());
      const auto image = decodeImage(bytes);
      if (image) {
        ++decoded;
        EXPECT_EQ(static_cast<std::int64_t>(image->samples.size()), image->height * image->width * image->channels);
      }
    }
    EXPECT_LT(decoded, 2000) << hex;
  }
}
