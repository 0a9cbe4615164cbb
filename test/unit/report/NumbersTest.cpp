// Numbers as people read them, and widths on a terminal.
#include "runtime/report/Numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tbem::report {
namespace {

TEST(Bytes, HaveFourDigitsAndAUnitOf1024) {
  EXPECT_EQ(bytes(0), "0 B");
  EXPECT_EQ(bytes(1023), "1023 B");
  EXPECT_EQ(bytes(1024), "1.000 KiB");
  EXPECT_EQ(bytes(98304), "96.00 KiB");
  EXPECT_EQ(bytes(131072), "128.0 KiB");
  EXPECT_EQ(bytes(1023 * 1024), "1023 KiB");
  EXPECT_EQ(bytes(469593480), "447.8 MiB");  // 469593480 / 2^20 = 447.839...
  EXPECT_EQ(bytes(24ull << 30), "24.00 GiB");
  EXPECT_EQ(bytes(std::numeric_limits<std::uint64_t>::max()), "16.00 EiB");
}

TEST(Bytes, RoundingUpGoesToTheNextUnit) {
  EXPECT_EQ(bytes((1ull << 20) - 1), "1.000 MiB");
  EXPECT_EQ(bytes((1ull << 30) - 1), "1.000 GiB");
  EXPECT_EQ(bytes((1ull << 20) - 1024), "1023 KiB");
}

TEST(Bytes, DifferencesHaveASign) {
  EXPECT_EQ(signedBytes(-1536), "-1.500 KiB");
  EXPECT_EQ(signedBytes(1536), "1.500 KiB");
}

TEST(Flops, AreInPowersOf1000) {
  EXPECT_EQ(flops(4089184256.0), "4.089 GFLOP");
  EXPECT_EQ(flops(999), "999 FLOP");
  EXPECT_EQ(flops(999999), "1.000 MFLOP");
  EXPECT_EQ(flops(1.5e12), "1.500 TFLOP");
}

TEST(Seconds, GoFromNanosecondsToDays) {
  EXPECT_EQ(seconds(0), "0 s");
  EXPECT_EQ(seconds(1.5e-9), "1.500 ns");
  EXPECT_EQ(seconds(12.34e-6), "12.34 µs");
  EXPECT_EQ(seconds(0.0015), "1.500 ms");
  EXPECT_EQ(seconds(0.99999), "1.000 s");
  EXPECT_EQ(seconds(59.12), "59.12 s");
  EXPECT_EQ(seconds(59.999), "1 min 0 s");
  EXPECT_EQ(seconds(125), "2 min 5 s");
  EXPECT_EQ(seconds(3599.7), "1 h 0 min");
  EXPECT_EQ(seconds(12000), "3 h 20 min");
  EXPECT_EQ(seconds(52 * 3600.0), "2 d 4 h");
}

TEST(Joules, HaveFourDigits) {
  EXPECT_EQ(joules(0.001234), "1.234 mJ");
  EXPECT_EQ(joules(15), "15 J");
}

TEST(Grouped, GroupsFromFiveDigitsOn) {
  const std::string gap = "\u202F";
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(1024), "1024");
  EXPECT_EQ(grouped(61706), "61" + gap + "706");
  EXPECT_EQ(grouped(269722), "269" + gap + "722");
  EXPECT_EQ(grouped(-1234567), "-1" + gap + "234" + gap + "567");
  EXPECT_EQ(grouped(-123456), "-123" + gap + "456");
  EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()),
            "-9" + gap + "223" + gap + "372" + gap + "036" + gap + "854" + gap + "775" + gap + "808");
}

TEST(Number, HasNoNeedlessZerosAndAnExponentOnlyWhereItHelps) {
  EXPECT_EQ(number(0), "0");
  EXPECT_EQ(number(0.5), "0.5");
  EXPECT_EQ(number(123456.7), "123457");
  EXPECT_EQ(number(3.14159), "3.142");
  EXPECT_EQ(number(-0.000123456), "-0.0001235");
  EXPECT_EQ(number(1.5e-7), "1.5e-07");
  EXPECT_EQ(number(2e10), "2e+10");
  EXPECT_EQ(number(1.2345, 2), "1.2");
  EXPECT_EQ(number(std::nan("")), "nan");
  EXPECT_EQ(percent(0.032149), "3.21 %");
  EXPECT_EQ(percent(1), "100 %");
}

TEST(ParseBytes, TakesSizesAndSaysWhatIsWrong) {
  EXPECT_EQ(parseBytes("22GiB").value(), 22ull << 30);
  EXPECT_EQ(parseBytes("1.5 MiB").value(), 1572864u);
  EXPECT_EQ(parseBytes("4096").value(), 4096u);
  EXPECT_EQ(parseBytes("24 GB").value(), 24000000000u);
  EXPECT_EQ(parseBytes("9007199254740993").value(), 9007199254740993u);  // 2^53 + 1: no double holds it
  for (const char* wrong : {"", "GiB", "-3", "+3", "1e3GiB", "1.5", "5 MiB x", "5 mib", "99999999TiB", "18446744073709551616",
                            "inf", "nan", "0x10", "."})
    EXPECT_FALSE(parseBytes(wrong).has_value()) << wrong;
  EXPECT_NE(parseBytes("5 mib").error().find("MiB"), std::string::npos);
}

TEST(ParseSeconds, TakesTimesAndSaysWhatIsWrong) {
  EXPECT_DOUBLE_EQ(parseSeconds("90").value(), 90);
  EXPECT_DOUBLE_EQ(parseSeconds("5min").value(), 300);
  EXPECT_DOUBLE_EQ(parseSeconds("1h30min").value(), 5400);
  EXPECT_DOUBLE_EQ(parseSeconds("1 h 30 min").value(), 5400);
  EXPECT_DOUBLE_EQ(parseSeconds("250ms").value(), 0.25);
  EXPECT_DOUBLE_EQ(parseSeconds("2d").value(), 172800);
  for (const char* wrong : {"", "soon", "-1s", "5 weeks", "30min1h", "1h1h", "5min x"})
    EXPECT_FALSE(parseSeconds(wrong).has_value()) << wrong;
}

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(displayWidth(""), 0u);
  EXPECT_EQ(displayWidth("abc"), 3u);
  EXPECT_EQ(displayWidth("µs"), 2u);
  EXPECT_EQ(displayWidth("日本語"), 6u);
  EXPECT_EQ(displayWidth("e\u0301"), 1u);     // e and a combining acute accent
  EXPECT_EQ(displayWidth("\U0001F680"), 2u);  // a rocket
  EXPECT_EQ(displayWidth("1\u202F024"), 5u);
  EXPECT_EQ(displayWidth("\x1b[31mred\x1b[0m"), 3u);
  EXPECT_EQ(displayWidth("a\xFF"
                         "b"),
            3u);                             // a byte that is no UTF-8
  EXPECT_EQ(displayWidth("a\xE6\x97"), 2u);  // cut in the middle of a character
}

}  // namespace
}  // namespace tbem::report
