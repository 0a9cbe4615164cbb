// Why a model is no program: diagnostics with the model's line, and exit statuses.
#include "compiler/diagnostics/tables/Import.h"
#include "compiler/driver/ImportFailures.h"
#include "compiler/show/JsonOut.h"
#include "compiler/support/Failed.h"
#include "test/unit/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace tbem::driver {
namespace {

using imports::ExportFailure;

std::string only(const show::JsonOut& out) {
  EXPECT_EQ(out.lines().size(), 1);
  return out.lines().empty() ? "" : out.lines().front();
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

class ModelLines : public test::TemporaryFolder {};

TEST_F(ModelLines, PlaceIsTheModelsLine) {
  const std::string file = folder + "/model.py";
  std::ofstream(file) << "class Net:\n    def forward(self, x):\n\t\treturn x[x > 0]\n";
  const ExportFailure failure{diag::model_not_exported, "it depends on values", file + ":3"};
  show::JsonOut here, elsewhere, behind;
  EXPECT_EQ(tellFailure(here, failure, ModelFiles::Here), kUsage);
  EXPECT_TRUE(has(only(here), "\"file\":\"" + file + "\",\"line\":3,\"column\":3,\"end_line\":3,\"end_column\":18"))
      << only(here);
  EXPECT_EQ(tellFailure(elsewhere, failure, ModelFiles::Elsewhere), kUsage);
  EXPECT_TRUE(has(only(elsewhere), "\"file\":null")) << only(elsewhere);
  EXPECT_TRUE(has(only(elsewhere), "\"at " + file + ":3\"")) << only(elsewhere);
  tellFailure(behind, {diag::model_not_exported, "it depends on values", file + ":30"}, ModelFiles::Here);
  EXPECT_TRUE(has(only(behind), "\"at " + file + ":30\"")) << only(behind);
}

TEST(ImportFailures, Statuses) {
  const auto statusOf = [](Diag kind) {
    show::JsonOut out;
    return tellFailure(out, {kind, "why", ""}, ModelFiles::Here);
  };
  for (const Diag kind :
       {diag::model_not_found, diag::model_not_made, diag::model_inputs, diag::model_not_exported, diag::model_too_large})
    EXPECT_EQ(statusOf(kind), kUsage) << info(kind).code;
  EXPECT_EQ(statusOf(diag::operator_without_form), kProgramErrors);
  for (const Diag kind : {diag::model_file_damaged, diag::model_file_version, diag::model_numbers_apart, diag::model_file_unread,
                          diag::python_without_torch, diag::python_ended})
    EXPECT_EQ(statusOf(kind), kEnvironment) << info(kind).code;
}

TEST(ImportFailures, EachOperatorOnce) {
  show::JsonOut out;
  EXPECT_EQ(
      tellLacking(out, {{"aten.topk.default", "net.py:7", 3, ""}, {"onnx.Resize", "", 1, "mode cubic"}}, ModelFiles::Elsewhere),
      kProgramErrors);
  ASSERT_EQ(out.lines().size(), 2);
  EXPECT_TRUE(has(out.lines()[0], "\"it is called 3 times, first at net.py:7\"")) << out.lines()[0];
  EXPECT_TRUE(has(out.lines()[1], "`onnx.Resize` has no form in the language yet: mode cubic")) << out.lines()[1];
  EXPECT_TRUE(has(out.lines()[1], "\"notes\":[]")) << out.lines()[1];
}

TEST(ImportFailures, ProgramThatIsNotTheModel) {
  show::JsonOut out;
  EXPECT_EQ(tellDifference(out, "w is [2] in the program, and w [3] in the model"), kProgramErrors);
  EXPECT_TRUE(has(only(out), "\"code\":\"E0822\"")) << only(out);
  EXPECT_TRUE(has(only(out), "what was written is not the model: w is [2] in the program")) << only(out);
}

}  // namespace
}  // namespace tbem::driver
