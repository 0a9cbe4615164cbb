// Models of PyTorch through tbem.h: exports that were recorded, and what a session answers of them.
#include "Embedded.h"
#include "test/SourceTree.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace tbem::test {
namespace {

std::string recorded() {
  std::ifstream file(inSources("test/lit/inputs/frameworks/classifier.json"));
  return {std::istreambuf_iterator<char>(file), {}};
}

Said imported(const SessionHolder& holder, const std::string& document, const char* network = "net") {
  tbem_result* result = nullptr;
  const tbem_outcome outcome = tbem_import(holder.session, network, document.data(), document.size(), &result);
  return said(outcome, result);
}

TEST(Import, AnswersForTheModel) {
  const SessionHolder holder;
  const Said said = imported(holder, recorded());
  ASSERT_EQ(said.outcome, TBEM_DONE) << said.error;
  EXPECT_EQ(said.error, "");
  EXPECT_TRUE(has(tbem_session_text(holder.session), "network net(image: tensor[n, 3, 16, 16]) -> tensor[n, 10] {"));
  const Said estimate = ask(holder, tbem_estimate);
  EXPECT_TRUE(has(estimate.json, "\"parameters\":5850")) << estimate.json;
  // The moment of the peak has the model's line: the export was recorded of models.py.
  const Said eager = ask(holder, tbem_estimate, {{"on", "pytorch"}});
  EXPECT_TRUE(has(eager.json, "\"origin\":\"models.py:")) << eager.json;
  EXPECT_EQ(ask(holder, tbem_spec).outcome, TBEM_DONE);
  const Said devices = ask(holder, tbem_what_if, {{"network", "net"}, {"input", "image=8,3,16,16"}});
  EXPECT_EQ(devices.outcome, TBEM_DONE) << devices.error;
  EXPECT_TRUE(has(devices.json, "\"kind\":\"what-if\"")) << devices.json;
}

TEST(Import, RefusesWhatIsNoExportAndKeepsTheProgram) {
  const SessionHolder holder(kTrained);
  for (const std::string& document : {std::string("{}"), std::string("no JSON"), recorded().substr(0, 3000), std::string()}) {
    const Said said = imported(holder, document);
    EXPECT_EQ(said.outcome, TBEM_ENVIRONMENT) << document;
    EXPECT_TRUE(has(said.error, "cannot be read")) << said.error;
  }
  const Said refused =
      imported(holder, R"({"error": {"kind": "build", "message": "no weights are there", "at": "model.py:13"}})");
  EXPECT_EQ(refused.outcome, TBEM_USAGE);
  EXPECT_EQ(refused.error, "no weights are there (model.py:13)");
  EXPECT_TRUE(has(refused.json, "\"code\":\"E0802\"")) << refused.json;
  EXPECT_EQ(tbem_session_text(holder.session), kTrained);
  EXPECT_EQ(ask(holder, tbem_check).outcome, TBEM_DONE);
}

std::string with(std::string document, const std::string& known, const std::string& other) {
  EXPECT_NE(document.find(known), std::string::npos) << "the recorded model has no " << known;
  for (std::size_t at = document.find(known); at != std::string::npos; at = document.find(known, at + other.size()))
    document.replace(at, known.size(), other);
  return document;
}

TEST(Import, NamesOperatorsThatAreOpaque) {
  const SessionHolder holder;
  const Said said = imported(holder, with(recorded(), "aten.relu_.default", "aten.fft_fft.default"));
  EXPECT_EQ(said.outcome, TBEM_DONE) << said.error;
  EXPECT_TRUE(has(said.notes, "aten.fft_fft.default, ")) << said.notes;
  EXPECT_TRUE(has(said.notes, "first at ")) << said.notes;
  EXPECT_TRUE(has(tbem_session_text(holder.session), "native opaque"));
}

TEST(Import, NamesOperatorsThatTheLanguageLacks) {
  const SessionHolder holder;
  const std::string other = with(recorded(), "aten.relu_.default", "aten.fft_fft.default");
  const Said said = imported(holder, with(other, "\"float32\"", "\"complex64\""));
  EXPECT_EQ(said.outcome, TBEM_PROGRAM_ERRORS);
  EXPECT_EQ(said.error, "");
  EXPECT_TRUE(has(said.json, "\"code\":\"E0805\"")) << said.json;
  EXPECT_TRUE(has(said.json, "`aten.fft_fft.default` has no form in the language")) << said.json;
  EXPECT_TRUE(has(said.json, "\"at models.py:")) << said.json;
}

TEST(Import, Null) {
  const SessionHolder holder;
  tbem_result* result = reinterpret_cast<tbem_result*>(1);
  EXPECT_EQ(tbem_import(nullptr, "net", "", 0, &result), TBEM_MISUSE);
  EXPECT_EQ(result, nullptr);
  EXPECT_EQ(tbem_import(holder.session, nullptr, "", 0, &result), TBEM_MISUSE);
  EXPECT_EQ(tbem_import(holder.session, "net", nullptr, 0, &result), TBEM_MISUSE);
  EXPECT_EQ(tbem_import(holder.session, "net", "", 0, nullptr), TBEM_MISUSE);
  EXPECT_STREQ(tbem_session_text(nullptr), "");
  EXPECT_STREQ(tbem_session_text(holder.session), "");
}

TEST(Spec, ProvesForAllSizes) {
  const SessionHolder good(
      "network net(x: tensor[n, c, h, w]) -> tensor[n, c, h, w]\n  pre h >= 2 and w >= 2\n"
      "{\n  let y = max_pool2d(x, kernel: 2, stride: 1)  // a/model.py:3\n"
      "  return pad(y, low: [0, 0, 0, 0], high: [0, 0, 1, 1])\n}\n");
  const Said proved = ask(good, tbem_spec);
  EXPECT_EQ(proved.outcome, TBEM_DONE) << proved.json << proved.error;
  // A place is that of the statement's end, which may be lines below.
  const SessionHolder holder(
      "network net(x: tensor[n, c, h, w]) -> tensor\n{\n"
      "  let y = max_pool2d(x, kernel: 2)  // a/model.py:3\n"
      "  let z = concat([y,\n                  conv2d(x, out: 4, kernel: 3, stride: 2, pad: 1)],\n"
      "                 axis: 1)  // a/model.py:4\n  return z\n}\n");
  const Said refuted = ask(holder, tbem_spec);
  EXPECT_EQ(refuted.outcome, TBEM_VERDICT_AGAINST);
  EXPECT_TRUE(has(refuted.json, "\"origins\":[\"a/model.py:3\"]")) << refuted.json;
  EXPECT_TRUE(has(refuted.json, "\"origins\":[\"a/model.py:4\"]")) << refuted.json;
  EXPECT_EQ(ask(holder, tbem_spec, {{"run", "true"}, {"tests", nullptr}}).outcome, TBEM_USAGE);
  EXPECT_EQ(ask(holder, tbem_spec, {{"tests", nullptr}, {"csv", nullptr}}).outcome, TBEM_USAGE);
}

}  // namespace
}  // namespace tbem::test
