// Small kernels in PTX for the tests of the card that computes.
#pragma once

#include "test/card/code/Load.h"
#include "test/card/run/Launch.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace tbem::card::testing {

/// A card with nothing but memory, and a module on it.
struct Bench {
  Settings settings;
  Memory memory{1 << 24};
  LoadedProgram loaded;
  std::uint32_t launches = 0;

  /// `functions` stand behind the first lines of a module.
  void load(const std::string& functions) {
    auto program = loadProgram(".version 7.0\n.target sm_75\n.address_size 64\n" + functions, 90, memory);
    ASSERT_TRUE(program) << program.error().text;
    loaded = std::move(*program);
  }

  template <class T>
  std::uint64_t put(const std::vector<T>& values) {
    const std::uint64_t bytes = values.size() * sizeof(T), address = *memory.allocate(bytes);
    std::memcpy(memory.bytes(address), values.data(), bytes);
    memory.markWritten(address, bytes);
    return address;
  }
  template <class T>
  std::vector<T> get(std::uint64_t address, std::size_t count) {
    std::vector<T> values(count);
    std::memcpy(values.data(), memory.bytes(address), count * sizeof(T));
    return values;
  }

  /// Runs the kernel `k`. All its parameters have eight bytes.
  LaunchEnd run(std::uint32_t blocks, std::uint32_t threads, const std::vector<std::uint64_t>& arguments,
                std::uint64_t shared = 0) {
    Launch launch;
    launch.program = &loaded.program;
    for (const auto& function : loaded.program.functions)
      if (function->name == "k") launch.kernel = function.get();
    launch.grid[0] = blocks;
    launch.threads[0] = threads;
    launch.dynamicShared = shared;
    launch.arguments.resize(arguments.size() * 8);
    std::memcpy(launch.arguments.data(), arguments.data(), launch.arguments.size());
    return runLaunch(launch, memory, settings, ++launches);
  }
};

template <class T>
const char* typeName() {
  if constexpr (std::is_same_v<T, float>)
    return "f32";
  else if constexpr (std::is_same_v<T, double>)
    return "f64";
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? "s8" : "u8";
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? "s16" : "u16";
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? "s32" : "u32";
  else
    return std::is_signed_v<T> ? "s64" : "u64";
}

/// Bytes have registers of 16 bits.
template <class T>
std::string registerType() {
  return sizeof(T) == 1 ? "b16" : typeName<T>();
}

/// What `instructions` put into %d when %a0, %a1, .. are elements of the arrays, one thread each. There are predicates %p0 to %p3
/// and, for each type of an operand, nothing else.
template <class Result, class... Operand>
std::vector<Result> evaluate(const std::string& instructions, const std::vector<Operand>&... operands) {
  Bench bench;
  std::string text = ".visible .entry k(.param .u64 n, .param .u64 to";
  std::string body = "{\n.reg .pred %p<4>;\n.reg .b32 %t<4>;\n.reg .b64 %i<8>;\n.reg ." + registerType<Result>() + " %d;\n";
  std::vector<std::uint64_t> arguments;
  std::size_t count = 0, at = 0;
  std::string loads;
  const auto add = [&]<class T>(const std::vector<T>& values) {
    const std::string number = std::to_string(at++), size = std::to_string(sizeof(T));
    count = values.size();
    text += ", .param .u64 from" + number;
    body += ".reg ." + registerType<T>() + " %a" + number + ";\n";
    loads += "ld.param.u64 %i2, [from" + number + "];\nmad.lo.u64 %i2, %i1, " + size + ", %i2;\nld.global." + typeName<T>() +
             " %a" + number + ", [%i2];\n";
    arguments.push_back(bench.put(values));
  };
  (add(operands), ...);
  const std::uint64_t to = bench.put(std::vector<Result>(count));
  arguments.insert(arguments.begin(), {count, to});
  text += ")\n" + body +
          "mov.u32 %t0, %tid.x;\nmov.u32 %t1, %ctaid.x;\nmov.u32 %t2, %ntid.x;\nmad.lo.u32 %t0, %t1, %t2, %t0;\n"
          "cvt.u64.u32 %i1, %t0;\nld.param.u64 %i0, [n];\nsetp.ge.u64 %p0, %i1, %i0;\n@%p0 bra END;\n" +
          loads + instructions + "\nld.param.u64 %i2, [to];\nmad.lo.u64 %i2, %i1, " + std::to_string(sizeof(Result)) +
          ", %i2;\nst.global." + typeName<Result>() + " [%i2], %d;\nEND:\nret;\n}\n";
  bench.load(text);
  if (::testing::Test::HasFatalFailure()) return {};
  const LaunchEnd end = bench.run(static_cast<std::uint32_t>((count + 63) / 64), 64, arguments);
  EXPECT_FALSE(end.fault) << end.fault->what();
  return bench.get<Result>(to, count);
}

/// Random numbers of all sizes, and those at which arithmetic changes: 0, 1, -1, the largest, the least.
template <class T>
std::vector<T> wholeNumbers(unsigned seed, std::size_t count = 500) {
  std::mt19937_64 random(seed);
  const T edges[] = {T{0},  T{1}, static_cast<T>(-1), std::numeric_limits<T>::max(), std::numeric_limits<T>::min(), T{2},
                     T{31}, T{32}};
  std::vector<T> values(count);
  for (T& value : values)
    value = random() % 4 == 0 ? edges[random() % std::size(edges)] : static_cast<T>(random() >> (random() % 64));
  return values;
}

/// Random numbers with exponents in a range, so that sums and products of them are exact in 113 bits.
template <class T>
std::vector<T> realNumbers(unsigned seed, int least = -12, int most = 12, std::size_t count = 500) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> fraction(T{1}, T{2});
  std::vector<T> values(count);
  for (T& value : values) {
    const int exponent = least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1));
    value = std::ldexp(fraction(random), exponent) * (random() % 2 == 0 ? T{1} : T{-1});
  }
  return values;
}

/// Ordinary and exceptional ones.
template <class T>
std::vector<T> allReals(unsigned seed, std::size_t count = 500) {
  using Limits = std::numeric_limits<T>;
  const T edges[] = {T{0},
                     -T{0},
                     Limits::infinity(),
                     -Limits::infinity(),
                     Limits::quiet_NaN(),
                     Limits::min(),
                     -Limits::min(),
                     Limits::max(),
                     -Limits::max(),
                     Limits::denorm_min(),
                     -Limits::denorm_min(),
                     T{1},
                     T{-1},
                     T{0.5},
                     T{2.5},
                     Limits::min() / 3};
  std::vector<T> values = realNumbers<T>(seed, -40, 40, count);
  std::mt19937_64 random(seed);
  for (T& value : values)
    if (random() % 2 == 0) value = edges[random() % std::size(edges)];
  return values;
}

/// Equal bits, or both NaN.
template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class Result, class Expected, class... Operand>
void expectEach(const std::string& what, const std::vector<Result>& results, const Expected& expected,
                const std::vector<Operand>&... operands) {
  for (std::size_t at = 0; at < results.size(); ++at) {
    const Result wanted = static_cast<Result>(expected(operands[at]...));
    if (same(results[at], wanted)) continue;
    std::string all;
    ((all += std::to_string(operands[at]) + " "), ...);
    ADD_FAILURE() << what << " of " << all << "is " << +results[at] << ", expected " << +wanted;
    return;
  }
  EXPECT_FALSE(results.empty()) << what;
}

}  // namespace tbem::card::testing
