// Every primitive of ref and cpu against PyTorch in f64 (reference.py): 40 random problems each.
#include "test/SourceTree.h"
#include "test/problems/Problem.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

namespace tbem::test {
namespace {

/// Reads what reference.py wrote.
class Reader {
public:
  explicit Reader(const std::string& path) : file_(path, std::ios::binary) {}
  bool more() { return file_.peek() != std::ifstream::traits_type::eof(); }

  Problem problem() {
    Problem p;
    std::string name(static_cast<std::size_t>(number()), ' ');
    file_.read(name.data(), static_cast<std::streamsize>(name.size()));
    p.primitive = primitiveNamed(name);
    p.attributes = list<std::int64_t>(number());
    p.scalars = list<double>(number());
    for (std::int64_t left = number(); left > 0; --left) p.inputs.push_back(array());
    for (std::int64_t left = number(); left > 0; --left) p.outputs.push_back(*array());
    return p;
  }

private:
  std::int64_t number() { return list<std::int64_t>(1)[0]; }
  template <class T>
  std::vector<T> list(std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    file_.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
    return values;
  }
  std::optional<Array> array() {
    const std::int64_t rank = number();
    if (rank < 0) return std::nullopt;
    Array a;
    a.dims = list<std::int64_t>(rank);
    a.integer = number() == 1;
    std::int64_t count = 1;
    for (const std::int64_t d : a.dims) count *= d;
    a.values = list<double>(count);
    return a;
  }
  std::ifstream file_;
};

/// Whether a backend computes a primitive by others, and has none of its own.
bool takesApart(const tbem_backend& backend, int primitive) {
  tbem_op_desc op{.size = sizeof(tbem_op_desc), .primitive = primitive};
  tbem_op_info info{};
  const bool attends = primitive == TBEM_PRIMITIVE_attention || primitive == TBEM_PRIMITIVE_attention_gradient;
  return attends && backend.query(&op, &info) == TBEM_UNSUPPORTED;
}

class Reference : public testing::Test {
protected:
  static void SetUpTestSuite() {
    const std::string path = (std::filesystem::temp_directory_path() / fmt::format("tbem_reference_{}.bin", ::getpid())).string();
    const std::string command = fmt::format("/usr/bin/python3 {} {} 40 2>&1", inSources("test/unit/backends/reference.py"), path);
    ran_ = std::system("/usr/bin/python3 -c 'import torch' >/dev/null 2>&1") == 0;
    if (!ran_) return;
    ASSERT_EQ(std::system(command.c_str()), 0) << "reference.py failed";
    for (Reader reader(path); reader.more();) problems_.push_back(reader.problem());
    std::filesystem::remove(path);
  }
  static void TearDownTestSuite() { problems_.clear(); }
  void SetUp() override {
    if (!ran_) GTEST_SKIP() << "Debian's python3-torch is not installed";
  }

  /// Runs all problems on a backend and compares; `tolerance` is relative to the norm of the answer.
  static void compare(const tbem_backend& backend, int dtype, double tolerance) {
    std::map<int, int> seen;
    for (const Problem& problem : problems_) {
      if (takesApart(backend, problem.primitive)) continue;
      const Outcome outcome = runOn(backend, problem, {dtype, 2, {}});
      ASSERT_EQ(outcome.status, TBEM_OK) << problem.text() << ": " << outcome.error;
      for (std::size_t k = 0; k < problem.outputs.size(); ++k) {
        EXPECT_LE(distance(outcome.outputs[k], problem.outputs[k].values), tolerance)
            << problem.text() << " result " << k << " by " << outcome.implementation;
      }
      ++seen[problem.primitive];
    }
    for (int p = 0; p < TBEM_PRIMITIVE_COUNT; ++p) {
      const bool ours = p == TBEM_PRIMITIVE_reorder || p == TBEM_PRIMITIVE_split_rows || p == TBEM_PRIMITIVE_move_rows;
      EXPECT_GE(seen[p], ours || takesApart(backend, p) ? 0 : 30) << runtime::signature(static_cast<tbem_primitive>(p)).name;
    }
  }

  static inline std::vector<Problem> problems_;
  static inline bool ran_ = false;
};

TEST_F(Reference, RefInF64) { compare(*tbem_backend_ref(), TBEM_F64, 1e-12); }
TEST_F(Reference, RefInF32) { compare(*tbem_backend_ref(), TBEM_F32, 2e-6); }
// One number that terms of both signs sum to loses some bits: 1e-5.
TEST_F(Reference, CpuInF32) { compare(*tbem_backend_cpu(), TBEM_F32, 1e-5); }

/// A wrong answer must be found: the comparison is not vacuous.
TEST_F(Reference, AWrongAnswerIsFound) {
  Problem wrong = problems_.front();
  wrong.outputs[0].values[0] += 1e-3;
  const Outcome outcome = runOn(*tbem_backend_ref(), wrong, {TBEM_F64, 1, {}});
  EXPECT_GT(distance(outcome.outputs[0], wrong.outputs[0].values), 1e-6);
}

}  // namespace
}  // namespace tbem::test
